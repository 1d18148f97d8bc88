"""Runs a Scrapy command that fails at a named point of a page's life.

``python benchmarks/disturbances/failpoints.py POINT N crawl site -a …`` kills itself with -9 at
the N-th time
the point is passed. ``N:stop`` stops it as SIGSTOP does, until it gets SIGCONT; ``N:refuse``
has the database refuse what it is at, once, as a disk that fails for a moment does (for points
inside a transaction), and ``N:fail`` raises an error of no known kind. ``N+:refuse`` does so at
every N-th time, ``N-M:fail`` from the N-th to the M-th: what fails in a transaction with others is
played once more alone. The points are set from outside, so that the product carries none.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parents[2])]

from scrapy.cmdline import execute
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import OperationalError

from qiaocrawl.crawl import slow_pages as suspects
from qiaocrawl.crawl.network.handler import GuardedDownloadHandler
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.frontier.worker import FrontierWorker
from qiaocrawl.pipelines import evidence, store
from qiaocrawl.runtime.workers import AnalysisPool
from qiaocrawl.storage import frontier

Wrapped = Callable[..., Any]
REFUSED = "failpoints: the database refuses"
"""A line of the log for every refusal."""


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _passing_fault(dialect: str) -> Exception:
    """What a driver raises where a disk or a line fails: the transaction is played again."""
    if dialect != "sqlite":
        from pymysql.err import OperationalError as LostConnection

        lost: Exception = LostConnection(2013, "Lost connection, as a test wants it")
        return lost
    error = sqlite3.OperationalError("disk I/O error, as a test wants it")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    return error


def _refuse() -> None:
    print(REFUSED, file=sys.stderr, flush=True)
    error = _passing_fault("sqlite")
    raise OperationalError("refused", None, error) from error


def _fail() -> None:
    print(REFUSED, file=sys.stderr, flush=True)
    raise RuntimeError("as a test wants it")


DEEDS: dict[str, Callable[[], None]] = {
    "kill": _die, "stop": _stop, "refuse": _refuse, "fail": _fail,
}  # fmt: skip
_deed = _die
_again = False
_last = 0


def _is_due(number: int, strike: int) -> bool:
    return number % strike == 0 if _again else strike <= number <= max(_last, strike)


def _before(owner: Any, name: str, strike: int) -> None:
    """Fail when ``owner.name`` is called for the *strike*-th time."""
    original: Wrapped = getattr(owner, name)
    calls = count(1)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if _is_due(next(calls), strike):
            _deed()
        return original(*args, **kwargs)

    setattr(owner, name, wrapped)


def _after(owner: Any, name: str, strike: int) -> None:
    """Fail when ``owner.name`` has returned for the *strike*-th time."""
    original: Wrapped = getattr(owner, name)
    calls = count(1)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if _is_due(next(calls), strike):
            _deed()
        return result

    setattr(owner, name, wrapped)


def _after_commit(owner: Any, name: str, strike: int) -> None:
    """Fail when the coroutine ``owner.name`` has finished for the *strike*-th time."""
    original: Wrapped = getattr(owner, name)
    calls = count(1)

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = await original(*args, **kwargs)
        if _is_due(next(calls), strike):
            _deed()
        return result

    setattr(owner, name, wrapped)


def _every_commit(nth: int, *, arrives: bool) -> None:
    """Refuse every *nth* commit of the writers; where it *arrives*, only its answer is lost."""
    original: Wrapped = DefaultDialect.do_commit
    calls = count(1)

    def do_commit(self: DefaultDialect, connection: Any) -> None:
        is_hit = threading.current_thread().name == "qiaocrawl-writer" and not next(calls) % nth
        if is_hit and not arrives:
            raise _passing_fault(self.name)
        original(self, connection)
        if is_hit:
            raise _passing_fault(self.name)

    DefaultDialect.do_commit = do_commit  # type: ignore[method-assign]


def _on_killer(strike: int) -> None:
    """Die whenever a page called killer is handed to a worker process, as if of itself."""
    original: Wrapped = AnalysisPool.submit

    def wrapped(self: AnalysisPool, page: Any, *args: Any) -> Any:
        if page.url.endswith("killer"):
            _die()
        return original(self, page, *args)

    setattr(AnalysisPool, "submit", wrapped)  # noqa: B010
    suspects.CALM_SECONDS = 0.1


POINTS: dict[str, Callable[[int], None]] = {
    "leased, not committed": lambda n: _after(frontier, "lease", n),
    "leased, committed": lambda n: _after_commit(FrontierWorker, "_lease_more", n),
    "handed out": lambda n: _after(FrontierWorker, "next_lease", n),
    "mid-download": lambda n: _before(GuardedDownloadHandler, "_cancellable", n),
    "response arrived": lambda n: _before(FrontierSpider, "read", n),
    "page stored, not committed": lambda n: _after(evidence, "store_page", n),
    "page committed": lambda n: _after_commit(evidence.EvidencePipeline, "process_item", n),
    "in analysis": lambda n: _after(AnalysisPool, "submit", n),
    "before the close": lambda n: _before(FrontierWorker, "complete", n),
    "outcome written, not committed": lambda n: _after(frontier, "complete", n),
    "links written, not committed": lambda n: _after(frontier, "enqueue", n),
    "outcome committed": lambda n: _after_commit(store.StorePipeline, "process_item", n),
    "committing": lambda n: _before(DefaultDialect, "do_commit", n),
    "committed, unheard": lambda n: _after(DefaultDialect, "do_commit", n),
    "while closing": lambda n: _before(FrontierWorker, "close", 1),
}
"""Every named point; the last one also needs a SIGTERM from outside to be reached early."""

IN_TRANSACTIONS = (
    "leased, not committed",
    "page stored, not committed",
    "outcome written, not committed",
    "links written, not committed",
    "committing",
    "committed, unheard",
)
"""Where the database can refuse what it is asked."""

REFUSALS: dict[str, Callable[[int], None]] = {
    "commits refused": lambda n: _every_commit(n, arrives=False),
    "answers to commits lost": lambda n: _every_commit(n, arrives=True),
}
"""Faults of the database at every N-th commit."""


ON_PAGES: dict[str, Callable[[int], None]] = {"analysing a page called killer": _on_killer}
"""Points that only certain pages pass."""


def main() -> None:
    """Arm one point, then hand over to Scrapy."""
    global _deed, _again, _last
    point, strike, *command = sys.argv[1:]
    number, _, deed = strike.partition(":")
    number, _, last = number.partition("-")
    _deed, _again, _last = DEEDS[deed or "kill"], number.endswith("+"), int(last or 0)
    {**POINTS, **REFUSALS, **ON_PAGES}[point](int(number.rstrip("+")))
    execute(["scrapy", *command])


if __name__ == "__main__":
    main()
