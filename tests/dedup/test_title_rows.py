"""The search finds exactly the rows that a comparison with every title finds."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from dedup_samples import near_enough, title_vector
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup import rows as rows_module
from qiaocrawl.dedup.cleaning import TitleBatch
from qiaocrawl.dedup.rows import TitleRows
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.vsm import IdfSnapshot, SparseVector, cosine

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Title = tuple[str, ...]
# Common ones weigh nothing, or next to nothing; 庚 was in no title that was counted.
COUNTED = IdfSnapshot(
    1, 10**8, {"甲": 10**8, "乙": 10**8 - 1, "丙": 10**7, "丁": 10**6, "戊": 40, "己": 1, "7": 5},
    prior_titles=0,
)  # fmt: skip
WORDS = st.sampled_from("甲甲甲甲乙乙乙丙丙丙丁丁戊戊己庚7")
TITLES = st.lists(WORDS, max_size=7).map(tuple)


@dataclass
class Held:
    """Rows, and beside them the titles that should be found, by number."""

    snapshot: IdfSnapshot
    threshold: float
    titles: dict[int, Title] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = TermTable(self.snapshot)
        self.rows = TitleRows(self.table, self.threshold)
        self.member_row = np.full(20_000, -1, np.int32)
        self.member_next = np.full(20_000, -1, np.int32)
        self._known: dict[tuple[Title, Title], float] = {}
        self._numbers: dict[str, int] = {}
        self._vectors: dict[Title, SparseVector] = {}

    def place(self, new: dict[int, Title], limit: int = 0) -> list[dict[int, float]]:
        """Enter titles; rows with cosine found for each of them."""
        words = [self.table.ids(list(title)) for title in new.values()]
        ends = np.cumsum([0, *map(len, words)])
        numbers = np.array(list(new), np.int32)
        batch = TitleBatch(np.concatenate([*words, np.zeros(0, np.int32)]), ends)
        members = self.member_row, self.member_next, numbers
        places, rows, cosines, newest = self.rows.place(batch, members, limit=limit)
        found: list[dict[int, float]] = [{} for _ in new]
        for place, row, found_cosine, member in zip(
            places.tolist(), rows.tolist(), cosines.tolist(), newest.tolist(), strict=True
        ):
            assert row not in found[place], "found twice"
            found[place][row] = found_cosine
            # The newest by then: this or a later title of the batch is none.
            assert member not in list(new)[place:]
            assert self.member_row[member] == row
        return found

    def place_and_check(self, new: dict[int, Title]) -> None:
        """Enter titles, each of which must find all before it that are near."""
        for (number, title), found in zip(new.items(), self.place(new), strict=True):
            self.check(title, found.items())
            self.titles[number] = title

    def remove(self, number: int) -> None:
        """Take a title off its row."""
        self.rows.unlink(int(self.member_row[number]), number, self.member_next)
        self.member_row[number] = -1
        del self.titles[number]

    def near(self, title: Title) -> Iterable[tuple[int, float]]:
        """Rows near *title* and their cosines."""
        rows, cosines = self.rows.near(self.table.ids(list(title)))
        return zip(rows.tolist(), cosines.tolist(), strict=True)

    def check(self, title: Title, found: Iterable[tuple[int, float]]) -> None:
        """*found* is what brute force finds for *title*."""
        names = self.table.words()
        cosines = {
            tuple(names[word] for word in self.rows.words(row)): cosine for row, cosine in found
        }
        for other in set(self.titles.values()):
            right = self.cosine(title, other)
            if not near_enough(right, self.threshold, 1e-7):
                assert (other in cosines) == (right > self.threshold), (title, other, right)
        for other, found_cosine in cosines.items():
            assert other in self.titles.values()
            assert near_enough(found_cosine, self.cosine(title, other))

    def cosine(self, one: Title, other: Title) -> float:
        """By the plain vectors; equal titles are 1, also where they weigh nothing."""
        if not one or not other:
            return 0.0
        if one == other:
            return 1.0
        pair = (one, other) if one < other else (other, one)
        if pair not in self._known:
            self._known[pair] = cosine(self._vector(one), self._vector(other))
        return self._known[pair]

    def _vector(self, title: Title) -> SparseVector:
        if title not in self._vectors:
            # Each title is compared with hundreds.
            self._vectors[title] = title_vector(title, self._numbers, self.snapshot)
        return self._vectors[title]


STEPS = st.lists(
    st.tuples(st.sampled_from(["place", "place", "near", "remove", "rebuild"]),
              st.lists(TITLES, min_size=1, max_size=6)),
    max_size=8,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(STEPS, st.sampled_from(THRESHOLDS), st.sampled_from([COUNTED, IdfSnapshot()]))
def test_what_is_found_is_what_brute_force_finds(
    steps: list[tuple[str, list[Title]]], threshold: float, snapshot: IdfSnapshot
) -> None:
    held = Held(snapshot, threshold)
    for step, titles in steps:
        if step == "place":
            free = (n for n in range(1000) if n not in held.titles)
            held.place_and_check(dict(zip(free, titles, strict=False)))
        elif step == "near":
            for title in titles:
                held.check(title, held.near(title))
        elif step == "remove":
            for number in sorted(held.titles)[: len(titles)]:
                held.remove(number)
        else:
            held.rows = held.rows.rebuilt(held.member_row)
            assert len(held.rows) == len(set(held.titles.values()))
    for title in set(held.titles.values()):
        held.check(title, held.near(title))


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_long_and_many_titles_find_what_brute_force_finds(threshold: float) -> None:
    chance = random.Random(int(threshold * 10))
    words = [f"词{n}" for n in range(40)]
    common = {word: int(10 ** (6 * chance.random())) for word in words}
    held = Held(IdfSnapshot(1, 10**6, common, prior_titles=0), threshold)
    titles = [tuple(chance.choices(words, k=chance.choice([3, 5, 8, 40]))) for _ in range(25)]
    for _ in range(60):
        changed = list(chance.choice(titles))
        changed[chance.randrange(len(changed))] = chance.choice(words)
        titles.append(tuple(changed))
    titles.append(tuple(chance.choices(words, k=255)))
    held.place_and_check(dict(enumerate(titles)))
    held.place_and_check({1000 + n: title for n, title in enumerate(titles[:5])})


@pytest.mark.parametrize("threshold", THRESHOLDS[:-1])
@pytest.mark.parametrize("beside", [1e-5, -1e-5])
def test_pairs_just_beside_the_threshold(threshold: float, beside: float) -> None:
    # A rare word, and eight that weigh 1, so chosen that those are the wanted cosine's part.
    cosine = threshold + beside
    weights = {f"词{n}": 1.0 for n in range(8)} | {"稀": math.sqrt(8 / cosine**2 - 8)}
    counts = {word: round(10**12 * math.exp(-weight)) for word, weight in weights.items()}
    rest, whole = tuple(list(weights)[:8]), tuple(weights)
    for one, other in ((whole, rest), (rest, whole), (whole[::-1], rest)):
        held = Held(IdfSnapshot(1, 10**12, counts, prior_titles=0), threshold)
        found = held.place({1: one, 2: other})[1]
        assert list(found.values()) == ([pytest.approx(cosine)] if beside > 0 else [])
        assert dict(held.near(one)).keys() == ({0, 1} if beside > 0 else {0})


def test_words_that_weigh_next_to_nothing_lead_to_a_row_once() -> None:
    # In 32 bits both stand in every title, so the one that weighs nothing may come first.
    held = Held(COUNTED, 0.5)
    held.place_and_check({1: ("甲", "乙"), 2: ("乙", "甲"), 3: ("乙",)})


def test_a_row_holds_thousands_newest_first() -> None:
    held = Held(COUNTED, 0.8)
    title = ("丁", "戊")
    held.place(dict.fromkeys(range(5_000), title))
    assert len(held.rows) == 1
    order = _members(held, 0)
    assert order == list(range(4_999, -1, -1))
    held.titles = dict.fromkeys(range(5_000), title)
    for number in [*range(1_000), *range(4_000, 5_000), *range(2_000, 3_000)]:
        held.remove(number)
    assert _members(held, 0) == [*range(3_999, 2_999, -1), *range(1_999, 999, -1)]
    for number in list(held.titles):
        held.remove(number)
    assert (held.rows.head(0), list(held.near(title))) == (-1, [])
    held.place_and_check({7: title})
    held.place_and_check({8: title})


def _members(held: Held, row: int) -> list[int]:
    found = []
    at = held.rows.head(row)
    while at >= 0:
        found.append(at)
        at = int(held.member_next[at])
    return found


@pytest.mark.parametrize("room", [1, 7, 100])
def test_no_pair_is_lost_where_they_find_no_room(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = _moulded(150)
    held = Held(IdfSnapshot(), 0.5)
    everything = held.place(titles)
    monkeypatch.setattr(rows_module, "_ROOM", room)
    tight = Held(IdfSnapshot(), 0.5)
    assert tight.place(titles) == everything
    assert sum(map(len, everything)) == 150 * 149 / 2
    assert dict(tight.near(titles[0])) == dict(held.near(titles[0]))


def test_of_too_many_pairs_the_nearest_are_kept_then_the_smallest_rows() -> None:
    titles = _moulded(60)
    chance = random.Random(3)
    for number in range(60, 90):
        titles[number] = titles[number - 60][: chance.randint(3, 5)]
    everything = Held(IdfSnapshot(), 0.5).place(titles)
    for limit in (1, 5, 64):
        for all_of_it, kept in zip(
            everything, Held(IdfSnapshot(), 0.5).place(titles, limit), strict=True
        ):
            best = sorted(all_of_it.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
            assert list(kept.items()) == best


def _moulded(count: int) -> dict[int, Title]:
    mould = ("双色球", "开奖", "号码", "公布", "结果")
    return {number: (*mould, f"{number}期") for number in range(count)}


def test_everything_grows_together() -> None:
    held = Held(IdfSnapshot(), 0.9)
    chance = random.Random(1)
    known: list[Title] = []
    for start in range(0, 12_000, 1_500):
        titles = {
            start + n: tuple(f"{chance.randrange(10**6)}号" for _ in range(chance.randint(1, 9)))
            for n in range(1_500)
        }
        held.place(titles)
        known += chance.sample(list(titles.values()), 3)
    assert len(held.rows) > 10_000
    for title in known:
        held.titles = dict.fromkeys(range(1), title)
        held.check(title, held.near(title))
        held.check(title[::-1], held.near(title[::-1]))


@pytest.mark.parametrize("at_once", [1_028, 1_038, 1_500])
def test_there_is_room_for_titles_that_come_singly_after_many(at_once: int) -> None:
    held = Held(IdfSnapshot(), 0.9)
    held.place({number: (f"词{number}",) for number in range(at_once)})
    # Past the next time that columns grow: loops write behind one that did not, unchecked.
    for number in range(at_once, 2_300):
        held.place({number: (f"词{number}",)})
    starts = held.rows.to_state()["rows.starts"]
    assert len(starts) == len(held.rows) + 1 == 2_301
    assert (np.diff(starts) == 1).all()


def test_rows_without_members_come_back_to_life() -> None:
    held = Held(COUNTED, 0.7)
    held.place_and_check({1: ("戊", "己"), 2: ("己", "戊")})
    held.remove(1)
    held.place_and_check({3: ("戊", "己")})
    assert len(held.rows) == 2
    held.remove(2)
    held.rows = held.rows.rebuilt(held.member_row)
    assert (len(held.rows), held.member_row[:4].tolist()) == (1, [-1, -1, -1, 0])


def test_rebuilding_makes_no_more_room_than_there_is_need_for() -> None:
    held = Held(IdfSnapshot(), 0.7)
    held.place({n: tuple(f"{n * k}号" for k in range(1, 12)) for n in range(3_000)})
    held.titles = dict.fromkeys(range(3_000), ())
    for number in range(0, 3_000, 2):
        held.remove(number)
    assert held.rows.rebuilt(held.member_row).nbytes < held.rows.nbytes


@pytest.mark.parametrize("title", [(), ("甲",), ("甲", "甲")])
def test_titles_that_weigh_nothing_are_like_themselves_only(title: Sequence[str]) -> None:
    held = Held(COUNTED, 0.5)
    first, again, other = held.place({1: tuple(title), 2: tuple(title), 3: ("甲", "戊")})
    assert first == other == {}
    assert again == ({0: 1.0} if title else {})


def test_an_index_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "_MOST_PLACES", 1_000)
    held = Held(IdfSnapshot(), 0.8)
    held.place({1: ("戊", "己")})
    with pytest.raises(OverflowError, match="1 titles are as many"):
        held.place({2: tuple(f"{n}号" for n in range(100))})
    assert list(held.near(("戊", "己"))) == [(0, 1.0)]
