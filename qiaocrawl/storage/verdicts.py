"""Verdicts of title deduplication, and the article that represents each reprint group.

The representative is chosen by rule, not by arrival: earliest publish date, then the most
authoritative site (lowest tier of any topic), then the smaller URL.
"""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.items import Verdict, VerdictKind
from qiaocrawl.storage.statement import Statement
from qiaocrawl.storage.values import clean_text, clean_word

_SAME_STORY = (VerdictKind.SAME_PAGE, VerdictKind.REPRINT, VerdictKind.REVISION)

_GROUP_OF = Statement(
    "SELECT a.id, COALESCE(v.group_id, a.id) FROM article a JOIN url u ON u.id = a.url_id"
    " LEFT JOIN verdict v ON v.article_id = a.id WHERE u.`key` = :key"
)
# Undated last; a site outside every pack ranks below tier 5.
_BETTER_OF_TWO = Statement(
    "SELECT a.id FROM article a JOIN url u ON u.id = a.url_id WHERE a.id IN (:one, :other)"
    " ORDER BY a.published_at IS NULL, a.published_at,"
    " COALESCE((SELECT MIN(s.tier) FROM site s WHERE s.host = a.site), 9), u.url, a.id LIMIT 1"
)
_MOVE = Statement(
    "UPDATE verdict SET group_id = :to WHERE group_id IN (:one, :other) AND group_id <> :to"
)

_INSERT = (
    "INSERT INTO verdict (article_id, kind, of_article_id, group_id, similarity, why, method)"
    " VALUES (:article_id, :kind, :of_article_id, :group_id, :similarity, :why, :method) "
)
_SAVE = Statement(
    _INSERT + "ON CONFLICT (article_id) DO UPDATE SET kind = excluded.kind,"
    " of_article_id = excluded.of_article_id, group_id = excluded.group_id,"
    " similarity = excluded.similarity, why = excluded.why, method = excluded.method",
    mysql=_INSERT + "ON DUPLICATE KEY UPDATE kind = VALUES(kind),"
    " of_article_id = VALUES(of_article_id), group_id = VALUES(group_id),"
    " similarity = VALUES(similarity), why = VALUES(why), method = VALUES(method)",
)


def save_verdict(c: Connection, article_id: int, verdict: Verdict, *, method: str) -> None:
    """Store how an article's title stands to an earlier one and put it into its group.

    Same pages, reprints and revisions share the group of the article they repeat; when the
    rule prefers the new one, it becomes the representative of all. An earlier article that is
    not stored leaves the new one alone in its group.
    """
    earlier = _GROUP_OF.run(c, {"key": verdict.of}).fetchone() if verdict.of else None
    group = article_id
    if earlier is not None and verdict.kind in _SAME_STORY:
        group = _merged_group(c, article_id, earlier[1])
    _SAVE.run(c, {
        "article_id": article_id,
        "kind": verdict.kind.value,
        "of_article_id": earlier[0] if earlier is not None else None,
        "group_id": group,
        "similarity": verdict.similarity,
        "why": clean_text(verdict.why, 500),
        "method": clean_word(method, 64),
    })  # fmt: skip


def _merged_group(c: Connection, article_id: int, group: int) -> int:
    if article_id == group:
        return group
    both = {"one": article_id, "other": group}
    best: int = _BETTER_OF_TWO.run(c, both).fetchone()[0]
    _MOVE.run(c, {**both, "to": best})
    return best
