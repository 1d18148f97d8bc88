"""What was searched, got, missed, and why: the ledger in a few lines, Chinese and English."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from qiaocrawl.cli.coverage.cells import MISSED, STATES, Cell, Sums, sums_by
from qiaocrawl.cli.output import shown_moment
from qiaocrawl.search import EngineDefinition
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.search.ledger import NO_ANSWER

_REASONS_SHOWN = 5

WHOLE_WEB = "全网 whole web"

_ADVICE = {
    AnswerState.BLOCKED: "少问、慢问（QIAO_SEARCH_DAILY_BUDGET），或改用自建 SearXNG、带密钥的接口 "
    "ask less (QIAO_SEARCH_DAILY_BUDGET), or ask through your own SearXNG or a keyed interface",
    AnswerState.DECOY: "引擎在敷衍，过些时候再问，或换引擎 "
    "the engine fobs us off: later again, or another engine",
    AnswerState.LAYOUT_CHANGED: "用 `qiaocrawl engines check {engine}` 查版式，改其定义文件 "
    "look with `qiaocrawl engines check {engine}` and mend its definition",
    AnswerState.ERROR: "查地址与网络（{engine} 是否在运行） "
    "look at address and network (does {engine} run?)",
    AnswerState.UNKNOWN: "多半确无结果，到时再问 mostly there is nothing; it is asked again",
    AnswerState.PARTIAL: "缺的不久再问 what is missing is asked for again soon",
    AnswerState.NOT_ASKED: "再运行 `scrapy crawl search`，或放宽每日预算 "
    "run `scrapy crawl search` again, or raise the day's budget",
}
_NOT_CHOSEN = (
    "公开引擎的结果页不许爬虫：读其条款后自行决定是否列入 QIAO_ENGINES "
    "result pages of public engines forbid robots: read their terms, then choose (QIAO_ENGINES)"
)
_SERVICE_BLOCKED = (
    "少问（QIAO_SEARCH_DAILY_BUDGET），查其密钥、额度与设置 "
    "ask less (QIAO_SEARCH_DAILY_BUDGET), look at its key, quota and settings"
)


def summary_lines(
    cells: Sequence[Cell], engines: Mapping[str, EngineDefinition] | None = None
) -> Iterator[str]:
    """The summary of *cells*, a sentence a line; *engines* know what to do about their answers."""
    if not cells:
        yield "账上无此问。 Nothing of this is in the ledger."
        return
    total = Sums()
    for cell in cells:
        total.add(cell)
    yield from _searched(cells, total)
    yield (
        f"得了什么 What did we get: {sum(total.states[state] for state in WITH_HITS)} 问有结果 "
        f"questions with hits, "
        f"{total.hits} 条命中 hits, 新网址 {total.new_urls} new URLs (最近一答 last answers); "
        f"已成文章 {total.articles} articles, 切题 {total.on_topic} on topic; "
        f"{total.states[AnswerState.EMPTY]} 问确无结果 truly empty."
    )
    yield from _missed(cells, total)
    yield from _cut_off(cells)
    yield from _lost(cells)
    yield from _advice(cells, engines or {})
    if names := sorted({cell.engine for cell in cells if cell.state is AnswerState.ROBOTS}):
        yield f"未选用的引擎，不算漏 not chosen, so not missed: {', '.join(names)}; {_NOT_CHOSEN}."


def _searched(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    # What nobody chose to ask is told of at the end.
    chosen = [cell for cell in cells if cell.state is not AnswerState.ROBOTS]
    if not chosen:
        yield "查了什么 What did we search: 一无所问 nothing."
        return
    sent = sum(cell.tries > 0 for cell in chosen)
    terms, sites, engines = (len(set(names)) for names in zip(
        *((cell.term, cell.site, cell.engine) for cell in chosen), strict=True
    ))  # fmt: skip
    yield (
        f"查了什么 What did we search: {terms} 词 terms × {sites} 站 sites × {engines} 引擎 "
        f"engines, {len(chosen)} 问 questions; 问过 {sent} asked ({sent / len(chosen):.0%}), "
        f"{total.tries} 次请求 requests."
    )


def _missed(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    states = (*MISSED, AnswerState.PARTIAL)
    counts = [f"{total.states[state]} {STATES[state]}" for state in states if total.states[state]]
    rest = sum(cell.open + cell.failed for cell in cells)
    if rest:
        counts.append(f"{rest} 后续页与时段 further pages and periods")
    listed = "、".join(counts) or "无 nothing"
    yield f"漏了什么 What did we miss: {listed}."
    for engine, sums in sums_by(cells, lambda cell: cell.engine).items():
        told_of = (*sorted(NO_ANSWER), AnswerState.PARTIAL)
        for state in sorted(told_of, key=lambda state: -sums.states[state]):
            if sums.states[state]:
                yield f"  为何 why: {engine} {STATES[state]} ×{sums.states[state]}: " + _reasons(
                    [cell for cell in cells if cell.engine == engine and cell.state is state]
                )


def _reasons(cells: Sequence[Cell]) -> str:
    # Never cut: what to do about it stands at the end. Engines behind one are counted each.
    parts = (part for cell in cells for part in cell.message.split("; "))
    counts = Counter(part for part in parts if part)
    reasons = [f"{reason} (×{n})" for reason, n in counts.most_common(_REASONS_SHOWN)]
    return "; ".join(reasons) or "没说 nothing said"


def _cut_off(cells: Sequence[Cell]) -> Iterator[str]:
    some = [cell for cell in cells if cell.cut_off]
    if some:
        yield (
            f"截断 cut off: {len(some)} 问末页仍满而未再翻，所见或非全部 questions whose last page "
            "was full and none after it asked: there may be more (QIAO_SEARCH_MAX_PAGES)."
        )


def _lost(cells: Sequence[Cell]) -> Iterator[str]:
    lost = [cell for cell in cells if cell.lost is not None]
    if lost:
        worst = max(lost, key=lambda cell: cell.lost.hits if cell.lost else 0)
        assert worst.lost is not None
        yield (
            f"从前有、如今断 had hits, none since: {len(lost)} 问 questions; 如 such as "
            f"{worst.term} @ {worst.site or WHOLE_WEB} ({worst.engine}): {worst.lost.hits} hits on "
            f"{shown_moment(worst.lost.asked_at, '%Y-%m-%d')}, {STATES[worst.state]}."
        )


def _advice(cells: Sequence[Cell], engines: Mapping[str, EngineDefinition]) -> Iterator[str]:
    for state in _ADVICE:
        by_advice: dict[str, list[str]] = {}
        for name in dict.fromkeys(cell.engine for cell in cells if cell.state is state):
            by_advice.setdefault(_advice_of(state, engines.get(name)), []).append(name)
        for advice, names in by_advice.items():
            where = ", ".join(names)
            yield (
                f"怎么办 What to do ({STATES[state]}, {where}): "
                f"{advice.replace('{engine}', names[0])}."
            )


def _advice_of(state: AnswerState, engine: EngineDefinition | None) -> str:
    """What fits the engine: its own definition's word first."""
    if engine is not None:
        if own := engine.advice.get(state):
            return own
        if state is AnswerState.BLOCKED and engine.kind == "service":
            return _SERVICE_BLOCKED
    return _ADVICE[state]


def missed_first(cells: Sequence[Cell], limit: int) -> list[Cell]:
    """The *limit* missed cells worth a look: lost hits, then refusals, then what waits."""
    missed = [cell for cell in cells if cell.state in MISSED]
    order = {state: place for place, state in enumerate(MISSED)}
    missed.sort(key=lambda cell: (-(cell.lost.hits if cell.lost else 0), order[cell.state]))
    return missed[:limit]
