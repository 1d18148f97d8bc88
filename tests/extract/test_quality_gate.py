"""The quality gate: no figure of our own pages falls below its floor in quality_floors.toml."""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from gate_pages import GatePage, demo_pages, hard_pages
from quality import FIGURES, judged, means, table

from qiaocrawl.extract.extraction import PageKind

FLOORS_FILE = Path(__file__).with_name("quality_floors.toml")
FLOORS = tomllib.loads(FLOORS_FILE.read_text("utf-8"))
FAR_ABOVE = 0.05
"""A floor this far below its figure guards nothing any more."""
COLLECTIONS = {"demo": demo_pages, "hard": hard_pages}


@cache
def collection(name: str) -> tuple[GatePage, ...]:
    return tuple(COLLECTIONS[name]())


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name in COLLECTIONS for method in FLOORS[name]]
)
def test_no_figure_falls_below_its_floor(name: str, method: str) -> None:
    rows = judged(method, collection(name))
    figures, floors = means(rows), FLOORS[name][method]
    wrong = []
    for figure, floor in floors.items():
        if figures[figure] < floor:
            wrong.append(f"{figure} {figures[figure]:.3f} is below its floor {floor}")
        elif figures[figure] > floor + FAR_ABOVE:
            wrong.append(f"{figure} {figures[figure]:.3f} is far above its floor {floor}: raise it")
    told = ", ".join(f"{figure} {value:.3f}" for figure, value in figures.items())
    assert not wrong, (
        f"{method} on the {name} pages, {FLOORS_FILE.name}: {'; '.join(wrong)}\n"
        f"all figures: {told}\npages that are not right:\n{table(rows)}"
    )


def test_every_collection_has_floors_for_the_default_and_the_published_methods() -> None:
    for name in COLLECTIONS:
        assert set(FLOORS[name]) == {"blend", "density", "visual", "cluster"}
        assert set(FLOORS[name]["blend"]) == set(FIGURES)


def test_the_hard_cases_ask_for_all_kinds_and_many_bodies() -> None:
    pages = collection("hard")
    kinds = Counter(page.kind for page in pages)
    # Those told apart by name alone are in test_index_pages.py.
    by_name = {"tag", "archive", "about", "question", "gallery", "video", "product"}
    assert set(kinds) == {str(kind) for kind in PageKind} - by_name
    assert sum(page.text is not None for page in pages) >= 45
    short = [page for page in pages if page.text and 40 <= len(page.text) <= 180]
    assert len(short) >= 5


def test_the_demo_sample_holds_every_site_and_charset() -> None:
    pages = collection("demo")
    assert len(pages) >= 150
    assert len({page.url.split("/")[2] for page in pages}) >= 18
    declared = {page.content_type.partition("charset=")[2] for page in pages}
    assert len(declared) >= 4
