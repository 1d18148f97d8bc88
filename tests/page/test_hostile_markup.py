"""Markup made to hurt: it is read within bounds, and what is dropped is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile_pages import HOSTILE
from qiaocrawl.page import sanitize
from qiaocrawl.page.page import parse_page
from qiaocrawl.page.sanitize import MAX_ATTRIBUTES, sanitize_html

URL = "https://www.example.com/"


@pytest.mark.parametrize("name", HOSTILE)
def test_the_text_after_it_is_still_read(name: str) -> None:
    page = parse_page(HOSTILE[name].encode(), "", URL)
    assert any(text.endswith("END") for text in page.texts)
    assert len(page.links(500)) <= 1
    assert page.title == ""


@pytest.mark.parametrize("depth", [100, 500, 2_000, 3_000, 100_000])
def test_deep_text_is_kept_and_flattening_is_told(depth: int) -> None:
    html = "<div>" * depth + "深处" + "</div>" * depth + "<p>之后"
    page = parse_page(html.encode(), "", URL)
    assert page.tree.body is not None
    text = page.tree.body.text()
    assert "深处" in text
    assert "之后" in text
    assert bool(page.notes) == (html.count("<") > 6_000)


def test_attributes_past_the_limit_go_the_first_stay() -> None:
    tag = '<a href="/x" title="a b = c" ' + " ".join(f"data-{i}='v'" for i in range(5_000)) + ">"
    html = "<p>x</p>" * 10_000 + tag + "甲</a>"
    safe, notes = sanitize_html(html)
    assert notes == (f"attributes past the first {MAX_ATTRIBUTES} of a tag dropped",)
    (link,) = parse_page(html.encode(), "", URL).links(5)
    assert (link.url, link.title, link.anchor) == ("https://www.example.com/x", "a b = c", "甲")
    assert len(safe) < len(html)


def test_long_attributes_of_honest_pages_stay() -> None:
    picture = "data:image/png;base64," + "A" * 200_000
    words = " ".join(["word"] * 20_000)
    html = f'<img src="{picture}"><div data-text="{words}">正文</div>'
    assert sanitize_html(html) == (html, ())


_SOUP = st.lists(
    st.sampled_from(("<b>", "</b>", "<DIV>", "</div>", "<p>", "<a href=x>", "<a>", "<option>",
                     "<i>", "</i>", "</Div>", "<body>", "字", "<div")),
    max_size=60,
)  # fmt: skip


@given(_SOUP)
def test_a_page_held_for_harmless_loses_nothing(tags: list[str]) -> None:
    html = "".join(tags)
    with pytest.MonkeyPatch.context() as patch:
        for name, least in (("DEPTH", 6), ("FORMATTING", 3), ("LINKS", 4), ("REBUILT", 40)):
            patch.setattr(sanitize, f"MAX_{name}", least)
        patch.setitem(sanitize._MOST, "option", 2)
        patch.setitem(sanitize._MOST, "body", 2)
        if sanitize._is_harmless(sanitize._ANY_TAG_WHOLE.findall(html)):
            assert sanitize._Flattener(html).flat() == (html, [])


def test_most_large_pages_are_held_for_harmless() -> None:
    html = "<div><p>侨<b>乡</b><BR><a href=/x>文</a></div>" * 2_000
    assert sanitize._is_harmless(sanitize._ANY_TAG_WHOLE.findall(html))
    assert sanitize_html(html) == (html, ())
    assert not sanitize._is_harmless(sanitize._ANY_TAG_WHOLE.findall("<div>" * 400 + html))
