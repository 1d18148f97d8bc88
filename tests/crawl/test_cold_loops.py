"""A crawl on a machine where no loop was ever compiled goes on while they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.crawls.running import ours_command
from benchmarks.local_site import LocalSite, serving
from crawl_starter import run_started
from crawling import rows

_CRAWL = """
import sys
from numba.core import event
from scrapy.cmdline import execute

class Compiled(event.Listener):
    number = 0
    def on_start(self, event): Compiled.number += 1
    def on_end(self, event): pass

event.register("numba:compile", Compiled())
sys.argv[0] = "scrapy"
try:
    execute()
finally:
    print("compiled here:", Compiled.number)
"""


# As where much is stored.
_MUCH = "import qiaocrawl.runtime.runtime as runtime; runtime._MUCH_URLS = 0\n"


def _crawled(pages: int, folder: Path, before: str = "") -> tuple[str, str, str]:
    """A crawl with no loop on disk: the database's URL, what it printed, and its log."""
    with serving(LocalSite.build(pages)) as served:
        arguments, environment = ours_command(served, folder)
        environment["NUMBA_CACHE_DIR"] = str(folder / "loops")
        # The starter has loaded no compiler: where it keeps its code is read when it is.
        done = run_started(
            "-c", before + _CRAWL, *arguments, environment={**os.environ, **environment},
            folder=folder, seconds=1_000,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return environment["QIAO_DATABASE_URL"], done.stdout, done.stderr


@pytest.mark.timeout(1_200)
def test_it_goes_on_while_another_process_compiles(tmp_path: Path) -> None:
    url, out, log = _crawled(200, tmp_path)
    assert rows(url, "SELECT COUNT(*) FROM article")[0][0] == 200
    assert out.endswith("compiled here: 0\n")
    assert log.index("Spider opened") < log.index("compiling the inner loops in a process of its")


@pytest.mark.thorough
@pytest.mark.timeout(1_200)
def test_with_much_stored_it_begins_when_all_is_compiled(tmp_path: Path) -> None:
    url, out, log = _crawled(5, tmp_path, _MUCH)
    assert rows(url, "SELECT COUNT(*) FROM article")[0][0] == 5
    assert out.endswith("compiled here: 0\n")
    assert 0 < log.index("the inner loops are compiled") < log.index("Spider opened")
    assert [*(tmp_path / "loops").rglob("*.nbc")]
