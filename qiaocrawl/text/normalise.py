"""Normal forms: one for matching (:func:`fold`), one for keeping (:func:`clean_text`)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any, cast

import opencc

# --- Variant letters that OpenCC's ``t2s`` keeps, since simplified text has them as well ----------
# Taiwan and Hong Kong write 看著, 屋簷, 衞生, 砲彈; simplified text has 看着, 屋檐, 卫生, 炮弹.
# OpenCC's ``tw2s`` would know of some, at three times the cost; but it knows nothing of
# Hong Kong, turns 土著 into 土着 and 么 into 幺, and with it text that is simplified already.

# Other shapes of one letter: whichever is written, the word is the same.
_SHAPES = dict(
    zip(
        "妳牠衞姪砲粧痺簷甦敍枱糭衹揹啣搾毬勦痲瞇嬝倣傚籐鎗燄餽賸繙伕穽糢欵鬦鬭",
        "你它卫侄炮妆痹檐苏叙台粽只背衔榨球剿麻眯袅仿效藤枪焰馈剩翻夫阱模款斗斗",
        strict=True,
    )
)
# Letters with a second reading that simplified text keeps: 看著 and 著作, 藉由 and 慰藉.
_TWO_READINGS = {"著": "着", "藉": "借", "瞭": "了", "彷": "仿", "祇": "只"}
_PLAIN = _SHAPES | _TWO_READINGS
_ANY = re.compile(f"[{''.join(_PLAIN)}]")

# Where the second reading is meant (ours): in the usual words, but not where two words meet
# that look like them (谈论着, 凸显着, 翻译着, 有着作用).
_KEPT = re.compile(
    "(?<=[名原专專土昭卓巨遗遺拙所撰编編])著|(?<=[显顯])(?<![彰凸突浮].)著"
    "|(?<=[论論])(?<![谈談议議讨討评評争爭].)著|(?<=[译譯])(?<![翻繙].)著"
    "|著(?=[名述称稱者]|作(?![用业業])|[书書]立)"
    "|(?<=[慰狼蕴蘊枕])藉|瞭(?=[望哨])|彷(?=[徨徉])|(?<=[神地灵靈])祇"
)


def plain_variants(text: str) -> str:
    """*text*, of either script, with the usual simplified letter for each variant.

    As long as before; twice is once. For matching only: 妳 and 你 are not the same to a reader.

    >>> plain_variants("屋簷下讀著書，著名的慰藉")
    '屋檐下讀着書，著名的慰藉'
    """
    return text if _ANY.search(text) is None else _ANY.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _TWO_READINGS and _KEPT.match(match.string, match.start()):
        return letter
    return _PLAIN[letter]


# --- Normal forms: one for matching (:func:`fold`), one for keeping (:func:`clean_text`) ----------

# Fullwidth marks make NFKC's quick check fail on nearly every Chinese text; replaced one by
# one beforehand, the check passes and NFKC of a page costs 5 us instead of 200.
_WIDE = {mark: unicodedata.normalize("NFKC", mark) for mark in "，：；？！（）％～｜\u3000…"}

# C0 and C1 controls but tab and newline, lone surrogates, noncharacters: no database and no
# export format carries them all.
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What XML forbids: libxml2 ends at it, and lxml takes it back from no tree of its own."""
_NOT_WORD = re.compile(r"[\W_]+")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

_HAN = range(0x3400, 0xA000)
_IN_PHRASES = "覆沈藉坏瞭彷"
# One does; a dictionary that turns one character into another and back must not hang us.
_MORE_ROUNDS = 3
# Whole books would fill the memory of a worker.
_REMEMBERED_CHARS = 20_000


def fold(text: str) -> str:
    """*text* for matching only: NFKC, lower case, simplified characters; twice is once."""
    return _remembered(text) if len(text) <= _REMEMBERED_CHARS else _fold_text(text)


def _fold_text(text: str) -> str:
    text = with_narrow_marks(text)
    # Twice: lower() may give characters that NFKC changes again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    return folded if folded.isascii() else to_simplified(plain_variants(folded))


