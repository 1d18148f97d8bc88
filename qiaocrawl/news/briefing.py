"""What a briefing of a topic says: values that name their sources, without words of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiaocrawl.news.events.mentions import Event
    from qiaocrawl.news.names.places import RegionCounts
    from qiaocrawl.news.spread.tree import SpreadTree
    from qiaocrawl.news.summaries import Contradiction
    from qiaocrawl.news.tone import Share
    from qiaocrawl.news.trends.trend import Trend
    from qiaocrawl.news.warnings.machine import StoryWarning


@dataclass(frozen=True, slots=True)
class BriefSource:
    """A stored article that is cited by its number; *at* is None where no date is known."""

    number: int
    outlet: str
    title: str
    at: datetime | None
    url: str


@dataclass(frozen=True, slots=True)
class BriefSentence:
    """A sentence, verbatim of each source cited."""

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BriefEvent:
    """Something that happened in a story, with the sources that tell of it."""

    event: Event
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FirstSource:
    """Who published a story first, as far as is stored.

    Args:
        source: its number; 0 where an outlet outside is named as the origin.
        outlet: its name.
        is_sure: nothing else may have been earlier.
    """

    source: int
    outlet: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class BriefStory:
    """A story of the stretch.

    Args:
        number: of the story.
        is_new: it began in the stretch.
        articles, new_articles: all of it, and those of the stretch.
        outlets: different ones.
        depth: how often it was passed on, one after the other.
        unknown: articles of which it is unknown where they come from.
        names: by kind, each with the number of articles that name it.
        contradictions: figures the sources give differently, by numbers of sources.
        tones: shares of its texts.
        warning: None where nobody is warned of it.
        days: its last days that have articles, in China, each with how many.
        tree: who took it from whom.
        events: what happened, in order of time; of many those that most articles tell of.
    """

    number: int
    title: str
    is_new: bool
    articles: int
    new_articles: int
    outlets: int
    first: FirstSource
    depth: int
    unknown: int
    names: Mapping[str, tuple[tuple[str, int], ...]]
    sentences: tuple[BriefSentence, ...]
    contradictions: tuple[Contradiction, ...]
    tones: tuple[Share, ...]
    warning: StoryWarning | None
    days: tuple[tuple[date, int], ...]
    tree: SpreadTree
    events: tuple[BriefEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class BriefPlace:
    """A place that articles of the stretch name; country and province "" where unknown."""

    name: str
    country: str
    province: str
    articles: int


@dataclass(frozen=True, slots=True)
class SinceLast:
    """What changed since the last briefing of earlier days, which ended at *before*.

    Args:
        new: titles of stories it did not know.
        grown: titles of those it knew, with how many articles they have more.
        quiet: titles of its stories that these days have nothing of.
    """

    before: datetime
    new: tuple[str, ...]
    grown: tuple[tuple[str, int], ...]
    quiet: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gaps:
    """What the briefing does not know.

    Args:
        waiting: articles in no story yet.
        undated: articles of the stretch without a date; they count by their fetch.
        silent: sites of the topic of which the stretch has nothing.
        missed: pages of the topic that were found and not got, by host, since the crawl began.
        untold: stories of the stretch that are only named, or not even that.
    """

    waiting: int
    undated: int
    silent: tuple[str, ...]
    missed: tuple[tuple[str, int], ...]
    untold: int


@dataclass(frozen=True, slots=True)
class Briefing:
    """A topic from *since* up to *before*, both aware.

    Args:
        articles, outlets: of the stretch.
        trend: by day.
        curve: by day too, of two weeks at least.
        others: number, title and articles of all stories that are not told.
        last: None where nothing was told before.
        classes: what articles are about, each with how many; "" of those not sure, the last.
        regions: where the places lie that articles name; None where names were not counted.
    """

    topic: str
    since: datetime
    before: datetime
    articles: int
    outlets: int
    trend: Trend
    curve: Trend
    stories: tuple[BriefStory, ...]
    others: tuple[tuple[int, str, int], ...]
    places: tuple[BriefPlace, ...]
    gaps: Gaps
    sources: tuple[BriefSource, ...]
    last: SinceLast | None = None
    classes: tuple[tuple[str, int], ...] = ()
    regions: RegionCounts | None = None
