"""What somebody is told on their own phone or by mail: chosen by themselves, for themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import (
    READER,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import form_of
from qiaocrawl.errors import SecretKeyError
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.news.pushes import written_minute
from qiaocrawl.news.warnings.channels import KINDS, FieldError, all_channels
from qiaocrawl.news.warnings.delivery import send_test
from qiaocrawl.news.warnings.persons import (
    MAIL,
    ROBOTS,
    PersonPush,
    drop_person_push,
    every_channel,
    keep_person_push,
    mail_carriers,
    own_address,
    push_of_person,
    seal_own,
)
from qiaocrawl.news.warnings.rules import QuietHours, Severity, clock
from qiaocrawl.news.warnings.stored import last_deliveries
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import list_topics

_USUAL_MINUTE = 7 * 60 + 30
_MOST_CHARS = 2_000
LEASTS: Mapping[str, str] = {
    "": N_("none"),
    "urgent": N_("urgent ones only"),
    "warning": N_("warnings and urgent ones"),
    "notice": N_("all"),
}
"""Which warnings: the least severe, and what that choice is called."""


async def show(request: Request) -> Response:
    """The form, as it was chosen."""
    user = user_of(request)
    push = await read(request, push_of_person, user.id)
    own = push or PersonPush(user.id, user.name, "", digest_minute=_USUAL_MINUTE, least="urgent")
    return await _form(request, own, _texts(own), {}, is_kept=push is not None)


def _texts(push: PersonPush) -> dict[str, str]:
    """What stands in the fields that people type into; no address."""
    minute = _USUAL_MINUTE if push.digest_minute is None else push.digest_minute
    quiet = push.quiet
    return {
        "at": clock(minute),
        "begin": "" if quiet is None else clock(quiet.begin),
        "end": "" if quiet is None else clock(quiet.end),
    }


async def _form(
    request: Request,
    push: PersonPush,
    texts: Mapping[str, str],
    faults: Mapping[str, str],
    *,
    is_kept: bool,
) -> Response:
    options = Options.from_environment()
    trouble = ""
    try:
        Vault.from_option(options["QIAO_SECRET_KEY"])
    except SecretKeyError as error:
        trouble = str(error)
    values = await read(request, _view, options, push.channel)
    kinds = {MAIL: _("E-mail")} if values["carriers"] else {}
    return render(
        request,
        "account/pushes.html",
        400 if faults else 200,
        push=push,
        texts=texts,
        faults=faults,
        is_kept=is_kept,
        trouble=trouble,
        kinds=kinds | {kind: _(KINDS[kind].title) for kind in ROBOTS},
        leasts=LEASTS,
        **values,
    )


def _view(c: Connection, options: Options, channel: str) -> dict[str, Any]:
    office = all_channels(c, options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"])
    return {
        "carriers": mail_carriers(office),
        "topics": {row.name: row.title or row.name for row in list_topics(c)},
        "last": last_deliveries(c).get(channel),
    }


async def save(request: Request) -> Response:
    """Keep what was chosen, the address sealed."""
    user, options = user_of(request), Options.from_environment()
    before = await read(request, push_of_person, user.id)
    known = await read(request, _view, options, "")
    faults: dict[str, str] = {}
    texts = {name: await field(request, name, 10) for name in ("at", "begin", "end")}
    push = await _chosen(request, known, texts, faults)
    address = ""
    given = {
        "address": await field(request, "address", _MOST_CHARS),
        "secret": await field(request, "secret", _MOST_CHARS),
    }
    if given["address"] or before is None or before.kind != push.kind:
        try:
            address = await run_in_threadpool(own_address, push.kind, given)
        except FieldError as error:
            faults[error.name] = str(error)
    if faults:
        return await _form(request, push, texts, faults, is_kept=before is not None)
    vault = Vault.from_option(options["QIAO_SECRET_KEY"])
    secret = seal_own(vault, user.id, address) if address else None

    def keep(c: Connection, actor: Actor) -> None:
        keep_person_push(c, push, secret)
        record(c, actor, "person.pushes", user.name, _facts(before), _facts(push))

    await write(request, keep, actor_of(request))
    tell(request, Told(_("Kept. Send a test: only that shows whether it works.")))
    return _back(request)


async def _chosen(
    request: Request, known: Mapping[str, Any], texts: Mapping[str, str], faults: dict[str, str]
) -> PersonPush:
    """What the form says, with what is wrong in it put into *faults*."""
    user, kind = user_of(request), await field(request, "kind", 20)
    carriers: tuple[str, ...] = known["carriers"]
    least = await field(request, "least", 10)
    if (kind not in ROBOTS and (kind != MAIL or not carriers)) or least not in LEASTS:
        raise HTTPException(400, _("The request is wrong."))
    form = await form_of(request)
    topics = tuple(str(name) for name in form.getlist("topic") if name in known["topics"])
    carrier = await field(request, "carrier", 64)
    push = PersonPush(
        user.id,
        user.name,
        kind,
        (carrier if carrier in carriers else carriers[0]) if kind == MAIL else "",
        None,
        await field(request, "workdays", 5) == "yes",
        cast("Severity | None", least or None),
        topics,
        begun_at=datetime.now(UTC),
    )
    if await field(request, "digest", 5) == "yes":
        push = replace(push, digest_minute=_minute(texts["at"], "at", faults))
    if texts["begin"] or texts["end"]:
        begin, end = (_minute(texts[name], name, faults) for name in ("begin", "end"))
        passes: Severity | None = "urgent" if await field(request, "passes", 5) == "yes" else None
        push = replace(push, quiet=QuietHours(begin, end, passes=passes))
    return push


def _minute(text: str, name: str, faults: dict[str, str]) -> int:
    try:
        return written_minute(text)
    except ValueError:
        faults[name] = _("A time of the day, such as 7:30; this is {at!r}.", at=text)
        return 0


def _facts(push: PersonPush | None) -> dict[str, object] | None:
    """For the log of changes: what of, and by what; no address."""
    if push is None:
        return None
    quiet = push.quiet
    return {
        "kind": push.kind,
        "digest": "" if push.digest_minute is None else clock(push.digest_minute),
        "workdays": push.only_workdays,
        "warnings": push.least or "",
        "topics": list(push.topics),
        "quiet": "" if quiet is None else f"{clock(quiet.begin)}-{clock(quiet.end)}",
    }


async def test(request: Request) -> Response:
    """Send a message that says it is a test, and tell what the far side said to it."""
    push = await _require_push(request)
    options = Options.from_environment()
    channels = await read(
        request, every_channel, options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"]
    )
    database, now = console_of(request).database, datetime.now(UTC)
    error = await run_in_threadpool(send_test, database, channels, push.channel, now)
    told = {"arrived": not error, "reason": error}
    await write(request, record, actor_of(request), "person.test", push.user_name, None, told)
    if error:
        why = shown_reason(error)
        tell(request, Told(_("The test did not arrive: {why}", why=why), is_fault=True))
    else:
        tell(request, Told(_("The test was sent: look whether it is there.")))
    return _back(request)


async def drop(request: Request) -> Response:
    """Be told nothing any more."""
    push = await _require_push(request)

    def forget(c: Connection, actor: Actor) -> None:
        drop_person_push(c, push.user_id)
        record(c, actor, "person.quiet", push.user_name, _facts(push), None)

    await write(request, forget, actor_of(request))
    tell(request, Told(_("You are told nothing any more, and the address is forgotten.")))
    return _back(request)


async def _require_push(request: Request) -> PersonPush:
    push = await read(request, push_of_person, user_of(request).id)
    if push is None:
        raise HTTPException(404, _("You have chosen nothing yet."))
    return push


def _back(request: Request) -> Response:
    return RedirectResponse(link(request, "account.pushes"), 303)


PAGES = (
    Page("/account/pushes", "account.pushes", show, READER),
    Page("/account/pushes", "account.save_pushes", save, READER, "POST"),
    Page("/account/pushes/test", "account.test_pushes", test, READER, "POST"),
    Page("/account/pushes/drop", "account.drop_pushes", drop, READER, "POST"),
)
