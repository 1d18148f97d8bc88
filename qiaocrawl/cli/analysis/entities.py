"""``qiaocrawl entities …``: names of a text or of a topic's articles; a tagger of one's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from qiaocrawl.cli.analysis.named import list_
from qiaocrawl.cli.analysis.text_file import title_and_text
from qiaocrawl.cli.output import folding_table, joined, say_written, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _

if TYPE_CHECKING:
    from qiaocrawl.news.names.entity import Entity
    from qiaocrawl.news.names.tagger import Tagger
    from qiaocrawl.news.names.training import MarkedText

app = typer.Typer(help="Persons, places and organisations that texts name.", no_args_is_help=True)
app.command("list")(list_)

KIND_NAMES = {
    "person": N_("person"), "place": N_("geographical place"), "organisation": N_("organisation"),
}  # fmt: skip
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
    table = folding_table(_("kind"), _("name"), _("in the text"), _("times"), _("lies in"),
                          _("certainty"))  # fmt: skip
    by_name = Counter((entity.kind, entity.normal_form) for entity in entities)
    for (kind, name), times in by_name.most_common():
        own = [one for one in entities if (one.kind, one.normal_form) == (kind, name)]
        spellings = joined(dict.fromkeys(one.text for one in own))
        certainty = max(one.certainty for one in own)
        table.add_row(*map(Text, (_(KIND_NAMES[kind]), name, spellings, str(times), _region(own[0]),
                                  f"{certainty:.2f}")))  # fmt: skip
    console.print(table)
    console.print(_("Persons without a public office, and who wrote nothing, are not listed."))


@app.command()
def train(
    folder: Annotated[
        Path,
        typer.Argument(help="Files .jsonl or .jsonl.gz: an object a line, with text and spans of "
                       "[start, end, kind]; kinds are person, place, organisation."),
    ],
    out: Annotated[Path, typer.Option(help="Where the model is written.")] = Path("tagger.npz.xz"),
) -> None:  # fmt: skip
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
    say_written(out, _("{texts:,} texts, {features:,} features", texts=len(texts),
                       features=len(model.hashes)))  # fmt: skip


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
            _("{folder}: no file that ends with {endings}", folder=folder,
              endings=" / ".join(_ENDINGS))
        )  # fmt: skip
    return [text for path in files for text in read_marked_texts(path)]


def _region(entity: Entity) -> str:
    """Country and province of a place, "" of anything else."""
    from qiaocrawl.news.names.places import resolve_place

    place = resolve_place(entity.text) if entity.kind == "place" else None
    return " ".join(filter(None, (place.country, place.province))) if place else ""
