"""The lines of a page's source with their text, for the density method (Q5)."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_HIDDEN = ("script", "style", "noscript", "template", "textarea", "select", "svg", "iframe")


def _any_case(name: str) -> str:
    # Not IGNORECASE, which keeps the regex engine from skipping straight from "<" to "<".
    return "".join(f"[{letter}{letter.upper()}]" for letter in name)


_HIDDEN_START = re.compile(rf"<(?:!--|({'|'.join(map(_any_case, _HIDDEN))})(?=[\s>/]))")
_HIDDEN_END = {name: re.compile(rf"</{_any_case(name)}[^>]*>?") for name in _HIDDEN}
_REST_OF_TAG = re.compile("[^<>]*>?")
_HIDDEN_END["!--"] = re.compile("-->")
# Never closed, these hide the rest of the page in a browser, and so they do here.
_SWALLOWING = frozenset(("!--", "script", "style"))
# Removes neighbouring tags at once; possessive, since "[^<>]" never needs to backtrack.
_TAG = re.compile(r"<[/a-zA-Z!?][^<>\n]*+>(?:<[/a-zA-Z!?][^<>\n]*+>)*+")
_LONG_TAG = re.compile(r"<[/a-zA-Z!?][^<>]*+>")


_BLOCKS = (
    "address article aside blockquote br center dd div dl dt fieldset figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td th title tr ul"
)


def _by_first_letter(names: list[str]) -> str:
    # Grouped by first letter: a flat alternation tries every name at every tag, twice the time.
    letters = sorted({name[0] for name in names})
    ends = ("|".join(name[1:] for name in names if name[0] == letter) for letter in letters)
    return "|".join(f"{letter}(?:{end})" for letter, end in zip(letters, ends, strict=True))


_BLOCK_EDGE = re.compile(
    f"<(?=/?(?:{_by_first_letter(_BLOCKS.split())}|{_by_first_letter(_BLOCKS.upper().split())})"
    r"[\s/>])"
)
# A source whose lines are longer than this on average is written without line ends.
_LONG_LINE_CHARS = 2000


@dataclass(frozen=True, slots=True)
class SourceLines:
    """The lines of a source, as three lists of one length.

    Attributes:
        texts: visible text of each line.
        text_bytes: UTF-8 bytes of that text (t_i).
        all_bytes: UTF-8 bytes of the whole line (h_i); not counted (0) where t_i is 0.
    """

    texts: list[str]
    text_bytes: list[int]
    all_bytes: list[int]


def source_lines(source: str) -> SourceLines:
    """The lines of *source*. Scripts, styles and comments count as bytes, never as text.

    White space around a line and around its text counts neither as text nor as bytes, so
    that indentation is not taken for text **(ours)**.
    """
    texts = visible_lines(source)
    lines = source.split("\n")
    return SourceLines(
        texts,
        [len(text.encode()) if text else 0 for text in texts],
        [
            len(line.strip().encode()) if text else 0
            for line, text in zip(lines, texts, strict=True)
        ],
    )


def is_single_line(source: str) -> bool:
    """Whether *source* is written without line ends, as minified pages are."""
    return len(source) > _LONG_LINE_CHARS * (source.count("\n") + 1)


def with_block_lines(source: str) -> str:
    """*source* with a line end before every tag that begins or ends a block **(ours)**."""
    return _BLOCK_EDGE.sub("\n<", source)


def visible_lines(source: str) -> list[str]:
    """The visible text of each line of *source*, stripped, entities resolved."""
    text = _TAG.sub("", _without_hidden(source))
    if "<" in text:
        text = _LONG_TAG.sub(_newlines, text)
    return [_plain(line) if "&" in line else line.strip() for line in text.split("\n")]


def _plain(line: str) -> str:
    # An entity may decode to a line break, which would shift all following lines.
    return html.unescape(line).replace("\n", " ").replace("\r", " ").strip()


def _newlines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _without_hidden(source: str) -> str:
    """*source* with every hidden element and comment emptied to its line breaks; linear time."""
    parts: list[str] = []
    never_closed: set[str] = set()
    position = 0
    while (start := _HIDDEN_START.search(source, position)) is not None:
        parts.append(source[position : start.start()])
        end = _end_of_hidden(source, start, never_closed)
        parts.append("\n" * source.count("\n", start.start(), end))
        position = end
    parts.append(source[position:])
    return "".join(parts)


def _end_of_hidden(source: str, start: re.Match[str], never_closed: set[str]) -> int:
    name = (start[1] or "!--").lower()
    if name not in never_closed:
        end = _HIDDEN_END[name].search(source, start.start() + 2)
        if end is not None:
            return end.end()
    if name in _SWALLOWING:
        return len(source)
    never_closed.add(name)  # looked for once: or many open tags would cost quadratic time
    rest = _REST_OF_TAG.match(source, start.end())
    return rest.end() if rest else start.end()
