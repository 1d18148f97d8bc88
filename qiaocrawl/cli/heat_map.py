"""The coverage ledger for people: a heat map (keyword x site, an engine each, SVG), a few lines."""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from qiaocrawl.cli.output import join_with_commas
from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.search.answer import ADVICE, NOT_CHOSEN, advice_of, answer_name
from qiaocrawl.search.definition import EngineDefinition
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.search.coverage import MISSED, STATES, Cell, Sums, sums_by
from qiaocrawl.storage.search.ledger import NO_ANSWER
from qiaocrawl.text.visible import markup_text
from qiaocrawl.text.zones import DAY, china_time

# --- What was searched, got, missed, and why: the ledger in a few lines, Chinese and English ------

_REASONS_SHOWN = 5


def shown_site(site: str) -> str:
    """*site*, or what stands for all of them."""
    return site or _("whole web")


def summary_lines(
    cells: Sequence[Cell], engines: Mapping[str, EngineDefinition] | None = None
) -> Iterator[str]:
    """The summary of *cells*, a sentence a line; *engines* know what to do about their answers."""
    if not cells:
        yield _("Nothing of this is in the ledger.")
        return
    total = Sums()
    for cell in cells:
        total.add(cell)
    yield from _searched_lines(cells, total)
    yield (
        _(
            "What did we get: {with_hits} queries with hits, {hits} hits, {new_urls} new URLs "
            "(last answers); {articles} articles, {on_topic} on topic; {empty} queries truly "
            "empty.",
            with_hits=sum(total.states[state] for state in WITH_HITS),
            hits=total.hits,
            new_urls=total.new_urls,
            articles=total.articles,
            on_topic=total.on_topic,
            empty=total.states[AnswerState.EMPTY],
        )
    )
    yield from _missed_lines(cells, total)
    yield from _cut_off(cells)
    yield from _lost(cells)
    yield from _advice(cells, engines or {})
    if names := sorted({cell.engine for cell in cells if cell.state is AnswerState.ROBOTS}):
        yield _(
            "not chosen, so not missed: {names}; {why}.", names=", ".join(names), why=_(NOT_CHOSEN)
        )


