"""JSON log lines: one object a line, whatever is said."""

from __future__ import annotations

import io
import json
import logging

from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.text.visible import PLAIN_LINE, JsonRecord


def _written(record: logging.LogRecord) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter(PLAIN_LINE))
    handler.handle(record)
    stream.flush()
    stream.seek(0)
    return stream.read()


@given(st.text(st.characters()))
def test_a_message_of_any_characters_is_one_line(text: str) -> None:
    line = _written(JsonRecord("q", logging.INFO, "f.py", 1, "a %s", (text,), None))
    assert line.endswith("\n")
    assert len(line.splitlines()) == 1
    assert not set(line[:-1]) & {"\x1b", "\x7f", "\x9b", "\u202e", "\u2028"}
    told = json.loads(line)
    assert told["message"] == f"a {text}"
    assert (told["level"], told["logger"]) == ("INFO", "q")
    assert told["time"].endswith("Z")


def test_a_traceback_is_inside_the_line() -> None:
    try:
        raise ValueError("two\nlines \x1b[2J")
    except ValueError as error:
        trace = (type(error), error, error.__traceback__)
    line = _written(
        JsonRecord("q", logging.ERROR, "f.py", 1, "failed", (), trace, sinfo="stack\nx")
    )
    assert len(line.splitlines()) == 1
    told = json.loads(line)
    assert told["message"] == "failed"
    assert told["traceback"].startswith("Traceback (most recent call last):\n")
    assert told["traceback"].endswith("ValueError: two\nlines \x1b[2J")


def test_arguments_that_do_not_fit_lose_no_line() -> None:
    told = json.loads(_written(JsonRecord("q", logging.INFO, "f.py", 1, "%d pages", ("x",), None)))
    assert told["message"] == "%d pages ('x',)"
