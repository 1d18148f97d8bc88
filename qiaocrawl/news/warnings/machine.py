"""One step of warnings: stories and rules in, warnings and messages out; no clock, no disk.

One warning a story. It opens when a rule holds first, changes as the story does, closes when no
rule held for three days and opens again without a word. A channel is told once, and once more
each time its severity rises; never twice the same. In quiet hours what can wait waits, and is told
in one message when they end. The same step made again tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.news.warnings.rules import (
    QuietHours,
    Rule,
    Severity,
    deviation_words,
    rank,
    within_words,
)
from qiaocrawl.news.warnings.signals import Reason, RuleHit, StorySignal, rule_hit
from qiaocrawl.text.zones import china_time
from qiaocrawl.topic.media import MEDIA

if TYPE_CHECKING:
    from qiaocrawl.news.trends.usual import HolidayCalendar

# --- The warnings there are: one a story, kept with why, and what each channel was told -----------

Status = Literal["open", "closed", "muted"]
_BY_PRECEDENCE: tuple[Status, ...] = ("muted", "open", "closed")
"""Of warnings that become one."""


@dataclass(frozen=True, slots=True)
class StoryWarning:
    """The one warning of a story.

    Args:
        id: the story it was opened for; it keeps this name when stories merge.
        story: the story as it is called now.
        severity: the highest that a rule ever gave it.
        reasons: by rule, as they held when the rule held last.
        wanted, told: the highest severity by channel that rules ask for, and that was told.
        revision: how often it changed.
        raised_at: when its severity rose last; None if it never did.
        noted_by, noted_at: who took note of it as it stands now; "" and None for nobody.
    """

    id: str
    story: str
    title: str
    severity: Severity
    opened_at: datetime
    changed_at: datetime
    hit_at: datetime
    reasons: Mapping[str, tuple[Reason, ...]]
    keys: tuple[str, ...]
    articles: int
    status: Status = "open"
    wanted: Mapping[str, Severity] = field(default_factory=dict)
    told: Mapping[str, Severity] = field(default_factory=dict)
    revision: int = 0
    raised_at: datetime | None = None
    noted_by: str = ""
    noted_at: datetime | None = None

    @property
    def told_at(self) -> datetime:
        """When there was something to tell last: it opened, or its severity rose."""
        return self.raised_at or self.opened_at

    def untold_channels(self) -> dict[str, Severity]:
        """Channels that have to be told of it, or of its higher severity."""
        if self.status == "muted":
            return {}
        return {
            channel: severity
            for channel, severity in self.wanted.items()
            if rank(severity) > rank(self.told.get(channel))
        }


Warnings = Mapping[str, StoryWarning]
"""By story."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning within a message: *is_new* to the channel, else its severity has risen."""

    warning: StoryWarning
    is_new: bool


@dataclass(frozen=True, slots=True)
class Message:
    """What a channel is told at once; the same message has the same *id* when it is made again."""

    channel: str
    severity: Severity
    notices: tuple[Notice, ...]

    @property
    def id(self) -> str:
        """Of its channel and of what it tells."""
        # With the moment: a warning that was forgotten and opens again is another one.
        parts = [
            f"{own.id}\t{own.opened_at.isoformat()}\t{own.wanted[self.channel]}"
            for own in (notice.warning for notice in self.notices)
        ]
        text = "\n".join([self.channel, *sorted(parts)])
        return blake2b(text.encode(), digest_size=16).hexdigest()


def highest(first: Mapping[str, Severity], second: Mapping[str, Severity]) -> dict[str, Severity]:
    """By channel, the higher of two severities."""
    merged = dict(first)
    for channel, severity in second.items():
        if rank(severity) > rank(merged.get(channel)):
            merged[channel] = severity
    return merged


def join_warnings(older: StoryWarning, younger: StoryWarning) -> StoryWarning:
    """The warning of two stories that became one: the older one, with what both know."""
    severity = max(older.severity, younger.severity, key=rank)
    is_raised = severity != older.severity
    noted = younger if is_raised else older
    # What somebody wanted goes before what goes on, and that before what is over.
    status = min(older.status, younger.status, key=_BY_PRECEDENCE.index)
    return replace(
        older,
        severity=severity,
        reasons={**younger.reasons, **older.reasons},
        keys=tuple(dict.fromkeys((*older.keys, *younger.keys))),
        articles=max(older.articles, younger.articles),
        hit_at=max(older.hit_at, younger.hit_at),
        changed_at=max(older.changed_at, younger.changed_at),
        status=status,
        wanted=highest(older.wanted, younger.wanted),
        told=highest(older.told, younger.told),
        revision=older.revision + 1,
        raised_at=younger.told_at if is_raised else older.raised_at,
        noted_by=noted.noted_by,
        noted_at=noted.noted_at,
    )


