"""`scrapy crawl search`: keyword x site x engine queries, answers into the ledger (Q1)."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DownloadCancelledError

from qiaocrawl.crawl.context import CrawlContext, CrawlItem, SearchedPage, usual_limits
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.explain import USUAL_STRATEGY, chosen_strategy
from qiaocrawl.items import FetchedPage, Lease, Queue
from qiaocrawl.language import _
from qiaocrawl.runs.asking_plan import SearchPlan
from qiaocrawl.runs.search import (
    AskingOrder,
    SearchJournal,
    asked_to_rest,
    parked_reason,
)
from qiaocrawl.runtime.follow_links import FollowPolicy, link_to
from qiaocrawl.search.answer import DecoyWatch, cut_answer, parse_answer
from qiaocrawl.search.plan import checked_period, query_of, search_request
from qiaocrawl.search.priority import EnginePauses, EngineResponse, engine_response
from qiaocrawl.search.query import EVERYWHERE, Query, SearchAnswer
from qiaocrawl.topic.pack import normalise_host
from qiaocrawl.urls import canonical_url, host_of

if TYPE_CHECKING:
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

NO_SITE = "-"
# The first rest of an engine that refuses, in usual pauses between two requests.
_REST_IN_PAUSES = 10


def named_sites(text: str) -> list[str] | None:
    """The hosts of ``site=``, "-" for the query without a site; None when none is named.

    Raises:
        ConfigError: one is no host.
    """
    named = list(filter(None, (host.strip() for host in text.split(","))))
    try:
        return [EVERYWHERE if host == NO_SITE else normalise_host(host) for host in named] or None
    except ValueError as error:
        raise ConfigError(
            _(
                "site= must be hosts, or {no_site} for no site: {error}",
                no_site=NO_SITE,
                error=error,
            )
        ) from None


class SearchSpider(FrontierSpider):
    """Asks the engines the operator named; what they find waits for `scrapy crawl pages`."""

    name = "search"
    queue = Queue.SEARCH
    allowed_arguments = {
        "engine": "engines out of QIAO_ENGINES, comma separated; default: all of them",
        "site": "hosts, comma separated, - = no site; default: all of the topic's and no site",
        "terms": "how many of the heaviest terms are asked; default: all",
        "period": "day, week, month, year or FIRST/END; default: any time",
    }
    # One query of an engine at a time: it is known to refuse before it is asked again.
    custom_settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}

    def plan(self) -> CrawlContext:
        """Scope: all queries of this topic that wait; engines must be named by the operator."""
        runtime, options = self.runtime, self.runtime.options
        self.engines = runtime.catalogue.chosen_engines(self.arguments.get("engine", ""))
        for name, engine in self.engines.items():
            # What an engine lacks is said before anything starts.
            search_request(engine, Query(self.topic, "a", "", name))
        # With its port: a service of the operator's rarely has the usual one.
        urls = (engine.url.replace("{base}", engine.base_url) for engine in self.engines.values())
        within = FollowPolicy(sites=frozenset(host_of(url) for url in urls))
        scope = runtime.scope(self.queue, self.topic, within)
        self.search_plan = SearchPlan(
            self.engines,
            named_sites(self.arguments.get("site", "")),
            self._term_limit(),
            checked_period(self.arguments.get("period", "")),
        )
        self.rests = EnginePauses(
            options["QIAO_SEARCH_PARK_AFTER"],
            _REST_IN_PAUSES * self.crawler.settings.getfloat("DOWNLOAD_DELAY"),
        )
        self.decoys = DecoyWatch()
        # The order of queries is in their scores; budgets and rests let them through.
        strategy = chosen_strategy(runtime, scope)
        self.asking = AskingOrder(strategy, runtime, self.search_plan, self.rests)
        return CrawlContext(
            runtime,
            scope,
            FollowPolicy(sites=frozenset()),
            order=self.asking,
            asked={**self.arguments, "strategy": USUAL_STRATEGY, "strategy_options": ""},
            limits=usual_limits(options),
            journal=SearchJournal(runtime),
        )

    async def lay_out(self) -> None:
        """The queries that are due: never asked, or asked too long ago."""
        await self.asking.lay_out(self.topic)

    def request_options(self, lease: Lease) -> dict[str, Any]:
        """The request as the engine's definition writes it.

        Result pages are asked on the operator's explicit choice (QIAO_ENGINES).
        """
        query = query_of(lease)
        asked = search_request(self.runtime.catalogue.engine(query.engine), query)
        return {
            "url": asked.url,
            "method": asked.method,
            "headers": dict(asked.headers),
            "body": asked.body,
            "meta": {"dont_obey_robotstxt": True},
        }

    def declines(self, lease: Lease) -> str:
        """An engine that was parked since the lease was taken is asked nothing."""
        engine = lease.payload.engine
        parked = self.rests.is_parked(engine) and not lease.stored
        return parked_reason(engine) if parked else ""

    def read(self, lease: Lease, page: FetchedPage) -> CrawlItem:
        """Read and classify the answer, whatever its status: a redirect may lead to a captcha."""
        query = query_of(lease)
        engine = self.runtime.catalogue.engine(query.engine)
        answer = self.decoys.decide(
            query, parse_answer(engine, query, page.status, dict(page.headers), page.body)
        )
        if page.connection_lost:
            answer = cut_answer(answer)
        if not lease.stored:
            self.on_answer(lease, page, answer)
        # The address that was asked may hold a key; the row's does not.
        page = replace(page, url=lease.url, final_url=lease.url)
        resolved = ((hit, canonical_url(hit.url)) for hit in answer.hits)
        return SearchedPage(
            lease, page, query, answer, tuple((hit, link_to(url)) for hit, url in resolved if url)
        )

    def on_answer(self, lease: Lease, page: FetchedPage, answer: SearchAnswer) -> None:
        """Let the engine rest if the answer says so. Called once for every answer that came."""
        engine = self.engines[query_of(lease).engine]
        of_its_format = (engine.format == "html") == ("html" in page.header("content-type"))
        came_back = 200 <= page.status < 300 and of_its_format
        sign = engine_response(
            answer, came_back=came_back, asks_others=engine.upstreams is not None
        )
        seconds = asked_to_rest(page, self.runtime.options)
        self._rest(lease, sign, answer.message, seconds, answer)

    async def on_failure(self, failure: Failure) -> None:
        """No answer came: the engine is left alone like one that refuses."""
        if not isinstance(failure.value, DownloadCancelledError):
            lease: Lease = failure.request.meta["lease"]  # type: ignore[attr-defined]
            self._rest(lease, EngineResponse.REFUSES, type(failure.value).__name__)
        await super().on_failure(failure)

    def _rest(
        self,
        lease: Lease,
        sign: EngineResponse,
        why: str,
        seconds: float = 0.0,
        answer: SearchAnswer | None = None,
    ) -> None:
        name = query_of(lease).engine
        rest = self.rests.note(name, sign, seconds, answer)
        if rest.seconds or rest.parked:
            self.crawl.worker.park_here(lease.host, rest.seconds)
            self.count(f"search/rests/{name}")
        if not rest.parked:
            return
        logger.warning("%s (%s)", parked_reason(name), why)
        self.crawler.stats.set_value(f"qiaocrawl/search/parked/{name}", 1)
        self.crawl.worker.post(
            lambda c: self.asking.put_off(c, self.topic, name, parked_reason(name))
        )

    def _term_limit(self) -> int | None:
        given = self.arguments.get("terms", "")
        if not given:
            return None
        if not given.isdecimal() or int(given) < 1:
            raise ConfigError(_("terms= must be a whole number from 1, got {given!r}", given=given))
        return int(given)
