"""The one transaction that ends a lease: its outcome or its next try, and all that it brought."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy import Connection

from qiaocrawl.items import Lease, Outcome
from qiaocrawl.storage import frontier
from qiaocrawl.storage.frontier import url_aliases

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LeaseEnd:
    """What the row of a closed lease says; ``redirect_key`` is of the URL it redirects to."""

    outcome: Outcome
    reason: str = ""
    http_status: int | None = None
    redirect_key: bytes | None = None


class CompleteLease(Generic[T]):
    """An operation of the writer that closes a lease and writes what it brought.

    Played again after a commit whose answer got lost, it writes nothing and gives True.

    Args:
        write: all else the transaction writes, once the row is closed.
        guard: asked first; False leaves everything as it is.

    Attributes:
        written: what *write* gave; None if it was not called.
    """

    def __init__(
        self,
        lease: Lease,
        end: LeaseEnd,
        write: Callable[[Connection], T] | None = None,
        guard: Callable[[Connection], bool] | None = None,
    ) -> None:
        self.lease = lease
        self.end = end
        self.written: T | None = None
        self._write = write
        self._guard = guard

    def __call__(self, c: Connection) -> bool | None:
        """False when the lease was lost, None when the guard said no: nothing is written then."""
        # The guard runs inside the transaction: outside, another part of the article could be
        # stored between its answer and the write.
        if self._guard is not None and not self._guard(c):
            return None
        end = self.end
        ended = frontier.complete(
            c,
            self.lease,
            outcome=end.outcome,
            reason=end.reason,
            http_status=end.http_status,
            redirect_key=end.redirect_key,
            now=time.time(),
        )
        # BEFORE means that an earlier try was committed together with its writes.
        if ended is frontier.Ended.NOW and self._write is not None:
            self.written = self._write(c)
        # In the same transaction: no kill may leave an alias waiting for a page that never comes.
        if end.outcome not in url_aliases.READABLE:
            url_aliases.release_failed(c, [self.lease.key])
        return bool(ended)


def retry_lease(
    lease: Lease,
    reason: str,
    pause_seconds: float,
    max_failures: int,
    write: Callable[[Connection], object] | None = None,
) -> Callable[[Connection], bool]:
    """An operation that lets *lease* wait for another try; then *write* writes more.

    It gives False when the lease was lost; nothing is written then.
    """

    def operation(c: Connection) -> bool:
        # not_before is compared with the database's clock, so it is computed from that clock.
        now = frontier.clock(c)
        ended = frontier.retry(
            c,
            lease,
            reason=reason,
            not_before=now + pause_seconds,
            max_failures=max_failures,
            now=now,
        )
        if ended is frontier.Ended.NOW and write is not None:
            write(c)
        return bool(ended)

    return operation
