"""Everything an index remembers of its titles: words, bodies and other fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.body_index import BodyCopies, BodyIndex
from qiaocrawl.dedup.cleaning import TitleWords
from qiaocrawl.dedup.comparison import BodyEvidence
from qiaocrawl.dedup.fingerprints import hamming
from qiaocrawl.dedup.methods import TitlePair
from qiaocrawl.dedup.pair_features import pair_cosine
from qiaocrawl.dedup.pair_model import PairScore, PairScorer
from qiaocrawl.dedup.rows import TitleRows
from qiaocrawl.dedup.title_table import TitleTable
from qiaocrawl.dedup.vocabulary import SavedState, State, TermTable
from qiaocrawl.items import TitleRecord
from qiaocrawl.kernels import floats, ints
from qiaocrawl.urls import registrable_domain
from qiaocrawl.vsm.vectors import IdfSnapshot

_MINUTES_A_DAY = 24 * 60
# With fewer than this a rebuild is not worth its cost.
_FEWEST_GHOSTS = 4096

Array = NDArray[Any]


class TitleStore:
    """The stores of one index, kept in step; a title is a number in all of them.

    Args:
        snapshot: gives the weights.
        threshold: cosine from which titles are found.
        terms: words to keep whole.
        bodies: whether bodies are kept.
    """

    def __init__(
        self, snapshot: IdfSnapshot, threshold: float, terms: Iterable[str], *, bodies: bool
    ) -> None:
        self.table = TermTable(snapshot)
        self.words = TitleWords(self.table, terms)
        self.rows = TitleRows(self.table, threshold)
        self.members = TitleTable()
        self.bodies = BodyIndex() if bodies else None
        self.copies = BodyCopies()
        self._scorer = PairScorer(self.table)

    def __len__(self) -> int:
        """Number of titles."""
        return len(self.members)

    @property
    def nbytes(self) -> int:
        """Bytes held, those of the vocabulary apart."""
        bodies = self.bodies.memory_bytes if self.bodies is not None and len(self.bodies) else 0
        return self.rows.nbytes + self.members.nbytes + bodies

    def to_state(self) -> State:
        """All of it but the bodies' absence: a store of the same settings takes it up."""
        state = (
            self.table.to_state()
            | self.rows.to_state()
            | self.members.to_state()
            | self.copies.to_state()
        )
        return state if self.bodies is None else state | self.bodies.to_state()

    def restore(self, state: SavedState) -> None:
        """Take up what a store of the same settings has saved; this one is empty."""
        self.table.restore(state)
        self.rows.restore(state)
        self.members.restore(state)
        self.copies.restore(state)
        if self.bodies is not None:
            self.bodies.restore(state)

    def enter(
        self,
        records: Sequence[TitleRecord],
        titles: Sequence[str],
        *,
        search: bool,
        limit: int = 0,
        words: Sequence[str] | None = None,
    ) -> tuple[Array, tuple[Array, Array, Array, Array]]:
        """Add *records*, whose keys are new, one after the other, without their bodies.

        Args:
            titles: of the records, cleaned.
            search: look for what each is near to, among all before it.
            limit: pairs of one title at most; 0 = all.
            words: of the one title there is, if it has been cut already.

        Returns:
            Their numbers, and (place, row, cosine, newest title of the row by then) of each
            pair found.
        """
        batch = self.words.of(titles) if words is None else self.words.of_cut(words)
        numbers = self.members.enter(records)
        links = self.members.rows, self.members.next_in_row, numbers
        return numbers, self.rows.place(batch, links, search=search, limit=limit)

    def add_body(self, number: int, record: TitleRecord) -> None:
        """Remember the body of the title *number*, if the method looks at bodies."""
        if self.bodies is None:
            return
        # A sketch finds cut and retold bodies; a digest alone finds only identical ones.
        if record.body_sketch:
            self.bodies.add(number, record)
        elif record.body_digest:
            self.copies.add(number, record)

    def near_bodies(self, record: TitleRecord, limit: int) -> dict[int, BodyEvidence | None]:
        """Titles whose bodies share sentences; if none are known, *limit* of the same digest."""
        if self.bodies is None:
            return {}
        if record.body_sketch:
            return dict(self.bodies.near(record))
        return dict.fromkeys(self.copies.of(record, limit))

    def rename(self, number: int, title: str) -> None:
        """Replace the words of a title."""
        # A row is its words, so other words mean another row; the number stays.
        self._unlink(number)
        links = self.members.rows, self.members.next_in_row, np.array([number], np.int32)
        self.rows.place(self.words.of([title]), links, search=False)

    def remove(self, number: int) -> None:
        """Forget a title."""
        self._unlink(number)
        self.members.remove(number)
        if self.bodies is not None:
            self.bodies.remove(number)
            self.copies.remove(number)
        # Empty rows cost every search a little, a rebuild costs much: so when half are empty.
        if len(self.rows) > 2 * len(self.members) + _FEWEST_GHOSTS:
            self.rows = self.rows.rebuilt(self.members.rows)

    def titles_of_row(self, newest: int, limit: int) -> list[int]:
        """The title *newest* and older ones of its row, *limit* in all."""
        numbers: list[int] = []
        number = newest
        while number >= 0 and len(numbers) < limit:
            numbers.append(number)
            number = int(self.members.next_in_row[number])
        return numbers

    def score_pairs(self, ones: Array, others: Array, cosines: Array) -> list[PairScore]:
        """Scores of pairs of rows, by their titles alone."""
        return self._scorer.scores(ones, others, cosines, *self.rows.terms)

    def cosine(self, one: int, other: int) -> float:
        """Cosine of two rows."""
        words = ints(self.rows.words(one)), ints(self.rows.words(other))
        return pair_cosine(*words, floats(self.table.idf))

    def pair(
        self,
        record: TitleRecord,
        own: int,
        earlier: int,
        score: PairScore,
        body: BodyEvidence | None,
    ) -> TitlePair:
        """All that is known of *record*, the title *own*, and an earlier title."""
        members = self.members
        row = members.rows[own]
        source = members.source(earlier)
        return TitlePair(
            cosine=score.cosine,
            score=score.score,
            same_words=bool(row == members.rows[earlier]) and len(self.rows.words(row)) > 0,
            letters=score.letters,
            other_numbers=score.other_numbers,
            same_text=members.has_digest(earlier, record),
            simhash_distance=_distance(record.body_simhash, members.simhash(earlier)),
            body=body,
            days_apart=_days(members.minutes(own), members.minutes(earlier)),
            same_site=_is_same_site(record.host, members.host(earlier)),
            same_source=bool(source) and source == record.source,
        )

    def _unlink(self, number: int) -> None:
        self.rows.unlink(int(self.members.rows[number]), number, self.members.next_in_row)


def _distance(one: int, other: int) -> int | None:
    # 0 stands for "no SimHash", as a text without letters has none.
    return hamming(one, other) if one and other else None


def _days(one: int | None, other: int | None) -> float | None:
    return None if one is None or other is None else abs(one - other) / _MINUTES_A_DAY


def _is_same_site(one: str, other: str) -> bool | None:
    if not one or not other:
        return None
    # www.a.cn and news.a.cn are one site; registrable_domain() needs the public suffix list, so
    # it comes second.
    return one == other or registrable_domain(one) == registrable_domain(other)
