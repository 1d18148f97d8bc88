"""The one transaction that ends a lease: its outcome or its next try, and all that came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, Unpack

from sqlalchemy import Connection

from qiaocrawl.items import Lease, Outcome
from qiaocrawl.storage import frontier
from qiaocrawl.storage.frontier import url_aliases


class Told(TypedDict, total=False):
    """What the row of a closed lease says beside its outcome."""

    reason: str
    http_status: int | None
    redirect_key: bytes | None
    """Of the URL it redirects to."""


@dataclass(frozen=True, slots=True)
class Around:
    """What goes before and after the transaction that closes a lease.

    Attributes:
        first: done before all else, other operations included (see :meth:`Writer.submit`).
        only_if: asked next; False leaves everything as it is.
        then: called when it is committed: from here on memories may know what was written.
    """

    first: Callable[[Connection], object] | None = None
    only_if: Callable[[Connection], bool] | None = None
    then: Callable[[], object] | None = None


def closing(
    lease: Lease,
    outcome: Outcome,
    only_if: Callable[[Connection], bool] | None,
    also: Callable[[Connection], object] | None,
    **told: Unpack[Told],
) -> Callable[[Connection], bool | None]:
    """An operation that closes *lease* with *outcome* and then does what *also* does.

    It gives False when the lease was lost, None when *only_if* said no; nothing is written then.
    Played again after a commit whose answer got lost, it does nothing and gives True.
    """

    def operation(c: Connection) -> bool | None:
        if only_if is not None and not only_if(c):
            return None
        ended = frontier.complete(
            c, lease, outcome=outcome, reason=told.get("reason", ""),
            http_status=told.get("http_status"), redirect_key=told.get("redirect_key"),
            now=time.time(),
        )
        if ended is frontier.Ended.NOW and also is not None:
            also(c)
        if outcome not in url_aliases.READABLE:
            url_aliases.settle(c, [lease.key])
        return bool(ended)

    return operation


def trying_again(
    lease: Lease, reason: str, pause_seconds: float, max_failures: int,
    also: Callable[[Connection], object] | None,
) -> Callable[[Connection], bool]:
    """An operation that lets *lease* wait for another try and then does what *also* does.

    It gives False when the lease was lost; nothing is written then.
    """

    def operation(c: Connection) -> bool:
        now = frontier.clock(c)
        ended = frontier.retry(
            c, lease, reason=reason, not_before=now + pause_seconds, max_failures=max_failures,
            now=now,
        )
        if ended is frontier.Ended.NOW and also is not None:
            also(c)
        return bool(ended)

    return operation
