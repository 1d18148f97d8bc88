"""``qiaocrawl reprocess``: run a stage again over what is stored."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from qiaocrawl.options import Options
from qiaocrawl.reprocess import Advance, again_dedup, again_extract, again_relevance
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage.reprocessing import count_articles, count_pages


class Stage(StrEnum):
    """The stages that can run again."""

    EXTRACT = "extract"
    RELEVANCE = "relevance"
    DEDUP = "dedup"


_RUN: dict[Stage, Callable[[Runtime, Advance], Counter[str]]] = {
    Stage.EXTRACT: again_extract,
    Stage.RELEVANCE: again_relevance,
    Stage.DEDUP: again_dedup,
}


def reprocess(
    stage: Annotated[Stage, typer.Option(help="Which stage to run again.")],
    database: Annotated[
        str, typer.Option(help="Database URL instead of QIAO_DATABASE_URL.")
    ] = "",
    workers: Annotated[int, typer.Option(help="Worker processes; 0 = one a core.", min=0)] = 0,
) -> None:
    """Run a stage again over stored pages, and say what changed. No crawl may run meanwhile."""
    given: dict[str, object] = {"QIAO_EXTRACT_WORKERS": workers or os.cpu_count() or 1}
    if database:
        given["QIAO_DATABASE_URL"] = database
    runtime = Runtime(Options.from_environment(given))
    console = Console()
    try:
        count = count_pages if stage is Stage.EXTRACT else count_articles
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                   TimeElapsedColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task(stage.value, total=runtime.reader.run(count))
            changes = _RUN[stage](runtime, lambda done: progress.advance(task, done))
    finally:
        runtime.close()
    table = Table("result", "count")
    for result, number in changes.most_common():
        table.add_row(result, str(number))
    console.print(table)
