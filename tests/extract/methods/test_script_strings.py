"""Strings of a script are read in step, whatever stands between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.extract.methods.script_strings import named_strings, string_spans, unescape


def strings(source: str) -> list[str]:
    return [source[start + 1 : end - 1] for start, end in string_spans(source)]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("a = 'one', b = \"two\", c = `three`;", ["one", "two", "three"]),
        ("a = 'it\\'s', b = \"\\\\\", c = 'x';", ["it\\'s", "\\\\", "x"]),
        ("// it's\na = 'x'; /* \" ' */ b = 'y'; <!-- don't\nc = 'z'", ["x", "y", "z"]),
        ("a = b / 'x'.length / 2;", ["x"]),
        ("a = b.split(/['\"]/g).join('x') / c / 'y'", ["x", "y"]),
        ("return /'/.test(a) ? 'x' : 'y'", ["x", "y"]),
        ("if (a) /[/']/.test(b) && c('x')", ["x"]),
        ("a = (b) / 2 + 'x' + c / 3", ["x"]),
        ("a = b[0] / 2; c = 'x'; d = 4 / 2", ["x"]),
        ("a = b /* ' */ / 2 + 'x' / 3", ["x"]),
        ("for (;;) {}\n/'/.exec(a); b = 'x'", ["x"]),
        ("a = `<b>${c ? 'x' : `in ${d['y']}`}</b>`; e = 'z'", ["x", "y", "z"]),
        ("a = `${ {b: {c: '}'}} }`; d = 'z'", ["}", "z"]),
        ("a = 'not closed\nb = 'x'", ["x"]),
        ("a = 'two \\\n lines', b = 'x'", ["two \\\n lines", "x"]),
        ("a = `not closed ' \" ", []),
    ],
)
def test_quotes_count_only_where_they_open_a_string(source: str, wanted: list[str]) -> None:
    assert strings(source) == wanted


def test_names_are_those_of_the_value() -> None:
    source = (
        "x = {content: JsDecode('one'), 'body_html' : \"two\", window.text='three', log(\"four\"), "
        "a == 'five', detail: '<p>six</p>' +\n '<p>seven</p>', {b: f.g( `eight` )}"
    )
    assert [(found.name, found.written) for found in named_strings(source)] == [
        ("content", "one"),
        ("body_html", "two"),
        ("text", "three"),
        ("detail", "<p>six</p><p>seven</p>"),
    ]


def test_escapes() -> None:
    assert unescape(r"a\x0ab\u4fa8\u{4e61}\'\n\ud83d\ude00\q") == "a\nb侨乡'\n😀q"
    assert unescape("one \\\r\ntwo") == "one two"


@given(st.text(alphabet="'\"`/\\\n*(){}[]$=:ax <!-", max_size=200))
def test_any_source_is_read_and_spans_are_in_order(source: str) -> None:
    last = 0
    for start, end in string_spans(source):
        assert last <= start < end <= len(source)
        assert source[start] == source[end - 1]
        last = end
    list(named_strings(source))


@pytest.mark.parametrize(
    "source",
    [")/[", "}/[", "=/[", "'", 'a="', "`", "`${", "`${}", "/*", "/**/ /", "a:'x'+", "x='\n", "\\"],
)
def test_hostile_sources_take_linear_time(source: str) -> None:
    list(named_strings(source * 60_000))
