"""The rules of warnings: listed, written in a form, tried on the last month, switched, deleted."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console import forms
from qiaocrawl.console.forms import field, wanted_number, whole_number
from qiaocrawl.console.page import EDITOR, Page, Told, actor_of, link, read, tell, write
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.news.names.stored import names_of_stories
from qiaocrawl.news.stories.lists import one_story
from qiaocrawl.news.summary_sentences import words_of
from qiaocrawl.news.trends.usual import calendar_with
from qiaocrawl.news.warnings import office_rules as stored
from qiaocrawl.news.warnings.channels import known_channels
from qiaocrawl.news.warnings.machine import SEVERITY_NAMES, Moment, reason_text
from qiaocrawl.news.warnings.office_rules import (
    MOST_NAME_CHARS,
    KeptRule,
    OfficeRules,
    office_rules,
)
from qiaocrawl.news.warnings.preview import RulePreview, preview_rule
from qiaocrawl.news.warnings.rules import (
    DEVIATIONS,
    FIRST_NAMES,
    LIMITS,
    SEVERITIES,
    QuietHours,
    Rule,
    clock,
    minute_of_day,
    quiet_table,
    quiet_text,
    rule_conditions,
    rule_table,
)
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.storage.topics.word_groups import group_names
from qiaocrawl.storage.values import clean_word
from qiaocrawl.text.toml_file import check_table
from qiaocrawl.topic.media import MEDIA

# --- The form of a rule: what was written into it, and what is wrong with that, field by field ----

LABELS: Mapping[str, str] = {
    "name": N_("Name"), "severity": N_("Severity"), "topic": N_("Topic"),
    "any_of": N_("Any of these words"), "all_of": N_("All of these words"),
    "none_of": N_("None of these words"), "groups": N_("Groups of words"),
    "media": N_("Kind of medium"), "most_tier": N_("Sites of this tier or better"),
    "within_hours": N_("Within hours"), "least_articles": N_("Articles at least"),
    "least_outlets": N_("Outlets at least"), "least_negative": N_("Negative at least, %"),
    "least_deviation": N_("How many there must be"),
    "first": N_("Told of for the first time"), "channels": N_("Warning channels"),
    "begin": N_("Quiet from"), "end": N_("Quiet until"),
    "passes": N_("What passes in quiet hours"),
}  # fmt: skip
WORDS = ("any_of", "all_of", "none_of")
NUMBERS = (
    "most_tier",
    "within_hours",
    "least_articles",
    "least_outlets",
    "least_negative",
    "least_deviation",
)
LISTS = ("first", "channels", "groups", "media")
SWITCHES = ("in_burst", "enabled")
_TEXTS = ("name", "severity", "topic", *WORDS, *NUMBERS)
_SHARE = "least_negative"
"""Of one in rules, in per cent for people."""
# A comma between digits belongs to a number.
_BETWEEN_WORDS = re.compile(r"[、，；;\n]+|(?<!\d),|,(?!\d)")
_WORDS_CHARS = 10_000

Known = Mapping[str, Collection[str]]
"""Topics, channels and groups of words that a rule may name."""


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
    faults: dict[str, str] = dataclasses.field(default_factory=dict)
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
    return RuleForm(values, {name: getattr(rule, name) for name in LISTS})


async def read_form(request: Request, known: Known) -> RuleForm:
    """What was sent, and the rule in it if nothing is wrong."""
    sent = await credentials.form_of(request)
    # As it was sent, so that nothing is lost where something is wrong.
    values = {
        name: clean_word(str(sent.get(name, "")), _WORDS_CHARS) for name in (*_TEXTS, *SWITCHES)
    }
    lists = {name: tuple(dict.fromkeys(map(str, sent.getlist(name)))) for name in LISTS}
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
                _(
                    "{name} {value!r} must be a time of the day such as 22:30",
                    name=_(LABELS[name]),
                    value=given,
                )
            ) from None
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
        faults["name"] = _(
            "{name} has more than {most} characters", name=_(LABELS["name"]), most=MOST_NAME_CHARS
        )
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
            name=_(LABELS["none_of"]),
            value=form.values["none_of"],
        )
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
        raise ConfigError(
            _(
                "{name} {value!r} must be a number from {least:g} to {most:g}",
                name=name,
                value=text,
                least=least,
                most=most,
            )
        )
    return value


def _lists(form: RuleForm, known: Known) -> dict[str, Any]:
    choices = {"first": tuple(FIRST_NAMES), "media": tuple(MEDIA)}
    choices |= {name: tuple(known[name]) for name in ("channels", "groups")}
    for name, allowed in choices.items():
        for one in form.lists[name]:
            if one not in allowed:
                form.faults[name] = _one_of(name, one, allowed)
    return {name: list(ticked) for name, ticked in form.lists.items()}


def _one_of(name: str, value: str, allowed: Collection[str]) -> str:
    return _(
        "{name} {value!r} must be one of {allowed}",
        name=_(LABELS[name]),
        value=value,
        allowed=_(", ").join(allowed) or _("none"),
    )


_PREVIEW_DAYS = 30
_STORIES_SHOWN = 100


async def show(request: Request) -> Response:
    """All rules with where they come from, and the quiet hours."""
    return await _list(request)


async def _list(request: Request, fault: str = "", status: int = 200) -> Response:
    office = await read(request, office_rules, _file())
    quiet = office.quiet
    return render(
        request,
        "warnings/rules.html",
        status,
        office=office,
        severities=SEVERITY_NAMES,
        conditions=rule_conditions,
        quiet_text=quiet_text,
        labels=LABELS,
        fault=fault,
        quiet={"begin": clock(quiet.begin), "end": clock(quiet.end)},
    )


def _file() -> str:
    place: str = Options.from_environment()["QIAO_WARNING_RULES"]
    return place


async def new(request: Request) -> Response:
    """An empty form, or one as a rule there is fills it, or the words of an event."""
    office = await read(request, office_rules, _file())
    like = request.query_params.get("like", "")
    if story := whole_number(request, "story", 0, 0, 2**62):
        rule = await read(request, _rule_on, story)
        return await _form(request, office, form_of(rule))
    first = Rule("-", channels=await read(request, _channels))
    rule = next((one.rule for one in office.rules if one.rule.name == like), first)
    form = form_of(rule)
    return await _form(request, office, replace(form, values={**form.values, "name": ""}))


_MOST_TITLE_WORDS = 8


def _rule_on(c: Connection, story: int) -> Rule:
    """A rule on what is like *story*: the place most of its articles name, and its title's words.

    Raises:
        HTTPException: 404, there is no such story.
    """
    try:
        title = one_story(c, story).title
    except ConfigError as error:
        raise HTTPException(404, _("There is no such story.")) from error
    names = names_of_stories(c, [story])[story]
    places = [own.name for own in names if own.kind == "place"][:1]
    words = dict.fromkeys(word for word in words_of(title) if not word.isnumeric())
    any_of = tuple(word for word in words if word not in places)[:_MOST_TITLE_WORDS]
    return Rule(
        title[:MOST_NAME_CHARS],
        any_of=any_of,
        all_of=tuple(places),
        channels=_channels(c),
    )


def _channels(c: Connection) -> tuple[str, ...]:
    """The channels that have an address; a new rule tells all of them."""
    return known_channels(c, Options.from_environment()["QIAO_WARNING_CHANNELS"])


async def edit(request: Request) -> Response:
    """A rule in the form."""
    kept = await _require_rule(request)
    office = await read(request, office_rules, _file())
    return await _form(request, office, form_of(kept.rule), kept)


async def _require_rule(request: Request) -> KeptRule:
    kept = await read(request, stored.kept_rule, request.path_params["rule_id"])
    if kept is None:
        raise HTTPException(404, _("There is no such rule."))
    return kept


async def _form(
    request: Request,
    office: OfficeRules,
    form: RuleForm,
    kept: KeptRule | None = None,
    preview: RulePreview | None = None,
) -> Response:
    known = await _known_names(request, office)
    return render(
        request,
        "warnings/rule.html",
        400 if form.faults else 200,
        form=form,
        kept=kept,
        labels=LABELS,
        severities=SEVERITY_NAMES,
        firsts=FIRST_NAMES,
        known=known,
        media=MEDIA,
        preview=preview,
        days=_PREVIEW_DAYS,
        shown=_STORIES_SHOWN,
        why=_why,
        deviations={f"{value:g}": name for value, name in DEVIATIONS.items()},
    )


async def _known_names(request: Request, office: OfficeRules) -> Mapping[str, Mapping[str, str]]:
    """Topics by name with their titles; channels that have an address or are in a rule."""
    topics = {topic.name: topic.title for topic in await read(request, list_topics)}
    there = await read(request, _channels)
    named = (channel for one in office.rules for channel in one.rule.channels)
    groups = dict.fromkeys(await read(request, group_names, None), "")
    return {"topics": topics, "channels": dict.fromkeys((*there, *named), ""), "groups": groups}


def _why(reasons: Any) -> str:
    return _("; ").join(map(reason_text, reasons))


async def add(request: Request) -> Response:
    """Keep a new rule."""
    return await _save(request, None)


async def save(request: Request) -> Response:
    """Keep a rule as it was changed."""
    return await _save(request, await _as_opened(request, await _require_rule(request)))


async def _as_opened(request: Request, kept: KeptRule) -> KeptRule:
    """The rule with the revision the form was opened with: a newer one is not overwritten."""
    revision = wanted_number("revision", await field(request, "revision", 20), 1, 2**31 - 1)
    return kept._replace(revision=revision)


async def _save(request: Request, kept: KeptRule | None) -> Response:
    office = await read(request, office_rules, _file())
    form = await read_form(request, await _known_names(request, office))
    rule, others = form.rule, {own.rule.name for own in office.rules}
    if rule is not None and rule.name in others - {kept.rule.name if kept else ""}:
        form.faults["name"] = _("there is a rule {name!r} already", name=rule.name)
    if rule is None or form.faults:
        return await _form(request, office, form, kept)
    if kept is None:
        await write(request, _add, actor_of(request), rule)
    else:
        await write(request, _change, actor_of(request), kept, rule)
    tell(request, Told(_("The rule is kept; it is checked after each collection.")))
    return _back(request)


def _add(c: Connection, actor: Actor, rule: Rule) -> None:
    stored.add_rule(c, rule, actor.name, datetime.now(UTC))
    record(c, actor, "rule.add", rule.name, None, rule_table(rule))


def _change(c: Connection, actor: Actor, kept: KeptRule, rule: Rule, action: str = "") -> None:
    if rule == kept.rule:
        return
    stored.change_rule(c, kept, rule, actor.name, datetime.now(UTC))
    states = rule_table(kept.rule), rule_table(rule)
    record(c, actor, action or "rule.change", kept.rule.name, *states)


def _back(request: Request) -> Response:
    return RedirectResponse(link(request, "warnings.rules"), 303)


async def preview(request: Request) -> Response:
    """What the rule in the form would have warned of lately; nothing is kept."""
    office = await read(request, office_rules, _file())
    form = await read_form(request, await _known_names(request, office))
    rule_id = wanted_number("rule", await field(request, "rule_id", 20) or "0", 0, 2**31 - 1)
    kept = await read(request, stored.kept_rule, rule_id)
    if kept is not None:
        kept = await _as_opened(request, kept)
    found = None
    if form.rule is not None:
        calendar = calendar_with(Options.from_environment()["QIAO_HOLIDAYS"])
        moment = Moment(datetime.now(UTC), calendar, office.quiet)
        found = await read(request, preview_rule, form.rule, moment, _PREVIEW_DAYS)
    return await _form(request, office, form, kept, found)


async def switch(request: Request) -> Response:
    """Switch a rule on or off."""
    kept, wanted = await _require_rule(request), await field(request, "on", 10)
    if wanted not in ("yes", "no"):
        raise ConfigError(_("on {given!r} must be yes or no", given=wanted))
    rule = replace(kept.rule, enabled=wanted == "yes")
    await write(request, _change, actor_of(request), kept, rule, "rule.switch")
    tell(request, Told(_("It is switched on.") if rule.enabled else _("It is switched off.")))
    return _back(request)


async def drop(request: Request) -> Response:
    """Delete a rule."""
    kept = await _require_rule(request)

    def forget(c: Connection, actor: Actor) -> None:
        stored.drop_rule(c, kept.id)
        record(c, actor, "rule.drop", kept.rule.name, rule_table(kept.rule), None)

    await write(request, forget, actor_of(request))
    tell(request, Told(_("Deleted.")))
    return _back(request)


async def save_quiet(request: Request) -> Response:
    """Keep the quiet hours."""
    try:
        quiet = await read_quiet(request)
    except ConfigError as error:
        return await _list(request, str(error), 400)

    def keep(c: Connection, actor: Actor) -> None:
        before = stored.kept_quiet_hours(c)
        if before == quiet:
            return
        stored.keep_quiet_hours(c, quiet, actor.name, datetime.now(UTC))
        state = None if before is None else quiet_table(before)
        record(c, actor, "rule.quiet", quiet_text(quiet), state, quiet_table(quiet))

    await write(request, keep, actor_of(request))
    tell(request, Told(_("Saved.")))
    return _back(request)


PAGES = (
    Page("/warnings/rules", "warnings.rules", show),
    Page("/warnings/rules", "warnings.add_rule", add, EDITOR, "POST"),
    Page("/warnings/rules/new", "warnings.new_rule", new, EDITOR),
    Page("/warnings/rules/preview", "warnings.preview", preview, EDITOR, "POST"),
    Page("/warnings/rules/quiet", "warnings.save_quiet", save_quiet, EDITOR, "POST"),
    Page("/warnings/rules/{rule_id:int}", "warnings.rule", edit, EDITOR),
    Page("/warnings/rules/{rule_id:int}", "warnings.save_rule", save, EDITOR, "POST"),
    Page("/warnings/rules/{rule_id:int}/switch", "warnings.switch_rule", switch, EDITOR, "POST"),
    Page("/warnings/rules/{rule_id:int}/drop", "warnings.drop_rule", drop, EDITOR, "POST"),
)
