"""Rules an officer writes: of which stories to warn, how urgently, and where to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, StrictBool, model_validator

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.lexicon.term_groups import TermGroup
from qiaocrawl.news.trends.usual import HolidayCalendar, is_off
from qiaocrawl.text.toml_file import Text, Texts, check_table, number, parse_toml, raise_faults
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.topic.media import MEDIA

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Severity = Literal["notice", "warning", "urgent"]
FirstKind = Literal["place", "body", "outlet"]

SEVERITIES: tuple[Severity, ...] = ("notice", "warning", "urgent")
"""From the least to the most urgent."""
DEFAULT_CHANNEL = "default"
LIMITS: Mapping[str, tuple[float, float]] = {
    "most_tier": (1, 5),
    "least_articles": (1, 100_000),
    "least_outlets": (1, 100_000),
    "within_hours": (0.0, 8_760.0),
    "least_negative": (0.01, 1.0),
    "least_deviation": (0.5, 100.0),
}
"""The least and the most of each number of a rule; a whole number where the least is one."""
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


def rank(severity: Severity | None) -> int:
    """The place of a severity, from 1; 0 for none."""
    return 0 if severity is None else SEVERITIES.index(severity) + 1


@dataclass(frozen=True, slots=True)
class Rule:
    """When to warn of a story: every condition that is given must hold.

    Articles of a story count that are of the topic, have the words, and are of a site of the tier;
    the numbers are of those.

    Args:
        topic: an imported topic; "" for any.
        any_of, all_of, none_of: words, as in groups of terms; an article's title and text count.
        groups: of these groups of words of the topic (without one, of any) one must be touched.
        media: kinds of media, keys of ``topic.media.MEDIA``; the site is of one of them.
        most_tier: of the site, as 2 for tiers 1 and 2; None for any.
        least_articles, least_outlets: how many at least.
        within_hours: they are no older than that; 0 for any age. So a speed is written.
        least_negative: share in (0, 1] of articles with a sure tone that is negative, of three at
            least; None for any tone.
        least_deviation: robust z of the story's last 24 hours against what is usual.
        in_burst: its last 24 hours are a burst.
        first: something in it was never told before: any of these kinds.
        channels: names of channels that are told.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: Text
    severity: Severity = "warning"
    topic: str = ""
    any_of: Texts = ()
    all_of: Texts = ()
    none_of: Texts = ()
    most_tier: Annotated[int, number(*LIMITS["most_tier"])] | None = None
    least_articles: Annotated[int, number(*LIMITS["least_articles"])] = 1
    least_outlets: Annotated[int, number(*LIMITS["least_outlets"])] = 1
    within_hours: Annotated[float, number(*LIMITS["within_hours"])] = 0.0
    least_negative: Annotated[float, number(*LIMITS["least_negative"])] | None = None
    least_deviation: Annotated[float, number(*LIMITS["least_deviation"])] | None = None
    in_burst: StrictBool = False
    first: tuple[FirstKind, ...] = ()
    channels: Texts = (DEFAULT_CHANNEL,)
    enabled: StrictBool = True
    groups: Texts = ()
    media: Texts = ()

    @model_validator(mode="after")
    def _check(self) -> Rule:
        if self.none_of and not (self.any_of or self.all_of):
            raise_faults([("none_of", "needs any_of or all_of beside it")])
        if unknown := [kind for kind in self.media if kind not in MEDIA]:
            allowed = ", ".join(MEDIA)
            raise_faults([("media", f"must be some of {allowed}, got {unknown[0]!r}")])
        return self

    @property
    def terms(self) -> TermGroup | None:
        """Its words; None for any."""
        if not (self.any_of or self.all_of):
            return None
        return TermGroup(self.name, self.any_of, self.all_of, self.none_of)


def minute_of_day(value: object) -> int:
    """The minute of the day of a text such as 22:30.

    Raises:
        ValueError: it is none.
    """
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(_('must be a time of the day such as "22:30", got {value!r}', value=value))
    return int(match[1]) * 60 + int(match[2])


def _none_for_empty(value: object) -> object:
    return None if value == "" else value


