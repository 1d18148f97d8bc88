"""Items of a briefing out of stories and articles, and what else its days have to offer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import CHINESE, _, using_language
from qiaocrawl.news.briefing import BriefSource, BriefStory
from qiaocrawl.news.briefing_making import tell_story
from qiaocrawl.news.drafts.paper import ARTICLE, STORY, Item, Sentence, Source
from qiaocrawl.news.events.finding import event_place, event_time
from qiaocrawl.news.overview import is_on_topic
from qiaocrawl.news.stories.hot import HotStory, LastDays, StoryWish, hot_stories
from qiaocrawl.news.stories.lead import is_round_up
from qiaocrawl.news.stories.texts import texts_of
from qiaocrawl.news.summaries import summarise
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.reading.records import iter_articles
from qiaocrawl.storage.schema import article, relevance, story_article, topic
from qiaocrawl.storage.selection import (
    Selection,
    article_conditions,
    published,
    published_within,
)
from qiaocrawl.storage.values import from_time
from qiaocrawl.text.zones import SHANGHAI

DAYS = {"day": 2, "week": 7}
"""Days of China that a daily and a weekly briefing are of, today being one."""
_SENTENCES = {"day": 2, "week": 2, "event": 4, "period": 3}
_TOLD = 8
_STORIES_OFFERED, _ARTICLES_OFFERED = 24, 12
_ARTICLES_LOOKED_AT = 60
_MOST_CITED = 3
_SUMMARY_CHARS = 120


@dataclass(frozen=True, slots=True)
class Stretch:
    """The days a briefing is of, and the topic it is of; "" for all.

    Attributes:
        groups, media: as of ``Selection``: what is offered has an article of them.
    """

    topic: str
    since: datetime
    before: datetime
    groups: tuple[str, ...] = ()
    media: tuple[str, ...] = ()

    @property
    def choice(self) -> Selection:
        """Of which articles."""
        return Selection(self.topic or None, groups=self.groups, media=self.media)

    @property
    def days(self) -> LastDays:
        """The same as the last so many days of a moment."""
        last = self.before - timedelta(seconds=1)
        first = self.since.astimezone(SHANGHAI).date()
        return LastDays(last, (last.astimezone(SHANGHAI).date() - first).days + 1)


@dataclass(frozen=True, slots=True)
class OfferedStory:
    """A story that may be put into a briefing; a round-up is no event, and is named so."""

    story: HotStory
    is_round_up: bool


@dataclass(frozen=True, slots=True)
class OfferedArticle:
    """An article that may be put into a briefing."""

    id: int
    url_id: int
    story_id: int | None
    title: str
    outlet: str
    at: datetime | None
    is_round_up: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """What the days of a briefing have."""

    stories: tuple[OfferedStory, ...]
    articles: tuple[OfferedArticle, ...]

    def without(self, items: Collection[Item]) -> Offer:
        """What is left when *items* are taken out of it: no article of an offered story either."""
        stories = {item.about_id for item in items if item.kind == STORY}
        articles = {item.about_id for item in items if item.kind == ARTICLE}
        offered = {own.story.id for own in self.stories} | stories
        return Offer(
            tuple(own for own in self.stories if own.story.id not in stories),
            tuple(
                own
                for own in self.articles
                if own.url_id not in articles and own.story_id not in offered
            )[:_ARTICLES_OFFERED],
        )


def offer_of(c: Connection, stretch: Stretch) -> Offer:
    """What *stretch* has: its stories, the hottest first and round-ups behind, and its articles."""
    wish = StoryWish(stretch.topic, least=1, limit=_STORIES_OFFERED, with_round_ups=True)
    found = _chosen_stories(c, stretch, hot_stories(c, stretch.days, wish))
    texts = texts_of(c, [one.id for one in found])
    stories = [
        OfferedStory(one, any(is_round_up(text.title, text.text) for text in texts[one.id][:1]))
        for one in found
        if texts[one.id]
    ]
    stories.sort(key=lambda own: own.is_round_up)
    return Offer(tuple(stories), tuple(_articles(c, stretch)))


def _chosen_stories(
    c: Connection, stretch: Stretch, found: Sequence[HotStory]
) -> Sequence[HotStory]:
    """Those of *found* that have an article of the groups and media."""
    if not (stretch.groups or stretch.media) or not found:
        return found
    statement = (
        select(story_article.c.story_id)
        .distinct()
        .join(article, article.c.url_id == story_article.c.url_id)
        .where(
            story_article.c.story_id.in_([one.id for one in found]),
            *article_conditions(c, stretch.choice),
        )
    )
    chosen = set(c.execute(statement).scalars())
    return [one for one in found if one.id in chosen]


def _articles(c: Connection, stretch: Stretch) -> Iterator[OfferedArticle]:
    """The newest on topic, one of each title."""
    columns = article.c.id, article.c.url_id, article.c.title, article.c.site
    conditions = [*published_within(stretch.since, stretch.before), is_on_topic()]
    if stretch.topic:
        own = select(relevance.c.article_id).join(topic, topic.c.id == relevance.c.topic_id)
        mine = own.where(topic.c.name == stretch.topic, relevance.c.relevant.is_(True))
        conditions.append(article.c.id.in_(mine))
    if stretch.groups or stretch.media:
        conditions += article_conditions(c, stretch.choice)
    statement = (
        select(*columns, article.c.published_at, story_article.c.story_id)
        .outerjoin(story_article, story_article.c.url_id == article.c.url_id)
        .where(*conditions)
        .order_by(published.desc(), article.c.id.desc())
        .limit(_ARTICLES_LOOKED_AT)
    )
    outlets = OutletNames(c, stretch.topic or None)
    rows: dict[str, Any] = {}
    for row in c.execute(statement):
        rows.setdefault(row.title, row)
    if not rows:
        return
    chosen = Selection(article_ids=tuple(row.id for row in rows.values()))
    round_ups = {own.id for own in iter_articles(c, chosen) if is_round_up(own.title, own.text)}
    for row in sorted(rows.values(), key=lambda row: row.id in round_ups):
        yield OfferedArticle(
            row.id,
            row.url_id,
            row.story_id,
            row.title,
            outlets.of(row.site).name,
            from_time(row.published_at),
            row.id in round_ups,
        )


def first_items(c: Connection, stretch: Stretch, kind: str) -> list[Item]:
    """What a new briefing tells: the hottest stories, of which several outlets tell first."""
    events = [own.story for own in offer_of(c, stretch).stories if not own.is_round_up]
    items = []
    for one in events[:_TOLD]:
        # Its articles may go while the others are told.
        try:
            items.append(item_of_story(c, one.id, kind))
        except ConfigError:
            continue
    return items


def item_of_story(c: Connection, number: int, kind: str) -> Item:
    """A story as a briefing of *kind* tells it.

    Raises:
        ConfigError: there is no such story, or none of its articles is stored any more.
    """
    story, sources = tell_story(c, number)
    by_number = {own.number: own for own in sources}
    sentences = tuple(
        Sentence(own.text, own.text, _sources(own.sources, by_number))
        for own in story.sentences[: _SENTENCES.get(kind, 2)]
    )
    # What stands on paper is Chinese, whatever its editor reads.
    with using_language(CHINESE):
        return Item(STORY, number, story.title, sentences, story.title, _facts(story))


def items_of_event(c: Connection, number: int) -> list[Item]:
    """One story at length: what it tells, then what happened when.

    Raises:
        ConfigError: as :func:`item_of_story`.
    """
    told = item_of_story(c, number, "event")
    story, sources = tell_story(c, number)
    with using_language(CHINESE):
        course = tuple(_course(story, {own.number: own for own in sources}))
        heading = _("How it went")
    return [told, Item(STORY, None, heading, course, heading)] if course else [told]


def _course(story: BriefStory, by_number: dict[int, BriefSource]) -> Iterator[Sentence]:
    for own in story.events:
        lead = " ".join(filter(None, (event_time(own.event), event_place(own.event))))
        text = _("{lead}: {what}", lead=lead, what=own.event.name) if lead else own.event.name
        yield Sentence(text, text, _sources(own.sources, by_number))


def item_of_article(c: Connection, article_id: int) -> Item:
    """An article as a briefing tells it, with sentences of its own.

    Raises:
        ConfigError: there is no such article.
    """
    record = next(iter_articles(c, Selection(article_ids=(article_id,))), None)
    if record is None:
        raise ConfigError(_("there is no article {number}", number=article_id))
    url_id = c.execute(select(article.c.url_id).where(article.c.id == article_id)).scalar_one()
    outlet = OutletNames(c, None).of(record.site).name
    source = Source(outlet, record.title, record.published_at, record.url)
    pieces = summarise(record.title, record.text, max_characters=_SUMMARY_CHARS)
    sentences = tuple(Sentence(piece.text, piece.text, (source,)) for piece in pieces)
    heading = record.title or record.url
    return Item(ARTICLE, url_id, heading, sentences, heading, outlet)


def _sources(numbers: Sequence[int], by_number: dict[int, BriefSource]) -> tuple[Source, ...]:
    found = [by_number[number] for number in numbers if number][:_MOST_CITED]
    return tuple(Source(own.outlet, own.title, own.at, own.url) for own in found)


def _facts(story: BriefStory) -> str:
    """Who has it, and which figures differ."""
    facts = [story.first.outlet]
    if story.outlets > 1:
        facts = [
            _("{count} outlets have it", count=story.outlets),
            _("first: {outlet}", outlet=story.first.outlet),
        ]
    for own in story.contradictions:
        values = _(" or ").join(f"{value:,.15g}{own.unit}" for value, _cited in own.values)
        facts.append(_("outlets differ, {counted}: {values}", counted=own.counted, values=values))
    return _("; ").join(facts)
