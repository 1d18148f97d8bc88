"""One step of warnings: stories and rules in, warnings and messages out; no clock, no disk.

One warning a story. It opens when a rule holds first, changes as the story does, closes when no
rule held for three days and opens again without a word. A channel is told once, and once more
each time its severity rises; never twice the same. In quiet hours what can wait waits, and is told
in one message when they end. The same step made again tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from qiaocrawl.analysis.warnings.rules import QuietHours, Rule, Severity, rank
from qiaocrawl.analysis.warnings.signals import RuleHit, StorySignal, rule_hit
from qiaocrawl.analysis.warnings.state import (
    Message,
    Notice,
    StoryWarning,
    Warnings,
    highest,
    joined,
)

if TYPE_CHECKING:
    from qiaocrawl.analysis.trends.holidays import HolidayCalendar

_CLOSES_AFTER = timedelta(days=3)
# A story that sleeps so long does not come back under its name.
_FORGOTTEN_AFTER = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step is made, and whether it may be loud.

    Args:
        now: aware.
    """

    now: datetime
    calendar: HolidayCalendar
    quiet: QuietHours = QuietHours()  # noqa: RUF009 (frozen)

    def may_tell(self, severity: Severity) -> bool:
        """Whether a channel may be told of this severity now."""
        if not self.quiet.is_quiet(self.now, self.calendar):
            return True
        return self.quiet.lets_through(severity)


def step(
    warnings: Warnings,
    rules: Iterable[Rule],
    signals: Iterable[StorySignal],
    moment: Moment,
    merged: Mapping[str, str] | None = None,
) -> tuple[dict[str, StoryWarning], list[Message]]:
    """The warnings after *signals*, and what channels are told now.

    Args:
        warnings: those there are, by story.
        signals: stories that changed; of others nothing changes but by time.
        merged: stories that went up in others, with those.
    """
    after = _merged(warnings, merged or {})
    rules = list(rules)
    for signal in sorted(signals, key=lambda signal: signal.story):
        hits = [hit for rule in rules if (hit := rule_hit(rule, signal, moment.now))]
        if hits:
            earlier = after.get(signal.story)
            warning = _hit(earlier, signal, hits, moment.now)
            if earlier is None:
                warning = replace(warning, id=_free_id(signal.story, after))
            after[signal.story] = warning
    after = {story: _aged(warning, moment.now) for story, warning in after.items()
             if moment.now - warning.hit_at < _FORGOTTEN_AFTER}  # fmt: skip
    messages = _messages(after, moment)
    for message in messages:
        for notice in message.notices:
            story = notice.warning.story
            told = {**after[story].told, message.channel: notice.warning.wanted[message.channel]}
            after[story] = replace(after[story], told=told)
    return after, messages


def muted(warnings: Warnings, story: str) -> dict[str, StoryWarning]:
    """The warnings, of which nobody is told of *story* any more."""
    return {**warnings, story: replace(warnings[story], status="muted")}


def unmuted(warnings: Warnings, story: str, now: datetime) -> dict[str, StoryWarning]:
    """The warnings, of which people are told of *story* again.

    The next step tells channels what they missed, but not of a story that is over by *now*.
    """
    own = warnings[story]
    if own.status != "muted":
        return dict(warnings)
    if now - own.hit_at < _CLOSES_AFTER:
        return {**warnings, story: replace(own, status="open")}
    told = highest(own.told, own.wanted)
    return {**warnings, story: replace(own, status="closed", told=told)}


def noted(warnings: Warnings, story: str, by: str, now: datetime) -> dict[str, StoryWarning]:
    """The warnings, of which *by* has taken note of *story* as it stands; "" takes it back."""
    own = replace(warnings[story], noted_by=by, noted_at=now if by else None)
    return {**warnings, story: own}


def _merged(warnings: Warnings, merged: Mapping[str, str]) -> dict[str, StoryWarning]:
    after: dict[str, StoryWarning] = {}
    for warning in sorted(warnings.values(), key=lambda own: (own.opened_at, own.id)):
        story = _final(warning.story, merged)
        own = replace(warning, story=story)
        after[story] = joined(after[story], own) if story in after else own
    return after


def _final(story: str, merged: Mapping[str, str]) -> str:
    seen = {story}
    while (target := merged.get(story)) is not None and target not in seen:
        seen.add(target)
        story = target
    return story


def _free_id(story: str, warnings: Warnings) -> str:
    """The story's name, with a number where the warning of a story it was part of has it."""
    taken, name, number = {warning.id for warning in warnings.values()}, story, 1
    while name in taken:
        number += 1
        name = f"{story}.{number}"
    return name


def _hit(
    earlier: StoryWarning | None, signal: StorySignal, hits: list[RuleHit], now: datetime
) -> StoryWarning:
    """The story's warning, opened or brought up to date."""
    wanted: dict[str, Severity] = {}
    for hit in hits:
        wanted = highest(wanted, dict.fromkeys(hit.rule.channels, hit.rule.severity))
    severity = max((hit.rule.severity for hit in hits), key=rank)
    reasons = {hit.rule.name: hit.reasons for hit in hits}
    keys = tuple(dict.fromkeys(key for hit in hits for key in hit.keys))
    if earlier is None:
        return StoryWarning(
            signal.story, signal.story, signal.title, severity, now, now, now, reasons, keys,
            len(signal.articles), wanted=wanted,
        )  # fmt: skip
    is_raised = rank(severity) > rank(earlier.severity)
    after = replace(
        earlier, title=signal.title, severity=max(earlier.severity, severity, key=rank),
        reasons={**earlier.reasons, **reasons}, keys=keys, articles=len(signal.articles),
        status="open" if earlier.status == "closed" else earlier.status,
        wanted=highest(earlier.wanted, wanted), raised_at=now if is_raised else earlier.raised_at,
    )  # fmt: skip
    if is_raised or earlier.status == "closed":
        after = replace(after, noted_by="", noted_at=None)
    if after == earlier:
        return replace(earlier, hit_at=now)
    return replace(after, hit_at=now, changed_at=now, revision=earlier.revision + 1)


def _aged(warning: StoryWarning, now: datetime) -> StoryWarning:
    is_over = warning.status == "open" and now - warning.hit_at >= _CLOSES_AFTER
    return replace(warning, status="closed") if is_over else warning


def _messages(warnings: Warnings, moment: Moment) -> list[Message]:
    """One a channel, with all it has to be told, the most urgent first."""
    notices: dict[str, list[Notice]] = {}
    for warning in warnings.values():
        for channel, severity in warning.untold().items():
            if moment.may_tell(severity):
                notice = Notice(warning, channel not in warning.told)
                notices.setdefault(channel, []).append(notice)
    messages = []
    for channel, own in sorted(notices.items()):
        own.sort(key=lambda notice: (
            -rank(notice.warning.wanted[channel]), notice.warning.opened_at, notice.warning.id,
        ))  # fmt: skip
        messages.append(Message(channel, own[0].warning.wanted[channel], tuple(own)))
    return messages