def to_record(warning: StoryWarning) -> dict[str, Any]:
    """A warning as JSON has it."""
    record = asdict(warning)
    for name in _MOMENTS:
        record[name] = record[name] and record[name].isoformat()
    record["reasons"] = {
        rule: [[reason.kind, reason.value] for reason in reasons]
        for rule, reasons in warning.reasons.items()
    }
    return record


def from_record(record: Mapping[str, Any]) -> StoryWarning:
    """The warning that :func:`to_record` made *record* of."""
    moments = {name: datetime.fromisoformat(record[name]) for name in _MOMENTS if record.get(name)}
    reasons = {
        rule: tuple(Reason(kind, value) for kind, value in entries)
        for rule, entries in record["reasons"].items()
    }
    return StoryWarning(**{**record, **moments, "reasons": reasons, "keys": tuple(record["keys"])})


_MOMENTS = ("opened_at", "changed_at", "hit_at", "raised_at", "noted_at")


PERSON_SIGN = "@"
"""What the name of a person's channel begins with; no channel of the office does."""

# --- One step of warnings: stories and rules in, warnings and messages out; no clock, no disk -----

_CLOSES_AFTER = timedelta(days=3)
# A story that sleeps so long does not come back under its name.
_FORGOTTEN_AFTER = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Listener:
    """A person who is told of warnings beside the channels that rules name.

    Args:
        channel: their own; no rule names it.
        least: the least severe that they are told of.
        topics: of which they are; none for all.
        quiet: hours of their own; None for the office's.
    """

    channel: str
    least: Severity
    topics: frozenset[str] = frozenset()
    quiet: QuietHours | None = None

    def wants(self, hit: RuleHit, signal: StorySignal) -> bool:
        """Whether they are told of *signal* for the rule that holds."""
        if rank(hit.rule.severity) < rank(self.least):
            return False
        own = {hit.rule.topic} if hit.rule.topic else _topics_of(signal)
        return not self.topics or not self.topics.isdisjoint(own)


def _topics_of(signal: StorySignal) -> set[str]:
    return {topic for article in signal.articles for topic in article.topics}


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step is made, who listens, and whether it may be loud.

    Args:
        now: aware.
        listeners: persons; what a channel of theirs was told is known by its name.
    """

    now: datetime
    calendar: HolidayCalendar
    quiet: QuietHours = QuietHours()  # noqa: RUF009 (frozen)
    listeners: tuple[Listener, ...] = ()

    def may_tell(self, severity: Severity, channel: str = "") -> bool:
        """Whether *channel* may be told of this severity now."""
        own = [one.quiet for one in self.listeners if one.channel == channel]
        quiet = own[0] if own and own[0] is not None else self.quiet
        return not quiet.is_quiet(self.now, self.calendar) or quiet.lets_through(severity)

    def listens(self, channel: str) -> bool:
        """Whether *channel* is still to be told: that of a person who left is not."""
        return not channel.startswith(PERSON_SIGN) or any(
            one.channel == channel for one in self.listeners
        )


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
    after = _merge_warnings(warnings, merged or {})
    rules = list(rules)
    for signal in sorted(signals, key=lambda signal: signal.story):
        hits = [hit for rule in rules if (hit := rule_hit(rule, signal, moment.now))]
        if hits:
            earlier = after.get(signal.story)
            warning = _hit(earlier, signal, hits, moment)
            if earlier is None:
                warning = replace(warning, id=_free_id(signal.story, after))
            after[signal.story] = warning
    after = {
        story: _close_when_over(warning, moment.now)
        for story, warning in after.items()
        if moment.now - warning.hit_at < _FORGOTTEN_AFTER
    }
    messages = _messages(after, moment)
    for message in messages:
        for notice in message.notices:
            story = notice.warning.story
            told = {**after[story].told, message.channel: notice.warning.wanted[message.channel]}
            after[story] = replace(after[story], told=told)
    return after, messages


def mute(warnings: Warnings, story: str) -> dict[str, StoryWarning]:
    """The warnings, of which nobody is told of *story* any more."""
    return {**warnings, story: replace(warnings[story], status="muted")}


def unmute(warnings: Warnings, story: str, now: datetime) -> dict[str, StoryWarning]:
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


def take_note(warnings: Warnings, story: str, by: str, now: datetime) -> dict[str, StoryWarning]:
    """The warnings, of which *by* has taken note of *story* as it stands; "" takes it back."""
    own = replace(warnings[story], noted_by=by, noted_at=now if by else None)
    return {**warnings, story: own}


def _merge_warnings(warnings: Warnings, merged: Mapping[str, str]) -> dict[str, StoryWarning]:
    after: dict[str, StoryWarning] = {}
    for warning in sorted(warnings.values(), key=lambda own: (own.opened_at, own.id)):
        story = _final(warning.story, merged)
        own = replace(warning, story=story)
        after[story] = join_warnings(after[story], own) if story in after else own
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
    earlier: StoryWarning | None, signal: StorySignal, hits: list[RuleHit], moment: Moment
) -> StoryWarning:
    """The story's warning, opened or brought up to date."""
    now = moment.now
    wanted: dict[str, Severity] = {}
    for hit in hits:
        persons = [one.channel for one in moment.listeners if one.wants(hit, signal)]
        channels = (*hit.rule.channels, *persons)
        wanted = highest(wanted, dict.fromkeys(channels, hit.rule.severity))
    severity = max((hit.rule.severity for hit in hits), key=rank)
    reasons = {hit.rule.name: hit.reasons for hit in hits}
    keys = tuple(dict.fromkeys(key for hit in hits for key in hit.keys))
    if earlier is None:
        return StoryWarning(
            signal.story,
            signal.story,
            signal.title,
            severity,
            now,
            now,
            now,
            reasons,
            keys,
            len(signal.articles),
            wanted=wanted,
        )
    is_raised = rank(severity) > rank(earlier.severity)
    after = replace(
        earlier,
        title=signal.title,
        severity=max(earlier.severity, severity, key=rank),
        reasons={**earlier.reasons, **reasons},
        keys=keys,
        articles=len(signal.articles),
        status="open" if earlier.status == "closed" else earlier.status,
        wanted=highest(earlier.wanted, wanted),
        raised_at=now if is_raised else earlier.raised_at,
    )
    if is_raised or earlier.status == "closed":
        after = replace(after, noted_by="", noted_at=None)
    if after == earlier:
        return replace(earlier, hit_at=now)
    return replace(after, hit_at=now, changed_at=now, revision=earlier.revision + 1)


