"""``qiaocrawl model``: whether a language model may be asked, and whether it keeps to the form."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime

import typer

from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.output import echo
from qiaocrawl.errors import ConfigError, WriterError
from qiaocrawl.language import _
from qiaocrawl.news.writing.address import Day, ModelAddress, spent_today
from qiaocrawl.news.writing.drafting import MADE_UP, Paragraph, draft, fault_words
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.storage.audit_log import Actor

app = typer.Typer(
    help="A language model that drafts: whether it may be asked, and keeps to the form.",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Keeps ``check`` a command of its own."""


@app.command()
def check(database: DatabaseUrl = "") -> None:
    """Ask the model for a line about three made-up sentences: what it costs, and if it obeys.

    No stored text is sent. What is asked counts against the day's budget.
    """
    address = ModelAddress.from_options(Options.from_environment())
    if not address.url:
        raise ConfigError(
            _(
                "No model is set up, and nothing needs one. QIAO_MODEL_URL and QIAO_MODEL_NAME "
                "name one (http://127.0.0.1:11434/v1 of Ollama)."
            )
        )
    with opened_database(database) as opened:
        opened.require_current()
        _say_address(opened, address)
        try:
            paragraph = draft(opened, address, Actor(getpass.getuser()), "check", [MADE_UP], None)
        except WriterError as error:
            echo(str(error), err=True)
            raise typer.Exit(1) from None
        _say_answer(paragraph, address)
        with opened.engine.connect() as c:
            _say_day(spent_today(c, datetime.now(UTC)), address)
    if not paragraph.sentences:
        raise typer.Exit(1)


def _say_address(database: Database, address: ModelAddress) -> None:
    echo(_("{model} at {address}", model=address.name, address=address.origin))
    try:
        is_inside = address.is_inside()
    except WriterError as error:
        echo(str(error), err=True)
        raise typer.Exit(1) from None
    if is_inside:
        echo(_("It is inside this network: texts of all topics may be sent there."))
    elif address.topics:
        names = _(", ").join(sorted(address.topics))
        echo(_("It is outside: texts of {topics} may be sent there.", topics=names))
    else:
        echo(_("It is outside: no stored text may be sent there (QIAO_MODEL_TOPICS)."))


def _say_answer(paragraph: Paragraph, address: ModelAddress) -> None:
    for own in paragraph.sentences:
        echo(f"  + {own.text}")
    for dropped in paragraph.dropped:
        why = _("; ").join(map(fault_words, dropped.faults))
        echo(f"  - {dropped.text} ({why})")
    if paragraph.sentences:
        echo(_("It keeps to the form, and to what it cites."))
    else:
        echo(_("It does not keep to the form: no sentence of its could be used."))
    echo(
        _(
            "{tokens} tokens, {seconds:.1f} s, cost {cost:.4f}",
            tokens=f"{paragraph.tokens:,}",
            seconds=paragraph.seconds,
            cost=paragraph.cost,
        )
    )


def _say_day(day: Day, address: ModelAddress) -> None:
    echo(
        _(
            "Today: {spent} of {most} tokens, cost {cost:.4f}, {failed} of {calls} calls failed",
            spent=f"{day.tokens:,}",
            most=f"{address.tokens_a_day:,}",
            cost=day.cost,
            failed=day.failed,
            calls=day.calls,
        )
    )
