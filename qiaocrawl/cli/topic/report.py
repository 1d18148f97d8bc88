"""What a topic holds and what an import changed, as text for an operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiaocrawl.options import Options
from qiaocrawl.topic.merge import Changes, changed_settings, compare_packs
from qiaocrawl.topic.pack import ROLES, TERM_KINDS, Site, Term, TopicPack

_NAMES_SHOWN = 12
_HOSTS_NAMED = 5


def print_summary(console: Console, pack: TopicPack) -> None:
    """Print the settings of *pack* and the sizes of its tables."""
    console.print(Text(f"{pack.name}  {pack.title}", style="bold"))
    if pack.description:
        console.print(Text(f"  {pack.description}"))
    relevant = sum(sample.relevant for sample in pack.samples)
    lines = (
        f"阈值 threshold {pack.threshold:g}, 语言 language {pack.language}",
        f"词 terms {len(pack.terms)}: {_counted((t.kind for t in pack.terms), TERM_KINDS)}",
        f"站点 sites {len(pack.sites)}: {_counted((s.role for s in pack.sites), ROLES)}",
        f"样本 samples {len(pack.samples)}: {relevant} relevant 切题, "
        f"{len(pack.samples) - relevant} counter-examples 反例",
    )
    for line in lines:
        console.print(Text(f"  {line}"))


def _counted(words: Iterable[str], chinese: Mapping[str, str]) -> str:
    return ", ".join(
        f"{chinese.get(word, '')} {word} {count}" for word, count in Counter(words).most_common()
    )


def print_terms(console: Console, terms: Sequence[Term], limit: int | None) -> None:
    """Print the first *limit* terms (None: all)."""
    table = Table("词 term", "类别 kind", "权重 weight", "备注 note")
    align_right(table, 2)
    for term in terms[:limit]:
        add_plain(table, term.text, term.kind, f"{term.weight:g}", term.note)
    _print_cut(console, table, len(terms))


def print_sites(console: Console, sites: Sequence[Site], limit: int | None) -> None:
    """Print the first *limit* sites (None: all)."""
    table = Table("主机 host", "名称 name", "角色 role", "级 tier", "地区 region", "类型 kind")
    align_right(table, 3)
    for site in sites[:limit]:
        cells = (site.host, site.name, site.role, site.tier, site.region, site.kind)
        add_plain(table, *cells)
    _print_cut(console, table, len(sites))


def _print_cut(console: Console, table: Table, total: int) -> None:
    if not total:
        return
    console.print(table)
    if total > table.row_count:
        console.print(f"  … {total - table.row_count} more 另有 (--all shows them)")


def print_changes(
    console: Console, before: TopicPack | None, after: TopicPack, dry_run: bool
) -> None:
    """Print what an import changed, or on a dry run would change."""
    what = "new 新建" if before is None else "updated 更新"
    state = " (dry run: nothing written 试运行，未写入)" if dry_run else ""
    console.print(Text(f"{after.name} {after.title}: {what}{state}"))
    for name, old, new in changed_settings(before, after) if before else ():
        console.print(Text(f"  {name}: {old!r} → {new!r}"))
    table = Table("表 table", "增 added", "改 changed", "删 removed", "未变 unchanged")
    align_right(table, 1, 2, 3, 4)
    changes = compare_packs(before, after)
    for change in changes:
        counts = (len(change.added), len(change.changed), len(change.removed), change.unchanged)
        add_plain(table, change.table, *counts)
    console.print(table)
    if before is not None:
        _print_names(console, changes)


def print_next_step(console: Console, pack: TopicPack) -> None:
    """Print the command that crawls *pack*: its authoritative sites, else what there is."""
    crawl = f"scrapy crawl site -a topic={pack.name}"
    step, why = crawl, ""
    if not any(site.role == "authoritative" for site in pack.sites):
        if Options.from_environment()["QIAO_ENGINES"] and pack.terms:
            step = f"scrapy crawl search -a topic={pack.name}"
        elif pack.sites:
            hosts = ",".join(site.host for site in pack.sites[:_HOSTS_NAMED])
            step, why = f"{crawl} -a site={hosts}", "没有权威站点，点名采集 no authoritative site"
        else:
            step = "qiaocrawl engines list"
            why = "只有词：先选搜索引擎，写入 QIAO_ENGINES terms only: choose search engines"
    if why:
        console.print(f"  {why}", markup=False, highlight=False)
    console.print(f"下一步 Next:  {step}", markup=False, highlight=False)


def _print_names(console: Console, changes: Iterable[Changes]) -> None:
    for change in changes:
        for sign, names in (("+", change.added), ("~", change.changed), ("-", change.removed)):
            if names:
                more = f" … {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
                shown = ", ".join(names[:_NAMES_SHOWN])
                console.print(Text(f"  {sign} {change.table}: {shown}{more}"))


def align_right(table: Table, *columns: int) -> None:
    """Align *columns* (0-based) to the right."""
    for column in columns:
        table.columns[column].justify = "right"


def add_plain(table: Table, *cells: object) -> None:
    """Add a row of plain text: brackets in a term are no markup."""
    table.add_row(*(Text(str(cell)) for cell in cells))