@dataclass(frozen=True, slots=True)
class QuietHours:
    """When nothing is told that can wait, in China's time.

    Args:
        begin, end: minutes of the day; the same for no such hours. The end may be a day later.
        days_off: days off are quiet as a whole.
        passes: what is told nevertheless, this severity and above; None, in a file "", for nothing.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    begin: Annotated[int, BeforeValidator(minute_of_day)] = 0
    end: Annotated[int, BeforeValidator(minute_of_day)] = 0
    days_off: StrictBool = False
    passes: Annotated[Severity | None, BeforeValidator(_none_for_empty)] = "urgent"

    def is_quiet(self, now: datetime, calendar: HolidayCalendar) -> bool:
        """Whether the aware moment *now* is quiet."""
        local = now.astimezone(SHANGHAI)
        if self.days_off and is_off(calendar.kind_of(local.date())):
            return True
        minute = local.hour * 60 + local.minute
        if self.begin <= self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end

    def lets_through(self, severity: Severity) -> bool:
        """Whether this severity is told in quiet hours."""
        return self.passes is not None and rank(severity) >= rank(self.passes)


class RuleBook(NamedTuple):
    """Rules and quiet hours that belong together, as those of a file."""

    rules: tuple[Rule, ...] = ()
    quiet: QuietHours = QuietHours()


def read_rules(file: Traversable) -> RuleBook:
    """The rules of a TOML file, a table ``[[rule]]`` each, and its quiet hours, ``[quiet]``.

    Raises:
        ConfigError: with everything that is wrong in it.
    """
    try:
        tables: Mapping[str, Any] = parse_toml(file.read_bytes())
    except (OSError, ValueError) as error:
        reason = _("cannot be read as TOML in UTF-8: {error}", error=error)
        raise ConfigError(f"{file}: {reason}") from None
    entries = tables.get("rule", [])
    faults = [_("{key}: unknown key", key=key) for key in tables if key not in ("rule", "quiet")]
    if not isinstance(entries, list):
        entries, faults = [], [*faults, _("rules are tables [[rule]]")]
    checked = [check_table(Rule, entry) for entry in entries]
    faults += [f"rule[{at}].{fault}" for at, (_rule, own) in enumerate(checked, 1) for fault in own]
    quiet, quiet_faults = check_table(QuietHours, tables.get("quiet", {}))
    faults += [f"quiet.{fault}" for fault in quiet_faults]
    rules = [rule for rule, _faults in checked if rule is not None]
    names = [rule.name for rule in rules]
    faults += [
        _("two rules are called {name!r}", name=name)
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if faults or quiet is None:
        raise ConfigError("\n  ".join([f"{file}:", *faults]))
    return RuleBook(tuple(rules), quiet)


# --- Rules and quiet hours as tables again: what a database keeps, and a file of them -------------


def rule_table(rule: Rule) -> dict[str, Any]:
    """The table that ``check_table(Rule, ...)`` makes *rule* of: what differs from the usual."""
    table = {
        field.name: getattr(rule, field.name)
        for field in fields(rule)
        if getattr(rule, field.name) != field.default
    }
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in table.items()
    }


def quiet_table(quiet: QuietHours) -> dict[str, Any]:
    """The same of quiet hours, whole."""
    return {
        "begin": clock(quiet.begin),
        "end": clock(quiet.end),
        "days_off": quiet.days_off,
        "passes": quiet.passes or "",
    }


def clock(minute: int) -> str:
    """A minute of the day as people write it, such as 22:30."""
    return f"{minute // 60:02}:{minute % 60:02}"


def rules_text(book: RuleBook) -> str:
    """The text of a file that ``read_rules`` makes *book* of."""
    parts = [_table_lines("[[rule]]", rule_table(rule)) for rule in book.rules]
    if book.quiet != QuietHours():
        parts.append(_table_lines("[quiet]", quiet_table(book.quiet)))
    return "\n".join(parts)


def _table_lines(head: str, table: dict[str, Any]) -> str:
    return "\n".join([head, *(f"{name} = {_toml(value)}" for name, value in table.items())]) + "\n"


def _toml(value: Any) -> str:
    # JSON's texts, numbers and lists are TOML's; it leaves one control character bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- What a rule asks for, in the language of who reads -------------------------------------------

FIRST_NAMES: Mapping[FirstKind, str] = {
    "place": N_("a place"),
    "body": N_("a body"),
    "outlet": N_("an outlet"),
}


def rule_conditions(rule: Rule) -> list[str]:
    """Its conditions, all of which must hold; one that says so where it has none."""
    return [*_of_articles(rule), *_of_story(rule)] or [_("every story")]


def quiet_text(quiet: QuietHours) -> str:
    """When it is quiet."""
    parts = []
    if quiet.begin != quiet.end:
        parts.append(_("{begin} to {end}", begin=clock(quiet.begin), end=clock(quiet.end)))
    if quiet.days_off:
        parts.append(_("days off"))
    return _(", ").join(parts) or _("never")


def _of_articles(rule: Rule) -> Iterator[str]:
    if rule.topic:
        yield _("topic {name}", name=rule.topic)
    for text, words in (
        (N_("any of: {words}"), rule.any_of),
        (N_("all of: {words}"), rule.all_of),
        (N_("none of: {words}"), rule.none_of),
    ):
        if words:
            yield _(text, words=_(", ").join(words))
    if rule.groups:
        yield _("groups of words: {names}", names=_(", ").join(rule.groups))
    if rule.media:
        yield _(", ").join(_(MEDIA[kind]) for kind in rule.media)
    if rule.most_tier is not None:
        yield _("sites of tier {tier} or better", tier=rule.most_tier)
    if rule.least_articles > 1:
        yield _("articles: {least} at least", least=rule.least_articles)
    if rule.least_outlets > 1:
        yield _("outlets: {least} at least", least=rule.least_outlets)
    if rule.within_hours:
        yield within_words(rule.within_hours)


DEVIATIONS: Mapping[float, str] = {
    1.0: N_("somewhat more than usual"),
    2.0: N_("clearly more than usual"),
    3.0: N_("far more than usual"),
}
"""What people choose among: so many standard deviations, and what they are called."""


def within_words(hours: float) -> str:
    """How old what counts may be: in days, where it is some whole ones."""
    days = hours / 24
    if days >= 2 and days.is_integer():
        return _("within {days:g} days", days=days)
    return _("within {hours:g} h", hours=hours)


def deviation_words(value: float) -> str:
    """So many standard deviations above the usual, in words; beside them the number, if it is
    none that people choose."""
    below = [own for own in DEVIATIONS if own <= value]
    words = _(DEVIATIONS[below[-1] if below else min(DEVIATIONS)])
    return words if value in DEVIATIONS else f"{words} ({value:g})"


def _of_story(rule: Rule) -> Iterator[str]:
    if rule.least_negative is not None:
        yield _("negative: {percent:g} % at least", percent=round(100 * rule.least_negative, 2))
    if rule.least_deviation is not None:
        yield deviation_words(rule.least_deviation)
    if rule.in_burst:
        yield _("it bursts")
    if rule.first:
        kinds = _(", ").join(_(FIRST_NAMES[kind]) for kind in rule.first)
        yield _("told of for the first time: {kinds}", kinds=kinds)
