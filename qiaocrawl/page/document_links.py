"""Links of a page to files that may be articles: PDF, Word and Excel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.items import Link
from qiaocrawl.text.normalise import collapse
from qiaocrawl.urls import canonical_host, looks_like_document, url_key

if TYPE_CHECKING:
    from qiaocrawl.page.page import Page

DOCUMENT_TAG = "document"
MAX_DOCUMENTS = 50
"""Of one page; more are an archive's, page by page **(ours)**."""
_SELECTOR = ",".join(f'a[href$=".{ending}" i]' for ending in ("pdf", "docx", "xlsx"))
_MAX_ANCHOR_CHARS = 200


def document_links(page: Page) -> tuple[Link, ...]:
    """The files *page* links to by their ending, each URL once; their ``tag`` is ``document``."""
    links: dict[str, Link] = {}
    # Twice as many: some lead to one file, or to no file at all.
    for node in page.tree.css(_SELECTOR)[: 2 * MAX_DOCUMENTS]:
        attributes = node.attributes
        url = page.joiner.canonical((attributes.get("href") or "").strip())
        if url is None or url in links or not looks_like_document(url):
            continue
        links[url] = Link(
            url=url, key=url_key(url), host=canonical_host(url), tag=DOCUMENT_TAG,
            anchor=collapse(node.text()[: 2 * _MAX_ANCHOR_CHARS])[:_MAX_ANCHOR_CHARS],
            nofollow="nofollow" in (attributes.get("rel") or "").lower(),
        )  # fmt: skip
    return tuple(links.values())[:MAX_DOCUMENTS]
