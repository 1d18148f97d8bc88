"""``qiaocrawl crawl``: any spider with all its arguments, from any folder."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from qiaocrawl.options.project import SETTINGS_VARIABLE, settings_module


def crawl(
    context: typer.Context,
    spider: Annotated[str, typer.Argument(help="search, site, pages, watch, or one of yours.")],
) -> None:
    """Run a spider as `scrapy crawl` does, with its -a and -s: from any folder."""
    os.environ[SETTINGS_VARIABLE] = settings_module()
    sys.stdout.flush()
    # The same process: signals, exit code and terminal are Scrapy's.
    command = [sys.executable, "-m", "qiaocrawl.crawl", "crawl", spider, *context.args]
    os.execv(sys.executable, command)
