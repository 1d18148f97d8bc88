"""The string literals of a script, read in step: what stands between two of them is code.

A scanner that loses step takes the code between two strings for a string. So everything in which a
quote means nothing is passed over as JavaScript reads it: comments, regular expressions, escaped
quotes, templates with ``${…}`` and what is nested in them. A string that is not closed in its line
is an error to a browser too; reading goes on in the next line. Nothing is executed, and the time is
linear in the length of the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_MARKS = 500_000
"""Quotes, slashes and braces of one script that are looked at; a bundle of 3 MB has 300,000."""
_MARK = re.compile(r"[\"'`/]|<!--")
_MARK_OR_BRACE = re.compile(r"[\"'`/{}]|<!--")
_STRINGS = {
    '"': re.compile(r'"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S]))*+"'),
    "'": re.compile(r"'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S]))*+'"),
}
_TEMPLATE_TEXT = re.compile(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*+")
_REGEX = re.compile(r"/(?:[^/\\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*+\])++/[a-z]*")
# if (…) /…/.test(…): the one place where a pattern follows a bracket.
_TRIED_AT_ONCE = re.compile(r"\s*\.\s*(?:test|exec)\s*\(")
_LAST_WORD = re.compile(r"[\w$]+$")
_BEFORE_VALUE = frozenset(
    (
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "do",
        "else",
        "void",
        "delete",
        "throw",
        "new",
        "instanceof",
        "yield",
        "await",
    )
)
"""Words behind which a value begins; behind any other a slash divides."""
_MAX_WORD, _MOST_BLANKS = 12, 200
_VALUE, _BRACKET, _OPERATOR = "value", "bracket", "operator"
"""What stands before a slash."""
# name = '…', "name": '…', name: decode('…'), read from the string to the left.
_NAME_BACKWARDS = re.compile(
    r"\s*(?:\(\s*[\w$.]{1,40}\s*)?[:=]\s*[\"']?([\w$]{1,40}[A-Za-z_$])(?![\w$])"
)
_NAME_CHARS = 120
_BESIDE_NAME = frozenset(":=( \t\r\n")
_JOINED = re.compile(r"\s*\+\s*(?=[\"'`])")
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.S
)
_ESCAPED = {
    "n": "\n",
    "r": "",
    "t": " ",
    "b": "",
    "f": "",
    "v": "",
    "0": "",
    "\n": "",
    "\r": "",
    "\r\n": "",
    "\u2028": "",
    "\u2029": "",
}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class ScriptString(NamedTuple):
    """A string of a script.

    Attributes:
        name: of the variable or property it is the value of, also as the argument of one call
            (``content: JsDecode('…')``); "" for any other string.
        written: as the script writes it, without its quotes; ``'…' + '…'`` is one.
    """

    name: str
    written: str


def named_strings(source: str) -> Iterator[ScriptString]:
    """The strings of *source* that have a name, in order."""
    name, parts, goes_on_at = "", [""], -1
    for start, end in string_spans(source):
        if start == goes_on_at:
            parts.append(source[start + 1 : end - 1])
        else:
            if name:
                yield ScriptString(name, "".join(parts))
            name, parts = _name_before(source, start), [source[start + 1 : end - 1]]
        joined = _JOINED.match(source, end) if name else None
        goes_on_at = joined.end() if joined else -1
    if name:
        yield ScriptString(name, "".join(parts))


def string_spans(source: str) -> Iterator[tuple[int, int]]:
    """(start, end) of every string of *source* with its quotes; of templates those without ``${``.

    Example:
        >>> source = "a = /[/'\\"]/; b = 'one' /* it's */ + `two ${x ? 'three' : ''}`"
        >>> [source[start:end] for start, end in string_spans(source)]
        ["'one'", "'three'", "''"]
    """
    at = comment = divides_until = 0
    depths: list[int] = []  # of braces, in each ${ that is open
    for _ in range(MAX_MARKS):
        found = (_MARK_OR_BRACE if depths else _MARK).search(source, at)
        if found is None:
            return
        start, mark = found.start(), found[0]
        if mark in _STRINGS:
            string = _STRINGS[mark].match(source, start)
            at = string.end() if string else _line_end(source, start)
            if string:
                yield start, at
        elif mark == "`" or (mark == "}" and not depths[-1]):
            if mark == "}":
                depths.pop()
            end = _template_text_end(source, start + 1)
            if source.startswith("${", end):
                depths.append(0)
                at = end + 2
            else:
                at = end + 1
                if mark == "`" and source.startswith("`", end):
                    yield start, at
        elif mark in "{}":
            depths[-1] += 1 if mark == "{" else -1
            at = start + 1
        elif mark == "/" and source[start + 1 : start + 2] not in ("/", "*"):
            at = start + 1
            before = _before(source, start, comment)
            if before is not _VALUE and start >= divides_until:
                pattern = _REGEX.match(source, start)
                if pattern is None:  # no later slash of the line can begin one: they divide
                    divides_until = _line_end(source, start)
                elif before is not _BRACKET or _TRIED_AT_ONCE.match(source, pattern.end()):
                    at = pattern.end()
        else:
            at, comment = _comment_end(source, start), start


def unescape(written: str) -> str:
    """The value of a JavaScript string literal without its quotes."""
    if "\\" not in written:
        return written
    return repair_surrogates(_ESCAPE.sub(_escape, written))


def repair_surrogates(text: str) -> str:
    """*text* with surrogates joined to the characters they stand for, lone ones replaced."""
    text = _SURROGATES.sub(
        lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text
    )
    return _LONE_SURROGATE.sub("\ufffd", text)


def _name_before(source: str, start: int) -> str:
    if source[start - 1 : start] not in _BESIDE_NAME:
        return ""
    match = _NAME_BACKWARDS.match(source[max(0, start - _NAME_CHARS) : start][::-1])
    return match[1][::-1] if match else ""


def _line_end(source: str, at: int) -> int:
    end = source.find("\n", at)
    return end if end >= 0 else len(source)


def _comment_end(source: str, start: int) -> int:
    if not source.startswith("/*", start):
        return _line_end(source, start)
    end = source.find("*/", start + 2)
    return end + 2 if end >= 0 else len(source)


def _template_text_end(source: str, at: int) -> int:
    """Where the text of a template that goes on at *at* ends: at a quote, ``${`` or the end."""
    text = _TEMPLATE_TEXT.match(source, at)
    return text.end() if text else at


def _before(source: str, slash: int, comment: int) -> str:
    """What stands before a slash: a value, which it divides, a closing bracket or an operator.

    Args:
        comment: where the last comment begins.
    """
    head = source[max(0, slash - _MOST_BLANKS) : slash].rstrip()
    if head.endswith("*/"):
        head = source[max(0, comment - _MOST_BLANKS) : comment].rstrip()
    word = _LAST_WORD.search(head[-_MAX_WORD:])
    if word is not None:
        return _OPERATOR if word[0] in _BEFORE_VALUE else _VALUE
    last = head[-1:]
    return _BRACKET if last == ")" else _VALUE if last in ("]", '"', "'", "`") else _OPERATOR


def _escape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        number = int(code, 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return _ESCAPED.get(match[4], match[4])
