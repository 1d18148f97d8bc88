"""What crawls put off or left out, by reason."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.discovery.trap_trials import group_of
from qiaocrawl.storage.discovery import accounts_of
from qiaocrawl.storage.statement import Statement
from qiaocrawl.storage.values import clean_host, host_id

_GROUPS = Statement(
    "SELECT outcome, reason, COUNT(*) AS urls, MIN(url) FROM url"
    " WHERE state = 3 AND outcome IN ('postponed', 'trap', 'pruned')"
    " AND (:any_host = 1 OR host_id = :host_id)"
    " GROUP BY outcome, reason ORDER BY urls DESC, outcome, reason LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class LeftOutGroup:
    """URLs that one reason keeps from being fetched.

    Attributes:
        outcome: ``postponed``, ``trap`` or ``pruned``.
        urls: how many.
        example: one of them.
        told: of a trap, what its pages cost and brought.
    """

    outcome: str
    reason: str
    urls: int
    example: str
    told: str = ""


def left_out_groups(c: Connection, host: str, most: int) -> list[LeftOutGroup]:
    """The *most* largest groups, of *host* or of all ("")."""
    rows = _GROUPS.run(c, {
        "any_host": int(not host), "host_id": host_id(clean_host(host)), "most": most,
    }).fetchall()  # fmt: skip
    forms = [form for row in rows if (form := group_of(row[1] or ""))]
    told = {one.form: one.account().told() for one in accounts_of(c, forms) if one.fetched}
    return [
        LeftOutGroup(outcome, reason or "", urls, example, told.get(group_of(reason or ""), ""))
        for outcome, reason, urls, example in rows
    ]
