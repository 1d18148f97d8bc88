"""What differs between two texts, and that hostile ones cannot make it take long."""

from __future__ import annotations

import time

import pytest

from qiaocrawl.console.render import Comparison

LINES = 30_000


def test_a_changed_word_is_marked_within_its_sentence() -> None:
    before = "开头一句。侨务会议在京召开。结尾一句。"
    found = Comparison().difference(before, before.replace("京", "沪") + "新增一句。")
    assert not found.is_cut
    assert found.text == (
        "开头一句。侨务会议在<del>京</del><ins>沪</ins>召开。结尾一句。<ins>新增一句。</ins>"
    )
    assert Comparison().difference(before, before).text == ""


def test_markup_of_strangers_stays_text() -> None:
    found = Comparison().difference("<script>甲。", "<script>乙。")
    assert "<script>" not in found.text
    assert "&lt;script&gt;" in found.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Each sentence of the one stands often in the other, but never two side by side.
        ("\n".join(f"{n % 7}\na{n}" for n in range(LINES)),
         "\n".join(f"{n % 7}\nb{n}" for n in range(LINES))),
        ("\n".join(map(str, range(LINES))), "\n".join(map(str, reversed(range(LINES))))),
        ("甲乙" * (LINES + 1), "乙丙" * (LINES + 1)),
        ("甲\n" * LINES, "甲\n乙\n" * LINES),
    ],
    ids=["often", "reversed", "one line", "alike"],
)  # fmt: skip
def test_a_hostile_page_with_many_revisions_is_soon_compared(before: str, after: str) -> None:
    comparison, began = Comparison(), time.process_time()
    found = [comparison.difference(before, after) for _revision in range(30)]
    assert time.process_time() - began < 20
    assert all(difference.is_cut for difference in found)
