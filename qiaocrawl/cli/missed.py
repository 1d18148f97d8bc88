"""``qiaocrawl report missed TOPIC``: pages that were found but not got, why, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from qiaocrawl.cli.database import DatabaseUrl, connection_to
from qiaocrawl.cli.output import (
    check_output,
    echo,
    folding_table,
    join_with_commas,
    say_written,
    table_console,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options.project import command_here
from qiaocrawl.reading.outcome_names import ADVICE, outcome_name

if TYPE_CHECKING:
    from qiaocrawl.reading.summary import FarFeed, HeldHost, MissedPage, SiteMisses

_SITES_SHOWN = 30
_HOST_COLUMNS = 32
_INDENT = 6


def missed(
    topic: Annotated[str, typer.Argument(help="The topic.")],
    site: Annotated[
        list[str] | None, typer.Option(help="Only this host and what is below it.")
    ] = None,
    why: Annotated[
        list[str] | None, typer.Option(help="Only needs_rendering, login, robots and so on.")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Pages shown.")] = 10,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write all pages.")] = None,
    database: DatabaseUrl = "",
) -> None:
    """List pages of sites that were found but not got: which, why, and what to do.

    For what search engines did not answer: qiaocrawl report coverage TOPIC.
    """
    from qiaocrawl.export.readable import write_missed
    from qiaocrawl.reading.summary import (
        far_feeds,
        held_hosts,
        missed_pages,
        misses_by_site,
        was_crawled,
    )

    sites, outcomes = tuple(site or ()), _outcomes(why or ())
    if csv_file is not None:
        check_output(csv_file, "--csv")
    with connection_to(database) as c:
        by_site = misses_by_site(c, topic, sites, outcomes)
        first = list(islice(missed_pages(c, topic, sites, outcomes), limit))
        held, feeds = held_hosts(c, topic, sites), far_feeds(c, topic, sites)
        if by_site or held or feeds or was_crawled(c, topic):
            _show_held(held, feeds)
            _show(topic, by_site, first, is_all=not held and not feeds)
        else:
            command = command_here(f"qiaocrawl run {topic}")
            echo(_("nothing was crawled yet; next: {command}", command=command))
        if csv_file is not None:
            count = write_missed(missed_pages(c, topic, sites, outcomes), csv_file)
            say_written(csv_file, _("{count} pages", count=count))


def _outcomes(names: Sequence[str]) -> tuple[Outcome, ...]:
    from qiaocrawl.reading.summary import MISSED, MISSED_STARTS

    wrong = next((name for name in names if name not in MISSED), None)
    if wrong is not None:
        raise ConfigError(
            _("--why must be one of {names}, got {wrong!r}", names=", ".join(MISSED), wrong=wrong)
        )
    return tuple(Outcome(name) for name in names) or (*MISSED, *MISSED_STARTS)


def _show_held(held: Sequence[HeldHost], feeds: Sequence[FarFeed]) -> None:
    """What is missing without any page's own outcome to tell of it."""
    from qiaocrawl.reading.summary import held_words

    console = table_console()
    if held:
        table = folding_table(_("host"), _("gives nothing"))
        for host in held[:_SITES_SHOWN]:
            table.add_row(host.host, escape(held_words(host)))
        if len(held) > _SITES_SHOWN:
            table.caption = _("{more} more sites", more=len(held) - _SITES_SHOWN)
        console.print(table)
        console.print(
            _(
                "The next run of the same crawl asks for what waits. A site that stays away: look "
                "at its address in a browser, and take it out of the topic if it is gone."
            )
        )
    if feeds:
        table = folding_table(_("feed or sitemap"), _("lists pages elsewhere"))
        for feed in feeds[:_SITES_SHOWN]:
            table.add_row(feed.url, escape(shown_reason(feed.why)))
        console.print(table)


def _show(
    topic: str, by_site: Sequence[SiteMisses], pages: Sequence[MissedPage], *, is_all: bool
) -> None:
    console = table_console()
    total = sum((Counter(row.missed) for row in by_site), Counter[Outcome]())
    if not total:
        if is_all:
            console.print(_("No page was missed."))
        return
    table = folding_table(_("site"), _("missed"), _("got"), _("why"))
    table.columns[0].min_width = _HOST_COLUMNS
    for number in (1, 2):
        table.columns[number].justify = "right"
    for row in by_site[:_SITES_SHOWN]:
        table.add_row(row.host, str(row.total), str(row.articles), _counts(row.missed))
    if len(by_site) > _SITES_SHOWN:
        table.caption = _("{more} more sites (--csv)", more=len(by_site) - _SITES_SHOWN)
    console.print(table)
    console.print(_("What to do:"))
    for outcome, count in total.most_common():
        advice = ADVICE[outcome]
        console.print(f"  {outcome_name(outcome)} ×{count}")
        console.print(Padding(escape(_(advice.words)), (0, 0, 0, _INDENT), expand=False))
        if advice.command:
            console.print(f"{' ' * _INDENT}{command_here(advice.command)}", soft_wrap=True)
    if pages:
        _show_pages(pages, total.total())
    command = command_here(f"qiaocrawl report coverage {topic}")
    console.print(_("what engines did not answer: {command}", command=command), soft_wrap=True)


def _show_pages(pages: Sequence[MissedPage], total: int) -> None:
    table = folding_table(_("kind"), _("URL and why"))
    table.columns[0].no_wrap = True
    for page in pages:
        words = f"“{page.anchor}”" if page.anchor else ""
        lines = (page.url, words, shown_reason(page.why))
        table.add_row(outcome_name(page.outcome), escape("\n".join(line for line in lines if line)))
    if total > len(pages):
        table.caption = _("{more} more pages (--limit, --csv)", more=total - len(pages))
    table_console().print(table)


def _counts(counts: dict[Outcome, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return join_with_commas(f"{outcome_name(outcome)} {count}" for outcome, count in ordered)
