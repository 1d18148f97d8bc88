"""Trends: articles over time, words, names, outlets and spread, of one topic or of two things."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import download
from qiaocrawl.console.page import Area, Page, console_of, read, read_heavy, read_kept
from qiaocrawl.console.pages import group_hits
from qiaocrawl.console.pages.trend_choice import STEP_NAMES, Side, TrendChoice, step_side
from qiaocrawl.console.render import render
from qiaocrawl.export.analysis_sheets import (
    EMPTY_SHEET,
    cloud_sheet,
    event_spread_sheet,
    fresh_sheet,
    hot_sheet,
    named_sheets,
    outlet_sheet,
    trend_sheets,
)
from qiaocrawl.export.briefing import picture_markup
from qiaocrawl.export.readable import Sheet, write_sheets
from qiaocrawl.language import N_, _, language, ngettext
from qiaocrawl.news.names.stored import Named, NamedOfTopic, named_of_topic
from qiaocrawl.news.pictures.place_map import place_map_svg
from qiaocrawl.news.spread.influence import (
    EventSpread,
    OutletInfluence,
    event_spreads,
    outlet_influence,
)
from qiaocrawl.news.stories.hot import LastDays
from qiaocrawl.news.trends.trend import (
    DIRECTION_NAMES,
    Trend,
    TrendStep,
    article_hours,
    trend_of_selection,
)
from qiaocrawl.news.trends.usual import Unit, calendar_with
from qiaocrawl.news.word_groups import CloudWord, cloud_words
from qiaocrawl.news.words import (
    FreshWord,
    HotWord,
    WordCounter,
    count_base,
    count_words,
    fresh_words,
    has_base,
    hot_words,
    texts_on_topic,
    usual_base,
)
from qiaocrawl.options import Options
from qiaocrawl.reading.listing import list_articles
from qiaocrawl.reading.pages_of_a_list import PUBLISHED, ListWish, list_page
from qiaocrawl.storage.pages.articles import count_texts
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import DAY, SHANGHAI, china_time

_KEPT_SECONDS = 300.0
_WORDS, _NAMES, _OUTLETS, _STORIES = 40, 30, 40, 20
_ON_A_CARD = 6
_MOST_TEXTS = 3_000
"""Whose words are counted while somebody waits: some ten seconds."""
_FEW_TEXTS = 300
"""Whose words are counted for a card of the first page."""
_PEAKS = 3
_CLOUD_SIZES = 5

Result = TypeVar("Result")
Work = Callable[[Connection, Side], Result]


async def _choice(request: Request) -> TrendChoice | None:
    """What the address asks for; None where there is no topic yet."""
    topics = await read(request, list_topics)
    return TrendChoice.of(request.query_params, topics, datetime.now(UTC)) if topics else None


async def _of_sides(
    request: Request, choice: TrendChoice, name: str, work: Work[Result]
) -> list[Result]:
    """What *work* gives of each side, kept for some minutes."""
    return [
        await read_kept(request, f"trend {name} {side.key}", _KEPT_SECONDS, work, side)
        for side in choice.sides
    ]


async def _in_turn(
    request: Request, sides: Sequence[Side], name: str, work: Work[Result]
) -> list[Result]:
    """The same of what takes seconds."""
    kept = console_of(request).kept

    def once(c: Connection, side: Side) -> Result:
        return kept.get(f"trend {name} {side.key}", _KEPT_SECONDS, lambda: work(c, side))

    return [await read_heavy(request, once, side) for side in sides]


def _shown(request: Request, page: str, choice: TrendChoice, **values: Any) -> Response:
    return render(
        request, f"trends/{page}.html", choice=choice, sides=choice.sides, part=page, **values
    )


async def _without_topic(request: Request) -> Response:
    return render(request, "trends/no_topic.html")


# --- How many articles came out when --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Counts:
    """Articles of a side over time; ``trend`` is None where there is not one.

    Attributes:
        count: in its days; ``earlier``: in as many days before.
        last_day: of the newest article on topic, where its days have none; "" for none at all.
    """

    trend: Trend | None
    count: int
    earlier: int
    last_day: str = ""


def _counts(c: Connection, side: Side) -> _Counts:
    own = Selection(topic=side.topic, only_relevant=True)
    calendar = calendar_with(Options.from_environment()["QIAO_HOLIDAYS"])
    trend, _left_out = trend_of_selection(c, own, side.stretch, calendar)
    count = sum(step.count for step in trend.steps) if trend else 0
    before = side.earlier
    earlier = article_hours(c, replace(own, since=before.since, before=side.since))
    return _Counts(trend, count, len(earlier), "" if count else _last_day(c, own))


def _last_day(c: Connection, own: Selection) -> str:
    newest = list_page(c, ListWish(own, PUBLISHED, folded=False, limit=1)).ids
    listed = list_articles(c, Selection(article_ids=newest)) if newest else ()
    return next((china_time(one.published_at or one.fetched_at, DAY) for one in listed), "")


@dataclass(frozen=True, slots=True)
class _Step:
    """A row of the table behind the curve.

    Attributes:
        query: of the list of its articles.
        other: how many the other side has there; None without one.
    """

    name: str
    step: TrendStep
    query: str
    other: int | None


def _steps(side: Side, counts: _Counts, other: _Counts | None) -> list[_Step]:
    if counts.trend is None:
        return []
    unit = counts.trend.unit
    others = other.trend.steps if other and other.trend else ()
    return [
        _Step(
            _day_name(step.start),
            step,
            step_side(side, step.start, unit).articles(),
            None if other is None else others[at].count if at < len(others) else 0,
        )
        for at, step in enumerate(counts.trend.steps)
    ]


def _day_name(moment: datetime) -> str:
    local = moment.astimezone(SHANGHAI)
    return _("{month}/{day}", month=local.month, day=local.day)


def _peaks(steps: Sequence[_Step]) -> list[_Step]:
    """The highest steps, in the order of time: those that stand out, where any do."""
    found = [one for one in steps if one.step.count > 1]
    highest = sorted(found, key=lambda one: (-one.step.is_burst, -one.step.count))[:_PEAKS]
    return sorted(highest, key=lambda one: one.step.start)


def _sentence(name: str, counts: _Counts, side: Side, steps: Sequence[_Step]) -> str:
    """What the curve says, for all who do not see it."""
    parts = [ngettext("{count} piece", "{count} pieces", counts.count)]
    more = counts.count - counts.earlier
    if more > 0:
        parts.append(_("{count} more than in the {days} days before", count=more, days=side.days))
    elif more < 0:
        parts.append(_("{count} fewer than in the {days} days before", count=-more, days=side.days))
    else:
        parts.append(_("as many as in the {days} days before", days=side.days))
    highest = max(steps, key=lambda one: one.step.count, default=None)
    if highest is not None and highest.step.count > 1 and counts.trend is not None:
        day, most = highest.name, highest.step.count
        if counts.trend.unit == "week":
            parts.append(_("most in the week of {day} ({count})", day=day, count=most))
        else:
            parts.append(_("most on {day} ({count})", day=day, count=most))
    facts = _("; ").join(parts)
    return _("{topic}, by date of publication: {facts}.", topic=name, facts=facts)


def _curve(choice: TrendChoice, steps: Sequence[_Step], unit: Unit) -> dict[str, Any]:
    """The same for the script that draws it."""
    has_usual = all(one.step.usual is not None for one in steps)
    lines = [{"name": choice.sides[0].label, "values": [one.step.count for one in steps]}]
    if len(choice.sides) > 1:
        lines.append({"name": choice.sides[1].label, "values": [one.other for one in steps]})
    return {
        "kind": "curve",
        "labels": [one.name for one in steps],
        "queries": [one.query for one in steps],
        "lines": lines,
        "band": {"name": _("usual"), "values": [one.step.usual for one in steps]}
        if has_usual
        else None,
        "peaks": [{"at": steps.index(one), "text": str(one.step.count)} for one in _peaks(steps)],
        "unit": _(STEP_NAMES[unit]),
    }


async def show(request: Request) -> Response:
    """The curve, and three cards that lead to the other pages."""
    choice = await _choice(request)
    if choice is None:
        return await _without_topic(request)
    counts = await _of_sides(request, choice, "counts", _counts)
    own, other = counts[0], counts[1] if len(counts) > 1 else None
    steps = _steps(choice.side, own, other)
    unit = own.trend.unit if own.trend else "day"
    is_empty = not own.count and not (other and other.count)
    return _shown(
        request,
        "show",
        choice,
        own=own,
        other=other,
        is_empty=is_empty,
        steps=steps,
        peaks=_peaks(steps),
        sentence=_sentence(choice.side.title, own, choice.side, steps),
        other_sentence=_other_sentence(choice, other),
        curve=_curve(choice, steps, unit),
        step_name=STEP_NAMES[unit],
        direction=DIRECTION_NAMES[own.trend.direction] if own.trend else "",
    )


async def show_cards(request: Request) -> Response:
    """The beginning of the other pages, which the first one fetches when it is there."""
    choice = await _choice(request)
    if choice is None:
        return await _without_topic(request)
    side = choice.side
    (words,) = await _in_turn(request, [side], "few words", _words_of_few)
    (outlets,) = await _in_turn(request, [side], "outlets", _outlets)
    names = await read(request, _names, side)
    return render(
        request,
        "trends/cards.html",
        choice=choice,
        side=side,
        words=_cloud(words.cloud[:_WORDS]) if words else None,
        names=names.names[:_ON_A_CARD],
        outlets=[one for one in outlets if one.articles][:_ON_A_CARD],
    )


def _other_sentence(choice: TrendChoice, other: _Counts | None) -> str:
    if other is None:
        return ""
    side = choice.sides[1]
    return _sentence(side.label, other, side, _steps(side, other, None)) if other.trend else ""


# --- Words ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a side; ``is_too_many``: more texts than are read while somebody waits.

    Attributes:
        texts, base_texts: in its days, and in those they are compared with.
        has_base: whether those are enough to compare with, rather than general Chinese.
    """

    texts: int
    base_texts: int
    is_too_many: bool = False
    has_base: bool = False
    hot: tuple[HotWord, ...] = ()
    fresh: tuple[FreshWord, ...] = ()
    cloud: tuple[CloudWord, ...] = ()


