"""The database behind a request: its work runs in threads, off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from qiaocrawl.console.state import console_of

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
