"""Nothing active comes out of any page: payloads of others where they are at hand, and ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser

from qiaocrawl.extract.structure.markdown import to_markdown
from whole_bodies import URL, whole

EXTERNAL = Path(__file__).parents[4] / "shared" / "data" / "external"
PICTURE = "https://www.qiao.example/p.jpg"
TAGS = frozenset(
    ("html", "head", "body", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt",
     "dd", "blockquote", "pre", "code", "table", "tbody", "tr", "td", "th", "caption", "figure",
     "figcaption", "img", "a", "strong", "em", "sub", "sup", "del", "br")
)  # fmt: skip
ATTRIBUTES = {
    "a": {"href": re.compile(r"(?:https?://|mailto:)\S+")},
    "img": {"src": re.compile(r"https?://\S+"), "alt": re.compile(".*", re.DOTALL)},
    "td": dict.fromkeys(("colspan", "rowspan"), re.compile(r"\d{1,3}")),
    "th": dict.fromkeys(("colspan", "rowspan"), re.compile(r"\d{1,3}")),
    "ol": {"start": re.compile(r"\d{1,6}")},
    "code": {"class": re.compile(r"language-[a-z0-9+#-]{1,20}")},
}
OURS = [
    "<p onclick=alert(1) style='background:url(javascript:alert(1))'>x</p>",
    "<a href='JaVaScRiPt:alert(1)'>x</a><a href='java&#10;script:alert(1)'>y</a>",
    "<a href=' &#1;javascript:alert(1)'>x</a><a href='data:text/html,<script>1</script>'>y</a>",
    "<a href='vbscript:x'>x</a><a href='//evil.example/&quot;onmouseover=alert(1)'>y</a>",
    "<a href='https://e.example/)[x](javascript:alert(1)'>x</a>",
    "<a href='mailto:a@b.c\n<script>'>y</a>",
    "<img src=/p.jpg alt='\"><script>alert(1)</script>' onerror=alert(1)>t",
    "<img src=/p.jpg alt='](javascript:alert(1))![x'>t",
    "<p>[x](javascript:alert(1)) ![x](data:text/html,1) <javascript:alert(1)></p>",
    "<p>[x]:</p><p>[x]: javascript:alert(1)</p><p>[x][x]</p><p>&lt;script&gt;1&lt;/script&gt;</p>",
    "<pre class='lang-&quot;onclick=1 brush: js'>```\n<script>alert(1)</script>\n~~~</pre>",
    "<p><code>`</code><code>``<script>``</code></p><pre>\n</pre><pre>````\n</pre>",
    "<table><tr><td colspan='2\" onclick=x'>a|<td>`|`<tr><td>\\|<td>&lt;b&gt;</table>",
    "<svg><script>1</script><a xlink:href='javascript:1'>x</a></svg><math><mtext><b>x</b></math>",
    "<noscript><p title='</noscript><img src=x onerror=1>'></noscript><template><b>x</template>x",
    "<ol start='1e9'><li>a</ol><ol start='-1'><li>b</ol><form action=javascript:1><input>x</form>",
    "<iframe src=javascript:1></iframe><object data=x></object>",
    "<embed src=x>x<base href=javascript:>",
    "<p>a\x00b\x0bc\ud800d\ufffe</p>",
    "<" + "b><i><div><blockquote><ul><li>" * 900 + "tief",
    "<a href=/1>" + "<div><a href=/2>x</a>" * 50,
]  # fmt: skip


def external_payloads() -> Iterator[str]:
    for case in json.loads((EXTERNAL / "dompurify" / "expect.json").read_text("utf-8")):
        yield case["payload"]
    for string in json.loads((EXTERNAL / "blns" / "blns.json").read_text("utf-8")):
        yield string
        safe = escape(string)
        yield f"<p>{safe}</p><a href='{safe}'>x</a><img src=/p.jpg alt='{safe}'>"
    for file in sorted((EXTERNAL / "html5lib-tests" / "tokenizer").glob("*.test")):
        for test in json.loads(file.read_text("utf-8")).get("tests", ()):
            yield test["input"]


def tokens(of: list[Token]) -> Iterator[Token]:
    for token in of:
        yield token
        yield from tokens(token.children or [])


def check_passive(page: str) -> None:
    html = whole(f"<p>甲</p>{page}<p>乙</p>", pictures={PICTURE: ""})
    for node in LexborHTMLParser(html).css("*"):
        assert node.tag in TAGS, (page, html)
        allowed = ATTRIBUTES.get(node.tag or "", {})
        for name, value in node.attributes.items():
            assert name in allowed, (page, html)
            assert allowed[name].fullmatch(value or ""), (page, html)
    markdown = to_markdown(html)
    for token in tokens(MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)):
        assert token.type not in ("html_block", "html_inline"), (page, markdown)
        for name, value in token.attrs.items():
            if name in ("href", "src"):
                assert re.match(r"https?://|mailto:", str(value)), (page, markdown)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", html + markdown)


@pytest.mark.parametrize("page", OURS, ids=range(len(OURS)))
def test_our_payloads(page: str) -> None:
    check_passive(page)


def test_payloads_of_others() -> None:
    if not EXTERNAL.is_dir():
        pytest.skip(f"no payload files at {EXTERNAL}")
    count = 0
    for payload in external_payloads():
        check_passive(payload)
        count += 1
    assert count > 1_000


@settings(deadline=None, max_examples=100)
@given(st.text(st.sampled_from("<>/ab\"'`=[]()!\\|*_#-\n &;:1pahreflidtr"), max_size=120))
def test_any_markup(page: str) -> None:
    check_passive(page)


def test_text_is_read_back_from_markdown_as_it_was() -> None:
    """What a reader of the Markdown sees is the text."""
    lines = [
        "1. 甲", "1) 乙", "- x", "+ y", "* z", "# t", "a_b_ _c_ **d** ~~e~~", "> q", "====", "---",
        "[l](u) ![i](v) <http://e.example> &lt; &#60;", "`c` ``d``", "a | b", "\\* \\\\", "~~~",
    ]  # fmt: skip
    markdown = to_markdown(whole("".join(f"<p>{escape(line)}</p>" for line in lines)))
    rendered = LexborHTMLParser(MarkdownIt("gfm-like", {"linkify": False}).render(markdown))
    assert [node.text().strip() for node in rendered.css("p")] == lines
    assert URL not in markdown
