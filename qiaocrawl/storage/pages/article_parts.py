"""The parts of paged articles, and the one article that the parts of a group make.

A part keeps its own text, so that the article can be rebuilt whenever a part comes or
changes. The article stands at the lowest part that is here: at the first page once that has
come, whatever the order. All of this follows from the rows of ``article_part`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.items import Outcome, PageAnalysis
from qiaocrawl.items.article import Article, PartText
from qiaocrawl.storage.packed_text import pack_text, unpack_html, unpack_text
from qiaocrawl.storage.pages.articles import (
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    comments_from,
    comments_json,
    packed_html,
)
from qiaocrawl.storage.pages.raw_pages import NEWEST_PAGE
from qiaocrawl.storage.pages.reprocessing import drop_article
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.titles import title_log
from qiaocrawl.storage.values import (
    clean_text,
    clean_word,
    digest16,
    from_json,
    from_time,
    to_json,
    to_time,
)
from qiaocrawl.urls import url_key

_MAX_REASON_CHARS = 500
_MAX_FIELD_CHARS = 10_000
_MAX_TOKENS = 2_000
_MAX_COMMENTS_CHARS = 100_000
_MAX_ABOUT_CHARS = 400_000
# Rows of one group that are looked at: three times what a pager may name.
_MOST_ROWS = 300
_MOST_NAMED = 10

_NAMES = ("author", "source", "channel", "keywords", "description", "language", "method")

_CHANGING = "first_key, number, parts, reads_alone, digest, note, about, text, html"
_SAVE = upsert(
    "article_part",
    {"url_id": ":url_id", "page_source_id": NEWEST_PAGE}
    | {name: f":{name}" for name in _CHANGING.split(", ")},
    key="url_id",
    change=f"page_source_id, {_CHANGING}",
)
_FIND = Statement("SELECT first_key FROM article_part WHERE url_id = :url_id")
_DROP = Statement("DELETE FROM article_part WHERE url_id = :url_id")

_STATE = "SELECT url_id, digest FROM article_part WHERE first_key = :first_key ORDER BY url_id"
_READ_STATE = Statement(_STATE)
# A locking read waits for parts that other workers are writing, and then sees them.
_LOCK_STATE = Statement(_STATE, mysql=_STATE + " FOR UPDATE")
_GROUP = Statement(
    "SELECT p.url_id, u.url, u.anchor, u.outcome, u.reason, p.number, p.parts, p.reads_alone,"
    " p.note, p.about, p.text, p.html FROM article_part p JOIN url u ON u.id = p.url_id"
    " WHERE p.first_key = :first_key ORDER BY p.number, u.`key` LIMIT :count"
)

_ARTICLES = Statement(
    "SELECT a.id, a.url_id FROM article a JOIN article_part p ON p.url_id = a.url_id"
    " WHERE p.first_key = :first_key ORDER BY p.number, a.url_id"
)
_MOVE = Statement("UPDATE article SET url_id = :url_id WHERE id = :id")
# Only rows that ended by their own page; a redirect or a dead URL keeps what it says.
_TELL = Statement(
    "UPDATE url SET reason = :reason, outcome = :outcome WHERE id = :id AND state = State.DONE"
    " AND outcome IN ('article', 'part', 'not_article')"
)

State = tuple[tuple[int, bytes], ...]
"""The state of a group, to notice changes: row ids of URLs, digests of their contents."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """One part as it is stored. ``news`` holds what stands on its page alone.

    ``parts`` is how many parts its pager names; ``outcome`` and ``reason`` are what its URL
    says of it now.
    """

    url_id: int
    url: str
    anchor: str
    outcome: str
    reason: str
    number: int
    parts: int
    reads_alone: bool
    note: str
    first_url: str
    analysis: PageAnalysis


@dataclass(frozen=True, slots=True)
class PartGroup:
    """The parts of one article that are here: one a number, in order, at least one."""

    first_key: bytes
    state: State
    parts: tuple[StoredPart, ...]

    @property
    def head(self) -> StoredPart:
        """The part at whose URL the article stands."""
        return self.parts[0]

    @property
    def is_article(self) -> bool:
        """Whether any part would be an article alone; other pages with pagers are none."""
        return any(part.reads_alone for part in self.parts)

    @property
    def title(self) -> str:
        """The head's title."""
        article = self.head.analysis.article
        return article.title if article is not None else ""

    @property
    def texts(self) -> tuple[PartText, ...]:
        """The texts of the parts, in order."""
        articles = (part.analysis.article for part in self.parts)
        return tuple(
            PartText(article.text, article.html) for article in articles if article is not None
        )

    def outcome(self, number: int) -> Outcome:
        """How the URL of part *number* ends."""
        if number == 1:
            return Outcome.ARTICLE
        return Outcome.PART if self.is_article else Outcome.NOT_ARTICLE

    def reason(self, part: StoredPart) -> str:
        """The reason for the URL of *part*; "" for a first part with all others."""
        # The pagers of the parts may disagree, where the article grew meanwhile.
        most = max(stored.parts for stored in self.parts)
        notes = []
        if part.number > 1:
            notes.append(f"part {part.number} of {most} of {part.first_url}")
        if part is self.head and self.is_article:
            if part.number > 1:
                notes.append("the article stands here, since its first part did not come")
            if missing := _missing(self.parts, most):
                notes.append(f"not here: {missing}")
        return "; ".join(filter(None, [part.note, *notes]))


