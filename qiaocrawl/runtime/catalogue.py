"""What a run works on: the imported topics with their sites, and the search engines."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.ontology.sources import use_folder
from qiaocrawl.options import Options
from qiaocrawl.storage import Reader
from qiaocrawl.storage.topics import judgements, topics
from qiaocrawl.topic.pack import Site, TopicPack
from qiaocrawl.urls import in_site

if TYPE_CHECKING:
    from qiaocrawl.search.definition import EngineDefinition

_HOSTS_NAMED = 5
# What a change costs, new analysis workers among it, is paid no more often.
_RENEWAL_SECONDS = 60.0
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ImportedTopics:
    """The topics of the database at one moment, by name."""

    packs: dict[str, TopicPack]
    ids: dict[str, int]
    versions: dict[str, datetime]


class Catalogue:
    """Topics and engines by name; every unknown name is a clear error.

    Topics are read once, and again when they were changed (:meth:`renew`).
    """

    def __init__(self, reader: Reader, options: Options) -> None:
        self._reader = reader
        self._options = options
        # Crawl strategies of this process read them; worker processes are told by their setup.
        use_folder(options["QIAO_ONTOLOGY_DIR"])
        self._looked_at = self._renewed_at = -math.inf

    @cached_property
    def _topics(self) -> ImportedTopics:
        return self._reader.run(_read_topics)

    @property
    def packs(self) -> dict[str, TopicPack]:
        """Every imported topic by name; pages that operators judged are among its samples."""
        return self._topics.packs

    @property
    def topic_ids(self) -> dict[str, int]:
        """Row numbers of the topics by name."""
        return self._topics.ids

    def starts_looking(self) -> bool:
        """Whether it is time to look for changed topics, which counts as looked: once a second.

        A minute after topics were renewed, so that an expert at the desk, who changes them with
        every key, does not keep a crawl busy with it.
        """
        now = time.monotonic()
        if now < max(self._looked_at + _LOOK_SECONDS, self._renewed_at + _RENEWAL_SECONDS):
            return False
        self._looked_at = now
        return True

    def changed_topics(self, c: Connection) -> ImportedTopics | None:
        """The topics, where one was changed since they were read; None where none was.

        A topic that this run has not read yet is none of its business.
        """
        versions, known = topics.topic_versions(c), self._topics.versions
        if all(versions.get(name, at) == at for name, at in known.items()):
            return None
        return _read_topics(c)

    def renew(self, changed: ImportedTopics) -> None:
        """Go on with what :meth:`changed_topics` gave."""
        self._renewed_at = time.monotonic()
        self._topics = changed
        self.__dict__.pop("_rendered_sites", None)

    def pack(self, name: str) -> TopicPack:
        """The topic called *name*.

        Raises:
            ConfigError: it was never imported; the message lists what was.
        """
        if name not in self.packs:
            there = ", ".join(sorted(self.packs)) or _("none yet")
            raise ConfigError(
                _(
                    "topic {name!r} is not in the database (imported: {there}); `qiaocrawl "
                    "topic import {name}` brings it there",
                    name=name,
                    there=there,
                )
            )
        return self.packs[name]

    def deep_sites(self, topic: str, names: str = "") -> list[Site]:
        """The topic's authoritative sites, or exactly those named (comma separated hosts).

        Raises:
            ConfigError: there is none, or the topic has none of that name.
        """
        sites = self.pack(topic).sites
        wanted = [name.strip().lower() for name in names.split(",") if name.strip()]
        if not wanted:
            deep = self.authoritative_sites(topic)
            if not deep:
                raise ConfigError(_no_deep_site(topic, sites))
            return deep
        by_host = {site.host: site for site in sites}
        for name in wanted:
            if name not in by_host:
                raise ConfigError(_("topic {topic!r} has no site {name!r}", topic=topic, name=name))
        return [by_host[name] for name in wanted]

    def authoritative_sites(self, topic: str) -> list[Site]:
        """The sites of the topic that are crawled whole; [] for a topic that only searches."""
        return [site for site in self.pack(topic).sites if site.role == "authoritative"]

    def wants_rendering(self, host: str) -> bool:
        """Whether a site of any topic asks for a browser for *host*."""
        return any(in_site(host, site) for site in self._rendered_sites)

    @cached_property
    def _rendered_sites(self) -> frozenset[str]:
        return frozenset(
            site.host for pack in self.packs.values() for site in pack.sites if site.render
        )

    @cached_property
    def engines(self) -> dict[str, EngineDefinition]:
        """Every defined search engine by name."""
        # Only where an engine is asked or its links are followed: the checks of its files are
        # made when they are imported.
        from qiaocrawl.search.definition import definitions_of

        return definitions_of(self._options)

    def engine(self, name: str) -> EngineDefinition:
        """The engine called *name*.

        Raises:
            ConfigError: no such engine.
        """
        from qiaocrawl.search.definition import find_definition

        return find_definition(self.engines, name)

    def chosen_engines(self, names: str) -> dict[str, EngineDefinition]:
        """The engines the operator chose (QIAO_ENGINES), narrowed to *names* if given.

        Raises:
            ConfigError: none is chosen, or one of *names* is not among the chosen.
        """
        chosen: tuple[str, ...] = self._options["QIAO_ENGINES"]
        # Without names: all that the operator chose.
        wanted = [name.strip() for name in names.split(",") if name.strip()] or list(chosen)
        if not wanted:
            raise ConfigError(
                _(
                    "no search engine is chosen: set QIAO_ENGINES to the engines you may "
                    "ask, out of {names}",
                    names=", ".join(sorted(self.engines)),
                )
            )
        for name in wanted:
            if name not in chosen:
                among = ", ".join(chosen)
                raise ConfigError(
                    _("engine {name!r} is not among QIAO_ENGINES ({among})", name=name, among=among)
                )
        return {name: self.engine(name) for name in wanted}


def _read_topics(c: Connection) -> ImportedTopics:
    # First, so that a change between the statements is noticed later.
    versions = topics.topic_versions(c)
    rows = topics.list_topics(c)
    packs = {row.name: judgements.judged_pack(c, name=row.name) for row in rows}
    return ImportedTopics(packs, {row.name: row.id for row in rows}, versions)


def _no_deep_site(topic: str, sites: Sequence[Site]) -> str:
    hosts = ",".join(site.host for site in sites[:_HOSTS_NAMED])
    if not hosts:
        return _("topic {topic!r} has no authoritative site to crawl", topic=topic)
    return _(
        "topic {topic!r} has no authoritative site to crawl: name some by -a site={hosts}",
        topic=topic,
        hosts=hosts,
    )
