"""A run's articles on their way into the database: parts joined, titles judged, sites learnt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sqlalchemy import Connection

from qiaocrawl.dedup.fingerprints import BodyFingerprints, body_fingerprints
from qiaocrawl.errors import ExtractionError
from qiaocrawl.extract.sites.boilerplate_model import BoilerplateModel
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.items import FetchedPage, Lease, PageAnalysis, Verdict, VerdictKind
from qiaocrawl.items.article import PartText
from qiaocrawl.options import Options
from qiaocrawl.runtime.analysis_setup import JoinedText
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.runtime.shared_titles import SharedTitleIndex, index_maker
from qiaocrawl.storage import Reader, Writer, frontier
from qiaocrawl.storage.pages import articles, excerpts
from qiaocrawl.storage.pages.article_parts import (
    PartGroup,
    load_group,
    place_article,
    save_part,
    update_part_outcomes,
)
from qiaocrawl.storage.pages.excerpts import join_addresses
from qiaocrawl.storage.pages.site_templates import load_site_template, save_site_templates
from qiaocrawl.storage.topics.word_groups import GroupMarks
from qiaocrawl.storage.writer import in_loop
from qiaocrawl.urls import host_of, url_key


class RunArticles:
    """Stores articles; the stored titles are read when the first one is judged.

    Attributes:
        has_stored: whether this run has stored one.
        stored: what this run stored, by URL row: whether there was no article before, and the
            topics it is on. What was withdrawn again is not among it.
    """

    def __init__(
        self, options: Options, catalogue: Catalogue, reader: Reader, writer: Writer
    ) -> None:
        self._options = options
        self._catalogue = catalogue
        self._reader = reader
        self._writer = writer
        self._loading = asyncio.Lock()
        self._is_loaded = False
        self._groups = GroupMarks()
        self.has_stored = False
        self.stored: dict[int, tuple[bool, frozenset[str]]] = {}
        # Few differ: each is kept once, so an article costs 100 bytes.
        self._notes: dict[tuple[bool, frozenset[str]], tuple[bool, frozenset[str]]] = {}

    @cached_property
    def titles(self) -> SharedTitleIndex:
        """The titles of all workers."""
        make_index = index_maker(self._options, self.title_terms)
        return SharedTitleIndex(make_index, self._options["QIAO_DEDUP_METHOD"])

    @property
    def title_terms(self) -> tuple[str, ...]:
        """Words of titles that stay whole: the terms of all topics."""
        packs = self._catalogue.packs.values()
        return tuple(term.text for pack in packs for term in pack.terms)

    async def load_titles(self) -> None:
        """Read the stored titles before the first one is judged, so that no worker waits."""
        # Pages that come meanwhile wait too; what is loaded is kept before it changes.
        async with self._loading:
            if not self._is_loaded:
                await asyncio.to_thread(self.load_titles_now)
                self._is_loaded = True

    def load_titles_now(self) -> None:
        """:meth:`load_titles` where nothing else goes on."""
        self._reader.run(self.titles.load)
        self.keep_titles()

    def keep_titles(self) -> None:
        """Keep the index in a file for later starts, if much of it is new."""
        if self.titles.is_worth_keeping:
            mark = self._writer.submit(self.titles.mark, self.titles.lock).result()
            self._reader.run(partial(self.titles.keep, mark=mark))

    def save(
        self,
        c: Connection,
        url_id: int,
        analysis: PageAnalysis,
        *,
        anchor: str,
        title_words: Sequence[str] | None = None,
    ) -> Verdict | None:
        """Write the article of *analysis* with all topics' judgements and its verdict.

        The rows, in order: ``excerpt``, ``article`` (``revision`` where its text is another now),
        ``relevance``, ``title_term``, ``word_group_hit``, ``title_entry`` and ``verdict``; the
        ``url`` row where the article is withdrawn.

        Args:
            title_words: of its title, if they were cut in this run, with :attr:`title_terms`.

        Returns:
            None where its text is that of stored pages it leads to, or its page is stored under a
            plainer address: it is withdrawn then, and the row of its URL says so. What it shows
            to be an index, or another address of itself, in turn is withdrawn too.
        """
        assert analysis.article is not None, "there is no article to save"
        self.has_stored = True
        # First: an index is no article, so nothing of it is judged or grouped.
        if index := excerpts.is_index(c, url_id, analysis.excerpts):
            excerpts.withdraw(c, url_id, index, now=time.time())
            return None
        saved = articles.save_article(
            c, url_id, analysis.article, analysis, anchor=anchor, now=time.time()
        )
        articles.save_relevance(c, saved.id, self._catalogue.topic_ids, analysis.relevance)
        articles.save_title_terms(c, saved.id, analysis.title_tokens, is_new=saved.is_new)
        self._groups.mark(c, saved.id, saved.title.title, saved.text, is_new=saved.is_new)
        # After the article is written: the verdict refers to its row.
        verdict = self.titles.judge(c, saved, title_words)
        topics = frozenset(judged.topic for judged in analysis.relevance if judged.relevant)
        # A transaction that is played again does not make it a known one.
        is_new = saved.is_new or self.stored.get(url_id, (False,))[0]
        note = is_new, topics
        self.stored[url_id] = self._notes.setdefault(note, note)
        if verdict.kind is VerdictKind.SAME_PAGE and verdict.of is not None:
            copy = join_addresses(
                c, url_id, verdict.of, analysis.canonical_url, is_new=saved.is_new, now=time.time()
            )
            if copy is not None:
                self.stored.pop(copy, None)
            if copy == url_id:
                return None
        excerpts.withdraw_indexes(
            c, url_id, saved.title.key, analysis.article.text, analysis.excerpts, now=time.time()
        )
        return verdict

    def save_assembled(
        self, c: Connection, whole: AssembledArticle, *, own_url_id: int | None = None
    ) -> Verdict | None:
        """Write a paged article where it belongs, and the state of its parts.

        Args:
            own_url_id: of the part whose row is closed in this transaction.

        Returns:
            How the article relates to others; None if there is none.
        """
        group = whole.group
        # First: the article may have to move before it is written at its new place.
        place_article(c, group)
        update_part_outcomes(c, group, own_url_id)
        if whole.analysis is None:
            return None
        return self.save(c, group.head.url_id, whole.analysis, anchor=group.head.anchor)


# --- Paged articles in a crawl: with each part the article is rebuilt from all stored parts -------
# Three steps: the part is stored by itself; what is stored of its article is joined and judged
# in a worker process; the part's row is closed and the whole article written in one transaction,
# provided that no other part came meanwhile, else the second step is done again. A kill in
# between leaves the row open, and its stored page goes through the same steps once more.

logger = logging.getLogger(__name__)

Join = Callable[[str, Sequence[PartText]], Awaitable[JoinedText]]
"""Joins the texts of an article's parts under its title, in a worker process."""