def _words(c: Connection, side: Side, most: int = _MOST_TEXTS) -> _Words:
    numbers = _text_numbers(c, side)
    if sum(numbers) > most:
        return _Words(*numbers, is_too_many=True)
    now, before = _word_counters(c, side)
    fresh = fresh_words(
        now, texts_on_topic(c, side.topic, usual_base(side.since, side.before), side.since)
    )
    return _Words(
        now.documents,
        before.documents,
        False,
        has_base(before),
        tuple(hot_words(now, before, count=_WORDS)),
        tuple(fresh[:_WORDS]),
        tuple(cloud_words(now, before)),
    )


def _words_of_few(c: Connection, side: Side) -> _Words | None:
    """The same where it takes no time; else None."""
    found = _words(c, side, _FEW_TEXTS)
    return None if found.is_too_many else found


def _text_numbers(c: Connection, side: Side) -> tuple[int, int]:
    since = usual_base(side.since, side.before)
    return (
        count_texts(c, side.topic, None, since=side.since, before=side.before),
        count_texts(c, side.topic, None, since=since, before=side.since),
    )


def _word_counters(c: Connection, side: Side) -> tuple[WordCounter, WordCounter]:
    now = count_words(c, side.topic, side.since, side.before)
    since = usual_base(side.since, side.before)
    return now, count_base(c, side.topic, now, since, side.since)


