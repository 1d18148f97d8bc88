"""The pictures of an article and their captions."""

from __future__ import annotations

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


def test_decoration_is_no_picture() -> None:
    small = "<div><img src=/d.png width=20><img src=/icons/x.png><img src='data:image/png;x'></div>"
    assert pictures_in(BODY + small + "<div><img></div>" + BODY) == ()


def test_the_declared_picture_where_none_is_shown() -> None:
    assert pictures_in(f'<meta property="og:image" content="/e.jpg">{BODY}') == (
        (f"{ROOT}/e.jpg", ""),
    )
