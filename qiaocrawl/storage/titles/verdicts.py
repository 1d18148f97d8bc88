"""Verdicts of title deduplication, and the article that represents each reprint group.

The representative is chosen by rule, not by arrival: earliest publish date (undated last),
then the most authoritative site (lowest tier of any topic; outside every pack below tier 5),
then the longer text, then the smaller URL. A group is the articles of one ``verdict.group_id``,
the row id of its representative.

Every function that writes expects the lock of the title log (:func:`title_log.lock`), so that
groups are changed by one worker at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.items import Verdict, VerdictKind
from qiaocrawl.storage.pages.article_changes import note_changes, note_groups
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.values import clean_text, clean_word

UNRANKED_TIER = 9
# Behind every tier a topic may give, 1 to 5.
"""The tier of a site that no topic names."""

_FIND = Statement("SELECT of_article_id, group_id FROM verdict WHERE article_id = :article_id")
_READ = Statement(
    "SELECT v.kind, u.`key`, v.similarity, v.why FROM verdict v"
    " LEFT JOIN article a ON a.id = v.of_article_id LEFT JOIN url u ON u.id = a.url_id"
    " WHERE v.article_id = :article_id"
)
_MEMBERS = Statement("SELECT article_id FROM verdict WHERE group_id = :group_id")
_EARLIER = ListStatement(
    "SELECT e.`key`, e.article_id, COALESCE(v.group_id, e.article_id) FROM title_entry e"
    # An earlier title without a verdict stands for itself.
    " LEFT JOIN verdict v ON v.article_id = e.article_id"
    " WHERE e.article_id IS NOT NULL AND e.`key` IN ({list})"
)
_BEST = ListStatement(
    "SELECT e.article_id FROM title_entry e JOIN article a ON a.id = e.article_id"
    " JOIN url u ON u.id = a.url_id WHERE e.article_id IN ({list})"
    " ORDER BY e.published_at IS NULL, e.published_at,"
    f" COALESCE((SELECT MIN(s.tier) FROM site s WHERE s.host = e.host), {UNRANKED_TIER}),"
    " e.text_chars DESC, u.url LIMIT 1"
)
_MOVE = ListStatement(
    "UPDATE verdict SET group_id = :to WHERE group_id IN ({list}) AND group_id <> :to"
)
_LEAVE = Statement("UPDATE verdict SET group_id = article_id WHERE article_id = :article_id")
# What was judged like an article that left the group now counts as like the group's head; the
# head itself as like nothing.
_HAND_ON = Statement(
    "UPDATE verdict SET of_article_id = :head, why = :why WHERE of_article_id = :gone"
    " AND group_id = :head AND article_id <> :head"
)
_LEAD = Statement(
    "UPDATE verdict SET of_article_id = NULL, kind = 'distinct', similarity = 0, why = :why"
    " WHERE of_article_id = :gone AND article_id = :head"
)
_FORGET = Statement(
    "UPDATE verdict SET of_article_id = NULL, kind = 'distinct', similarity = 0, why = :why"
    " WHERE of_article_id = :gone"
)
_DELETE = Statement("DELETE FROM verdict WHERE article_id = :article_id")

_SAVE = upsert(
    "verdict",
    "article_id, kind, of_article_id, group_id, similarity, why, method, snapshot",
    key="article_id",
    change="kind, of_article_id, group_id, similarity, why, method, snapshot",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an article stands: one row of the table; ``of`` and ``group`` are row ids."""

    article_id: int
    kind: str
    of: int | None
    group: int
    similarity: float = 0.0
    why: str = ""


def save_verdict(
    c: Connection,
    article_id: int,
    verdict: Verdict,
    *,
    method: str,
    snapshot: int = 0,
    is_new: bool = False,
) -> None:
    """Store how an article relates to earlier ones, and put it into its group.

    Same pages, reprints and revisions join the groups of all the articles they are the same
    story as; several groups become one. Earlier articles that are not stored do not count.
    An article judged before leaves its old group, whose rest stays together. One that stood
    first in its group and is found like its own members only stays first.

    Args:
        method: name of the method that judged.
        snapshot: version of the IDF snapshot it judged with.
        is_new: the article has no verdict yet; saves looking for it.
    """
    # Looked up before it leaves, since that changes its group.
    before = None if is_new else _FIND.run(c, {"article_id": article_id}).fetchone()
    rest = None if before is None else _leave(c, article_id, before[1])
    named = [verdict.of, *verdict.also] if verdict.of is not None else []
    earlier = _earlier(c, [key for key in named if key is not None], article_id)
    of = earlier.get(verdict.of, (None, None))[0] if verdict.of is not None else None
    joined = set()
    # A series or a distinct title names its nearest, but joins no group.
    if verdict.is_same_story:
        joined = {group for _, group in earlier.values()}
    group = _merge_groups(c, article_id, joined)
    # The article left group *rest*, whose other members were judged to be like it.
    if rest is not None and rest not in joined:
        _hand_on(c, article_id, rest, "the article it was found like has left the group")
    # Else the first of a group would be called a reprint of its own reprint.
    if before is not None and before[0] is None and joined == {rest}:
        verdict, of = Verdict(VerdictKind.DISTINCT, why="the first of its group"), None
    place = Place(article_id, verdict.kind, of, group, verdict.similarity, verdict.why)
    write_places(c, [place], method=method, snapshot=snapshot)


