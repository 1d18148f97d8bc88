"""Groups are what verdicts connect, named by the earliest member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from dedup_samples import DAY, key, record
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.dedup.grouping import Groups, by_publish_date, group_titles
from qiaocrawl.items import TitleRecord, Verdict, VerdictKind


def same(of: int, *also: int) -> Verdict:
    """A reprint of the title *of*, and of others."""
    return Verdict(VerdictKind.REPRINT, key(of), 0.9, "", tuple(map(key, also)))


DISTINCT = Verdict(VerdictKind.DISTINCT)


def names(*verdicts: Verdict) -> list[int]:
    """The numbers that name the groups of titles 0, 1, 2 … with these verdicts."""
    groups = Groups()
    for number, verdict in enumerate(verdicts):
        groups.add(key(number), verdict)
    return [int.from_bytes(groups.name(key(number)), "big") for number in range(len(verdicts))]


def test_a_title_joins_the_group_of_what_it_repeats() -> None:
    assert names(DISTINCT, same(0), DISTINCT, same(1), same(2)) == [0, 0, 2, 0, 2]


def test_a_title_of_two_groups_joins_them() -> None:
    assert names(DISTINCT, DISTINCT, same(1), same(2, 0), DISTINCT) == [0, 0, 0, 0, 4]
    assert names(DISTINCT, DISTINCT, DISTINCT, same(2, 1), same(3, 0)) == [0, 0, 0, 0, 0]


def test_an_instalment_of_a_series_stays_by_itself() -> None:
    series = Verdict(VerdictKind.SERIES, key(0), 0.9)
    assert names(DISTINCT, series, replace(series, of=key(1))) == [0, 1, 2]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=30))
def test_names_are_the_first_of_what_hangs_together(links: list[tuple[int, int]]) -> None:
    verdicts = [DISTINCT]
    for number, (one, other) in enumerate(links, 1):
        verdicts.append(same(one % number, other % number) if one else DISTINCT)
    expected = list(range(len(verdicts)))
    for number, verdict in enumerate(verdicts):
        for other_key in (verdict.of, *verdict.also):
            if other_key is not None:
                old, new = expected[number], expected[int.from_bytes(other_key, "big")]
                expected = [min(old, new) if e in (old, new) else e for e in expected]
    assert names(*verdicts) == expected


def test_titles_are_taken_by_date_then_key() -> None:
    shifted = DAY.astimezone(timezone(timedelta(hours=8)))
    records = [
        record(1, "无日期"),
        record(0, "也无"),
        record(9, "次日", day=1),
        record(8, "头天", day=0),
        replace(record(7, "头天"), published_at=shifted),
        replace(record(6, "更早"), published_at=datetime(1, 1, 1)),
    ]
    found = [int.from_bytes(one.key, "big") for one in by_publish_date(records)]
    assert found == [6, 7, 8, 9, 0, 1]
    assert DAY.tzinfo is UTC


def test_each_key_once() -> None:
    dated, undated, late = record(1, "乙", day=0), record(1, "甲"), record(1, "甲", day=1)
    for records in ([dated, undated, late], [late, undated, dated]):
        assert by_publish_date(records) == [dated]
    one = record(1, "甲", day=0, host="a.example", source="新华社", digest=b"d", text="甲")
    for other in (
        replace(one, title="乙"), replace(one, host="b.example"), replace(one, source="中新社"),
        replace(one, body_digest=b"e"), replace(one, body_simhash=1), replace(one, body_sketch=b""),
    ):  # fmt: skip
        assert by_publish_date([one, other]) == by_publish_date([other, one])


def test_titles_are_judged_in_order_and_counted() -> None:
    seen: list[bytes] = []
    placed: list[int] = []

    def judge_all(part: Sequence[TitleRecord]) -> list[Verdict]:
        seen.extend(one.key for one in part)
        return [DISTINCT] * len(part)

    ordered = [record(number, "题") for number in range(1_234)]
    grouping = group_titles(ordered, judge_all, placed.append)
    assert seen == [one.key for one in ordered] == list(grouping.verdicts)
    assert sum(placed) == 1_234
    assert grouping.groups == {one.key: one.key for one in ordered}
