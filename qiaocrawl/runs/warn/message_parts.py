"""Long messages in parts that a channel takes: by its bytes, never within a character."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _in_json(text: str) -> int:
    # apprise sends every character beyond ASCII as six bytes, \uXXXX.
    return len(json.dumps(text)) - 2


@dataclass(frozen=True, slots=True)
class Room:
    """How much a channel takes at once, title and text together.

    Attributes:
        measure: how much a text takes of it; what characters take adds up.
    """

    most: int
    measure: Callable[[str], int]


# Those whose services count bytes; all others count characters, as apprise knows.
_ROOMS: Mapping[str, Room] = {
    "wecombot": Room(2_048, _utf8), "wechat": Room(2_048, _utf8),
    # Of the whole request, of which some hundred are no text. Feishu says 20 KB in one place and
    # 30 in another.
    "dingtalk": Room(19_500, _in_json), "feishu": Room(19_500, _in_json),
    "lark": Room(19_500, _in_json),
    # Apple's, with the rest of the request; beyond it ntfy makes a file of a message.
    "bark": Room(3_500, _utf8), "ntfy": Room(4_000, _utf8),
    "schan": Room(32_000, _utf8),
}  # fmt: skip
# Of the characters a service takes: tags and entities that the text becomes take some.
_SHARE_OF_CHARACTERS = 0.9
# A title is said with each part, but leaves the text so much of the room.
_TITLE_SHARE = 0.25
# What belongs to the character before it.
_JOINED = "\u200d\ufe0e\ufe0f"
# Where to cut rather than anywhere, the best first.
# Full stops of other scripts stand in addresses, too.
_BREAKS = ("\n\n", "\n", "。！？；", "，、 ")


class Part(NamedTuple):
    """A part of a message; ``end`` is the place in the whole text that it goes to."""

    title: str
    text: str
    end: int


def room_of(service: str, most_characters: int, unknown: int) -> Room | None:
    """How much the channel of a service takes at once; None where nobody knows a limit.

    Args:
        most_characters: what apprise says of it.
        unknown: what apprise says where it knows nothing.
    """
    if (room := _ROOMS.get(service)) is not None:
        return room
    if most_characters == unknown:
        return None
    return Room(int(most_characters * _SHARE_OF_CHARACTERS), len)


def parts_of(title: str, text: str, room: Room | None) -> list[Part]:
    """A message in parts that fit, each with the title; numbered where there are several.

    The same message for the same room is the same parts.
    """
    # Title and text are joined by two characters, which take four bytes where they are escaped.
    if room is None or room.measure(title) + room.measure(text) + 4 <= room.most:
        return [Part(title, text, len(text))]
    short = _cut_title(title, room)
    digits = 1
    while True:
        number = "9" * digits
        head = room.measure(f"({number}/{number}) {short}") + 4
        spans = _spans(text, max(room.most - head, 1), room.measure)
        if len(spans) < 10**digits:
            break
        digits += 1
    return [
        Part(f"({place}/{len(spans)}) {short}", text[start:end].strip("\n"), end)
        for place, (start, end) in enumerate(spans, start=1)
    ]


def _cut_title(title: str, room: Room) -> str:
    most = int(room.most * _TITLE_SHARE)
    if room.measure(title) <= most:
        return title
    fitting = _spans(title, most - room.measure("…"), room.measure)[0][1]
    return f"{title[:fitting].rstrip()}…"


def _spans(text: str, most: int, measure: Callable[[str], int]) -> list[tuple[int, int]]:
    """Start and end of parts of *text* that take *most* each, one after another."""
    sizes = list(accumulate(map(measure, text), initial=0))
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        # At least a character, whatever it takes: else there would be no end.
        while end < len(text) and sizes[end + 1] - sizes[start] <= most:
            end += 1
        if end < len(text):
            end = _better_end(text, start, end)
        if text[start:end].strip():
            spans.append((start, end))
        start = end
    # Blank lines alone are no part; the last one goes to the end.
    return [*spans[:-1], (spans[-1][0], len(text))] if spans else [(0, len(text))]


def _better_end(text: str, start: int, end: int) -> int:
    """Where to cut *text* at *end* or somewhat before it."""
    # Half a part at least is used, so that no break makes many small ones.
    least = start + (end - start) // 2
    for marks in _BREAKS:
        found = (marks,) if marks.isspace() else tuple(marks)
        best = max(text.rfind(mark, least, end) + len(mark) for mark in found)
        if best > least:
            return best
    place = end
    while place > least and _belongs_to_before(text, place):
        place -= 1
    return place if place > least else end


def _belongs_to_before(text: str, place: int) -> bool:
    """Whether the sign at *place* is a part of the character before it."""
    sign = text[place]
    return sign in _JOINED or text[place - 1] == "\u200d" or unicodedata.combining(sign) != 0
