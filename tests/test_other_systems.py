"""Without the modules that only Unix has: what Windows is to run does, with those taken away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawling import Answer, article, import_pack, local_server, pack

_ROOT = Path(__file__).resolve().parents[1]
_HIDDEN = ("fcntl", "resource", "termios", "tty", "pwd", "grp", "syslog")
_MAIN = f"""
import os, signal, sys
# Twisted asks the system what it is, and is told the truth here.
import twisted.internet.posixbase, twisted.internet.process
sys.modules.update(dict.fromkeys({_HIDDEN!r}))
for name in ("geteuid", "getuid", "nice", "setpriority", "sysconf", "killpg", "pread", "pwrite",
             "O_DIRECTORY", "O_CLOEXEC", "fchmod"):
    delattr(os, name)
del signal.SIGHUP, signal.setitimer
sys.argv[0] = "qiaocrawl"
"""
_COMMAND = "from qiaocrawl.cli import main; main()"
_SCRAPY = "from scrapy.cmdline import execute; execute()"


def _said(
    *command: str, folder: Path, program: str = _COMMAND, **more: str
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("QIAO_")}  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", _MAIN + program, *command],
        cwd=folder, capture_output=True, text=True, timeout=300,
        env={**environment, "QIAO_LANG": "en", "PYTHONPATH": str(_ROOT), **more},
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [("--help",), ("init", "--help"), ("console", "--help"), ("lexicon", "review", "--help")],
    ids=" ".join,
)
def test_help_is_there(command: tuple[str, ...], tmp_path: Path) -> None:
    done = _said(*command, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_page_is_read_and_a_folder_set_up(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(article("侨胞回乡办学"))
    done = _said("extract", "a.html", folder=tmp_path)
    assert "侨胞回乡办学" in done.stdout, done.stderr
    done = _said("init", "--yes", "--topic", "qiaoqing", "--contact", "a@example.org",
                 folder=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_site_is_crawled_into_sqlite_and_exported(tmp_path: Path) -> None:
    pages = {"/": article("侨乡首页", links=("/1.html",)), "/1.html": article("侨胞回乡办学")}
    with local_server(lambda host, path: Answer(pages[path]) if path in pages else None) as server:
        url = f"sqlite:///{tmp_path / 'q.db'}"
        import_pack(url, pack(server.origin))
        options = {"QIAO_DATABASE_URL": url, "QIAO_ALLOW_ADDRESSES": server.origin,
                   "QIAO_SITEMAPS": "off", "QIAO_SOFT_404_PROBE": "off",
                   "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings"}  # fmt: skip
        done = _said(
            "crawl", "site", "-a", "topic=qiaoqing", "-s", "DOWNLOAD_DELAY=0",
            folder=tmp_path, program=_SCRAPY, **options,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = _said("export", "--format", "jsonl", "--out", "-", folder=tmp_path, **options)
    titles = {json.loads(line)["title"] for line in done.stdout.splitlines()}
    assert "侨胞回乡办学" in titles, done.stderr


def test_two_crawls_of_one_file_still_exclude_each_other(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["fcntl"] = None
from pathlib import Path
from qiaocrawl.errors import CrawlLockedError
from qiaocrawl.storage.locking import CrawlLock
first = CrawlLock(Path("a.db"))
try:
    CrawlLock(Path("a.db"))
except CrawlLockedError:
    print("refused")
first.release()
CrawlLock(Path("a.db")).release()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    assert done.stdout.split() == ["refused"], done.stderr
