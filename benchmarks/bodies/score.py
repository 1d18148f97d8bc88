"""How near an extraction comes to the gold: the metric of ``benchmarks/extraction.py``.

Texts are compared as bags of overlapping 4-grams: of letters and digits for Chinese, of words
for other languages, after NFKC. With o grams in common (a gram counts as often as it stands in
both), precision P = o / grams found, recall R = o / grams of the gold, F1 = 2PR / (P + R);
all 0 where nothing is in common. The figures are means over pages. A leading title line does
not count, whether an extractor keeps it or not.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

GRAM = 4
GOOD_F1 = 0.9
"""Pages from here on count for ``share_90``."""
_TITLE_LINES = 3
"""So many leading lines are looked at for the title."""
_LEAST_TITLE, _LEAST_PREFIX = 5, 8
"""Letters a line needs to count as the title, and as the beginning of ``<title>``."""
_PREFIX_SHARE = 0.4
_WORD = re.compile(r"\w+")
_TITLE = re.compile("<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_NAME_BORDER = re.compile(r"[,，;；、|/&\n]|\s{2,}|\s(?:and|und|et)\s", re.IGNORECASE)
_BY = re.compile(r"^\s*(?:by\s+|作者\s*[:：]|记者\s*[:：]?\s*)", re.IGNORECASE)
_RESAMPLES = 1000
_SEED = 20260822
_INTERVAL_PERCENT = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Found:
    """What one extractor gave for one page.

    Attributes:
        text: the body, "" for none.
        title, date, authors: None where the extractor never gives such a field; ``date`` is
            ``YYYY-MM-DD`` or "".
        failure: the exception in words, "" when there was none.
    """

    text: str = ""
    title: str | None = None
    date: str | None = None
    authors: tuple[str, ...] | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """What is right for one page; None (no authors) where nobody says what is right."""

    language: str
    text: str | None = None
    title: str | None = None
    date: str | None = None
    authors: tuple[str, ...] = ()
    page_title: str = ""


@dataclass(frozen=True, slots=True)
class PageScore:
    """The figures of one page, each in [0, 1]; None without gold, or without such a field."""

    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    share_90: float | None = None
    title: float | None = None
    date: float | None = None
    author: float | None = None


FIGURES = ("precision", "recall", "f1", "share_90", "title", "date", "author")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over pages, with the borders of its 95 % bootstrap interval and its pages."""

    value: float
    low: float
    high: float
    pages: int


def score_page(gold: Gold, found: Found) -> PageScore:
    """Judge one page. Fields an extractor never gives are None, those it missed are 0."""
    precision = recall = f1 = share = title = date = author = None
    if gold.text:
        text = without_title_line(found.text, gold.title or "", gold.page_title)
        precision, recall, f1 = overlap(gold.text, text, gold.language)
        share = float(f1 >= GOOD_F1)
    if gold.title and found.title is not None:
        title = float(letters(gold.title) == letters(found.title))
    if gold.date and found.date is not None:
        date = float(gold.date == found.date[:10])
    if gold.authors and found.authors is not None:
        author = author_f1(gold.authors, found.authors)
    return PageScore(precision, recall, f1, share, title, date, author)


def letters(text: str) -> str:
    """Letters and digits of *text* alone: NFKC, lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))


def grams(text: str, language: str) -> Counter[object]:
    """The 4-grams of *text* with their counts; a shorter text is one gram."""
    if language == "zh":
        tight = letters(text)
        if not tight:
            return Counter()
        return Counter(tight[i : i + GRAM] for i in range(max(1, len(tight) - GRAM + 1)))
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    if not words:
        return Counter()
    return Counter(tuple(words[i : i + GRAM]) for i in range(max(1, len(words) - GRAM + 1)))


def overlap(gold: str, found: str, language: str) -> tuple[float, float, float]:
    """Precision, recall and F1 of the 4-grams of *found* against those of *gold*."""
    right, given = grams(gold, language), grams(found, language)
    common = sum(min(count, given[gram]) for gram, count in right.items())
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / given.total(), common / right.total()
    return precision, recall, 2 * precision * recall / (precision + recall)


def title_of_source(source: str) -> str:
    """The text of the first ``<title>`` as written in *source*, on one line."""
    match = _TITLE.search(source)
    return html.unescape(" ".join(match[1].split())).strip() if match else ""


def without_title_line(text: str, title: str, page_title: str) -> str:
    """*text* less the first of its leading lines that is the title.

    That is *title* itself, *page_title*, or a long enough beginning of *page_title* (which
    goes on with the site's name).
    """
    lines = text.split("\n")
    title_letters, whole = letters(title), letters(page_title)
    for index, line in enumerate(lines[:_TITLE_LINES]):
        tight = letters(line)
        if len(tight) >= _LEAST_TITLE and (
            tight in (title_letters, whole) or _begins(whole, tight)
        ):
            return "\n".join(lines[:index] + lines[index + 1 :])
    return text


def _begins(whole: str, part: str) -> bool:
    enough = len(part) >= _LEAST_PREFIX and len(part) >= _PREFIX_SHARE * len(whole)
    return enough and whole.startswith(part)


def author_f1(gold: Iterable[str], found: Iterable[str]) -> float:
    """F1 of the set of names **(ours)**, in [0, 1].

    Several names in one text are parted at commas, semicolons, slashes, two spaces and
    "and"; of a name only letters and digits count. So one of two authors is worth 2/3, and
    two names for a single author as much.
    """
    right, given = names(gold), names(found)
    common = len(right & given)
    return 2 * common / (len(right) + len(given)) if common else 0.0


def names(texts: Iterable[str]) -> set[str]:
    """The names in *texts*, compared by :func:`letters`."""
    parts = (_BY.sub("", part) for text in texts for part in _NAME_BORDER.split(text))
    return {tight for part in parts if (tight := letters(part))}


def mean(values: Sequence[float]) -> Mean | None:
    """The mean of *values* with its 95 % bootstrap interval; None for no values.

    Pages are drawn with replacement 1,000 times, with a fixed seed.
    """
    if not values:
        return None
    numbers = np.asarray(values)
    drawn = np.random.default_rng(_SEED).integers(len(values), size=(_RESAMPLES, len(values)))
    low, high = np.percentile(numbers[drawn].mean(axis=1), _INTERVAL_PERCENT)
    return Mean(float(numbers.mean()), float(low), float(high), len(values))


def means(scores: Iterable[PageScore]) -> dict[str, Mean | None]:
    """Every figure's mean over the pages that have it."""
    pages = list(scores)
    return {
        name: mean([value for page in pages if (value := getattr(page, name)) is not None])
        for name in FIGURES
    }