def _close_when_over(warning: StoryWarning, now: datetime) -> StoryWarning:
    is_over = warning.status == "open" and now - warning.hit_at >= _CLOSES_AFTER
    return replace(warning, status="closed") if is_over else warning


def _messages(warnings: Warnings, moment: Moment) -> list[Message]:
    """One a channel, with all it has to be told, the most urgent first."""
    notices: dict[str, list[Notice]] = {}
    for warning in warnings.values():
        for channel, severity in warning.untold_channels().items():
            if moment.listens(channel) and moment.may_tell(severity, channel):
                notice = Notice(warning, channel not in warning.told)
                notices.setdefault(channel, []).append(notice)
    messages = []
    for channel, own in sorted(notices.items()):
        own.sort(
            key=lambda notice: (
                -rank(notice.warning.wanted[channel]),
                notice.warning.opened_at,
                notice.warning.id,
            )
        )
        messages.append(Message(channel, own[0].warning.wanted[channel], tuple(own)))
    return messages


# --- What a message says, in the language of who reads --------------------------------------------

SEVERITY_NAMES: Mapping[Severity, str] = {
    "notice": N_("notice"),
    "warning": N_("warning"),
    "urgent": N_("urgent"),
}
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
    if reason.kind == "group":
        return _("groups of words: {names}", names=value)
    if reason.kind == "medium":
        return _(MEDIA.get(value, value))
    if reason.kind == "tier":
        outlet, _slash, tier = value.rpartition("/")
        return _("{outlet} (tier {tier}) tells it", outlet=outlet, tier=tier)
    if reason.kind == "count":
        return _count_text(value)
    if reason.kind == "tone":
        negative, _slash, sure = value.partition("/")
        return _("{negative} of {sure} with a sure tone are negative", negative=negative, sure=sure)
    if reason.kind == "deviation":
        return deviation_words(float(value))
    if reason.kind == "burst":
        return _("it bursts")
    kind, _slash, first = value.partition("/")
    return _(_FIRSTS[kind], value=first)


def warning_text(warning: StoryWarning) -> str:
    """A warning in full: what, since when, why by which rule, and where to read it."""
    head = _(
        "{severity}: {title}", severity=_(SEVERITY_NAMES[warning.severity]), title=warning.title
    )
    since = ngettext(
        "since {since}, {count} article",
        "since {since}, {count} articles",
        warning.articles,
        since=china_time(warning.opened_at),
    )
    whys = [
        f"{rule}: {_('; ').join(map(reason_text, reasons))}"
        for rule, reasons in warning.reasons.items()
    ]
    return "\n".join([head, since, *whys, *warning.keys[:_KEYS_SHOWN]])


def message_title(message: Message) -> str:
    """The subject of a message."""
    first = message.notices[0].warning
    severity = _(SEVERITY_NAMES[message.severity])
    if len(message.notices) == 1:
        return _("{severity}: {title}", severity=severity, title=first.title)
    return ngettext(
        "{severity}: {title}, and {count} more",
        "{severity}: {title}, and {count} more",
        len(message.notices) - 1,
        severity=severity,
        title=first.title,
    )


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
    return _(
        "{articles} articles of {outlets} outlets {within}",
        articles=articles,
        outlets=outlets,
        within=within_words(float(hours[0])),
    )
