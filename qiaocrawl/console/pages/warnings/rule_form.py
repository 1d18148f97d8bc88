"""The form of a rule: what was written into it, and what is wrong with that, field by field."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from qiaocrawl.console import forms
from qiaocrawl.console.security import csrf
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.news.warnings.office_rules import MOST_NAME_CHARS
from qiaocrawl.news.warnings.rules import (
    FIRST_NAMES,
    LIMITS,
    SEVERITIES,
    QuietHours,
    Rule,
    clock,
    minute_of_day,
)
from qiaocrawl.storage.values import clean_word
from qiaocrawl.text.toml_file import check_table

LABELS: Mapping[str, str] = {
    "name": N_("Name"), "severity": N_("Severity"), "topic": N_("Topic"),
    "any_of": N_("Any of these words"), "all_of": N_("All of these words"),
    "none_of": N_("None of these words"), "most_tier": N_("Sites of this tier or better"),
    "within_hours": N_("Within hours"), "least_articles": N_("Articles at least"),
    "least_outlets": N_("Outlets at least"), "least_negative": N_("Negative at least, %"),
    "least_deviation": N_("Standard deviations above the usual at least"),
    "first": N_("Told of for the first time"), "channels": N_("Warning channels"),
    "begin": N_("Quiet from"), "end": N_("Quiet until"),
    "passes": N_("What passes in quiet hours"),
}  # fmt: skip
WORDS = ("any_of", "all_of", "none_of")
NUMBERS = (
    "most_tier", "within_hours", "least_articles", "least_outlets", "least_negative",
    "least_deviation",
)  # fmt: skip
SWITCHES = ("in_burst", "enabled")
_TEXTS = ("name", "severity", "topic", *WORDS, *NUMBERS)
_SHARE = "least_negative"
"""Of one in rules, in per cent for people."""
# A comma between digits belongs to a number.
_BETWEEN_WORDS = re.compile(r"[、，；;\n]+|(?<!\d),|,(?!\d)")
_WORDS_CHARS = 10_000

Known = Mapping[str, Collection[str]]
"""Topics and channels that a rule may name."""


@dataclass(frozen=True, slots=True)
class RuleForm:
    """What stands in the form.

    Args:
        values: a text a field; a switch has one if it is on.
        lists: what is ticked.
        faults: by field, in words; "" for the rule as a whole.
        rule: what it makes; None with faults.
    """

    values: Mapping[str, str]
    lists: Mapping[str, tuple[str, ...]]
    faults: dict[str, str] = field(default_factory=dict)
    rule: Rule | None = None


def form_of(rule: Rule) -> RuleForm:
    """The form as *rule* fills it."""
    values = {"name": rule.name, "severity": rule.severity, "topic": rule.topic}
    values |= {name: "\n".join(getattr(rule, name)) for name in WORDS}
    default = Rule("-")
    for name in NUMBERS:
        value = getattr(rule, name)
        factor = 100 if name == _SHARE else 1
        is_usual = value == getattr(default, name)
        values[name] = "" if is_usual else f"{round(factor * value, 6):.10g}"
    values |= {name: "yes" if getattr(rule, name) else "" for name in SWITCHES}
    return RuleForm(values, {"first": rule.first, "channels": rule.channels})


async def read_form(request: Request, known: Known) -> RuleForm:
    """What was sent, and the rule in it if nothing is wrong."""
    sent = await csrf.form_of(request)
    # As it was sent, so that nothing is lost where something is wrong.
    values = {name: clean_word(str(sent.get(name, "")), _WORDS_CHARS)
              for name in (*_TEXTS, *SWITCHES)}  # fmt: skip
    lists = {name: tuple(dict.fromkeys(map(str, sent.getlist(name))))
             for name in ("first", "channels")}  # fmt: skip
    form = RuleForm(values, lists)
    table = _texts(form, known) | _words(form) | _numbers(form) | _lists(form, known)
    table |= {name: bool(values[name]) for name in SWITCHES}
    if form.faults:
        return form
    rule, faults = check_table(Rule, table)
    form.faults.update({"": "; ".join(faults)} if faults else {})
    return RuleForm(values, lists, form.faults, rule)


async def read_quiet(request: Request) -> QuietHours:
    """The quiet hours that were sent.

    Raises:
        ConfigError: a field is wrong; the message names it, what it was, and what is allowed.
    """
    minutes = []
    for name in ("begin", "end"):
        given = await forms.field(request, name, 100) or clock(0)
        try:
            minutes.append(minute_of_day(given))
        except ValueError:
            raise ConfigError(
                _("{name} {value!r} must be a time of the day such as 22:30",
                  name=_(LABELS[name]), value=given)
            ) from None  # fmt: skip
    given = await forms.field(request, "passes", 100)
    passes = next((own for own in SEVERITIES if own == given), None)
    if given and passes is None:
        raise ConfigError(_one_of("passes", given, SEVERITIES))
    days_off = bool(await forms.field(request, "days_off", 10))
    return QuietHours(minutes[0], minutes[1], days_off, passes)


def _texts(form: RuleForm, known: Known) -> dict[str, Any]:
    values, faults = form.values, form.faults
    if not values["name"]:
        faults["name"] = _("{name} is missing", name=_(LABELS["name"]))
    elif len(values["name"]) > MOST_NAME_CHARS:
        faults["name"] = _("{name} has more than {most} characters", name=_(LABELS["name"]),
                           most=MOST_NAME_CHARS)  # fmt: skip
    if values["severity"] not in SEVERITIES:
        faults["severity"] = _one_of("severity", values["severity"], SEVERITIES)
    if values["topic"] and values["topic"] not in known["topics"]:
        faults["topic"] = _one_of("topic", values["topic"], known["topics"])
    return {name: values[name] for name in ("name", "severity", "topic")}


def _words(form: RuleForm) -> dict[str, Any]:
    table = {name: _split(form.values[name]) for name in WORDS}
    if table["none_of"] and not (table["any_of"] or table["all_of"]):
        form.faults["none_of"] = _(
            "{name} {value!r} needs words beside it that must be there: any or all of some",
            name=_(LABELS["none_of"]), value=form.values["none_of"],
        )  # fmt: skip
    return table


def _split(text: str) -> list[str]:
    words = (word.strip() for word in _BETWEEN_WORDS.split(text))
    return list(dict.fromkeys(filter(None, words)))


def _numbers(form: RuleForm) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name in NUMBERS:
        text = form.values[name]
        if not text:
            continue
        factor = 100 if name == _SHARE else 1
        least, most = (factor * limit for limit in LIMITS[name])
        try:
            if isinstance(least, int):
                table[name] = forms.wanted_number(_(LABELS[name]), text, least, int(most))
            else:
                table[name] = _number(_(LABELS[name]), text, least, most) / factor
        except ConfigError as error:
            form.faults[name] = str(error)
    return table


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise ConfigError(_("{name} {value!r} must be a number from {least:g} to {most:g}",
                            name=name, value=text, least=least, most=most))  # fmt: skip
    return value


def _lists(form: RuleForm, known: Known) -> dict[str, Any]:
    for name, allowed in (("first", tuple(FIRST_NAMES)), ("channels", known["channels"])):
        for one in form.lists[name]:
            if one not in allowed:
                form.faults[name] = _one_of(name, one, allowed)
    return {name: list(ticked) for name, ticked in form.lists.items()}


def _one_of(name: str, value: str, allowed: Collection[str]) -> str:
    return _("{name} {value!r} must be one of {allowed}", name=_(LABELS[name]), value=value,
             allowed=_(", ").join(allowed) or _("none"))  # fmt: skip