@dataclass(frozen=True, slots=True)
class _Sized:
    """A word of the cloud with its size, from 1 to ``_CLOUD_SIZES``."""

    word: CloudWord
    size: int


def _cloud(words: Sequence[CloudWord]) -> list[_Sized]:
    """The words in the order of their letters, as large as many texts have them."""
    most = max((word.documents for word in words), default=1)
    least = min((word.documents for word in words), default=0)
    step = max((most - least) / (_CLOUD_SIZES - 1), 0.25)
    sized = [_Sized(word, 1 + min(round((word.documents - least) / step), 4)) for word in words]
    return sorted(sized, key=lambda one: one.word.text)


WORD_TRENDS = {"new": N_("new"), "up": N_("rising"), "steady": "", "down": N_("falling")}
"""What is said of a word beside it."""


async def show_words(request: Request) -> Response:
    """Hot words, new words, and a cloud."""
    choice = await _choice(request)
    if choice is None:
        return await _without_topic(request)
    found = await _in_turn(request, choice.sides, "words", _words)
    return _shown(
        request,
        "words",
        choice,
        found=[
            (side, words, _cloud(words.cloud))
            for side, words in zip(choice.sides, found, strict=True)
        ],
        trends=WORD_TRENDS,
        most_texts=_MOST_TEXTS,
    )


