"""Features of one URL or one anchor: numbers, words and groups."""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from qiaocrawl.frontier.strategies.strategy import CrawlTopic

TABLE_SIZE = 1 << 17
"""Groups of links share a table by hash; a site has a few hundred."""
WORDS_SIZE = 1 << 16
"""Words share a table by hash."""

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
        groups=(
            place("host", host),
            place("section", section),
            place("folder", folder),
            place("form", form),
        ),
        numbers=(
            math.exp(-0.7 * len(named)),
            float(not named),
            float(not parts[-1]),
            float(bool(query)),
            float(bool(_DIGITS.search(path))),
            float("." in parts[-1]),
            min(1.0, len(path) / _LONG_PATH_CHARS),
        ),
        words=_NO_WORD.sub(" ", unquote(rest, errors="replace")),
    )


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


# --- The words of anchors, contexts and URLs, and how near they are to the topic ------------------

_REMEMBERED = 20_000
# A word learnt from samples counts this much of an expert's term (ours).
_LEARNT_SHARE = 0.3


class WordPlaces(NamedTuple):
    """The words of a short text.

    Attributes:
        weighed: places in the table of weights, different for anchors and URLs.
        plain: places of the same words in the table of the samples.
        similarity: to the topic, in [0, 1].
    """

    weighed: tuple[int, ...]
    plain: tuple[int, ...]
    similarity: float


class LinkText(NamedTuple):
    """What the texts of a link tell, wherever it stands.

    Attributes:
        anchor: the words of anchor and title.
        numbers: how near anchor and context are to the topic, how many words the anchor has,
            whether it is empty, and whether it only leads to the next pages of a list.
    """

    anchor: WordPlaces
    numbers: tuple[float, float, float, float, float]


class LinkWords:
    """Cuts short texts; what was cut before is remembered."""

    def __init__(self, topic: CrawlTopic) -> None:
        self._topic = topic
        self._weights = _weights(topic)
        # Cached: anchors and contexts of navigation are repeated on every page.
        self.of_url = lru_cache(_REMEMBERED)(self._of_url)
        self.of_anchor = lru_cache(_REMEMBERED)(self._of_anchor)
        self.of_context = lru_cache(_REMEMBERED)(self._of_context)
        # One look a link: most links of a page stand on the page before as well.
        self.of_link = lru_cache(_REMEMBERED)(self._of_link)
        topic.when_renewed(self._forget)

    def _forget(self) -> None:
        self._weights = _weights(self._topic)
        for cached in (self.of_url, self.of_anchor, self.of_context, self.of_link):
            cached.cache_clear()

    def words(self, text: str) -> tuple[str, ...]:
        """The different words of *text*, English ones without plural s."""
        return tuple(dict.fromkeys(map(singular, self._topic.page_words.count(text))))

    def _of_url(self, text: str) -> WordPlaces:
        return self._places("url", self.words(text))

    def _of_anchor(self, anchor: str, title: str) -> WordPlaces:
        # Many sites repeat the anchor as title: its words would count twice.
        both = f"{anchor} {title}" if title and title != anchor else anchor
        return self._places("anchor", self.words(both))

    def _of_context(self, text: str) -> float:
        return self._similarity(self.words(text)) if text else 0.0

    def _of_link(self, anchor: str, title: str, context: str) -> LinkText:
        words = self.of_anchor(anchor, title)
        return LinkText(
            words,
            (
                words.similarity,
                self.of_context(context),
                anchor_length(len(words.weighed)),
                float(not anchor),
                float(is_pager(anchor)),
            ),
        )

    def _places(self, kind: str, words: tuple[str, ...]) -> WordPlaces:
        return WordPlaces(
            # A word may mean more in an anchor than in a URL; the samples make no such difference.
            tuple(word_place(kind, word) for word in words),
            tuple(word_place("", word) for word in words),
            self._similarity(words),
        )

    def _similarity(self, words: tuple[str, ...]) -> float:
        """Sum of the topic's weights, the heaviest 1, over the root of the number of words."""
        total = sum(self._weights.get(word, 0.0) for word in words)
        return min(1.0, total / math.sqrt(len(words))) if total else 0.0


def _weights(topic: CrawlTopic) -> dict[str, float]:
    """The topic's weights, the heaviest 1, by singular."""
    profile = topic.profile
    heaviest = max(profile.weights.values(), default=1.0)
    return {
        singular(word): (1.0 if word in profile.terms else _LEARNT_SHARE) * weight / heaviest
        for word, weight in profile.weights.items()
    }
