"""``qiaocrawl warnings …``: stories the office is warned of, messages, and the rules."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to, opened_database, transaction_on
from qiaocrawl.cli.options import start_of
from qiaocrawl.cli.output import echo, folding_table, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlalchemy import Connection

    from qiaocrawl.news.warnings.machine import StoryWarning, Warnings
    from qiaocrawl.news.warnings.office_rules import OfficeRule, OfficeRules
    from qiaocrawl.runtime.runtime import Runtime
    from qiaocrawl.storage import Database

# --- ``qiaocrawl warnings rules``: of what to warn, as a list, to a file and from one -------------


def rules(
    out: Annotated[
        Path | None, typer.Option("--out", help="Write them to this TOML file instead.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Take the rules of this TOML file into the database."),
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """List the rules of warnings: those of QIAO_WARNING_RULES, and those of the database.

    The console shows and changes those of the database. `--out` writes what counts of both.
    `--from` takes the place of rules of the same names; where the file of QIAO_WARNING_RULES has a
    name too, that file's word counts.
    """
    if source is not None:
        _take(source, database)
        return
    from qiaocrawl.news.warnings.office_rules import office_rules

    with connection_to(database) as c:
        office = office_rules(c, Options.from_environment()["QIAO_WARNING_RULES"])
    if out is not None:
        from qiaocrawl.cli.output import write_text
        from qiaocrawl.news.warnings.rules import rules_text

        write_text(out, rules_text(office.book))
        return
    _list(office)


def _take(source: Path, database: str) -> None:
    from qiaocrawl.news.warnings.office_rules import import_rules, office_rules
    from qiaocrawl.news.warnings.rules import read_rules
    from qiaocrawl.storage.audit_log import Actor, record

    book = read_rules(source)
    file = Options.from_environment()["QIAO_WARNING_RULES"]
    with transaction_on(database) as c:
        by = getpass.getuser()
        done = import_rules(c, book, office_rules(c, file), by, datetime.now(UTC))
        names = {"rules": [rule.name for rule in book.rules]}
        record(c, Actor(by), "rule.import", source.name, None, names)
    echo(_("rules: {added:,} added, {changed:,} changed", added=done.added, changed=done.changed))
    if done.hidden:
        echo(
            _(
                "the file of QIAO_WARNING_RULES has rules of these names, and its word counts: "
                "{names}",
                names=_(", ").join(done.hidden),
            )
        )


def _list(office: OfficeRules) -> None:
    from qiaocrawl.news.warnings.machine import SEVERITY_NAMES
    from qiaocrawl.news.warnings.rules import quiet_text, rule_conditions

    if not office.rules:
        echo(_("there is no rule yet: the console has a form for them (docs/analysis.md)"))
    else:
        table = folding_table(_("rule"), _("severity"), _("from"), _("warns if"), _("channels"))
        for one in office.rules:
            table.add_row(
                escape(one.rule.name),
                _(SEVERITY_NAMES[one.rule.severity]),
                _origin(one),
                escape("\n".join(rule_conditions(one.rule))),
                escape(_(", ").join(one.rule.channels)),
            )
        table_console().print(table)
    echo(_("quiet hours: {hours}", hours=quiet_text(office.quiet)))


def _origin(one: OfficeRule) -> str:
    """Where a rule is from, and why it does not count if so."""
    origin = _("file") if one.kept is None else _("database")
    if not one.rule.enabled:
        return _("{origin}, switched off", origin=origin)
    return origin if one.counts else _("{origin}, but the file's counts", origin=origin)


app = typer.Typer(
    help="Warnings: stories that your rules hold for; listed, checked, sent, muted; the rules.",
    no_args_is_help=True,
)

app.command()(rules)

# What came within a day is looked at again, so that a check that was killed is made good.
LOOKS_BACK = timedelta(days=1)
_STATES = {"open": N_("open"), "closed": N_("closed"), "muted": N_("muted")}
_ORDER = ("urgent", "warning", "notice")


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Closed and muted ones too.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """List warnings, the most severe first, with why; and messages that did not arrive."""
    from qiaocrawl.news.warnings.machine import SEVERITY_NAMES
    from qiaocrawl.news.warnings.stored import load_warnings, stuck_messages

    with connection_to(database) as c:
        warnings = [
            warning
            for warning in load_warnings(c).values()
            if everything or warning.status == "open"
        ]
        numbers = _numbers(c, warnings)
        stuck = stuck_messages(c)
    if not warnings:
        echo(_("no warning is open"))
    table = folding_table(
        _("story number"), _("severity"), _("state"), _("since"), _("articles"), _("title, and why")
    )
    for warning in sorted(warnings, key=lambda own: (_ORDER.index(own.severity), own.opened_at)):
        table.add_row(
            numbers.get(warning.story, ""),
            _(SEVERITY_NAMES[warning.severity]),
            _(_STATES[warning.status]),
            china_time(warning.opened_at),
            str(warning.articles),
            escape(_warning_text(warning)),
        )
    if warnings:
        table_console().print(table)
    for message in stuck:
        echo(
            _(
                "not delivered to {channel} after {attempts} attempts: {title} ({error})",
                channel=message.channel,
                attempts=message.attempts,
                title=message.title,
                error=shown_reason(message.error),
            )
        )


@app.command()
def check(
    since: Annotated[
        str, typer.Option(help="Stories something came to since: today, 12h, 7d, 2026-03-05.")
    ] = "1d",
    database: DatabaseUrl = "",
) -> None:
    """Hold the rules of the office against stories; `qiaocrawl analyse` does so too.

    Rules are those of QIAO_WARNING_RULES and those written in the console. Messages wait for
    `qiaocrawl warnings send`. The same check made again tells nothing.
    """
    from qiaocrawl.runtime.runtime import Runtime

    start = start_of(since, "--since")
    given = {"QIAO_DATABASE_URL": database} if database else {}
    options = Options.from_environment(given)
    runtime = Runtime(options, crawling=False)
    try:
        messages = check_with(runtime, options, start or datetime.fromtimestamp(0, UTC))
        if messages is None:
            raise ConfigError(
                _(
                    "there are no rules: write some in the console, or name a file of "
                    "them by QIAO_WARNING_RULES (docs/analysis.md)"
                )
            )
        if messages:
            say_how_to_send()
    finally:
        runtime.close()


@app.command()
def send(database: DatabaseUrl = "") -> None:
    """Send the messages that are due to the channels of the console and QIAO_WARNING_CHANNELS.

    What is not accepted is tried again later: run it every few minutes. Exit code 1 if something
    was not delivered.
    """
    options = Options.from_environment()
    with opened_database(database) as opened:
        opened.require_current()
        if not has_channels(opened, options):
            # Else every message would use up its attempts and be given up.
            raise ConfigError(
                _(
                    "there is no channel: enter one in the console, or name a file of them by "
                    "QIAO_WARNING_CHANNELS (docs/analysis.md)"
                )
            )
        if not send_with(opened, options):
            raise typer.Exit(1)


@app.command()
def digest(
    topic: Annotated[str, typer.Argument(help="Its events only; empty for all topics.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Print the morning's digest as channels would get it now."""
    from qiaocrawl.news import pushes
    from qiaocrawl.storage.topics.topics import topic_id

    with connection_to(database) as c:
        if topic:
            topic_id(c, topic)
        title, text = pushes.digest(c, datetime.now(UTC), topic)
    echo(f"{title}\n\n{text}")


