"""docs/gallery.md: twenty pages, each with its picture, none of them large."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_gallery_shows_twenty_small_pictures_and_no_other_lies_there() -> None:
    page = (DOCS / "gallery.md").read_text("utf-8")
    shown = [DOCS / name for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page)]
    assert len(shown) == page.count("\n## ") == 20
    assert set(shown) == set((DOCS / "images" / "gallery").iterdir())
    assert all(1_000 < picture.stat().st_size <= 60_000 for picture in shown)
