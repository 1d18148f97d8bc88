"""Pages that need a browser: what is known of the forms of URLs, and rows that wait for it."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from qiaocrawl.items import Lease
from qiaocrawl.storage.converters import clean_host, clean_text, clean_word, digest16, to_json
from qiaocrawl.storage.frontier.payload import payload_keys, payload_text
from qiaocrawl.storage.frontier.row_sql import HELD, fence
from qiaocrawl.storage.raw_sql import Statement, upsert

_MAX_FORM_CHARS = 200
_MAX_REASON_CHARS = 500

_SAVE = upsert(
    "rendering", "`key`, host, form, gained, in_vain, plain, voted_at",
    key="`key`", change="gained, in_vain, plain, voted_at",
)  # fmt: skip
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
    host, form = clean_host(votes[0]), clean_word(votes[1], _MAX_FORM_CHARS)
    _SAVE.run(c, {
        "key": digest16(f"{host} {form}".encode()), "host": host, "form": form,
        "gained": votes[2], "in_vain": votes[3], "plain": votes[4], "voted_at": votes[5],
    })  # fmt: skip


def wait_for_browser(c: Connection, lease: Lease, reason: str) -> bool:
    """Give *lease* back, marked for the browser: its row is fetched once more.

    The page that is stored stays. It counts neither a failure nor a crash.

    Returns:
        False when the lease was lost.
    """
    changed = _WAIT.run(c, {
        **fence(lease),
        "payload": payload_text(replace(lease.payload, render=reason)),
        "reason": clean_text(reason, _MAX_REASON_CHARS),
    })  # fmt: skip
    return bool(changed.rowcount)


def forget_mark(c: Connection, lease: Lease) -> None:
    """Remove the mark from a row that was fetched with the browser."""
    left = payload_keys(replace(lease.payload, render=""))
    _SET_PAYLOAD.run(c, {"id": lease.url_id, "payload": to_json(left)})
