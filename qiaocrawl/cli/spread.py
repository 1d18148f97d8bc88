"""``qiaocrawl report spread`` and ``outlets``: who published first, who took it from whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to
from qiaocrawl.cli.options import start_of, with_options
from qiaocrawl.cli.output import (
    check_output,
    echo,
    folding_table,
    say_written,
    table_console,
    write_text,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import Sheet, check_ending, write_sheets
from qiaocrawl.language import CHINESE, _, ngettext, using_language
from qiaocrawl.news.spread.influence import CHANGES, tier_name
from qiaocrawl.news.spread.tree import change_reports, spread_figures
from qiaocrawl.news.spread.wording import (
    figure_lines,
    first_lines,
    is_first,
    moment_of,
    parent_of,
    why_of,
)
from qiaocrawl.options.project import command_here
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.news.spread.tree import SpreadTree

_Files = tuple[Path | None, Path | None, Path | None]


def _group(
    group: Annotated[
        str, typer.Argument(help="Address or number of any article of a group of reprints.")
    ],
    topic: Annotated[
        str, typer.Option(help="Topic whose names and tiers of sites count; any without it.")
    ] = "",
    story: Annotated[
        bool, typer.Option("--story", help="GROUP is the number of a story: all its articles.")
    ] = False,
    database: DatabaseUrl = "",
) -> tuple[str, str, bool, str]:
    """Of which articles."""
    return group, topic, story, database


def _files(
    tree: Annotated[Path | None, typer.Option("--tree", help="Write the tree (.svg).")] = None,
    time_line: Annotated[Path | None, typer.Option(help="Write the time line (.svg).")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
) -> _Files:
    """Where to."""
    for file, option in ((tree, "--tree"), (time_line, "--time-line"), (out, "--out")):
        if file is not None and option != "--out" and file.suffix.lower() != ".svg":
            raise ConfigError(
                _("{option} must end in .svg, got {file!r}", option=option, file=str(file))
            )
        if file is not None:
            check_output(file, option)
    if out is not None:
        check_ending(out)
    return tree, time_line, out


@with_options(_group, _files)
def spread(group: tuple[str, str, bool, str], files: _Files) -> None:
    """Show who published a story first, who took it from whom and by what, how far and how fast.

    Where nothing speaks for a way it is called unknown.
    """
    from qiaocrawl.news.pictures.spread import time_line_svg, tree_svg

    tree = _tree(*group)
    print_spread(table_console(), tree)
    tree_file, line_file, out = files
    title = next(iter(tree.publications.values())).title
    if tree_file is not None:
        write_text(tree_file, tree_svg(tree, title))
    if line_file is not None:
        write_text(line_file, time_line_svg(tree, title))
    if out is not None:
        write_sheets(out, spread_sheets(tree))
        say_written(out)


def _tree(group: str, topic: str, is_story: bool, database: str) -> SpreadTree:
    from qiaocrawl.news.spread.stored import publications_of, spread_of
    from qiaocrawl.news.spread.tree import spread_tree

    if is_story and not group.isdecimal():
        raise ConfigError(_("--story needs the number of a story, got {group!r}", group=group))
    with connection_to(database) as c:
        if is_story:
            tree = spread_tree(publications_of(c, _of_story(c, int(group)), topic or None))
        else:
            tree = spread_of(c, _article(c, group), topic or None)
    if not tree.publications:
        raise ConfigError(_("no article has the number {number}", number=group))
    return tree


def _of_story(c: Connection, number: int) -> list[int]:
    from qiaocrawl.news.stories.lists import one_story
    from qiaocrawl.news.stories.texts import texts_of

    one_story(c, number)
    return [text.article_id for text in texts_of(c, [number])[number]]


def _article(c: Connection, group: str) -> int:
    from qiaocrawl.storage.titles import groups as reprint_groups

    return int(group) if group.isdecimal() else reprint_groups.article_at(c, group)


# --- A spread at the terminal ---------------------------------------------------------------------


def print_spread(console: Console, tree: SpreadTree) -> None:
    """Who had it from whom, then figures, then corrections and deletions."""
    numbers = {key: str(number) for number, key in enumerate(tree.publications, 1)}
    table = folding_table("#", _("time"), _("outlet"), _("from"), _("why"), _("URL"))
    for key, own in tree.publications.items():
        outlet = own.name if own.tier is None else f"{own.name} ({tier_name(own.tier)})"
        table.add_row(
            f"{'●' if is_first(tree, key) else ''}{numbers[key]}",
            moment_of(own),
            escape(outlet),
            escape(parent_of(tree, key, numbers)),
            escape(why_of(tree, key)),
            escape(key),
        )
    console.print(table)
    for line in [*first_lines(tree, numbers), *figure_lines(spread_figures(tree))]:
        echo(line)
    for report in change_reports(tree):
        change = report.change
        outlet = f"{numbers[report.key]} {tree.publications[report.key].name}"
        line = f"{outlet} {_(CHANGES[change.kind])} {china_time(change.at)}"
        if report.not_followed:
            line += ngettext(
                "; {count} that took it still stands as it was",
                "; {count} that took it still stand as they were",
                len(report.not_followed),
            )
        echo(line)


# --- A spread as sheets for officers: Chinese whoever writes them ---------------------------------


def spread_sheets(tree: SpreadTree) -> list[Sheet]:
    """The way of each article, and the figures."""
    with using_language(CHINESE):
        numbers = {key: str(number) for number, key in enumerate(tree.publications, 1)}
        ways = Sheet(
            "传播",
            (
                "序号",
                "时间",
                "媒体",
                "级别",
                "地区",
                "来自",
                "依据",
                "把握",
                "标题",
                "来源",
                "作者",
                "评论",
                "链接",
            ),
            [
                (
                    int(numbers[key]),
                    moment_of(own),
                    own.name,
                    own.tier,
                    own.region,
                    parent_of(tree, key, numbers),
                    why_of(tree, key),
                    round(edge.certainty, 2),
                    own.title,
                    own.source,
                    own.author,
                    own.comments,
                    key,
                )
                for key, own in tree.publications.items()
                for edge in [tree.edges[key]]
            ],
        )
        lines = [*first_lines(tree, numbers), *figure_lines(spread_figures(tree))]
        return [ways, Sheet("概况", ("内容",), [(line,) for line in lines])]


# --- ``qiaocrawl report outlets TOPIC``: whom others take stories from, beside the tiers of their
# sites


def outlets(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    since: Annotated[
        str, typer.Option(help="Stories with news since: today, 7d, 30d, 2026-03-05.")
    ] = "30d",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Outlets shown.")] = 20,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
    database: DatabaseUrl = "",
) -> None:
    """List outlets by how many others take articles from them, and what they were first with.

    A pack's tier says what an office expects of a site; this says what others made of it.
    """
    from qiaocrawl.export.analysis_sheets import outlet_sheet
    from qiaocrawl.news.spread.influence import outlet_influence

    if out is not None:
        check_output(out, "--out")
        check_ending(out)
    start = start_of(since, "--since")
    if start is None:
        raise ConfigError(_("--since must be given"))
    with connection_to(database) as c:
        found = outlet_influence(c, topic, start)
    if out is not None:
        write_sheets(out, [outlet_sheet(found)])
        say_written(out)
    if not found:
        echo(_("no story fits; `{command}` makes them", command=command_here("qiaocrawl analyse")))
        return
    table = folding_table(
        _("outlet"),
        _("tier"),
        _("taken by outlets"),
        _("reached articles"),
        _("first with"),
        _("stories"),
        _("own articles"),
    )
    for own in found[:limit]:
        table.add_row(
            escape(own.name),
            "" if own.tier is None else str(own.tier),
            str(own.takers),
            str(own.reached),
            str(own.firsts),
            str(own.stories),
            f"{own.articles - own.borrowed}/{own.articles}",
        )
    table_console().print(table)
