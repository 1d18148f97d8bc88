"""``qiaocrawl url …``: single URLs of the frontier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, transaction_on
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome
from qiaocrawl.storage.frontier.retry_closed import (
    RETRIED,
    USUAL,
    Choice,
    FailedUrl,
    failed_urls,
    outcomes_of,
    wait_again,
)
from qiaocrawl.topic.hosts import normalise_host
from qiaocrawl.urls import canonical_url

app = typer.Typer(help="Single URLs of a crawl. 网址", no_args_is_help=True)

_ROWS_SHOWN = 20


@app.callback()
def group() -> None:
    """Single URLs of a crawl. 网址"""


@app.command()
def retry(
    urls: Annotated[list[str] | None, typer.Argument(help="Addresses of the pages.")] = None,
    host: Annotated[str, typer.Option(help="All of these hosts, comma separated. 主机")] = "",
    outcome: Annotated[
        str,
        typer.Option(
            help=f"How they ended, comma separated: {', '.join(RETRIED)}. "
            f"Not given: {', '.join(USUAL)}. 结果"
        ),
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Whatever the host; else name URLs, hosts or outcomes.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would wait.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Give URLs that failed another chance: the next crawl fetches them. 重试

    What was left out by a decision stays: refused addresses, robots.txt, guesses, the crawl order.
    """
    choice = _choice(urls or [], host, outcome)
    if not (urls or host or outcome or everything):
        raise ConfigError(
            "请写网址、--host、--outcome 或 --all: name URLs, --host, --outcome or --all"
        )
    with transaction_on(database) as c:
        failed = failed_urls(c, choice)
        ended = outcomes_of(c, choice.urls) if choice.urls else {}
        waiting = len(failed) if dry_run else wait_again(c, failed)
    if failed:
        _print(failed)
    _print_others(choice.urls, {row.url for row in failed}, ended)
    how = (
        "会重新等待采集（试运行，未写入）would wait (dry run)"
        if dry_run
        else "重新等待采集 wait again"
    )
    typer.echo(f"{waiting} 个网址{how}")


def _choice(urls: Sequence[str], hosts: str, outcomes: str) -> Choice:
    addresses = []
    for url in urls:
        address = canonical_url(url)
        if address is None:
            raise ConfigError(f"{url!r} 不是网址 is not the http(s) address of a page")
        addresses.append(address)
    try:
        names = [normalise_host(name) for name in _listed(hosts)]
    except ValueError as error:
        raise ConfigError(f"--host 主机名不对: {error}") from None
    return Choice([_outcome(name) for name in _listed(outcomes)] or USUAL, addresses, names)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _outcome(name: str) -> Outcome:
    if name not in RETRIED:
        raise ConfigError(
            f"--outcome {name!r} 不能重试 cannot be retried (可以 allowed: {', '.join(RETRIED)})"
        )
    return Outcome(name)


def _print(failed: Sequence[FailedUrl]) -> None:
    counts = Counter((row.host, row.outcome) for row in failed)
    table = folding_table("主机 host", "结果 outcome", "网址数 URLs", "例 example", "原因 reason")
    table.columns[2].justify = "right"
    for (host, outcome), count in counts.most_common(_ROWS_SHOWN):
        example = next(row for row in failed if (row.host, row.outcome) == (host, outcome))
        table.add_row(host, outcome, str(count), escape(example.url), escape(example.reason))
    table_console().print(table)
    if len(counts) > _ROWS_SHOWN:
        typer.echo(f"  … 另有 {len(counts) - _ROWS_SHOWN} 行 more rows")


def _print_others(urls: Collection[str], failed: Collection[str], ended: dict[str, str]) -> None:
    """Say of each URL that was named why it is not tried again."""
    for url in urls:
        if url in failed:
            continue
        if url not in ended:
            why = "从未见过 never met by a crawl"
        elif not ended[url]:
            why = "正在等待或采集 waits or is being fetched"
        else:
            why = f"结果为 {ended[url]}，不重试 ended so, not retried"
        typer.echo(f"  {url}: {why}")
