"""Recognises names of sites and channels by a list or by their shape **(ours)**.

Extraction may cut what stands elsewhere in the page (:mod:`qiaocrawl.extract.fields.origin`).
Here is a title and no page, so fewer endings count as a name's shape, and everyday words that
end alike (互联网, 颜值在线) are told apart. The words are data: ``data/site_names.toml``.
"""

from __future__ import annotations

import re
import tomllib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from qiaocrawl.text.normalise import fold

MAX_NAME_CHARS = 48
"""Longer texts are no names: a ministry's in English has about as many."""
# Pieces of titles whose role is remembered, some 3 MB; one costs 5 to 20 us to work out.
_CACHE_SIZE = 8192
# As 海外华人社区新闻; what is longer and ends so is a headline of its own.
_MAX_CHANNEL_CHARS = 8
# "新华网", "36氪新闻": a few Latin letters or digits, then Chinese.
_HAN_NAME = re.compile("[a-z0-9]{0,8}[\u3400-\u9fff]{2,14}")
_LEAST_HAN_NAME = 3
# "www.xinhuanet.com"; "report.pdf" is none.
_DOMAIN = re.compile(
    r"(?:[a-z0-9-]+\.)+(?:com|net|org|info|news|tv|cn|hk|tw|mo|sg|my|jp|kr|uk|us|au|nz|ca|de|fr|eu)"
)
# "新浪 (sina.com)"; full-width brackets are folded before.
_BRACKETS = re.compile(r"(.+?)\s*\([^()]+\)$")
# "2024-05-18", "18/05/2024", "2024年5月18日"; both marks must be the same (\1).
_DATE = re.compile(
    r"(?:19|20)\d\d([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:19|20)\d\d"
    r"|(?:19|20)\d\d年\d{1,2}月\d{1,2}日"
)
_MAX_ENGLISH_WORDS = 4


class Role(Enum):
    """What a piece of a title is by itself, before anything is known of its host."""

    NAME = "a listed name of a site"
    SHAPED = "called as sites are"
    CHANNEL = "a channel's name, when it stands before a site's"
    DATE = "a date, as some sites put behind their name"
    OTHER = "anything else"


@dataclass(frozen=True)
class _Words:
    names: frozenset[str]
    channels: frozenset[str]
    endings: tuple[str, ...]
    not_names: tuple[str, ...]
    not_in_names: frozenset[str]
    channel_endings: tuple[str, ...]
    english_endings: frozenset[str]
    not_in_english_names: frozenset[str]


@lru_cache(maxsize=_CACHE_SIZE)
def role_of(piece: str) -> Role:
    """The role of *piece*, a part of a title between separators; scripts make no difference.

    Several names in a row (中央社 CNA; a name twice) are a name, and so is a name with its
    channel (新浪财经) or with an address in brackets. Longer than 48 characters: OTHER.
    """
    if len(piece) > MAX_NAME_CHARS:
        return Role.OTHER
    text = " ".join(fold(piece).split())
    bare = _BRACKETS.fullmatch(text)
    role = _role(bare[1] if bare else text)
    if role is not Role.OTHER or " " not in text:
        return role
    # "中央社 CNA": a name if each word is one.
    roles = [_role(word) for word in text.split(" ")]
    if Role.OTHER in roles or Role.DATE in roles:
        return Role.OTHER
    # NAME before SHAPED: what is listed is surer than what only looks so. Channels alone
    # are no name.
    return next((role for role in (Role.NAME, Role.SHAPED) if role in roles), Role.OTHER)


def _role(text: str) -> Role:
    words = _words()
    if text in words.names or _is_name_with_channel(text, words):
        return Role.NAME
    if text in words.channels:
        return Role.CHANNEL
    if _is_shaped(text, words):
        return Role.SHAPED
    if _DATE.fullmatch(text):
        return Role.DATE
    is_channel = len(text) <= _MAX_CHANNEL_CHARS and text.endswith(words.channel_endings)
    return Role.CHANNEL if is_channel and _is_phrase(text, words) else Role.OTHER


def _is_name_with_channel(text: str, words: _Words) -> bool:
    return any(
        text[:end] in words.names and text[end:].lstrip() in words.channels
        # At least two characters: shorter names are everyday words.
        for end in range(2, len(text))
    )


def _is_shaped(text: str, words: _Words) -> bool:
    if text.isascii():
        return _DOMAIN.fullmatch(text) is not None or _is_english_name(text, words)
    return (
        len(text) >= _LEAST_HAN_NAME
        and text.endswith(words.endings)
        and not text.endswith(words.not_names)
        and _is_phrase(text, words)
    )


def _is_phrase(text: str, words: _Words) -> bool:
    # not_in_names are single characters (的, 了 ...): a phrase with one is a sentence.
    return _HAN_NAME.fullmatch(text) is not None and words.not_in_names.isdisjoint(text)


