"""The one transaction that ends a lease: its outcome, and all that came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.items import Lease, Outcome
from qiaocrawl.storage import frontier, url_aliases


@dataclass(frozen=True, slots=True)
class Opening:
    """What the transaction that closes a lease begins with.

    Attributes:
        first: done before all else, other operations included (see :meth:`Writer.submit`).
        only_if: asked next; False leaves everything as it is.
    """

    first: Callable[[Connection], object] | None = None
    only_if: Callable[[Connection], bool] | None = None


def closing(
    lease: Lease,
    outcome: Outcome,
    only_if: Callable[[Connection], bool] | None,
    also: Callable[[Connection], object] | None,
    *,
    reason: str,
    http_status: int | None,
    redirect_key: bytes | None,
) -> Callable[[Connection], bool | None]:
    """An operation that closes *lease* with *outcome* and then does what *also* does.

    It gives False when the lease was lost, None when *only_if* said no; nothing is written then.
    """

    def operation(c: Connection) -> bool | None:
        if only_if is not None and not only_if(c):
            return None
        mine = frontier.complete(
            c, lease, outcome=outcome, reason=reason, http_status=http_status,
            redirect_key=redirect_key, now=time.time(),
        )
        if mine and also is not None:
            also(c)
        if outcome not in url_aliases.READABLE:
            url_aliases.settle(c, [lease.key])
        return mine

    return operation
