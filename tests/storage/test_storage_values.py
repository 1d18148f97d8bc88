"""Values on their way in and out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.storage.values import (
    changes,
    clean_host,
    clean_text,
    clean_word,
    from_time,
    host_id,
    to_json,
    to_time,
)

_ANY_TEXT = st.text(st.characters())  # surrogates and U+0000 included


@given(_ANY_TEXT, st.integers(0, 50))
def test_clean_text_is_storable_and_otherwise_the_same(text: str, longest: int) -> None:
    cleaned = clean_text(text, longest)
    assert "\0" not in cleaned
    cleaned.encode()
    assert len(cleaned) == min(len(text), longest)
    assert all(new == old or new == "\ufffd" for new, old in zip(cleaned, text, strict=False))
    assert clean_text(cleaned, longest) == cleaned


@given(
    st.recursive(
        _ANY_TEXT | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(_ANY_TEXT, inner),
    )
)
def test_json_comes_back_without_what_cannot_be_stored(value: object) -> None:
    stored = to_json(value, max_chars=10**9)
    stored.encode()
    assert "\0" not in json.dumps(json.loads(stored), ensure_ascii=False)
    if isinstance(value, str):
        assert json.loads(stored) == clean_text(value, len(value))


def test_json_keeps_a_backslash_before_u0000() -> None:
    text = r"\u0000 \\u0000 " + "\\\0"
    assert json.loads(to_json(text)) == text.replace("\0", "\ufffd")


def test_what_was_changed_is_counted() -> None:
    before = changes.copy()
    clean_text("a\0b\ud800", 10)
    clean_text("abc", 2)
    change = changes - before
    assert change == {"replaced_chars": 2, "replaced_texts": 1, "cut_texts": 1}


def test_over_long_json_stays_json() -> None:
    assert "cut" in json.loads(to_json({"a": "长" * 1000}, max_chars=200))


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_come_back_to_the_microsecond(when: datetime) -> None:
    assert from_time(to_time(when)) == when


def test_times_are_turned_to_utc() -> None:
    beijing = datetime(2026, 1, 1, 7, tzinfo=timezone(timedelta(hours=8)))
    assert to_time(beijing) == "2025-12-31 23:00:00.000000"
    assert to_time(datetime(2026, 1, 1)) == "2026-01-01 00:00:00.000000"
    assert to_time(None) is None
    assert from_time(None) is None


@pytest.mark.parametrize(
    ("given_host", "stored"),
    [
        (" WWW.A.cn ", "www.a.cn"),
        ("a.cn:8080", "a.cn:8080"),
        ("侨.cn", "\\u4fa8.cn"),
        ("x" * 400, "x" * 260),
    ],
)
def test_hosts_are_lower_case_ascii(given_host: str, stored: str) -> None:
    assert clean_host(given_host) == stored


def test_host_ids_fit_a_signed_column_and_never_change() -> None:
    assert host_id("www.a-qiao.cn") == 7162440405119580903
    assert all(0 <= host_id(f"h{n}") < 1 << 63 for n in range(1000))


def test_words_lose_the_spaces_collations_ignore() -> None:
    assert clean_word(" p ", 10) == "p"
    assert clean_word("ab  cd", 4) == "ab"


@given(_ANY_TEXT, st.integers(1, 50))
def test_a_word_is_cleaned_as_a_text_is(text: str, most: int) -> None:
    assert clean_word(text, most) == clean_text(text.strip(), most).strip()
