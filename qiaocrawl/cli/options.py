"""Options that several commands share: times, secrets, and more than a function takes."""

from __future__ import annotations

import inspect
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _, ngettext
from qiaocrawl.options import Options
from qiaocrawl.text.zones import SHANGHAI, start_of_days
from qiaocrawl.topic.pack import MAX_TIER, MIN_TIER

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.news.trends.usual import HolidayCalendar
    from qiaocrawl.storage.selection import Selection

# --- Times as operators write them: moments in China's time (today, 7d, 2026-03-05), budgets ------

_DAYS_AGO = {"today": 0, "今天": 0, "今日": 0, "yesterday": 1, "昨天": 1, "昨日": 1}
_AGO = re.compile(r"(\d{1,5})([hd])")
_DAY = timedelta(days=1)
_MOST_HOURS = 8_760


def start_of(text: str, option: str) -> datetime | None:
    """The first moment that *text* names, aware; None for "".

    Raises:
        ConfigError: *text* is no such moment; begins with *option*.
    """
    return None if not text.strip() else _moment(text.strip().lower(), option)[0]


def end_of(text: str, option: str) -> datetime | None:
    """The first moment that *text* no longer names: behind a whole day that is named.

    Raises:
        ConfigError: *text* is no such moment; begins with *option*.
    """
    if not text.strip():
        return None
    moment, is_day = _moment(text.strip().lower(), option)
    return moment + _DAY if is_day else moment


def budget_seconds(hours: float, minutes: float = 0.0) -> float:
    """The time budget of --hours and --minutes.

    Raises:
        ConfigError: it is no number, or more than a year.
    """
    total_hours = hours + minutes / 60
    if not total_hours <= _MOST_HOURS:  # nan is not, either
        raise ConfigError(
            _(
                "--hours, --minutes: at most {most} h, got {hours:g}",
                most=_MOST_HOURS,
                hours=total_hours,
            )
        )
    return total_hours * 3600


def _moment(text: str, option: str) -> tuple[datetime, bool]:
    """The moment, and whether a whole day is meant."""
    now = datetime.now(UTC).astimezone(SHANGHAI)
    ago = _AGO.fullmatch(text)
    if ago is not None and ago[2] == "h":
        return now - timedelta(hours=int(ago[1])), False
    days = int(ago[1]) if ago is not None else _DAYS_AGO.get(text)
    try:
        if days is not None:
            return start_of_days(now, days + 1), True
        when = datetime.fromisoformat(text)
        if when.tzinfo is None:
            when = when.replace(tzinfo=SHANGHAI)
        # A moment near either end of the calendar has no name in UTC, or no day after it.
        when = when.astimezone(UTC)
        is_day = len(text) <= len("2026-03-05")
        return (when, bool(when + _DAY)) if is_day else (when, False)
    except (ValueError, OverflowError):
        raise ConfigError(
            _(
                "{option} must be as 2026-03-05, 2026-03-05T08:00, today, yesterday, 7d or 12h "
                "(China's time), got {text!r}",
                option=option,
                text=text,
            )
        ) from None


