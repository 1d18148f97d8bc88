"""A briefing of a topic out of what is stored: stories, counts, places, warnings, gaps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.news.briefing import (
    BriefEvent,
    Briefing,
    BriefPlace,
    BriefSentence,
    BriefSource,
    BriefStory,
    FirstSource,
    Gaps,
    SinceLast,
)
from qiaocrawl.news.events.finding import events_in
from qiaocrawl.news.kept_briefings import briefing_before
from qiaocrawl.news.names import stored as names
from qiaocrawl.news.names.places import resolve_place
from qiaocrawl.news.names.stored import regions_of
from qiaocrawl.news.spread.stored import publications_of
from qiaocrawl.news.spread.tree import spread_figures, spread_tree
from qiaocrawl.news.stories import lists as story_lists
from qiaocrawl.news.stories import texts as story_texts
from qiaocrawl.news.stories.lead import is_round_up
from qiaocrawl.news.stories.texts import StoryText
from qiaocrawl.news.summaries import Contradiction, StorySource, summarise_story
from qiaocrawl.news.tone import tone_shares
from qiaocrawl.news.tone_model import tone_of
from qiaocrawl.news.trends.trend import Trend, article_moments, trend_of
from qiaocrawl.news.trends.usual import Stretch
from qiaocrawl.news.warnings.stored import load_warnings
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.reading.summary import misses_by_site
from qiaocrawl.storage.schema import article, story_article
from qiaocrawl.storage.selection import Selection, article_conditions
from qiaocrawl.storage.topics.classes import count_classes
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from qiaocrawl.news.trends.usual import HolidayCalendar
    from qiaocrawl.news.warnings.machine import StoryWarning

# --- A briefing of a topic out of what is stored: stories, counts, places, warnings, gaps ---------

_BASE_DAYS = 56
_LONG_AGO = datetime(1900, 1, 1, tzinfo=UTC)
_SENTENCES, _TEXTS_READ, _NAMES, _PLACES = 4, 20, 5, 12
_MISSED_SITES = 8
_EVENTS, _CITED_OF_AN_EVENT = 6, 3
# So many times the stories told are looked at for round-ups.
_LOOKED_AT = 3
_DAYS_TOLD, _CURVE = 7, timedelta(days=14)


def make_briefing(
    c: Connection,
    topic: str,
    stretch: tuple[datetime, datetime],
    calendar: HolidayCalendar,
    most_stories: int = 8,
    *,
    groups: tuple[str, ...] = (),
    media: tuple[str, ...] = (),
) -> Briefing:
    """The briefing of an imported topic; every sentence is one that a stored article says.

    Args:
        stretch: from the first aware moment up to the second.
        most_stories: told in full; the others are named.
        groups, media: as in ``Selection``: only articles that are of them count.

    Raises:
        StorageError: the topic was never imported.
    """
    since, before = stretch
    chosen = Selection(
        topic, only_relevant=True, since=since, before=before, groups=groups, media=media
    )
    rows = _rows(c, chosen)
    outlets = OutletNames(c, topic)
    by_group: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        if row.story_id is not None:
            by_group[row.story_id].append(row)
    ranked = sorted(
        by_group,
        key=lambda number: (
            -len({row.site for row in by_group[number]}),
            -len(by_group[number]),
            number,
        ),
    )
    first = ranked[: _LOOKED_AT * most_stories]
    texts = story_texts.texts_of(c, first, topic)
    # A week's round-up is no happening: it is named behind all that are.
    round_ups = {
        number
        for number in first
        if any(is_round_up(text.title, text.text) for text in texts[number][:1])
    }
    ranked.sort(key=round_ups.__contains__)
    told = [number for number in first if number not in round_ups][:most_stories]
    desk = _Desk(c, topic, since, texts, _warnings(c))
    stories = tuple(desk.story(number, len(by_group[number])) for number in told)
    trend, curve = _trends(c, chosen, calendar)
    titles = story_lists.titles_of(c, ranked)
    url_ids = [row.url_id for row in rows]
    lines = tuple((number, *titles[number]) for number in ranked)
    return Briefing(
        load_pack(c, topic).title or topic,
        since,
        before,
        len(rows),
        len({outlets.of(row.site).key for row in rows}),
        trend,
        curve,
        stories,
        tuple(line for line in lines if line[0] not in told),
        _places(c, url_ids),
        _gaps(c, topic, rows, len(ranked) - len(told)),
        tuple(desk.sources.values()),
        _since_last(c, topic, stretch, lines),
        tuple(count_classes(c, topic, url_ids).items()),
        regions_of(c, url_ids),
    )


def tell_story(c: Connection, number: int) -> tuple[BriefStory, tuple[BriefSource, ...]]:
    """One story as a briefing tells it, with its sources.

    Raises:
        ConfigError: there is no such story.
    """
    story_lists.one_story(c, number)
    desk = _Desk(c, None, _LONG_AGO, story_texts.texts_of(c, [number]), _warnings(c))
    if not desk.texts[number]:
        raise ConfigError(_("no article of story {number} is stored any more", number=number))
    return desk.story(number, 0), tuple(desk.sources.values())


def _since_last(
    c: Connection,
    topic: str,
    stretch: tuple[datetime, datetime],
    lines: Sequence[tuple[int, str, int]],
) -> SinceLast | None:
    """Against what was told of earlier days; stories are the same by their numbers."""
    last = briefing_before(c, topic, *stretch)
    if last is None:
        return None
    known = {story.number: story for story in last.stories}
    grown = [
        (title, articles - known[number].articles)
        for number, title, articles in lines
        if number in known
    ]
    here = {number for number, _title, _articles in lines}
    return SinceLast(
        last.before,
        tuple(title for number, title, _articles in lines if number not in known),
        tuple((title, more) for title, more in grown if more > 0),
        tuple(own.title for own in last.stories if own.number not in here),
    )


@dataclass(slots=True)
class _Desk:
    """Stories told one after the other; sources are numbered as they are cited first."""

    c: Connection
    topic: str | None
    since: datetime
    texts: Mapping[int, Sequence[StoryText]]
    warnings: Mapping[int, StoryWarning]
    sources: dict[str, BriefSource] = field(default_factory=dict)

    def story(self, number: int, new_articles: int) -> BriefStory:
        """One story with its sources."""
        texts = self.texts[number]
        tree = spread_tree(publications_of(self.c, [text.article_id for text in texts], self.topic))
        assert tree.first is not None, "a story of the stretch has an article"
        by_url = {text.url: text for text in texts}
        first = by_url.get(tree.first.key)
        origin = FirstSource(
            self._cite(first) if first else 0, tree.first.outlet, not tree.first.alternatives
        )
        sentences, contradictions = self._summary(texts)
        figures = spread_figures(tree)
        voices = [text for text in texts if not text.is_reprint]
        return BriefStory(
            number,
            story_lists.one_story(self.c, number).title,
            min(text.at for text in texts) >= self.since,
            len(texts),
            new_articles,
            figures.outlets,
            origin,
            figures.depth,
            figures.unknown,
            self._names(number),
            sentences,
            contradictions,
            tone_shares(tone_of(text.title, text.text) for text in voices),
            self.warnings.get(number),
            _days(texts),
            tree,
            self._events(texts),
        )

    def _events(self, texts: Sequence[StoryText]) -> tuple[BriefEvent, ...]:
        """What happened; of many those that most articles tell of.

        One without a day says no more than the story.
        """
        events = events_in(self.c, texts)
        if len(events) == 1 and events[0].first is None:
            return ()
        most = sorted(events, key=lambda own: (-len(own.keys), own.number))[:_EVENTS]
        by_url = {text.url: text for text in texts}
        return tuple(
            BriefEvent(
                event, tuple(self._cite(by_url[key]) for key in event.keys[:_CITED_OF_AN_EVENT])
            )
            for event in events
            if event in most
        )

    def _summary(
        self, texts: Sequence[StoryText]
    ) -> tuple[tuple[BriefSentence, ...], tuple[Contradiction, ...]]:
        """Of the story's first text and its newest ones, each wording once.

        Reprints that differ are read too: some give other figures. Round-ups are not.
        """
        wordings: dict[str, StoryText] = {}
        # A round-up that somebody put here tells of other things too.
        own = [text for text in texts if not is_round_up(text.title, text.text)]
        for text in own or texts:
            wordings.setdefault(text.text, text)
        earliest, *later = wordings.values()
        read = [earliest, *later[-_TEXTS_READ:]]
        by_url = {text.url: text for text in read}
        summary = summarise_story(
            [
                StorySource(text.url, text.title, text.text, text.outlet.name, text.at)
                for text in read
            ],
            max_sentences=_SENTENCES,
        )

        def numbers(citations: Iterable[int]) -> tuple[int, ...]:
            return tuple(self._cite(by_url[summary.sources[at - 1].key]) for at in citations)

        sentences = []
        for sentence in summary.sentences:
            first, *others = sentence.citations
            # Others say much the same; cited is who says all of it.
            same = [at for at in others if sentence.text in summary.sources[at - 1].text]
            sentences.append(BriefSentence(sentence.text, numbers([first, *same])))
        return tuple(sentences), tuple(
            Contradiction(
                own.counted, own.unit, tuple((value, numbers(cited)) for value, cited in own.values)
            )
            for own in summary.contradictions
        )

    def _cite(self, text: StoryText) -> int:
        source = self.sources.setdefault(
            text.url,
            BriefSource(
                len(self.sources) + 1,
                text.outlet.name,
                text.title,
                text.at if text.is_dated else None,
                text.url,
            ),
        )
        return source.number

    def _names(self, number: int) -> dict[str, tuple[tuple[str, int], ...]]:
        by_kind: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for name in names.names_of_stories(self.c, [number])[number]:
            by_kind[name.kind].append((name.name, name.articles))
        return {kind: tuple(own[:_NAMES]) for kind, own in by_kind.items()}


def _rows(c: Connection, chosen: Selection) -> Sequence[Any]:
    """The articles of the stretch, each with its story."""
    statement = (
        select(article.c.url_id, article.c.site, article.c.published_at, story_article.c.story_id)
        .outerjoin(story_article, story_article.c.url_id == article.c.url_id)
        .where(*article_conditions(c, chosen))
    )
    return c.execute(statement).all()


def _warnings(c: Connection) -> dict[int, StoryWarning]:
    """Open warnings by the number of their story."""
    warnings = {own.story: own for own in load_warnings(c).values() if own.status == "open"}
    numbers = story_texts.stories_with(c, [int(story) for story in warnings])
    return {number: warnings[str(url_id)] for url_id, number in numbers.items()}


def _days(texts: Sequence[StoryText]) -> tuple[tuple[date, int], ...]:
    counts = Counter(text.at.astimezone(SHANGHAI).date() for text in texts)
    return tuple(sorted(counts.items())[-_DAYS_TOLD:])


def _trends(c: Connection, chosen: Selection, calendar: HolidayCalendar) -> tuple[Trend, Trend]:
    """By day, against the eight weeks before: of the stretch, and of two weeks at least."""
    assert chosen.since is not None
    assert chosen.before is not None
    longer = min(chosen.since, chosen.before - _CURVE)
    begin = longer - timedelta(days=_BASE_DAYS + 7)
    own = replace(chosen, since=begin)
    everything = Selection(since=begin, before=chosen.before)
    times, all_times = (
        [moment.at for moment in article_moments(c, selection)] for selection in (own, everything)
    )
    first, second = (
        trend_of(times, all_times, Stretch(since, chosen.before, base_days=_BASE_DAYS), calendar)
        for since in (chosen.since, longer)
    )
    return first, second


def _places(c: Connection, url_ids: Sequence[int]) -> tuple[BriefPlace, ...]:
    counts = names.named_in(c, "place", url_ids)
    places = []
    for name, articles in sorted(counts.items(), key=lambda own: (-own[1], own[0]))[:_PLACES]:
        known = resolve_place(name)
        places.append(
            BriefPlace(
                name, known.country if known else "", known.province if known else "", articles
            )
        )
    return tuple(places)


def _gaps(c: Connection, topic: str, rows: Sequence[Any], untold: int) -> Gaps:
    outlets = OutletNames(c, topic)
    heard = {outlets.of(row.site).key for row in rows}
    silent = [
        site.name or site.host
        for site in load_pack(c, topic).sites
        if outlets.of(site.host).key not in heard
    ]
    missed = [(own.host, own.total) for own in misses_by_site(c, topic)]
    return Gaps(
        sum(row.story_id is None for row in rows),
        sum(row.published_at is None for row in rows),
        tuple(silent),
        tuple(missed[:_MISSED_SITES]),
        untold,
    )
