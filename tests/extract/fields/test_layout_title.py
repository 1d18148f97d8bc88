"""The published title method: size, centring and colour above the first long paragraph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.fields.metadata import metadata_of
from qiaocrawl.extract.published.layout_title import (
    WEIGHED,
    is_by_layout,
    title_by_layout,
    use_title_method,
)
from qiaocrawl.page.page import parse_page

TEXT = f"<p>{'全省归侨侨眷代表大会在福州召开，三百多名代表出席会议。' * 3}</p>"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    use_title_method(WEIGHED)


def title(lines: str) -> str:
    page = parse_page(f"<body>{lines}{TEXT}</body>".encode(), "text/html; charset=utf-8")
    field = title_by_layout(page)
    return field.value if field is not None else ""


@pytest.mark.parametrize(
    "line",
    [
        '<p><font size="5">侨代会在榕召开</font></p>',  # 1.5 em against 1
        '<p align="center">侨代会在榕召开</p>',  # 1 and a half
        '<p><font color="red">侨代会在榕召开</font></p>',
        '<div style="font-size:24px">侨代会在榕召开</div>',
        "<h2>侨代会在榕召开</h2>",
        "<center><p>侨代会在榕召开</p></center>",
    ],
)
def test_one_sign_suffices_wherever_the_line_stands(line: str) -> None:
    plain = "<p>今日要闻一览</p>"
    assert title(plain + line + "<p>来源：侨网 三月五日</p>") == "侨代会在榕召开"
    assert title(line + plain) == "侨代会在榕召开"


def test_signs_add_up_and_of_equal_lines_the_nearest_counts() -> None:
    # 1.5 against 1.13 + .5 + .5 = 2.13.
    both = '<p align="center"><font size="4" color="#900">侨代会在榕召开</font></p>'
    assert title("<h2>福建侨网新闻</h2>" + both) == "侨代会在榕召开"
    assert title("<p>今日要闻一览</p><p>侨代会在榕召开</p>") == "侨代会在榕召开"
    # Below the beginning of the text, and in links, nothing counts.
    assert title('<p><a href="/">今日要闻一览</a></p>') == ""


def test_it_is_chosen_by_name() -> None:
    above = "<h1>福建侨网首页</h1><p align=center><font size=7>侨代会在榕召开</font></p>"
    html = f"<title>侨网</title>{above}{TEXT}"
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    use_title_method("layout")
    assert is_by_layout()
    assert metadata_of(page).title == "侨代会在榕召开"
    with pytest.raises(ConfigError, match="unknown title method 'size'"):
        use_title_method("size")
