"""The index that judges each title against all earlier ones and remembers it at once."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.cleaning import HostTitles, line_of
from qiaocrawl.dedup.comparison import BodyEvidence
from qiaocrawl.dedup.grouping import Grouping, Placed, by_publish_date, group_titles
from qiaocrawl.dedup.methods import Relation, TitleMethod, methods
from qiaocrawl.dedup.pair_model import PairScore
from qiaocrawl.dedup.title_store import TitleStore
from qiaocrawl.dedup.vocabulary import SavedState, State, batches
from qiaocrawl.items import TitleRecord, Verdict, VerdictKind
from qiaocrawl.vsm.vectors import IdfSnapshot

# --- What an index of titles is made by, as a digest: settings, code, data and libraries ----------

# Each file of theirs counts, whether an index needs it or not: what is forgotten in a list of
# single files, or in a number that somebody has to raise, would be believed for ever.
_PACKAGES = ("qiaocrawl.dedup", "qiaocrawl.text", "qiaocrawl.vsm")
_LIBRARIES = ("jieba", "numpy", "OpenCC", "rjieba")
_COMPILED = "__pycache__"


def recipe_of(
    least_cosine: float, uses_bodies: bool, snapshot: IdfSnapshot, terms: Sequence[str]
) -> str:
    """The digest, as hexadecimal digits; the same in every process of this installation."""
    digest = blake2b(digest_size=16)
    counted = snapshot.frequencies
    settings = (
        least_cosine,
        uses_bodies,
        sorted(set(terms)),
        sys.byteorder,
        # Snapshots are never changed, so their size tells two of one number apart well enough.
        snapshot.version,
        snapshot.documents,
        snapshot.prior_titles,
        len(counted),
        sum(counted.values()),
    )
    digest.update(repr(settings).encode("utf-8", "backslashreplace"))
    digest.update(_program())
    return digest.hexdigest()


@cache
def _program() -> bytes:
    """Digest of the code that makes an index, of its data, and of the libraries below."""
    digest = blake2b(digest_size=16)
    digest.update(repr((sys.version_info[:3], [*map(_version, _LIBRARIES)])).encode())
    for package in _PACKAGES:
        for name, content in _files(resources.files(package), package):
            digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.digest()


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = f"{name}/{entry.name}"
        if entry.is_file():
            # Compilers write other bytes of the same source, which gives the same results.
            if not entry.name.endswith(".so"):
                yield path, entry.read_bytes()
        elif entry.name != _COMPILED:
            yield from _files(entry, path)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


# --- The index that judges each title against all earlier ones and remembers it at once -----------

_AT_A_TIME = 1000
# Earlier titles of other words that one is compared with: those of the highest cosine.
_MAX_ROWS = 64
# Earlier titles of the same words, or with the same body, that one is compared with: the latest.
_MAX_COPIES = 16
_MAX_ALSO = 15

_DISTINCT = Verdict(VerdictKind.DISTINCT, why="no earlier title is near")
_RANKS = {
    kind: rank
    for rank, kind in enumerate(
        (
            VerdictKind.DISTINCT,
            VerdictKind.SERIES,
            VerdictKind.REVISION,
            VerdictKind.REPRINT,
            VerdictKind.SAME_PAGE,
        )
    )
}

Array = NDArray[Any]
NearTitles = dict[int, PairScore]
"""Earlier titles by number, each with its pair score."""


class TitleIndex:
    """Judges titles. Not for use by several threads at once.

    Every earlier title of the method's least cosine or more is found (see
    :mod:`qiaocrawl.dedup.row_kernels`), and every earlier body that shares enough sentences
    (see :class:`qiaocrawl.dedup.body_index.BodyIndex`). What is decided depends on the
    titles before, not on how many are judged in one call.

    Memory: about 120 bytes a title beside the vocabulary (200 bytes a distinct word), 28 with
    host, source, date and digests, and 300 for a body of 20 sentences.

    Args:
        method: name of a method: ``reprint``, ``vsm_mixed``, or the published ``vsm``.
        threshold: the method's own; None or 0 = its default.
        snapshot: gives words their weights; None = general usage.
        terms: words to keep whole, such as those of topic packs.

    Raises:
        ConfigError: no such method, or a threshold outside of [0.5, 1] (``reprint``: (0, 1]).
    """

    def __init__(
        self,
        method: str = "reprint",
        threshold: float | None = None,
        *,
        snapshot: IdfSnapshot | None = None,
        terms: Iterable[str] = (),
    ) -> None:
        self._method: TitleMethod = methods.get(method)(threshold or None)
        weights = snapshot or IdfSnapshot()
        # A plug-in of before may not say; nothing counted yet gives no weights at all.
        if weights.documents and not getattr(self._method, "uses_general_usage", True):
            weights = replace(weights, prior_titles=0.0)
        self._settings = method, self._method.threshold, weights, tuple(terms)
        self._clear()

    def _clear(self) -> None:
        _, _, snapshot, terms = self._settings
        self._known = TitleStore(
            snapshot, self._method.least_cosine, terms, bodies=self._method.uses_bodies
        )
        self._hosts = HostTitles()

    def __len__(self) -> int:
        """How many titles are remembered."""
        return len(self._known)

    def __contains__(self, key: bytes) -> bool:
        """Whether the title of *key* is remembered."""
        return self._number(key) >= 0

    @property
    def memory_bytes(self) -> int:
        """Bytes held, those of the vocabulary apart."""
        return self._known.nbytes

    @property
    def vocabulary_size(self) -> int:
        """How many words have been seen."""
        return len(self._known.table)

    def judge(self, record: TitleRecord, words: Sequence[str] | None = None) -> Verdict:
        """How *record* relates to the titles judged before; it is remembered in the same step.

        ``of`` is the earlier title it is most like in the way the verdict says; None for
        DISTINCT. A key judged before is replaced.

        Args:
            words: of its title, cut by rjieba with this index's terms (``Segmenter.terms``):
                the half of the work that needs no other title. None: it is cut here.
        """
        if record.key in self:
            return self.judge_all([record])[0]
        # What judge_all() does with a new key, without its batches.
        if self._hosts.learn(record):
            self._clean_again(record.host)
        title = self._hosts.clean(record)
        # A title that is cleaned, or too long, has other words.
        known = words if title == record.title == line_of(title) else None
        return self._judge_batch([record], [title], known)[0]

    def judge_all(self, records: Iterable[TitleRecord]) -> list[Verdict]:
        """:meth:`judge` for many, one after the other, at a lower cost each."""
        verdicts: list[Verdict] = []
        for batch, titles in self._batches(records):
            verdicts += self._judge_batch(batch, titles)
        return verdicts

    def add(self, records: Iterable[TitleRecord]) -> None:
        """Remember *records* without judging them."""
        for batch, titles in self._batches(records):
            numbers, _ = self._known.enter(batch, titles, search=False)
            for number, record in zip(numbers.tolist(), batch, strict=True):
                self._known.add_body(number, record)

    def remove(self, key: bytes) -> None:
        """Forget the title of *key*; an unknown key is no error."""
        number = self._number(key)
        if number >= 0:
            self._hosts.forget(key, self._known.members.host(number))
            self._known.remove(number)

    def to_state(self) -> State:
        """All that is remembered, in arrays that change with this index."""
        return self._known.to_state() | self._hosts.to_state()

    def restore(self, state: SavedState) -> None:
        """Take up what an index of the same :attr:`recipe` has saved, in place of all there is.

        Arrays are asked for one after the other. After an error this index is of no use.
        """
        self._clear()
        self._known.restore(state)
        self._hosts.restore(state)

    @property
    def recipe(self) -> str:
        """What a saved state hangs on beside the titles; equal ones can be exchanged."""
        _, _, snapshot, terms = self._settings
        return recipe_of(self._method.least_cosine, self._method.uses_bodies, snapshot, terms)

    def near(self, title: str, host: str = "") -> list[tuple[bytes, float]]:
        """Keys and cosines of all remembered titles at least the least cosine near *title*."""
        batch = self._known.words.of([self._hosts.clean(TitleRecord(b"", title, host))])
        rows, cosines = self._known.rows.near(batch.words)
        return [
            (self._known.members.key(number), cosine)
            for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)
            for number in self._known.titles_of_row(self._known.rows.head(row), len(self))
        ]

    def regroup(self, records: Iterable[TitleRecord], placed: Placed | None = None) -> Grouping:
        """Verdicts and groups of a whole collection, the same for any order of *records*.

        Neither reads nor changes what :meth:`judge` remembers; method, threshold and weights
        are the same. Titles are judged by publish date, undated ones last, with what all of
        them teach about their hosts.

        Args:
            placed: called with the number of titles just grouped; what it raises ends the pass.
        """
        method, threshold, snapshot, terms = self._settings
        fresh = TitleIndex(method, threshold, snapshot=snapshot, terms=terms)
        ordered = by_publish_date(records)
        # All titles teach the names of sites first; else the earliest would be judged with them.
        for record in ordered:
            fresh._hosts.learn(record)
        return group_titles(ordered, fresh.judge_all, placed)

    # --- one batch ------------------------------------------------------------------------

    def _number(self, key: bytes) -> int:
        return int(self._known.members.numbers([TitleRecord(key, "")])[0])

    def _batches(
        self, records: Iterable[TitleRecord]
    ) -> Iterator[tuple[list[TitleRecord], list[str]]]:
        """Records of new keys and their clean titles, cut where earlier titles change."""
        batch: list[TitleRecord] = []
        titles: list[str] = []
        for chunk in batches(records, _AT_A_TIME):
            numbers = self._known.members.numbers(chunk)
            # Keys of the batch itself have no numbers in the index yet.
            met = {record.key for record in batch}
            for record, number in zip(chunk, numbers.tolist(), strict=True):
                replaces = number >= 0 or record.key in met
                # The title that is replaced counts for those before it, so these are judged first.
                if batch and (replaces or len(batch) == _AT_A_TIME):
                    yield batch, titles
                    batch, titles = [], []
                if replaces:
                    self.remove(record.key)
                if self._hosts.learn(record):
                    # What is learnt cleans earlier titles anew: those of the batch
                    # are judged first.
                    if batch:
                        yield batch, titles
                        batch, titles = [], []
                    self._clean_again(record.host)
                batch.append(record)
                # Cleaned now: verdicts must not depend on how titles are batched.
                titles.append(self._hosts.clean(record))
                met.add(record.key)
        if batch:
            yield batch, titles

    def _clean_again(self, host: str) -> None:
        for key, title in self._hosts.earlier(host):
            number = self._number(key)
            # It may have been removed since.
            if number >= 0:
                self._known.rename(number, title)

    def _judge_batch(
        self, batch: list[TitleRecord], titles: list[str], words: Sequence[str] | None = None
    ) -> list[Verdict]:
        numbers, pairs = self._known.enter(batch, titles, search=True, limit=_MAX_ROWS, words=words)
        near_titles = self._near_titles(numbers, pairs)
        verdicts = [_DISTINCT] * len(batch)
        for place, (number, record) in enumerate(zip(numbers.tolist(), batch, strict=True)):
            # One after the other: a later title of the batch is not an earlier one.
            bodies = self._known.near_bodies(record, _MAX_COPIES)
            self._known.add_body(number, record)
            near = near_titles.get(place, {})
            if near or bodies:
                # Found by their bodies alone; their titles are scored all the same.
                for earlier in bodies.keys() - near.keys():
                    near[earlier] = self._score_of(number, earlier)
                verdicts[place] = self._verdict(record, number, near, bodies)
        return verdicts

    def _near_titles(
        self, numbers: Array, pairs: tuple[Array, Array, Array, Array]
    ) -> dict[int, NearTitles]:
        """By place in the batch, the earlier titles near by their words."""
        titles, rows, cosines, newest = pairs
        # Most titles are near to none: nothing to be scored.
        if not len(titles):
            return {}
        scores = self._scores(self._known.members.rows[numbers[titles]], rows, cosines)
        near_titles: dict[int, NearTitles] = {}
        for place, head, score in zip(titles.tolist(), newest.tolist(), scores, strict=True):
            near = near_titles.setdefault(place, {})
            # All titles of a row have the same words, so one score serves them all.
            for number in self._known.titles_of_row(head, _MAX_COPIES):
                near[number] = score
        return near_titles

    def _scores(self, ones: Array, others: Array, cosines: Array) -> list[PairScore]:
        """Scores of pairs of rows; only the cosine, if the method uses no model."""
        if self._method.uses_scores:
            return self._known.score_pairs(ones, others, cosines)
        return [PairScore(cosine, 0.0, 0, False) for cosine in cosines.tolist()]

    def _score_of(self, own: int, earlier: int) -> PairScore:
        """The score of two titles that were not found by their words."""
        rows = self._known.members.rows
        cosine = self._known.cosine(int(rows[own]), int(rows[earlier]))
        return self._scores(rows[[own]], rows[[earlier]], np.array([cosine]))[0]

    def _verdict(
        self,
        record: TitleRecord,
        number: int,
        near: NearTitles,
        bodies: dict[int, BodyEvidence | None],
    ) -> Verdict:
        relations: list[tuple[int, float, Relation]] = []
        for earlier, score in near.items():
            body = bodies.get(earlier)
            # The body index lists only bodies that share enough. For titles that are near by
            # their words, bodies with little in common are evidence too.
            if body is None and self._known.bodies is not None and record.body_sketch:
                body = self._known.bodies.evidence(record, earlier)
            pair = self._known.pair(record, number, earlier, score, body)
            relations.append((earlier, score.cosine, self._method.relation(pair)))
        return self._strongest(relations)

    def _strongest(self, relations: Sequence[tuple[int, float, Relation]]) -> Verdict:
        """The strongest relation, and the others of the same story."""
        key = self._known.members.key
        ranked = sorted(
            relations,
            # The key decides last: with equal evidence the choice must not depend on the
            # order of search.
            key=lambda entry: (
                entry[2].is_same_story,
                entry[2].strength,
                _RANKS[entry[2].kind],
                entry[1],
                key(entry[0]),
            ),
            reverse=True,
        )
        earlier, cosine, relation = ranked[0]
        if relation.kind is VerdictKind.DISTINCT:
            return Verdict(VerdictKind.DISTINCT, None, cosine, relation.why)
        # Sorted with the same story first: if the strongest is not of it, none is.
        also = [key(number) for number, _, other in ranked[1:] if other.is_same_story]
        return Verdict(relation.kind, key(earlier), cosine, relation.why, tuple(also[:_MAX_ALSO]))
