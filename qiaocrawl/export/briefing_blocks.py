"""A briefing as headings, paragraphs, lists and tables, in the language of who reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from qiaocrawl.language import N_, _, language
from qiaocrawl.news.briefing import BriefEvent, Briefing, BriefSource, BriefStory
from qiaocrawl.news.events.finding import event_place, event_time
from qiaocrawl.news.names.places import CHINA, Region
from qiaocrawl.news.pictures.charts import trend_svg
from qiaocrawl.news.pictures.place_map import place_map_svg
from qiaocrawl.news.pictures.spread import tree_svg
from qiaocrawl.news.summaries import Contradiction
from qiaocrawl.news.trends.trend import DIRECTION_NAMES
from qiaocrawl.news.warnings.machine import SEVERITY_NAMES, reason_text
from qiaocrawl.storage.topics.classes import class_label
from qiaocrawl.text.zones import china_time


class Piece(NamedTuple):
    """Text, leading to *link* if there is one."""

    text: str
    link: str = ""


Line = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Of a level from 1."""

    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """*small* for facts about what stands above."""

    line: Line
    small: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list with bullets; *numbered* from 1."""

    lines: tuple[Line, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A table."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG file; what can show none leaves it out."""

    svg: str


Block = Heading | Paragraph | Items | Rows | Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a briefing under the *name* that templates know it by."""

    name: str
    blocks: tuple[Block, ...]


SECTIONS = (
    "figures",
    "glance",
    "warnings",
    "since_last",
    "stories",
    "others",
    "places",
    "gaps",
    "sources",
)
"""The parts of a briefing, in their order."""

_DAY = timedelta(days=1)
_LEAST_TONES = 2
_OTHERS, _NAMED_SINCE, _NAMED_IN_EVENT, _REGIONS = 15, 8, 4, 12
_NAME_LINES = {
    "person": N_("who: {names}"),
    "place": N_("where: {names}"),
    "organisation": N_("bodies: {names}"),
}
_TONES = {
    "negative": N_("negative"),
    "positive": N_("positive"),
    "neutral": N_("neutral"),
}


def title_of(briefing: Briefing) -> str:
    """Its title."""
    return _("{topic}: briefing", topic=briefing.topic)


def about(briefing: Briefing) -> str:
    """The stretch it is of."""
    return _(
        "{since} to {before} (Beijing time)",
        since=china_time(briefing.since),
        before=china_time(briefing.before),
    )


def sections_of(briefing: Briefing) -> list[Section]:
    """All of it but the title; a part that has nothing to say is left out."""
    links = {source.number: source.url for source in briefing.sources}
    warned = [story for story in briefing.stories if story.warning is not None]
    told = [
        block
        for at, story in enumerate(briefing.stories, start=1)
        for block in _story(at, story, links)
    ]
    parts: list[tuple[str, str, list[Block]]] = [
        (
            "figures",
            "",
            [
                Paragraph(_text(_counts(briefing))),
                *_classes(briefing),
                Picture(trend_svg(briefing.curve, _("articles by day"), language())),
            ],
        ),
        ("glance", _("At a glance"), _list_block(_text(_glance(own)) for own in briefing.stories)),
        ("warnings", _("Warnings"), _list_block(map(_warning, warned))),
        ("since_last", *_since_last(briefing)),
        ("stories", _("Stories"), told),
        ("others", _("Other stories"), _list_block(map(_text, _others(briefing)))),
        ("places", _("Places named"), _places(briefing)),
        ("gaps", _("What this briefing does not know"), _list_block(map(_text, _gaps(briefing)))),
        ("sources", _("Sources cited"), _list_block(map(_source, briefing.sources), numbered=True)),
    ]
    return [
        Section(name, (*([Heading(title, 1)] if title else []), *blocks))
        for name, title, blocks in parts
        if blocks
    ]


def story_blocks(story: BriefStory, sources: Sequence[BriefSource]) -> list[Block]:
    """One story by itself, with what it cites."""
    links = {source.number: source.url for source in sources}
    # Without its title, which stands above it.
    return [
        *list(_story(1, story, links))[1:],
        Heading(_("Sources cited"), 1),
        *_list_block(map(_source, sources), numbered=True),
    ]


def _list_block(lines: Iterable[Line], *, numbered: bool = False) -> list[Block]:
    kept = tuple(lines)
    return [Items(kept, numbered)] if kept else []


def _others(briefing: Briefing) -> Iterator[str]:
    for number, title, articles in briefing.others[:_OTHERS]:
        yield _(
            "{title} (story {number}, articles: {articles})",
            title=title,
            number=number,
            articles=articles,
        )


def _places(briefing: Briefing) -> list[Block]:
    rows = tuple(
        (own.name, " ".join(filter(None, (own.country, own.province))), str(own.articles))
        for own in briefing.places
    )
    if not rows:
        return []
    return [*_map(briefing), Rows((_("place named"), _("lies in"), _("articles")), rows)]


def _map(briefing: Briefing) -> Iterator[Block]:
    """The map, and what it says in words: not every format shows pictures."""
    counts = briefing.regions
    if counts is None or not counts.countries:
        return
    yield Picture(place_map_svg(counts, _("where the places named lie"), language()))
    abroad = tuple(own for own in counts.countries if own.name != CHINA)
    for where, regions in ((_("in China"), counts.provinces), (_("abroad"), abroad)):
        if regions:
            yield Paragraph(_text(f"{where}{_(': ')}{_regions(regions)}"), small=True)


def _regions(regions: Sequence[Region]) -> str:
    named = [f"{own.name} {own.articles}" for own in regions[:_REGIONS]]
    more = len(regions) - len(named)
    if more:
        named.append(_("and {count} more regions", count=more))
    return _(", ").join(named)


def _since_last(briefing: Briefing) -> tuple[str, list[Block]]:
    last = briefing.last
    if last is None:
        return "", []
    title = _("Since the last briefing, up to {before}", before=china_time(last.before))
    grown = [_("{title} (+{more})", title=title, more=more) for title, more in last.grown]
    lines = [
        _("{what}: {titles}", what=what, titles=_("; ").join(own))
        for what, names in (
            (_("new"), last.new),
            (_("more of"), grown),
            (_("nothing more of"), last.quiet),
        )
        if (own := _first(names))
    ]
    return title, _list_block(map(_text, lines))


def _first(names: Sequence[str]) -> list[str]:
    """The first of them, and how many more there are."""
    more = len(names) - _NAMED_SINCE
    return [*names[:_NAMED_SINCE], *([_("{count} more", count=more)] if more > 0 else [])]


def _counts(briefing: Briefing) -> str:
    counts = _(
        "{articles:,} articles of {outlets:,} outlets",
        articles=briefing.articles,
        outlets=briefing.outlets,
    )
    trend = briefing.trend
    # Of a day of which only a part is told, the same part.
    expected = [
        step.expected
        * max(
            min(step.start + _DAY, briefing.before) - max(step.start, briefing.since), timedelta()
        )
        / _DAY
        for step in trend.steps
        if step.expected is not None
    ]
    direction = _(DIRECTION_NAMES[trend.direction])
    if trend.direction == "unknown" or not expected:
        return _("{counts}; {direction}.", counts=counts, direction=direction)
    return _(
        "{counts}; {direction} (usual for these days: {expected}).",
        counts=counts,
        direction=direction,
        expected=f"{sum(expected):.0f}",
    )


def _classes(briefing: Briefing) -> list[Block]:
    """How many articles are about what; nothing where no class is sure."""
    sure = [(name, count) for name, count in briefing.classes if name]
    if not sure:
        return []
    counts = _(", ").join(f"{class_label(name)} {count}" for name, count in sure)
    return [Paragraph(_text(_("about: {classes}", classes=counts)), small=True)]


def _glance(story: BriefStory) -> str:
    state = _("new") if story.is_new else _("goes on")
    return _(
        "{title} ({state}; articles: {new}; outlets: {outlets})",
        title=story.title,
        state=state,
        new=story.new_articles,
        outlets=story.outlets,
    )


def _warning(story: BriefStory) -> Line:
    assert story.warning is not None
    whys = [
        f"{rule}{_(': ')}{_('; ').join(map(reason_text, reasons))}"
        for rule, reasons in story.warning.reasons.items()
    ]
    return _text(
        _(
            "{severity}: {title}. {why}",
            severity=_(SEVERITY_NAMES[story.warning.severity]),
            title=story.title,
            why=_("; ").join(whys),
        )
    )


def _story(at: int, story: BriefStory, links: dict[int, str]) -> Iterator[Block]:
    yield Heading(f"{at}. {story.title}", 2)
    yield Paragraph((Piece(_spread_line(story)), *_cites([story.first.source], links)), small=True)
    for sentence in story.sentences:
        yield Paragraph((Piece(sentence.text), *_cites(sentence.sources, links)))
    if story.events:
        yield Items(tuple(_event(own, links) for own in story.events))
    if story.contradictions:
        yield Items(tuple(_contradiction(own, links) for own in story.contradictions))
    facts = [
        _(line, names=_(", ").join(f"{name} {count}" for name, count in story.names[kind]))
        for kind, line in _NAME_LINES.items()
        if story.names.get(kind)
    ]
    facts += _tone(story)
    if facts:
        yield Paragraph(_text(_("; ").join(facts)), small=True)
    if story.depth:
        yield Picture(tree_svg(story.tree, _("who took it from whom"), language()))


def _spread_line(story: BriefStory) -> str:
    first = _("first: {outlet}", outlet=story.first.outlet)
    if not story.first.is_sure:
        first = _("first, as far as known: {outlet}", outlet=story.first.outlet)
    facts = [
        _("story {number}", number=story.number),
        _(
            "articles: {articles}, of these days {new}",
            articles=story.articles,
            new=story.new_articles,
        )
        if story.new_articles
        else _("articles: {articles}", articles=story.articles),
        _("outlets: {outlets}", outlets=story.outlets),
    ]
    if story.unknown:
        facts.append(_("origin unknown of {count}", count=story.unknown))
    if len(story.days) > 1:
        day, count = max(story.days, key=lambda own: own[1])
        facts.append(_("most on {month}/{day}: {count}", month=day.month, day=day.day, count=count))
    return _("; ").join([*facts, first])


def _event(own: BriefEvent, links: dict[int, str]) -> Line:
    """When, where and what, with who and which bodies it names."""
    event = own.event
    lead = " · ".join(filter(None, (event_time(event), event_place(event))))
    who = _(", ").join((*event.persons, *event.bodies)[:_NAMED_IN_EVENT])
    text = _("{lead}: {what}", lead=lead, what=event.name) if lead else event.name
    text = _("{event} ({who})", event=text, who=who) if who else text
    return (Piece(text), *_cites(own.sources, links))


def _contradiction(own: Contradiction, links: dict[int, str]) -> Line:
    pieces = [Piece(_("sources differ, {counted}: ", counted=own.counted))]
    for at, (value, numbers) in enumerate(own.values):
        pieces.append(Piece(f"{_(', ') if at else ''}{_number(value)}{own.unit}"))
        pieces += _cites(numbers, links)
    return tuple(pieces)


def _number(value: float) -> str:
    """As people write it: never 9.3e+06."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}".rstrip("0")


