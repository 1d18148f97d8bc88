"""`scrapy crawl search`: keyword x site x engine queries, answers into the ledger (Q1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.crawl.items import CrawlItem, SearchedPage
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import ConfigError
from qiaocrawl.follow import FollowPolicy, link_to
from qiaocrawl.items import (
    AnswerState,
    Candidate,
    FetchedPage,
    Lease,
    Outcome,
    Queue,
    SearchAnswer,
)
from qiaocrawl.search import plan, read_answer
from qiaocrawl.searching import query_candidate, query_of
from qiaocrawl.urls import canonical_url, host_of


class SearchSpider(FrontierSpider):
    """Asks the engines the operator named; what they find waits for `scrapy crawl pages`."""

    name = "search"
    queue = Queue.SEARCH
    allowed_arguments = {
        "engine": "engines out of QIAO_ENGINES, comma separated; default: all of them",
        "site": "hosts of the topic, comma separated; default: all its sites and no site",
        "terms": "how many of the heaviest terms are asked; default: all",
    }

    def prepare(self) -> None:
        """Scope: all queries of this topic that wait; engines must be named by the operator."""
        self.engines = self.runtime.catalogue.chosen_engines(self.arguments.get("engine", ""))
        # With its port: a service of the operator's rarely has the usual one.
        asked = (one.url.replace("{base}", one.base_url) for one in self.engines.values())
        hosts = frozenset(host_of(url) for url in asked)
        self.scope = self.runtime.scope(self.queue, self.topic, FollowPolicy(sites=hosts))
        self.policy = FollowPolicy(sites=frozenset())

    def seeds(self) -> list[Candidate]:
        """The queries that are due: never asked, or asked too long ago."""
        named = [host.strip() for host in self.arguments.get("site", "").split(",")]
        queries = plan(
            self.runtime.catalogue.pack(self.topic),
            [self.engines[name] for name in sorted(self.engines)],
            sites=list(filter(None, named)) or None,
            max_terms=self._term_limit(),
        )
        due = self.runtime.due_queries(self.topic, list(queries))
        return [
            query_candidate(query, self.engines[query.engine], rank=rank)
            for rank, query in enumerate(due)
        ]

    def request_meta(self, lease: Lease) -> dict[str, Any]:
        """Result pages are asked on the operator's explicit choice (QIAO_ENGINES)."""
        return {"dont_obey_robotstxt": True}

    def request_headers(self, lease: Lease) -> Mapping[str, str]:
        """What the engine's definition asks for, such as the language of its answers."""
        return dict(self.runtime.catalogue.engine(query_of(lease).engine).headers)

    def judge(self, page: FetchedPage) -> None:
        """Every status is an answer to classify: a redirect may lead to a captcha."""

    def page_item(self, lease: Lease, page: FetchedPage) -> CrawlItem:
        """Read and classify the answer."""
        query = query_of(lease)
        engine = self.runtime.catalogue.engine(query.engine)
        answer = read_answer(engine, query, page.status, dict(page.headers), page.body)
        found = ((hit, canonical_url(hit.url)) for hit in answer.hits)
        return SearchedPage(
            lease, page, query, answer, tuple((hit, link_to(url)) for hit, url in found if url)
        )

    async def finish(
        self,
        lease: Lease,
        outcome: Outcome,
        reason: str,
        *,
        status: int | None = None,
        also: Callable[[Connection], None] | None = None,
        redirect_key: bytes | None = None,
    ) -> None:
        """An engine that could not be asked stands in the ledger as an error."""
        query = query_of(lease)
        answer = SearchAnswer(AnswerState.ERROR, message=reason)
        await super().finish(
            lease, outcome, reason, status=status, redirect_key=redirect_key,
            also=lambda c: self.runtime.record_answer(c, query, answer, new_urls=0),
        )
        self.count(f"search/{AnswerState.ERROR}")

    def _term_limit(self) -> int | None:
        given = self.arguments.get("terms", "")
        if not given:
            return None
        if not given.isdigit() or int(given) < 1:
            raise ConfigError(f"terms= must be a whole number from 1, got {given!r}")
        return int(given)