def _missing(parts: Sequence[StoredPart], most: int) -> str:
    here = {part.number for part in parts}
    missing = [number for number in range(1, most + 1) if number not in here]
    named = ", ".join(map(str, missing[:_MOST_NAMED])) + (" …" if missing[_MOST_NAMED:] else "")
    return f"part {named}" if missing else ""


def save_part(c: Connection, url_id: int, analysis: PageAnalysis) -> bytes | None:
    """Store the page of *url_id* as a part, replacing what it was before.

    Returns:
        The key of the group it belonged to before, if that was another one.
    """
    part, article = analysis.part, analysis.article
    assert part is not None, "the page is no part"
    assert article is not None, "a part without text"
    before = _group_of(c, url_id)
    values: dict[str, Any] = {
        "first_key": url_key(part.urls[0]),
        "number": part.number,
        "parts": len(part.urls),
        "reads_alone": bool(part.reads_alone),
        "note": clean_text(analysis.reason, _MAX_REASON_CHARS),
        "about": to_json(_about(article, analysis), _MAX_ABOUT_CHARS),
        "text": clean_text(article.text, MAX_TEXT_CHARS),
    }
    # Of all values: a part that changes in any way makes the group's state another.
    shown = [*map(str, values.values()), article.html]
    digest = digest16(to_json(shown, 1 << 30).encode())
    text = values["text"]
    packed = {"text": pack_text(text), "html": packed_html(article.html, text)}
    _SAVE.run(c, {**values, **packed, "digest": digest, "url_id": url_id})
    return before if before != values["first_key"] else None


def _about(article: Article, analysis: PageAnalysis) -> dict[str, object]:
    assert analysis.part is not None
    return {
        "first_url": clean_text(analysis.part.urls[0], _MAX_FIELD_CHARS),
        "title": clean_text(article.title, MAX_TITLE_CHARS),
        "published_at": to_time(article.published_at),
        "modified_at": to_time(article.modified_at),
        "charset": analysis.charset,
        "title_tokens": analysis.title_tokens[:_MAX_TOKENS],
        "engagement": dict(article.engagement),
        "comments": comments_json(article.comments, _MAX_COMMENTS_CHARS),
        **{name: clean_text(getattr(article, name), _MAX_FIELD_CHARS) for name in _NAMES},
    }


def drop_part(c: Connection, url_id: int) -> bytes | None:
    """The page of *url_id* is no part any more; returns the key of the group it left."""
    before = _group_of(c, url_id)
    if before is not None:
        _DROP.run(c, {"url_id": url_id})
    return before