def with_options(
    *kinds: Callable[..., Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command that takes the options of all *kinds*.

    The function it is made of gets what each of *kinds* returns for its own options.
    """
    options = {kind: inspect.signature(kind, eval_str=True).parameters for kind in kinds}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            command(*(kind(**{name: given[name] for name in options[kind]}) for kind in kinds))

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            # By name only: then one without a default may stand behind one that has one.
            [
                option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for kind in kinds
                for option in options[kind].values()
            ]
        )
        return run

    return decorate


def publication_choice(
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 7d, 2026-03-05.")
    ] = "",
    until: Annotated[str, typer.Option(help="Published until, that day too.")] = "",
) -> dict[str, Any]:
    """When articles came out, in China's time; one without a date counts by its fetch."""
    return {"since": start_of(since, "--since"), "before": end_of(until, "--until")}


Media = Annotated[
    list[str] | None,
    typer.Option(
        help="Only this kind of medium: central, local, government, association, portal, "
        "diaspora, overseas, forum, blog or other; unknown: nobody has said it yet."
    ),
]


def outlet_choice(
    site: Annotated[
        list[str] | None, typer.Option(help="Only this host and what is below it.")
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option(help="Only sites of this region of the topic.")
    ] = None,
    tier: Annotated[list[int] | None, typer.Option(help="Only sites of this tier, 1 to 5.")] = None,
    medium: Media = None,
) -> dict[str, Any]:
    """Who published them; each may be given several times."""
    wrong = [number for number in tier or () if not MIN_TIER <= number <= MAX_TIER]
    if wrong:
        raise ConfigError(
            _(
                "--tier must be {low} to {high}, got {wrong}",
                low=MIN_TIER,
                high=MAX_TIER,
                wrong=wrong[0],
            )
        )
    return {
        "sites": tuple(site or ()),
        "regions": tuple(region or ()),
        "tiers": tuple(tier or ()),
        "media": media_of(medium or ()),
    }


def media_of(kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds of media that somebody wrote, by key.

    Raises:
        ConfigError: one is no kind.
    """
    if not kinds:
        return ()
    from qiaocrawl.storage.sites.media import known_media

    return known_media(kinds)


def topic_choice(
    topic: Annotated[str, typer.Option(help="Only what concerns this topic.")] = "",
    term: Annotated[
        list[str] | None, typer.Option(help="Only where this term of the topic counted.")
    ] = None,
    only_relevant: Annotated[
        bool, typer.Option("--only-relevant", help="Only what is on topic.")
    ] = False,
    class_: Annotated[
        list[str] | None,
        typer.Option("--class", help="Only of this class of the topic (unsure: of none)."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Only what this group of words of the topic touches; again: either."),
    ] = None,
) -> dict[str, Any]:
    """What they are about."""
    classes: tuple[str, ...] = ()
    if class_:
        from qiaocrawl.storage.topics.classes import class_named

        classes = tuple(map(class_named, class_))
    return {
        "topic": topic or None,
        "terms": tuple(term or ()),
        "only_relevant": only_relevant,
        "classes": classes,
        "groups": tuple(group or ()),
    }


def words_choice(
    words: Annotated[str, typer.Option(help="Only with all these words, in either script.")] = "",
) -> dict[str, Any]:
    """What they say."""
    return {"words": tuple(words.split())}


def selection_of(*choices: dict[str, Any], **more: Any) -> Selection:
    """The selection that *choices* and *more* name."""
    from qiaocrawl.storage.selection import Selection

    values = {name: value for choice in (*choices, more) for name, value in choice.items()}
    return Selection(**values)


def group_notes(c: Connection, selection: Selection) -> Iterator[str]:
    """What is to be known of the groups of words that *selection* is chosen by.

    Raises:
        TopicError: there is no such group.
    """
    from qiaocrawl.storage.topics.word_groups import require_groups

    if selection.groups and (left := require_groups(c, selection.topic, selection.groups)):
        yield ngettext(
            "{count} older article is not marked yet with these groups of words: "
            "`qiaocrawl report words mark` does that",
            "{count} older articles are not marked yet with these groups of words: "
            "`qiaocrawl report words mark` does that",
            left,
        )


def calendar() -> HolidayCalendar:
    """The shipped holidays, and those of QIAO_HOLIDAYS."""
    from qiaocrawl.news.trends.usual import calendar_with

    return calendar_with(Options.from_environment()["QIAO_HOLIDAYS"])


# --- Secrets come in without echo, from a variable, a private file or standard input --------------
# Never from an argument: every user of the machine can read those.

_MAX_CHARS = 1_000_000


def read_secret(prompt: str, *, env: str = "", stdin: bool = False, file: str = "") -> str:
    """One secret.

    Args:
        prompt: what is asked for at the terminal, when nothing else is given.
        file: a path, ``env:NAME`` or ``-``.

    Raises:
        ConfigError: it is empty, its variable is not set, its file cannot be read or is
            readable by others.
    """
    if file == "-" or stdin:
        source = _("standard input")
        try:
            secret = sys.stdin.read(_MAX_CHARS)
        except UnicodeDecodeError:
            raise ConfigError(_("{source} is no UTF-8 text", source=source)) from None
        secret = secret if file else secret.rstrip("\r\n")
    elif env or file.startswith("env:"):
        name = env or file.removeprefix("env:")
        if name not in os.environ:
            raise ConfigError(_("the variable {name} is not set", name=name))
        secret, source = os.environ[name], _("the variable {name}", name=name)
    elif file:
        secret, source = _read_private(Path(file)), file
    else:
        secret, source = (
            typer.prompt(_("{prompt}: password", prompt=prompt), hide_input=True),
            _("what you typed"),
        )
    if not secret.strip():
        raise ConfigError(_("{source} is empty", source=source))
    return secret


def _read_private(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & 0o077:
                raise ConfigError(
                    _(
                        "{file!r} holds a secret but others may read it (mode {mode:04o}): "
                        "chmod 600 {file!r}",
                        file=str(file),
                        mode=mode,
                    )
                )
            return opened.read(_MAX_CHARS).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else _("it is no UTF-8 text")
        raise ConfigError(_("{file!r} cannot be read: {why}", file=str(file), why=why)) from None


# --- ``--scheduler``: bulk stages on a Dask cluster -----------------------------------------------

SchedulerAddress = Annotated[
    str,
    typer.Option(
        help="Compute on the Dask cluster of this scheduler, tcp://HOST:PORT (docs/operations.md)."
    ),
]
