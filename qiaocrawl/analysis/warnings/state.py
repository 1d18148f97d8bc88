"""The warnings there are: one a story, kept with why, and what each channel was told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any, Literal

from qiaocrawl.analysis.warnings.rules import Severity, rank
from qiaocrawl.analysis.warnings.signals import Reason

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

    def untold(self) -> dict[str, Severity]:
        """Channels that have to be told of it, or of its higher severity."""
        if self.status == "muted":
            return {}
        return {channel: severity for channel, severity in self.wanted.items()
                if rank(severity) > rank(self.told.get(channel))}  # fmt: skip


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
        parts = [f"{own.id}\t{own.opened_at.isoformat()}\t{own.wanted[self.channel]}"
                 for own in (notice.warning for notice in self.notices)]  # fmt: skip
        text = "\n".join([self.channel, *sorted(parts)])
        return blake2b(text.encode(), digest_size=16).hexdigest()


def highest(first: Mapping[str, Severity], second: Mapping[str, Severity]) -> dict[str, Severity]:
    """By channel, the higher of two severities."""
    merged = dict(first)
    for channel, severity in second.items():
        if rank(severity) > rank(merged.get(channel)):
            merged[channel] = severity
    return merged


def joined(older: StoryWarning, younger: StoryWarning) -> StoryWarning:
    """The warning of two stories that became one: the older one, with what both know."""
    severity = max(older.severity, younger.severity, key=rank)
    is_raised = severity != older.severity
    noted = younger if is_raised else older
    # What somebody wanted goes before what goes on, and that before what is over.
    status = min(older.status, younger.status, key=_BY_PRECEDENCE.index)
    return replace(
        older, severity=severity, reasons={**younger.reasons, **older.reasons},
        keys=tuple(dict.fromkeys((*older.keys, *younger.keys))),
        articles=max(older.articles, younger.articles),
        hit_at=max(older.hit_at, younger.hit_at),
        changed_at=max(older.changed_at, younger.changed_at),
        status=status,
        wanted=highest(older.wanted, younger.wanted), told=highest(older.told, younger.told),
        revision=older.revision + 1,
        raised_at=younger.told_at if is_raised else older.raised_at,
        noted_by=noted.noted_by, noted_at=noted.noted_at,
    )  # fmt: skip


def to_record(warning: StoryWarning) -> dict[str, Any]:
    """A warning as JSON has it."""
    record = asdict(warning)
    for name in _MOMENTS:
        record[name] = record[name] and record[name].isoformat()
    record["reasons"] = {rule: [[reason.kind, reason.value] for reason in reasons]
                         for rule, reasons in warning.reasons.items()}  # fmt: skip
    return record


def from_record(record: Mapping[str, Any]) -> StoryWarning:
    """The warning that :func:`to_record` made *record* of."""
    moments = {name: datetime.fromisoformat(record[name]) for name in _MOMENTS if record.get(name)}
    reasons = {rule: tuple(Reason(kind, value) for kind, value in entries)
               for rule, entries in record["reasons"].items()}  # fmt: skip
    return StoryWarning(**{**record, **moments, "reasons": reasons, "keys": tuple(record["keys"])})


_MOMENTS = ("opened_at", "changed_at", "hit_at", "raised_at", "noted_at")
