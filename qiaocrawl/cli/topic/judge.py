"""``qiaocrawl topic judge`` and ``topic judgements``: what operators say of pages."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.cli.output import folding_table, shown_moment, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.storage.topics import judgements as stored
from qiaocrawl.urls import canonical_url

_ANSWERS = {"yes": True, "y": True, "是": True, "no": False, "n": False, "否": False}

TopicName = Annotated[str, typer.Argument(help="Name of an imported topic.")]


def judge(
    topic: TopicName,
    url: Annotated[str, typer.Argument(help="Address of the page.")],
    answer: Annotated[str, typer.Argument(help="Whether it is on topic: yes or no (是/否).")],
    note: Annotated[str, typer.Option(help="Why, for those who read it later.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Say whether a page is on topic: that is its verdict from now on.

    Its article becomes a sample of the topic. Crawls learn from it when they start; `qiaocrawl
    reprocess --stage relevance` judges what is stored anew. The last judgement of a page counts.
    """
    relevant = _ANSWERS.get(answer.strip().lower())
    if relevant is None:
        raise ConfigError(f"a page is on topic, yes or no (是 or 否), got {answer!r}")
    address = canonical_url(url)
    if address is None:
        raise ConfigError(f"{url!r} is not the http(s) address of a page")
    with opened_database(database) as opened:
        opened.require_current()
        with opened.engine.begin() as c:
            stored.save_judgement(c, topic, address, relevant=relevant, note=note,
                                  now=time.time())  # fmt: skip
            newest = stored.list_judgements(c, topic, limit=1)[0]
    typer.echo(f"{address}: {_shown(relevant)}")
    if newest.title is None:
        typer.echo("there is no article at this address yet; the judgement counts once there is")


def judgements(
    topic: TopicName,
    limit: Annotated[int, typer.Option(min=1, help="Newest judgements shown.")] = 100,
    database: DatabaseUrl = "",
) -> None:
    """List what operators said of pages, the newest first."""
    with opened_database(database) as opened:
        opened.require_current()
        with opened.engine.connect() as c:
            judged = stored.list_judgements(c, topic, limit)
    table = folding_table("判断 judged", "切题 on topic", "网址 URL", "文章 article", "备注 note")
    for row in judged:
        title = "(无 none yet)" if row.title is None else row.title
        table.add_row(
            shown_moment(row.judged_at), _shown(row.relevant), escape(row.url),
            escape(title), escape(row.note),
        )  # fmt: skip
    table_console().print(table)


def _shown(relevant: bool) -> str:
    return "是 yes" if relevant else "否 no"