@app.command()
def push(
    channel: Annotated[str, typer.Argument(help="Name of a channel.")],
    at: Annotated[str, typer.Option(help="Send the digest then, such as 7:30, China's time.")] = "",
    topic: Annotated[str, typer.Option(help="Its events only; empty for all topics.")] = "",
    workdays: Annotated[bool, typer.Option("--workdays", help="Not on days off.")] = False,
    alarms: Annotated[bool, typer.Option("--alarms", help="Also what needs a hand.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Say what a channel is told beside warnings: a daily digest, alarms; neither ends both.

    `qiaocrawl warnings send`, run every few minutes, or a console that runs, sends it.
    """
    from qiaocrawl.news.pushes import Push, keep_push, written_minute
    from qiaocrawl.news.trends.usual import calendar_with
    from qiaocrawl.news.warnings.channels import known_channels, require_channel
    from qiaocrawl.storage.topics.topics import topic_id

    try:
        minute = written_minute(at) if at else None
    except ValueError as error:
        raise ConfigError(_("the time of the digest {reason}", reason=error)) from None
    with transaction_on(database) as c:
        file = Options.from_environment()["QIAO_WARNING_CHANNELS"]
        require_channel(channel, known_channels(c, file))
        if topic:
            topic_id(c, topic)
        push = Push(channel, minute, topic, workdays, alarms)
        keep_push(c, push)
    calendar = calendar_with(Options.from_environment()["QIAO_HOLIDAYS"])
    at_next = push.next_digest(datetime.now(UTC), calendar)
    digest = (
        _("no digest")
        if at_next is None
        else _("the next digest {at}", at=china_time(at_next, "%Y-%m-%d %H:%M"))
    )
    told = _("what needs a hand is told") if alarms else _("what needs a hand is not told")
    echo(_("{channel}: {digest}; {told}", channel=channel, digest=digest, told=told))


@app.command()
def mute(
    story: Annotated[int, typer.Argument(help="Number of a story.")], database: DatabaseUrl = ""
) -> None:
    """Tell nobody of a story any more."""
    from qiaocrawl.news.warnings.machine import mute

    _mark(database, story, mute)
    echo(_("noted: nobody is told of it any more"))


@app.command()
def unmute(
    story: Annotated[int, typer.Argument(help="Number of a story.")], database: DatabaseUrl = ""
) -> None:
    """Tell of a muted story again; the next check tells channels what they missed."""
    from qiaocrawl.news.warnings.machine import unmute

    _mark(database, story, lambda warnings, own: unmute(warnings, own, datetime.now(UTC)))
    echo(_("noted: it is told of again"))


def _mark(
    database: str,
    story: int,
    changed: Callable[[Warnings, str], Warnings],
) -> None:
    """Keep the warnings as *changed* makes them of those there are and the story's name."""
    from qiaocrawl.news.warnings.stored import keep_step, load_warnings, lock_warnings

    with transaction_on(database) as c:
        lock_warnings(c)
        warnings = load_warnings(c)
        numbers = _numbers(c, warnings.values())
        named = next((name for name, number in numbers.items() if number == str(story)), "")
        if not named:
            raise ConfigError(_("there is no warning of story {number}", number=story))
        keep_step(c, warnings, changed(warnings, named), (), datetime.now(UTC))


def check_with(runtime: Runtime, options: Options, since: datetime) -> int | None:
    """Check with the rules of the office; how many messages are to be sent.

    None where there is no rule, and no warning that one opened before.
    """
    from qiaocrawl.news.trends.usual import calendar_with
    from qiaocrawl.news.warnings.check import check_warnings
    from qiaocrawl.news.warnings.machine import Moment
    from qiaocrawl.news.warnings.office_rules import office_rules
    from qiaocrawl.news.warnings.stored import count_by_status

    file = options["QIAO_WARNING_RULES"]
    book = runtime.reader.run(lambda c: office_rules(c, file)).book
    if not book.rules and not runtime.reader.run(count_by_status):
        return None
    moment = Moment(datetime.now(UTC), calendar_with(options["QIAO_HOLIDAYS"]), book.quiet)
    checked = check_warnings(runtime, book.rules, moment, since)
    echo(
        _(
            "warnings: {stories:,} stories looked at, {open:,} open, {messages:,} to be sent",
            stories=checked.stories,
            open=checked.open,
            messages=checked.messages,
        )
    )
    return checked.messages


def say_how_to_send() -> None:
    """Say which command sends what waits."""
    echo(_("`{command}` sends them", command=command_here("qiaocrawl warnings send")))


def has_channels(database: Database, options: Options) -> bool:
    """Whether a message can go anywhere."""
    from qiaocrawl.news.warnings.channels import kept_channels
    from qiaocrawl.news.warnings.persons import person_pushes

    with database.reading() as c:
        return bool(options["QIAO_WARNING_CHANNELS"] or kept_channels(c) or person_pushes(c))


def send_with(database: Database, options: Options) -> bool:
    """Send what is due; whether all of it was delivered."""
    from qiaocrawl.news.pushes import queue_due
    from qiaocrawl.news.trends.usual import calendar_with
    from qiaocrawl.news.warnings.delivery import deliver_due
    from qiaocrawl.news.warnings.hooks import queue_new
    from qiaocrawl.news.warnings.persons import every_channel

    file, keys = options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"]
    queue_due(database, datetime.now(UTC), calendar_with(options["QIAO_HOLIDAYS"]))
    queue_new(database, datetime.now(UTC))
    with database.reading() as c:
        channels = every_channel(c, file, keys)
    report = deliver_due(database, channels, datetime.now(UTC).timestamp())
    echo(
        _(
            "messages: {sent:,} sent, {waiting:,} to be tried again, {given_up:,} given up",
            sent=report.sent,
            waiting=report.waiting,
            given_up=report.given_up,
        )
    )
    return not (report.waiting or report.given_up)


def _numbers(c: Connection, warnings: Iterable[StoryWarning]) -> Mapping[str, str]:
    """The number of each warned story; a warning names it by the article it began with."""
    from qiaocrawl.news.stories.texts import stories_with

    numbers = stories_with(c, [int(warning.story) for warning in warnings])
    return {str(url_id): str(number) for url_id, number in numbers.items()}


def _warning_text(warning: StoryWarning) -> str:
    from qiaocrawl.news.warnings.machine import reason_text

    whys = [
        f"{rule}{_(': ')}{_('; ').join(map(reason_text, reasons))}"
        for rule, reasons in warning.reasons.items()
    ]
    return "\n".join([warning.title, *whys])
