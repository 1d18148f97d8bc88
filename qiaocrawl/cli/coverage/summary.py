"""What was searched, got, missed, and why: the ledger in a few lines, Chinese and English."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from qiaocrawl.cli.output import joined, shown_moment
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.search.answer import ADVICE, NOT_CHOSEN, advice_of, answer_name
from qiaocrawl.search.definition import EngineDefinition
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.search.coverage import MISSED, Cell, Sums, sums_by
from qiaocrawl.storage.search.ledger import NO_ANSWER

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
    yield from _searched(cells, total)
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
    yield from _missed(cells, total)
    yield from _cut_off(cells)
    yield from _lost(cells)
    yield from _advice(cells, engines or {})
    if names := sorted({cell.engine for cell in cells if cell.state is AnswerState.ROBOTS}):
        yield _(
            "not chosen, so not missed: {names}; {why}.", names=", ".join(names), why=_(NOT_CHOSEN)
        )


def _searched(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    # What nobody chose to ask is told of at the end.
    chosen = [cell for cell in cells if cell.state is not AnswerState.ROBOTS]
    if not chosen:
        yield _("What did we search: nothing.")
        return
    sent = sum(cell.tries > 0 for cell in chosen)
    terms, sites, engines = (len(set(names)) for names in zip(
        *((cell.term, cell.site, cell.engine) for cell in chosen), strict=True
    ))  # fmt: skip
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


def _missed(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    states = (*MISSED, AnswerState.PARTIAL)
    counts = [
        f"{total.states[state]} {answer_name(state)}" for state in states if total.states[state]
    ]
    rest = sum(cell.open + cell.failed for cell in cells)
    if rest:
        counts.append(_("{rest} further pages and periods", rest=rest))
    listed = joined(counts) or _("nothing")
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
                asked_at=shown_moment(worst.lost.asked_at, "%Y-%m-%d"),
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
