"""What a model translated of foreign articles, as it is kept: lines beside their Chinese."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.news.writing.checking import Fault
from qiaocrawl.news.writing.translation import ForeignText, is_foreign, lines_of
from qiaocrawl.news.writing.translator import TranslatedLine
from qiaocrawl.reading.records import ArticleRecord, iter_articles
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.schema import article, relevance, topic, translation
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.values import clean_text, clean_word, from_time, to_stored_time

_RECORD_CHARS = 1_000_000
_TITLE_CHARS = 500


@dataclass(frozen=True, slots=True)
class KeptTranslation:
    """Of an article; its title is the first of *lines*, and alone where only titles were asked.

    Attributes:
        left: characters at the end of the text that were not sent.
        trouble: why lines were not asked, as it was said then.
    """

    lines: tuple[TranslatedLine, ...]
    left: int
    trouble: str
    model: str
    made_by: str
    made_at: datetime

    @property
    def is_of_text(self) -> bool:
        """Whether more than the title was translated."""
        return len(self.lines) > 1

    @property
    def missing(self) -> int:
        """Lines without Chinese."""
        return sum(not own.text for own in self.lines)

    def is_of(self, text: ForeignText) -> bool:
        """Whether the article still says what was translated; of a title alone, its title."""
        own = tuple(line.original for line in self.lines)
        return own == (text.lines if self.is_of_text else text.lines[:1])


class ForeignArticle(NamedTuple):
    """What would be translated: its row of ``url``, its lines, the topics it is on."""

    url_id: int
    text: ForeignText
    topics: frozenset[str]


def foreign_article(c: Connection, article_id: int) -> ForeignArticle | None:
    """The article as it would be translated; None where it is in Chinese."""
    (own,) = iter_articles(c, Selection(article_ids=(article_id,)))
    if not is_foreign_article(own):
        return None
    url_id = c.execute(select(article.c.url_id).where(article.c.id == article_id)).scalar_one()
    return ForeignArticle(url_id, lines_of(own.title, own.text), topics_of(c, [article_id]))


def is_foreign_article(own: ArticleRecord) -> bool:
    """Whether an article is in another language than Chinese."""
    return is_foreign(f"{own.title}\n{own.text[:2_000]}")


def topics_of(c: Connection, article_ids: Collection[int]) -> frozenset[str]:
    """The topics that articles are on; "" where one is on none."""
    joined = relevance.join(topic, topic.c.id == relevance.c.topic_id)
    rows = c.execute(
        select(relevance.c.article_id, topic.c.name)
        .select_from(joined)
        .where(relevance.c.article_id.in_(article_ids), relevance.c.relevant.is_(True))
    ).all()
    on_none = set(article_ids) - {row.article_id for row in rows}
    return frozenset(row.name for row in rows) | ({""} if on_none else frozenset())


def translation_of(c: Connection, article_id: int) -> KeptTranslation | None:
    """The one that is kept of an article."""
    joined = translation.join(article, article.c.url_id == translation.c.url_id)
    row = c.execute(
        select(translation).select_from(joined).where(article.c.id == article_id)
    ).first()
    return None if row is None else _of_row(row)


class Titles(NamedTuple):
    """Foreign titles of a list: those *translated*, by article, and those that may be asked for."""

    translated: dict[int, str]
    missing: dict[int, str]


def foreign_titles(c: Connection, titles: Mapping[int, str]) -> Titles:
    """What is kept of the foreign ones of *titles*, which are as they are now, by article.

    One that is another than was translated is missing, unless the whole text was translated: that
    is done anew on the article's page, and no title takes its place.
    """
    foreign = {key: " ".join(title.split()) for key, title in titles.items() if is_foreign(title)}
    translated: dict[int, str] = {}
    missing = dict(foreign)
    if not foreign:
        return Titles(translated, missing)
    joined = translation.join(article, article.c.url_id == translation.c.url_id)
    rows = c.execute(
        select(article.c.id, translation.c.title, translation.c.record)
        .select_from(joined)
        .where(article.c.id.in_(foreign))
    )
    for row in rows:
        lines = json.loads(row.record)["lines"]
        is_current = lines[0]["original"] == foreign[row.id]
        if is_current and row.title:
            translated[row.id] = row.title
        if (is_current and row.title) or len(lines) > 1:
            del missing[row.id]
    return Titles(translated, missing)


def keep_translation(
    c: Connection,
    actor: Actor,
    article_id: int,
    lines: Sequence[TranslatedLine],
    model: str,
    *,
    left: int = 0,
    trouble: str = "",
) -> None:
    """Keep what was translated of an article, in the place of what was there.

    Raises:
        ConfigError: the article is no longer stored.
    """
    before = translation_of(c, article_id)
    url_id = c.execute(
        select(article.c.url_id).where(article.c.id == article_id)
    ).scalar_one_or_none()
    if url_id is None:
        raise ConfigError(_("there is no article {which}", which=article_id))
    c.execute(delete(translation).where(translation.c.url_id == url_id))
    told = {
        "lines": [
            {"original": own.original, "text": own.text, "faults": [list(f) for f in own.faults]}
            for own in lines
        ],
        "left": left,
        "trouble": trouble,
    }
    values = {
        "url_id": url_id,
        "title": clean_text(lines[0].text, _TITLE_CHARS),
        "record": clean_text(json.dumps(told), _RECORD_CHARS),
        "model": clean_word(model, 100),
        "made_by": clean_word(actor.name, 64),
        "made_at": to_stored_time(datetime.now(UTC)),
    }
    c.execute(insert(translation).values(values))
    after = {
        "model": model,
        "sentences": sum(bool(own.text) for own in lines),
        "dropped": sum(not own.text for own in lines),
    }
    record(c, actor, "article.translate", str(article_id), _facts(before), after)


def drop_translation(c: Connection, actor: Actor, article_id: int) -> None:
    """Take it away.

    Raises:
        ConfigError: there is none.
    """
    before = translation_of(c, article_id)
    if before is None:
        raise ConfigError(_("This article has no translation any more."))
    own = select(article.c.url_id).where(article.c.id == article_id)
    c.execute(delete(translation).where(translation.c.url_id == own.scalar_subquery()))
    record(c, actor, "article.drop_translation", str(article_id), _facts(before), None)


def _facts(kept: KeptTranslation | None) -> dict[str, Any] | None:
    return None if kept is None else {"model": kept.model, "sentences": len(kept.lines)}


def _of_row(row: Any) -> KeptTranslation:
    told = json.loads(row.record)
    made = from_time(row.made_at)
    assert made is not None
    lines = tuple(
        TranslatedLine(own["original"], own["text"], tuple(Fault(*f) for f in own["faults"]))
        for own in told["lines"]
    )
    return KeptTranslation(lines, told["left"], told["trouble"], row.model, row.made_by, made)
