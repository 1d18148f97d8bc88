"""Removes the names of site and channel from titles; names are learnt per host **(ours)**.

A title is cut piece by piece from its end, never at a sign alone. A piece is removed when it is a
name by list or shape (:mod:`~qiaocrawl.dedup.site_names`), when this host's titles keep
ending in it (:mod:`~qiaocrawl.dedup.site_names`), or when it is a channel's name
directly before one of these. Extraction, which has the page at hand, has removed some already.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.site_names import (
    BEGINNING,
    CHANNEL,
    ENDING,
    MAX_NAME_CHARS,
    HostEndings,
    Role,
    Separator,
    role_of,
    separators,
)
from qiaocrawl.dedup.vocabulary import SavedState, State, TermTable, pack, unpack
from qiaocrawl.items import TitleRecord
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import page_segmenter

MAX_TITLE_CHARS = 2_000
"""As much of a title as the store keeps. A longer one is a page's text in the wrong place: it
is neither cut nor learnt from, and the words behind are not looked at."""
# Letters that a cut by list or shape must leave; digits and the words of dates are none.
_LEAST_LETTERS = 4
_LEAST_LETTERS_LEARNT = 6
"""The same for a name that was learnt or stands in front: 北京天气 - 上海 is one title."""
_LEAST_LETTERS_COUNTED = 8
"""The same for being learnt from. Labels in front of titles (快讯 | …) are shorter."""
# Digits and the words of dates say nothing: of 2024年5月 nothing would be left as a title.
_NO_LETTER = r"[\W\d_年月日号期第周]"
# For 4 it matches "(anything but a letter, then a letter) four times" from the start.
_LEAVES = {
    least: re.compile(rf"(?:{_NO_LETTER}*(?!{_NO_LETTER}).){{{least}}}", re.DOTALL)
    for least in (_LEAST_LETTERS, _LEAST_LETTERS_LEARNT, _LEAST_LETTERS_COUNTED)
}
_OF_SENTENCES = frozenset("，。！？；…“”《》!?;")
# "第3期" and "第4期" are one title.
_DIGITS = re.compile("[0-9]+")
# Name, channels and region at the end of one title; more are not counted.
_MAX_LEARNT_PIECES = 5
# What sets off a name in front of a title; a hyphen does with spaces around it.
_BEFORE_TITLES = frozenset("|_>")


class TitleCleaner:
    """Removes names of sites and channels from titles. Not thread-safe.

    What :meth:`clean` gives depends on the sequence of :meth:`learn` calls alone, so processes
    that replay the same sequence agree. Memory: at most some 20 KB a host, usually 1 to 2 KB,
    and the *max_hosts* that were learnt from last are kept.
    """

    def __init__(self, max_hosts: int = 4096) -> None:
        """*max_hosts* is at least 1, else ValueError."""
        if max_hosts < 1:
            raise ValueError(f"max_hosts must be at least 1, got {max_hosts!r}")
        self._max_hosts = max_hosts
        self._hosts: OrderedDict[str, HostEndings] = OrderedDict()

    def clean(self, title: str, host: str = "") -> str:
        """*title* without names of its site and channels; as it is when it holds none.

        Never empty unless *title* is, and cleaning again changes nothing while nothing is
        learnt. The host's own names count only where *host* is given.
        """
        # A page's text in the wrong place is full of signs that separate nothing.
        separated = separators(title) if len(title) <= MAX_TITLE_CHARS else []
        if not separated:
            return title
        endings = self._hosts.get(host)
        end = _end_of_title(title, separated, endings)
        start = _start_of_title(title, end, separated, endings)
        return title[start:end] if (start, end) != (0, len(title)) else title

    def learn(self, title: str, host: str) -> bool:
        """Learn from the end of *title*; True when that changed what is known of *host*.

        Earlier titles of the host are worth cleaning again then. Titles without a separator
        and those of the host "" teach nothing. The same title again counts once.
        """
        signs = separators(title) if host and len(title) <= MAX_TITLE_CHARS else []
        if not signs:
            return False
        endings = self._hosts.get(host)
        if endings is None:
            endings = self._hosts[host] = HostEndings()
            if len(self._hosts) > self._max_hosts:
                self._hosts.popitem(last=False)
        else:
            self._hosts.move_to_end(host)
        is_ended = _is_ended(title, signs[-1])
        if not endings.is_new(_digest(title, signs, is_ended)):
            return False
        marked = _endings(title, signs, endings) if is_ended else []
        # Only what is shaped like a site's name is learnt here: labels such as 快讯
        # begin titles too.
        head = _key(title[: signs[0].start])
        if _may_begin(signs[0]) and role_of(head) is Role.SHAPED:
            marked.append(BEGINNING + head)
        return endings.count(marked, is_ended=is_ended)

    def to_state(self) -> dict[str, list[Any]]:
        """What is known of each host, as JSON has it, in the order they were learnt from."""
        return {host: endings.to_state() for host, endings in self._hosts.items()}

    def restore(self, saved: dict[str, list[Any]]) -> None:
        """Take up what was saved."""
        self._hosts = OrderedDict(
            (host, HostEndings.from_state(endings)) for host, endings in saved.items()
        )


def _end_of_title(title: str, signs: Sequence[Separator], endings: HostEndings | None) -> int:
    """Where the names at the end of *title* begin; its length when there are none."""
    end = title_end = len(title)
    behind = ""
    # From the end: of 标题_频道_网站 the site's name goes first, then the channel.
    for sign in reversed(signs):
        piece = title[sign.stop : end].strip()
        if piece and role_of(piece) is not Role.DATE:
            least = _letters_to_leave(piece, sign.kind, behind, endings)
            # match(title, 0, start): enough letters must be left of the sign.
            if not least or not _LEAVES[least].match(title, 0, sign.start):
                break
            title_end, behind = sign.start, sign.kind
        # An empty piece or a date is cut together with a name before it, never by itself.
        end = sign.start
    return title_end


def _letters_to_leave(piece: str, kind: str, behind: str, endings: HostEndings | None) -> int:
    """How many letters must remain when *piece* is cut; 0 when it is no name.

    Args:
        kind: of the sign before the piece.
        behind: kind of the sign before the name cut last, "" when the piece ends the title.
    """
    role = role_of(piece)
    if role is Role.CHANNEL and kind == behind:
        return _LEAST_LETTERS
    # A dash of the sentence may precede any word, so there the shape of a name proves nothing.
    if kind != ":" and (role is Role.NAME or (role is Role.SHAPED and kind != "—")):
        return _LEAST_LETTERS
    if endings is None or len(piece) > MAX_NAME_CHARS:
        return 0
    key = _key(piece)
    is_known = endings.knows(_mark(kind) + key) or (behind and endings.knows(CHANNEL + key))
    return _LEAST_LETTERS_LEARNT if is_known else 0


def _start_of_title(
    title: str, end: int, signs: Sequence[Separator], endings: HostEndings | None
) -> int:
    """Where the title begins behind names set off in front of it; 0 when there are none."""
    start = 0
    for sign in signs:
        if sign.start >= end or not _may_begin(sign):
            break
        head = _key(title[start : sign.start])
        is_name = role_of(head) is Role.NAME or (endings and endings.knows(BEGINNING + head))
        if not is_name or not _LEAVES[_LEAST_LETTERS_LEARNT].match(title, sign.stop, end):
            break
        # Behind a name there may be another: 新华网 | 快讯 | ….
        start = sign.stop
    return start


def _may_begin(sign: Separator) -> bool:
    return sign.kind in _BEFORE_TITLES or (sign.kind == "-" and sign.is_spaced)


def _is_ended(title: str, last: Separator) -> bool:
    """Whether what stands behind the *last* separator may be a name: short, behind a title."""
    piece = title[last.stop :].strip()
    return (
        1 < len(piece) <= MAX_NAME_CHARS
        # "|123" is no name, and neither is an arrow.
        and any(map(str.isalpha, piece))
        and _OF_SENTENCES.isdisjoint(piece)
        and _LEAVES[_LEAST_LETTERS_COUNTED].match(title, 0, last.start) is not None
    )


def _endings(title: str, signs: Sequence[Separator], endings: HostEndings) -> list[str]:
    """The texts at the end of *title* that may be names and are not known without learning."""
    marked = []
    end, behind = len(title), ""
    for sign in reversed(signs[-_MAX_LEARNT_PIECES:]):
        piece = title[sign.stop : end].strip()
        if not _LEAVES[_LEAST_LETTERS_COUNTED].match(title, 0, sign.start):
            break
        least = _letters_to_leave(piece, sign.kind, behind, endings)
        if least != _LEAST_LETTERS and 1 < len(piece) <= MAX_NAME_CHARS:
            marked.append((CHANNEL if behind else _mark(sign.kind)) + _key(piece))
        if not least:
            break
        end, behind = sign.start, sign.kind
    return marked


def _digest(title: str, signs: Sequence[Separator], is_ended: bool) -> int:
    """32 bits of what *title* itself says, whatever digits, labels and names are around it.

    So neither one story in several channels nor a daily 天气预报 teaches that
    what differs between the titles is a channel.
    """
    # The part before the first sign is the title as a rule; where it is a label, the
    # longest piece is.
    core = title[: signs[0].start]
    if not _LEAVES[_LEAST_LETTERS_COUNTED].match(core):
        stops = [0, *(sign.stop for sign in signs)]
        starts = [*(sign.start for sign in signs), len(title)]
        pieces = [title[a:b] for a, b in zip(stops, starts, strict=True)]
        core = max(pieces[:-1] if is_ended else pieces, key=len)
    # "surrogatepass": titles of broken pages may hold half a pair.
    return crc32(_DIGITS.sub("0", _key(core)).encode("utf-8", "surrogatepass"))


def _mark(kind: str) -> str:
    """Most titles have a colon, so a name learnt after one gets a mark of its own."""
    return ENDING + kind if kind == ":" else ENDING


def _key(piece: str) -> str:
    # As it is compared: spaces and case differ between templates of one site.
    return " ".join(piece.split()).lower()


# --- Cleans titles, and finds earlier ones to clean again when a host taught something new --------

_MAX_HOSTS = 4096
# Of each host, those with separators: names are learnt within a few dozen titles.
_KEPT_TITLES = 64


class HostTitles:
    """Titles without the names of their sites; earlier titles are corrected later.

    Memory: the cleaner's, and up to 64 titles with separators of each of 4,096 hosts.
    """

    def __init__(self) -> None:
        self._cleaner = TitleCleaner(_MAX_HOSTS)
        self._titles: OrderedDict[str, deque[tuple[bytes, str]]] = OrderedDict()

    def learn(self, record: TitleRecord) -> bool:
        """Learn from *record* what its host adds to titles; True when that changed."""
        title = record.title
        if not record.host or len(title) > MAX_TITLE_CHARS or not separators(title):
            return False
        latest = self._titles.setdefault(record.host, deque(maxlen=_KEPT_TITLES))
        latest.append((record.key, title))
        self._titles.move_to_end(record.host)
        if len(self._titles) > _MAX_HOSTS:
            self._titles.popitem(last=False)
        return self._cleaner.learn(title, record.host)

    def forget(self, key: bytes, host: str) -> None:
        """Stop correcting the title of *key*: it was removed or replaced."""
        latest = self._titles.get(host, ())
        # Most titles that are removed have left the deque long ago: then nothing is copied.
        if any(key == other for other, _ in latest):
            rest = (entry for entry in latest if entry[0] != key)
            self._titles[host] = deque(rest, maxlen=_KEPT_TITLES)

    def to_state(self) -> State:
        """Titles that may be corrected, and what is known of hosts."""
        titles = [
            (host, [(key.hex(), title) for key, title in latest])
            for host, latest in self._titles.items()
        ]
        return {"hosts.titles": pack(titles), "hosts.endings": pack(self._cleaner.to_state())}

    def restore(self, state: SavedState) -> None:
        """Take up what was saved."""
        self._titles = OrderedDict(
            (host, deque(((bytes.fromhex(key), title) for key, title in latest), _KEPT_TITLES))
            for host, latest in unpack(state["hosts.titles"])
        )
        self._cleaner.restore(unpack(state["hosts.endings"]))

    def clean(self, record: TitleRecord) -> str:
        """The title of *record* without names of its site and channels."""
        return self._cleaner.clean(record.title, record.host)

    def earlier(self, host: str) -> list[tuple[bytes, str]]:
        """Key and title, cleaned as of now, of the *host*'s latest titles with separators."""
        latest = self._titles.get(host, ())
        return [(key, self._cleaner.clean(title, host)) for key, title in latest]


