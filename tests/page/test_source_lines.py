"""Lines of source: visible text, its bytes, all bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.page.lines import is_single_line, source_lines, visible_lines, with_block_lines


def test_bytes_of_text_and_line() -> None:
    lines = source_lines("  <p>侨务 a</p>  \n<br>\n")
    assert lines.texts == ["侨务 a", "", ""]
    assert lines.text_bytes == [8, 0, 0]
    assert lines.all_bytes == [len("<p>侨务 a</p>".encode()), 0, 0]


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("a<!-- <p>x\n</p> -->b\nc", ["a", "b", "c"]),
        ("a<SCRIPT>if (a < b) {\n}</ScRiPt >b", ["a", "b"]),
        ("<style>p {}</style>a", ["a"]),
        ("a<noscript>b</noscript>c", ["ac"]),
        ("a<textarea>b</textarea><select><option>c</select>d", ["ad"]),
        ("a<p\nclass=x\n>b</p>", ["a", "", "b"]),
        ("1 < 2 &lt; 3 &amp; 4", ["1 < 2 < 3 & 4"]),
        ("a&#10;b&nbsp;\u3000", ["a b"]),
        ("a<!-- never closed\nb", ["a", ""]),
        ("a<script>never closed\nb", ["a", ""]),
        ("a<svg>never closed\nb", ["anever closed", "b"]),
        ("<scripted>a</scripted>", ["a"]),
        ("", [""]),
    ],
)
def test_visible_text(source: str, texts: list[str]) -> None:
    assert visible_lines(source) == texts


def test_blocks_become_lines() -> None:
    assert with_block_lines("<DIV>a<b>b</b><P>c<br/>d</DIV><pre>e") == (
        "\n<DIV>a<b>b</b>\n<P>c\n<br/>d\n</DIV>\n<pre>e"
    )
    assert with_block_lines("<param><link><tablet>") == "<param><link><tablet>"


def test_single_line_pages() -> None:
    assert is_single_line("x" * 2001)
    assert not is_single_line("x\n" * 2000)
    assert not is_single_line("")


@given(st.text(alphabet="<>/!-scriptylab \n&;#1侨\"'=") | st.text())
@settings(deadline=None)
def test_there_are_as_many_lines_as_in_the_source(source: str) -> None:
    lines = visible_lines(source)
    assert len(lines) == source.count("\n") + 1
    assert all("\n" not in line for line in lines)
