"""What all tests share: a clean environment, the real MariaDB server of this machine, a wheel."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from compiled_statements import share_compiled_statements
from mariadb_fixtures import database, database_url, mariadb, mariadb_url
from qiaocrawl.options.project import note_database
from wheel_fixtures import installed, wheel

# Fixtures by these names, for every test; see mariadb_fixtures.py and wheel_fixtures.py.
__all__ = ["database", "database_url", "installed", "mariadb", "mariadb_url", "wheel"]

# A machine that runs several tests at a time is no measure of time.
_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("some", _UNTIMED, max_examples=20)
settings.register_profile("all", _UNTIMED, max_examples=200)

_FOLDER = Path(__file__).parent
_SQLITE_SUFFICES = _FOLDER / "sqlite_suffices.txt"
_OF_BENCHMARKS = _FOLDER / "benchmarks"

# A test must never reach an operator's database or obey an operator's options.
for _name in [name for name in os.environ if name.startswith("QIAO_")]:
    del os.environ[_name]
# Messages as they stand in the code, whatever the locale; tests/language has those of the others.
os.environ["QIAO_LANG"] = "en"

# No request leaves the machine: the world's authorities are asked of nothing, but to read their
# certificates costs every connection to MariaDB and every client of HTTP 30 ms.
os.environ["SSL_CERT_FILE"] = str(_FOLDER / "fixtures" / "nobodys_certificate.pem")

# Most tests start processes; unkept byte code costs each of them a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all``: what `make test-all` adds."""
    parser.addoption(
        "--all",
        action="store_true",
        help="also what is marked `thorough`, both databases everywhere, 200 examples for 20",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples a property is tried on, where its test does not say."""
    # What is loaded from here on stays.
    gc.disable()
    share_compiled_statements()
    settings.load_profile("all" if config.getoption("--all") else "some")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even load what would be left out, for each process of the run loads everything."""
    return True if collection_path == _OF_BENCHMARKS and not config.getoption("--all") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to `make test-all` what repeats a promise in other words; try Chromium's twice."""
    if not config.getoption("--all"):
        on_sqlite_only = _on_sqlite_only()
        chosen: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            (left if _is_left_out(item, on_sqlite_only) else chosen).append(item)
        config.hook.pytest_deselected(items=left)
        items[:] = chosen
    for item in items:
        # A browser of somebody else's beside other tests on few cores.
        if item.get_closest_marker("chromium") is not None:
            item.add_marker(pytest.mark.flaky(reruns=1))


def _is_left_out(item: pytest.Item, on_sqlite_only: frozenset[str]) -> bool:
    if item.get_closest_marker("thorough") is not None or item.path.is_relative_to(_OF_BENCHMARKS):
        return True
    test, _, parameters = item.nodeid.partition("[")
    return "mariadb" in parameters.rstrip("]").split("-") and test in on_sqlite_only


def _on_sqlite_only() -> frozenset[str]:
    """Tests whose MariaDB half asks nothing that others do not; see the script that lists them."""
    lines = _SQLITE_SUFFICES.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def pytest_collection_finish() -> None:
    """Collect cycles from now on, but look at no module or test again."""
    gc.freeze()
    # Each test makes thousands of objects that outlive the next few; with Python's 700 a twentieth
    # of all time went into looking at them again and again.
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


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
