"""Which kind of medium the site of an article is: as an operator said, or as topics have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import CHINESE, _, using_language
from qiaocrawl.storage.schema import outlet_medium, site
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_host, clean_word, stored_moment
from qiaocrawl.topic.media import MEDIA, UNKNOWN, medium_of_host, medium_of_site

SAID, TOPIC, NAME = "said", "topic", "name"


class Medium(NamedTuple):
    """The kind of medium of a site, a key of ``MEDIA``.

    Attributes:
        source: ``SAID`` by an operator, of a ``TOPIC``'s site, told by the ``NAME`` of the host;
            "" where it is unknown.
        host: of which it was said, the site's or one above it; "" where it is unknown.
    """

    kind: str
    source: str = ""
    host: str = ""


class OutletMedia:
    """The kinds of media of sites, as a topic (None: any) and operators have them.

    An operator's word goes before all; of two hosts the one further below counts.
    """

    def __init__(self, c: Connection, topic: str | None) -> None:
        said = select(outlet_medium.c.host, outlet_medium.c.medium)
        self._said = {row.host: row.medium for row in c.execute(said)}
        columns = site.c.host, site.c.kind, site.c.region, site.c.tier
        statement = select(*columns).order_by(site.c.topic_id.desc())
        if topic is not None:
            statement = statement.where(site.c.topic_id == topic_id(c, topic))
        self._named: dict[str, str] = {}
        for row in c.execute(statement):
            if medium := medium_of_site(row.kind, row.region, row.tier):
                # As listing.OutletNames has it: www.a.cn stands for all of a.cn.
                self._named[row.host.removeprefix("www.")] = medium
                self._named[row.host] = medium

    def of(self, host: str) -> Medium:
        """The kind of medium at *host*."""
        for known, source in ((self._said, SAID), (self._named, TOPIC)):
            name = host
            while name:
                if name in known:
                    return Medium(known[name], source, name)
                name = name.partition(".")[2]
        medium = medium_of_host(host)
        return Medium(medium, NAME, host) if medium else Medium(UNKNOWN)


def known_media(kinds: Iterable[str]) -> tuple[str, ...]:
    """*kinds*, each a key of ``MEDIA`` or what it is called in Chinese or English.

    Raises:
        ConfigError: one is neither; the message lists those there are.
    """
    names = {key: key for key in MEDIA} | {name.lower(): key for key, name in MEDIA.items()}
    with using_language(CHINESE):
        names |= {_(name): key for key, name in MEDIA.items()}
    found: list[str] = []
    for kind in kinds:
        wanted = names.get(kind.strip().lower())
        if wanted is None:
            listed = ", ".join(f"{own} ({_(name)})" for own, name in MEDIA.items())
            raise ConfigError(
                _("kind of medium {kind!r} must be one of {names}", kind=kind, names=listed)
            )
        found.append(wanted)
    return tuple(dict.fromkeys(found))


def say_medium(
    c: Connection, hosts: Sequence[str], medium: str, *, by: str, now: float
) -> dict[str, str]:
    """Say which kind of medium *hosts* are, with all below them; ``UNKNOWN`` takes it back.

    Returns:
        What was said of each of them before; "" for nothing.

    Raises:
        ConfigError: *medium* is no kind, or no host is named.
    """
    (kind,) = known_media([medium])
    cleaned = [clean_host(host.strip().lower()) for host in hosts]
    if not cleaned or not all(cleaned):
        raise ConfigError(_("no outlet was chosen"))
    own = outlet_medium.c.host.in_(cleaned)
    known = c.execute(select(outlet_medium.c.host, outlet_medium.c.medium).where(own))
    before = {row.host: row.medium for row in known}
    c.execute(delete(outlet_medium).where(own))
    if kind != UNKNOWN:
        said = {"medium": kind, "said_by": clean_word(by, 100), "said_at": stored_moment(now)}
        c.execute(
            insert(outlet_medium), [{"host": host, **said} for host in dict.fromkeys(cleaned)]
        )
    return {host: before.get(host, "") for host in cleaned}