def _group_of(c: Connection, url_id: int) -> bytes | None:
    row = _FIND.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else bytes(row[0])


def load_group(c: Connection, first_key: bytes) -> PartGroup | None:
    """The parts of a group that are here; None when there are none.

    Of several pages that claim the same number, the one with the smallest key counts.
    """
    rows = _GROUP.run(c, {"first_key": first_key, "count": _MOST_ROWS}).fetchall()
    parts: dict[int, StoredPart] = {}
    for row in rows:
        part = _part_of_row(row)
        # Rows come by number and key: of two claims of one number the smaller key wins everywhere.
        parts.setdefault(part.number, part)
    # Read last: a part that comes meanwhile changes the state, and the joining is done again.
    state = _state(_READ_STATE, c, first_key)
    return PartGroup(first_key, state, tuple(parts.values())) if parts else None


def is_current(c: Connection, group: PartGroup) -> bool:
    """Whether the parts are still those of *group*; from now on nobody else changes them.

    Until *c*'s transaction ends, that is. So of several workers that join one article the last
    one sees the parts of all.
    """
    return _state(_LOCK_STATE, c, group.first_key) == group.state


def _state(statement: Statement, c: Connection, first_key: bytes) -> State:
    rows = statement.run(c, {"first_key": first_key}).fetchall()
    return tuple((row[0], bytes(row[1])) for row in rows)


def _part_of_row(row: Any) -> StoredPart:
    url_id, url, anchor, outcome, reason, number, parts, reads_alone, note, about, text, html = row
    text = unpack_text(text)
    # Stored as JSON: fields that were added later may be missing, hence get() for those.
    known: Mapping[str, Any] = from_json(about)
    article = Article(
        url=url,
        title=known["title"],
        text=text,
        published_at=from_time(known["published_at"]),
        html=unpack_html(html, text),
        engagement=known.get("engagement", {}),
        comments=comments_from(known.get("comments")),
        modified_at=from_time(known.get("modified_at")),
        **{name: known[name] for name in _NAMES},
    )
    analysis = PageAnalysis(
        Outcome.ARTICLE, article, (), known["charset"], title_tokens=tuple(known["title_tokens"])
    )
    return StoredPart(
        url_id,
        url,
        anchor,
        outcome or "",
        reason or "",
        number,
        parts,
        bool(reads_alone),
        note,
        known["first_url"],
        analysis,
    )


def place_article(c: Connection, group: PartGroup) -> None:
    """Leave the group at most one article, at its head; one that stood elsewhere moves there.

    A group in which nothing reads as an article keeps none.
    """
    rows = _ARTICLES.run(c, {"first_key": group.first_key}).fetchall()
    if not group.is_article:
        rows, leaving = [], rows
    elif any(row[1] == group.head.url_id for row in rows):
        leaving = [row for row in rows if row[1] != group.head.url_id]
    else:
        # The article moves and keeps its row id, on which verdict and relevance hang.
        leaving = list(rows[1:])
        for row_id, _ in rows[:1]:
            _MOVE.run(c, {"id": row_id, "url_id": group.head.url_id})
            title_log.follow(c, row_id)
    for _, url_id in leaving:
        drop_article(c, url_id)


def update_part_outcomes(c: Connection, group: PartGroup, own_url_id: int | None = None) -> None:
    """Write outcomes and reasons of the parts' closed URLs, as far as they changed.

    Args:
        own_url_id: of a row that was closed after *group* was read.
    """
    for part in sorted(group.parts, key=lambda part: part.url_id):
        reason = clean_word(group.reason(part), _MAX_REASON_CHARS)
        outcome = group.outcome(part.number).value
        is_told = (part.outcome, part.reason) == (outcome, reason)
        # A row closed in this transaction says nothing of its group yet, whatever was read before.
        if not is_told or part.url_id == own_url_id:
            _TELL.run(c, {"id": part.url_id, "reason": reason or None, "outcome": outcome})
