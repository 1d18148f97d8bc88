"""How right a method is on pages whose truth is known: one row of figures a page, and means."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gate_pages import GatePage

from benchmarks.demo_scores import body_f1
from qiaocrawl.demo.model import CHINA_TIME
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.extraction import Extraction, PageKind

GOOD_F1 = 0.9
FIGURES = ("f1", "share_90", "title", "date", "author", "source", "kind")


@dataclass(frozen=True, slots=True)
class PageFigures:
    """What came out for one page, each figure in [0, 1]; without those nobody asks for."""

    page: GatePage
    found: Extraction
    figures: dict[str, float]


def judged(method: str, pages: Iterable[GatePage]) -> list[PageFigures]:
    """The figures of *method* for each of *pages*."""
    return [_judge(page, method) for page in pages]


def _is_kind(kind: PageKind, gold: str) -> bool:
    """Whether *kind* is right; gold of the demo names no kinds of lists, and no galleries."""
    told = {
        "list": kind.is_index and kind is not PageKind.HOME,
        "article": kind is PageKind.GALLERY,
    }
    return kind == gold or told.get(gold, False)


def _judge(page: GatePage, method: str) -> PageFigures:
    found = extract_article(page.body, page.url, page.content_type, method)
    figures = {"kind": float(_is_kind(found.page_kind, page.kind))} if page.kind else {}
    if page.text is not None:
        figures["f1"] = body_f1(page.text, found.text)
        figures["share_90"] = float(figures["f1"] >= GOOD_F1)
    if page.title:
        figures["title"] = float(letters(page.title) == letters(found.title))
    if page.date:
        date = found.published_at
        day = date.astimezone(CHINA_TIME).strftime("%Y-%m-%d") if date else ""
        figures["date"] = float(day == page.date)
    if page.authors:
        figures["author"] = float(set(map(letters, page.authors)) == set(
            map(letters, found.authors)))  # fmt: skip
    if page.source:
        figures["source"] = float(letters(page.source) == letters(found.source))
    return PageFigures(page, found, figures)


def means(rows: Sequence[PageFigures]) -> dict[str, float]:
    """The mean of every figure over the pages that have it."""
    columns = {name: [row.figures[name] for row in rows if name in row.figures] for name in FIGURES}
    return {name: sum(values) / len(values) for name, values in columns.items() if values}


def letters(text: str) -> str:
    """Letters and digits of *text* alone: NFKC, lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))


def table(rows: Sequence[PageFigures]) -> str:
    """The pages with a figure below 1 (body: below GOOD_F1), one a line, as text."""
    lines = []
    for row in rows:
        wrong = []
        for name, value in row.figures.items():
            if name == "f1" and value < GOOD_F1:
                wrong.append(f"f1 {value:.2f}")
            elif name in _SHOWN and not value:
                wrong.append(f"{name} {_SHOWN[name](row.found)!r}")
        if wrong:
            lines.append(f"  {row.page.name}: {', '.join(wrong)}")
    return "\n".join(lines)


_SHOWN = {
    "title": lambda found: found.title,
    "date": lambda found: str(found.published_at or ""),
    "author": lambda found: "、".join(found.authors),
    "source": lambda found: found.source,
    "kind": lambda found: str(found.page_kind),
}
