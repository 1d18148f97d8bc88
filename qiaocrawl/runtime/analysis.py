"""The analysis of pages in one run: its workers, what they are told, what is learnt of sites."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from qiaocrawl.extract.base import extractor_options
from qiaocrawl.items import FetchedPage, PageAnalysis
from qiaocrawl.items.article import PartText
from qiaocrawl.options import Options
from qiaocrawl.relevance import page_scorers, scorer_options
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.stages.analysis_setup import AnalysisSetup, JoinedText
from qiaocrawl.stages.analysis_slots import AnalysisSlots
from qiaocrawl.stages.site_template_store import SiteTemplateStore
from qiaocrawl.storage import Reader


class RunAnalysis:
    """Everything is built when it is first needed; the workers start then."""

    def __init__(self, options: Options, catalogue: Catalogue, reader: Reader) -> None:
        self._options = options
        self._catalogue = catalogue
        self._reader = reader
        self._order_topic = self._order_method = ""

    def check_scorer(self) -> None:
        """Look up the page scorer and its options.

        Raises:
            ConfigError: there is no such page scorer, or no such option of it.
        """
        scorer_options(
            self._options["QIAO_RELEVANCE_METHOD"], self._options["QIAO_RELEVANCE_OPTIONS"]
        )

    def judge_pages_for(self, topic: str, method: str) -> None:
        """Have every page judged for *topic*, as a crawl order wants; before workers start.

        Args:
            method: name of the page scorer; "" for QIAO_RELEVANCE_METHOD.

        Raises:
            ConfigError: no such page scorer.
        """
        name = method or self._options["QIAO_RELEVANCE_METHOD"]
        page_scorers.get(name)
        if name == "ontology":
            # Wordnets and all that reads them, which no other scorer needs.
            from qiaocrawl.relevance.ontology import warn_of_unknown_terms

            warn_of_unknown_terms(self._catalogue.pack(topic))
        self._order_topic, self._order_method = topic, method

    @cached_property
    def setup(self) -> AnalysisSetup:
        """What an analysis worker needs to know."""
        options = self._options
        return AnalysisSetup(
            method=options["QIAO_EXTRACT_METHOD"],
            max_links=options["QIAO_MAX_LINKS_PER_PAGE"],
            topics=tuple(self._catalogue.packs.values()),
            relevance_method=options["QIAO_RELEVANCE_METHOD"],
            threshold=options["QIAO_RELEVANCE_THRESHOLD"],
            relevance_options=options["QIAO_RELEVANCE_OPTIONS"],
            extractor_options=extractor_options(options["QIAO_EXTRACT_METHOD"], options),
            learn_sites=options["QIAO_SITE_LEARNING"],
            order_topic=self._order_topic, order_method=self._order_method,
            ontology_dir=options["QIAO_ONTOLOGY_DIR"],
            documents=options["QIAO_DOCUMENTS"], title_method=options["QIAO_TITLE_METHOD"],
        )  # fmt: skip

    @cached_property
    def learning(self) -> SiteTemplateStore | None:
        """What this run learns of sites; None when it is to learn nothing."""
        return SiteTemplateStore(self._reader) if self._options["QIAO_SITE_LEARNING"] else None

    @cached_property
    def slots(self) -> AnalysisSlots:
        """The analysis workers."""
        return AnalysisSlots(
            self.setup,
            workers=self._options["QIAO_EXTRACT_WORKERS"],
            seconds=self._options["QIAO_EXTRACT_SECONDS"],
        )

    def renew(self) -> None:
        """Judge pages by the topics as they are now; pages in hand by those of before."""
        self.__dict__.pop("setup", None)
        if "slots" in self.__dict__:
            self.slots.renew(self.setup)

    async def analyse(self, page: FetchedPage, *, alone: bool = False) -> PageAnalysis:
        """Analyse *page* in a worker process, in the separate slot if it is to be *alone*.

        Raises:
            PoisonPageError: the page killed or outlasted its worker.
            ExtractionError: the analysis failed in another way.
            ConfigError: an operator's file is at fault, or no worker can start.
            CancelledError: the crawl is stopping.
        """
        # What is known of the site travels with the page: workers keep nothing between pages.
        template = await self.learning.template(page) if self.learning else None
        return await self.slots.analyse(page, template, alone=alone)

    async def join(self, title: str, texts: Sequence[PartText]) -> JoinedText:
        """Join the texts of an article's parts, and judge the whole, in a worker process.

        Raises:
            PoisonPageError, ExtractionError, ConfigError, CancelledError: as :meth:`analyse`.
        """
        return await self.slots.join(title, texts)

    def cancel(self) -> int:
        """Give up running analyses (a stopping crawl), whose pages are stored; says how many."""
        # A cached property: asking for it here would start the workers.
        return self.slots.stop() if "slots" in self.__dict__ else 0

    def close(self) -> None:
        """Stop the workers."""
        if "slots" in self.__dict__:
            self.slots.close()
