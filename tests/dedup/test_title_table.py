"""Titles by number: keys found again, numbers used again, columns only where needed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from dedup_samples import DAY, key, record
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup import title_table as title_table_module
from qiaocrawl.dedup.title_table import TitleTable
from qiaocrawl.items import TitleRecord

KEYS = st.integers(0, 30).map(key) | st.binary(max_size=3) | st.just(b"x" * 40)


def numbers(members: TitleTable, *keys: bytes) -> list[int]:
    """The numbers of *keys*, -1 where one is not remembered."""
    return [int(n) for n in members.numbers([TitleRecord(one, "") for one in keys])]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.lists(KEYS, max_size=8, unique=True)), max_size=25))
def test_members_are_found_like_in_a_dictionary(steps: list[tuple[bool, list[bytes]]]) -> None:
    members = TitleTable()
    known: dict[bytes, int] = {}
    for enters, keys in steps:
        if enters:
            new = [one for one in keys if one not in known]
            if new:
                given_numbers = members.enter([TitleRecord(one, "") for one in new]).tolist()
                assert set(given_numbers).isdisjoint(known.values())
                known.update(zip(new, given_numbers, strict=True))
        else:
            for one in keys:
                if one in known:
                    members.remove(known.pop(one))
        assert len(members) == len(known)
        assert numbers(members, *keys, key(99)) == [known.get(one, -1) for one in (*keys, key(99))]
    assert {one: members.key(number) for one, number in known.items()} == {
        one: one for one in known
    }


def test_keys_of_one_slot_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # With few slots nearly all keys meet others of their slot.
    monkeypatch.setattr(title_table_module, "_FEWEST_SLOTS", 16)
    members = TitleTable()
    keys = [key(number << shift) for number in range(1, 9) for shift in (0, 29, 32, 64, 93)]
    members.enter([TitleRecord(one, "") for one in dict.fromkeys(keys)])
    for one in keys[::3]:
        (number,) = numbers(members, one)
        if number >= 0:
            members.remove(number)
    for one in keys:
        assert numbers(members, one) == [-1] or members.key(numbers(members, one)[0]) == one
    assert numbers(members, *keys[::3]) == [-1] * len(keys[::3])


def test_a_number_is_used_again_with_nothing_of_the_title_before() -> None:
    members = TitleTable()
    full = record(1, "", day=1, host="a.example", source="新华社", digest=b"d")
    members.enter([replace(full, body_simhash=5)])
    members.remove(0)
    assert members.enter([TitleRecord(b"", "")]).tolist() == [0]
    assert members.key(0) == b""
    assert (members.host(0), members.source(0), members.minutes(0), members.simhash(0)) == (
        "", "", None, 0,
    )  # fmt: skip
    assert not members.has_digest(0, full)
    assert int(members.rows[0]) == -1


def test_what_is_known_of_a_member() -> None:
    members = TitleTable()
    members.enter([record(1, "")])
    plain = members.nbytes
    full = record(2, "", day=0, host="a.example", source="新华社", digest=b"d" * 16)
    members.enter([replace(full, body_simhash=2**64 - 1)])
    assert members.nbytes > plain
    assert [members.host(n) for n in range(2)] == ["", "a.example"]
    assert [members.source(n) for n in range(2)] == ["", "新华社"]
    assert [members.minutes(n) for n in range(2)] == [None, int(DAY.timestamp()) // 60]
    assert [members.simhash(n) for n in range(2)] == [0, 2**64 - 1]
    assert [members.has_digest(n, full) for n in range(2)] == [False, True]
    assert not members.has_digest(0, record(3, ""))
    assert not members.has_digest(1, record(3, "", digest=b"e"))


@pytest.mark.parametrize(
    ("when", "minutes"),
    [
        (datetime(1970, 1, 1, 0, 1, 59, tzinfo=UTC), 1),
        (datetime(1969, 12, 31, 23, 59, 1, tzinfo=UTC), -1),
        (datetime(1970, 1, 1, 1), 60),
        (datetime(1, 1, 1), -1_035_593_280),
        (datetime(9999, 12, 31), 2**31 - 1),
    ],
)
def test_dates_are_minutes(when: datetime, minutes: int) -> None:
    members = TitleTable()
    members.enter([replace(record(1, ""), published_at=when)])
    assert members.minutes(0) == minutes


def test_titles_that_go_and_come_take_no_more_room() -> None:
    members = TitleTable()
    members.enter([record(n, "") for n in range(1_400)])
    full, rehashes = members.nbytes, 0
    before = members._slots
    for turn in range(5_000):
        members.remove(numbers(members, key(turn))[0])
        members.enter([record(turn + 1_400, "")])
        rehashes += members._slots is not before
        before = members._slots
    assert members.nbytes <= 2 * full
    # 1,400 titles nearly fill the slots; without room to spare each turn would count them anew.
    assert rehashes < 50
    assert numbers(members, key(0), key(4_999), key(5_000)) == [-1, -1, members.numbers(
        [record(5_000, "")]).tolist()[0]]  # fmt: skip
    assert len(members) == 1_400
