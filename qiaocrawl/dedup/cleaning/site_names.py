"""Recognises names of sites and channels by a list or by their shape **(ours)**.

Extraction may cut what stands elsewhere in the page (:mod:`qiaocrawl.extract.fields.site_suffix`).
Here is a title and no page, so fewer endings count as a name's shape, and everyday words that
end alike (互联网, 颜值在线) are told apart. The words are data: ``data/site_names.toml``.
"""

from __future__ import annotations

import re
import tomllib
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
