"""Draws docs/images/extraction-blocks.png: the blocks of a demo page as ``--explain`` shows them.

Usage: ``python scripts/extraction_figure.py [FILE.png]``; needs Playwright, Chromium and
Pillow, which the extra ``benchmark`` brings.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright

from qiaocrawl.cli.explain import explain_as_html
from qiaocrawl.demo.model import Kind
from qiaocrawl.demo.web import build_web
from qiaocrawl.extract.api import examine

PICTURE = ROOT / "docs" / "images" / "extraction-blocks.png"
HOST = "www.yuehaiqiao.test"
"""A demo site of nested tables, with a ranking, a notice and an imprint on every page."""
_SCALE = 0.2
"""The small demo web: rankings are short there."""
_CHROMIUM = "/usr/bin/chromium"
_ARGUMENTS = ["--disable-lcd-text"]
"""Letters without coloured edges: fewer colours."""
_COLOURS = 48
_WIDTH, _HEIGHT = 800, 600
# Close together, so that one page fits a figure.
_STYLE = "body{margin:0 8px;font-size:14px} .b{margin:2px 0;padding:1px 8px} .b p{margin:0}"


def explained_page() -> str:
    """The ``--explain`` page of the article of HOST with the fewest bytes."""
    pages = [
        (len(page.body), path, page)
        for (host, path), page in build_web(scale=_SCALE).pages.items()
        if host == HOST and page.gold is not None and page.gold.kind is Kind.ARTICLE
    ]
    _, path, page = min(pages, key=lambda entry: entry[:2])
    url = f"http://{HOST}{path}"
    reading, extraction = examine(page.body, url, dict(page.headers)["Content-Type"], "blend")
    return explain_as_html(reading, extraction, url)


def draw(markup: str, picture: Path) -> None:
    """Open *markup* in Chromium and save what stands from its list of blocks on."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_ARGUMENTS)
        page = browser.new_context(
            viewport={"width": _WIDTH, "height": _HEIGHT}, bypass_csp=True
        ).new_page()
        page.set_content(markup)
        page.add_style_tag(content=_STYLE)
        top = page.locator("p.key").bounding_box()
        assert top is not None, "the page shows no blocks"
        whole = page.locator("body").bounding_box()
        assert whole is not None
        picture.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(
            path=picture,
            full_page=True,
            clip={
                "x": 0,
                "y": top["y"] - 8,
                "width": _WIDTH,
                "height": whole["y"] + whole["height"] - top["y"] + 16,
            },
        )
        browser.close()
    # Not imported above: only this script needs it, and nothing that is tested.
    image = import_module("PIL.Image").open(picture).convert("RGB")
    image.quantize(_COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    draw(explained_page(), target)
    print(f"{target}: {target.stat().st_size // 1024} KB")