def _is_english_name(text: str, words: _Words) -> bool:
    parts = text.split(" ")
    return (
        2 <= len(parts) <= _MAX_ENGLISH_WORDS
        and parts[-1] in words.english_endings
        and all(part.isalpha() for part in parts)
        and words.not_in_english_names.isdisjoint(parts)
    )


@cache
def _words() -> _Words:
    file = resources.files("qiaocrawl.dedup") / "data" / "site_names.toml"
    data: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    shape, channels = data["shape"], data["channels"]
    return _Words(
        names=frozenset(name for names in data["names"].values() for name in names),
        channels=frozenset(channels["words"]),
        endings=tuple(shape["endings"]),
        not_names=tuple(shape["not_names"]),
        not_in_names=frozenset(shape["not_in_names"]),
        channel_endings=tuple(channels["endings"]),
        english_endings=frozenset(shape["english_endings"]),
        not_in_english_names=frozenset(shape["not_in_english_names"]),
    )


# --- Splits a title at the signs that may separate the name of its site ---------------------------

# Signs that sites put before their name, by kind; a run of several is of the first kind here that
# is in it. 丨 is a character, but stands for a bar wherever it is met in headlines.
_KINDS = {
    "|": "|｜丨│┃∣¦",
    "_": "_＿",
    ">": ">»›＞",
    "-": "-－‐‑–−",
    "—": "—―─",
    "·": "·•・",
    ":": ":：",
}
_KIND_OF = {sign: kind for kind, signs in _KINDS.items() for sign in signs}
# Kinds that belong to the text without spaces around them: 张三：…, 科比·布莱恩特.
_SPACED_ONLY = "·:"


def _class_of(kinds: str) -> str:
    return "".join(re.escape(sign) for sign, kind in _KIND_OF.items() if kind in kinds)


# Strong signs separate wherever they stand, weak ones only between spaces.
_STRONG, _WEAK = _class_of("|_>-—"), _class_of(_SPACED_ONLY)
# Two searches for single characters cost a third of one with an alternative in it.
_HAS_STRONG = re.compile(f"[{_STRONG}]")
_HAS_WEAK = re.compile(rf"\s[{_WEAK}]\s")
# A run takes all signs and spaces up to the next piece: " - | ".
_RUN = re.compile(rf"(?:[{_STRONG}]|(?<=\s)[{_WEAK}](?=\s))[{_STRONG}{_WEAK}\s]*")


@dataclass(frozen=True, slots=True)
class Separator:
    """Signs between two pieces of a title.

    Attributes:
        start: where the piece before it ends, white space taken off.
        stop: where the next piece begins.
        kind: one of ``| _ > - — · :``, and ``--`` for several hyphens.
        is_spaced: whether white space stands before and behind the signs.
    """

    start: int
    stop: int
    kind: str
    is_spaced: bool


def separators(title: str) -> list[Separator]:
    """The separators of *title*, in order; [] for most titles, at the cost of one search.

    A hyphen inside a word (``4-0``, ``GPT-2``, ``歼-20``) is none, nor is a dot or a colon
    without space around it, nor what the title begins with.
    """
    if _HAS_STRONG.search(title) is None and _HAS_WEAK.search(title) is None:
        return []
    candidates = (_separator(title, run.start(), run.end()) for run in _RUN.finditer(title))
    return [separator for separator in candidates if separator is not None]


def _separator(title: str, begin: int, stop: int) -> Separator | None:
    before = title[:begin].rstrip()
    if not before:
        return None
    signs = [_KIND_OF[sign] for sign in title[begin:stop] if not sign.isspace()]
    # The first kind in the order of _KINDS, not of the title: "- |" is a bar.
    kind = next(kind for kind in _KINDS if kind in signs)
    is_spaced = len(before) < begin and (stop == len(title) or title[stop - 1].isspace())
    if kind == "-":
        if len(signs) > 1:
            kind = "--"
        elif begin == len(before) and _is_in_word(before[-1], title[begin + 1 : begin + 2]):
            return None
    return Separator(len(before), stop, kind, is_spaced)


def _is_in_word(before: str, behind: str) -> bool:
    """Whether a hyphen between these two is a word's: ``GPT-2``, ``4-0``, ``A-B``, ``歼-20``."""
    if behind.isdecimal():
        return before.isalnum()
    return before.isascii() and behind.isascii() and before.isalnum() and behind.isalnum()


# --- Counts what one host adds to its titles **(ours)**; does no I/O ------------------------------

