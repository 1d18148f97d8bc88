"""Where a field was read, in words: every origin that the extractor names is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qiaocrawl.extract import field_words as field_origins
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.field_words import shown_origin

FIELDS = Path(field_origins.__file__).parent / "fields"
# What makes a field out of a value, its origin and its certainty, and at which place the origin is.
_MAKERS = {"Field": 1, "claim_of": 2, "cast": 2, "ElementVote": 2}


def _literals() -> Iterator[str]:
    """The origins that stand as they are in the code."""
    for file in sorted(FIELDS.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            at = _MAKERS.get(name, 99)
            origin = node.args[at] if len(node.args) > at else None
            if isinstance(origin, ast.Constant) and isinstance(origin.value, str):
                yield origin.value


def test_every_origin_in_the_code_is_known() -> None:
    origins = set(_literals())
    assert len(origins) > 15
    assert [one for one in sorted(origins) if not field_origins._origin_part(one)] == []


@pytest.mark.parametrize(
    ("origin", "shown"),
    [
        ("meta og:title", "meta data og:title"),
        ("json-ld headline", "JSON-LD headline"),
        ("h1", "heading h1"),
        ("class article-title", "element called article-title"),
        ("<title>", "title of the window"),
        ("text near the title", "text near the title"),
        ("text near the title: 记者", "text near the title: 记者"),
        ("updated below the body", "“updated”, below the text"),
        ("text 来源", "text 来源"),
        ("text 来源 above the title", "text above the title: 来源"),
        ("link of text 来源 at the end", "link at: text at the end: 来源"),
        ("template .content h1", "template .content h1"),
        ("of a plug-in", "of a plug-in"),
        ("", ""),
    ],
)
def test_origins_in_words(origin: str, shown: str) -> None:
    assert shown_origin(origin) == shown


def test_an_article_names_no_code() -> None:
    page = (
        "<html lang=zh><title>侨务工作会议召开 - 甲侨网</title><h1>侨务工作会议召开</h1>"
        "<p>2026-03-05 08:00 来源：甲侨网 记者 王小明</p>" + "<p>各地代表讨论华侨农场。</p>" * 9
    )
    fields = extract_article(page.encode(), "http://www.a-qiao.cn/2026/0305/1.html").fields
    assert len(fields) > 3
    codes = [field.origin for name, field in fields.items()
             if name != "page_kind" and re.match("[a-z]", str(field.origin))
             and not field_origins._origin_part(str(field.origin).partition(": ")[0])]  # fmt: skip
    assert codes == []
