"""The project as an egg on a real scrapyd: deploy, list, crawl a recorded web, keep the data."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from crawling import article, import_pack, pack
from recording import Recorded, write_warc

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("qiaocrawl", "spiders", "pipelines", "middlewares")
# Told apart from the tree's own name: what runs must be the code in the egg.
BOT_NAME = "deployed-from-an-egg"
SITE = "https://news.example.cn"
WAIT_SECONDS = 300

TITLES = ("华侨华人社团联合总会举行换届典礼", "海外侨胞返乡投资座谈会召开", "华文学校迎来新学年")


def _recorded_site(folder: Path) -> Path:
    paths = [f"/news/{number}.html" for number in range(len(TITLES))]
    links = "".join(f'<li><a href="{path}">{path}</a></li>\n' for path in paths)
    home = f"<html><title>侨务新闻</title><body><ul>\n{links}</ul></body></html>".encode()
    answers = [Recorded(f"{SITE}/", home)]
    answers += [
        Recorded(SITE + path, article(title)) for path, title in zip(paths, TITLES, strict=True)
    ]
    return write_warc(folder / "site.warc.gz", answers)


@dataclass
class Scrapyd:
    """A running scrapyd: its folder, its address, and the environment of its jobs."""

    folder: Path
    url: str
    database: Path
    environment: dict[str, str]

    def call(self, method: str, **data: str) -> dict[str, Any]:
        """One call of its JSON interface; ``data`` makes it a POST."""
        body = urllib.parse.urlencode(data).encode() if method in ("schedule",) else None
        query = "" if body else "?" + urllib.parse.urlencode(data)
        with urllib.request.urlopen(f"{self.url}{method}.json{query}", body, 60) as response:
            answer: dict[str, Any] = json.load(response)
        assert answer["status"] == "ok", answer
        return answer

    def run(self, **arguments: str) -> tuple[dict[str, Any], str]:
        """Schedule a job, wait until it is finished; returns its entry and its log."""
        job = self.call("schedule", project="qiaocrawl", **arguments)["jobid"]
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            finished = self.call("listjobs", project="qiaocrawl")["finished"]
            entry = next((entry for entry in finished if entry["id"] == job), None)
            if entry is not None:
                logs = list((self.folder / "logs").rglob(f"{job}.log"))
                return entry, logs[0].read_text("utf-8") if logs else self.output()
            time.sleep(0.3)
        pytest.fail(f"job {job} did not finish in {WAIT_SECONDS} s:\n{self.output()}")

    def output(self) -> str:
        """What scrapyd and its jobs wrote to the terminal."""
        return (self.folder / "output.txt").read_text("utf-8")


def _copy_project(folder: Path, url: str) -> None:
    for name in PACKAGES:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*")
        )
    (folder / "topics").mkdir()
    for name in ("pyproject.toml", "setup.py", "requirements.txt", "MANIFEST.in", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(ROOT / "README.md", folder)
    config = configparser.ConfigParser()
    config.read(ROOT / "scrapy.cfg")
    config["deploy"]["url"] = url.rstrip("/")
    with (folder / "scrapy.cfg").open("w") as file:
        config.write(file)
    with (folder / "qiaocrawl" / "settings.py").open("a") as file:
        file.write(f'\nBOT_NAME = "{BOT_NAME}"\n')


def _environment(home: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PYTHONWARNINGS": "ignore",
        "LANG": "C.UTF-8",
        **more,
    }


def _free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _wait_until_it_answers(scrapyd: Scrapyd, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            scrapyd.call("daemonstatus")
        except urllib.error.URLError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"scrapyd does not answer:\n{scrapyd.output()}")


def _skip_where_a_copy_hides_the_egg(folder: Path) -> None:
    """An egg is found after what is installed for good; an editable installation is not."""
    where = subprocess.run(
        [sys.executable, "-c", "import qiaocrawl; print(qiaocrawl.__file__)"],
        cwd=folder, env=_environment(folder), capture_output=True, text=True, timeout=60,
    ).stdout  # fmt: skip
    if "site-packages" in where:
        pytest.skip("a copy of qiaocrawl installed in this environment hides the egg")


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    folder = tmp_path_factory.mktemp("scrapyd")
    _skip_where_a_copy_hides_the_egg(folder)
    port = _free_port()
    (folder / "scrapyd.conf").write_text(
        f"[scrapyd]\nbind_address = 127.0.0.1\nhttp_port = {port}\npoll_interval = 0.3\n"
        "eggs_dir = eggs\nlogs_dir = logs\ndbs_dir = dbs\nmax_proc = 1\n"
        "jobstorage = scrapyd.jobstorage.SqliteJobStorage\n"
    )
    database = folder / "store" / "qiaocrawl.db"
    database.parent.mkdir()
    environment = _environment(
        folder,
        QIAO_DATABASE_URL=f"sqlite:///{database}",
        QIAO_REPLAY=str(_recorded_site(folder)),
    )
    running = Scrapyd(folder, f"http://127.0.0.1:{port}/", database, environment)
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapyd"],
            cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _wait_until_it_answers(running, process)
            yield running
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture(scope="module")
def deployed(scrapyd: Scrapyd, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's folder after ``scrapyd-deploy``; the topic is in the database."""
    project = tmp_path_factory.mktemp("project")
    _copy_project(project, scrapyd.url)
    done = subprocess.run(
        [sys.executable, "-m", "scrapyd_client.deploy", "--version", "1"],
        cwd=project, env=scrapyd.environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"status": "ok"' in done.stdout, done.stdout + done.stderr
    import_pack(scrapyd.environment["QIAO_DATABASE_URL"], pack("news.example.cn"))
    return project


def test_the_egg_carries_every_file_of_the_four_packages(scrapyd: Scrapyd, deployed: Path) -> None:
    (egg,) = (scrapyd.folder / "eggs").rglob("*.egg")
    with zipfile.ZipFile(egg) as archive:
        carried = set(archive.namelist())
    tree = {
        str(path.relative_to(deployed))
        for package in PACKAGES
        for path in (deployed / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tree - carried == set()
    assert not any(name.startswith(("tests/", "topics/", "data/")) for name in carried)


def test_the_spiders_are_listed(scrapyd: Scrapyd, deployed: Path) -> None:
    listed = scrapyd.call("listspiders", project="qiaocrawl")["spiders"]
    assert {"pages", "search", "site"} <= set(listed)


def test_a_crawl_runs_from_the_egg_and_its_articles_outlive_it(
    scrapyd: Scrapyd, deployed: Path
) -> None:
    # An egg's loops are compiled anew by each run; this order has none of its own.
    entry, log = scrapyd.run(spider="site", topic="qiaoqing", start=f"{SITE}/", strategy="bfs")
    assert entry["spider"] == "site"
    assert BOT_NAME in log, log
    assert "'finish_reason': 'finished'" in log, log
    assert "Traceback" not in log, log
    with closing(sqlite3.connect(scrapyd.database)) as database:
        rows = database.execute("SELECT title FROM article ORDER BY title").fetchall()
    assert [title for (title,) in rows] == sorted(TITLES), log


def test_a_database_relative_to_an_egg_is_refused(scrapyd: Scrapyd, deployed: Path) -> None:
    setting = "QIAO_DATABASE_URL=sqlite:///data/qiaocrawl.db"
    _, log = scrapyd.run(spider="site", topic="qiaoqing", setting=setting)
    said = log + scrapyd.output()
    assert "QIAO_DATABASE_URL must be absolute" in said
    assert "Traceback" not in log
    assert not (scrapyd.folder / "data").exists(), "a database was made in scrapyd's own folder"
