"""``qiaocrawl report entities …``: names of a text or of a topic; a tagger of one's own."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.text import Text

from qiaocrawl.cli.database import DatabaseUrl, connection_to
from qiaocrawl.cli.options import end_of, start_of, with_options
from qiaocrawl.cli.output import (
    check_output,
    echo,
    folding_table,
    join_with_commas,
    say_written,
    table_console,
    write_text,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.language import N_, _
from qiaocrawl.options.project import command_here

if TYPE_CHECKING:
    from qiaocrawl.news.names.entity import Entity
    from qiaocrawl.news.names.stored import Named
    from qiaocrawl.news.names.tagger import Tagger
    from qiaocrawl.news.names.training import MarkedText

# --- ``qiaocrawl report entities list``: whom and what a topic's articles name, and where ---------

Kind = Literal["person", "place", "organisation"]


def _choice(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    kind: Annotated[Kind | None, typer.Option(help="Of this kind only.")] = None,
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 7d, 30d, 2026-03-05.")
    ] = "30d",
    until: Annotated[str, typer.Option(help="Published until, that day too.")] = "",
) -> tuple[str, Kind | None, tuple[datetime, datetime]]:
    """Of which articles, and which names."""
    start = start_of(since, "--since")
    end = end_of(until, "--until") or datetime.now(UTC)
    if start is None or start >= end:
        raise ConfigError(_("--since {since!r} is not before --until", since=since))
    return topic, kind, (start, end)


def _output(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Names shown.")] = 20,
    picture: Annotated[Path | None, typer.Option(help="Write the map of places (.svg).")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
    database: DatabaseUrl = "",
) -> tuple[int, Path | None, Path | None, str]:
    """What to make of them."""
    _check(picture, out)
    return limit, picture, out, database


@with_options(_choice, _output)
def list_(
    choice: tuple[str, Kind | None, tuple[datetime, datetime]],
    output: tuple[int, Path | None, Path | None, str],
) -> None:
    """List whom and what the articles of TOPIC name, and where the places lie.

    Names are those that `qiaocrawl analyse` has read.
    """
    from qiaocrawl.export.analysis_sheets import named_sheets
    from qiaocrawl.news.names.stored import named_of_topic
    from qiaocrawl.news.pictures.place_map import place_map_svg

    topic, kind, stretch = choice
    limit, picture, out, database = output
    with connection_to(database) as c:
        found = named_of_topic(c, topic, stretch)
    if picture is not None:
        write_text(picture, place_map_svg(found.regions, topic))
    if out is not None:
        write_sheets(out, named_sheets(found))
        say_written(out)
    chosen = [own for own in found.names if kind is None or own.kind == kind]
    if not chosen:
        echo(
            _("no name is read; `{command}` reads them", command=command_here("qiaocrawl analyse"))
        )
        return
    _print(chosen, limit)


def _check(picture: Path | None, out: Path | None) -> None:
    if picture is not None:
        if picture.suffix.lower() != ".svg":
            raise ConfigError(
                _("--picture must end in .svg, got {picture!r}", picture=str(picture))
            )
        check_output(picture, "--picture")
    if out is not None:
        check_output(out, "--out")
        check_ending(out)


def _print(names: list[Named], limit: int) -> None:

    table = folding_table(_("kind"), _("name"), _("lies in"), _("articles"), _("outlets"))
    for column in table.columns[3:]:
        column.justify = "right"
    for own in names[:limit]:
        table.add_row(
            _(KIND_NAMES[own.kind]),
            escape(own.name),
            own.lies_in,
            f"{own.articles:,}",
            f"{own.outlets:,}",
        )
    table_console().print(table)
    if len(names) > limit:
        echo(_("{shown} of {total} names; --limit shows more", shown=limit, total=len(names)))


# --- A text that a command is given: a file, or its input -----------------------------------------


def title_and_text(file: Path) -> tuple[str, str]:
    """The first line of *file* and what follows; ``-`` is the command's input.

    Raises:
        ConfigError: it cannot be read, or is no UTF-8.
    """
    if str(file) == "-":
        whole = sys.stdin.read()
    else:
        try:
            whole = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                _("{file}: no text in UTF-8 ({error})", file=file, error=error)
            ) from error
    title, _line_end, text = whole.partition("\n")
    return title, text


app = typer.Typer(help="Persons, places and organisations that texts name.", no_args_is_help=True)
app.command("list")(list_)

KIND_NAMES = {
    "person": N_("person"),
    "place": N_("geographical place"),
    "organisation": N_("organisation"),
}
_ENDINGS = (".jsonl", ".jsonl.gz")


@app.command()
def show(
    file: Annotated[
        Path, typer.Argument(help="A UTF-8 text, its first line the title; - reads the input.")
    ],
    model: Annotated[
        Path | None, typer.Option(help="A model of your own; without it the one that comes along.")
    ] = None,
) -> None:
    """Print what a text names, with the name each goes by and where it lies."""
    from qiaocrawl.news.names.recognition import entities_of

    title, text = title_and_text(file)
    entities = entities_of(title, text, tagger=_tagger(model))
    console = table_console()
    table = folding_table(
        _("kind"), _("name"), _("in the text"), _("times"), _("lies in"), _("certainty")
    )
    by_name = Counter((entity.kind, entity.normal_form) for entity in entities)
    for (kind, name), times in by_name.most_common():
        own = [one for one in entities if (one.kind, one.normal_form) == (kind, name)]
        spellings = join_with_commas(dict.fromkeys(one.text for one in own))
        certainty = max(one.certainty for one in own)
        table.add_row(
            *map(
                Text,
                (
                    _(KIND_NAMES[kind]),
                    name,
                    spellings,
                    str(times),
                    _region(own[0]),
                    f"{certainty:.2f}",
                ),
            )
        )
    console.print(table)
    console.print(_("Persons without a public office, and who wrote nothing, are not listed."))


@app.command()
def train(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Files .jsonl or .jsonl.gz: an object a line, with text and spans of "
            "[start, end, kind]; kinds are person, place, organisation."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the model is written.")] = Path("tagger.npz.xz"),
) -> None:
    """Learn a tagger of your own from texts with their names marked."""
    from qiaocrawl.news.names.training import train_tagger

    texts = _marked_texts(folder)
    console = table_console()
    model = train_tagger(
        texts,
        learnt_from=folder.name,
        report=lambda number, loss: console.print(
            _("round {number}: loss {loss:.3f}", number=number, loss=loss)
        ),
    )
    model.write(out)
    say_written(
        out,
        _("{texts:,} texts, {features:,} features", texts=len(texts), features=len(model.hashes)),
    )


def _tagger(model: Path | None) -> Tagger | None:
    if model is None:
        return None
    from qiaocrawl.news.names.tagger import Tagger, read_model

    try:
        return Tagger(read_model(model.read_bytes(), str(model)))
    except OSError as error:
        raise ConfigError(_("{file}: cannot be read ({error})", file=model, error=error)) from error


def _marked_texts(folder: Path) -> list[MarkedText]:
    from qiaocrawl.news.names.training import read_marked_texts

    files = [path for path in sorted(folder.glob("*")) if path.name.endswith(_ENDINGS)]
    if not files:
        raise ConfigError(
            _(
                "{folder}: no file that ends with {endings}",
                folder=folder,
                endings=" / ".join(_ENDINGS),
            )
        )
    return [text for path in files for text in read_marked_texts(path)]


def _region(entity: Entity) -> str:
    """Country and province of a place, "" of anything else."""
    from qiaocrawl.news.names.places import resolve_place

    place = resolve_place(entity.text) if entity.kind == "place" else None
    return " ".join(filter(None, (place.country, place.province))) if place else ""
