"""``qiaocrawl url …``: single URLs of the frontier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, transaction_on
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.reading.outcome_names import outcome_with_code
from qiaocrawl.storage.frontier.postponed import (
    RETRIED,
    USUAL,
    Choice,
    FailedUrl,
    failed_urls,
    outcomes_of,
    wait_again,
)
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
        names = [normalise_host(name) for name in _listed(hosts)]
    except ValueError as error:
        raise ConfigError(_("--host: {error}", error=error)) from None
    return Choice([_outcome(name) for name in _listed(outcomes)] or USUAL, addresses, names)


def _listed(text: str) -> list[str]:
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
        table.add_row(host, outcome_with_code(outcome), str(count), escape(example.url),
                      escape(shown_reason(example.reason)))  # fmt: skip
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
