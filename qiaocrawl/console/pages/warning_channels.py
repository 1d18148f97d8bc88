"""Channels that are told of warnings: entered in a form, tested, taken away; no addresses shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    tell,
    write,
)
from qiaocrawl.console.pages import program_hooks
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError, SecretKeyError
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.news.pushes import Push, keep_push, stored_pushes
from qiaocrawl.news.warnings.channels import (
    KINDS,
    MOST_NAME_CHARS,
    PROGRAM,
    FieldError,
    KeptChannel,
    address_of,
    all_channels,
    channel_names,
    drop_channel,
    keep_channel,
    kept_channels,
    require_channel,
    seal_address,
)
from qiaocrawl.news.warnings.delivery import NO_CHANNEL, send_test
from qiaocrawl.news.warnings.hooks import Hook, keep_hook, stored_hooks
from qiaocrawl.news.warnings.machine import PERSON_SIGN
from qiaocrawl.news.warnings.office_rules import office_rules
from qiaocrawl.news.warnings.rules import clock
from qiaocrawl.news.warnings.signed import DATA, split_address
from qiaocrawl.news.warnings.stored import count_waiting, give_up_waiting, last_deliveries
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.values import clean_word

_MOST_FIELD_CHARS = 2_000


async def show(request: Request) -> Response:
    """Each channel, the rules that tell it, and what became of the last message to it."""
    options = Options.from_environment()
    values = await read(request, _view, options["QIAO_WARNING_RULES"])
    known = {*channel_names(options["QIAO_WARNING_CHANNELS"])}
    kept: dict[str, KeptChannel] = values["kept"]
    told = {name for name in values["last"] if not name.startswith(PERSON_SIGN)}
    named = sorted({*values["rules"], *told} - known - {*kept})
    return render(
        request,
        "warnings/channels.html",
        kinds=KINDS,
        known=sorted({*known, *kept}),
        of_file=known,
        named=named,
        **values,
    )


def _view(c: Connection, file: str) -> dict[str, Any]:
    rules: dict[str, list[str]] = {}
    for rule in office_rules(c, file).book.rules:
        for channel in rule.channels:
            rules.setdefault(channel, []).append(rule.name)
    return {
        "kept": kept_channels(c),
        "rules": rules,
        "last": last_deliveries(c),
        "waiting": count_waiting(c),
        "pushes": stored_pushes(c),
        "hooks": stored_hooks(c),
        "clock": clock,
    }


async def new(request: Request) -> Response:
    """The form of a new channel, of the kind that is asked for."""
    kind = request.query_params.get("kind", "")
    return _form(request, kind if kind in KINDS else next(iter(KINDS)), {}, {})


async def edit(request: Request) -> Response:
    """The form of one that is there, empty: what it was is shown to nobody."""
    kept = await _require_kept(request, request.query_params.get("name", ""))
    return _form(request, kept.kind, {"name": kept.name}, {}, kept)


def _form(
    request: Request,
    kind: str,
    given: Mapping[str, str],
    faults: Mapping[str, str],
    kept: KeptChannel | None = None,
) -> Response:
    trouble = ""
    try:
        _vault()
    except SecretKeyError as error:
        trouble = str(error)
    return render(
        request,
        "warnings/channel.html",
        400 if faults else 200,
        kinds=KINDS,
        kind=kind,
        given=given,
        faults=faults,
        kept=kept,
        trouble=trouble,
        most_name_chars=MOST_NAME_CHARS,
    )


def _vault() -> Vault:
    return Vault.from_option(Options.from_environment()["QIAO_SECRET_KEY"])


async def _require_kept(request: Request, name: str) -> KeptChannel:
    kept = (await read(request, kept_channels)).get(name)
    if kept is None:
        raise HTTPException(404, _("There is no such channel."))
    return kept


async def save(request: Request) -> Response:
    """Keep a channel, its address encrypted, and go on to its test."""
    kind, is_new = await field(request, "kind", 20), not await field(request, "known", 10)
    if kind not in KINDS:
        raise ConfigError(_("{value!r} must be one of {names}", value=kind, names=", ".join(KINDS)))
    given = {
        one.name: await field(request, one.name, _MOST_FIELD_CHARS) for one in KINDS[kind].fields
    }
    given["name"] = name = clean_word(await field(request, "name"), _MOST_FIELD_CHARS)
    kept = None if is_new else await _require_kept(request, name)
    faults = await _name_faults(request, name) if is_new else {}
    address = ""
    try:
        address = await run_in_threadpool(address_of, kind, given)
    except FieldError as error:
        faults[error.name] = str(error)
    if faults:
        return _form(request, kind, given, faults, kept)
    secret, actor = seal_address(_vault(), name, address), actor_of(request)

    def keep(c: Connection) -> None:
        now = datetime.now(UTC)
        keep_channel(c, name, kind, secret, actor.name, now)
        # Addresses stay out of the log; that there is another one does not.
        before = None if kept is None else {"kind": kept.kind, "entered": f"{kept.changed_at}"}
        action = "channel.change" if kept else "channel.add"
        record(c, actor, action, name, before, {"kind": kind, "entered": f"{now}"})

    await write(request, keep)
    if kind == PROGRAM:
        return await program_hooks.form(request, name, split_address(address)[1])
    tell(request, Told(_("The channel is kept. Send a test: only that shows whether it works.")))
    return _back(request, name)


async def _name_faults(request: Request, name: str) -> dict[str, str]:
    """What is wrong with the name of a new channel."""
    there = {*channel_names(Options.from_environment()["QIAO_WARNING_CHANNELS"])}
    there |= {*(await read(request, kept_channels))}
    if not name:
        return {"name": _("Give it a name that your colleagues know it by.")}
    if len(name) > MOST_NAME_CHARS:
        return {"name": _("A name has {most} characters at most.", most=MOST_NAME_CHARS)}
    if name.startswith(PERSON_SIGN):
        return {"name": _("A name that begins with {sign} is a person's.", sign=PERSON_SIGN)}
    if name in there:
        return {"name": _("There is a channel {name!r} already.", name=name)}
    return {}


async def drop(request: Request) -> Response:
    """Forget a channel."""
    kept = await _require_kept(request, await field(request, "channel", MOST_NAME_CHARS))

    def forget(c: Connection, actor: Actor) -> None:
        drop_channel(c, kept.name)
        keep_push(c, Push(kept.name))
        keep_hook(c, Hook(kept.name))
        # What waited must not go to another address that is called so later.
        give_up_waiting(c, kept.name, DATA, NO_CHANNEL)
        record(c, actor, "channel.drop", kept.name, {"kind": kept.kind}, None)

    await write(request, forget, actor_of(request))
    tell(request, Told(_("Deleted.")))
    return RedirectResponse(link(request, "warnings.channels"), 303)


async def test(request: Request) -> Response:
    """Send a message that says it is a test, and tell what the far side said to it."""
    name, options = await field(request, "channel", MOST_NAME_CHARS), Options.from_environment()
    file, keys = options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"]
    channels = await read(request, all_channels, file, keys)
    require_channel(name, channels)
    database = console_of(request).database
    error = await run_in_threadpool(send_test, database, channels, name, datetime.now(UTC))
    told = {"arrived": not error, "reason": error}
    await write(request, record, actor_of(request), "channel.test", name, None, told)
    kept = (await read(request, kept_channels)).get(name)
    tell(request, _told_of_test(error, kept is None or KINDS[kept.kind].confirms))
    return _back(request, name)


def _told_of_test(error: str, confirms: bool) -> Told:
    if error:
        return Told(_("The test did not arrive: {why}", why=shown_reason(error)), is_fault=True)
    if confirms:
        return Told(_("The test was sent, and the far side says that it took it."))
    return Told(_("The test was sent. A mail server does not say whether it is read: look there."))


def _back(request: Request, name: str) -> Response:
    return RedirectResponse(f"{link(request, 'warnings.channels')}#c-{quote(name)}", 303)


PAGES = (
    Page("/warnings/channels", "warnings.channels", show),
    Page("/warnings/channels", "warnings.save_channel", save, ADMINISTRATOR, "POST"),
    Page("/warnings/channels/new", "warnings.new_channel", new, ADMINISTRATOR),
    Page("/warnings/channels/change", "warnings.channel", edit, ADMINISTRATOR),
    Page("/warnings/channels/drop", "warnings.drop_channel", drop, ADMINISTRATOR, "POST"),
    Page("/warnings/channels/test", "warnings.test", test, ADMINISTRATOR, "POST"),
)
