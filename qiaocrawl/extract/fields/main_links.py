"""The links inside an article, as against those around it (T5)."""

from __future__ import annotations

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.body_context import body_span
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

MAX_MAIN_LINKS = 200
_MAX_ANCHOR_CHARS = 200


def main_links_of(page: Page, body: Body | None) -> tuple[tuple[str, str], ...]:
    """(URL, anchor) of the links inside the blocks of *body*, each URL once, in order.

    Not asked for in a crawl, which reads all links of a page anyway.
    """
    first, last = body_span(page, body)
    if first < 0:
        return ()
    indexes = body.blocks if body is not None and body.blocks else range(first, last + 1)
    blocks, elements = page.blocks.blocks, page.blocks.elements
    anchors: dict[str, str] = {}
    for index in dict.fromkeys(blocks[at].element for at in indexes if blocks[at].links):
        element = elements[index]
        if element.first < first or element.end > last + 1:
            continue  # it holds more than the article
        for node in element.node.css("a[href]")[:MAX_MAIN_LINKS]:
            url = page.joiner.canonical(node.attributes.get("href") or "")
            if url and len(anchors) < MAX_MAIN_LINKS:
                anchors.setdefault(url, collapse(node.text()[:_MAX_ANCHOR_CHARS]))
    return tuple(anchors.items())
