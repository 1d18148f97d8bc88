"""The project as an egg on a real scrapyd: deploy, list, crawl a recorded web, keep the data."""

from __future__ import annotations

import base64
import re
import sqlite3
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from itertools import product
from pathlib import Path

import pytest

from qiaocrawl.errors import JobError
from qiaocrawl.jobs.scrapyd import ScrapydServer
from scrapyd_server import BOT_NAME, PACKAGES, SITE, TITLES, WAIT_SECONDS, Scrapyd

pytestmark = pytest.mark.timeout(1_500)


def test_the_egg_carries_every_file_of_the_four_packages(scrapyd: Scrapyd, deployed: Path) -> None:
    (egg,) = (scrapyd.folder / "eggs").rglob("*.egg")
    with zipfile.ZipFile(egg) as archive:
        carried = set(archive.namelist())
    tree = {
        # What stands beside the package in a clone is in it in an egg.
        str(Path("qiaocrawl") / path.relative_to(deployed)).replace(
            "qiaocrawl/qiaocrawl", "qiaocrawl"
        )
        for package in PACKAGES
        for path in (deployed / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tree - carried == set()
    assert {name.partition("/")[0] for name in carried} == {"EGG-INFO", "qiaocrawl"}


def test_the_manual_has_the_bounds_of_setuptools() -> None:
    """An older one cannot read pyproject.toml, a newer one cannot read eggs."""
    root = Path(__file__).resolve().parents[2]
    (told,) = re.findall(r'pip install scrapyd-client "(.*)"', (root / "docs/fleet.md").read_text())
    assert f'"{told}"' in (root / "pyproject.toml").read_text()


def _titles(scrapyd: Scrapyd, site: str) -> list[str]:
    query = (
        "SELECT a.title FROM article a JOIN url u ON u.id = a.url_id"
        " WHERE u.url LIKE ? || '/%.html' ORDER BY a.title"
    )
    with closing(sqlite3.connect(scrapyd.database)) as database:
        return [title for (title,) in database.execute(query, (site,))]


def test_the_spiders_are_listed(scrapyd: Scrapyd, deployed: Path) -> None:
    listed = scrapyd.call("listspiders", project="qiaocrawl", _version="1")["spiders"]
    assert {"pages", "search", "site"} <= set(listed)


@pytest.fixture
def server(scrapyd: Scrapyd) -> Iterator[ScrapydServer]:
    asked = ScrapydServer(ScrapydServer.url_with_login(scrapyd.url, scrapyd.user, scrapyd.password))
    yield asked
    asked.close()


def _egg(**files: str) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as egg:
        for name, text in {"small/__init__.py": "", **files}.items():
            egg.writestr(name, text)
    return made.getvalue()


def test_an_egg_that_is_refused_is_not_what_runs_from_then_on(
    server: ScrapydServer, deployed: Path
) -> None:
    before = server.status().versions
    with pytest.raises(JobError):
        server.deploy(_egg(), "9999999999-broken")
    assert server.status().versions == before


def test_a_version_that_is_there_stays_as_it_is(
    scrapyd: Scrapyd, server: ScrapydServer, deployed: Path
) -> None:
    (kept,) = (scrapyd.folder / "eggs").rglob("*.egg")
    good = kept.read_bytes()
    with pytest.raises(JobError, match=r"has a version '1', which stays: give --version another"):
        server.deploy(_egg(), "1")
    assert kept.read_bytes() == good


def test_an_egg_that_would_not_run_is_refused(server: ScrapydServer, deployed: Path) -> None:
    good = _egg(**{
        "EGG-INFO/PKG-INFO": "Name: small\nVersion: 1\n",
        "EGG-INFO/entry_points.txt": "[scrapy]\nsettings = small.settings\n",
        "small/settings.py": "",
    })  # fmt: skip
    with pytest.raises(JobError, match=r"go on running '1': .* '0' comes before it"):
        server.deploy(good, "0")
    assert server.status().versions == ("1",)


def test_a_crawl_runs_from_the_egg_and_its_articles_outlive_it(
    scrapyd: Scrapyd, deployed: Path
) -> None:
    entry, log = scrapyd.run(
        spider="site", topic="qiaoqing", start=f"{SITE}/", strategy="bfs", _version="1"
    )
    assert entry["spider"] == "site"
    assert BOT_NAME in log, log
    assert "'finish_reason': 'finished'" in log, log
    assert "Traceback" not in log, log
    assert _titles(scrapyd, SITE) == sorted(TITLES), log
    kept = Path(scrapyd.environment["XDG_CACHE_HOME"]) / "qiaocrawl" / "loops"
    taken_out = {file.name.partition(".")[0] for file in kept.rglob("*.so")}
    assert taken_out == {file.name.partition(".")[0] for file in deployed.rglob("*.so")}


def test_a_database_relative_to_an_egg_is_refused(scrapyd: Scrapyd, deployed: Path) -> None:
    setting = "QIAO_DATABASE_URL=sqlite:///data/qiaocrawl.db"
    before = len(scrapyd.output())
    _, log = scrapyd.run(spider="site", topic="qiaoqing", setting=setting, _version="1")
    # A job without a log of its own writes into scrapyd's, which holds what others said before.
    said = scrapyd.output()[before:]
    said += log if log != scrapyd.output() else ""
    assert "QIAO_DATABASE_URL must be absolute" in said
    assert "Traceback" not in said
    assert not (scrapyd.folder / "data").exists(), "a database was made in scrapyd's own folder"


# --- who reaches it -----------------------------------------------------------------------------


def _listening_on(port: int) -> set[str]:
    """Addresses on which *port* is listened on, as the kernel has them: little-endian hex."""
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in table.read_text("ascii").splitlines()[1:] if table.exists() else ():
            address, _, number = line.split()[1].partition(":")
            if line.split()[3] == "0A" and int(number, 16) == port:
                found.add(address)
    return found


def test_it_listens_on_this_machine_only_and_wants_a_password(scrapyd: Scrapyd) -> None:
    """F-W12. Whoever may upload an egg runs code."""
    port = int(scrapyd.url.rstrip("/").rpartition(":")[2])
    assert _listening_on(port) == {"0100007F"}
    calls = ("", "daemonstatus.json", "addversion.json", "schedule.json", "logs/", "jobs")
    wrong = base64.b64encode(f"{scrapyd.user}:wrong".encode()).decode()
    for path, headers in product(calls, ({}, {"Authorization": f"Basic {wrong}"})):
        for body in (None, b"project=qiaocrawl"):
            request = urllib.request.Request(scrapyd.url + path, body, headers)
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=WAIT_SECONDS)
            refused.value.close()
            assert refused.value.code == 401, path
