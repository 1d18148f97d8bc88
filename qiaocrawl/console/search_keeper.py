"""Keeps the full text index in step with the database, and says when it is not."""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.console.search import (
    MOST_MATCHES,
    FullTextIndex,
    IndexState,
    Matches,
    Term,
    read_state,
    remove,
)
from qiaocrawl.language import N_
from qiaocrawl.reading import evidence as changed_articles
from qiaocrawl.reading.evidence import ChangedArticle
from qiaocrawl.storage import Database
from qiaocrawl.storage.keepers import SEARCH, KeeperLog, error_of
from qiaocrawl.storage.pages.reprocessing import count_articles

logger = logging.getLogger(__name__)

BUILDING = N_(
    "The search index is being built; until then only the first {most} articles of a list are"
    " searched."
)
BROKEN = N_(
    "The search index cannot be used; only the first {most} articles of a list are searched."
)
_BATCH, _SEARCH_BATCH = 5_000, 500
"""Articles at a time: a commit takes long, and a search waits for the smaller one at most."""
_PAUSE_SECONDS = 5.0
_COUNT_SECONDS = 600.0
# A transaction that began earlier may be committed later: so far back is looked at again.
_OVERLAP = timedelta(minutes=5)
_REVISIONS_AGAIN = 1_000


def index_folder(database: Database, chosen: str = "") -> Path:
    """Where the index of *database* is: *chosen*, beside a SQLite file, or in ``data``."""
    if chosen:
        return Path(chosen)
    if database.file is not None:
        return database.file.path.with_name(f"{database.file.path.name}.search")
    name = hashlib.sha256(database.shown_url.encode()).hexdigest()[:12]
    return Path("data") / f"search-{name}"


class SearchKeeper:
    """The index of *database* in *folder*. Searches and its own thread take turns."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database, self._folder = database, folder
        self._log = KeeperLog(database, SEARCH)
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._index: FullTextIndex | None = None
        self._in_step = False
        self._problem = ""
        self._counted_at = 0.0
        # Rows of the time that is looked at again, as they are in the index.
        self._recent: dict[int, datetime] = {}
        self._thread = threading.Thread(target=self._follow, name="search index", daemon=True)

    def start(self) -> None:
        """Begin to follow the database."""
        self._thread.start()

    def stop(self) -> None:
        """End that, and wait for it."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def notice(self) -> str:
        """Why a search does not use the index, "" where it does.

        A message to translate; ``{most}`` is how many texts are read instead.
        """
        return BROKEN if self._problem else "" if self._in_step else BUILDING

    def search(
        self, wanted: Sequence[Term], *, newest_first: bool, most: int | None = MOST_MATCHES
    ) -> Matches | None:
        """What the index finds, brought in step first; None where it cannot be relied on.

        Args:
            most: as of :meth:`FullTextIndex.search`.
        """
        if not self._in_step or self._problem:
            return None
        found: list[Matches | None] = []
        ask = partial(self._search, wanted, newest_first, most)
        if (error := error_of(lambda: found.append(ask()))) is not None:
            # Whatever it is, texts are read instead, and the page says so.
            self._give_up(error)
            return None
        return found[0]

    def _search(
        self, wanted: Sequence[Term], newest_first: bool, most: int | None
    ) -> Matches | None:
        with self._turn:
            # More than one batch behind is for the thread.
            self._in_step = self._catch_up(_SEARCH_BATCH)
            if not self._in_step or self._index is None:
                return None
            return self._index.search(wanted, newest_first=newest_first, most=most)

    def build(self, progress: Callable[[int, int], None], *, anew: bool) -> int:
        """Bring the index in step; returns the number of articles in it.

        Args:
            progress: called with articles done and articles in all.
            anew: throw away what is there.

        Raises:
            StorageError: the folder cannot be written to, or another process writes it.
        """
        with self._turn:
            if anew:
                self._index = None
                remove(self._folder)
            self._open()
            while not self._catch_up():
                assert self._index is not None
                progress(self._index.articles, self._count())
            assert self._index is not None
            self._in_step, self._problem = True, ""
            return self._index.articles

    def _follow(self) -> None:
        while not self._ended.is_set():
            if (error := error_of(self._look)) is not None:
                self._give_up(error)
                self._log.note_failure(error)
            else:
                self._log.note_look()
            self._ended.wait(_PAUSE_SECONDS if self._in_step or self._problem else 0.0)
        self._log.note_end()

    def _look(self) -> None:
        with self._turn:
            self._in_step = self._catch_up() and self._is_complete()
            self._problem = ""

    def _give_up(self, error: BaseException) -> None:
        if not self._problem:
            logger.warning("search index %s: %s", self._folder, error)
        self._problem = str(error) or type(error).__name__
        self._in_step, self._index = False, None

    def _open(self) -> FullTextIndex:
        """The index; opened anew where another process built it anew."""
        stored = read_state(self._folder)
        if self._index is not None and stored and stored.built == self._index.state.built:
            return self._index
        if stored is None:
            # None yet, of another version, or half a build.
            remove(self._folder)
        self._recent.clear()
        self._counted_at = 0.0
        self._index = FullTextIndex(self._folder)
        if stored is None:
            self._index.write((), (), IndexState(built=secrets.token_hex(8)))
        return self._index

    def _catch_up(self, batch: int = _BATCH) -> bool:
        """Index what changed, at most so many articles; whether that was all."""
        full_text = self._open()
        with self._database.reading() as c:
            return self._index_batch(c, full_text, batch)

    def _index_batch(self, c: Connection, full_text: FullTextIndex, batch: int) -> bool:
        state = full_text.state
        watermark = datetime.fromisoformat(state.watermark) if state.watermark else None
        place = None if watermark is None else watermark - _OVERLAP
        fresh, is_last = self._next_changes(c, place, batch)
        removed, revision = changed_articles.withdrawn_since(
            c, max(state.revision - _REVISIONS_AGAIN, 0)
        )
        if fresh or revision > state.revision:
            newest = max([row.updated_at for row in fresh] + ([watermark] if watermark else []))
            full_text.write(
                fresh,
                removed,
                IndexState(
                    state.version, newest.isoformat(), max(revision, state.revision), state.built
                ),
            )
            self._recent |= {row.id: row.updated_at for row in fresh}
            self._recent = {
                row_id: at for row_id, at in self._recent.items() if at >= newest - _OVERLAP
            }
        return is_last

    def _next_changes(
        self, c: Connection, place: datetime | None, batch: int
    ) -> tuple[list[ChangedArticle], bool]:
        """The next articles behind *place* that the index does not have as they are."""
        after_id = 0
        while True:
            rows = changed_articles.changed_since(c, place, after_id, batch)
            fresh = [row for row in rows if self._recent.get(row.id) != row.updated_at]
            if fresh or len(rows) < batch:
                return fresh, len(rows) < batch
            place, after_id = rows[-1].updated_at, rows[-1].id

    def _is_complete(self) -> bool:
        """Whether the index has as many articles as the database; else it begins anew."""
        if time.monotonic() - self._counted_at < _COUNT_SECONDS and self._counted_at:
            return True
        assert self._index is not None
        if self._index.articles != self._count():
            # Something came or went that left no trace: a restored backup, an edit by hand.
            if self._catch_up() and self._index.articles != self._count():
                logger.warning("search index %s has not all articles: built anew", self._folder)
                remove(self._folder)
                self._index = None
            return False
        self._counted_at = time.monotonic()
        return True

    def _count(self) -> int:
        with self._database.reading() as c:
            return count_articles(c)
