"""One crawl of each kind over a served site: what it took, by thread and process."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.local_site import HOST, ServedSite

PROJECT = Path(__file__).resolve().parents[2]
_HERE = Path(__file__).resolve().parent
_CONCURRENCY = 16
_QUIET = {
    "TELNETCONSOLE_ENABLED": 0, "REMOTE_CONTROL_ENABLED": 0, "LOG_LEVEL": "INFO",
    "CONCURRENT_REQUESTS_PER_DOMAIN": _CONCURRENCY, "CONCURRENT_REQUESTS": _CONCURRENCY,
    "DOWNLOAD_DELAY": 0,
}  # fmt: skip
_ELAPSED = re.compile(r"'elapsed_time_seconds': ([\d.]+)")
_PREPARE = """
import sys, time
from pathlib import Path
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import load_pack
database = Database.open(sys.argv[1])
database.upgrade()
with database.engine.begin() as c:
    save_pack(c, load_pack(Path(sys.argv[2])), now=time.time())
database.close()
"""
# Names of threads as they are shown; the first that fits counts.
_THREADS = (
    ("main thread", re.compile(r"MainThread")),
    ("writer", re.compile(r"qiaocrawl-writer")),
    ("reader", re.compile(r"qiaocrawl-reader")),
    ("order", re.compile(r"qiaocrawl-order")),
    ("counting", re.compile(r"counting")),
    ("pool of workers", re.compile(r"Thread-\d+|pool|pebble|process_manager|message_manager")),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl.

    Attributes:
        pages: how many it fetched.
        seconds: by its own clock, from the opening of the spider to its end.
        cpu: seconds of processor by thread of the main process and by kind of process below;
            what the counting itself took is left out.
    """

    pages: int
    seconds: float
    cpu: dict[str, float] = field(default_factory=dict)

    @property
    def cpu_seconds(self) -> float:
        """Of all processes."""
        return sum(self.cpu.values())


def bare(served: ServedSite, folder: Path) -> Run:
    """Scrapy that only fetches."""
    return _run(folder, bare_command(served, folder), len(served.site.pages))


def bare_command(served: ServedSite, folder: Path) -> list[str]:
    """The arguments of `scrapy` for that."""
    urls = folder / "urls.txt"
    urls.write_text("\n".join(f"http://{served.origin}{path}" for path in served.site.pages))
    return ["runspider", str(_HERE / "bare_spider.py"), "-a", f"urls={urls}", *_settings()]


def usual(served: ServedSite, folder: Path) -> Run:
    """The spider one would write with well-known packages."""
    file = folder / "usual.db"
    file.unlink(missing_ok=True)
    run = _run(folder, [
        "runspider", str(_HERE / "usual_spider.py"), "-a", f"start_url=http://{served.origin}/",
        "-a", f"database=sqlite:///{file}", *_settings(),
    ], len(served.site.pages))  # fmt: skip
    _check(file, "SELECT COUNT(*) FROM page", len(served.site.pages))
    file.unlink()
    return run


def ours(
    served: ServedSite, folder: Path, *, project: Path = PROJECT, strategy: str = "",
    profile: Path | None = None,
) -> Run:  # fmt: skip
    """The whole crawl of the checkout *project*, with its default order or *strategy*.

    Args:
        profile: where the profile of all threads goes; such a run takes longer.
    """
    arguments, environment = ours_command(served, folder, project=project)
    if strategy:
        arguments += ["-a", f"strategy={strategy}"]
    run = _run(folder, arguments, len(served.site.pages), environment, profile)
    _check(folder / "ours.db", "SELECT COUNT(DISTINCT url_id) FROM page_source",
           len(served.site.pages))  # fmt: skip
    return run


def ours_command(
    served: ServedSite, folder: Path, *, project: Path = PROJECT
) -> tuple[list[str], dict[str, str]]:
    """The arguments of `scrapy` for that, and the environment, with a new database."""
    for path in folder.glob("ours.db*"):
        path.unlink()
    url = f"sqlite:///{folder / 'ours.db'}"
    environment = {
        "QIAO_DATABASE_URL": url,
        "QIAO_DEMO": served.origin,
        "PYTHONPATH": str(project),
        "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        # The spiders beside it follow links only.
        "QIAO_SITEMAPS": "off",
        "QIAO_SOFT_404_PROBE": "off",
        # A tree of made-up texts is what a maze is.
        "QIAO_TRAPS_ALLOWED": f"{HOST}/*",
    }
    pack = project / "topics" / "qiaoqing"
    subprocess.run([sys.executable, "-c", _PREPARE, url, str(pack)], cwd=folder, check=True,
                   env={**os.environ, **environment})  # fmt: skip
    arguments = ["crawl", "site", "-a", "topic=qiaoqing", "-a", f"start=http://{HOST}/"]
    return [*arguments, *_settings()], environment


def _settings() -> list[str]:
    return [text for name, value in _QUIET.items() for text in ("-s", f"{name}={value}")]


def _run(
    folder: Path, arguments: list[str], pages: int, environment: dict[str, str] | None = None,
    profile: Path | None = None,
) -> Run:  # fmt: skip
    counts = folder / "counts.json"
    counts.unlink(missing_ok=True)
    profiling = ["--profile", str(profile)] if profile is not None else []
    command = [sys.executable, str(_HERE / "counted.py"), str(counts), *profiling,
               *arguments]  # fmt: skip
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True,
        check=False,
    )  # fmt: skip
    output = done.stderr.decode("utf-8", "replace")
    match = _ELAPSED.search(output)
    if done.returncode or match is None or not counts.exists():
        raise SystemExit(f"{' '.join(command)} failed:\n{output[-3000:]}")
    return Run(pages, min(float(match[1]), time.monotonic() - began), _by_part(counts))


def _by_part(counts: Path) -> dict[str, float]:
    found: dict[str, Any] = json.loads(counts.read_text())
    cpu: dict[str, float] = {}
    for name, seconds in found["threads"].items():
        part = next((part for part, pattern in _THREADS if pattern.search(name)), "other threads")
        cpu[part] = cpu.get(part, 0.0) + seconds
    # Threads that came and went between two looks.
    missed = max(found["main_process"] - sum(cpu.values()), 0.0)
    cpu["other threads"] = cpu.get("other threads", 0.0) + missed
    cpu.pop("counting", None)
    cpu.update(found["processes"])
    return cpu


def _check(file: Path, question: str, pages: int) -> None:
    with sqlite3.connect(file) as c:
        stored = c.execute(question).fetchone()[0]
    c.close()
    if stored != pages:
        raise SystemExit(f"{stored} of {pages} pages stored: no fair comparison")