def _searched_lines(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    # What nobody chose to ask is told of at the end.
    chosen = [cell for cell in cells if cell.state is not AnswerState.ROBOTS]
    if not chosen:
        yield _("What did we search: nothing.")
        return
    sent = sum(cell.tries > 0 for cell in chosen)
    terms, sites, engines = (
        len(set(names))
        for names in zip(*((cell.term, cell.site, cell.engine) for cell in chosen), strict=True)
    )
    yield (
        _(
            "What did we search: {terms} terms × {sites} sites × {engines} engines, "
            "{count} queries; {sent} asked ({share:.0%}), {tries} requests.",
            terms=terms,
            sites=sites,
            engines=engines,
            count=len(chosen),
            sent=sent,
            share=sent / len(chosen),
            tries=total.tries,
        )
    )


def _missed_lines(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    states = (*MISSED, AnswerState.PARTIAL)
    counts = [
        f"{total.states[state]} {answer_name(state)}" for state in states if total.states[state]
    ]
    rest = sum(cell.open + cell.failed for cell in cells)
    if rest:
        counts.append(_("{rest} further pages and periods", rest=rest))
    listed = join_with_commas(counts) or _("nothing")
    yield _("What did we miss: {listed}.", listed=listed)
    for engine, sums in sums_by(cells, lambda cell: cell.engine).items():
        told_of = (*sorted(NO_ANSWER), AnswerState.PARTIAL)
        for state in sorted(told_of, key=lambda state: -sums.states[state]):
            if sums.states[state]:
                some = [cell for cell in cells if cell.engine == engine and cell.state is state]
                yield _(
                    "  why: {engine} {state} ×{count}: {reasons}",
                    engine=engine,
                    state=answer_name(state),
                    count=sums.states[state],
                    reasons=_reasons(some),
                )


def _reasons(cells: Sequence[Cell]) -> str:
    # Never cut: what to do about it stands at the end. Engines behind one are counted each.
    parts = (part for cell in cells for part in cell.message.split("; "))
    counts = Counter(part for part in parts if part)
    reasons = [f"{shown_reason(reason)} (×{n})" for reason, n in counts.most_common(_REASONS_SHOWN)]
    return "; ".join(reasons) or _("nothing said")


def _cut_off(cells: Sequence[Cell]) -> Iterator[str]:
    some = [cell for cell in cells if cell.cut_off]
    if some:
        yield (
            _(
                "cut off: {count} queries whose last page was full and none after it asked: there "
                "may be more (QIAO_SEARCH_MAX_PAGES).",
                count=len(some),
            )
        )


def _lost(cells: Sequence[Cell]) -> Iterator[str]:
    lost = [cell for cell in cells if cell.lost is not None]
    if lost:
        worst = max(lost, key=lambda cell: cell.lost.hits if cell.lost else 0)
        assert worst.lost is not None
        yield (
            _(
                "had hits, none since: {count} queries; such as {term} @ {site} ({engine}): {hits} "
                "hits on {asked_at}, {state}.",
                count=len(lost),
                term=worst.term,
                site=shown_site(worst.site),
                engine=worst.engine,
                hits=worst.lost.hits,
                asked_at=china_time(worst.lost.asked_at, DAY),
                state=answer_name(worst.state),
            )
        )


def _advice(cells: Sequence[Cell], engines: Mapping[str, EngineDefinition]) -> Iterator[str]:
    for state in ADVICE:
        by_advice: dict[str, list[str]] = {}
        for name in dict.fromkeys(cell.engine for cell in cells if cell.state is state):
            by_advice.setdefault(advice_of(state, engines.get(name)), []).append(name)
        for advice, names in by_advice.items():
            where = ", ".join(names)
            yield (
                _(
                    "What to do ({state}, {where}): {advice}.",
                    state=answer_name(state),
                    where=where,
                    advice=advice.replace("{engine}", names[0]),
                )
            )


def missed_first(cells: Sequence[Cell], limit: int) -> list[Cell]:
    """The *limit* missed cells worth a look: lost hits, then refusals, then what waits."""
    missed = [cell for cell in cells if cell.state in MISSED]
    order = {state: place for place, state in enumerate(MISSED)}
    missed.sort(key=lambda cell: (-(cell.lost.hits if cell.lost else 0), order[cell.state]))
    return missed[:limit]


MOST_TERMS = 60
MOST_SITES = 40
"""Rows and columns of one engine that stay readable; the rest is one row or column."""

_CELL = 22
_LABEL = 150
_TOP = 120
_GAP = 34
_SLANT = 90
# Of a label, in narrow characters; a Chinese one is as wide as two.
_LABEL_WIDTH = 24
_FONT = "Noto Sans CJK SC, Microsoft YaHei, PingFang SC, sans-serif"

_COLOURS = {
    AnswerState.EMPTY: "#d9d9d9",
    AnswerState.BLOCKED: "#d7301f",
    AnswerState.DECOY: "#fc8d59",
    AnswerState.LAYOUT_CHANGED: "#9e4bb5",
    AnswerState.ERROR: "#8c6d31",
    AnswerState.UNKNOWN: "#bdb08a",
    AnswerState.ROBOTS: "#7a8ca3",
    AnswerState.NOT_ASKED: "#ffffff",
}
_SIGNS = {
    AnswerState.EMPTY: "0",
    AnswerState.BLOCKED: N_("B"),
    AnswerState.DECOY: N_("D"),
    AnswerState.LAYOUT_CHANGED: N_("L"),
    AnswerState.ERROR: N_("E"),
    AnswerState.UNKNOWN: N_("?"),
    AnswerState.ROBOTS: N_("R"),
    AnswerState.NOT_ASKED: "·",
}
_DARK = {AnswerState.BLOCKED, AnswerState.LAYOUT_CHANGED, AnswerState.ERROR, AnswerState.ROBOTS}
# Light to dark green, for 1, 10 and 100 hits.
_GREENS = ("#c7e9c0", "#74c476", "#238b45")

_Grid = Mapping[tuple[str, str], Sequence[Cell]]


def heat_map(cells: Iterable[Cell], title: str) -> str:
    """An SVG document of *cells*: a block an engine, a row a term, a column a site.

    A cell shows the number of hits, or the sign of its state; what it is in full stands in its
    title. Engines nobody chose to ask are named in one line. Rows beyond :data:`MOST_TERMS`
    and columns beyond :data:`MOST_SITES` (the last of the plan) are joined to one each, which
    says how many they are.
    """
    by_engine: dict[str, list[Cell]] = {}
    for cell in cells:
        by_engine.setdefault(cell.engine, []).append(cell)
    parts, y, width = list(_legend(title)), 70, 1000
    unasked = [
        engine
        for engine, some in by_engine.items()
        if all(cell.state is AnswerState.ROBOTS for cell in some)
    ]
    if unasked:
        legend = f"{answer_name(AnswerState.ROBOTS)}: {', '.join(unasked)}"
        parts.append(f'<text x="10" y="{y}" font-size="12">{markup_text(legend)}</text>')
        y += 20
    for engine, some in by_engine.items():
        if engine in unasked:
            continue
        block = list(_block(engine, some))
        columns, rows = _size(some)
        parts += [f'<g transform="translate(0,{y})">', *block, "</g>"]
        y += _TOP + rows * _CELL + _GAP
        width = max(width, _LABEL + columns * _CELL + _SLANT)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}"'
        f' viewBox="0 0 {width} {y}" font-family="{_FONT}" font-size="11">'
        f'<rect width="{width}" height="{y}" fill="#fff"/>'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *parts, "</svg>", ""])


