"""``qiaocrawl topic judge`` and ``topic judgements``: what operators say of pages."""

from __future__ import annotations

import getpass
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.output import folding_table, not_an_address, shown_moment, table_console
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options.project import advised
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.topics import judgements as stored
from qiaocrawl.storage.topics.changes import basis_of, few_on_topic
from qiaocrawl.topic.workbook.form import answer_of, read_judgements
from qiaocrawl.urls import canonical_url

_URLS_SHOWN = 20
# More than anybody judges.
_ALL = 1_000_000

TopicName = Annotated[str, typer.Argument(help="Name of an imported topic.")]


def judge(
    topic: TopicName,
    url: Annotated[str, typer.Argument(help="Address of the page.")] = "",
    answer: Annotated[str, typer.Argument(help="Whether it is on topic: yes or no.")] = "",
    table: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Table (.xlsx, .csv) with addresses and judgements: an exported one, its column "
            "filled in.",
        ),
    ] = None,
    note: Annotated[str, typer.Option(help="Why, for those who read it later.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Say whether a page is on topic: that is its verdict from now on.

    Its article becomes a sample of the topic, which running crawls take over; `qiaocrawl reprocess
    --stage relevance` judges what is stored anew. The last judgement of a page counts.
    Many at once: an exported Excel, its column filled in, comes back by --from.
    """
    if table is not None:
        if url or answer:
            raise ConfigError(_("give a page and an answer, or --from FILE, not both"))
        _judge_table(topic, table, note, database)
        return
    if not (url and answer):
        raise ConfigError(_("give a page and yes or no, or --from FILE"))
    relevant = answer_of(answer)
    if relevant is None:
        raise ConfigError(_("a page is on topic, yes or no, got {answer!r}", answer=answer))
    address = canonical_url(url)
    if address is None:
        raise ConfigError(not_an_address(url))
    with transaction_on(database) as c:
        has_article = stored.save_judgement(
            c, topic, address, relevant=relevant, note=note, now=time.time()
        )
    echo(f"{address}: {_shown(relevant)}")
    if not has_article:
        echo(_("there is no article at this address yet; the judgement counts once there is"))


def threshold(
    topic: TopicName,
    line: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Score from which articles are to be on topic; only shown when 0."
        ),
    ] = 0.0,
    by: Annotated[str, typer.Option(help="Who says so; the user of this machine when empty.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Show what another threshold would change, or set it.

    Scores are those of the stored articles, as `qiaocrawl article list` shows them. Crawls judge by
    a new threshold within a minute; `qiaocrawl reprocess --stage relevance` judges anew what is
    stored.
    """
    from qiaocrawl.console.keepers import Stale, crawl_scorer, move_line, threshold_of

    if not line:
        with connection_to(database) as c:
            present = threshold_of(crawl_scorer(stored.judged_pack(c, topic)))
            few, basis = few_on_topic(c, topic), basis_of(c, topic)
        echo(_("{topic}: on topic from a score of {present:.3f}", topic=topic, present=present))
        for text in (few.why, few.remedy) if few is not None else (basis.note,):
            if text:
                echo(text)
        return
    anew = advised("qiaocrawl reprocess --stage relevance --yes")
    with transaction_on(database) as c:
        try:
            new, view = move_line(c, Actor(by or getpass.getuser()), topic, line)
        except Stale as error:
            raise ConfigError(f"{error}: {anew}") from None
    echo(
        _(
            "{topic}: the threshold is {new:.3g} now; {to_on} stored articles more will be on "
            "topic, {to_off} no longer, once they are judged anew:",
            topic=topic,
            new=new,
            to_on=view.to_on,
            to_off=view.to_off,
        )  # fmt: skip
    )
    echo(f"  {anew}")


def _judge_table(topic: str, table: Path, note: str, database: str) -> None:
    """Save all judgements of a table, or none."""
    judged = read_judgements(table)
    now = time.time()
    with transaction_on(database) as c:
        before = {row.url: row.relevant for row in stored.list_judgements(c, topic, _ALL)}
        unknown = [
            row.url for row in judged.rows
            if not stored.save_judgement(c, topic, row.url, relevant=row.relevant,
                                         note=row.note or note, now=now)
        ]  # fmt: skip
    yes = sum(row.relevant for row in judged.rows)
    changed = sum(before.get(row.url, row.relevant) != row.relevant for row in judged.rows)
    echo(
        _(
            "{count} judged (yes {yes}, no {no}, {changed} otherwise than before); {blank} rows "
            "without",
            count=len(judged.rows),
            yes=yes,
            no=len(judged.rows) - yes,
            changed=changed,
            blank=judged.blank,
        )
    )
    _print_unknown(unknown)
    if judged.rows:
        command = advised("qiaocrawl reprocess --stage relevance --dry-run")
        echo(_("next: {command}", command=command))


def _print_unknown(urls: Sequence[str]) -> None:
    if not urls:
        return
    echo(_("{count} addresses have no article yet; they count when there is one:", count=len(urls)))
    for url in urls[:_URLS_SHOWN]:
        echo(f"  {url}")
    if len(urls) > _URLS_SHOWN:
        echo(_("  … {more} more", more=len(urls) - _URLS_SHOWN))


def judgements(
    topic: TopicName,
    limit: Annotated[int, typer.Option(min=1, help="Newest judgements shown.")] = 100,
    database: DatabaseUrl = "",
) -> None:
    """List what operators said of pages, the newest first."""
    with connection_to(database) as c:
        judged = stored.list_judgements(c, topic, limit)
    table = folding_table(_("judged at"), _("on topic"), _("URL"), _("article"), _("note"))
    for row in judged:
        title = _("(none yet)") if row.title is None else row.title
        table.add_row(
            shown_moment(row.judged_at), _shown(row.relevant), escape(row.url),
            escape(title), escape(row.note),
        )  # fmt: skip
    table_console().print(table)


def _shown(relevant: bool) -> str:
    return _("yes") if relevant else _("no")
