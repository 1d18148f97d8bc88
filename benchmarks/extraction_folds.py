"""``blend`` on sites it has never seen: trained on the others, fold after fold.

    python benchmarks/extraction_folds.py --data DIR [--folds 5] [--json FILE]

The shipped network is trained on all pages of such a folder, so that a score on the same pages
says little. Here every page is scored by a network that saw no page of its site (registrable
domain). Bodies only, as a reader gets them: with the tables and lists that belong to them and
without the lines of counts; the other figures are in ``benchmarks/extraction.py``.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.bodies.score import GOOD_F1, Found, PageScore, score_page
from benchmarks.extraction import BenchmarkError, GoldPage, load_pages
from benchmarks.rows import write_rows
from qiaocrawl.extract.methods.blend import BlendExtractor
from qiaocrawl.extract.methods.block_network import BlockNetwork
from qiaocrawl.extract.methods.block_training import LabelledPage, Recipe, label_page, train
from qiaocrawl.extract.page import extract_page
from qiaocrawl.page.page import Page, parse_page
from qiaocrawl.urls import host_of, registrable_domain

_LANGUAGES = ("zh", "en")


def site_of(page: GoldPage) -> str:
    """What keeps pages together: the registrable domain, the page's own name without one."""
    return registrable_domain(host_of(page.url)) or page.id


def judged_by_others(
    pages: Sequence[GoldPage], folds: int, recipe: Recipe, console: Console
) -> list[PageScore]:
    """The score of every page by a network trained without its site."""
    parsed = [parse_page(page.body, url=page.url) for page in pages]
    labelled_pages = [
        label_page(page, gold.gold.text or "", chinese=gold.gold.language == "zh")
        for page, gold in zip(parsed, pages, strict=True)
    ]
    fold_of = [zlib.crc32(site_of(page).encode()) // 2 % folds for page in pages]
    scores: list[PageScore | None] = [None] * len(pages)
    for fold in range(folds):
        training = [page for page, at in zip(labelled_pages, fold_of, strict=True)
                  if page is not None and at != fold]  # fmt: skip
        network = _trained(training, recipe)
        mine = [i for i, at in enumerate(fold_of) if at == fold]
        for i in mine:
            scores[i] = _score(pages[i], parsed[i], network)
        console.print(f"fold {fold + 1} of {folds}: {len(mine)} pages")
    return [score for score in scores if score is not None]


def _trained(pages: Sequence[LabelledPage], recipe: Recipe) -> BlockNetwork:
    if not pages:
        raise BenchmarkError("a fold has no pages to train on: fewer folds")
    return train(pages, recipe)


def _score(gold: GoldPage, page: Page, network: BlockNetwork) -> PageScore:
    extracted = extract_page(page, "blend", extractor=BlendExtractor(network=network))
    return score_page(gold.gold, Found(text=extracted.text))


def rows_of(pages: Sequence[GoldPage], scores: Sequence[PageScore]) -> list[dict[str, object]]:
    """One row a language: precision, recall, F1 and the share of pages from 0.9 on."""
    rows: list[dict[str, object]] = []
    for language in _LANGUAGES:
        own = [s for p, s in zip(pages, scores, strict=True) if p.gold.language == language]
        if own:
            means = {
                name: float(np.mean([getattr(score, name) for score in own]))
                for name in ("precision", "recall", "f1", "share_90")
            }
            rows.append({"method": "blend, unseen sites", "source": "all",
                         "language": language, "pages": len(own), **means})  # fmt: skip
    return rows


def main() -> int:
    """Print the table; 2 when the data is not there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=Recipe().epochs)
    parser.add_argument("--voters", type=int, default=Recipe().voters)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console = Console()
    try:
        if given.folds < 2:
            raise BenchmarkError(f"--folds {given.folds}: 2 or more")
        pages = [page for page in load_pages(given.data) if page.gold.text]
        recipe = Recipe(epochs=given.epochs, voters=given.voters)
        scores = judged_by_others(pages, given.folds, recipe, console)
    except BenchmarkError as error:
        print(error, file=sys.stderr)
        return 2
    rows = rows_of(pages, scores)
    table = Table("language", "pages", "P", "R", "F1", f"≥ {GOOD_F1}")
    for row in rows:
        figures = (f"{row[name]:.3f}" for name in ("precision", "recall", "f1", "share_90"))
        table.add_row(str(row["language"]), str(row["pages"]), *figures)
    console.print(table)
    if given.json:
        write_rows(given.json, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