@dataclass(frozen=True, slots=True)
class AssembledArticle:
    """What the parts in *group* make: the analysis of the whole article, None for no article."""

    group: PartGroup
    analysis: PageAnalysis | None


def add_part(c: Connection, lease: Lease, analysis: PageAnalysis) -> PartGroup | None:
    """Store a leased page as a part; returns all stored parts of its article.

    Returns:
        None when the lease was lost; nothing is written then.
    """
    # Checked before anything is written: save_part() has no fence of its own.
    if not frontier.is_mine(c, lease):
        return None
    save_part(c, lease.url_id, analysis)
    assert analysis.part is not None
    return load_group(c, url_key(analysis.part.urls[0]))


async def assemble_article(group: PartGroup, own: PageAnalysis, join: Join) -> AssembledArticle:
    """The whole article of *group*, which the page of *own* belongs to.

    Texts that cannot be joined in the time a page has leave the article with its first part's.

    Raises:
        CancelledError: the crawl is stopping.
    """
    if not group.is_article:
        return AssembledArticle(group, None)
    # The part has been analysed already; joining one text would only repeat it.
    if len(group.parts) == 1:
        return head_alone(group, own)
    try:
        return assembled_of(group, await join(group.title, group.texts))
    except ExtractionError as error:
        logger.warning("the parts of %s stay apart: %s", group.head.first_url, error)
        return head_alone(group, None)


