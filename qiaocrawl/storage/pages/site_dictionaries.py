"""What pages of one site have in common, kept once: a zstd dictionary a site.

Pages of a site repeat its frame. A dictionary of it, learnt from the first pages that are
stored, takes a third off all later ones (`benchmarks/growth.py --pages`), and costs a packed page
or two. A frame names its dictionary by number, as zstd does it, so any version of a site's
dictionary stays readable beside the others; none is ever changed or deleted.

All that is remembered is the connection's own: a rollback forgets it (``ConnectionCache``), so no
page is packed with a dictionary that was never committed.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Connection

from qiaocrawl.errors import PageStoreError
from qiaocrawl.language import _
from qiaocrawl.storage.packed_text import LEVEL, compress, compress_frame, decompress
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.values import epoch_time
from qiaocrawl.text.zstd import zstd

T = TypeVar("T")

FIRST_PAGES = 16
"""Pages of a site after which its first dictionary is learnt."""
GROWTH = 16
"""A later one is learnt when there are so many times the pages: sites change, and more pages say
more (another 3 to 17 per cent on recorded sites)."""

# Of a host without a dictionary, as this connection knows it. Not the first: most hosts of a wide
# crawl have no other.
_LOOKS_BACK_AT = 2
# The first dictionary is the beginning of a few pages: within 2 to 6 per cent of a trained one, in
# 2 ms and not 40. Chosen on three recorded sites.
_FRAME_PAGES = 4
_FRAME_BYTES = 16 * 1024
SAMPLE_PAGES = 96
"""The newest pages, of which a later dictionary is trained."""
_TRAINED_BYTES = 64 * 1024
_MOST_SAMPLE_BYTES = 4 * 1024 * 1024
# Of one page: so the fewest pages, however large, are enough to learn from.
_MOST_BYTES_OF_ONE = _MOST_SAMPLE_BYTES // FIRST_PAGES
# Some 1.5 MB each; others are made again from their dictionary.
_MOST_COMPRESSORS = 16
_MOST_DICTIONARIES = 64
_MOST_SITES = 5_000
# The checksum tells a frame that is read with another dictionary than it was written with, and a
# damaged dictionary.
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: LEVEL,
    zstd.CompressionParameter.checksum_flag: 1,
}

_NEWEST = Statement(
    "SELECT id, pages FROM page_dictionary WHERE host_id = :host_id"
    " ORDER BY pages DESC, id DESC LIMIT 1"
)
_CONTENT = Statement("SELECT content FROM page_dictionary WHERE id = :id")
_BODY = Statement("SELECT body FROM page_source WHERE id = :id")
# URLs of the same host in the same crawl, as an index has them. The inner limit is for hosts of
# whose many URLs few have a page.
_OF_URLS = (
    "SELECT p.id FROM (SELECT u.id FROM url own JOIN url u ON u.queue = own.queue"
    " AND u.topic_id = own.topic_id AND u.state = State.DONE AND u.host_id = own.host_id"
    " WHERE own.id = :url_id LIMIT 64) done"
)
# In words that keep MariaDB from beginning with all pages that are in no file.
_PAGES = (
    "page_source p ON p.url_id = done.id WHERE COALESCE(p.record_id, 0) = 0"
    f" LIMIT {FIRST_PAGES - 1}"
)
_EARLIER = Statement(f"{_OF_URLS} JOIN {_PAGES}", mysql=f"{_OF_URLS} STRAIGHT_JOIN {_PAGES}")
# A number comes of what is learnt, so another worker may learn the same at the same moment.
_INSERT = upsert("page_dictionary", "id, host_id, pages, learnt_at, content", key="id")
_IS_OF = Statement(
    "SELECT 1 FROM page_dictionary WHERE id = :id AND host_id = :host_id AND content = :content"
)


@dataclass(slots=True)
class _Site:
    """Pages of a host known to be stored, the newest rows, and its dictionary (0: none)."""

    pages: int = 0
    dictionary: int = 0
    learn_at: int = FIRST_PAGES
    rows: deque[int] = field(default_factory=lambda: deque(maxlen=SAMPLE_PAGES))


class SiteDictionaries:
    """The dictionaries of sites as one connection knows them. Not for two threads at once."""

    __slots__ = ("_compressors", "_dictionaries", "_sites")

    def __init__(self) -> None:
        self._sites: OrderedDict[int, _Site] = OrderedDict()
        self._dictionaries: OrderedDict[int, zstd.ZstdDict] = OrderedDict()
        self._compressors: OrderedDict[int, zstd.ZstdCompressor] = OrderedDict()

    def pack(self, c: Connection, host_id: int, body: bytes) -> bytes:
        """*body*, a page of the host, as one zstd frame."""
        number = self._site(c, host_id).dictionary
        if not number:
            return compress(body)
        compressor = self._compressors.get(number)
        if compressor is None:
            try:
                compressor = _compressor(self._dictionary(c, number))
            except (PageStoreError, zstd.ZstdError):
                # Damaged, as whoever reads its pages is told: no new page depends on it.
                return compress(body)
            _keep(self._compressors, number, compressor, _MOST_COMPRESSORS)
        self._compressors.move_to_end(number)
        return compress_frame(compressor, body)

    def unpack(self, c: Connection, frame: bytes) -> bytes:
        """The body in *frame*.

        Raises:
            PageStoreError: it is damaged, or its dictionary is.
        """
        try:
            number = zstd.get_frame_info(frame).dictionary_id
            if not number:
                return decompress(frame)
            return zstd.decompress(frame, zstd_dict=self._dictionary(c, number))
        except zstd.ZstdError as error:
            raise PageStoreError(
                _("a page in the database is damaged: {error}", error=error)
            ) from error

    def note_page(
        self, c: Connection, host_id: int, row_id: int, *, url_id: int, now: float
    ) -> None:
        """Note that *row_id* is a new page of the host; learns from the last ones at times."""
        site = self._site(c, host_id)
        site.pages += 1
        site.rows.append(row_id)
        # Crawls that fetch a few pages of a host each would never learn.
        if site.pages == _LOOKS_BACK_AT:
            earlier = (row[0] for row in _EARLIER.run(c, {"url_id": url_id}).fetchall())
            rows = sorted({*earlier, *site.rows})
            site.pages = len(rows)
            site.rows.clear()
            site.rows.extend(rows)
        if site.pages >= site.learn_at:
            self.learn(c, host_id, tuple(site.rows), pages=site.pages, now=now)
            site.learn_at = site.pages * GROWTH

    def learn(
        self, c: Connection, host_id: int, row_ids: Sequence[int], *, pages: int, now: float
    ) -> bool:
        """Learn a dictionary from the pages in rows *row_ids*, if it pays; whether it does.

        It pays when so many pages as there are would have become smaller by more than it takes.

        Args:
            pages: how many pages of the host are stored.
        """
        bodies = self._samples(c, row_ids)
        if len(bodies) < FIRST_PAGES:
            return False
        try:
            learnt = _dictionary_of(bodies, pages)
            compressor = _compressor(learnt)
        except (zstd.ZstdError, ValueError):
            # Too little, or too little in common, to make one of.
            return False
        content = zstd.compress(learnt.dict_content, options=_OPTIONS)
        # None of those whose beginning may stand in the dictionary itself.
        tested = bodies[_FRAME_PAGES : _FRAME_PAGES * 3]
        saved = sum(
            len(self.pack(c, host_id, body)) - len(compress_frame(compressor, body))
            for body in tested
        )
        if saved * pages < len(content) * len(tested):
            return False
        row = {"id": learnt.dict_id, "host_id": host_id, "content": content}
        _INSERT.run(c, {**row, "pages": pages, "learnt_at": epoch_time(now)})
        # Its number may be that of another.
        if _IS_OF.run(c, row).fetchone() is None:
            return False
        _keep(self._dictionaries, learnt.dict_id, learnt, _MOST_DICTIONARIES)
        self._site(c, host_id).dictionary = learnt.dict_id
        return True

    def _samples(self, c: Connection, row_ids: Sequence[int]) -> list[bytes]:
        bodies: list[bytes] = []
        size = 0
        for row_id in sorted(row_ids):
            if size >= _MOST_SAMPLE_BYTES:
                break
            # One by one: all together may be a gigabyte.
            row = _BODY.run(c, {"id": row_id}).fetchone()
            # Gone, or empty: it is in a file by now.
            if row is None or not row[0]:
                continue
            # A damaged one is told where it is read as a page.
            with suppress(PageStoreError):
                bodies.append(self.unpack(c, row[0])[:_MOST_BYTES_OF_ONE])
                size += len(bodies[-1])
        return [body for body in bodies if body]

    def _site(self, c: Connection, host_id: int) -> _Site:
        site = self._sites.get(host_id)
        if site is None:
            site = _Site()
            row = _NEWEST.run(c, {"host_id": host_id}).fetchone()
            if row is not None:
                site.dictionary, site.pages = row
                site.learn_at = site.pages * GROWTH
            _keep(self._sites, host_id, site, _MOST_SITES)
        self._sites.move_to_end(host_id)
        return site

    def _dictionary(self, c: Connection, number: int) -> zstd.ZstdDict:
        known = self._dictionaries.get(number)
        if known is None:
            row = _CONTENT.run(c, {"id": number}).fetchone()
            if row is None:
                raise PageStoreError(
                    _("the dictionary {number} of a page in the database is missing", number=number)
                )
            known = _whole(number, row[0])
            _keep(self._dictionaries, number, known, _MOST_DICTIONARIES)
        self._dictionaries.move_to_end(number)
        return known


def _whole(number: int, content: bytes) -> zstd.ZstdDict:
    """Dictionary *number*, of what is stored.

    Raises:
        PageStoreError: it is damaged.
    """
    try:
        known = zstd.ZstdDict(decompress(content))
        # Frames would name the number that it says itself.
        if known.dict_id == number:
            return known
        error: Exception = ValueError(f"it says that it is {known.dict_id}")
    except (zstd.ZstdError, ValueError) as failure:
        error = failure
    raise PageStoreError(
        _(
            "the dictionary {number} of pages in the database is damaged: {error}",
            number=number,
            error=error,
        )
    ) from error


def _dictionary_of(bodies: Sequence[bytes], pages: int) -> zstd.ZstdDict:
    """What *bodies* have in common, for a host with so many *pages*.

    Raises:
        ZstdError, ValueError: nothing can be made of them.
    """
    if pages >= FIRST_PAGES * GROWTH:
        return zstd.train_dict(bodies, _TRAINED_BYTES)
    beginnings = b"".join(body[:_FRAME_BYTES] for body in bodies[:_FRAME_PAGES])
    # Gives it a number and the statistics of the others.
    return zstd.finalize_dict(
        zstd.ZstdDict(beginnings, is_raw=True), bodies[_FRAME_PAGES:], _TRAINED_BYTES * 2, LEVEL
    )


def _compressor(dictionary: zstd.ZstdDict) -> zstd.ZstdCompressor:
    return zstd.ZstdCompressor(options=_OPTIONS, zstd_dict=dictionary.as_digested_dict)


def _keep(known: OrderedDict[int, T], number: int, new: T, most: int) -> None:
    """Keep *new*; the one not used for longest makes room."""
    known[number] = new
    if len(known) > most:
        known.popitem(last=False)