# --- Persons, bodies, places ----------------------------------------------------------------------

KIND_TITLES = {
    "person": N_("Persons"),
    "organisation": N_("Bodies"),
    "place": N_("Places"),
}


def _names(c: Connection, side: Side) -> NamedOfTopic:
    return named_of_topic(c, side.topic, (side.since, side.before))


async def show_names(request: Request) -> Response:
    """Whom and what the articles name, and where that lies."""
    choice = await _choice(request)
    if choice is None:
        return await _without_topic(request)
    found = await _of_sides(request, choice, "names", _names)
    return _shown(
        request,
        "names",
        choice,
        found=[
            (side, _by_kind(names), _map(side, names))
            for side, names in zip(choice.sides, found, strict=True)
        ],
        kinds=KIND_TITLES,
        most=_NAMES,
    )


def _by_kind(names: NamedOfTopic) -> Mapping[str, list[Named]]:
    return {kind: [one for one in names.names if one.kind == kind] for kind in KIND_TITLES}


def _map(side: Side, names: NamedOfTopic) -> Markup:
    if not names.regions.countries:
        return Markup("")
    return picture_markup(place_map_svg(names.regions, side.title, language()))


# --- Outlets --------------------------------------------------------------------------------------


def _outlets(c: Connection, side: Side) -> list[OutletInfluence]:
    return outlet_influence(c, side.topic, side.since, side.before)


def _bars(outlets: Sequence[OutletInfluence]) -> dict[str, Any]:
    shown = outlets[:10]
    return {
        "kind": "bars",
        "labels": [one.name for one in shown],
        "lines": [
            {"name": _("brought out"), "values": [one.articles for one in shown]},
            {"name": _("taken over by others"), "values": [one.taken for one in shown]},
        ],
    }


async def show_outlets(request: Request) -> Response:
    """Who published, and from whom others took it."""
    choice = await _choice(request)
    if choice is None:
        return await _without_topic(request)
    found = await _in_turn(request, choice.sides, "outlets", _outlets)
    return _shown(
        request,
        "outlets",
        choice,
        found=[
            (side, outlets[:_OUTLETS], _bars(outlets), len(outlets))
            for side, outlets in zip(choice.sides, found, strict=True)
        ],
    )


# --- Spread ---------------------------------------------------------------------------------------


def _spreads(c: Connection, side: Side) -> list[EventSpread]:
    return event_spreads(c, side.topic, LastDays(side.before, side.days), _STORIES)


async def show_spread(request: Request) -> Response:
    """The events that most outlets took up, each with how far and how fast it went."""
    choice = await _choice(request)
    if choice is None:
        return await _without_topic(request)
    choice = replace(choice, against="")
    found = await _in_turn(request, choice.sides, "spread", _spreads)
    bars = {
        "kind": "bars",
        "labels": [one.story.title[:16] for one in found[0][:10]],
        "lines": [
            {"name": _("outlets"), "values": [len(one.story.outlets) for one in found[0][:10]]},
            {"name": _("reprints"), "values": [one.story.reprints for one in found[0][:10]]},
        ],
    }
    return _shown(request, "spread", choice, found=found[0], bars=bars)


