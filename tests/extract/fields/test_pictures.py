"""The pictures of an article and their captions."""

from __future__ import annotations

import pytest

from qiaocrawl.extract import extract_article
from qiaocrawl.extract.fields.metadata import metadata_of
from qiaocrawl.page.page import parse_page

BODY = f"<p>{'侨乡的正文有许多话要说。' * 20}</p>"
ROOT = "https://www.example.com"


def pictures_in(html: str) -> tuple[tuple[str, str], ...]:
    page = parse_page(html.encode(), "text/html; charset=utf-8", f"{ROOT}/n/1.html")
    found = metadata_of(page).fields.get("images")
    return found.value if found is not None else ()


def test_pictures_of_the_body_with_captions() -> None:
    html = (
        "<h1>侨乡新春联谊会举行</h1>" + BODY
        + "<figure><img src=/a.jpg><figcaption>联谊会现场</figcaption></figure>"
        + "<div><img src=b.jpg alt=合影></div>" + BODY
        + "<p><img data-original=/c.jpg src=/blank.gif></p><p>▲侨乡一景</p>" + BODY
    )  # fmt: skip
    assert pictures_in(html) == (
        (f"{ROOT}/a.jpg", "联谊会现场"),
        (f"{ROOT}/n/b.jpg", "合影"),
        (f"{ROOT}/c.jpg", "▲侨乡一景"),
    )


@pytest.mark.parametrize(
    "picture",
    [
        '<img src="/static/image/common/none.gif" zoomfile="/u/a.jpg" file="/u/a.jpg">',
        "<img file=/u/a.jpg src=static/none.gif aid=7>",
        "<img src=data:image/gif;base64,R0 data-lazy-src=/u/a.jpg>",
        "<img src=/img/placeholder.png data-big-pic=/u/a.jpg>",
        "<img src=/img/blank.gif data-src=/img/loading.gif data-real=/u/a.jpg>",
        '<img srcset="/u/s.jpg 400w, /u/a.jpg 800w,/u/m.jpg 600w">',
        '<img src=data:x data-srcset="/u/a.jpg 2x, /u/s.jpg 1x">',
        '<img srcset="/u/a.jpg">',
        '<picture><source srcset="/u/a.jpg 2x"><img src=data:x></picture>',
        "<figure><img src=data:x><noscript><img src=/u/a.jpg></noscript></figure>",
        "<div><noscript><img src=/u/a.jpg></noscript> <img src=/spacer.gif></div>",
        "<div><img src=/grey.gif>\n<noscript><img data-src=/u/a.jpg></noscript></div>",
        "<figure><noscript><picture><img src=/u/a.jpg></picture></noscript></figure>",
    ],
)
def test_a_placeholder_has_its_picture_beside_it(picture: str) -> None:
    assert pictures_in(f"{BODY}<p>{picture}</p>{BODY}") == ((f"{ROOT}/u/a.jpg", ""),)


def test_the_structured_body_shows_what_is_behind_a_placeholder() -> None:
    html = f"<h1>侨乡联谊</h1><div>{BODY}<p><img src=/none.gif file=/u/a.jpg></p>{BODY}</div>"
    got = extract_article(html.encode(), f"{ROOT}/n/1.html", content_type="a;charset=utf-8")
    assert f"![]({ROOT}/u/a.jpg)" in got.markdown


def test_two_pictures_with_fallbacks_are_two() -> None:
    one = "<img src=data:x><noscript><img src=/u/{}.jpg></noscript>"
    html = f"{BODY}<div>{one.format(1)}{one.format(2)}</div>{BODY}"
    assert [url for url, _ in pictures_in(html)] == [f"{ROOT}/u/1.jpg", f"{ROOT}/u/2.jpg"]


def test_decoration_is_no_picture() -> None:
    small = "<div><img src=/d.png width=20><img src=/icons/x.png><img src='data:image/png;x'></div>"
    assert pictures_in(BODY + small + "<div><img></div>" + BODY) == ()


def test_the_declared_picture_where_none_is_shown() -> None:
    assert pictures_in(f'<meta property="og:image" content="/e.jpg">{BODY}') == (
        (f"{ROOT}/e.jpg", ""),
    )
