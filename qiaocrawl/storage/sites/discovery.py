"""What discovery stores about sites: scores of URL patterns, and pages shown for missing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.discovery.soft_404 import MissingPage
from qiaocrawl.discovery.static_traps import TRAP, url_forms
from qiaocrawl.discovery.trap_scores import StoredPatternScore, cut_by
from qiaocrawl.items import Lease, Outcome
from qiaocrawl.storage.converters import clean_host, clean_text, clean_word, digest16
from qiaocrawl.storage.frontier.lifecycle import complete
from qiaocrawl.storage.frontier.row_sql import NEVER_TRIED
from qiaocrawl.storage.raw_sql import ListStatement, Statement, upsert

FRESH_SECONDS = 30 * 86400.0
"""Older scores are forgotten: sites are rebuilt, and a real trap is soon found again."""
_MAX_SCORES = 50_000
_MAX_FORM_CHARS = 400
_MAX_TITLE_CHARS = 500
_MAX_CUT_CHARS = 200

_SAVE_SCORE = upsert(
    "url_form",
    "`key`, host, form, credit, fetched, stories, trees, listed, cut, updated_at",
    key="`key`", change="credit, fetched, stories, trees, listed, cut, updated_at",
)  # fmt: skip
_FIELDS = "host, form, credit, fetched, stories, trees, listed, cut"
# Cut groups first: where there are too many, forgetting a trap costs more than forgetting others.
_LOAD_SCORES = Statement(
    f"SELECT {_FIELDS} FROM url_form"
    " WHERE updated_at >= :since"
    " ORDER BY CASE WHEN credit <= 0 THEN 0 ELSE 1 END, updated_at DESC LIMIT :most"
)
_SCORES_OF = ListStatement(f"SELECT {_FIELDS} FROM url_form WHERE `key` IN ({{list}})")
_SAVE_MISSING = upsert(
    "missing_page", "host, title, digest, simhash, updated_at",
    key="host", change="title, digest, simhash, updated_at",
)  # fmt: skip
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
            "key": _form_key(score.form), "host": clean_host(score.host),
            "form": clean_text(score.form, _MAX_FORM_CHARS), "credit": score.points,
            "fetched": score.fetched, "stories": score.stories, "trees": score.trees,
            "listed": score.listed, "cut": clean_word(score.cut, _MAX_CUT_CHARS),
            "updated_at": now,
        }
        for score in scores
    ]  # fmt: skip
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
    _SAVE_MISSING.run(c, {
        "host": clean_host(page.host), "title": clean_word(page.title, _MAX_TITLE_CHARS),
        # 8 bytes, big-endian: MariaDB's BIGINT is signed, and a SimHash uses all 64 bits.
        "digest": page.digest, "simhash": page.simhash.to_bytes(8, "big"), "updated_at": now,
    })  # fmt: skip


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
