"""The titles of all workers: one process's index, kept in step with the log in the database.

A title is judged within the transaction that stores its article: what other workers have
committed is read first, under a lock, so several processes decide like one that gets the
articles in the order of the log. What a transaction judged is believed only when the next one
runs on the same connection; a connection that had to roll back is never used again (see
:mod:`qiaocrawl.storage.writer`), so whatever is in doubt is forgotten and read anew.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import RLock

from sqlalchemy import Connection, RootTransaction

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.items import TitleRecord, Verdict, VerdictKind
from qiaocrawl.options import Options
from qiaocrawl.runtime.kept_titles import Kept, KeptTitles
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.pages.articles import SavedArticle
from qiaocrawl.storage.titles import idf_snapshots, title_log, verdicts
from qiaocrawl.storage.titles.title_log import TitleEntry
from qiaocrawl.storage.titles.verdicts import Place
from qiaocrawl.vsm import IdfSnapshot

_log = logging.getLogger(__name__)

_ENTRIES_AT_A_TIME = 5_000
_TOLD_AFTER_SECONDS = 5.0
# Fewer entries are read from the log faster than a file of the index is worth.
_LEAST_UNKEPT = 5_000
# Of as many titles one new one: reading the new ones costs about what writing all costs.
_TITLES_AN_UNKEPT = 64
_MOST_COMPARED = 200
"""A larger group is not compared again when one of its articles changes; reprocessing does it."""
_MOST_DOUBTED = 10_000
"""Titles in doubt after a rollback that are read again one by one; of more, all are."""

TAKEN_OUT = Verdict(VerdictKind.DISTINCT, why="taken out of its group by hand")

# A title of usual words: dictionaries and model are touched by judging it.
_NO_TITLE = TitleRecord(b"0" * 16, "侨乡归侨回国，2026年3月5日")

MakeIndex = Callable[[IdfSnapshot], TitleIndex]


def index_maker(options: Options, terms: Iterable[str]) -> MakeIndex:
    """What makes the index the options name, for any IDF snapshot.

    Args:
        terms: words that stay whole, of all topics.
    """
    kept = tuple(terms)

    def make(snapshot: IdfSnapshot) -> TitleIndex:
        return TitleIndex(
            options["QIAO_DEDUP_METHOD"],
            options["QIAO_DEDUP_THRESHOLD"],
            snapshot=snapshot,
            terms=kept,
        )

    return make


@dataclass(frozen=True, slots=True)
class LogMark:
    """A mark in the log behind entry *seq*, put there by a transaction."""

    mark: bytes
    seq: int
    transaction: RootTransaction | None


class SharedTitleIndex:
    """Judges titles against those of all workers. For one writer; any thread may call.

    Args:
        make_index: makes an empty index for an IDF snapshot.
        method: its name, which stands with every verdict.
        files: where indexes are kept for later starts.
    """

    def __init__(self, make_index: MakeIndex, method: str, files: KeptTitles | None = None) -> None:
        self._make_index = make_index
        self._method = method
        self._files = files or KeptTitles()
        # RLock: judge() calls methods that take it as well.
        self._guard = RLock()
        self._index = make_index(IdfSnapshot())
        # -1: of no snapshot yet, so the first who comes begins.
        self._version = -1
        # Entries since the index was last taken from a file or written to one.
        self._unkept = 0
        self._taken_out: set[bytes] = set()
        self._position = 0
        # Of the transaction that judged last: it may still be rolled back.
        self._memory: ConnectionCache | None = None
        self._transaction: RootTransaction | None = None
        # Positions in the log before and after the transaction that judged last.
        self._before = 0
        self._touched: set[bytes] = set()
        self._writes_seen = -1

    def __len__(self) -> int:
        """How many titles others are compared with."""
        return len(self._index)

    def index_for(self, snapshot: IdfSnapshot) -> TitleIndex:
        """An empty index of the same method with another snapshot."""
        return self._make_index(snapshot)

    @property
    def method(self) -> str:
        """Name of the method that judges."""
        return self._method

    def load(self, c: Connection) -> None:
        """Read what is committed, without waiting for a lock, before the first title comes."""
        # Dictionaries and model are loaded with the first title ever judged; by the first real
        # one, others would wait for that.
        self._make_index(IdfSnapshot()).judge_all([_NO_TITLE, replace(_NO_TITLE, key=b"1" * 16)])
        with self._guard:
            self._use(c, title_log.idf_version(c))
            self._catch_up(c, None)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether so much is new that the next start would be much faster by a file of it."""
        with self._guard:
            return self._unkept > _LEAST_UNKEPT + len(self._index) // _TITLES_AN_UNKEPT

    def mark(self, c: Connection) -> LogMark:
        """Put a mark into the log, in a writer's transaction, for :meth:`keep` after its commit."""
        with self._guard:
            self._enter(c)
            mark = LogMark(os.urandom(16), self._position, self._transaction)
            title_log.add(c, mark.mark, mark.seq)
            return mark

    def keep(self, c: Connection, mark: LogMark) -> bool:
        """Write the index to a file, for later starts; False where it is not at *mark* any more.

        A mark that was not committed makes a file nobody believes. Titles wait meanwhile: some
        two seconds for a million.
        """
        with self._guard:
            # Another transaction may have judged a title that its log does not have yet, or never
            # will.
            if self._transaction is not mark.transaction or self._version < 0:
                return False
            if self._position != mark.seq:
                return False
            kept = Kept(self._index, mark.seq, frozenset(self._taken_out))
            if self._files.write(c, mark.mark, kept):
                _log.info("kept the index of %d titles for the next start", len(self._index))
            # Not tried again at once where it cannot be written.
            self._unkept = 0
            return True

    def lock(self, c: Connection) -> None:
        """Take the log; as a transaction's first step this keeps workers from deadlocks."""
        title_log.lock(c)

    def judge(
        self, c: Connection, article: SavedArticle, words: Sequence[str] | None = None
    ) -> Verdict:
        """How *article*, stored in *c*'s transaction, relates to all others; recorded in it too.

        An article that is stored again as it was keeps its verdict. One that was taken out by
        hand stays out.

        Args:
            words: of its title, as :meth:`TitleIndex.judge` takes them: other workers wait for
                the log while titles are cut here.
        """
        with self._guard:
            self._enter(c)
            return self._judge(c, article, words)

    def take_out(self, c: Connection, entry: TitleEntry) -> None:
        """Take a title out of its group and of all comparison, until it is put back.

        The rest of the group is compared again, since this title may have held it together.
        """
        assert entry.article_id is not None, "nothing is stored there"
        with self._guard:
            self._enter(c)
            others = [
                one
                for one in verdicts.group_members(c, entry.article_id)
                if one != entry.article_id
            ]
            self._forget(entry.record.key)
            self._taken_out.add(entry.record.key)
            self._append(c, replace(entry, taken_out=True))
            self._save(c, entry.article_id, TAKEN_OUT)
            self._compare(c, title_log.entries_of_articles(c, others))

    def put_back(self, c: Connection, entry: TitleEntry) -> Verdict:
        """Let a title be compared again, like one that is new."""
        assert entry.article_id is not None, "nothing is stored there"
        with self._guard:
            self._enter(c)
            self._taken_out.discard(entry.record.key)
            return self._decide(c, replace(entry, taken_out=False))

    # --- judging ------------------------------------------------------------------------------

    def _judge(self, c: Connection, article: SavedArticle, words: Sequence[str] | None) -> Verdict:
        key = article.title.key
        entry = TitleEntry(article.title, article.id, article.text_chars, key in self._taken_out)
        if not entry.taken_out and key not in self._index:
            return self._decide(c, entry, words, is_new=True)
        if any(earlier.says(entry) for earlier in title_log.entries_of_keys(c, [key])):
            kept = verdicts.stored_verdict(c, article.id)
            if kept is not None:
                return kept
        return self._decide(c, entry, words)

    def _decide(
        self,
        c: Connection,
        entry: TitleEntry,
        words: Sequence[str] | None = None,
        *,
        is_new: bool = False,
    ) -> Verdict:
        assert entry.article_id is not None
        verdict = TAKEN_OUT
        if not entry.taken_out:
            self._touched.add(entry.record.key)
            verdict = self._index.judge(entry.record, words)
        together = set() if is_new else set(verdicts.group_members(c, entry.article_id))
        self._append(c, entry)
        self._save(c, entry.article_id, verdict, is_new=is_new)
        if 2 < len(together) <= _MOST_COMPARED:
            # What this one was like before (a paged article's first page, say) may be all
            # that held the others together.
            together |= set(verdicts.group_members(c, entry.article_id))
            self._compare(c, title_log.entries_of_articles(c, sorted(together)))
            return verdicts.stored_verdict(c, entry.article_id) or verdict
        return verdict

    def _append(self, c: Connection, entry: TitleEntry) -> None:
        self._touched.add(entry.record.key)
        self._position = title_log.append(c, entry)
        self._unkept += 1
        self._writes_seen = ConnectionCache.of(c).title_writes

    def _save(
        self, c: Connection, article_id: int, verdict: Verdict, *, is_new: bool = False
    ) -> None:
        verdicts.save_verdict(
            c, article_id, verdict, method=self._method, snapshot=self._version, is_new=is_new
        )

    def _compare(self, c: Connection, entries: Sequence[TitleEntry]) -> None:
        """Group *entries*, one group so far, again by themselves."""
        ids = {entry.record.key: entry.article_id or 0 for entry in entries if entry.counts}
        if not ids:
            return
        found = self._index.regroup(entry.record for entry in entries if entry.counts)
        groups: dict[bytes, list[int]] = {}
        for key, name in found.groups.items():
            groups.setdefault(name, []).append(ids[key])
        heads = {name: verdicts.best_of(c, members) for name, members in groups.items()}
        verdicts.write_places(
            c,
            [
                Place(
                    ids[key],
                    verdict.kind,
                    ids.get(verdict.of) if verdict.of else None,
                    heads[found.groups[key]],
                    verdict.similarity,
                    verdict.why,
                )
                for key, verdict in found.verdicts.items()
            ],
            method=self._method,
            snapshot=self._version,
        )

    # --- in step with the log ---------------------------------------------------------------------

    def _enter(self, c: Connection) -> None:
        """Lock the log for *c*'s transaction and read all that is new in it."""
        version = title_log.lock(c)
        memory, transaction = ConnectionCache.of(c), c.get_transaction()
        if transaction is not self._transaction:
            # Another connection: the one before was dropped, so its transaction may
            # not be committed.
            if memory is not self._memory and self._touched:
                self._doubt(c, self._touched)
            self._before = self._position
            self._memory, self._transaction, self._touched = memory, transaction, set()
            # -1: nothing of this transaction has been read yet.
            self._writes_seen = -1
        self._use(c, version)
        if self._writes_seen != memory.title_writes:
            self._catch_up(c, self._touched)
            self._writes_seen = memory.title_writes

    def _doubt(self, c: Connection, keys: set[bytes]) -> None:
        """Go back to before the last transaction: what it did to *keys* may not have happened."""
        # Cheaper than ten thousand single look-ups: read all of it anew.
        if len(keys) > _MOST_DOUBTED:
            self._version = -1
        else:
            # First: where the database fails here, all of them are still in doubt.
            known = title_log.entries_of_keys(c, sorted(keys))
            for key in keys:
                self._forget(key)
            # Only up to there: what came later is read by _catch_up().
            self._take([entry for entry in known if entry.seq <= self._before])
        self._position = self._before

    def _use(self, c: Connection, version: int) -> None:
        if version != self._version:
            self._begin(c, idf_snapshots.load_snapshot(c, version))
            self._version = version

    def _begin(self, c: Connection, snapshot: IdfSnapshot) -> None:
        """Forget all and go back to the last file that was kept, or to the log's beginning."""
        kept = self._files.restore(c, lambda: self._make_index(snapshot))
        if kept is None:
            kept = Kept(self._make_index(snapshot), 0, frozenset())
        self._index, self._taken_out = kept.index, set(kept.taken_out)
        self._before = self._position = kept.seq
        self._unkept = 0

    def _catch_up(self, c: Connection, touched: set[bytes] | None) -> None:
        first, told_at = self._position, time.monotonic()
        while entries := title_log.entries_since(c, self._position, _ENTRIES_AT_A_TIME):
            if touched is not None:
                touched.update(entry.record.key for entry in entries)
            self._take(entries)
            self._position = entries[-1].seq
            self._unkept += len(entries)
            # Fewer than asked for: that was the end.
            if len(entries) < _ENTRIES_AT_A_TIME:
                return
            if time.monotonic() - told_at > _TOLD_AFTER_SECONDS:
                told_at, last = time.monotonic(), title_log.newest(c)
                part = (self._position - first) / max(last - first, 1)
                _log.info("reading stored titles: %d so far, %.0f %%", len(self), 100 * part)

    def _take(self, entries: Sequence[TitleEntry]) -> None:
        for entry in entries:
            if entry.counts:
                self._taken_out.discard(entry.record.key)
                continue
            self._forget(entry.record.key)
            if entry.taken_out:
                self._taken_out.add(entry.record.key)
        # It replaces those it knows.
        self._index.add(entry.record for entry in entries if entry.counts)

    def _forget(self, key: bytes) -> None:
        self._taken_out.discard(key)
        self._index.remove(key)
