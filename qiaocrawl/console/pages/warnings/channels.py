"""Channels that are told of warnings: their names and whether messages arrive, no addresses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import ADMINISTRATOR, Page
from qiaocrawl.console.render import render
from qiaocrawl.console.state import actor_of, console_of, link
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.news.warnings.delivery import channel_names, read_channels, send_test
from qiaocrawl.news.warnings.office_rules import office_rules
from qiaocrawl.news.warnings.stored import count_waiting, last_deliveries
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import record


async def show(request: Request) -> Response:
    """Each channel, the rules that tell it, and what became of the last message to it."""
    options = Options.from_environment()
    known = channel_names(options["QIAO_WARNING_CHANNELS"])
    values = await read(request, _told, options["QIAO_WARNING_RULES"])
    named = sorted({*values["rules"], *values["last"]} - {*known})
    return render(request, "warnings/channels.html", known=known, named=named, **values)


def _told(c: Connection, file: str) -> dict[str, Any]:
    rules: dict[str, list[str]] = {}
    for rule in office_rules(c, file).book.rules:
        for channel in rule.channels:
            rules.setdefault(channel, []).append(rule.name)
    return {"rules": rules, "last": last_deliveries(c), "waiting": count_waiting(c)}


async def test(request: Request) -> Response:
    """Send a message that says it is a test."""
    name = await field(request, "channel", 64)
    file = Options.from_environment()["QIAO_WARNING_CHANNELS"]
    channels = await run_in_threadpool(read_channels, file)
    if name not in channels:
        raise ConfigError(_("channel {name!r} must be one of {allowed}", name=name,
                            allowed=_(", ").join(channels) or _("none")))  # fmt: skip
    database = console_of(request).database
    error = await run_in_threadpool(send_test, database, channels, name, datetime.now(UTC))
    told = {"arrived": not error, "reason": error}
    await write(request, record, actor_of(request), "channel.test", name, None, told)
    return RedirectResponse(f"{link(request, 'warnings.channels')}#c-{quote(name)}", 303)


PAGES = (
    Page("/warnings/channels", "warnings.channels", show),
    Page("/warnings/channels/test", "warnings.test", test, ADMINISTRATOR, "POST"),
)
