"""Pages made by one program of a site have one form of URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.urls.structure import url_form


@pytest.mark.parametrize(("url", "form"), [
    ("http://a.test", "/"),
    ("http://a.test/", "/"),
    ("http://a.test/2026/03/05/c_12345.html", "/0/a0.html"),
    ("http://a.test/2025/11/20/c_9.html", "/0/a0.html"),
    ("http://a.test/news/index.html", "/news/a.html"),
    ("http://a.test/news/123", "/news/0"),
    ("http://a.test/v2news/x/", "/a0/x/"),
    ("http://a.test/app/?id=7&page=1", "/app/?id&page"),
    ("http://a.test/app/?page=&id=", "/app/?id&page"),
    ("http://a.test/a/b/c/d/e/f/1.htm", "/a/b/c/d/*/0.htm"),
])  # fmt: skip
def test_forms(url: str, form: str) -> None:
    assert url_form(url) == form


@given(st.text(max_size=300))
def test_any_text_has_one(text: str) -> None:
    assert len(url_form(f"http://{text}")) <= 200
