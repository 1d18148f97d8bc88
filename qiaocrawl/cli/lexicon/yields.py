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
from qiaocrawl.cli.lexicon.tables import yield_sheet
from qiaocrawl.cli.output import check_output, joined, say_written, table_console
from qiaocrawl.errors import StorageError
from qiaocrawl.export.readable import Sheet, check_ending, write_sheets
from qiaocrawl.language import N_, _
from qiaocrawl.lexicon.decisions import CoverStep, TermYield, cover, found_only_by
from qiaocrawl.options.project import advised
from qiaocrawl.storage.search.yields import term_yields

_COLUMNS = (
    N_("term"), N_("requests"), N_("URLs hit"), N_("articles stored"), N_("on topic"),
    N_("share on topic"), N_("found by it alone"),
)  # fmt: skip
_CURVE_COLUMNS = (N_("term"), N_("more on topic"), N_("share in all"), N_("requests in all"))
_SHOWN = 30
_BAR = 24


def yield_(
    topic: TopicName,
    share: Annotated[
        float,
        typer.Option("--cover", help="Share that the fewest terms are to find.", min=0.01, max=1),
    ] = 0.95,
    out: Annotated[
        Path | None, typer.Option("--out", help="All terms as workbook (.xlsx) or CSV.")
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Show what each term found, alone and with others, and which would do."""
    if out is not None:
        check_ending(out)
        check_output(out, "--out")
    with connection_to(database) as c:
        yields = term_yields(c, topic)
    if not yields:
        raise StorageError(
            _(
                "topic {topic!r}: nothing was asked yet: {command}",
                topic=topic,
                command=advised(f"qiaocrawl crawl search -a topic={topic}"),
            )
        )
    only = found_only_by(yields)
    ranked = sorted(yields, key=lambda own: (-only[own.term], -len(own.on_topic), own.term))
    console = table_console()
    _print_terms(console, ranked, only)
    steps, enough = cover(yields), cover(yields, share)
    _print_cover(console, enough, share, requests=sum(own.requests for own in yields))
    _print_useless(console, yields)
    _print_next(console, topic, len(frozenset[bytes]().union(*(own.waiting for own in yields))))
    if out is not None:
        rows = [_row(own, only[own.term]) for own in ranked]
        useless = {own.term for own in yields if own.is_useless}
        needed = {step.term for step in enough}
        spare = {own.term for own in yields if own.on_topic} - needed
        curve = [(step.term, step.gained, round(step.share, 4), step.requests) for step in steps]
        curve_sheet = Sheet(_("coverage curve"), tuple(map(_, _CURVE_COLUMNS)), curve)
        write_sheets(out, [yield_sheet(rows, useless, spare), curve_sheet])
        say_written(out, _("{count:,} terms", count=len(rows)))


def _row(own: TermYield, only: int) -> tuple[str | int | float | None, ...]:
    if own.hits is None:
        return (own.term, own.requests, *(None,) * 5)
    counts = own.requests, own.hits, len(own.articles), len(own.on_topic)
    return (own.term, *counts, round(own.share_on_topic, 3), only)


def _print_terms(console: Console, ranked: Sequence[TermYield], only: dict[str, int]) -> None:
    table = Table(title=_("yield of terms"), title_justify="left")
    table.add_column(_(_COLUMNS[0]), overflow="fold")
    for name in _COLUMNS[1:]:
        table.add_column(_(name), justify="right")
    for own in ranked[:_SHOWN]:
        term, *numbers = _row(own, only[own.term])
        shown = ["?" if number is None else f"{number:,}" for number in numbers]
        if own.hits is not None:
            shown[-2] = f"{own.share_on_topic:.0%}"
        table.add_row(Text(str(term)), *shown)
    console.print(table)


def _print_cover(
    console: Console, enough: Sequence[CoverStep], share: float, *, requests: int
) -> None:
    """The curve: how much is found by one term, two, three …, of the *requests* of all."""
    if not enough:
        return
    of_all = f"{enough[-1].requests:,}/{requests:,}"
    console.print(
        _(
            "{count} terms ({requests} requests) find {share:.0%} of all articles on topic",
            count=len(enough),
            requests=of_all,
            share=share,
        ),
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
            _(
                "{count} terms were asked before hits were kept (?); the next search tells what "
                "they find",
                count=len(unknown),
            ),
            markup=False,
        )
    useless = [own for own in yields if own.is_useless]
    if useless:
        requests = sum(own.requests for own in useless)
        names = joined(own.term for own in useless[:_SHOWN])
        more = _(" and others, {count} in all", count=len(useless)) if len(useless) > _SHOWN else ""
        console.print(
            _(
                "terms that found nothing on topic ({requests:,} requests; to leave them out costs "
                "no article): {names}{more}",
                requests=requests,
                names=names,
                more=more,
            ),
            markup=False,
        )


def _print_next(console: Console, topic: str, waiting: int) -> None:
    """What is to be done next: fetch what was found, then look for new words in it."""
    if waiting:
        fetch = advised(f"qiaocrawl crawl pages -a topic={topic}")
        console.print(
            _("hits that wait to be fetched: {count:,}: {command}", count=waiting, command=fetch),
            markup=False,
        )
    review = advised(f"qiaocrawl lexicon review --topic {topic} --since 7d")
    console.print(_("new words of this week's articles: {command}", command=review), markup=False)
