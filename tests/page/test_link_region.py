"""Where on the page a link stands."""

from __future__ import annotations

from qiaocrawl.page.page import parse_page


def regions(body: str) -> list[str]:
    page = parse_page(body.encode(), "text/html; charset=utf-8", "http://x.test/")
    return [link.region for link in page.links(100)]


def test_the_elements_around_a_link_are_named_from_inside_out() -> None:
    entry = '<ul id="news"><li><a href="/1">甲</a></li></ul>'
    html = f'<main><div class="left wide">{entry}</div></main>'
    assert regions(html) == ["li ul.news div.left main"]


def test_numbers_of_entries_are_alike() -> None:
    entries = (f'<li class="post-{n}"><a href="/{n}">甲</a></li>' for n in (17, 4))
    html = f"<ul>{''.join(entries)}</ul>"
    assert regions(html) == ["li.post-# ul", "li.post-# ul"]


def test_a_landmark_further_out_is_named_and_a_bare_link_has_no_region() -> None:
    deep = "<footer><div><div><p><span><a href='/1'>x</a></span></p></div></div></footer>"
    assert regions(deep) == ["span p div footer"]
    assert regions("<a href='/1'>x</a>") == [""]


def test_a_thousand_elements_deep_costs_no_more() -> None:
    html = "<div>" * 900 + "<a href='/1'>x</a>" + "</div>" * 900
    assert regions(html) == ["div div div"]