ENDING, CHANNEL, BEGINNING = "$", "<", "^"
"""Marks before a text: ended a title, stood before a name that did, began a title."""
LEAST_TITLES = {ENDING: 4, CHANNEL: 3, BEGINNING: 4}
"""Different titles before a text is believed to be a name. A channel stands directly before a
name, which is evidence by itself."""
LEAST_SHARES = {ENDING: 0.2, CHANNEL: 0.02, BEGINNING: 0.5}
"""Of the titles that end in something short (of all with a separator for a beginning). A site
has one name and many channels; what begins titles may be a series' name, so it needs more."""
# At its trial's end a name is taken back below such a part of the share it was learnt at.
_LEAST_KEPT_SHARE = 0.5
WINDOW = 128
"""Titles after which counts are halved, so that a new name is learnt on an old host too."""
MAX_CANDIDATES = 48
"""Texts counted per host; the double may be held between two clearings."""
MAX_KNOWN = 48
"""Names per host; the one not met for longest goes first."""
MAX_SEEN = 64
"""Titles lately counted, as 4 bytes each: the same one again proves nothing."""


class HostEndings:
    """Counts of one host and the names learnt from them; at most some 20 KB.

    Deterministic: depends on the calls alone, on no clock, random number or process-local hash.
    """

    __slots__ = ("_counts", "_ended", "_known", "_seen", "_titles", "_turn")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._known: dict[str, bool] = {}
        # "I": four bytes a digest, where a list of integers would take forty.
        self._seen = array("I")
        self._titles = 0
        self._ended = 0
        self._turn = 0

    def knows(self, marked: str) -> bool:
        """Whether the *marked* text is a name of this host."""
        return marked in self._known

    def is_new(self, digest: int) -> bool:
        """Whether the title of this *digest* (32 bits) was not among the last 64; it is now."""
        if digest in self._seen:
            return False
        if len(self._seen) < MAX_SEEN:
            self._seen.append(digest)
        else:
            # A ring: the place of the oldest, once it is full.
            self._seen[self._turn % MAX_SEEN] = digest
        self._turn += 1
        return True

    def count(self, marked: Iterable[str], *, is_ended: bool) -> bool:
        """Count a new title that holds a separator; True when what is known has changed.

        Args:
            marked: texts of it that may be names, each with its mark in front.
            is_ended: whether its last piece may be a name, listed ones included.
        """
        self._titles += 1
        self._ended += is_ended
        is_changed = False
        for text in marked:
            # Re-inserted at the end: a dict keeps the order in which texts were met last.
            self._counts[text] = self._counts.pop(text, 0) + 1
            if text in self._known:
                self._known[text] = self._known.pop(text)
            elif self._is_believed(text, 1):
                self._add(text)
                is_changed = True
        if len(self._counts) > 2 * MAX_CANDIDATES:
            self._make_room()
        if self._titles >= WINDOW:
            is_changed |= self._end_trials()
            self._fade()
        return is_changed

    def to_state(self) -> list[Any]:
        """All that is known, as JSON has it; dicts are in order."""
        return [
            self._counts,
            self._known,
            self._seen.tolist(),
            self._titles,
            self._ended,
            self._turn,
        ]

    @classmethod
    def from_state(cls, saved: list[Any]) -> HostEndings:
        """The host that was saved."""
        host = cls()
        host._counts, host._known, seen, host._titles, host._ended, host._turn = saved
        host._seen = array("I", seen)
        return host

    def _is_believed(self, text: str, part: float) -> bool:
        titles = self._titles if text[0] == BEGINNING else self._ended
        # Both a number and a share: four of twenty titles make a name, four of two hundred do not.
        least = max(LEAST_TITLES[text[0]], LEAST_SHARES[text[0]] * titles)
        return self._counts.get(text, 0) >= part * least

    def _add(self, text: str) -> None:
        # On trial until the end of the window.
        self._known[text] = False
        if len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]

    def _make_room(self) -> None:
        """Keep the candidates met most often, of those met equally often the latest."""
        order = list(self._counts)
        places = {text: place for place, text in enumerate(order)}
        # Among equal counts the latest: an old candidate has had its time.
        order.sort(key=lambda text: (-self._counts[text], -places[text]))
        frequent = set(order[:MAX_CANDIDATES])
        self._counts = {text: n for text, n in self._counts.items() if text in frequent}

    def _end_trials(self) -> bool:
        """Take back what was learnt in this window and did not go on; the rest is proven.

        A proven name stays even if it is not seen again: earlier titles still carry it.
        """
        wrong = [
            text
            for text, is_proven in self._known.items()
            if not is_proven and not self._is_believed(text, _LEAST_KEPT_SHARE)
        ]
        for text in wrong:
            del self._known[text]
        # What was not taken back has passed.
        self._known = dict.fromkeys(self._known, True)
        return bool(wrong)

    def _fade(self) -> None:
        # Counts and totals alike, so that the shares stay as they are.
        self._titles //= 2
        self._ended //= 2
        self._counts = {text: n // 2 for text, n in self._counts.items() if n > 1}
