"""``qiaocrawl missed TOPIC``: pages that were found but not got, why, and what to do."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import (
    check_output,
    folding_table,
    say_written,
    shown_moment,
    table_console,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome
from qiaocrawl.storage.reports.outcome_names import ADVICE, OUTCOME_NAMES, short_name

if TYPE_CHECKING:
    from qiaocrawl.storage.reports.missed import MissedPage, SiteMisses

_SITES_SHOWN = 30
_HOST_COLUMNS = 32
_INDENT = 6
_HEADER = ("站点", "网址", "类别", "缘由", "HTTP", "链接文字", "时间", "怎么办")


def missed(
    topic: Annotated[str, typer.Argument(help="The topic.")],
    site: Annotated[
        list[str] | None, typer.Option(help="Only this host and what is below it. 站点")
    ] = None,
    why: Annotated[
        list[str] | None, typer.Option(help="Only needs_rendering, login, robots … 类别")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Pages shown. 行数")] = 10,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write all pages.")] = None,
    database: DatabaseUrl = "",
) -> None:
    """List pages of sites that were found but not got: which, why, and what to do. 漏采的网页

    For what search engines did not answer: qiaocrawl coverage TOPIC.
    """
    from qiaocrawl.storage.reports.missed import missed_pages, misses_by_site

    sites, outcomes = tuple(site or ()), _outcomes(why or ())
    if csv_file is not None:
        check_output(csv_file, "--csv")
    with connection_to(database) as c:
        by_site = misses_by_site(c, topic, sites, outcomes)
        first = list(islice(missed_pages(c, topic, sites, outcomes), limit))
        _show(topic, by_site, first)
        if csv_file is not None:
            _write_csv(missed_pages(c, topic, sites, outcomes), csv_file)


def _outcomes(names: Sequence[str]) -> tuple[Outcome, ...]:
    from qiaocrawl.storage.reports.missed import MISSED

    wrong = next((name for name in names if name not in MISSED), None)
    if wrong is not None:
        raise ConfigError(f"--why must be one of {', '.join(MISSED)}, got {wrong!r}")
    return tuple(Outcome(name) for name in names) or MISSED


def _show(topic: str, by_site: Sequence[SiteMisses], pages: Sequence[MissedPage]) -> None:
    console = table_console()
    total = sum((Counter(row.missed) for row in by_site), Counter[Outcome]())
    if not total:
        console.print("没有漏采的网页。 No page was missed.")
        return
    table = folding_table("站点 site", "漏采", "已得", "缘由 why")
    table.columns[0].min_width = _HOST_COLUMNS
    for number in (1, 2):
        table.columns[number].justify = "right"
    for row in by_site[:_SITES_SHOWN]:
        table.add_row(row.host, str(row.total), str(row.articles), _counts(row.missed))
    if len(by_site) > _SITES_SHOWN:
        table.caption = f"另有 {len(by_site) - _SITES_SHOWN} 站 more sites (--csv)"
    console.print(table)
    console.print("怎么办 What to do:")
    for outcome, count in total.most_common():
        advice = ADVICE[outcome]
        console.print(f"  {OUTCOME_NAMES[outcome]} ×{count}")
        console.print(Padding(escape(advice.words), (0, 0, 0, _INDENT), expand=False))
        if advice.command:
            console.print(f"{' ' * _INDENT}{advice.command}", soft_wrap=True)
    if pages:
        _show_pages(pages, total.total())
    console.print(f"搜索引擎漏答的 what engines did not answer: qiaocrawl coverage {topic}")


def _show_pages(pages: Sequence[MissedPage], total: int) -> None:
    table = folding_table("类别 kind", "网址、缘由 URL and why")
    table.columns[0].no_wrap = True
    for page in pages:
        words = f"「{page.anchor}」" if page.anchor else ""
        lines = (page.url, words, page.why)
        table.add_row(short_name(page.outcome), escape("\n".join(line for line in lines if line)))
    if total > len(pages):
        table.caption = f"另有 {total - len(pages)} 页 more pages (--limit, --csv)"
    table_console().print(table)


def _counts(counts: dict[Outcome, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return "、".join(f"{short_name(outcome)} {count}" for outcome, count in ordered)


def _write_csv(pages: Iterable[MissedPage], file: Path) -> None:
    """UTF-8 with a byte order mark, which Excel needs; formulas disarmed, China's time."""
    from qiaocrawl.storage.export.neutral import neutral
    from qiaocrawl.storage.outfile import growing_file

    count = 0
    with growing_file(file) as part, part.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(_HEADER)
        for page in pages:
            writer.writerow([neutral(value) for value in (
                page.host, page.url, page.outcome, page.why, str(page.http_status or ""),
                page.anchor, shown_moment(page.closed_at), " ".join(ADVICE[page.outcome]).strip(),
            )])  # fmt: skip
            count += 1
    say_written(file, f"{count} 页 pages")
