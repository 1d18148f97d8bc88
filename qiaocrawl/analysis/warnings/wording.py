"""What a message says, in the language of who reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from qiaocrawl.analysis.warnings.rules import Severity
    from qiaocrawl.analysis.warnings.signals import Reason
    from qiaocrawl.analysis.warnings.state import Message, StoryWarning

SEVERITY_NAMES: Mapping[Severity, str] = {
    "notice": N_("notice"), "warning": N_("warning"), "urgent": N_("urgent"),
}  # fmt: skip
_FIRSTS: Mapping[str, str] = {
    "place": N_("a place never told before: {value}"),
    "body": N_("a body never told before: {value}"),
    "outlet": N_("an outlet that never told of it before: {value}"),
}
_KEYS_SHOWN = 3


def reason_text(reason: Reason) -> str:
    """Why a rule holds."""
    value = reason.value
    if reason.kind == "words":
        return _("words: {value}", value=value)
    if reason.kind == "tier":
        outlet, _slash, tier = value.rpartition("/")
        return _("{outlet} (tier {tier}) tells it", outlet=outlet, tier=tier)
    if reason.kind == "count":
        return _count_text(value)
    if reason.kind == "tone":
        negative, _slash, sure = value.partition("/")
        return _("{negative} of {sure} with a sure tone are negative", negative=negative, sure=sure)
    if reason.kind == "deviation":
        return _("{value} standard deviations above the usual", value=value)
    if reason.kind == "burst":
        return _("it bursts")
    kind, _slash, first = value.partition("/")
    return _(_FIRSTS[kind], value=first)


def warning_text(warning: StoryWarning) -> str:
    """A warning in full: what, since when, why by which rule, and where to read it."""
    head = _("{severity}: {title}", severity=_(SEVERITY_NAMES[warning.severity]),
             title=warning.title)  # fmt: skip
    since = ngettext("since {since}, {count} article", "since {since}, {count} articles",
                     warning.articles, since=china_time(warning.opened_at))  # fmt: skip
    whys = [f"{rule}: {_('; ').join(map(reason_text, reasons))}"
            for rule, reasons in warning.reasons.items()]  # fmt: skip
    return "\n".join([head, since, *whys, *warning.keys[:_KEYS_SHOWN]])


def message_title(message: Message) -> str:
    """The subject of a message."""
    first = message.notices[0].warning
    severity = _(SEVERITY_NAMES[message.severity])
    if len(message.notices) == 1:
        return _("{severity}: {title}", severity=severity, title=first.title)
    return ngettext(
        "{severity}: {title}, and {count} more", "{severity}: {title}, and {count} more",
        len(message.notices) - 1, severity=severity, title=first.title,
    )  # fmt: skip


def message_text(message: Message) -> str:
    """The body of a message."""
    parts = []
    for notice in message.notices:
        text = warning_text(notice.warning)
        parts.append(text if notice.is_new else _("now more severe — {text}", text=text))
    return "\n\n".join(parts)


def _count_text(value: str) -> str:
    articles, outlets, *hours = value.split("/")
    if not hours:
        return _("{articles} articles of {outlets} outlets", articles=articles, outlets=outlets)
    return _("{articles} articles of {outlets} outlets within {hours} h", articles=articles,
             outlets=outlets, hours=hours[0])  # fmt: skip
