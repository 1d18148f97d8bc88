"""What people changed at the console: who, when, and what was different afterwards, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import whole_number
from qiaocrawl.console.page import ADMINISTRATOR, Area, Page, read
from qiaocrawl.console.pages.account import ROLE_NAMES
from qiaocrawl.console.pages.people import ACTION_NAMES
from qiaocrawl.console.pages.warnings import STATES as WARNING_STATES
from qiaocrawl.console.render import render
from qiaocrawl.fetch.sessions.accounts import ACCOUNT_STATES
from qiaocrawl.jobs.local import STATE_NAMES as JOB_STATES
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.news.drafts.paper import SCRIPT_NAMES
from qiaocrawl.news.drafts.paper import STATE_NAMES as DRAFT_STATES
from qiaocrawl.news.warnings.machine import SEVERITY_NAMES
from qiaocrawl.reading.outcome_names import OUTCOME_NAMES
from qiaocrawl.search.answer import ANSWER_NAMES
from qiaocrawl.storage import audit_log
from qiaocrawl.text.zones import china_time
from qiaocrawl.topic.media import MEDIA

_ENTRIES_SHOWN = 50
_LINES_SHOWN, _CHARS_SHOWN = 12, 200

FIELD_NAMES: Mapping[str, str] = {
    "alarms": N_("alarms"),
    "all_of": N_("all of"),
    "answer": N_("answer"),
    "any_of": N_("any of"),
    "approvers": N_("who approves"),
    "arguments": N_("given to it"),
    "arrived": N_("arrived"),
    "articles": N_("articles"),
    "begin": N_("from"),
    "body": N_("body"),
    "body_font": N_("font of the text"),
    "by": N_("by"),
    "by_self": N_("by themselves"),
    "channels": N_("channels"),
    "class": N_("class"),
    "copy_of": N_("copy of"),
    "count": N_("count"),
    "days": N_("days"),
    "days_off": N_("days off"),
    "description": N_("description"),
    "digest": N_("digest"),
    "disabled": N_("shut out"),
    "done": N_("done"),
    "due": N_("due"),
    "due_at": N_("due"),
    "enabled": N_("in use"),
    "end": N_("until"),
    "engine": N_("engine"),
    "entered": N_("address entered"),
    "feeds": N_("feeds"),
    "file": N_("file"),
    "followed": N_("followed"),
    "heading": N_("heading"),
    "heading_font": N_("font of headings"),
    "holds": N_("holds"),
    "host": N_("site"),
    "hosts": N_("sites"),
    "issue": N_("issue"),
    "item": N_("item"),
    "items": N_("items"),
    "kind": N_("kind"),
    "language": N_("language"),
    "mark": N_("mark"),
    "masthead": N_("masthead"),
    "name": N_("name"),
    "near": N_("near each other"),
    "new": N_("new ones"),
    "none_of": N_("none of"),
    "note": N_("note"),
    "noted_by": N_("taken note of by"),
    "on": N_("on"),
    "outcome": N_("outcome"),
    "page": N_("page"),
    "pages": N_("pages"),
    "passes": N_("what passes"),
    "path": N_("path"),
    "period": N_("period"),
    "place": N_("place"),
    "queries": N_("queries"),
    "query": N_("choice"),
    "reason": N_("reason"),
    "receiver": N_("receiver"),
    "region": N_("region"),
    "relevant": N_("on topic"),
    "render": N_("rendered"),
    "report_to": N_("reported to"),
    "role": N_("role"),
    "said": N_("said"),
    "samples": N_("samples"),
    "schedule": N_("schedule"),
    "schedules": N_("schedules"),
    "score": N_("score"),
    "script": N_("script"),
    "send_to": N_("sent to"),
    "sentences": N_("sentences"),
    "server": N_("machine"),
    "settings": N_("options"),
    "severity": N_("severity"),
    "since": N_("since"),
    "sites": N_("sites"),
    "spider": N_("kind of job"),
    "start_url": N_("start page"),
    "state": N_("state"),
    "status": N_("state"),
    "synonym_of": N_("synonym of"),
    "terms": N_("words"),
    "text": N_("wording"),
    "threshold": N_("threshold"),
    "tier": N_("tier"),
    "times": N_("times"),
    "title": N_("title"),
    "title_font": N_("font of the title"),
    "to": N_("to"),
    "to_off": N_("no more on topic"),
    "to_on": N_("now on topic"),
    "tokens_removed": N_("tokens removed"),
    "topic": N_("topic"),
    "unit": N_("unit"),
    "url": N_("address"),
    "value": N_("value"),
    "version": N_("version"),
    "way": N_("way"),
    "weight": N_("weight"),
    "when_missed": N_("when missed"),
    "with": N_("with"),
    "within_chars": N_("within characters"),
    "workdays": N_("workdays only"),
    "gaps": N_("what is missing"),
    "messages": N_("messages"),
    "number": N_("number"),
    "sha256": N_("digest of the file"),
    "time_stamp": N_("time stamp"),
    "with_articles": N_("each article"),
    "issuer": N_("provider of log-ins"),
    "subject": N_("known there as"),
    "sign_in": N_("why not"),
    "stopped": N_("stopped"),
    "characters": N_("characters sent"),
    "dropped": N_("sentences dropped"),
    "each": N_("each article"),
    "event_outlets": N_("outlets that make an event"),
    "facts": N_("what is known of it"),
    "format": N_("form"),
    "heat": N_("heat"),
    "link": N_("link"),
    "model": N_("model"),
    "purpose": N_("what for"),
    "quiet": N_("quiet hours"),
    "topics": N_("topics"),
    "warnings": N_("warnings"),
    "zone": N_("time zone"),
}
"""What the fields of a record are called; words, hosts and names that stand there are their own."""

_ANYWHERE: Mapping[Any, str] = {
    **DRAFT_STATES,
    **ACCOUNT_STATES,
    **JOB_STATES,
    **ANSWER_NAMES,
    **OUTCOME_NAMES,
}
_VALUE_NAMES: Mapping[str, Mapping[Any, str]] = {
    "role": ROLE_NAMES,
    "severity": SEVERITY_NAMES,
    "passes": SEVERITY_NAMES,
    "script": SCRIPT_NAMES,
    "status": WARNING_STATES,
    "state": _ANYWHERE,
    "outcome": _ANYWHERE,
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of what was changed; "" where there was nothing."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry of the record with what is different after it."""

    entry: audit_log.AuditEntry
    fields: tuple[FieldChange, ...]
    more: int


