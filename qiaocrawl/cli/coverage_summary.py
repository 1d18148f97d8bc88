"""What was searched, got, missed, and why: the ledger in a few lines, Chinese and English."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from qiaocrawl.cli.coverage_cells import MISSED, STATES, Cell, Sums, sums_by
from qiaocrawl.cli.output import shown_moment
from qiaocrawl.items import AnswerState
from qiaocrawl.storage.ledger import NO_ANSWER

_REASONS_SHOWN = 2
_REASON_CHARS = 60

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
    AnswerState.ROBOTS: "公开引擎的结果页不许爬虫：读其条款后自行决定是否列入 QIAO_ENGINES "
    "result pages of public engines forbid robots: read their terms, then choose (QIAO_ENGINES)",
    AnswerState.NOT_ASKED: "再运行 `scrapy crawl search`，或放宽每日预算 "
    "run `scrapy crawl search` again, or raise the day's budget",
}


def summary_lines(cells: Sequence[Cell]) -> Iterator[str]:
    """The summary of *cells*, a sentence a line."""
    if not cells:
        yield "账上无此问。 Nothing of this is in the ledger."
        return
    total = Sums()
    for cell in cells:
        total.add(cell)
    yield from _searched(cells, total)
    yield (
        f"得了什么 What did we get: {total.states[AnswerState.HIT]} 问有结果 questions with hits, "
        f"{total.hits} 条命中 hits, 新网址 {total.new_urls} new URLs (最近一答 last answers); "
        f"已成文章 {total.articles} articles, 切题 {total.on_topic} on topic; "
        f"{total.states[AnswerState.EMPTY]} 问确无结果 truly empty."
    )
    yield from _missed(cells, total)
    yield from _lost(cells)
    yield from _advice(cells)


def _searched(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    # What nobody chose to ask is told of among what was missed.
    chosen = [cell for cell in cells if cell.state is not AnswerState.ROBOTS]
    if not chosen:
        yield "查了什么 What did we search: 一无所问 nothing."
        return
    asked = sum(cell.tries > 0 for cell in chosen)
    terms, sites, engines = (len(set(names)) for names in zip(
        *((cell.term, cell.site, cell.engine) for cell in chosen), strict=True
    ))  # fmt: skip
    yield (
        f"查了什么 What did we search: {terms} 词 terms × {sites} 站 sites × {engines} 引擎 "
        f"engines, {len(chosen)} 问 questions; 问过 {asked} asked ({asked / len(chosen):.0%}), "
        f"{total.tries} 次请求 requests."
    )


def _missed(cells: Sequence[Cell], total: Sums) -> Iterator[str]:
    counts = [f"{total.states[state]} {STATES[state]}" for state in MISSED if total.states[state]]
    rest = sum(cell.open + cell.failed for cell in cells)
    if rest:
        counts.append(f"{rest} 后续页与时段 further pages and periods")
    told = "、".join(counts) or "无 nothing"
    yield f"漏了什么 What did we miss: {told}."
    for engine, sums in sums_by(cells, lambda cell: cell.engine).items():
        for state in sorted(NO_ANSWER, key=lambda state: -sums.states[state]):
            if sums.states[state]:
                yield f"  为何 why: {engine} {STATES[state]} ×{sums.states[state]}: " + _reasons(
                    [cell for cell in cells if cell.engine == engine and cell.state is state]
                )


def _reasons(cells: Sequence[Cell]) -> str:
    found = Counter(cell.message[:_REASON_CHARS] for cell in cells if cell.message)
    told = [f"{reason} (×{n})" for reason, n in found.most_common(_REASONS_SHOWN)]
    return "; ".join(told) or "没说 nothing said"


def _lost(cells: Sequence[Cell]) -> Iterator[str]:
    lost = [cell for cell in cells if cell.lost is not None]
    if lost:
        one = max(lost, key=lambda cell: cell.lost.hits if cell.lost else 0)
        assert one.lost is not None
        yield (
            f"从前有、如今断 had hits, none since: {len(lost)} 问 questions; 如 such as "
            f"{one.term} @ {one.site or WHOLE_WEB} ({one.engine}): {one.lost.hits} hits on "
            f"{shown_moment(one.lost.asked_at, '%Y-%m-%d')}, {STATES[one.state]}."
        )


def _advice(cells: Sequence[Cell]) -> Iterator[str]:
    for state, advice in _ADVICE.items():
        engines = list(dict.fromkeys(cell.engine for cell in cells if cell.state is state))
        if engines:
            where = ", ".join(engines)
            told = advice.format(engine=engines[0])
            yield f"怎么办 What to do ({STATES[state]}, {where}): {told}."


def missed_first(cells: Sequence[Cell], most: int) -> list[Cell]:
    """The *most* missed cells worth a look: lost hits, then refusals, then what waits."""
    missed = [cell for cell in cells if cell.state in MISSED and cell.state != AnswerState.ROBOTS]
    order = {state: place for place, state in enumerate(MISSED)}
    missed.sort(key=lambda cell: (-(cell.lost.hits if cell.lost else 0), order[cell.state]))
    return missed[:most]
