"""``qiaocrawl report tone …``: how a text judges; a model of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.entities import title_and_text
from qiaocrawl.cli.output import say_written, table_console
from qiaocrawl.language import N_, _

if TYPE_CHECKING:
    from qiaocrawl.news.tone_model import ToneModel

app = typer.Typer(help="The tone of texts, and towards what they name.", no_args_is_help=True)

_LABELS = {
    "negative": N_("negative"),
    "positive": N_("positive"),
    "neutral": N_("neutral"),
    "unsure": N_("unsure"),
}


@app.command()
def show(
    file: Annotated[
        Path, typer.Argument(help="A UTF-8 text, its first line the title; - reads the input.")
    ],
    towards: Annotated[
        list[str] | None,
        typer.Option(help="A body, person or topic, and its other names: the tone towards it."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="A model of your own; without it judging words decide.")
    ] = None,
    sure_from: Annotated[
        float, typer.Option(min=0, max=1, help="Below this probability a tone is unsure.")
    ] = 0.6,
) -> None:
    """Print the tone of a text, how probable it is, and the words that told."""
    from qiaocrawl.news.tone_model import tone_of, tone_towards

    title, text = title_and_text(file)
    own = _model(model)
    if towards:
        tone = tone_towards(towards, title, text, own, sure_from)
    else:
        tone = tone_of(title, text, own, sure_from)
    console = table_console()
    console.print(_(_LABELS[tone.label]), style="bold")
    shares = zip(("negative", "positive", "neutral"), tone.probabilities, strict=True)
    console.print("  ".join(f"{_(_LABELS[name])} {share:.0%}" for name, share in shares))
    for word, value in tone.words:
        console.print(f"  {word} {value:+.2f}", markup=False)


@app.command()
def train(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file .jsonl or .jsonl.gz: an object a line, with text and label "
            "(negative, positive, neutral) and, if there, body, target, domain."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the model is written.")] = Path("tone.npz.xz"),
    towards_target: Annotated[
        bool, typer.Option("--towards-target", help="The labels are of the tone towards target.")
    ] = False,
) -> None:
    """Learn a model of your own from texts whose tone is known."""
    from qiaocrawl.news.tone_training import read_marked_tones, train_tone

    marked = read_marked_tones(file)
    train_tone(marked, towards_target=towards_target).write(out)
    say_written(out, _("{texts:,} texts", texts=len(marked)))


def _model(path: Path | None) -> ToneModel | None:
    if path is None:
        return None
    from qiaocrawl.news.tone_model import read_tone_model

    return read_tone_model(path)
