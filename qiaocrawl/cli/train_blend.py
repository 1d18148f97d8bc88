"""``qiaocrawl extractors train blend``: the default extractor, from pages with known bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from qiaocrawl.cli.output import check_output, say_written
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.gold import gold_bodies
from qiaocrawl.extract.methods.block_training import LabelledPage, Recipe, labelled, train
from qiaocrawl.page import parse_page


def blend(
    gold: Annotated[
        Path, typer.Option(help="Folder with gold.jsonl and pages/ (see docs/extraction.md).")
    ],
    output: Annotated[Path, typer.Option(help="The network file to write (.npz).")],
    epochs: Annotated[int, typer.Option(min=1, max=500)] = Recipe().epochs,
    voters: Annotated[int, typer.Option(min=1, max=20)] = Recipe().voters,
) -> None:
    """Train blend on pages whose body is known; takes a few minutes for 800 pages."""
    check_output(output, "--output")
    recipe = Recipe(epochs=epochs, voters=voters)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bodies = list(progress.track(gold_bodies(gold), description="reading"))
        pages: list[LabelledPage] = []
        for gold_body in progress.track(bodies, description="labelling"):
            page = labelled(
                parse_page(gold_body.body, url=gold_body.url),
                gold_body.text,
                chinese=gold_body.chinese,
            )
            if page is not None:
                pages.append(page)
        if not pages:
            raise ConfigError(f"{gold}: no page with a body and any text")
        steps = progress.add_task("training", total=recipe.epochs * recipe.voters)
        network = train(pages, recipe, lambda: progress.advance(steps))
    network.save(output)
    blocks = sum(len(page.labels) for page in pages)
    say_written(output, f"trained on {len(pages)} pages, {blocks} blocks")
