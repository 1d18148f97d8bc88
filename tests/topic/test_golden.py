"""Golden sets: what is read, and every fault by its line."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from qiaocrawl.errors import TopicError
from qiaocrawl.topic.tree import (
    DIGESTS_FILE,
    GOLDEN_FILE,
    GoldenDigest,
    GoldenTitle,
    golden_faults,
    is_held_out,
    read_golden,
    read_golden_digests,
    title_digest,
)


def _file(tmp_path: Path, text: str, name: str = GOLDEN_FILE) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def _faults(path: Path) -> list[str]:
    read = read_golden if path.name == GOLDEN_FILE else read_golden_digests
    with pytest.raises(TopicError) as caught:
        read(path)
    return [str(fault) for fault in caught.value.faults]


def test_titles_are_read_in_chinese_and_english(tmp_path: Path) -> None:
    table = _file(tmp_path, "标题,切题,组,备注\n侨批展,是,文化,展览\n华侨城,否,,\n")
    assert read_golden(table) == (
        GoldenTitle("侨批展", True, "文化", "展览"), GoldenTitle("华侨城", False),
    )  # fmt: skip
    assert [row.relevant for row in read_golden(_file(tmp_path, "label,title\nno,a\nYES,b\n"))] == [
        False, True,
    ]  # fmt: skip


def test_every_bad_row_is_told_by_its_line(tmp_path: Path) -> None:
    text = "title,label,group\n甲,yes,\n,no,\n乙,perhaps,\n丙,,\n甲,no,\n"
    text += f"{'长' * 201},no,\n丁,no,{'组' * 41}\n"
    faults = _faults(_file(tmp_path, text))
    assert faults == [
        "golden.csv:3: the title must have 1 to 200 characters, got 0",
        "golden.csv:4: label must be yes or no, got 'perhaps'",
        "golden.csv:5: label must be yes or no, got ''",
        "golden.csv:6: '甲' repeats line 2",
        "golden.csv:7: the title must have 1 to 200 characters, got 201",
        "golden.csv:8: the group must have 0 to 40 characters, got 41",
    ]


def test_spellings_of_one_title_are_the_same_title(tmp_path: Path) -> None:
    assert _faults(_file(tmp_path, "title,label\n華僑ＡＢ,yes\n华侨ab,no\n")) == [
        "golden.csv:3: '华侨ab' repeats line 2"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title\n甲\n", "the header names no column label"),
        ("label\nyes\n", "the header names no column title"),
        ("title,label,weight\n甲,yes,1\n", "unknown column 'weight'"),
        ("title,label\n甲,yes\n", "no row is labelled no; both labels are needed"),
        ("title,label\n甲,no\n", "no row is labelled yes; both labels are needed"),
        ('title,label\n"甲\n乙",yes\n丙,no\n', "the title holds the control character U+000A"),
    ],
)
def test_a_table_that_measures_nothing_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    assert any(reason in fault for fault in _faults(_file(tmp_path, text)))


def test_digests_are_those_of_folded_titles(tmp_path: Path) -> None:
    digest = hashlib.sha1("华侨ab".encode()).hexdigest()
    assert title_digest("華僑ＡＢ") == title_digest("华侨ab") == digest
    text = f"digest,label,group\n{digest.upper()},yes,侨\n{title_digest('乙')},no,\n"
    first, _ = read_golden_digests(_file(tmp_path, text, DIGESTS_FILE))
    assert first == GoldenDigest(digest, True, "侨")


def test_what_is_no_digest_is_told(tmp_path: Path) -> None:
    digest = title_digest("甲")
    text = f"digest,label\n{digest},yes\n{digest},no\n{digest[:-1]},no\n"
    assert _faults(_file(tmp_path, text, DIGESTS_FILE)) == [
        f"golden_digests.csv:3: '{digest}' repeats line 2",
        "golden_digests.csv:4: digest must be a SHA-1 of 40 hexadecimal digits, "
        f"got '{digest[:-1]}'",
    ]


def test_faults_of_both_files_of_a_pack_are_listed(tmp_path: Path) -> None:
    assert golden_faults(tmp_path) == ()
    _file(tmp_path, "title,label\n甲,x\n")
    _file(tmp_path, "", DIGESTS_FILE)
    assert [(fault.table, fault.line) for fault in golden_faults(tmp_path)] == [
        (GOLDEN_FILE, 2), (DIGESTS_FILE, 1),
    ]  # fmt: skip


def test_the_half_of_a_title_follows_from_its_digest() -> None:
    titles = [f"标题{number}" for number in range(200)]
    held_out = [title for title in titles if is_held_out(title)]
    assert all(int(title_digest(title), 16) % 2 for title in held_out)
    assert 70 < len(held_out) < 130
    assert is_held_out("華僑ＡＢ") == is_held_out("华侨ab")
