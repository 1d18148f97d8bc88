"""Where a page for ``qiaocrawl extract`` comes from: a file, standard input, or the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from qiaocrawl.errors import QiaoError
from qiaocrawl.fetch.failure_policy import judge_fetch
from qiaocrawl.items import FetchedPage
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.urls import canonical_url

MAX_FILE_BYTES = 10 * 1024 * 1024 + 1
"""One more than extraction reads, so that it can tell that a file went on."""
STANDARD_INPUT = "-"
# robots.txt, the page and five redirects, each within the crawl's own time limit, end sooner.
_FETCH_SECONDS = 120


class PageSourceError(QiaoError):
    """The page asked for cannot be had."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page to extract from, and what is known about it; "" where nothing is."""

    body: bytes
    url: str = ""
    content_type: str = ""


def page_from(source: str, allow: str = "") -> SourcePage:
    """The page that *source* names: a URL, a file, or ``-`` for standard input.

    Args:
        source: ``http://`` and ``https://`` go to the network, as politely as a crawl.
        allow: origins inside private networks that may be fetched, comma separated.

    Raises:
        PageSourceError: there is no such file, or the page cannot be fetched.
        ConfigError: a wrong option.
    """
    if source == STANDARD_INPUT:
        return SourcePage(sys.stdin.buffer.read(MAX_FILE_BYTES))
    scheme, mark, _rest = source.partition("://")
    if mark and scheme.isalpha():
        return _fetched(source, allow)
    path = Path(source)
    try:
        with path.open("rb") as file:
            return SourcePage(file.read(MAX_FILE_BYTES))
    except FileNotFoundError:
        raise PageSourceError(
            _("{source!r}: no such file (a URL begins with http:// or https://)", source=source)
        ) from None
    except OSError as error:
        raise PageSourceError(f"{source!r}: {error.strerror or error}") from None


def _fetched(url: str, allow: str) -> SourcePage:
    if urlsplit(url).scheme.lower() not in ("http", "https") or canonical_url(url) is None:
        raise PageSourceError(_("{url!r} is no http or https URL", url=url))
    named = ",".join(filter(None, (os.environ.get("QIAO_ALLOW_ADDRESSES", ""), allow)))
    with tempfile.TemporaryDirectory(prefix="qiaocrawl-extract-") as name:
        folder = Path(name)
        # The means of a crawl expect a store; nothing is kept in this one.
        database = f"sqlite:///{folder / 'fetch.db'}"
        given = {"QIAO_DATABASE_URL": database, "QIAO_ALLOW_ADDRESSES": named}
        Options.from_environment(given)
        with Database.open(database) as opened:
            opened.upgrade()
        _run_fetch(url, folder, {**os.environ, **given})
        page = _page_in(folder)
    decision = judge_fetch(page, longest_park_seconds=0)
    if decision is not None:
        raise PageSourceError(f"{page.url}: {shown_reason(decision.reason)}")
    return SourcePage(page.body, page.url, page.header("content-type"))


def _run_fetch(url: str, folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "qiaocrawl.crawl.single_page", url, str(folder)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=_FETCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise PageSourceError(
            _("{url}: no page within {seconds} s", url=url, seconds=_FETCH_SECONDS)
        ) from None
    if (folder / "error").is_file():
        reason = shown_reason((folder / "error").read_text("utf-8"))
        raise PageSourceError(f"{url}: {reason}")
    if done.returncode or not (folder / "page.json").is_file():
        last_line = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise PageSourceError(f"{url}: {last_line or _('nothing came')}")


def _page_in(folder: Path) -> FetchedPage:
    record = json.loads((folder / "page.json").read_text("utf-8"))
    record["fetched_at"] = datetime.fromisoformat(record["fetched_at"])
    return FetchedPage(**{**record, "body": (folder / "body").read_bytes()})
