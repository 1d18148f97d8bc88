"""No text of a page steers a terminal, a log or the direction of writing."""

from __future__ import annotations

import io
import json
import logging
import sys

import pytest

from qiaocrawl.text.visible import VisibleRecord, visible, visible_json

STEERING = [
    *map(chr, (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0))),
    *"\u061c\u200e\u200f", *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x2070))),
]  # fmt: skip


def test_what_steers_goes_and_what_is_written_stays() -> None:
    plain = "侨胞\t回乡\n（一）\r\né 👨‍👩‍👧\u3000ﷺ"
    assert visible(plain) == plain
    assert visible(STEERING[3].join(plain)) == plain.replace("\r", "")
    assert visible("".join(STEERING)) == ""


def test_json_says_the_same_and_holds_nothing_raw() -> None:
    value = {"title": "侨\u2028".join(STEERING)}
    text = visible_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not set(text) & {*STEERING, "\u2028"}


def test_log_lines_and_tracebacks_are_visible() -> None:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    try:
        raise ValueError("\x1b]0;owned\x07")
    except ValueError:
        error = sys.exc_info()
    handler.handle(VisibleRecord("q", logging.INFO, "f.py", 1, "a %s\u202e", ("\x1b[2J",), error))
    text = lines.getvalue()
    assert text.startswith("a [2J\n")
    assert "ValueError: ]0;owned" in text
    assert not set(text) & set(STEERING)


@pytest.mark.parametrize("module", ["qiaocrawl.crawl.progress"])
def test_a_crawl_logs_by_such_records(module: str) -> None:
    __import__(module)
    assert logging.getLogRecordFactory() is VisibleRecord