async def show(request: Request) -> Response:
    """The record of changes, the newest first."""
    before = whole_number(request, "before", 0, 0, 2**62)
    entries = await read(request, audit_log.entries, before_id=before, limit=_ENTRIES_SHOWN)
    return render(
        request,
        "people/audit.html",
        entries=[_shown(entry) for entry in entries],
        more=entries[-1].id if len(entries) == _ENTRIES_SHOWN else 0,
        names=ACTION_NAMES,
    )


def _shown(entry: audit_log.AuditEntry) -> ShownEntry:
    fields = field_changes(entry)
    return ShownEntry(entry, fields[:_LINES_SHOWN], max(len(fields) - _LINES_SHOWN, 0))


def field_changes(entry: audit_log.AuditEntry) -> tuple[FieldChange, ...]:
    """The fields that are different after *entry*, in their order; all where it made or deleted."""
    before, after = _flat(entry.before), _flat(entry.after)
    return tuple(
        FieldChange(
            " › ".join(_name(part) for part in path),
            _said(path, before.get(path)),
            _said(path, after.get(path)),
        )
        for path in dict.fromkeys((*before, *after))
        if before.get(path) != after.get(path)
    )


_Path = tuple[str, ...]


def _flat(state: str) -> dict[_Path, Any]:
    """The values of a state by where they stand; one that was cut is a single text."""
    if not state:
        return {}
    try:
        return dict(_values(json.loads(state), ()))
    except json.JSONDecodeError:
        return {("value",): state}


def _values(state: Any, path: _Path) -> Iterator[tuple[_Path, Any]]:
    if isinstance(state, Mapping):
        for name, value in state.items():
            yield from _values(value, (*path, str(name)))
    else:
        yield path or ("value",), state


def _name(field: str) -> str:
    return _(FIELD_NAMES[field]) if field in FIELD_NAMES else field


def _said(path: _Path, value: Any) -> str:
    """A value as people read it; "" for none."""
    if value is None or value in ("", []):
        return ""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        if any(isinstance(one, Mapping) for one in value):
            return ngettext("{count} entry", "{count} entries", len(value))
        return _short(_(", ").join(_said(path, one) for one in value))
    text = str(value)
    # A kind of medium stands behind the host it was said of.
    names = _VALUE_NAMES.get(path[-1], MEDIA if text in MEDIA else {})
    if text in names:
        return _(names[text])
    with suppress(ValueError):
        if len(text) > len("2026-11-29 ") and (moment := datetime.fromisoformat(text)).tzinfo:
            return china_time(moment)
    return _short(text)


def _short(text: str) -> str:
    return text if len(text) <= _CHARS_SHOWN else f"{text[:_CHARS_SHOWN]}…"


AREA = Area(
    N_("Record of changes"),
    "clock-rotate-left",
    (Page("/people/changes", "people.audit", show, ADMINISTRATOR),),
    N_("Administration"),
)
