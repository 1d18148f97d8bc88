"""Language and script of a text or a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from qiaocrawl.extract.extraction import Field
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import to_simplified

_SAMPLE_CHARS = 500
_HAN = re.compile("[\u4e00-\u9fff]+")
_LATIN = re.compile("[A-Za-z]+")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_HANGUL_BEGIN = "\uac00"
_ENGLISH = frozenset(
    ("the", "of", "and", "to", "a", "in", "is", "that", "for", "it", "on", "with", "as", "was",
     "at", "by", "be", "are")
)  # fmt: skip
_TELLING_WORDS = 25
_DECLARED = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?(?:-[a-z]{2})?$", re.IGNORECASE)


def language_of(text: str) -> str:
    """``zh-Hans``, ``zh-Hant``, ``ja``, ``ko``, ``en`` or "" by the first 500 characters.

    Text in Latin letters is English if one word in twenty is one English needs; other
    languages need a page's own word, see :func:`language_field`.
    """
    sample = text[:_SAMPLE_CHARS]
    if sample.isascii():
        return "en" if _count(_LATIN, sample) > 20 and _may_be_english(sample) else ""
    han, latin = _count(_HAN, sample), _count(_LATIN, sample)
    non_han = _KANA_OR_HANGUL.findall(sample)
    hangul = sum([letter >= _HANGUL_BEGIN for letter in non_han])
    kana = len(non_han) - hangul
    if kana * 5 > han + kana:
        return "ja"
    if hangul * 2 > han + latin + hangul:
        return "ko"
    if han * 4 >= latin and han:
        traditional = len(_traditional().findall(sample))
        return "zh-Hant" if traditional * 20 > han else "zh-Hans"
    return "en" if latin > 20 and _may_be_english(sample) else ""


def _count(runs: re.Pattern[str], sample: str) -> int:
    """Characters in *runs* of *sample*."""
    return len("".join(runs.findall(sample)))


@cache
def _traditional() -> re.Pattern[str]:
    """The characters that have a simplified form of their own (OpenCC's ``t2s``)."""
    letters = [chr(code) for code in range(0x4E00, 0xA000)]
    simplified = to_simplified("\n".join(letters)).split("\n")
    changed = [letter for letter, other in zip(letters, simplified, strict=True) if letter != other]
    return re.compile(f"[{''.join(changed)}]")


def _may_be_english(sample: str) -> bool:
    """Whether *sample* has the words English text cannot do without, or is too short to tell."""
    words = sample.lower().split()
    return len(words) < _TELLING_WORDS or 20 * sum(w in _ENGLISH for w in words) > len(words)


def language_field(page: Page, text: str) -> Field | None:
    """The language of *text*, or what the page declares when its letters leave that open."""
    seen = language_of(text)
    declared = _declared(page)
    if not seen:
        is_latin = declared and declared not in ("zh", "ja", "ko", "en")
        return Field(declared, "html lang", 0.7) if is_latin else None
    agrees = bool(declared) and declared[:2] == seen[:2]
    return Field(seen, "letters of the text", 0.97 if agrees else 0.9)


def _declared(page: Page) -> str:
    """The language of ``<html lang>`` or the meta tags, without its region; "" if none."""
    return next(_tags_declared(page), "").split("-")[0].lower()


def declared_region(page: Page) -> str:
    """The country in ``<html lang>`` or the meta tags (``gb`` of en-GB), lower case; "" if none."""
    regions = (tag.rpartition("-")[2].lower() for tag in _tags_declared(page) if "-" in tag)
    return next((region for region in regions if len(region) == 2), "")


def _tags_declared(page: Page) -> Iterator[str]:
    root = page.tree.root
    attributes = root.attributes if root is not None else {}
    for written in (attributes.get("lang"), attributes.get("xml:lang"),
                    page.meta.get("content-language"), page.meta.get("og:locale")):  # fmt: skip
        tag = (written or "").strip().replace("_", "-")
        if _DECLARED.match(tag):
            yield tag
