"""Draws docs/gallery.md: twenty pages as Chromium shows them, with what was extracted marked.

Usage: ``python scripts/gallery.py``; needs Playwright and Chromium. The pages are those of the
demo web and the hard cases of ``tests/extract/hard_cases``; nothing is asked of any host.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "extract"
sys.path[:0] = [str(ROOT), str(TESTS)]

from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import Route, sync_playwright

from qiaocrawl.demo.model import Kind
from qiaocrawl.demo.web import DemoWeb, build_web
from qiaocrawl.extract.api import examine
from qiaocrawl.extract.extraction import Extraction
from qiaocrawl.extract.page import ExtractedPage
from qiaocrawl.items import Outcome

DOCUMENT = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "images" / "gallery"
DEMO = {
    Kind.ARTICLE: "A story in nested tables, with a ranking and a notice below.",
    Kind.BRIEF: "A brief: less text than its surroundings.",
    Kind.PHOTO: "A photo story: the captions are the text.",
    Kind.BLOG: "A post of a blog, with comments below.",
    Kind.FORUM: "A thread: the first post is the article, the replies are kept apart.",
    Kind.LIST: "A list: it leads to articles and is none.",
}
"""One page of each of these kinds, with what is difficult about it."""
HARD = (
    "table_layout_2005", "br_paragraphs_in_cell", "government_notice", "exchange_rates_table",
    "poem", "live_blog", "blog_day_with_posts", "comments_longer_than_body",
    "related_links_in_body_container", "brief_beside_ranking", "question_and_answers",
    "telnet_bbs", "english_news_boxes", "list_with_summaries",
)  # fmt: skip
MAX_BYTES = 60_000
_SCALE = 0.2
"""The small demo web: lists are short there."""
_CHROMIUM = "/usr/bin/chromium"
_WIDTH, _HEIGHT, _ABOVE = 980, 1250, 220
_SHRUNK = 0.62
_QUALITIES = (60, 45, 30, 20, 12)
_REMARK = re.compile(r"\A<!--\n((?:#[^\n]*\n)+)")
_NOTHING, _BODY, _TITLE = range(3)
# The text of the page without white space, and where each character stands, is searched for block
# after block; a highlight changes nothing of the page.
_MARK = """blocks => {
  const hidden = 'script,style,noscript,template,textarea,select,svg,iframe,button';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const places = []; let text = '';
  for (let node; (node = walker.nextNode());) {
    if (node.parentElement.closest(hidden)) continue;
    [...node.data.matchAll(/\\S/g)].forEach(found => {
      places.push([node, found.index]); text += found[0];
    });
  }
  const marks = [new Highlight(), new Highlight(), new Highlight()];
  let done = 0, top = null, missed = 0;
  for (const [written, mark] of blocks) {
    const at = text.indexOf(written, done);
    // What is far away is the same label at another place.
    if (at < 0 || (!mark && at > done + 200)) { missed += mark > 0; continue; }
    done = at + written.length;
    const range = new Range();
    range.setStart(...places[at]);
    range.setEnd(places[done - 1][0], places[done - 1][1] + 1);
    marks[mark].add(range);
    if (mark && top === null) top = range.getBoundingClientRect().top + scrollY;
  }
  CSS.highlights.set('body-text', marks[1]);
  CSS.highlights.set('headline', marks[2]);
  const whole = new Range();
  whole.selectNodeContents(document.body);
  return [top ?? 0, whole.getBoundingClientRect().bottom + scrollY + 16, missed];
}"""
_STYLE = """::highlight(body-text) { background-color: #c9f2c7; color: #111 }
::highlight(headline) { background-color: #bcdcff; color: #111 }"""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A page of the gallery: its bytes as they are served, and what is difficult about it."""

    name: str
    remark: str
    url: str
    body: bytes
    content_type: str


def exhibits(web: DemoWeb) -> Iterator[Exhibit]:
    """The pages in the order of the gallery."""
    for kind, remark in DEMO.items():
        pages = [
            (len(page.body), host, path)
            for (host, path), page in web.pages.items()
            if page.gold is not None and page.gold.kind is kind
        ]
        _, host, path = sorted(pages)[3 * len(pages) // 4]
        page = web.pages[host, path]
        kind_of_content = dict(page.headers)["Content-Type"]
        yield Exhibit(f"demo_{kind}", remark, f"http://{host}{path}", page.body, kind_of_content)
    gate_pages = import_module("gate_pages")
    for stem in HARD:
        path_of_file = gate_pages.FOLDER / f"{stem}.html"
        page = gate_pages.hard_page(path_of_file)
        lines = _REMARK.match(path_of_file.read_text("utf-8"))
        assert lines is not None, f"{stem}: says nothing about itself"
        remark = " ".join(line.lstrip("# ") for line in lines[1].splitlines())
        yield Exhibit(stem, remark, page.url, page.body, page.content_type)


def draw(exhibit: Exhibit, extracted: ExtractedPage, browser_page: BrowserPage) -> bytes:
    """The page of *exhibit* as a picture (WebP), with title and body marked."""
    browser_page.goto(exhibit.url)
    browser_page.add_style_tag(content=_STYLE)
    top, height, missed = browser_page.evaluate(_MARK, _marked_blocks(extracted))
    if missed:
        print(f"{exhibit.name}: {missed} blocks are not shown by the browser", file=sys.stderr)
    begin = max(0, top - _ABOVE) if top > _HEIGHT / 2 else 0
    clip = {"x": 0, "y": begin, "width": _WIDTH, "height": min(_HEIGHT, height - begin),
            "scale": _SHRUNK}  # fmt: skip
    session = browser_page.context.new_cdp_session(browser_page)
    for quality in _QUALITIES:
        options = {"format": "webp", "quality": quality, "clip": clip,
                   "captureBeyondViewport": True}  # fmt: skip
        picture = base64.b64decode(session.send("Page.captureScreenshot", options)["data"])
        if len(picture) <= MAX_BYTES:
            return picture
    raise SystemExit(f"{exhibit.name}: the picture has {len(picture)} bytes")


def _marked_blocks(extracted: ExtractedPage) -> list[tuple[str, int]]:
    """The blocks of a page without white space, and what each is."""
    taken = set(extracted.body.blocks) if _is_article(extracted) else set()
    title = _tight(extracted.metadata.title)
    first = min(taken, default=-1)
    marks = []
    for index, block in enumerate(extracted.page.blocks.blocks):
        text = _tight(block.text)
        is_title = bool(taken) and index <= first and title != "" and title in text
        marks.append((text, _TITLE if is_title else _BODY if index in taken else _NOTHING))
    return marks


def _is_article(extracted: ExtractedPage) -> bool:
    return extracted.judgement.outcome is Outcome.ARTICLE


def _tight(text: str) -> str:
    return "".join(text.split())


def described(exhibit: Exhibit, extracted: ExtractedPage, extraction: Extraction) -> str:
    """The section of *exhibit* in the document."""
    date = extraction.published_at
    values: Mapping[str, str] = {
        "kind": str(extraction.page_kind),
        "title": extraction.title,
        "published": f"{date:%Y-%m-%d %H:%M}" if date else "",
        "authors": "、".join(extraction.authors),
        "source": extraction.source,
        "text": f"{len(extraction.text)} characters",
    }
    if not _is_article(extracted):
        values = {"kind": str(extraction.page_kind),
                  "no article because": extracted.judgement.reason}  # fmt: skip
    fields = " · ".join(f"{name} **{value}**" for name, value in values.items() if value)
    picture = f"images/gallery/{exhibit.name}.webp"
    heading = exhibit.name.replace("_", " ")
    return f"## {heading}\n\n{exhibit.remark}\n\n{fields}\n\n![{heading}]({picture})\n"


_HEAD = """# Gallery

Pages as Chromium shows them. Green is what `extract_article` took for the body, blue the title;
what is not marked was left out. They are pages of the demo web and hard cases written for the
tests; `python scripts/gallery.py` draws all of it again.
"""


def _answer(web: DemoWeb, pages: Mapping[str, str], route: Route) -> None:
    """Serve a page of the gallery or a file of the demo web; the network is never asked.

    Some pages declare a wrong charset, or none, so they are served as they were decoded.
    """
    url = route.request.url
    parts = urlsplit(url)
    if url in pages:
        route.fulfill(body=pages[url], content_type="text/html; charset=utf-8")
    elif (host := parts.hostname or "") in web.sites:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = web.respond(host, target)
        route.fulfill(status=answer.status, body=answer.body, headers=dict(answer.headers))
    else:
        route.abort()


def main() -> None:
    """Write the document and its pictures."""
    web = build_web(scale=_SCALE)
    shown = list(exhibits(web))
    sources: dict[str, str] = {}
    PICTURES.mkdir(parents=True, exist_ok=True)
    sections = [_HEAD]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM)
        context = browser.new_context(
            viewport={"width": _WIDTH, "height": _HEIGHT}, bypass_csp=True
        )
        context.route("**/*", lambda route: _answer(web, sources, route))
        for exhibit in shown:
            extracted, extraction = examine(
                exhibit.body, exhibit.url, exhibit.content_type, "blend"
            )
            assert extracted is not None, f"{exhibit.name} is no HTML"
            sources[exhibit.url] = extracted.page.source
            browser_page = context.new_page()
            picture = draw(exhibit, extracted, browser_page)
            browser_page.close()
            (PICTURES / f"{exhibit.name}.webp").write_bytes(picture)
            sections.append(described(exhibit, extracted, extraction))
            print(f"docs/images/gallery/{exhibit.name}.webp: {len(picture) // 1000} kB")
        browser.close()
    DOCUMENT.write_text("\n".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
