"""``qiaocrawl url …`` and ``why``: single URLs of the frontier, and what became of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.output import echo, echo_json, folding_table, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome, Standing
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.reading.outcome_names import outcome_with_code
from qiaocrawl.reading.url_answer import UrlAnswer, answer_lines, answer_of
from qiaocrawl.storage.frontier.postponed import (
    RETRIED,
    USUAL,
    Choice,
    FailedUrl,
    failed_urls,
    outcomes_of,
    wait_again,
)
from qiaocrawl.storage.url_history import Judgement, UrlHistory
from qiaocrawl.topic.pack import normalise_host
from qiaocrawl.urls import canonical_url

app = typer.Typer(help="Single URLs of a crawl.", no_args_is_help=True)

_ROWS_SHOWN = 20


@app.callback()
def group() -> None:
    """Single URLs of a crawl."""


@app.command()
def retry(
    urls: Annotated[list[str] | None, typer.Argument(help="Addresses of the pages.")] = None,
    host: Annotated[str, typer.Option(help="All of these hosts, comma separated.")] = "",
    outcome: Annotated[
        str,
        typer.Option(
            help="How they ended, comma separated; a wrong name lists all. Not given: poison, "
            "dead, unreachable."
        ),
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Whatever the host; else name URLs, hosts or outcomes.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would wait.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Give URLs that failed another chance: the next crawl fetches them.

    What was left out by a decision stays: refused addresses, robots.txt, guesses, the crawl order.
    """
    choice = _choice(urls or [], host, outcome)
    if not (urls or host or outcome or everything):
        raise ConfigError(_("name URLs, --host, --outcome or --all"))
    with transaction_on(database) as c:
        failed = failed_urls(c, choice)
        ended = outcomes_of(c, choice.urls) if choice.urls else {}
        waiting = len(failed) if dry_run else wait_again(c, failed)
        if dry_run:
            c.rollback()
    if failed:
        _print(failed)
    _print_others(choice.urls, {row.url for row in failed}, ended)
    summary = (
        _("{count} URLs would wait again (dry run)") if dry_run else _("{count} URLs wait again")
    )
    echo(summary.format(count=waiting))


def _choice(urls: Sequence[str], hosts: str, outcomes: str) -> Choice:
    addresses = []
    for url in urls:
        address = canonical_url(url)
        if address is None:
            raise ConfigError(_("{url!r} is not the http(s) address of a page", url=url))
        addresses.append(address)
    try:
        names = [normalise_host(name) for name in _split_list(hosts)]
    except ValueError as error:
        raise ConfigError(_("--host: {error}", error=error)) from None
    return Choice([_outcome(name) for name in _split_list(outcomes)] or USUAL, addresses, names)


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _outcome(name: str) -> Outcome:
    if name not in RETRIED:
        raise ConfigError(
            _(
                "--outcome {name!r} cannot be retried (allowed: {names})",
                name=name,
                names=", ".join(RETRIED),
            )
        )
    return Outcome(name)


def _print(failed: Sequence[FailedUrl]) -> None:
    counts = Counter((row.host, row.outcome) for row in failed)
    table = folding_table(_("host"), _("outcome"), _("URLs"), _("example"), _("reason"))
    table.columns[2].justify = "right"
    for (host, outcome), count in counts.most_common(_ROWS_SHOWN):
        example = next(row for row in failed if (row.host, row.outcome) == (host, outcome))
        table.add_row(
            host,
            outcome_with_code(outcome),
            str(count),
            escape(example.url),
            escape(shown_reason(example.reason)),
        )
    table_console().print(table)
    if len(counts) > _ROWS_SHOWN:
        echo(_("  … {more} more rows", more=len(counts) - _ROWS_SHOWN))


def _print_others(urls: Collection[str], failed: Collection[str], ended: dict[str, str]) -> None:
    """Say of each URL that was named why it is not tried again."""
    for url in urls:
        if url in failed:
            continue
        if url not in ended:
            why = _("never met by a crawl")
        elif not ended[url]:
            why = _("waits or is being fetched")
        else:
            why = _("ended as {ended}, which is not retried", ended=ended[url])
        echo(f"  {url}: {why}")


# --- ``qiaocrawl report why URL``: why a URL was fetched, left out, or still waits ----------------


def why(
    url: Annotated[str, typer.Argument(help="The address, as written or canonical.")],
    topic: Annotated[str, typer.Option(help="Show this topic's judgement only.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Show why a URL was fetched, left out or waits: score and parts, path, what came of it."""
    most_visits: int = Options.from_environment()["QIAO_STRATEGY_HISTORY_PAGES"]

    def place(c: Connection, found: UrlHistory, parent_id: int | None) -> Standing | None:
        from qiaocrawl.frontier.explain import standing_of

        return standing_of(c, found, parent_id, most_visits)

    with connection_to(database) as c:
        answer = answer_of(c, url, place)
    if as_json:
        echo_json(_as_dict(answer, topic))
    else:
        _show(answer, topic)


def _show(answer: UrlAnswer, topic: str) -> None:
    table = folding_table(_("what"), _("value"))
    for name, value in answer_lines(answer, topic):
        table.add_row(name, escape(value))
    table_console().print(table)


def _as_dict(answer: UrlAnswer, topic: str) -> dict[str, Any]:
    history, standing = answer.history, answer.standing
    return {
        "asked": answer.asked,
        "url": history.url,
        "topic": history.topic,
        "queue": history.queue.value,
        "state": history.state.name.lower(),
        "outcome": history.outcome or None,
        "reason": history.reason or None,
        "http_status": history.http_status,
        "failures": history.failures,
        "not_before": history.not_before if history.not_before > time.time() else None,
        "trap": answer.trap or None,
        "leads_to": answer.redirect or None,
        "strategy": standing and standing.strategy,
        "score": standing and standing.score,
        "place": standing and standing.place,
        "waiting": standing and standing.waiting,
        "parts": dict(standing.parts) if standing else {},
        "decided_at": answer.decided_at,
        "path": [
            {"url": step.url, "anchor": step.anchor, "depth": step.depth} for step in answer.path
        ],
        "parent_relevance": answer.parent_relevance,
        "relevance": answer.own_relevance,
        "discovered_at": _iso(history.discovered_at),
        "fetched_at": _iso(history.fetched_at),
        "article": _article_dict(answer, topic),
    }


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="seconds")


def _article_dict(answer: UrlAnswer, topic: str) -> dict[str, Any] | None:
    article = answer.article
    if article is None:
        return None
    judged: Iterable[Judgement] = article.judgements
    return {
        "title": article.title,
        "published_at": _iso(article.published_at),
        "html": article.html or None,
        "judgements": [
            {
                "topic": judgement.topic,
                "score": judgement.score,
                "relevant": judgement.relevant,
                "method": judgement.method,
                "terms": [list(term) for term in judgement.terms],
                "basis": answer.bases.get(judgement.topic),
            }
            for judgement in judged
            if topic in ("", judgement.topic)
        ],
        "verdict": article.verdict or None,
        "verdict_why": article.why or None,
        "reprint_of": article.of_url or None,
    }
