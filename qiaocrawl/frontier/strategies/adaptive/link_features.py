"""Features of one URL or one anchor: numbers, words and groups."""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

TABLE_SIZE = 1 << 17
"""Groups of links share a table by hash; a site has a few hundred."""
WORDS_SIZE = 1 << 16
"""Words share a table by hash."""
URL_NUMBERS = 7
GROUPS = 4

# Numbers become "#": /2024/05/18/ and /2023/11/02/ are one folder.
_DIGITS = re.compile(r"\d+")
_NO_WORD = re.compile(r"[^0-9a-zA-Z\u4e00-\u9fff]+")
# "2", "next page", "下一页", "后一页", "末页", "»"; not "第2章" or "更多精彩".
_PAGER = re.compile(
    r"\W*(\d{1,4}|next( page)?|older( posts)?|more|下一?[页頁]|[后上]一页|更多|[末尾]页|\W)\W*",
    re.IGNORECASE,
)
_MAX_FORM_CHARS = 12
_LONG_PATH_CHARS = 80
_MANY_WORDS = 8


@dataclass(frozen=True, slots=True)
class UrlFeatures:
    """What a URL tells.

    Attributes:
        groups: places in the table of yields, of the host, its section (first folder), its
            folder, and its folder with the form of the last part, numbers as ``#``.
        numbers: in [0, 1]: how short the path is, whether it is the root, ends in a folder, has
            a query, has digits, ends in a file, and how long it is.
        words: the path and query as text.
    """

    groups: tuple[int, int, int, int]
    numbers: tuple[float, float, float, float, float, float, float]
    words: str


def url_features(url: str, host: str) -> UrlFeatures:
    """The features of a canonical *url*; any text will do."""
    # "http://news.example/a/b?c" gives "a/b?c".
    rest = url.partition("://")[2].partition("/")[2]
    path, _, query = rest.partition("?")
    parts = path.split("/")
    folders = [_DIGITS.sub("#", part) for part in parts[:-1]]
    # Empty parts come from a trailing or a double slash.
    named = [part for part in parts if part]
    last = _DIGITS.sub("#", parts[-1])
    # "html" of "content_#.html", "/" of a folder's URL, "" of a last part without a dot.
    ending = last.rpartition(".")[2] if "." in last else "/" if not last else ""
    # "content_#.html" gives "_#.": how a site writes its articles, whatever words stand there.
    marks = "".join(char for char in last if not char.isalpha())[:_MAX_FORM_CHARS]
    folder = f"{host}/{'/'.join(folders)}"
    section = f"{host}/{folders[0] if folders else ''}"
    # Path, kind of file and writing together: the URLs of one template of a site.
    form = f"{folder}/{ending}{marks}{'?' if query else ''}"
    return UrlFeatures(
        groups=(place("host", host), place("section", section), place("folder", folder),
                place("form", form)),
        numbers=(
            math.exp(-0.7 * len(named)), float(not named), float(not parts[-1]), float(bool(query)),
            float(bool(_DIGITS.search(path))), float("." in parts[-1]),
            min(1.0, len(path) / _LONG_PATH_CHARS),
        ),
        words=_NO_WORD.sub(" ", unquote(rest, errors="replace")),
    )  # fmt: skip


@lru_cache(maxsize=8_192)
def place(kind: str, name: str) -> int:
    """Where the group *name* of a kind stands in the table of yields."""
    # A CRC, not hash(): models are stored, and hash() differs from process to process.
    return zlib.crc32(f"{kind}|{name}".encode("utf-8", "replace")) % TABLE_SIZE


def word_place(kind: str, word: str) -> int:
    """Where *word* as part of an anchor or a URL stands in the table of words."""
    return zlib.crc32(f"{kind}|{word}".encode("utf-8", "replace")) % WORDS_SIZE


def anchor_length(words: int) -> float:
    """How many words an anchor has, in [0, 1]."""
    return min(1.0, words / _MANY_WORDS)


# Cached: the anchors of a site's navigation stand on every page.
@lru_cache(maxsize=8_192)
def is_pager(anchor: str) -> bool:
    """Whether *anchor* only leads to the next pages of a list, such as ``3``, ``下一页``, ``»``."""
    return bool(anchor) and _PAGER.fullmatch(anchor.strip()) is not None


def singular(word: str) -> str:
    """An English *word* without its plural s, so that 'students' meets 'student'."""
    # "news" becomes "new", here and in the words of the topic alike; "glass" stays whole.
    if len(word) > 3 and word.isascii() and word[-1] == "s" and word[-2] != "s":
        return word[:-1]
    return word
