"""Text of strangers where it is shown: no character in it steers a terminal or turns the line.

What is stored stays as it was written; this is for the way out.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from qiaocrawl.text.normalise import script_forms

# C0 and C1 controls but tab and newline (an ESC begins a command to the terminal), and the
# characters that change the direction of writing: a name may end in what stands at its start.
# A return steers too, but for one that ends a line with its newline.
_LETTERS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
_STEERING = re.compile(f"[{_LETTERS}]|\r(?!\n)")
_NOT_IN_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
# What JSON may hold as it is, though it steers, or ends a line for some readers.
_RAW_IN_JSON = re.compile(f"[{_LETTERS}\u2028\u2029]")


def visible(text: str) -> str:
    """*text* without control characters and marks of direction; tabs and newlines stay."""
    return text if text.isprintable() else _STEERING.sub("", text)


def xml_text(text: str) -> str:
    """*text* as any kind of XML holds it, office files and pictures too: what it cannot, U+FFFD."""
    return _NOT_IN_XML.sub("\ufffd", visible(text))


def markup_text(text: str) -> str:
    """*text* between tags of HTML or SVG, or in quotes as the value of an attribute."""
    return escape(xml_text(text))


def visible_json(text: str) -> str:
    """JSON *text* that says the same, with such characters as ``\\uXXXX``."""
    return _RAW_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class VisibleRecord(logging.LogRecord):
    """A log record whose message and traceback are :func:`visible`, whichever handler writes it."""

    def getMessage(self) -> str:  # noqa: N802 (logging's own name for it)
        """The message with its arguments."""
        return visible(super().getMessage())

    @property
    def exc_text(self) -> str | None:
        """The traceback, which a formatter leaves here."""
        return self._exc_text

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        self._exc_text = text and visible(text)


# --- A terminal that no page can steer ------------------------------------------------------------


class Terminal(Console):
    """A console that shows text without its control characters."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich has it; Rich's own commands to the terminal are segments of another kind."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else visible(segment.text)
            yield segment if text == segment.text else segment._replace(text=text)


# --- Log records as lines for people, or as JSON for machines (``QIAO_LOG_FORMAT``) ---------------

JSON = "json"
"""``QIAO_LOG_FORMAT`` for lines of JSON."""
PLAIN_LINE = "%(message)s"
"""The format of handlers where the record is a whole line by itself."""

_context: dict[str, str | int] = {}


def note_context(**values: str | int) -> None:
    """Put *values* (spider, topic, run) into all JSON lines of this process from now on."""
    _context.update({name: value for name, value in values.items() if value != ""})


class JsonRecord(VisibleRecord):
    """A record whose message is the whole line: one JSON object, its traceback inside."""

    def getMessage(self) -> str:  # noqa: N802 (logging's own name for it)
        """The line."""
        line: dict[str, str | int] = {
            "time": _moment(self.created),
            "level": self.levelname,
            "logger": self.name,
            "message": _message(self),
            **_context,
        }
        if self.exc_info and self.exc_info[1] is not None:
            line["traceback"] = "".join(traceback.format_exception(*self.exc_info)).rstrip()
        text = visible_json(json.dumps(line, ensure_ascii=False))
        # Half a pair of a broken page has no bytes; its escape is what JSON has for it.
        return text.encode("utf-8", "backslashreplace").decode("utf-8")

    # A formatter would put both below the line.
    @property
    def exc_text(self) -> str | None:
        """Nothing: the traceback is in the line."""
        return None

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        pass

    @property
    def stack_info(self) -> str | None:
        """Nothing, for the same reason."""
        return None

    @stack_info.setter
    def stack_info(self, text: str | None) -> None:
        pass


def _message(record: logging.LogRecord) -> str:
    # As it was said: visible() would drop what JSON escapes.
    try:
        return logging.LogRecord.getMessage(record)
    except (TypeError, ValueError):
        # Arguments that do not fit their format must not lose the line.
        return f"{record.msg} {record.args!r}"


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def use_json_records() -> None:
    """Let all log lines of this process be JSON; handlers have the format :data:`PLAIN_LINE`."""
    logging.setLogRecordFactory(JsonRecord)


def is_json_log() -> bool:
    """Whether log lines of this process are JSON."""
    return logging.getLogRecordFactory() is JsonRecord


def use_visible_records() -> None:
    """Let all log lines of this process be without control characters, if they are not JSON."""
    if not is_json_log():
        logging.setLogRecordFactory(VisibleRecord)


# --- Where words stand in a text: passages around them, for lists and pages -----------------------

_BEFORE, _AFTER = 12, 24
"""Characters of a text that are shown before and behind a word."""


class Passage(NamedTuple):
    """A word as it stands in a text, and what stands around it in its line."""

    before: str
    word: str
    after: str


def passage(text: str, word: str, before: int = _BEFORE, after: int = _AFTER) -> Passage | None:
    """The first place of *word* in *text*, in simplified or traditional characters."""
    lower = text.lower()
    places = [(lower.find(form), form) for form in script_forms(word.lower())]
    at, form = min((place for place in places if place[0] >= 0), default=(-1, ""))
    # Lower case may have another length, in a few scripts: nothing is shown then.
    if at < 0 or len(lower) != len(text):
        return None
    end = at + len(form)
    start = max(at - before, text.rfind("\n", 0, at) + 1)
    rest = text[end : end + after].partition("\n")[0]
    return Passage(text[start:at].lstrip(), text[at:end], rest.rstrip())


def marked_pieces(text: str, words: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """*text* in pieces, and whether each is one of *words*, in either script."""
    forms = sorted({form for word in words if word for form in script_forms(word)}, key=len)
    if not forms:
        yield text, False
        return
    pattern = "|".join(map(re.escape, reversed(forms)))
    for number, piece in enumerate(re.split(f"({pattern})", text, flags=re.IGNORECASE)):
        if piece:
            yield piece, number % 2 == 1