def _legend(title: str) -> Iterator[str]:
    yield f'<text x="10" y="22" font-size="16">{markup_text(title)}</text>'
    x = 10
    for state in STATES:
        name = answer_name(state)
        colour = _GREENS[state is AnswerState.HIT] if state in WITH_HITS else _COLOURS[state]
        yield f'<rect x="{x}" y="36" width="14" height="14" fill="{colour}" stroke="#999"/>'
        yield f'<text x="{x + 18}" y="48">{markup_text(name)}</text>'
        x += 34 + sum(11 if ord(char) > 0x2E80 else 7 for char in name)


def _size(cells: Sequence[Cell]) -> tuple[int, int]:
    sites = len({cell.site for cell in cells})
    terms = len({cell.term for cell in cells})
    return min(sites, MOST_SITES + 1), min(terms, MOST_TERMS + 1)


def _block(engine: str, cells: Sequence[Cell]) -> Iterator[str]:
    terms = _names(cells, lambda cell: cell.term, MOST_TERMS, _("{} more terms"))
    sites = _names(cells, lambda cell: cell.site, MOST_SITES, _("{} more sites"))
    grid: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        grid.setdefault((terms[cell.term], sites[cell.site]), []).append(cell)
    rows, columns = list(dict.fromkeys(terms.values())), list(dict.fromkeys(sites.values()))
    yield f'<text x="10" y="14" font-size="14" font-weight="bold">{markup_text(engine)}</text>'
    for place, site in enumerate(columns):
        x = _LABEL + place * _CELL + 14
        label = _short(site or _("whole web"))
        yield f'<text transform="translate({x},{_TOP - 6}) rotate(-60)">{label}</text>'
    for place, term in enumerate(rows):
        y = _TOP + place * _CELL
        yield f'<text x="{_LABEL - 6}" y="{y + 15}" text-anchor="end">{_short(term)}</text>'
        yield from _row(grid, term, columns, y)


def _names(
    cells: Sequence[Cell], name: Callable[[Cell], str], limit: int, others: str
) -> dict[str, str]:
    """The label of the row or column of each name, in the order of the plan."""
    names = list(dict.fromkeys(name(cell) for cell in cells))
    joined = others.format(len(names) - limit)
    return {label: label if place < limit else joined for place, label in enumerate(names)}


def _row(grid: _Grid, term: str, columns: Sequence[str], y: int) -> Iterator[str]:
    for place, site in enumerate(columns):
        some = grid.get((term, site))
        if some:
            yield _square(some, _LABEL + place * _CELL, y)


def _square(cells: Sequence[Cell], x: int, y: int) -> str:
    state = Counter(cell.state for cell in cells).most_common(1)[0][0]
    hits = sum(cell.hits for cell in cells)
    if hits and len(cells) > 1:
        is_whole = all(cell.state is not AnswerState.PARTIAL for cell in cells)
        state = AnswerState.HIT if is_whole else AnswerState.PARTIAL
    colour = _green(hits) if state in WITH_HITS else _COLOURS[state]
    sign = _number(hits) if state in WITH_HITS else _(_SIGNS[state])
    border = "#d7301f" if state is AnswerState.PARTIAL else "#bbb"
    ink = "#fff" if state in _DARK or colour == _GREENS[-1] else "#222"
    return (
        f'<g><title>{markup_text(_summary(cells, state, hits))}</title><rect x="{x}" y="{y}"'
        f' width="{_CELL - 1}" height="{_CELL - 1}" fill="{colour}" stroke="{border}"/>'
        f'<text x="{x + _CELL / 2 - 0.5}" y="{y + 15}" text-anchor="middle" font-size="10"'
        f' fill="{ink}">{sign}</text></g>'
    )


def _summary(cells: Sequence[Cell], state: AnswerState, hits: int) -> str:
    if len(cells) > 1:
        counts = Counter(answer_name(cell.state) for cell in cells)
        summary = ", ".join(f"{name} {n}" for name, n in counts.most_common())
        return _(
            "{count} queries: {summary}; {hits} hits", count=len(cells), summary=summary, hits=hits
        )
    (cell,) = cells
    when = china_time(cell.asked_at)
    where = f"{cell.term} @ {shown_site(cell.site)}"
    summary = _("{state}, {hits} hits", state=answer_name(state), hits=hits)
    return f"{where}: {summary}, {cell.tries}× {when} {shown_reason(cell.message)}".strip()


def _green(hits: int) -> str:
    return _GREENS[min(int(math.log10(max(hits, 1))), len(_GREENS) - 1)]


def _number(hits: int) -> str:
    return str(hits) if hits < 1000 else f"{min(hits // 1000, 99)}k"


def _short(text: str) -> str:
    widths = list(accumulate(2 if ord(char) > 0x2E80 else 1 for char in text))
    if not widths or widths[-1] <= _LABEL_WIDTH:
        return markup_text(text)
    return markup_text(text[: bisect(widths, _LABEL_WIDTH - 2)] + "…")
