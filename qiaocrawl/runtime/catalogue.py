"""What a run works on: the imported topics with their sites, and the search engines."""

from __future__ import annotations

from functools import cached_property, partial

from qiaocrawl.errors import ConfigError
from qiaocrawl.ontology import use_folder
from qiaocrawl.options import Options
from qiaocrawl.search import EngineDefinition, load_definitions
from qiaocrawl.storage import Reader
from qiaocrawl.storage.topics import judgements, topics
from qiaocrawl.topic.pack import Site, TopicPack
from qiaocrawl.urls import in_site


class Catalogue:
    """Topics and engines by name, read once; every unknown name is a clear error."""

    def __init__(self, reader: Reader, options: Options) -> None:
        self._reader = reader
        self._options = options
        # Crawl strategies of this process read them; worker processes are told by their setup.
        use_folder(options["QIAO_ONTOLOGY_DIR"])

    @cached_property
    def packs(self) -> dict[str, TopicPack]:
        """Every imported topic by name; pages that operators judged are among its samples."""
        rows = self._reader.run(topics.list_topics)
        return {
            row.name: self._reader.run(partial(judgements.judged_pack, name=row.name))
            for row in rows
        }

    @cached_property
    def topic_ids(self) -> dict[str, int]:
        """Row numbers of the topics by name."""
        return {row.name: row.id for row in self._reader.run(topics.list_topics)}

    def pack(self, name: str) -> TopicPack:
        """The topic called *name*.

        Raises:
            ConfigError: it was never imported; the message lists what was.
        """
        if name not in self.packs:
            there = ", ".join(sorted(self.packs)) or "none yet"
            raise ConfigError(
                f"topic {name!r} is not in the database (imported: {there}); "
                f"`qiaocrawl topic import {name}` brings it there"
            )
        return self.packs[name]

    def deep_sites(self, topic: str, names: str = "") -> list[Site]:
        """The topic's authoritative sites, or exactly those named (comma separated hosts)."""
        sites = self.pack(topic).sites
        wanted = [name.strip().lower() for name in names.split(",") if name.strip()]
        if not wanted:
            deep = [site for site in sites if site.role == "authoritative"]
            if not deep:
                raise ConfigError(f"topic {topic!r} has no authoritative site to crawl")
            return deep
        by_host = {site.host: site for site in sites}
        for name in wanted:
            if name not in by_host:
                raise ConfigError(f"topic {topic!r} has no site {name!r}")
        return [by_host[name] for name in wanted]

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
        return load_definitions(
            self._options["QIAO_ENGINES_DIR"] or None,
            base_urls={"searxng": self._options["QIAO_SEARXNG_URL"]},
            region=self._options["QIAO_SEARCH_REGION"],
        )

    def engine(self, name: str) -> EngineDefinition:
        """The engine called *name*.

        Raises:
            ConfigError: no such engine.
        """
        if name not in self.engines:
            there = ", ".join(sorted(self.engines))
            raise ConfigError(f"unknown engine {name!r} (there are: {there})")
        return self.engines[name]

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
                "no search engine is chosen: set QIAO_ENGINES to the engines you may ask, "
                f"out of {', '.join(sorted(self.engines))}"
            )
        for name in wanted:
            if name not in chosen:
                among = ", ".join(chosen)
                raise ConfigError(f"engine {name!r} is not among QIAO_ENGINES ({among})")
        return {name: self.engine(name) for name in wanted}
