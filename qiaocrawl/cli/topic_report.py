"""What a topic holds and what an import changed, as text; where packs are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiaocrawl.cli.output import folding_table, join_with_commas
from qiaocrawl.errors import ConfigError, SchemaError
from qiaocrawl.language import _, choice_name
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.storage import Database
from qiaocrawl.storage.migrate import current_revision
from qiaocrawl.topic import folder as pack_folder
from qiaocrawl.topic.check import (
    PACK_NAME,
    Changes,
    changed_rows,
    changed_settings,
    compare_packs,
    row_values,
)
from qiaocrawl.topic.pack import ROLES, SITE_KINDS, TERM_KINDS, Site, Term, TopicPack

_NAMES_SHOWN = 12
_HOSTS_NAMED = 5


def print_summary(console: Console, pack: TopicPack) -> None:
    """Print the settings of *pack* and the sizes of its tables."""
    console.print(Text(f"{pack.name}  {pack.title}", style="bold"))
    if pack.description:
        console.print(Text(f"  {pack.description}"))
    relevant = sum(sample.relevant for sample in pack.samples)
    lines = (
        _(
            "threshold {threshold:g}, language {language}",
            threshold=pack.threshold,
            language=pack.language,
        ),
        _(
            "terms {count}: {counted}",
            count=len(pack.terms),
            counted=_count_choices((t.kind for t in pack.terms), TERM_KINDS),
        ),
        _(
            "sites {count}: {counted}",
            count=len(pack.sites),
            counted=_count_choices((s.role for s in pack.sites), ROLES),
        ),
        _(
            "samples {count}: {relevant} on topic, {against} counter-examples",
            count=len(pack.samples),
            relevant=relevant,
            against=len(pack.samples) - relevant,
        ),
    )
    for line in lines:
        console.print(Text(f"  {line}"))


def _count_choices(words: Iterable[str], chinese: Mapping[str, str]) -> str:
    return join_with_commas(
        f"{choice_name(word, chinese)} {count}" for word, count in Counter(words).most_common()
    )


def print_terms(console: Console, terms: Sequence[Term], limit: int | None) -> None:
    """Print the first *limit* terms (None: all)."""
    table = folding_table(_("term"), _("kind"), _("weight"), _("note"))
    align_right(table, 2)
    for term in terms[:limit]:
        add_plain(
            table, term.text, choice_name(term.kind, TERM_KINDS), f"{term.weight:g}", term.note
        )
    _print_cut(console, table, len(terms))


def print_sites(console: Console, sites: Sequence[Site], limit: int | None) -> None:
    """Print the first *limit* sites (None: all)."""
    table = folding_table(_("host"), _("name"), _("role"), _("tier"), _("region"), _("kind"))
    align_right(table, 3)
    for site in sites[:limit]:
        role, kind = choice_name(site.role, ROLES), choice_name(site.kind, SITE_KINDS)
        add_plain(table, site.host, site.name, role, site.tier, site.region, kind)
    _print_cut(console, table, len(sites))


def _print_cut(console: Console, table: Table, total: int) -> None:
    if not total:
        return
    console.print(table)
    if total > table.row_count:
        console.print(_("  … {more} more (--all shows them)", more=total - table.row_count))


def print_changes(
    console: Console, before: TopicPack | None, after: TopicPack, dry_run: bool
) -> None:
    """Print what an import changed, or on a dry run would change."""
    what = _("new topic") if before is None else _("updated")
    state = _(" (dry run: nothing written)") if dry_run else ""
    console.print(Text(f"{after.name} {after.title}: {what}{state}"))
    for name, old, new in changed_settings(before, after) if before else ():
        console.print(Text(f"  {name}: {old!r} → {new!r}"))
    table = folding_table(_("table"), _("added"), _("rows changed"), _("removed"), _("unchanged"))
    align_right(table, 1, 2, 3, 4)
    changes = compare_packs(before, after)
    for change in changes:
        counts = (len(change.added), len(change.changed), len(change.removed), change.unchanged)
        add_plain(table, _(change.table), *counts)
    console.print(table)
    if before is not None:
        _print_names(console, changes)
        _print_overwritten(console, before, after)


def print_next_step(console: Console, pack: TopicPack) -> None:
    """Print the command that crawls *pack*: its authoritative sites, else what there is."""
    crawl = f"qiaocrawl crawl site -a topic={pack.name}"
    step, why = crawl, ""
    if not any(site.role == "authoritative" for site in pack.sites):
        if Options.from_environment()["QIAO_ENGINES"] and pack.terms:
            step = f"qiaocrawl crawl search -a topic={pack.name}"
        elif pack.sites:
            hosts = ",".join(site.host for site in pack.sites[:_HOSTS_NAMED])
            step, why = f"{crawl} -a site={hosts}", _("no authoritative site, so sites are named")
        else:
            step = ""
            why = _("terms only: choose search engines and name them in QIAO_ENGINES")
    if why:
        console.print(f"  {why}", markup=False, highlight=False)
    command = command_here(step) if step else "qiaocrawl engines list"
    console.print(
        _("next: {command}", command=command), markup=False, highlight=False, soft_wrap=True
    )


def _print_overwritten(console: Console, before: TopicPack, after: TopicPack) -> None:
    """What terms and sites said that are there already, and what they say by the import."""
    rows = changed_rows(before, after)
    for was, now in rows[:_NAMES_SHOWN]:
        name = was.text if isinstance(was, Term) else was.host
        console.print(Text(f"    {name}: {row_values(was)} → {row_values(now)}"))
    if len(rows) > _NAMES_SHOWN:
        console.print(Text("    " + _("… {more} more", more=len(rows) - _NAMES_SHOWN)))
    if rows:
        console.print(Text("  " + _("--keep leaves rows that are there as they are")))


def _print_names(console: Console, changes: Iterable[Changes]) -> None:
    for change in changes:
        for sign, names in (("+", change.added), ("~", change.changed), ("-", change.removed)):
            if names:
                hidden = len(names) - _NAMES_SHOWN
                more = _(" … {more} more", more=hidden) if hidden > 0 else ""
                shown = ", ".join(names[:_NAMES_SHOWN])
                console.print(Text(f"  {sign} {_(change.table)}: {shown}{more}"))


def align_right(table: Table, *columns: int) -> None:
    """Align *columns* (0-based) to the right."""
    for column in columns:
        table.columns[column].justify = "right"


def add_plain(table: Table, *cells: object) -> None:
    """Add a row of plain text: brackets in a term are no markup."""
    table.add_row(*(Text(str(cell)) for cell in cells))


# --- Where topic packs are: folders in QIAO_TOPICS_DIR, and the database --------------------------

TermsFile = Annotated[Path | None, typer.Option("--terms", help="Table of terms, CSV or .xlsx.")]
SitesFile = Annotated[Path | None, typer.Option("--sites", help="Table of sites, CSV or .xlsx.")]


def topics_dir() -> Path:
    """The folder QIAO_TOPICS_DIR."""
    return Path(Options.from_environment()["QIAO_TOPICS_DIR"])


def pack_folders() -> list[Path]:
    """The packs in QIAO_TOPICS_DIR, and those that are shipped, by name."""
    return pack_folder.pack_folders(topics_dir())


def find_pack(source: str) -> Path:
    """The folder of the pack called *source* in QIAO_TOPICS_DIR, or else the folder *source*."""
    named = topics_dir() / source
    if PACK_NAME.fullmatch(source):
        named = pack_folder.find_pack_folder(topics_dir(), source) or named
        if named.is_dir():
            return named
    if Path(source).is_dir():
        return Path(source)
    names = [path.name for path in pack_folders()]
    close = get_close_matches(source, names, n=1)
    hint = _("; did you mean {close!r}?", close=close[0]) if close else ""
    there = ", ".join(names) or "none"
    raise ConfigError(
        _(
            "no pack {source!r}{hint} (in {topics_dir!r}: {there}; a folder is one too)",
            source=source,
            hint=hint,
            topics_dir=str(topics_dir()),
            there=there,
        )
    )


def make_tables(database: Database) -> None:
    """Make the tables of a new database; an older schema is the operator's decision."""
    try:
        database.require_current()
    except SchemaError:
        with database.engine.connect() as c:
            is_new = current_revision(c) is None
        if not is_new:
            raise
        database.upgrade()
