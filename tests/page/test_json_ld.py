"""JSON-LD as templates write it: wrapped, with surplus commas, long."""

from __future__ import annotations

import pytest

from qiaocrawl.page.page import MAX_JSON_LD_CHARS, parse_page


def names_in(written: str) -> list[object]:
    page = parse_page(f'<script type="application/ld+json">{written}</script>'.encode())
    return [item.get("name") for item in page.json_ld]


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "a"}',
        '<!-- {"name": "a"} -->',
        '//<![CDATA[\n{"name": "a"}\n//]]>',
        '[{"name": "a",},]',
        ' [ {"name": "a"} ] ;',
    ],
)
def test_what_is_read(written: str) -> None:
    assert names_in(written) == ["a"]


@pytest.mark.parametrize("written", ["", "null", "3", "[1, 2]", '{"name": }', "[" * 5000 + "{"])
def test_what_holds_nothing(written: str) -> None:
    assert names_in(written) == []


def test_a_live_blog_is_read_and_there_is_an_end_to_it() -> None:
    entries = '{"a": 1},' * (MAX_JSON_LD_CHARS // 20)
    assert names_in('{"name": "a", "entries": [' + entries.rstrip(",") + "]}") == ["a"]
    assert names_in('{"name": "a", "b": "' + "x" * MAX_JSON_LD_CHARS + '"}') == []