def _tone(story: BriefStory) -> list[str]:
    """How the texts sound whose tone is sure; nothing of fewer than two."""
    sure = [share for share in story.tones if share.count and share.label != "unsure"]
    total = sum(share.count for share in sure)
    if total < _LEAST_TONES:
        return []
    shares = _(", ").join(f"{_(_TONES[share.label])} {share.count}" for share in sure)
    words = _(
        "tone of {total} texts (of what is told, not towards anybody): {shares}",
        total=total,
        shares=shares,
    )
    return [words]


def _gaps(briefing: Briefing) -> Iterator[str]:
    gaps = briefing.gaps
    if gaps.untold:
        yield _("stories not told here in full: {count}", count=gaps.untold)
    if gaps.waiting:
        yield _("articles in no story yet: {count} (qiaocrawl analyse)", count=gaps.waiting)
    if gaps.undated:
        yield _(
            "articles without a date, counted by when they were fetched: {count}",
            count=gaps.undated,
        )
    if gaps.silent:
        yield _(
            "sites of the topic of which nothing was got: {names}", names=_(", ").join(gaps.silent)
        )
    if gaps.missed:
        missed = [f"{host} {count}" for host, count in gaps.missed]
        yield _(
            "pages found but not got since the crawl began: {sites} (qiaocrawl report missed)",
            sites=_(", ").join(missed),
        )
    yield _("What no site of the topic and no search engine showed is not here.")


def _source(source: BriefSource) -> Line:
    when = china_time(source.at) if source.at is not None else _("date unknown")
    return (Piece(f"{source.outlet}{_(', ')}{when}{_(', ')}"), Piece(source.title, source.url))


def _cites(numbers: Iterable[int], links: dict[int, str]) -> list[Piece]:
    return [Piece(f"[{number}]", links[number]) for number in numbers if number]


def _text(text: str) -> Line:
    return (Piece(text),)
