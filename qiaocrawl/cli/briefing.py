"""``qiaocrawl briefing …``: what happened, on one page; made, kept, read again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.options import (
    Media,
    calendar,
    end_of,
    group_notes,
    media_of,
    selection_of,
    start_of,
)
from qiaocrawl.cli.output import check_output, echo, folding_table, say_written, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.text.visible import Terminal
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

app = typer.Typer(
    help="Briefings: what happened on one page, each sentence cited; made, kept, read again.",
    no_args_is_help=True,
)

_ENDINGS = (".docx", ".html", ".md", ".pdf")
_SHORT = "%m-%d %H:%M"

Out = Annotated[
    list[Path] | None,
    typer.Option("--out", help="File (.docx, .html, .md, .pdf); again for more."),
]


@app.command()
def make(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 12h, 7d, 2026-03-05.")
    ] = "24h",
    until: Annotated[str, typer.Option(help="Published until; now without it.")] = "",
    stories: Annotated[int, typer.Option(min=1, max=50, help="Stories told in full.")] = 8,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Only what this group of words of the topic touches; again: either."),
    ] = None,
    medium: Media = None,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Keep it in the database.")] = True,
    out: Out = None,
    database: DatabaseUrl = "",
) -> None:
    """Write what happened on one page: stories, figures, warnings, gaps; each sentence cited.

    Without --out it is printed as Markdown. Run `qiaocrawl analyse` before.
    """
    from qiaocrawl.export.briefing import briefing_files, office_templates
    from qiaocrawl.export.briefing import keep as keep_it
    from qiaocrawl.news.briefing_making import make_briefing

    _check_files(out or ())
    start = start_of(since, "--since")
    end = end_of(until, "--until") or datetime.now(UTC)
    if start is None or start >= end:
        raise ConfigError(_("--since {since!r} is not before --until", since=since))
    chosen = selection_of({"topic": topic, "groups": tuple(group or ())})
    with connection_to(database) as c:
        for note in group_notes(c, chosen):
            echo(note, err=True)
        made = make_briefing(
            c,
            topic,
            (start, end),
            calendar(),
            stories,
            groups=chosen.groups,
            media=media_of(medium or ()),
        )
    templates = office_templates(Options.from_environment()["QIAO_BRIEFING_TEMPLATES"])
    files = briefing_files(made, *templates)
    if keep:
        with transaction_on(database) as c:
            number = keep_it(c, topic, made, files)
    _give(files, out or ())
    if keep:
        echo(_("kept as briefing {number}", number=number), err=True)


@app.command("list")
def list_(
    topic: Annotated[str, typer.Argument(help="Of this topic only.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Briefings shown.")] = 20,
    database: DatabaseUrl = "",
) -> None:
    """List briefings that are kept, the newest first."""
    from qiaocrawl.news.kept_briefings import list_briefings

    with connection_to(database) as c:
        kept = list_briefings(c, topic, limit)
    if not kept:
        command = command_here("qiaocrawl briefing make TOPIC")
        echo(_("no briefing is kept; `{command}` makes one", command=command))
        return
    table = folding_table(
        _("briefing number"),
        _("topic"),
        _("since"),
        _("until"),
        _("stories"),
        _("articles"),
        _("made"),
    )
    for own in kept:
        table.add_row(
            str(own.id),
            own.topic,
            *(china_time(at, _SHORT) for at in (own.since, own.before)),
            str(len(own.stories)),
            str(own.articles),
            china_time(own.made_at, _SHORT),
        )
    table_console().print(table)


@app.command()
def show(
    number: Annotated[int, typer.Argument(help="Number of a briefing.")],
    out: Out = None,
    database: DatabaseUrl = "",
) -> None:
    """Print a kept briefing as it was made, or write it to files."""
    from qiaocrawl.news.kept_briefings import ENDINGS, briefing_file_of

    _check_files(out or ())
    with connection_to(database) as c:
        files = {ending: briefing_file_of(c, number, ending) for ending in ENDINGS}
    _give(files, out or ())


@app.command()
def template(
    folder: Annotated[Path, typer.Argument(help="Where it is written to.")] = Path(),
) -> None:
    """Write the template of the page, to be changed; QIAO_BRIEFING_TEMPLATES names its folder.

    A Word file briefing.docx beside it gives Word briefings its styles, page and letterhead.
    """
    from qiaocrawl.export.briefing import HTML_TEMPLATE, default_template

    file = folder / HTML_TEMPLATE
    # A folder of that name is made; one in a folder that is not there is a slip of the pen.
    check_output(folder.resolve() if not folder.exists() else file, "FOLDER")
    if file.exists():
        raise ConfigError(_("{file} is there already", file=file))
    folder.mkdir(exist_ok=True)
    file.write_text(default_template(), "utf-8")
    say_written(file)


def _check_files(files: Iterable[Path]) -> None:
    for file in files:
        if file.suffix.lower() not in _ENDINGS:
            raise ConfigError(
                _(
                    "--out must end in {endings}, got {file!r}",
                    endings=_(", ").join(_ENDINGS),
                    file=str(file),
                )
            )
        check_output(file, "--out")


def _give(files: Mapping[str, bytes], out: Iterable[Path]) -> None:
    """Write *files* to where they were asked for; without that, print the text."""
    asked = list(out)
    write_files(files, asked)
    if not asked:
        text = files["md"].decode()
        Terminal(soft_wrap=True, highlight=False).print(text, markup=False)


def write_files(files: Mapping[str, bytes], out: Iterable[Path]) -> None:
    """Write to each of *out* the file of its ending; a PDF is printed from the page."""
    from qiaocrawl.export.chromium import to_pdf
    from qiaocrawl.storage.backup import growing_file

    for file in out:
        ending = file.suffix.lower()[1:]
        content = files.get(ending) or to_pdf(
            files["html"].decode(), Options.from_environment()["QIAO_CHROMIUM"]
        )
        with growing_file(file) as part:
            part.write_bytes(content)
        say_written(file)
