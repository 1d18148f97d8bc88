"""All that a worker process does with one page: extraction, relevance, title words, prints."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.discovery.soft_404 import without_address
from qiaocrawl.discovery.text_sample import text_sample
from qiaocrawl.discovery.url_sources import parse_url_source
from qiaocrawl.extract.base import extractor_for, learner, link_reader
from qiaocrawl.extract.documents.analysis import analyse_document
from qiaocrawl.extract.page import LinkSources, analyse_html
from qiaocrawl.extract.paging import join_parts
from qiaocrawl.extract.published.layout_title import use_title_method
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.extract.structure.html import paragraphs
from qiaocrawl.items import FetchedPage, PageAnalysis, PageText, Relevance
from qiaocrawl.items.article import PartText
from qiaocrawl.ontology.sources import use_folder
from qiaocrawl.relevance import PageScorer, make_scorer, scorer_options
from qiaocrawl.runtime.analysis_setup import AnalysisSetup, JoinedText
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import page_segmenter, use_segmenter

if TYPE_CHECKING:
    from qiaocrawl.extract.methods.template import TemplateExtractor


class _Tools:
    """Segmenters and scorers of one setup."""

    def __init__(self, setup: AnalysisSetup) -> None:
        self.extractor = extractor_for(setup.method, dict(setup.extractor_options))
        self.learner = learner(self.extractor)
        use_title_method(setup.title_method)
        self.regions = link_reader(dict(setup.extractor_options))
        if setup.ontology_dir is not None:
            use_folder(setup.ontology_dir)
        terms = [fold(term.text) for pack in setup.topics for term in pack.terms]
        use_segmenter(setup.segmenter)
        self.titles = page_segmenter(terms)
        method, options = setup.relevance_method, setup.relevance_options
        # Without a topic nothing is made, and a wrong name would go unnoticed.
        scorer_options(method, options)
        self.scorers = [
            make_scorer(method, pack, setup.threshold, options) for pack in setup.topics
        ]
        self.order_scorer = _order_scorer(setup, self.scorers)

    def relevance(self, page: PageText) -> tuple[Relevance, ...]:
        """The judgements of all topics."""
        return tuple(scorer.judge(page) for scorer in self.scorers)

    def for_order(self, page: PageText, judged: Sequence[Relevance] = ()) -> tuple[Relevance, ...]:
        """The judgement the crawl order wants; taken from those of all topics if it is there."""
        if self.order_scorer is None:
            return ()
        if judged and self.order_scorer in self.scorers:
            # An article is not judged twice.
            return (judged[self.scorers.index(self.order_scorer)],)
        return (self.order_scorer.judge(page),)


def _order_scorer(setup: AnalysisSetup, scorers: Sequence[PageScorer]) -> PageScorer | None:
    """Judges pages for the crawl order; None where no topic is crawled.

    One of *scorers* (of all topics, in order) where the method is theirs, so that no article
    is judged twice.
    """
    names = [pack.name for pack in setup.topics]
    if setup.order_topic not in names:
        return None
    place = names.index(setup.order_topic)
    if setup.order_method in ("", setup.relevance_method):
        return scorers[place]
    return make_scorer(setup.order_method, setup.topics[place])


_ready: list[tuple[AnalysisSetup, _Tools]] = []
"""The tools of the last setup of this process; hashing a setup costs more than a page."""


def _tools(setup: AnalysisSetup) -> _Tools:
    # "is" first: comparing setups means comparing all topics.
    if not _ready or (_ready[0][0] is not setup and _ready[0][0] != setup):
        _ready[:] = [(setup, _Tools(setup))]
    return _ready[0][1]


def prepare(setup: AnalysisSetup) -> None:
    """Load dictionaries and build the scorers of *setup* before the first page comes.

    Raises:
        ConfigError: no such extractor or page scorer, or a file of theirs cannot be used.
    """
    _tools(setup)
    # The dictionaries stay as long as the process: the collector need not walk them again
    # and again (a tenth of a page's time).
    gc.freeze()


@lru_cache(maxsize=64)
def drawn_extractor(content: str) -> TemplateExtractor | None:
    """What reads by the template in the JSON *content*; None where this version cannot."""
    # Few sites have one, and its checks load as much as a page's whole analysis.
    from qiaocrawl.extract.methods.template import TemplateExtractor
    from qiaocrawl.extract.methods.template_file import Templates, read_template

    template, _faults = read_template(json.loads(content))
    return TemplateExtractor(Templates([template])) if template is not None else None


def analyse_page(
    page: FetchedPage,
    setup: AnalysisSetup,
    template: SiteTemplate | None = None,
    drawn: str = "",
    learnt: str = "",
) -> PageAnalysis:
    """Everything one parse of *page* gives, for all topics of *setup*.

    Args:
        template: what is known of the site of *page*.
        drawn: the template that officers made for its site, as JSON; "" for none.
        learnt: what the extractor has learnt in crawls; "" for nothing.

    Raises:
        ConfigError: no such extractor or page scorer.
    """
    tools = _tools(setup)
    analysis = (
        parse_url_source(page)
        or (analyse_document(page) if setup.documents else None)
        or analyse_html(
            page,
            setup.method,
            setup.max_links,
            tools.learner.with_learnt(learnt) if tools.learner and learnt else tools.extractor,
            template,
            drawn_extractor(drawn) if drawn else None,
            learn=setup.learn_sites,
            sources=LinkSources(tools.regions, setup.documents),
            learner=tools.learner,
        )
    )
    words, article = analysis.words, analysis.article
    # No text to judge, as of a sitemap without titles.
    if words is None:
        return analysis
    if article is None:
        # Of what can be seen, to know the pages a host shows for missing ones.
        shown = body_fingerprints(without_address(words.text, page.final_url or page.url))
        return replace(
            analysis,
            words=None,
            page_relevance=tools.for_order(words),
            body_digest=shown.digest,
            body_simhash=shown.simhash,
        )
    prints, judged = body_fingerprints(article.text), tools.relevance(words)
    return replace(
        analysis,
        words=None,
        page_relevance=tools.for_order(words, judged),
        title_tokens=tuple(tools.titles.terms(article.title)),
        body_digest=prints.digest,
        body_simhash=prints.simhash,
        body_sketch=prints.sketch,
        text_sample=text_sample(article.text),
        relevance=judged,
    )


def join_texts(title: str, parts: Sequence[PartText], setup: AnalysisSetup) -> JoinedText:
    """The *parts* of an article in order as one, judged for all topics of *setup*."""
    text = join_parts([part.text for part in parts])
    # A part without structure is given as plain paragraphs, so that the whole has one.
    html = join_parts([part.html or paragraphs(part.text) for part in parts])
    prints, relevance = body_fingerprints(text), _tools(setup).relevance(PageText(title, text))
    return JoinedText(text, html, prints.digest, relevance, prints.simhash, prints.sketch)


def judge_texts(articles: Sequence[PageText], setup: AnalysisSetup) -> list[tuple[Relevance, ...]]:
    """All topics' judgements of each of *articles*."""
    tools = _tools(setup)
    return [tools.relevance(page) for page in articles]


def thresholds(setup: AnalysisSetup) -> list[float | None]:
    """The score from which each topic's scorer says yes; None where a plug-in does not tell."""
    return [getattr(scorer, "threshold", None) for scorer in _tools(setup).scorers]
