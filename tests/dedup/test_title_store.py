"""Everything one title index remembers, kept in step: words, rows, bodies, hosts and dates."""

from __future__ import annotations

import numpy as np
import pytest
from dedup_samples import key, record
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup.methods import TitlePair
from qiaocrawl.dedup.pair_model import PairScore
from qiaocrawl.dedup.title_store import TitleStore
from qiaocrawl.items import TitleRecord
from qiaocrawl.vsm import IdfSnapshot

TEXT = (
    "记者今天来到老码头，看到工人正在清理现场。负责人介绍，工程共分三个阶段，前期征求了意见。"
    "家住附近的受访者说，盼的就是这一天，出门方便多了。"
)
SCORE = PairScore(0.9, 0.8, 6, False)


def store(*, bodies: bool = True) -> TitleStore:
    return TitleStore(IdfSnapshot(), 0.5, (), bodies=bodies)


def enter(held: TitleStore, *records: TitleRecord, search: bool = False) -> list[int]:
    numbers, _ = held.enter(records, [each.title for each in records], search=search)
    for number, each in zip(numbers.tolist(), records, strict=True):
        held.add_body(number, each)
    return [int(number) for number in numbers]


def pair(new: TitleRecord, earlier: TitleRecord) -> TitlePair:
    held = store()
    old, own = enter(held, earlier, new)
    return held.pair(new, own, old, SCORE, None)


def test_titles_of_the_same_words_share_a_row_newest_first() -> None:
    held = store()
    numbers = enter(held, *(record(n, "归侨回乡办厂") for n in range(3)), record(3, "老码头开放"))
    assert len(held) == 4
    assert held.titles_of_row(numbers[2], limit=9) == [numbers[2], numbers[1], numbers[0]]
    assert held.titles_of_row(numbers[2], limit=2) == [numbers[2], numbers[1]]
    assert held.titles_of_row(numbers[3], limit=9) == [numbers[3]]


def test_each_title_is_searched_among_all_before_it() -> None:
    held = store()
    titles = ["归侨回乡办厂", "老码头重新开放", "归侨回乡办厂"]
    _, (places, _, cosines, newest) = held.enter(
        [record(n, title) for n, title in enumerate(titles)], titles, search=True
    )
    assert places.tolist() == [2]
    assert cosines == pytest.approx([1.0])
    assert held.titles_of_row(int(newest[0]), limit=9) == [0]


def test_a_title_that_is_renamed_keeps_its_number_and_changes_its_row() -> None:
    held = store()
    one, other = enter(held, record(1, "归侨回乡办厂"), record(2, "归侨回乡办厂"))
    held.rename(one, "老码头重新开放")
    assert held.titles_of_row(other, limit=9) == [other]
    assert held.titles_of_row(one, limit=9) == [one]
    assert held.cosine(int(held.members.rows[one]), int(held.members.rows[other])) == 0
    assert held.members.key(one) == key(1)


def test_a_removed_title_is_in_none_of_the_stores() -> None:
    held = store()
    one, other = enter(held, *(record(n, "归侨回乡办厂", text=TEXT) for n in (1, 2)))
    held.remove(one)
    assert len(held) == 1
    assert held.titles_of_row(other, limit=9) == [other]
    assert list(held.near_bodies(record(3, "", text=TEXT), limit=9)) == [other]


def test_bodies_are_found_by_their_sentences_and_where_none_are_known_by_their_digest() -> None:
    held = store()
    whole, digest_only = enter(
        held, record(1, "归侨回乡", text=TEXT), record(2, "老码头", digest=b"d" * 16)
    )
    near = held.near_bodies(
        record(3, "", text=TEXT + "另有一句话与别处不同，说的是明天的天气。"), 9
    )
    assert list(near) == [whole]
    assert near[whole] is not None
    assert held.near_bodies(record(4, "", digest=b"d" * 16), 9) == {digest_only: None}
    assert held.near_bodies(record(5, ""), 9) == {}


def test_a_method_that_looks_at_no_bodies_keeps_none() -> None:
    held = store(bodies=False)
    enter(held, record(1, "归侨回乡", text=TEXT))
    assert held.near_bodies(record(2, "", text=TEXT), 9) == {}
    with_bodies = store()
    enter(with_bodies, record(1, "归侨回乡", text=TEXT))
    assert with_bodies.nbytes > held.nbytes


def test_a_pair_knows_what_both_records_say() -> None:
    known = pair(record(1, "归侨回乡办厂", day=2.5, host="news.a.cn", source="新华社"),
                 record(2, "归侨回乡办厂", day=1, host="www.a.cn", source="新华社"))  # fmt: skip
    assert known.same_words
    assert known.days_apart == 1.5
    assert known.same_site is True
    assert known.same_source
    assert (known.cosine, known.score, known.letters) == (0.9, 0.8, 6)


def test_a_pair_tells_unknown_from_different() -> None:
    told, silent = record(1, "归侨回乡", day=1, host="a.cn", source="甲"), record(2, "老码头")
    unknown = pair(told, silent)
    assert (unknown.days_apart, unknown.same_site, unknown.simhash_distance) == (None, None, None)
    assert (unknown.same_source, unknown.same_words, unknown.same_text) == (False, False, False)
    other = pair(told, record(3, "老码头", day=4, host="b.cn", source="乙"))
    assert (other.days_apart, other.same_site, other.same_source) == (3, False, False)
    assert not pair(silent, record(3, "老火车站")).same_source, "two without a source name none"


def test_a_pair_of_one_body_has_the_same_text_and_no_differing_bits() -> None:
    same = pair(record(1, "归侨回乡", text=TEXT), record(2, "老码头", text=TEXT))
    assert (same.same_text, same.simhash_distance) == (True, 0)
    other = pair(record(1, "归侨回乡", text=TEXT), record(2, "老码头", text=TEXT[::-1]))
    assert not other.same_text
    assert (other.simhash_distance or 0) > 0


def test_titles_without_words_are_not_of_the_same_words() -> None:
    assert not pair(record(1, "！！"), record(2, "？？")).same_words


def test_scores_come_in_the_order_of_the_pairs() -> None:
    held = store()
    numbers = enter(held, record(1, "归侨回乡办厂"), record(2, "归侨回乡办新厂"), record(3, "码头"))
    rows = held.members.rows[np.array(numbers)]
    # Of every second place, as a table's column is.
    ones, others = np.repeat(rows[[0, 0, 1, 2]].reshape(2, 2), 2, 1)[:, ::2]
    near, far = held.score_pairs(ones, others, np.array([0.9, 0.0], np.float32))
    assert near.score > far.score
    assert (near.letters, far.letters) == (6, 2)


TITLES = ("归侨回乡办厂", "老码头重新开放", "归侨座谈会", "")


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from([None, *TITLES])), max_size=25))
def test_whatever_is_done_every_title_stands_in_the_row_of_its_words(
    steps: list[tuple[int, str | None]],
) -> None:
    held, titles, numbers = store(bodies=False), dict[int, str](), dict[int, int]()
    for name, title in steps:
        if title is None:
            if name in numbers:
                held.remove(numbers.pop(name))
                del titles[name]
        elif name in numbers:
            held.rename(numbers[name], title)
            titles[name] = title
        else:
            (numbers[name],) = enter(held, record(name, title))
            titles[name] = title
    assert len(held) == len(titles)
    rows = {title: {int(held.members.rows[numbers[n]]) for n, t in titles.items() if t == title}
            for title in titles.values()}  # fmt: skip
    assert all(len(row) == 1 for row in rows.values())
    assert len(set.union(set(), *rows.values())) == len(rows)
