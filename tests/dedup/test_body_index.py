"""Bodies found by the sentences they share."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup import body_index as index_module
from qiaocrawl.dedup.body_index import LIST_LIMIT, MAX_NEAR, BodyIndex
from qiaocrawl.dedup.comparison import BodyEvidence, compare, read_sketch, same_body
from qiaocrawl.dedup.fingerprints import body_sketch
from qiaocrawl.items import TitleRecord


def record(*lines: str) -> TitleRecord:
    return TitleRecord(b"", "", body_sketch=body_sketch("\n".join(lines)))


def numbered(*numbers: int) -> TitleRecord:
    return record(*(f"这一行写着编号{number}。" for number in numbers))


def brute_force(wanted: TitleRecord, held: dict[int, TitleRecord]) -> dict[int, BodyEvidence]:
    """What ``near`` promises, by comparison with every row, while no sentence is common."""
    found = {}
    for row, other in held.items():
        one, two = read_sketch(wanted.body_sketch), read_sketch(other.body_sketch)
        if one is not None and two is not None:
            evidence = compare(one, two)
            if evidence.shared >= 2 and evidence.containment >= 0.2:
                found[row] = evidence
    return found


NUMBERS = st.lists(st.integers(0, 12), max_size=7).map(tuple)
STEPS = st.lists(st.tuples(st.integers(0, 9), st.none() | NUMBERS), max_size=25)


@settings(deadline=None)
@given(STEPS, NUMBERS, st.booleans())
def test_near_is_what_comparing_with_all_gives(
    steps: list[tuple[int, tuple[int, ...] | None]], wanted: tuple[int, ...], pack: bool
) -> None:
    index, held = BodyIndex(), {}
    for row, numbers in steps:
        if numbers is None:
            index.remove(row)
            held.pop(row, None)
        else:
            held[row] = numbered(*numbers)
            index.add(row, held[row])
        if pack:
            index._pack()
    found = index.near(numbered(*wanted))
    assert dict(found) == brute_force(numbered(*wanted), held)
    assert found == sorted(found, key=lambda pair: (-pair[1].containment, pair[0]))
    assert len(index) == sum(one.body_sketch != b"" for one in held.values())
    for row, one in held.items():
        assert (index.evidence(numbered(*wanted), row) is None) == (not wanted or one == record())


def test_the_order_of_adding_makes_no_difference() -> None:
    rng = random.Random(1)
    records = [numbered(*rng.choices(range(60), k=12)) for _ in range(40)]
    found = []
    for seed in range(3):
        index = BodyIndex()
        for row in random.Random(seed).sample(range(40), 40):
            index.add(row, records[row])
        found.append([index.near(one) for one in records])
    assert found[0] == found[1] == found[2]


def test_nothing_is_near_to_nothing() -> None:
    index = BodyIndex()
    assert index.near(numbered(1, 2)) == []
    index.add(3, record())
    index.remove(77)
    assert len(index) == 0
    assert index.evidence(numbered(1), 3) is index.evidence(numbered(1), 10**6) is None
    index.add(3, numbered(1, 2))
    assert index.near(record()) == []
    assert index.near(TitleRecord(b"", "", body_sketch=b"junk")) == []


def test_ten_thousand_copies_cost_no_more_than_a_few() -> None:
    index = BodyIndex()
    copy = numbered(*range(20))
    for row in range(10_000):
        index.add(row, copy)
    found = index.near(numbered(*range(18), 70, 71))
    assert len(found) == MAX_NEAR
    assert {row for row, _ in found} == set(range(MAX_NEAR))
    # What is copied everywhere still weighs more than two lines of one's own.
    assert all(same_body(evidence) for _, evidence in found)
    assert index.memory_bytes / len(index) < 350


def test_a_sentence_of_all_bodies_hides_none() -> None:
    index = BodyIndex()
    for row in range(3_000):
        index.add(row, numbered(0, 3 * row + 1, 3 * row + 2, 3 * row + 3))
    for row in (5, 2_990):
        (found,) = index.near(numbered(0, 3 * row + 1, 3 * row + 2, 99_999))
        assert found[0] == row
        assert found[1].shared >= 2
        assert same_body(found[1])


NOTICES = ("本网全新改版上线，欢迎体验。", "订阅电子早报，每天准时送达。",
           "新闻热线全天候接听来电。", "未经书面授权不得转载摘编。",
           "文中配图均为资料图片而已。")  # fmt: skip


def short_page(number: int) -> TitleRecord:
    village = f"{'甲乙丙丁'[number % 4]}村的第{'壹贰叁'[number % 3]}件事，讲给大家听听。"
    return record(*NOTICES, village, f"这件事与编号{number}有关。")


def test_what_a_site_puts_on_every_page_makes_no_reprints() -> None:
    index = BodyIndex()
    for row in range(300):
        index.add(row, short_page(row))
    evidence = index.evidence(short_page(301), 7)
    assert evidence is not None
    assert evidence.shared >= len(NOTICES)
    assert evidence.containment < 0.5
    assert not evidence.lead
    assert same_body(dict(index.near(short_page(7)))[7])


def test_a_removed_row_makes_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_FEW_DEAD", 50)
    index = BodyIndex()
    for row in range(2 * LIST_LIMIT):
        index.add(row, numbered(1, 2, 3))
    for row in range(2 * LIST_LIMIT - 1):
        index.remove(row)
    last = 2 * LIST_LIMIT - 1
    assert len(index) == 1
    # Packing lists rows again that there was no room for.
    assert [row for row, _ in index.near(numbered(1, 2, 3))] == [last]
    index.add(last, numbered(4, 5, 6))
    assert index.near(numbered(1, 2, 3)) == []
    assert [row for row, _ in index.near(numbered(4, 5, 6))] == [last]
