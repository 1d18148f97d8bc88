"""Pictures of the console over what the demo found: every page, or those of docs/console.md.

Usage: ``python scripts/console_pictures.py [FOLDER] [--docs]``, after ``qiaocrawl demo --folder
FOLDER`` (``data/demo`` when not given) and ``qiaocrawl demo console``, which tells stories. All
pages, in Chinese and English, light and dark, 1,280 and 390 px wide, go to ``var/console``; with
``--docs`` those of the documentation go to ``docs/images``. Works on a copy of the demo's database.
Needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import openpyxl
from playwright.sync_api import BrowserContext, Page, sync_playwright

from benchmarks.consoles import asking
from qiaocrawl.console.security import credentials
from scripts.demo_copy import TOPIC, marked_copy

_CHROMIUM = "/usr/bin/chromium"
_WIDTHS = {1280: 800, 390: 844}
_NAME = "chen"
_DOCS = {
    "console-overview": ("/", 560),
    "console-articles": ("/articles?q=侨胞", 680),
    "console-article": ("/articles/{article}", 440),
    "console-coverage": (f"/coverage?topic={TOPIC}", 640),
    "console-import": ("", 600),
    "console-jobs": ("/jobs", 560),
    "console-briefing": ("/briefings/1", 760),
    "console-event": ("/stories/1", 760),
}
"""Pictures of the documentation, with the height that is shown."""
_PAGES = {
    "overview": "/", "figures": "/figures", "dead": "/dead",
    "articles": "/articles", "search": "/articles?q=侨胞",
    "narrowed": f"/articles?topic={TOPIC}&tier=1&status=unjudged",
    "nothing": "/articles?q=没有的词", "article": "/articles/{article}",
    "evidence": "/articles/{article}/evidence", "fields": "/articles/{article}/fields",
    "coverage": f"/coverage?topic={TOPIC}", "topics": "/topics", "terms": f"/topics/{TOPIC}",
    "sites": f"/topics/{TOPIC}?table=sites", "threshold": f"/topics/{TOPIC}/threshold",
    "words": f"/topics/{TOPIC}/words", "watched": "/sites",
    "template": "/sites/template?host=news.nanyang.test", "jobs": "/jobs",
    "people": "/people",
    "changes": "/people/changes", "password": "/password", "tokens": "/tokens",
    "stories": "/stories?days=365", "story": "/stories/1", "briefings": "/briefings",
    "briefing": "/briefings/1", "missed": "/coverage/missed",
    "warnings": "/warnings", "warning-rules": "/warnings/rules",
    "warning-rule": "/warnings/rules/1", "warning-channels": "/warnings/channels",
    "engines": "/engines", "machines": "/machines", "backups": "/backups", "media": "/sites/media",
    "missing": "/nowhere", "import": "",
}  # fmt: skip


def main() -> None:
    """Draw them."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        url, article = marked_copy(arguments.folder / "demo.db", folder, _NAME)
        with asking.console(url, folder / "index", folder, _NAME) as served:
            name, _equals, secret = served.headers["cookie"].partition("=")
            session = name, secret
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=_CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
                )
                for file in _pictures(browser.new_context(), served.url, session, article, folder,
                                      arguments):  # fmt: skip
                    print(file)
                browser.close()


def _pictures(
    context: BrowserContext, base: str, session: tuple[str, str], article: int, folder: Path,
    arguments: argparse.Namespace,
) -> Iterator[Path]:  # fmt: skip
    page = context.new_page()
    book = _faulty_list(folder)
    out = ROOT / ("docs/images" if arguments.docs else "var/console")
    out.mkdir(parents=True, exist_ok=True)
    dresses = product(("zh_CN", "en"), ("light", "dark"), _WIDTHS)
    for language, theme, width in [("zh_CN", "light", 1024)] if arguments.docs else dresses:
        for name, value in (session, (credentials.LANGUAGE, language),
                            (credentials.THEME, theme)):  # fmt: skip
            context.add_cookies([{"name": name, "value": value, "url": base}])
        paths = {name: (path, 0) for name, path in _PAGES.items()}
        for name, (path, height) in (_DOCS if arguments.docs else paths).items():
            page.set_viewport_size({"width": width, "height": height or _WIDTHS[width]})
            if name.endswith("import"):
                _open_preview(page, base, book)
            else:
                page.goto(base + path.format(article=article))
                _wait_for_frames(page)
            dress = "" if arguments.docs else f"-{language}-{theme}-{width}"
            file = out / f"{name}{dress}.png"
            if name == "console-coverage":
                page.locator(".console-map-frame").first.screenshot(path=file)
            else:
                page.screenshot(path=file, full_page=not height)
            yield file


def _wait_for_frames(page: Page) -> None:
    """Frames in frames are loaded after the page."""
    if page.locator("iframe").count():
        page.wait_for_timeout(1_000)


def _open_preview(page: Page, base: str, book: Path) -> None:
    """What an upload with bad rows leads to."""
    page.goto(f"{base}/topics")
    page.set_input_files("#file", book)
    page.click("form[enctype] button")
    page.wait_for_selector(".table-danger")


def _faulty_list(folder: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "词表"
    for row in (["词", "类别", "权重"], ["寻根", "文化", 3], ["侨乡", "地域", "很多"],
                ["华" * 50, "其他", 1], ["归侨", "群体", 99], ["侨批", "文化", 2]):  # fmt: skip
        book.active.append(row)
    book.save(folder / "词表.xlsx")
    return folder / "词表.xlsx"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("data/demo"))
    parser.add_argument("--docs", action="store_true", help="those of the documentation")
    arguments = parser.parse_args()
    if not (arguments.folder / "demo.db").exists():
        parser.error(f"there is no {arguments.folder / 'demo.db'}; run `qiaocrawl demo` first")
    if shutil.which(_CHROMIUM) is None:
        parser.error(f"there is no {_CHROMIUM}")
    return arguments


if __name__ == "__main__":
    main()