def head_alone(group: PartGroup, own: PageAnalysis | None) -> AssembledArticle:
    """The head of *group* without the texts of the others.

    Args:
        own: its analysis; None leaves the article's relevance as it is.
    """
    analysis = group.head.analysis
    assert analysis.article is not None
    if own is None:
        prints = body_fingerprints(analysis.article.text)
    else:
        prints = BodyFingerprints(own.body_digest, own.body_simhash, own.body_sketch)
    return AssembledArticle(
        group,
        replace(
            analysis,
            body_digest=prints.digest,
            body_simhash=prints.simhash,
            body_sketch=prints.sketch,
            relevance=own.relevance if own else (),
        ),
    )


def assembled_of(group: PartGroup, joined: JoinedText) -> AssembledArticle:
    """The article of *group* with the *joined* text: all else is said by its head."""
    analysis = group.head.analysis
    assert analysis.article is not None
    return AssembledArticle(
        group,
        replace(
            analysis,
            article=replace(analysis.article, text=joined.text, html=joined.html),
            body_digest=joined.body_digest,
            body_simhash=joined.body_simhash,
            body_sketch=joined.body_sketch,
            relevance=joined.relevance,
        ),
    )


# --- The site templates of a run: learnt in memory, read from and written to the database ---------
# A host's template is read when its first page of this run comes, and written now and then. What
# is lost in a crash is learnt again from the next pages; a page counts once however often its
# analysis is repeated.

_ARTICLES_BETWEEN_SAVES = 50


class SiteTemplateStore:
    """The site templates of one run; not thread-safe: the event loop's.

    Attributes:
        model: learns the templates.
        left_out: blocks left out of bodies, since their sites repeat them.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.model = BoilerplateModel()
        self.left_out = 0
        self._unsaved = 0

    async def template(self, page: FetchedPage) -> SiteTemplate | None:
        """What is known of the host of *page*; None for little or nothing."""
        host = host_of(page.final_url or page.url)
        # Once a host and run: what is learnt here is newer than what others stored since.
        if host and host not in self.model:
            load = self._reader.submit(partial(load_site_template, host=host))
            self.model.restore(host, await in_loop(load))
        return self.model.template(host)

    def template_now(self, page: FetchedPage) -> SiteTemplate | None:
        """The same, without an event loop."""
        host = host_of(page.final_url or page.url)
        if host and host not in self.model:
            self.model.restore(host, self._reader.run(partial(load_site_template, host=host)))
        return self.model.template(host)

    def observe(self, analysis: PageAnalysis) -> None:
        """Learn from a page whose analysis was stored."""
        if analysis.observation is not None:
            self.model.observe(analysis.observation)
            self.left_out += analysis.observation.left_out
            self._unsaved += 1

    def due(self) -> Callable[[Connection], None] | None:
        """An operation that stores what is new, when there is enough of it."""
        return self.saving() if self._unsaved >= _ARTICLES_BETWEEN_SAVES else None

    def saving(self) -> Callable[[Connection], None]:
        """An operation that stores what is new; it may be played again."""
        self._unsaved = 0
        return partial(save_site_templates, templates=self.model.take_changes(), now=time.time())

    def numbers(self) -> dict[str, int]:
        """Figures for the run's record."""
        return {
            "qiaocrawl/sites/repeated_blocks": self.left_out,
            "qiaocrawl/sites/redesigns": self.model.redesigns,
            "qiaocrawl/sites/disagreements": self.model.disagreements,
        }