# The text of a page is folded for its prints, its words and its sample, one after the other.
_remembered = lru_cache(maxsize=16)(_fold_text)


def with_narrow_marks(text: str) -> str:
    """*text* with fullwidth marks as NFKC has them: what is to be normalised afterwards."""
    for mark, plain in _WIDE.items():
        if mark in text:
            text = text.replace(mark, plain)
    return text


def to_simplified(text: str) -> str:
    """*text* with traditional characters as simplified ones (OpenCC's ``t2s``); twice is once.

    OpenCC knows some phrases in traditional characters only (乾清宮): what is kept for their
    sake would go in text that is simplified already (乾清宫), so it goes in both.
    """
    text = clean_surrogates(text)
    simplified = str(_converter().convert(text))
    if simplified == text or _unsettled_pattern().search(simplified) is None:
        return simplified
    # Line by line, since few lines hold such a character and no phrase reaches over two.
    return "\n".join(map(_convert_fully, simplified.split("\n")))


def clean_surrogates(text: str) -> str:
    """*text* with lone surrogates as U+FFFD, since UTF-8 cannot carry them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_text(text: str) -> str:
    """*text* without control characters, lone surrogates and noncharacters; newlines stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.replace("\n", "").isprintable() else _UNPRINTABLE.sub("", text)


def collapse(text: str) -> str:
    """*text* on one line, every run of white space one space, and cleaned."""
    joined = " ".join(text.split())
    return joined if joined.isprintable() else _UNPRINTABLE.sub("", joined)


HAN = re.compile("[\u3400-\u9fff]")
"""A Chinese character."""
HAN_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
"""A character of a text that is written without spaces."""


def without_blanks(text: str) -> str:
    """*text* less all its white space: two that differ in their breaks alone are the same."""
    return "".join(text.split())


def letters_of(text: str) -> str:
    """*text* in lower case, letters and digits only."""
    return _NOT_WORD.sub("", text).lower()


def script_forms(text: str) -> tuple[str, ...]:
    """*text* as it is, in simplified characters and in those of Taiwan and Hong Kong; each once.

    >>> script_forms("侨胞")
    ('侨胞', '僑胞')
    """
    if text.isascii():
        return (text,)
    simplified = to_simplified(text)
    traditional = (str(converter.convert(simplified)) for converter in _to_traditional())
    return tuple(dict.fromkeys((text, simplified, *traditional)))


@cache
def _converter() -> opencc.OpenCC:
    return opencc.OpenCC("t2s")


@cache
def _to_traditional() -> tuple[opencc.OpenCC, ...]:
    return tuple(opencc.OpenCC(name) for name in ("s2t", "s2tw", "s2hk"))


def _convert_fully(line: str) -> str:
    """*line*, converted once already, converted until nothing changes."""
    for _ in range(_MORE_ROUNDS):
        if _unsettled_pattern().search(line) is None:
            break
        before, line = line, str(_converter().convert(line))
        if line == before:
            break
    return line


@cache
def _unsettled_pattern() -> re.Pattern[str]:
    """Finds what converting once more may change: a character that is converted where it
    stands alone, or in phrases only.
    """
    letters = [chr(code) for code in _HAN]
    plain = str(_converter().convert("\n".join(letters))).split("\n")
    changed = [letter for letter, other in zip(letters, plain, strict=True) if letter != other]
    return re.compile(f"[{''.join(changed)}{_IN_PHRASES}]")


# --- Patterns that are compiled when they are first searched for ----------------------------------
# Compiling a long one takes milliseconds, for all of them a quarter of a second: a process that
# only names what uses them, and a page that has no such thing, should not wait for it.

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split", "pattern")


class _LatePattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._written = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(f"a pattern that is compiled late has no {name!r}")
        compiled = re.compile(*self._written)
        # From now on its methods are found here at once, as those of any pattern.
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return self.__dict__[name]


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, at the first use; its methods only, it is no argument for ``re``'s."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))