# --- Groups of words ------------------------------------------------------------------------------


async def show_hits(request: Request) -> Response:
    """Which articles touch which group of words."""
    choice = await _choice(request)
    if choice is None:
        return await _without_topic(request)
    # Not kept: who changes a group looks at what that changes.
    hits = [await read_heavy(request, group_hits.hits_of, side) for side in choice.sides]
    found = list(zip(choice.sides, hits, strict=True))
    bars = group_hits.bars_of(found)
    return _shown(request, "hits", choice, found=found, bars=bars)


# --- The same as workbooks ------------------------------------------------------------------------


def _sheets_of_counts(c: Connection, side: Side) -> list[Sheet]:
    trend = _counts(c, side).trend
    return trend_sheets(trend) if trend else []


def _sheets_of_words(c: Connection, side: Side) -> list[Sheet]:
    found = _words(c, side)
    if found.is_too_many or not found.texts:
        return []
    now = count_words(c, side.topic, side.since, side.before)
    return [hot_sheet(found.hot, now), fresh_sheet(found.fresh, now), cloud_sheet(found.cloud)]


def _sheets_of_names(c: Connection, side: Side) -> list[Sheet]:
    return named_sheets(_names(c, side))


def _sheets_of_outlets(c: Connection, side: Side) -> list[Sheet]:
    return [outlet_sheet(_outlets(c, side))]


def _sheets_of_spread(c: Connection, side: Side) -> list[Sheet]:
    return [event_spread_sheet(_spreads(c, side))]


_PARTS: Mapping[str, Callable[[Connection, Side], list[Sheet]]] = {
    "show": _sheets_of_counts,
    "words": _sheets_of_words,
    "names": _sheets_of_names,
    "outlets": _sheets_of_outlets,
    "spread": _sheets_of_spread,
    "hits": group_hits.sheets_of_hits,
}
_LONGEST_SHEET_NAME = 31


async def export(request: Request) -> Response:
    """A page as a workbook; of what is compared, a sheet each."""
    part = request.path_params["part"]
    choice = await _choice(request)
    if part not in _PARTS or choice is None:
        raise HTTPException(404, _("There is no such page."))
    name = f"trends-{part}-{choice.side.first:%Y%m%d}-{choice.side.last:%Y%m%d}.xlsx"
    return await download(request, name, partial(_write, sides=choice.sides, make=_PARTS[part]))


def _write(
    c: Connection,
    file: Path,
    *,
    sides: Sequence[Side],
    make: Callable[[Connection, Side], list[Sheet]],
) -> None:
    sheets = list(_named_apart(c, sides, make))
    write_sheets(file, sheets or [EMPTY_SHEET])


def _named_apart(
    c: Connection, sides: Sequence[Side], make: Callable[[Connection, Side], list[Sheet]]
) -> Iterator[Sheet]:
    for number, side in enumerate(sides, 1):
        for sheet in make(c, side):
            name = f"{number} {sheet.name} {side.label}" if len(sides) > 1 else sheet.name
            yield replace(sheet, name=name[:_LONGEST_SHEET_NAME])


AREA = Area(
    N_("Trends"),
    "chart-line",
    (
        Page("/trends", "trends.show", show),
        Page("/trends/cards", "trends.cards", show_cards),
        Page("/trends/words", "trends.words", show_words),
        Page("/trends/names", "trends.names", show_names),
        Page("/trends/outlets", "trends.outlets", show_outlets),
        Page("/trends/spread", "trends.spread", show_spread),
        Page("/trends/hits", "trends.hits", show_hits),
        *group_hits.PAGES,
        Page("/trends/export/{part}", "trends.export", export),
    ),
)
