"""``qiaocrawl topic seeds``: pages that searches found, for an operator to begin crawls at (T2)."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.cli.terminal import echo, echo_json
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.storage.search.seed_offers import SeedOffer, seed_offers
from qiaocrawl.urls import canonical_url

_HEAD = N_(
    "# Seeds: one address a line; lines with # are not crawled. Remove a # to pick, add your own."
)
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def seeds(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many are offered.")] = 50,
    pick: Annotated[
        str, typer.Option(help="Numbers of those you take, such as 1,3-5; all for all of them.")
    ] = "",
    add: Annotated[list[str] | None, typer.Option(help="An address of your own.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; -a seeds=FILE begins a crawl there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Offer the best pages of a topic's searches as start pages of a crawl; keep your choice."""
    with connection_to(database) as c:
        offers = seed_offers(c, topic, top)
    own = [_canonical(address) for address in add or ()]
    picked = picked_numbers(pick, len(offers))
    if out is not None:
        write_seeds(out, offers, picked, own)
    if as_json:
        echo_json([asdict(offer) for offer in offers])
        return
    _show(offers, picked)
    if not offers:
        echo(
            _("no search has found anything yet, run first:")
            + f"\n  qiaocrawl crawl search -a topic={topic}"
        )
    elif out is not None:
        echo(
            _("written: {file}, {count} start pages", file=out, count=len(picked) + len(own))
            + f"\n  qiaocrawl crawl site -a topic={topic} -a seeds={out} -a across=on"
        )
    else:
        echo(_("to take some:  --pick 1,3-5 --out seeds.txt"))


def picked_numbers(text: str, most: int) -> set[int]:
    """The numbers in *text*, such as ``1,3-5``; ``all`` is every one up to *most*.

    Raises:
        ConfigError: it is something else, or a number is not among those offered.
    """
    if text.strip().lower() == "all":
        return set(range(1, most + 1))
    picked: set[int] = set()
    for piece in filter(None, map(str.strip, text.split(","))):
        match = _RANGE.fullmatch(piece)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= most:
            raise ConfigError(
                _(
                    "--pick takes numbers from 1 to {most}, such as 1,3-5; got {piece!r}",
                    most=most,
                    piece=piece,
                )  # fmt: skip
            )
        picked.update(range(first, last + 1))
    return picked


def write_seeds(file: Path, offers: list[SeedOffer], picked: set[int], own: list[str]) -> None:
    """Write all *offers* to *file*, those not *picked* behind a ``#``, and the *own* addresses.

    Raises:
        ConfigError: the file is there already, since it may hold somebody's choice, or it
            cannot be written.
    """
    lines = [
        f"{'' if number in picked else '# '}{offer.url}  # {' '.join(offer.title.split())}\n"
        for number, offer in enumerate(offers, 1)
    ]
    try:
        with open(file, "x", encoding="utf-8") as written:
            written.writelines([_(_HEAD) + "\n", *lines, *(f"{address}\n" for address in own)])
    except FileExistsError:
        raise ConfigError(
            _("{file!r} exists; edit it, or give another name", file=str(file))
        ) from None
    except OSError as error:
        raise ConfigError(
            _("{file!r} cannot be written: {reason}", file=str(file), reason=error.strerror)
        ) from error


def _canonical(address: str) -> str:
    canonical = canonical_url(address.strip())
    if canonical is None:
        raise ConfigError(_("--add {address!r} is no http or https address", address=address))
    return canonical


def _show(offers: list[SeedOffer], picked: set[int]) -> None:
    table = folding_table(_("no."), _("picked"), _("title and address"), _("answers"))
    for column in (0, 3):
        table.columns[column].justify = "right"
    for number, offer in enumerate(offers, 1):
        mark = _("yes") if number in picked else ""
        shown = f"{escape(offer.title)}\n{escape(offer.url)}"
        table.add_row(str(number), mark, shown, str(offer.answers))
    if offers:
        table_console().print(table)