# --- Titles to the numbers of their words, many at a time -----------------------------------------

MAX_WORDS = 255
"""A title has about ten words; more is a page's text in the wrong place."""
_MAX_WORD_CHARS = 64


class TitleBatch(NamedTuple):
    """Titles as word numbers: title i is ``words[starts[i]:starts[i + 1]]``."""

    words: NDArray[np.int32]
    starts: NDArray[np.int64]


def line_of(title: str) -> str:
    """*title* as it is cut: without line breaks, which separate titles that are cut together."""
    return " ".join(title[:MAX_TITLE_CHARS].split())


class TitleWords:
    """Cuts titles into words as pages are; words are folded, so scripts and widths are one.

    What holds no letter or digit (punctuation, ``-``, ``_``) does not count.

    Args:
        table: gives each word its number.
        terms: words to keep whole, such as those of a topic pack.
    """

    def __init__(self, table: TermTable, terms: Iterable[str] = ()) -> None:
        self._table = table
        self._segmenter = page_segmenter(map(fold, terms))

    def of(self, titles: Sequence[str]) -> TitleBatch:
        """The words of each of *titles* by number, in order; at most 255 of each."""
        lines = list(map(line_of, titles))
        # One call for all: folding and cutting cost less than calling.
        words = self._segmenter.words(fold("\n".join(lines)))
        breaks = [at for at, word in enumerate(words) if word == "\n"]
        if len(breaks) != len(titles) - 1:
            # Some letter turned into a line end, or joined one.
            cut = [self._segmenter.words(fold(line)) for line in lines]
            words = [word for line in cut for word in line]
            ends = np.cumsum([len(line) for line in cut], dtype=np.int64)
        else:
            ends = np.array([*breaks, len(words)])
        # max() first: nearly no batch has such a word.
        if max(map(len, words), default=0) > _MAX_WORD_CHARS:
            words = [word[:_MAX_WORD_CHARS] for word in words]
        return _without_marks(self._table.ids(words), ends)

    def of_cut(self, words: Sequence[str]) -> TitleBatch:
        """What :meth:`of` gives for the one title whose words are *words*.

        Args:
            words: by :meth:`Segmenter.terms` of the same backend with the same terms.
        """
        kept = [word[:_MAX_WORD_CHARS] for word in words]
        return _without_marks(self._table.ids(kept), np.array([len(kept)]))

    def texts(self, titles: Sequence[str]) -> list[list[str]]:
        """The words of each of *titles* as text: what a snapshot counts."""
        batch = self.of(titles)
        names = self._table.words()
        bounds = zip(batch.starts[:-1].tolist(), batch.starts[1:].tolist(), strict=True)
        return [[names[term] for term in batch.words[start:end]] for start, end in bounds]


def _without_marks(numbers: NDArray[np.int32], ends: NDArray[np.int64]) -> TitleBatch:
    """*numbers* of titles that end at *ends*, without punctuation marks (-1)."""
    if len(ends) == 1:
        # A crawl brings one title at a time; all the sums below would cost more than its words.
        words = numbers[numbers >= 0][:MAX_WORDS]
        return TitleBatch(words, np.array([0, len(words)], np.int64))
    # -1 is a mark, no word: the sums say how many words stand before each place.
    counted = np.concatenate(([0], np.cumsum(numbers >= 0)))
    starts = np.concatenate(([0], counted[ends]))
    words = numbers[numbers >= 0]
    lengths = np.diff(starts)
    if lengths.max(initial=0) <= MAX_WORDS:
        return TitleBatch(words, starts)
    cut = [words[start : start + MAX_WORDS] for start in starts[:-1].tolist()]
    cut = [part[:length] for part, length in zip(cut, lengths.tolist(), strict=True)]
    starts = np.concatenate(([0], np.cumsum(np.minimum(lengths, MAX_WORDS))))
    return TitleBatch(np.concatenate(cut), starts)
