"""The articles of one run on their way into the database, judged by the titles of all workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import cached_property, partial

from sqlalchemy import Connection

from qiaocrawl.items import PageAnalysis, Verdict, VerdictKind
from qiaocrawl.options import Options
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.stages.shared_titles import SharedTitleIndex, index_maker
from qiaocrawl.storage import Reader, Writer
from qiaocrawl.storage.pages import articles, excerpts
from qiaocrawl.storage.pages.excerpts import join_addresses


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
