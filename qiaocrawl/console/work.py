"""The database behind a request: its work runs in threads, off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, event
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from qiaocrawl.console.heavy_work import IsOver
from qiaocrawl.console.state import console_of, user_of
from qiaocrawl.options import Options
from qiaocrawl.runtime.sent_files import FileWorker, GivenUpError

# Of SQLite's machine: some milliseconds.
_STEPS_BETWEEN = 50_000

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Work = Callable[Concatenate[Connection, Parameters], Result]


async def read(
    request: Request,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """What *work* gives on a connection that only reads."""

    def on_connection() -> Result:
        with console_of(request).database.reading() as c:
            return work(c, *arguments, **named)

    return await run_in_threadpool(on_connection)


async def read_kept(
    request: Request,
    name: str,
    seconds: float,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """As :func:`read`, at most once in *seconds* for all who ask under *name*."""
    console = console_of(request)

    def on_connection() -> Result:
        with console.database.reading() as c:
            return work(c, *arguments, **named)

    return await run_in_threadpool(console.kept.get, name, seconds, on_connection)


async def do_heavy(request: Request, work: Callable[[IsOver], Result]) -> Result:
    """What *work* gives in its turn, off the threads of pages (``heavy_work``).

    It asks now and then whether it is over, and raises GivenUpError then.
    """
    user = user_of(request).name
    return await console_of(request).heavy.do(user, work, request.is_disconnected)


async def read_heavy(
    request: Request,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """As :func:`read`, of what takes many seconds: in its turn, and ended with its reader."""

    def on_connection(is_over: IsOver) -> Result:
        try:
            with console_of(request).database.reading() as c:
                _end_with_reader(c, is_over)
                return work(c, *arguments, **named)
        except SQLAlchemyError as error:
            if is_over():
                raise GivenUpError from error
            raise

    return await do_heavy(request, on_connection)


def _end_with_reader(c: Connection, is_over: IsOver) -> None:
    def before_statement(*_arguments: object) -> None:
        if is_over():
            raise GivenUpError

    event.listen(c, "before_cursor_execute", before_statement)
    if c.dialect.name == "sqlite":
        # Within a statement too; the connection is closed afterwards, not used again.
        driver = c.connection.driver_connection
        assert driver is not None
        driver.set_progress_handler(is_over, _STEPS_BETWEEN)


async def read_files(request: Request, work: Callable[[FileWorker], Result]) -> Result:
    """What *work* makes of files that somebody sent, in a process whose bounds are theirs."""
    seconds = Options.from_environment()["QIAO_EXTRACT_SECONDS"]

    def in_process(is_over: IsOver) -> Result:
        with FileWorker(seconds, is_over) as worker:
            return work(worker)

    return await do_heavy(request, in_process)


async def hashing(
    request: Request,
    work: Callable[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """What *work* on a password gives: few at a time, in a thread, since it takes long."""
    async with console_of(request).hashing:
        return await run_in_threadpool(work, *arguments, **named)


async def write(
    request: Request,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """What *work* gives in a transaction that is committed at its end.

    It notes in the same transaction what it changed (``storage.console.audit_log``).
    """

    def in_transaction() -> Result:
        with console_of(request).database.engine.begin() as c:
            return work(c, *arguments, **named)

    return await run_in_threadpool(in_transaction)
