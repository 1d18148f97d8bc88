"""Other addresses of pages: what was learnt about hosts, and the URLs not fetched because of it.

A URL that has a preferred version is closed as ``alias`` and that version proposed, as if it
had redirected there, but without a request. It stays noted in ``aliased_url`` until the
preferred version is closed: if that brought no page, the URL waits again, to be fetched
under its own address. So a wrong rule loses nothing. Another spelling of a URL
(:mod:`qiaocrawl.discovery.rules`) is proposed as such a row at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from qiaocrawl.items import Candidate, Lease, Outcome, Queue
from qiaocrawl.storage import schema
from qiaocrawl.storage.frontier.enqueue import enqueue, payload_of, payload_text
from qiaocrawl.storage.frontier.lifecycle import complete
from qiaocrawl.storage.frontier.scope import NEVER_TRIED
from qiaocrawl.storage.schema import url_alias
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.values import clean_host, epoch_time, json_mapping, to_json
from qiaocrawl.urls import canonical_url, url_key
from qiaocrawl.urls.aliases import HostVotes

READABLE = frozenset(
    {Outcome.ARTICLE, Outcome.PART, Outcome.LIST, Outcome.FEED, Outcome.NOT_MODIFIED}
)
"""Outcomes with which a preferred version has brought its page."""

AS_WRITTEN = "start page"
"""``as_is`` in the payload of a start page: it is fetched as the operator wrote it."""

_SAVE = upsert(
    "url_alias", "host, rules, updated_at, votes", key="host", change="rules, updated_at, votes"
)

# Locked, so that two workers who hold opposite rules cannot each close the other's URL.
_TARGETS = ListStatement(
    "SELECT `key`, outcome FROM url WHERE `key` IN ({list})",
    mysql="SELECT `key`, outcome FROM url WHERE `key` IN ({list}) FOR UPDATE",
)
_NOTE = upsert(
    "aliased_url",
    {"url_id": ":url_id", "preferred_key": ":key"},
    key="url_id",
    change="preferred_key",
)

# A preferred version may itself be an alias: then its own preferred version is waited for.
_CLOSED = (
    "SELECT a.url_id, p.outcome, u.payload FROM aliased_url a"
    " {join} url p ON p.`key` = a.preferred_key JOIN url u ON u.id = a.url_id"
    " LEFT JOIN aliased_url b ON b.url_id = p.id"
    " WHERE ({unknown} p.state IN (State.DONE, State.FAILED, State.SET_ASIDE) AND p.outcome <>"
    " 'postponed'"
    " AND (p.outcome <> 'alias' OR b.url_id IS NULL))"
)
# A preferred version that a bound kept out of the frontier will bring no page either.
_ALL_CLOSED = Statement(_CLOSED.format(join="LEFT JOIN", unknown="p.id IS NULL OR"))
# Called whenever a page fails, hence by key; all rows are looked at only when a crawl runs dry.
_CLOSED_OF = ListStatement(
    _CLOSED.format(join="JOIN", unknown="") + " AND a.preferred_key IN ({list})"
)
_WAIT_AGAIN = Statement(
    "UPDATE url SET state = State.PENDING, outcome = NULL, reason = NULL, redirect_key = NULL,"
    f" payload = :payload, {NEVER_TRIED} WHERE id = :id AND state = State.DONE"
    " AND outcome = 'alias'"
)
_FORGET = ListStatement("DELETE FROM aliased_url WHERE url_id IN ({list})")


@dataclass(frozen=True, slots=True)
class Swap:
    """A leased URL and the candidate to be fetched instead of it."""

    lease: Lease
    preferred: Candidate


def alias(c: Connection, swaps: Sequence[Swap], *, run_id: int | None, now: float) -> list[Lease]:
    """Close the leases of *swaps* and propose their preferred versions.

    Returns:
        The leases that need not be fetched: closed, or lost to another worker. One whose
        preferred version is closed as an alias itself is not among them: two addresses that
        wait for each other would never be read.
    """
    # Sorted and once each: FOR UPDATE locks them in this order.
    keys = sorted({swap.preferred.key for swap in swaps})
    circular = {bytes(key) for key, outcome in _TARGETS.fetch(c, keys) if outcome == Outcome.ALIAS}
    here = [swap for swap in swaps if swap.preferred.key not in circular]
    closed = [
        swap for swap in sorted(here, key=lambda swap: swap.lease.url_id) if _close(c, swap, now)
    ]
    _NOTE.run_many(c, [{"url_id": swap.lease.url_id, "key": swap.preferred.key} for swap in closed])
    enqueue(c, [swap.preferred for swap in closed], run_id=run_id, now=now)
    # A preferred version may have been tried before, in vain.
    release_failed(c, keys)
    return [swap.lease for swap in here]


def _close(c: Connection, swap: Swap, now: float) -> bool:
    return bool(
        complete(
            c,
            swap.lease,
            outcome=Outcome.ALIAS,
            reason=f"fetched as {swap.preferred.url}",
            redirect_key=swap.preferred.key,
            now=now,
        )
    )


def release_failed(c: Connection, preferred_keys: Sequence[bytes] | None = None) -> int:
    """Let URLs wait again whose preferred version is closed without a page.

    Args:
        preferred_keys: of the versions to look at; None for all.

    Returns:
        How many wait again.
    """
    if preferred_keys is None:
        closed = list(_ALL_CLOSED.run(c).fetchall())
    else:
        closed = _CLOSED_OF.fetch(c, preferred_keys)
    in_vain = [
        (row_id, outcome, payload)
        # Sorted by id for the locks of the updates.
        for row_id, outcome, payload in sorted(closed)
        if outcome not in READABLE and outcome != Outcome.ALIAS
    ]
    _WAIT_AGAIN.run_many(
        c,
        [
            {"id": row_id, "payload": _as_it_is(payload, outcome or "no row")}
            for row_id, outcome, payload in in_vain
        ],
    )
    # All of them: some have their page, the others wait under their own address.
    _FORGET.run(c, sorted(row[0] for row in closed))
    return len(in_vain)


def _as_it_is(payload: str, reason: str) -> str:
    return payload_text(replace(payload_of(payload), as_is=reason))


def save_host_votes(c: Connection, found: Sequence[HostVotes], *, now: float) -> None:
    """Store *found* in place of what was stored of their hosts; the last write wins."""
    _SAVE.run_many(
        c,
        [
            {
                "host": clean_host(votes.host),
                "rules": votes.rules,
                "updated_at": epoch_time(now),
                "votes": to_json(votes.to_dict()),
            }
            # In one order, so that crawls on one database do not deadlock.
            for votes in sorted(found, key=lambda votes: votes.host)
        ],
    )


def stored_host_votes(c: Connection, *, limit: int) -> list[HostVotes]:
    """What is stored of the *limit* hosts written last, the oldest of them first.

    What this version cannot read is left out: it is learnt again.
    """
    last = select(url_alias.c.votes).order_by(url_alias.c.updated_at.desc(), url_alias.c.host)
    stored = [_read(votes) for (votes,) in c.execute(last.limit(limit))]
    return [votes for votes in reversed(stored) if votes is not None]


def _read(text: str) -> HostVotes | None:
    try:
        return HostVotes.from_dict(json_mapping(text))
    except (ValueError, RecursionError):
        return None  # cut or edited by hand


# --- Whether stored addresses are written as this version writes them -----------------------------
# A row of ``url`` is found by the hash of its canonical form. A version (ours, or the URL parser's)
# that writes an address differently would not find the row: the page would be fetched again and
# counted twice without notice.

# Newest and oldest addresses, half each (ours): a changed rule meets some of them.
_LOOKED_AT = 1_000


def url_form_problems(c: Connection) -> list[str]:
    """What is wrong with addresses that this version writes differently; [] when none is."""
    table = schema.url
    # A query's address is the engine's own writing, not a page's canonical form.
    chosen = select(table.c.url, table.c.key).where(table.c.queue != Queue.SEARCH.value)
    rows = [
        *c.execute(chosen.order_by(table.c.id).limit(_LOOKED_AT // 2)),
        *c.execute(chosen.order_by(table.c.id.desc()).limit(_LOOKED_AT // 2)),
    ]
    other = sorted({url for url, key in rows if _is_changed(url, bytes(key))})
    if not other:
        return []
    seen = len({url for url, _ in rows})
    return [
        f"{len(other)} of {seen} addresses looked at are written differently "
        f"by this version, such as {other[0]}: their pages would be fetched twice; crawl on with "
        "the version that stored them, or with a release whose `qiaocrawl db upgrade` writes the "
        "keys anew"
    ]


def _is_changed(url: str, key: bytes) -> bool:
    canonical = canonical_url(url)
    return canonical != url or url_key(url) != key
