"""What discovery stores about sites: scores of URL patterns, and pages shown for missing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from qiaocrawl.discovery.soft_404 import MissingPage
from qiaocrawl.discovery.static_traps import TRAP, url_forms
from qiaocrawl.discovery.trap_scores import StoredPatternScore, cut_by
from qiaocrawl.items import Lease, Outcome
from qiaocrawl.storage.frontier.enqueue import payload_keys, payload_text
from qiaocrawl.storage.frontier.lifecycle import complete
from qiaocrawl.storage.frontier.scope import HELD, NEVER_TRIED, fence
from qiaocrawl.storage.schema import host
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.values import (
    clean_host,
    clean_text,
    clean_word,
    digest16,
    to_json,
)

FRESH_SECONDS = 30 * 86400.0
"""Older scores are forgotten: sites are rebuilt, and a real trap is soon found again."""
_MAX_SCORES = 50_000
_MAX_FORM_CHARS = 400
_MAX_TITLE_CHARS = 500
_MAX_CUT_CHARS = 200

_SAVE_SCORE = upsert(
    "url_form",
    "`key`, host, form, credit, fetched, stories, trees, listed, cut, updated_at",
    key="`key`",
    change="credit, fetched, stories, trees, listed, cut, updated_at",
)
_FIELDS = "host, form, credit, fetched, stories, trees, listed, cut"
# Cut groups first: where there are too many, forgetting a trap costs more than forgetting others.
_LOAD_SCORES = Statement(
    f"SELECT {_FIELDS} FROM url_form"
    " WHERE updated_at >= :since"
    " ORDER BY CASE WHEN credit <= 0 THEN 0 ELSE 1 END, updated_at DESC LIMIT :most"
)
_SCORES_OF = ListStatement(f"SELECT {_FIELDS} FROM url_form WHERE `key` IN ({{list}})")
_SAVE_MISSING = upsert(
    "missing_page",
    "host, title, digest, simhash, updated_at",
    key="host",
    change="title, digest, simhash, updated_at",
)
_LOAD_MISSING = Statement(
    "SELECT host, title, digest, simhash FROM missing_page WHERE updated_at >= :since"
)
_TRAPS = Statement("SELECT id, url FROM url WHERE state = State.DONE AND outcome = 'trap'")
# State and outcome again: a plain link may have let the row wait since it was read.
_WAIT_AGAIN = Statement(
    "UPDATE url SET state = State.PENDING, outcome = NULL, reason = NULL, done_at = NULL,"
    f" {NEVER_TRIED} WHERE id = :id AND state = State.DONE AND outcome = 'trap'"
)
_KNOWN = ListStatement("SELECT `key` FROM url WHERE `key` IN ({list})")


def save_pattern_scores(c: Connection, scores: Sequence[StoredPatternScore], *, now: float) -> None:
    """Store *scores*, replacing those of their groups; the last write wins."""
    rows = [
        {
            "key": _form_key(score.form),
            "host": clean_host(score.host),
            "form": clean_text(score.form, _MAX_FORM_CHARS),
            "credit": score.points,
            "fetched": score.fetched,
            "stories": score.stories,
            "trees": score.trees,
            "listed": score.listed,
            "cut": clean_word(score.cut, _MAX_CUT_CHARS),
            "updated_at": now,
        }
        for score in scores
    ]
    # In key order, so that two workers do not deadlock.
    _SAVE_SCORE.run_many(c, sorted(rows, key=lambda row: bytes(row["key"])))


def load_pattern_scores(c: Connection, *, since: float) -> list[StoredPatternScore]:
    """At most 50,000 scores stored since *since* (epoch): cut groups first, then the newest."""
    params = {"since": since, "most": _MAX_SCORES}
    return [_pattern_score(row) for row in _LOAD_SCORES.run(c, params).fetchall()]


def pattern_scores_of(c: Connection, forms: Sequence[str]) -> list[StoredPatternScore]:
    """The stored scores of groups *forms*, as far as there are any, in the order of *forms*."""
    by_form = {
        score.form: score
        for row in _SCORES_OF.fetch(c, [_form_key(form) for form in forms])
        for score in [_pattern_score(row)]
    }
    # IN gives rows in any order, and groups without a row give none.
    return [by_form[form] for form in forms if form in by_form]


def let_wait_again(c: Connection, is_allowed: Callable[[str], bool]) -> int:
    """Let URLs wait again that were closed as a trap's and are allowed now; how many."""
    row_ids = [row_id for row_id, url in _TRAPS.run(c).fetchall() if is_allowed(url)]
    _WAIT_AGAIN.run_many(c, [{"id": row_id} for row_id in sorted(row_ids)])
    return len(row_ids)


def cut_reason(c: Connection, url: str) -> str:
    """Why canonical *url* belongs to a group that was cut as a trap; "" where it does not."""
    cut = cut_by((score.form, score.score()) for score in pattern_scores_of(c, url_forms(url)))
    return f"{TRAP}{cut[0]} ({cut[1].describe()})" if cut is not None else ""