def stored_verdict(c: Connection, article_id: int) -> Verdict | None:
    """The verdict of an article as it is stored; ``also`` is not kept. None without one."""
    row = _READ.run(c, {"article_id": article_id}).fetchone()
    if row is None:
        return None
    kind, of, similarity, why = row
    return Verdict(VerdictKind(kind), None if of is None else bytes(of), similarity, why)


def write_places(c: Connection, places: Sequence[Place], *, method: str, snapshot: int) -> None:
    """Write rows as they are given; the caller answers for the groups they name."""
    _SAVE.run_many(
        c,
        [
            {
                "article_id": place.article_id,
                "kind": str(place.kind),
                "of_article_id": place.of,
                "group_id": place.group,
                "similarity": place.similarity,
                "why": clean_text(place.why, 500),
                "method": clean_word(method, 64),
                "snapshot": snapshot,
            }
            for place in places
        ],
    )
    note_changes(c, [place.article_id for place in places])


def group_members(c: Connection, article_id: int) -> list[int]:
    """Row ids of the articles in one group with an article, itself too, ascending."""
    row = _FIND.run(c, {"article_id": article_id}).fetchone()
    if row is None:
        return [article_id]
    return sorted(member[0] for member in _MEMBERS.run(c, {"group_id": row[1]}).fetchall())


def drop_verdict(c: Connection, article_id: int) -> None:
    """Forget the verdict of an article that goes; the rest of its group gets a new head.

    Articles that were found like it are held to be like that head.
    """
    row = _FIND.run(c, {"article_id": article_id}).fetchone()
    if row is not None:
        rest, why = _leave(c, article_id, row[1]), "the article it was found like is gone"
        if rest is not None:
            _hand_on(c, article_id, rest, why)
        _FORGET.run(c, {"gone": article_id, "why": why})
        _DELETE.run(c, {"article_id": article_id})


def best_of(c: Connection, article_ids: Collection[int]) -> int:
    """The one of *article_ids* (at least one) that the rule prefers."""
    best = sorted(article_ids)
    # Each round leaves one of every 256, so a large group takes two or three.
    while len(best) > 1:
        rows = [result.fetchone() for result in _BEST.run(c, best)]
        # Without any place in the log they are all alike.
        best = [row[0] for row in rows if row is not None] or best[:1]
    return best[0]


def _earlier(c: Connection, keys: Sequence[bytes], article_id: int) -> dict[bytes, tuple[int, int]]:
    """(article, group) of each of *keys* that has an article but *article_id*."""
    rows: list[Any] = _EARLIER.fetch(c, keys)
    return {bytes(key): (row_id, group) for key, row_id, group in rows if row_id != article_id}


def _leave(c: Connection, article_id: int, group: int) -> int | None:
    """Take an article out of its group; returns the group of the others, None without any."""
    # A member leaves without changing the others; only a head has to be replaced.
    note_changes(c, [article_id])
    if group != article_id:
        _LEAVE.run(c, {"article_id": article_id})
        return group
    rows = _MEMBERS.run(c, {"group_id": group}).fetchall()
    rest = [row[0] for row in rows if row[0] != article_id]
    if not rest:
        return None
    head = best_of(c, rest)
    note_groups(c, [group])
    _MOVE.run(c, [group], {"to": head})
    _LEAVE.run(c, {"article_id": article_id})
    return head


def _hand_on(c: Connection, gone: int, head: int, why: str) -> None:
    for statement in (_HAND_ON, _LEAD):
        statement.run(c, {"gone": gone, "head": head, "why": why})


def _merge_groups(c: Connection, article_id: int, groups: Collection[int]) -> int:
    """The representative of *groups* and an article together; their members are moved to it."""
    best = best_of(c, {article_id, *groups})
    # The best one's own group keeps its number, so its members need no write.
    moved = [group for group in sorted(groups) if group != best]
    note_groups(c, moved)
    _MOVE.run(c, moved, {"to": best})
    return best
