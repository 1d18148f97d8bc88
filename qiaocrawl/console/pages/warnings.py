"""Warnings: listed, muted, followed by a news reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import back, field
from qiaocrawl.console.page import (
    EDITOR,
    READER,
    Area,
    Page,
    Told,
    actor_of,
    origin_of,
    read,
    tell,
    write,
)
from qiaocrawl.console.pages import channel_pushes, program_hooks, warning_channels, warning_rules
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.news.warnings import stored as warning_lists
from qiaocrawl.news.warnings.machine import (
    SEVERITY_NAMES,
    Status,
    StoryWarning,
    mute,
    reason_text,
    take_note,
    unmute,
    warning_text,
)
from qiaocrawl.news.warnings.rules import SEVERITIES, rank
from qiaocrawl.news.warnings.stored import (
    WarningLine,
    keep_step,
    load_warnings,
    lock_warnings,
)
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import list_topics

_SHOWN = 100
_FEED_ITEMS = 50
STATES: Mapping[Status, str] = {"open": N_("open"), "muted": N_("muted"), "closed": N_("over")}
_ACTIONS = {
    "mute": "warning.mute",
    "unmute": "warning.unmute",
    "note": "warning.note",
    "unnote": "warning.note",
}
"""What the form can do, as the log of changes calls it."""
_DONE = {
    "mute": N_("Nobody is told of it any more."),
    "unmute": N_("It is told of again."),
    "note": N_("Your colleagues see that you took note of it."),
    "unnote": N_("It counts as not taken note of again."),
}


@dataclass(frozen=True, slots=True)
class WarningChoice:
    """Which warnings are asked for: a state, the least severity, a topic ("" for any)."""

    state: Status
    severity: str
    topic: str

    @classmethod
    def of(cls, request: Request) -> WarningChoice:
        """That of an address; what is no choice is left out."""
        asked = request.query_params
        state: Status = next((own for own in STATES if own == asked.get("state")), "open")
        severity = asked.get("severity", "")
        return cls(state, severity if severity in SEVERITIES else "", asked.get("topic", ""))

    def lines(self, c: Connection, statuses: Sequence[Status]) -> list[WarningLine]:
        """The warnings of *statuses* that are of this severity and topic, in no order."""
        least = rank(next((own for own in SEVERITIES if own == self.severity), None))
        chosen = [
            own for own in warning_lists.warnings_of(c, statuses) if rank(own.severity) >= least
        ]
        lines = warning_lists.lines_of(c, chosen)
        return [line for line in lines if not self.topic or self.topic in line.topics]


async def show(request: Request) -> Response:
    """Those that are open, what nobody has taken note of first; others on demand."""
    choice = WarningChoice.of(request)

    def page(c: Connection) -> dict[str, Any]:
        lines = sorted(choice.lines(c, (choice.state,)), key=urgency)
        return {
            "lines": lines[:_SHOWN],
            "more": len(lines) - _SHOWN,
            "counts": warning_lists.count_by_status(c),
            "topics": list_topics(c),
        }

    return render(
        request,
        "warnings/show.html",
        choice=choice,
        states=STATES,
        severities=SEVERITY_NAMES,
        why=_why,
        **await read(request, page),
    )


def urgency(line: WarningLine) -> tuple[bool, int, float]:
    """Its place in a list: what nobody has taken note of first, the most urgent, the newest."""
    own = line.warning
    return own.noted_at is not None, -rank(own.severity), -own.changed_at.timestamp()


def _why(warning: StoryWarning) -> list[tuple[str, str]]:
    """Each rule that held, and why."""
    return [
        (rule, _("; ").join(map(reason_text, reasons))) for rule, reasons in warning.reasons.items()
    ]


async def mark(request: Request) -> Response:
    """Mute a warning or tell of it again; take note of it or take that back."""
    name, action = str(request.path_params["warning"]), await field(request, "action", 20)
    if action not in _ACTIONS:
        raise ConfigError(
            _(
                "action {given!r} must be one of {allowed}",
                given=action,
                allowed=", ".join(_ACTIONS),
            )
        )
    await act_on(request, name, action)
    tell(request, Told(_(_DONE[action])))
    return await back(request, "warnings.show")


async def act_on(request: Request, name: str, action: str) -> None:
    """Do *action*, one of those of the form, to the warning of the number *name*.

    Raises:
        HTTPException: 404, there is none.
    """

    def change(c: Connection, by: Actor) -> None:
        lock_warnings(c)
        warnings = load_warnings(c)
        own = next((one for one in warnings.values() if one.id == name), None)
        if own is None:
            raise HTTPException(404, _("There is no such warning."))
        after = _act_on(warnings, own.story, action, by.name)
        if after[own.story] == own:
            return
        keep_step(c, warnings, after, (), datetime.now(UTC))
        record(c, by, _ACTIONS[action], own.title, _state(own), _state(after[own.story]))

    await write(request, change, actor_of(request))


def _act_on(
    warnings: Mapping[str, StoryWarning], story: str, action: str, by: str
) -> dict[str, StoryWarning]:
    now = datetime.now(UTC)
    if action == "mute":
        return mute(warnings, story)
    if action == "unmute":
        return unmute(warnings, story, now)
    return take_note(warnings, story, by if action == "note" else "", now)


def _state(warning: StoryWarning) -> dict[str, Any]:
    return {"status": warning.status, "noted_by": warning.noted_by}


async def feed(request: Request) -> Response:
    """Warnings as RSS, an item each; one whose severity rose comes to the top again."""
    choice = WarningChoice.of(request)

    def newest(c: Connection) -> list[WarningLine]:
        # Nobody is told of muted ones, by a news reader neither.
        lines = choice.lines(c, ("open", "closed"))
        lines.sort(key=lambda line: (line.warning.told_at, line.warning.id), reverse=True)
        return lines[:_FEED_ITEMS]

    response = render(
        request,
        "warnings/feed.xml",
        lines=await read(request, newest),
        base=origin_of(request),
        severities=SEVERITY_NAMES,
        text=warning_text,
    )
    response.headers["Content-Type"] = "application/rss+xml; charset=utf-8"
    return response


PAGES = (
    Page("/warnings", "warnings.show", show),
    Page("/warnings/feed", "warnings.feed", feed, READER, for_programs=True),
    Page("/warnings/{warning}/mark", "warnings.mark", mark, EDITOR, "POST"),
)


# --- Warnings: what is open and why, the rules of the office, and the channels that are told ------

AREA = Area(
    N_("Warnings"),
    "bell",
    (
        *PAGES,
        *warning_rules.PAGES,
        *warning_channels.PAGES,
        *channel_pushes.PAGES,
        *program_hooks.PAGES,
    ),
)