def save_missing_page(c: Connection, page: MissingPage, *, now: float) -> None:
    """Store what a host shows for pages that do not exist."""
    # One row a host: a redesigned error page replaces what was stored of the old one.
    _SAVE_MISSING.run(
        c,
        {
            "host": clean_host(page.host),
            "title": clean_word(page.title, _MAX_TITLE_CHARS),
            # 8 bytes, big-endian: MariaDB's BIGINT is signed, and a SimHash uses all 64 bits.
            "digest": page.digest,
            "simhash": page.simhash.to_bytes(8, "big"),
            "updated_at": now,
        },
    )


def load_missing_pages(c: Connection, *, since: float) -> list[MissingPage]:
    """What hosts show for pages that do not exist, as seen since epoch second *since*."""
    rows = _LOAD_MISSING.run(c, {"since": since}).fetchall()
    return [
        MissingPage(host, title, bytes(digest), int.from_bytes(bytes(simhash), "big"))
        for host, title, digest, simhash in rows
    ]


def close_traps(c: Connection, refused: Sequence[tuple[Lease, str]], *, now: float) -> None:
    """Close the leases of *refused* as URLs of a trap, each with why; lost ones are left."""
    # By id, as everywhere: transactions that lock rows in one order cannot deadlock.
    for lease, why in sorted(refused, key=lambda pair: pair[0].url_id):
        complete(c, lease, outcome=Outcome.TRAP, reason=why, now=now)


def known_keys(c: Connection, keys: Sequence[bytes]) -> set[bytes]:
    """Those of *keys* that URLs of the frontier have."""
    return {bytes(row[0]) for row in _KNOWN.fetch(c, keys)}


def _form_key(form: str) -> bytes:
    # "replace": half a surrogate pair in a broken URL has no UTF-8.
    return digest16(form.encode("utf-8", "replace"))


def _pattern_score(row: Any) -> StoredPatternScore:
    return StoredPatternScore(*row)


# --- Pages that need a browser: what is known of the forms of URLs, and rows that wait for it -----

_MAX_RENDERED_FORM_CHARS = 200
_MAX_REASON_CHARS = 500

_SAVE_RENDERING = upsert(
    "rendering",
    "`key`, host, form, gained, in_vain, plain, voted_at",
    key="`key`",
    change="gained, in_vain, plain, voted_at",
)
_NEWEST = Statement(
    "SELECT host, form, gained, in_vain, plain, voted_at FROM rendering"
    # By time, and by key among equal times: the same rows at every start.
    " ORDER BY voted_at DESC, `key` LIMIT :count"
)

# Unlike a retry it counts no failure: the page came, and only the browser can read it.
_WAIT = Statement(
    "UPDATE url SET state = State.PENDING, payload = :payload, reason = :reason,"
    f" lease_token = NULL, lease_until = NULL, not_before = 0, crashes = 0 WHERE {HELD}"
)
# No fence: the caller's transaction has just closed the lease.
_SET_PAYLOAD = Statement("UPDATE url SET payload = :payload WHERE id = :id")

Row = tuple[str, str, int, int, int, float]
"""host, form, gained, in_vain, plain, epoch second of the last vote."""


def newest_votes(c: Connection, limit: int) -> list[Row]:
    """What is known of the forms voted on last, the oldest of them first."""
    rows = _NEWEST.run(c, {"count": limit}).fetchall()
    return [tuple(row) for row in reversed(rows)]


def save_votes(c: Connection, votes: Row) -> None:
    """Replace what is known of one host and form. Of two workers the last one counts."""
    host, form = clean_host(votes[0]), clean_word(votes[1], _MAX_RENDERED_FORM_CHARS)
    _SAVE_RENDERING.run(
        c,
        {
            "key": digest16(f"{host} {form}".encode()),
            "host": host,
            "form": form,
            "gained": votes[2],
            "in_vain": votes[3],
            "plain": votes[4],
            "voted_at": votes[5],
        },
    )


def wait_for_browser(c: Connection, lease: Lease, reason: str) -> bool:
    """Give *lease* back, marked for the browser: its row is fetched once more.

    The page that is stored stays. It counts neither a failure nor a crash.

    Returns:
        False when the lease was lost.
    """
    changed = _WAIT.run(
        c,
        {
            **fence(lease),
            "payload": payload_text(replace(lease.payload, render=reason)),
            "reason": clean_text(reason, _MAX_REASON_CHARS),
        },
    )
    return bool(changed.rowcount)


def forget_mark(c: Connection, lease: Lease) -> None:
    """Remove the mark from a row that was fetched with the browser."""
    left = payload_keys(replace(lease.payload, render=""))
    _SET_PAYLOAD.run(c, {"id": lease.url_id, "payload": to_json(left)})


# --- The hosts URLs were seen on ------------------------------------------------------------------


def host_names(c: Connection) -> list[str]:
    """Every host of any URL, in no order."""
    return list(c.execute(select(host.c.name)).scalars())


def is_known_host(c: Connection, name: str) -> bool:
    """Whether any URL of the host *name* was ever proposed."""
    return c.execute(select(host.c.id).where(host.c.name == name)).first() is not None
