"""What may be asked for from a screen: few spiders, few arguments, each of them checked."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.storage.jobs import JobRequest
from qiaocrawl.storage.topics.topics import find_topic_id

ROUND = "round"
"""All spiders of a topic, one after another, within a time budget: `qiaocrawl run`."""

JUDGE = "judge"
"""All stored articles judged anew: `qiaocrawl reprocess --stage relevance`."""
REREAD = "reread"
"""The stored pages of one site read anew: `qiaocrawl reprocess --stage extract --host HOST`."""
HOST = "host"
"""The argument of such a job that names the site."""
COMMANDS = (ROUND, JUDGE, REREAD)
"""Those that are no spider; they run on this machine only."""

SPIDERS: Mapping[str, str] = {
    ROUND: N_("the whole round: watch, search, pages, sites, analysis"),
    "search": N_("ask search engines"),
    "pages": N_("fetch the pages that were found"),
    "site": N_("crawl the sites"),
    "watch": N_("revisit watched pages"),
    JUDGE: N_("judge all stored articles anew"),
    REREAD: N_("read the stored pages of a site anew"),
}
"""What can be run, with what it is called."""
ORDERED = {name: title for name, title in SPIDERS.items() if name != REREAD}
"""What a form for orders offers: the others are begun where their site is chosen."""

_MAX_MINUTES = 10_000


def checked_request(
    c: Connection,
    servers: Mapping[str, object],
    *,
    spider: str,
    topic: str,
    server: str = "",
    minutes: str = "",
    arguments: Mapping[str, str] | None = None,
) -> JobRequest:
    """A request as the console may start it.

    Args:
        servers: the nodes, by name.
        minutes: time budget; "" or 0 = until all is done.

    Raises:
        ConfigError: a wrong value, named.
    """
    if spider not in SPIDERS:
        raise ConfigError(
            _("spider {spider!r}: there are {names}", spider=spider, names=", ".join(SPIDERS))
        )
    if find_topic_id(c, topic) is None:
        raise ConfigError(
            _(
                "topic {topic!r} is not imported; `qiaocrawl topic import {topic}` first",
                topic=topic,
            )
        )
    if server and server not in servers:
        raise ConfigError(_("{server}: no such node; see `qiaocrawl nodes list`", server=server))
    if server and spider in COMMANDS:
        raise ConfigError(_("{what}: on this machine only", what=_(SPIDERS[spider])))
    if spider == REREAD and not (arguments or {}).get(HOST):
        raise ConfigError(_("{what}: of which site must be given", what=_(SPIDERS[spider])))
    seconds = _budget_seconds(minutes)
    settings = {"QIAO_MAX_SECONDS": f"{seconds}"} if seconds else {}
    return JobRequest(spider, topic, server, dict(arguments or {}), settings)


def _budget_seconds(minutes: str) -> int:
    try:
        given = float(minutes.strip() or 0)
    except ValueError:
        given = -1.0
    if not 0 <= given <= _MAX_MINUTES:
        raise ConfigError(
            _(
                "minutes {minutes!r} must be a number from 0 to {most}",
                minutes=minutes,
                most=_MAX_MINUTES,
            )
        )
    return round(given * 60)
