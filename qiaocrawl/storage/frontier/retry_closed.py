"""Closed rows that failed get another chance, as an operator asks.

Only failures: what was left out by a decision (refused addresses, robots.txt, guesses of
discovery, the crawl order) stays as it is, and so do the judgements of pages.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, select, update

from qiaocrawl.items import Outcome
from qiaocrawl.storage import schema
from qiaocrawl.storage.frontier.lifecycle import close_redirects_as_login
from qiaocrawl.storage.schema import State
from qiaocrawl.urls import url_key

USUAL = (Outcome.POISON, Outcome.DEAD, Outcome.UNREACHABLE)
"""Outcomes that get another chance when none is named."""
RETRIED = (
    *USUAL, Outcome.BLOCKED, Outcome.LOGIN, Outcome.SOFT_404, Outcome.NEEDS_RENDERING,
    Outcome.TOO_LARGE, Outcome.NOT_HTML, Outcome.SCANNED,
)  # fmt: skip
"""Outcomes that may get another chance."""

_ROWS_A_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows: those of all conditions that are given.

    Attributes:
        urls: canonical ones.
        hosts: their subdomains are not meant.
    """

    outcomes: Collection[Outcome] = USUAL
    urls: Collection[str] = ()
    hosts: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class FailedUrl:
    """A row that failed."""

    id: int
    url: str
    host: str
    outcome: str
    reason: str


def failed_urls(c: Connection, choice: Choice) -> list[FailedUrl]:
    """The rows of *choice* in the order they were found; search queries are none."""
    if Outcome.LOGIN in choice.outcomes:
        # A run that was killed has not done it.
        close_redirects_as_login(c)
    url, host = schema.url.c, schema.host.c
    conditions: list[ColumnElement[bool]] = [
        url.state.in_([int(State.DONE), int(State.FAILED), int(State.SET_ASIDE)]),
        url.outcome.in_([outcome.value for outcome in choice.outcomes]),
        url.queue != "search",
    ]
    if choice.urls:
        conditions.append(url.key.in_([url_key(address) for address in choice.urls]))
    if choice.hosts:
        conditions.append(host.name.in_(list(choice.hosts)))
    rows = c.execute(
        select(url.id, url.url, host.name, url.outcome, url.reason)
        .join(schema.host, host.id == url.host_id)
        .where(*conditions)
        .order_by(url.id)
    )
    return [FailedUrl(row.id, row.url, row.name, row.outcome, row.reason or "") for row in rows]


def outcomes_of(c: Connection, urls: Collection[str]) -> dict[str, str]:
    """How each of the canonical *urls* ended; "" for one that is open, none that was never met."""
    table = schema.url.c
    keys = {url_key(address): address for address in urls}
    rows = c.execute(select(table.key, table.outcome).where(table.key.in_(list(keys))))
    return {keys[bytes(row.key)]: row.outcome or "" for row in rows}


def wait_again(c: Connection, failed: Sequence[FailedUrl]) -> int:
    """Let *failed* wait as if they had never been tried; returns how many do.

    A row that somebody took up meanwhile is left to him.
    """
    table = schema.url.c
    waiting = 0
    for start in range(0, len(failed), _ROWS_A_STATEMENT):
        batch = failed[start : start + _ROWS_A_STATEMENT]
        waiting += c.execute(
            update(schema.url)
            .where(table.id.in_([row.id for row in batch]))
            .where(table.outcome.in_({row.outcome for row in batch}))
            .values(
                state=int(State.PENDING), outcome=None, reason=None, done_at=None,
                lease_token=None, lease_until=None, not_before=0.0, attempts=0, failures=0,
                crashes=0,
            )
        ).rowcount  # fmt: skip
    return waiting
