"""``qiaocrawl lexicon yield``: what each term brings, and which terms would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.lexicon.corpus import TopicName
from qiaocrawl.cli.lexicon.sheet import Sheet
from qiaocrawl.cli.lexicon.sheets import check_ending, write_sheets
from qiaocrawl.cli.output import check_output, say_written, table_console
from qiaocrawl.errors import StorageError
from qiaocrawl.lexicon.yields import CoverStep, TermYield, cover, found_only_by
from qiaocrawl.storage.search.term_yields import term_yields

_COLUMNS = ("词", "检索次数", "命中网址", "入库文章", "切题", "切题率", "仅此词找到")
_SHOWN = 30
_BAR = 24


def yield_(
    topic: TopicName,
    share: Annotated[
        float,
        typer.Option("--cover", help="Share that the fewest terms are to find.", min=0.01, max=1),
    ] = 0.95,
    out: Annotated[
        Path | None, typer.Option("--out", help="All terms as workbook (.xlsx) or CSV. 存为")
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Show what each term found, alone and with others, and which would do. 词的产出"""
    if out is not None:
        check_ending(out)
        check_output(out, "--out")
    with connection_to(database) as c:
        yields = term_yields(c, topic)
    if not yields:
        raise StorageError(
            f"topic {topic!r}: nothing was asked yet 尚未检索: scrapy crawl search -a topic={topic}"
        )
    only = found_only_by(yields)
    ranked = sorted(yields, key=lambda own: (-only[own.term], -len(own.on_topic), own.term))
    console = table_console()
    _print_terms(console, ranked, only)
    steps = cover(yields)
    _print_cover(console, steps, cover(yields, share), share)
    _print_useless(console, yields)
    if out is not None:
        rows = [_row(own, only[own.term]) for own in ranked]
        curve = [(step.term, step.gained, round(step.share, 4), step.requests) for step in steps]
        columns = ("词", "新增切题", "累计占比", "累计检索")
        write_sheets(out, [Sheet("词的产出", _COLUMNS, rows), Sheet("覆盖曲线", columns, curve)])
        say_written(out, f"{len(rows):,} 词 terms")


def _row(own: TermYield, only: int) -> tuple[str | int | float | None, ...]:
    if own.hits is None:
        return (own.term, own.requests, *(None,) * 5)
    counts = own.requests, own.hits, len(own.articles), len(own.on_topic)
    return (own.term, *counts, round(own.share_on_topic, 3), only)


def _print_terms(console: Console, ranked: Sequence[TermYield], only: dict[str, int]) -> None:
    table = Table(title="词的产出 yield of terms", title_justify="left")
    table.add_column(_COLUMNS[0], overflow="fold")
    for name in _COLUMNS[1:]:
        table.add_column(name, justify="right")
    for own in ranked[:_SHOWN]:
        term, *numbers = _row(own, only[own.term])
        shown = ["?" if number is None else f"{number:,}" for number in numbers]
        if own.hits is not None:
            shown[-2] = f"{own.share_on_topic:.0%}"
        table.add_row(Text(str(term)), *shown)
    console.print(table)


def _print_cover(
    console: Console, steps: Sequence[CoverStep], enough: Sequence[CoverStep], share: float
) -> None:
    """The curve: how much is found by one term, two, three …"""
    if not steps:
        return
    requests = f"{enough[-1].requests:,}/{steps[-1].requests:,}"
    console.print(
        f"{len(enough)} 个词（检索 {requests} 次）已能找到全部切题文章的 {share:.0%} "
        f"— the fewest terms for {share:.0%} of what all find",
        markup=False,
    )
    for number, step in enumerate(enough[:_SHOWN], 1):
        bar = "█" * round(step.share * _BAR)
        line = f"{number:3} {bar:<{_BAR}} {step.share:4.0%} +{step.gained:<4} {step.term}"
        console.print(line, markup=False)


def _print_useless(console: Console, yields: Sequence[TermYield]) -> None:
    """Terms that were asked and found nothing on topic: what their removal would cost."""
    unknown = [own.term for own in yields if own.hits is None]
    if unknown:
        console.print(
            f"{len(unknown)} 个词在命中留存之前检索，再检索一次才知产出 (?) asked before hits"
            " were kept; the next search tells",
            markup=False,
        )
    useless = [own for own in yields if own.hits is not None and not own.on_topic]
    if useless:
        requests = sum(own.requests for own in useless)
        names = "、".join(own.term for own in useless[:_SHOWN])
        more = f" 等 {len(useless)} 个" if len(useless) > _SHOWN else ""
        console.print(
            f"没有切题产出的词 terms without yield（共 {requests:,} 次检索，去掉不损失文章）："
            f"{names}{more}",
            markup=False,
        )
