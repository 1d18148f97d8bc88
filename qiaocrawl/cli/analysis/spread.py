"""``qiaocrawl spread GROUP``: who published first, who took it from whom, how far, how fast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.analysis.written import write_text
from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import check_output, say_written, table_console
from qiaocrawl.cli.shared_options import combined
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.language import _

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
            raise ConfigError(_("{option} must end in .svg, got {file!r}", option=option,
                                file=str(file)))  # fmt: skip
        if file is not None:
            check_output(file, option)
    if out is not None:
        check_ending(out)
    return tree, time_line, out


@combined(_group, _files)
def spread(group: tuple[str, str, bool, str], files: _Files) -> None:
    """Show who published a story first, who took it from whom and by what, how far and how fast.

    Where nothing speaks for a way it is called unknown.
    """
    from qiaocrawl.cli.analysis.spread_sheets import spread_sheets
    from qiaocrawl.cli.analysis.spread_tables import print_spread
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
