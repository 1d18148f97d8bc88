"""Word segmentation: jieba as the reference and for parts of speech, rjieba for many texts."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import compress
from typing import Any, Literal, get_args

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.normalise import fold
from qiaocrawl.vsm.terms import counts_with_beginnings, word_tags

# --- jieba: the reference for words, and the only source of parts of speech -----------------------

TERM_TAG = "n"
"""Part of speech of a term that jieba's dictionary does not know; jieba itself would say "x",
as of a punctuation mark."""
# jieba's time grows with the square of a run of letters that its dictionary does not know. So much
# Chinese without any mark is no prose; a word where it is cut may become two.
_LONGEST = 2_000
# Up to the last character that jieba never joins with another.
_TO_LAST_MARK = re.compile("(?s).*[^\u4e00-\u9fd5a-zA-Z0-9+#&._%\\-\r]")


class JiebaCutter:
    """jieba with a dictionary of its own.

    Args:
        terms: words of Chinese characters to add, shorter ones first: a frequency that keeps a
            word whole is reckoned from those of its parts.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        frequencies, total = _base_dictionary()
        self._jieba = _jieba().Tokenizer()
        self._jieba.FREQ, self._jieba.total = dict(frequencies), total
        # jieba would read its dictionary file again; ours is shared by all cutters of the process.
        self._jieba.initialized = True
        for term in terms:
            self._add(term)

    def words(self, text: str) -> list[str]:
        """The words of *text*."""
        if len(text) <= _LONGEST:
            return list(self._jieba.cut(text))
        return [word for stretch in _stretches(text) for word in self._jieba.cut(stretch)]

    def tags(self, text: str) -> Iterator[tuple[str, str]]:
        """The words of *text* as jieba's tagger cuts them, with their tags."""
        for stretch in _stretches(text):
            for pair in self._tagger.cut(stretch):
                yield pair.word, pair.flag

    def _add(self, term: str) -> None:
        # A term that is kept whole already needs no entry.
        if list(self._jieba.cut(term, HMM=False)) == [term]:
            return
        frequency = self._jieba.FREQ.get(term, 0)
        self._jieba.add_word(term, tag=None if frequency else TERM_TAG)
        # add_word() adds the new frequency to the total without taking the old one away.
        self._jieba.total -= frequency

    @cached_property
    def _tagger(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba.posseg as posseg
        # Its constructor would read the 349,000 lines of the dictionary once more: a second.
        tagger = posseg.POSTokenizer.__new__(posseg.POSTokenizer)
        tagger.tokenizer, tagger.word_tag_tab = self._jieba, dict(word_tags())
        return tagger


def _stretches(text: str) -> Iterator[str]:
    """*text* in pieces of 2,000 characters at most, cut behind marks where there are any."""
    start = 0
    while len(text) - start > _LONGEST:
        window = text[start : start + _LONGEST]
        mark = _TO_LAST_MARK.match(window)
        stretch = window if mark is None else mark[0]
        start += len(stretch)
        yield stretch
    yield text[start:]


@cache
def _jieba() -> Any:
    with warnings.catch_warnings():
        # jieba imports pkg_resources, which warns that it is going away.
        warnings.simplefilter("ignore")
        import jieba
    return jieba


@cache
def _base_dictionary() -> tuple[dict[str, int], int]:
    """jieba's word frequencies and their sum, read once a process.

    Read past jieba's own cache: that is a file of a fixed name in the shared temporary
    folder, where anyone on the machine could have put another one.
    """
    _jieba().setLogLevel(logging.WARNING)
    return counts_with_beginnings()


# --- rjieba, jieba's compiled twin, made to agree with it where it differs on purpose -------------

# rjieba keeps ``gpt-4``, ``24-25`` and ``1.2.3`` whole, which jieba cuts.
_JOINED = re.compile("[-._](?<=[0-9A-Za-z].)(?=[0-9A-Za-z])")
# What jieba keeps whole of such a run (``re_skip`` in ``jieba/finalseg``).
_RUN = re.compile("([a-zA-Z0-9]+(?:\\.[0-9]+)?%?)")
# Lone surrogates, which rjieba does not take, and rare Chinese characters, which it joins with
# others; to jieba each is a mark by itself.
_APART = re.compile(
    "([\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\ud800-\udfff"
    "\U00020000-\U0002ebef\U0002f800-\U0002fa1f])"
)

_COMPILED = "rjieba.rjieba"


class RjiebaCutter:
    """rjieba with terms in its dictionary.

    Args:
        terms: words of Chinese characters to add, shorter ones first.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._rjieba = _dictionary(tuple(terms))

    def words(self, text: str) -> list[str]:
        """The words of *text*."""
        if _APART.search(text) is None:
            return self._cut(text)
        return [word for piece in _APART.split(text) if piece for word in self._cut(piece)]

    def tags(self, text: str) -> list[tuple[str, str]]:
        """The words of *text* (no lone surrogates) with their parts of speech: some fifty times as
        fast as jieba's tagger, which knows more about what no dictionary has."""
        pairs: list[tuple[str, str]] = self._rjieba.tag(text)
        return pairs

    def _cut(self, text: str) -> list[str]:
        if len(text) == 1:
            return [text]
        words: list[str] = self._rjieba.cut(text)
        if _JOINED.search(text) is None:
            return words
        # Asking all words at once whether they are ASCII costs a quarter of a loop.
        ascii_words = compress(range(len(words)), map(str.isascii, words))
        return _cut_up(words, (at for at in ascii_words if _JOINED.search(words[at])))


@lru_cache(maxsize=4)
def _dictionary(terms: tuple[str, ...]) -> Any:
    """Shared by all of the same terms, as nothing changes it: it takes 0.1 s to read, and 25 MB."""
    dictionary = _spare.pop() if _spare else _kind()()
    for term in terms:
        if dictionary.cut(term, False) != [term]:
            dictionary.add_word(term, None, None)
    return dictionary


# A plain one for whoever asks for the first dictionary, terms and all.
_spare: list[Any] = []


def load_spare() -> None:
    """Fill the dictionary that the next new one begins with: in a process that others are forked
    from, each of them adds its terms to a copy, of which the kernel makes what differs."""
    _spare[:] = [_kind()()]


@cache
def _kind() -> Any:
    """rjieba's class, without the dictionary that the package fills for itself when imported."""
    # An import of the package from elsewhere finds its compiled part here, and uses it.
    package = find_spec("rjieba")
    folders = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec(_COMPILED, folders)
    if _COMPILED in sys.modules or spec is None or spec.loader is None:
        return import_module("rjieba").Jieba
    sys.modules[_COMPILED] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Jieba


def _cut_up(words: list[str], places: Iterable[int]) -> list[str]:
    """*words*, those at *places* cut as jieba does."""
    result: list[str] = []
    done = 0
    for at in places:
        result += words[done:at]
        result += filter(None, _RUN.split(words[at]))
        done = at + 1
    result += words[done:]
    return result


# --- Word segmentation: jieba as the reference and for parts of speech, rjieba for many texts -----

Backend = Literal["jieba", "rjieba"]

# What both dictionaries can hold. Longer entries are sentences, and jieba stores every prefix of an
# entry; in a run of Latin letters a dictionary finds ``ai`` in ``email``.
_DICTIONARY_TERM = re.compile("[\u4e00-\u9fd5]{1,40}")
# Letters and digits of the scripts that set words apart: between two of them is no border.
_LETTER = "[^\\W_\u2e80-\U0010ffff]"


class Segmenter:
    """Cuts text into words, topic terms whole; no state is shared between instances.

    The backends are jieba (pure Python) and rjieba (Rust, about fifteen times as fast). They
    give the same words: what rjieba joins on purpose (``gpt-4``, ``24-25``, ``1.4nm``, rare
    characters in a row) is cut as jieba does. What remains is repeated characters whose cuts
    are equally likely (``好|好好``, ``好好|好``), where the last bit of a logarithm decides: six
    of 100,000 titles with a topic's terms, none without; and runs of more than 2,000 letters
    without any mark, which jieba gets in pieces.

    Args:
        terms: words to keep whole, such as the terms of a topic pack, in the form of the texts
            (folded, if those are). A term of Chinese characters goes into the dictionary: it
            is kept whole by itself and between marks, but within other characters the
            likelier cut decides (华人 is not found in 中华人民), and of terms that overlap the
            likelier one. Any other term (Latin letters, digits, spaces, ``·``, more than 40
            characters) is kept whole wherever it stands, but not inside a longer run of Latin
            letters or digits; of those that begin at one place the longest is. Terms with a
            line end are left out.
        backend: ``"jieba"`` or ``"rjieba"``.

    Raises:
        ConfigError: an unknown backend.
    """

    def __init__(self, terms: Iterable[str] = (), backend: Backend = "jieba") -> None:
        self.backend = backend
        plain = {term for term in map(str.strip, terms) if term and "\n" not in term}
        phrases = {term for term in plain if not _DICTIONARY_TERM.fullmatch(term)}
        self._terms = sorted(plain - phrases, key=_length_first)
        self._phrases = _any_of(sorted(phrases, key=_length_first, reverse=True))
        self._jieba: JiebaCutter | None = None
        if backend == "jieba":
            self._jieba = JiebaCutter(self._terms)
            self._cut = self._jieba.words
        elif backend == "rjieba":
            self._cut = RjiebaCutter(self._terms).words
        else:
            raise _unknown(backend)

    def words(self, text: str) -> list[str]:
        """The words of *text*, white space and punctuation included: joined they give it back."""
        if self._phrases is None or self._phrases.search(text) is None:
            return self._cut(text)
        # Splitting at a group keeps it: every other piece is a phrase.
        pieces = self._phrases.split(text)
        words = self._cut(pieces[0])
        for phrase, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            words.append(phrase)
            words += self._cut(piece)
        return words

    def terms(self, text: str) -> list[str]:
        """The words of *text*, folded, that hold a letter or digit: what is counted."""
        return [word for word in self.words(fold(text)) if _has_letter(word)]

    def tags(self, text: str) -> list[tuple[str, str]]:
        """The words of *text* with jieba's part-of-speech tags (ICTCLAS letters).

        Whatever the backend, these are the words of jieba's tagger, which cuts what is in no
        dictionary in its own way and up to a hundred times as slowly. Terms unknown to jieba
        are nouns.
        """
        if self._jieba is None:
            self._jieba = JiebaCutter(self._terms)
        pieces = [text] if self._phrases is None else self._phrases.split(text)
        tags: list[tuple[str, str]] = []
        for number, piece in enumerate(pieces):
            tags += [(piece, TERM_TAG)] if number % 2 else self._jieba.tags(piece)
        return tags


_chosen: list[Backend] = ["rjieba"]


def use_segmenter(backend: Backend) -> None:
    """Have *backend* cut pages and titles in this process from now on.

    Raises:
        ConfigError: an unknown backend.
    """
    if backend not in get_args(Backend):
        raise _unknown(backend)
    _chosen[:] = [backend]


def page_segmenter(terms: Iterable[str]) -> Segmenter:
    """What cuts pages and titles with *terms* whole, by the backend of :func:`use_segmenter`."""
    if _chosen == ["jieba"]:
        return _by_jieba(tuple(sorted(set(terms))))
    return Segmenter(terms, "rjieba")


# Index of titles, scorers and crawl order cut with the same terms.
@lru_cache(maxsize=4)
def _by_jieba(terms: tuple[str, ...]) -> Segmenter:
    """Shared, as nothing changes it: jieba fills a dictionary of 500,000 entries for each."""
    return Segmenter(terms, "jieba")


def _unknown(backend: object) -> ConfigError:
    return ConfigError(
        _("unknown segmenter {backend!r} (there are: jieba, rjieba)", backend=backend)
    )


def _length_first(term: str) -> tuple[int, str]:
    return len(term), term


def _any_of(phrases: list[str]) -> re.Pattern[str] | None:
    """A pattern whose one group is any of *phrases*, the first that fits; None without any."""
    if not phrases:
        return None
    joined = "|".join(map(_phrase_pattern, phrases))
    # Testing one character first is what makes the search fast.
    starts = "".join(sorted({re.escape(phrase[0]) for phrase in phrases}))
    return re.compile(f"(?=[{starts}])({joined})")


def _phrase_pattern(phrase: str) -> str:
    before = f"(?<!{_LETTER})" if re.match(_LETTER, phrase[0]) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, phrase[-1]) else ""
    return f"{before}{re.escape(phrase)}{after}"


def _has_letter(word: str) -> bool:
    return word.isalnum() or (len(word) > 1 and any(letter.isalnum() for letter in word))
