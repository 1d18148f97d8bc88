"""Files that are attached to a text."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.api import extract_article

TEXT = (
    "<p>为做好今年侨乡图片征集工作，现将报名的办法和时间通知如下，请各村侨联小组认真组织。</p>" * 3
)
FILE = "https://www.qiao.test/files/1"


@pytest.mark.parametrize(
    ("content", "files"),
    [
        ("<p>附件：<a href=/files/1.doc>报名表</a></p>", [("doc", "报名表")]),
        (
            "<p>附件：</p><ul><li><a href=/files/1.xlsx>名单</a>"
            "<li><a href=/files/1.zip>图</a></ul>",
            [("xlsx", "名单"), ("zip", "图")],
        ),
        ("</div><div class=fujian><a href=/files/1.PDF>指南.pdf</a>", [("PDF", "指南.pdf")]),
        ("</div><dl><dt>相关下载<dd><a href=/files/1.rar>图</a></dl><div>", [("rar", "图")]),
        ("<p><a href=/files/1.html>指南</a></p>", []),
        ("</div></div><div class=sidebar><a href=/files/1.pdf>年报</a>", []),
    ],
)
def test_files_in_a_text_and_right_below_it(content: str, files: list[tuple[str, str]]) -> None:
    page = (
        "<!DOCTYPE html><meta charset=utf-8><title>侨乡图片征集通知</title><body>"
        f"<div class=article><h1>侨乡图片征集通知</h1>"
        f"<div class=content>{TEXT}{content}</div></div>"
    )
    fields = extract_article(page.encode(), "https://www.qiao.test/n/1.html").fields
    found = fields["attachments"].value if "attachments" in fields else ()
    assert list(found) == [(f"{FILE}.{ending}", name) for ending, name in files]


def test_a_page_without_text_has_no_attachments() -> None:
    assert (
        "attachments" not in extract_article(b"<a href=/1.pdf>1.pdf</a>", "http://a.test/").fields
    )
