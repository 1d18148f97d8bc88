"""URLs that a guess of discovery put off: closed rows of the frontier that come back.

Such a row is done with the outcome ``postponed``, or ``trap``; its reason names the guess, and
rows with the same reason stand and fall together. A plain link makes it wait again (see
:mod:`~qiaocrawl.storage.frontier.enqueue`); so does :func:`take_up` when nothing else of a scope
waits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, update

from qiaocrawl.discovery.static_traps import TRAP, group_of
from qiaocrawl.items import Candidate, Outcome
from qiaocrawl.storage import schema
from qiaocrawl.storage.frontier.enqueue import payload_of, payload_text
from qiaocrawl.storage.frontier.lifecycle import close_redirects_as_login
from qiaocrawl.storage.frontier.scope import NEVER_TRIED, Scope, ScopedStatement
from qiaocrawl.storage.pages.sites import pattern_scores_of
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.sql import ListStatement, Statement
from qiaocrawl.urls import url_key

# Ancestors looked at from a new article up: a bound for chains that lead in a circle.
_MOST_STEPS = 50

_IS_POSTPONED = "state = State.DONE AND outcome IN ('postponed', 'trap')"
_COUNT = ScopedStatement(
    f"SELECT reason, COUNT(*) FROM url WHERE {{scope}} AND {_IS_POSTPONED} GROUP BY reason"
)
_BEST = ScopedStatement(
    # Numbered within each reason: the best of every reason, whatever the others hold.
    "SELECT place, score, id, reason FROM ("
    "SELECT id, score, reason,"
    " ROW_NUMBER() OVER (PARTITION BY reason ORDER BY score DESC, id) AS place"
    f" FROM url WHERE {{scope}} AND {_IS_POSTPONED}) AS ranked WHERE place <= :most"
)
_ROWS = (
    "SELECT u.id, u.`key`, u.url, h.name, u.score, u.depth, u.parent_key, u.anchor, u.reason,"
    " u.payload FROM url u JOIN host h ON h.id = u.host_id"
    # Checked again: another worker may have taken some up since they were ranked.
    f" WHERE u.id IN ({{list}}) AND u.{_IS_POSTPONED.replace('outcome', 'u.outcome')}"
)
# Rows that another worker is taking up at this moment are left to it.
_ROWS_LOCKED = ListStatement(_ROWS, mysql=_ROWS + " FOR UPDATE SKIP LOCKED")
_TAKE_UP = Statement(
    "UPDATE url SET state = State.PENDING, outcome = NULL, done_at = NULL, payload = :payload,"
    f" {NEVER_TRIED} WHERE id = :id AND {_IS_POSTPONED}"
)

# The reason of an alias names its page, that of a pruned link the parts of its score.
_GUESS = (
    "CASE outcome WHEN 'alias' THEN 'another address of a page'"
    " WHEN 'pruned' THEN 'below the threshold of the crawl order' ELSE COALESCE(reason, '') END"
)
_LEFT_OUT = Statement(
    f"SELECT outcome, {_GUESS}, COUNT(*), MIN(url) FROM url WHERE state = State.DONE"
    " AND outcome IN ('postponed', 'alias', 'pruned', 'trap', 'soft_404') AND queue <> 'search'"
    f" GROUP BY outcome, {_GUESS} ORDER BY COUNT(*) DESC, MIN(id) LIMIT :most"
)

_NEWEST_ARTICLE = Statement("SELECT COALESCE(MAX(id), 0) FROM article")
# The first of a group of reprints only: a story everybody copies proves no new section.
_NEW_STORIES = Statement(
    "SELECT u.`key`, u.parent_key FROM article a JOIN url u ON u.id = a.url_id"
    " LEFT JOIN verdict v ON v.article_id = a.id"
    " WHERE a.id > :after AND (v.group_id IS NULL OR v.group_id = a.id)"
)
_PARENTS = ListStatement(
    "SELECT parent_key FROM url WHERE `key` IN ({list}) AND parent_key IS NOT NULL"
)


@dataclass(frozen=True, slots=True)
class LeftOutLine:
    """What one guess left out: how many URLs, and the first of them by name."""

    outcome: str
    guess: str
    urls: int
    example: str


@dataclass(frozen=True, slots=True)
class TakenUp:
    """A row that waits again, as a candidate; ``reason`` is why it had been put off."""

    candidate: Candidate
    reason: str


def count_postponed(c: Connection, scope: Scope) -> dict[str, int]:
    """How many rows of *scope* are put off, by reason. Reads all closed rows of it."""
    found: dict[str, int] = {}
    for reason, rows in _COUNT.fetch(c, scope, {}):
        found[reason or ""] = found.get(reason or "", 0) + rows
    return found


def left_out(c: Connection, *, most: int) -> list[LeftOutLine]:
    """What guesses left out of all crawls, the *most* guesses that left out most."""
    lines = [LeftOutLine(*row) for row in _LEFT_OUT.run(c, {"most": most}).fetchall()]
    scores = pattern_scores_of(c, [form for line in lines if (form := group_of(line.guess))])
    guesses = {
        score.form: f"{TRAP}{score.form} ({score.score().describe()})"
        for score in scores
        if score.fetched
    }
    return [replace(line, guess=guesses.get(group_of(line.guess), line.guess)) for line in lines]


def take_up(c: Connection, scope: Scope, shares: Mapping[str, int], *, limit: int) -> list[TakenUp]:
    """Let the best postponed rows of *scope* wait again.

    Args:
        shares: how many rows of each reason at most; those of others stay.
        limit: most rows in all; the best of every reason go first.
    """
    # As many of each as the greediest reason may have; the filter below cuts the others.
    ranked = _BEST.fetch(c, scope, {"most": max(shares.values(), default=0)})
    mine = sorted(
        # Sorted by place first: the best of each reason, then the second best of each.
        (place, -score, row_id)
        for place, score, row_id, reason in ranked
        if place <= shares.get(reason or "", 0)
    )[:limit]
    # Locked in order of id; the list returned keeps the order of the places.
    rows = _ROWS_LOCKED.fetch(c, sorted(row_id for _, _, row_id in mine))
    taken = {row[0]: _take_up(row, scope) for row in rows}
    _TAKE_UP.run_many(
        c,
        [
            {"id": row_id, "payload": payload_text(taken[row_id].candidate.payload)}
            for row_id in sorted(taken)
        ],
    )
    return [taken[row_id] for _, _, row_id in mine if row_id in taken]


def _take_up(row: Any, scope: Scope) -> TakenUp:
    _, key, url, host, score, depth, parent, anchor, reason, payload = row
    return TakenUp(
        Candidate(
            url=url,
            key=bytes(key),
            host=host,
            queue=scope.queue,
            topic=scope.topic,
            score=score,
            depth=depth,
            parent=bytes(parent) if parent is not None else None,
            anchor=anchor,
            payload=replace(payload_of(payload), taken_up=reason or ""),
        ),
        reason or "",
    )


def newest_article(c: Connection) -> int:
    """The number of the article stored last."""
    return int(_NEWEST_ARTICLE.run(c).fetchone()[0])


def led_to_stories(c: Connection, keys: Collection[bytes], after: int) -> set[bytes]:
    """Those of *keys* that are, or led to, an article stored after number *after*.

    Reprints of other articles do not count.
    """
    found: set[bytes] = set()
    seen: set[bytes] = set()
    level: Sequence[bytes] = _keys(
        key for row in _NEW_STORIES.run(c, {"after": after}).fetchall() for key in row
    )
    # From the articles up along the pages they were found on, one level a round.
    for _ in range(_MOST_STEPS):
        found.update(key for key in level if key in keys)
        level = [key for key in level if key not in seen]
        if not level:
            break
        seen.update(level)
        level = _keys(row[0] for row in _PARENTS.fetch(c, level))
    return found


def _keys(written: Any) -> list[bytes]:
    return sorted({bytes(key) for key in written if key is not None})


# --- Closed rows that failed get another chance, as an operator asks ------------------------------
# Only failures: what was left out by a decision (refused addresses, robots.txt, guesses of
# discovery, the crawl order) stays as it is, and so do the judgements of pages.

USUAL = (Outcome.POISON, Outcome.DEAD, Outcome.UNREACHABLE)
"""Outcomes that get another chance when none is named."""
RETRIED = (
    *USUAL,
    Outcome.BLOCKED,
    Outcome.LOGIN,
    Outcome.SOFT_404,
    Outcome.NEEDS_RENDERING,
    Outcome.TOO_LARGE,
    Outcome.NOT_HTML,
    Outcome.SCANNED,
)
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
                state=int(State.PENDING),
                outcome=None,
                reason=None,
                done_at=None,
                lease_token=None,
                lease_until=None,
                not_before=0.0,
                attempts=0,
                failures=0,
                crashes=0,
            )
        ).rowcount
    return waiting
