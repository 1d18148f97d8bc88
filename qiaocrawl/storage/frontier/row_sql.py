"""What statements on frontier rows share: the fence, and the columns of a row never tried."""

from __future__ import annotations

from qiaocrawl.items import Lease

# The attempt besides the token: one worker may lose a row and lease it again.
FENCE = "id = :id AND lease_token = :token AND attempts = :attempt"
"""Selects a row only for the lease that took it last; values by :func:`fence`."""

HELD = f"{FENCE} AND state IN (State.LEASED, State.FETCHED)"
"""As :data:`FENCE`, and only while the row is open."""

NEVER_TRIED = (
    "lease_token = NULL, lease_until = NULL, not_before = 0, attempts = 0, failures = 0,"
    " crashes = 0"
)
"""Assignments that let a closed row start over: no lease, wait, failure or suspicion is left."""


def fence(lease: Lease) -> dict[str, int]:
    """Values for :data:`FENCE` and :data:`HELD`."""
    return {"id": lease.url_id, "token": lease.token, "attempt": lease.attempt}
