"""What all tests share: a clean environment, the real MariaDB server of this machine, a wheel."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mariadb_fixtures import database, database_url, mariadb, mariadb_url
from qiaocrawl.options.advice import note_database
from wheel_fixtures import installed, wheel

# Fixtures by these names, for every test; see mariadb_fixtures.py and wheel_fixtures.py.
__all__ = ["database", "database_url", "installed", "mariadb", "mariadb_url", "wheel"]

# A machine that runs several tests at a time is no measure of time.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A test must never reach an operator's database or obey an operator's options.
for _name in [name for name in os.environ if name.startswith("QIAO_")]:
    del os.environ[_name]
# Messages as they stand in the code, whatever the locale; tests/language has those of the others.
os.environ["QIAO_LANG"] = "en"

# Most tests start processes; unkept byte code costs each of them a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


# Real processes, servers and browsers beside other tests on few cores: what fails there once is
# tried once more, and the summary names it (RERUN). What fails twice has failed.
_REAL_PARTS = tuple(
    Path(__file__).parent / folder
    for folder in ("console", "crawl", "first_hour", "jobs", "scrapyd")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of real crawls, servers and browsers."""
    for item in items:
        serves = item.get_closest_marker("mariadb") is not None
        if serves or _has_real_parts(item.path):
            item.add_marker(pytest.mark.flaky(reruns=1))


@cache
def _has_real_parts(file: Path) -> bool:
    return any(file.is_relative_to(one) for one in _REAL_PARTS)


@pytest.fixture(scope="session", autouse=True)
def _own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Unpacked recorded webs go to a folder of this run, not to the user's cache.

    Ontologies the user has installed are not those of the tests either.
    """
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        yield folder


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages in Chinese, as officers read them."""
    monkeypatch.setenv("QIAO_LANG", "zh_CN")


@pytest.fixture(autouse=True)
def _no_given_database() -> Iterator[None]:
    """A command that a test calls in this process notes its database for the process's life."""
    yield
    note_database("")


@pytest.fixture(autouse=True)
def _same_signals() -> Iterator[None]:
    """What a test leaves set would hold for all later tests of this process, and their children."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    assert [signal.getsignal(number) for number in numbers] == before, "a signal means another now"
