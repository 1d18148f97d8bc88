"""``qiaocrawl extractors train blend``: the default extractor, from pages with known bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from qiaocrawl.cli.output import check_output, say_written
from qiaocrawl.cli.terminal import Terminal
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.block_training import (
    LabelledPage,
    Recipe,
    gold_bodies,
    labelled,
    train,
)
from qiaocrawl.language import _
from qiaocrawl.page.page import parse_page


def blend(
    gold: Annotated[
        Path, typer.Option(help="Folder with gold.jsonl and pages/ (see docs/extraction.md).")
    ],
    output: Annotated[Path, typer.Option(help="The network file to write (.npz).")],
    epochs: Annotated[
        int, typer.Option(min=1, max=500, help="Passes over the pages.")
    ] = Recipe().epochs,
    voters: Annotated[
        int, typer.Option(min=1, max=20, help="Networks that vote.")
    ] = Recipe().voters,
) -> None:
    """Train blend on pages whose body is known; takes a few minutes for 800 pages."""
    check_output(output, "--output")
    recipe = Recipe(epochs=epochs, voters=voters)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Terminal(stderr=True)) as progress:
        bodies = list(progress.track(gold_bodies(gold), description=_("reading")))
        pages: list[LabelledPage] = []
        for gold_body in progress.track(bodies, description=_("labelling")):
            page = labelled(
                parse_page(gold_body.body, url=gold_body.url),
                gold_body.text,
                chinese=gold_body.chinese,
            )
            if page is not None:
                pages.append(page)
        if not pages:
            raise ConfigError(_("{gold}: no page with a body and any text", gold=gold))
        steps = progress.add_task(_("training"), total=recipe.epochs * recipe.voters)
        network = train(pages, recipe, lambda: progress.advance(steps))
    network.save(output)
    blocks = sum(len(page.labels) for page in pages)
    say_written(
        output, _("trained on {count} pages, {blocks} blocks", count=len(pages), blocks=blocks)
    )
