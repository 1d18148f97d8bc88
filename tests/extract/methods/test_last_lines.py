"""The last paragraph of a body may be a short sentence."""

from __future__ import annotations

import pytest

from crawling import article
from qiaocrawl.extract.base import extractors
from qiaocrawl.page.page import parse_page


@pytest.mark.parametrize(("last", "is_taken"), [
    ("<p>大会圆满闭幕。</p>", True),
    # No sentence, another place, a link.
    ("<p>打印本页</p>", False),
    ("<div class=foot>版权所有。</div>", False),
    ("<p><a href=/>返回首页。</a></p>", False),
])  # fmt: skip
def test_a_short_last_sentence_belongs_to_the_body(last: str, is_taken: bool) -> None:
    page = parse_page(article("侨乡新闻").replace(b"<ul>", last.encode() + b"<ul>"))
    text = extractors.get("blend").body(page).text
    words = parse_page(last.encode()).texts[0]
    assert (words in text) == is_taken
