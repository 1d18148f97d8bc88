"""Links that are no anchors: heads, buttons, menus, data attributes, pages of frames."""

from __future__ import annotations

import pytest

from qiaocrawl.page.other_links import MAX_CONTROLS, control_links
from qiaocrawl.page.page import parse_page

_URL = "http://a.test/l?page=1"


def found(html: str) -> list[tuple[str, str]]:
    page = parse_page(html.encode(), "text/html; charset=utf-8", _URL)
    return [(link.url.removeprefix("http://a.test"), link.anchor) for link in control_links(page)]


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ('<link rel="next" href="/l?page=2">', [("/l?page=2", "")]),
        ('<div data-next-url="?page=2">更多</div>', [("/l?page=2", "更多")]),
        ('<li data-href="/story/1.html">侨乡</li>', [("/story/1.html", "侨乡")]),
        (
            '<select><option value="/s_2.html">第2页<option value="/s_3.html">第3页</select>',
            [("/s_2.html", "第2页"), ("/s_3.html", "第3页")],
        ),
        (
            "<form><input type=hidden name=page value=2><button>下一页</button></form>",
            [("/l?page=2", "下一页")],
        ),
        (
            "<form action=/s><button name=p value=2>2</button>"
            "<input type=submit name=p value=3></form>",
            [("/s?p=2", "2"), ("/s?p=3", "3")],
        ),
        (
            '<form action="/s?old=1"><select name=p><option>2<option value=3>三</select></form>',
            [("/s?p=2", "2"), ("/s?p=3", "三")],
        ),
    ],
)
def test_what_leads_somewhere_without_an_anchor(html: str, links: list[tuple[str, str]]) -> None:
    assert found(html) == links


@pytest.mark.parametrize(
    "html",
    [
        "<form><input name=q><button>搜索</button></form>",
        "<form method=post><input type=hidden name=page value=2><button>下一页</button></form>",
        "<form><input type=checkbox name=a value=1><button>选</button></form>",
        "<form><textarea name=a></textarea><button>写</button></form>",
        "<form><select name=a><option>1</select><select name=b><option>1</select></form>",
        '<form action="/logout"><button>退出</button></form>',
        '<form action="http://b.test/"><button>去</button></form>',
        "<form><input type=hidden name=page value=1><button>本页</button></form>",
        '<p data-url="https://a.test/l?page=1">分享本页</p>',
        '<select><option value="3">三<option value="">全部</select>',
        '<a data-url="http://b.test/share?u=1">x</a><p data-href="/a.jpg">x</p>'
        '<p data-url="x">x</p>',
        '<link rel="alternate" href="/en/">',
    ],
)
def test_what_is_left_to_the_visitor(html: str) -> None:
    assert found(html) == []


def test_a_page_has_no_end_of_them() -> None:
    many = "".join(f'<option value="/l?page={n}">{n}' for n in range(2, 5_000))
    assert len(found(f"<select>{many}</select>")) == MAX_CONTROLS


def test_a_page_of_frames_is_read_as_browsers_without_frames_do() -> None:
    page = parse_page(
        b"<frameset><frame src=/left><noframes><a href=/in>in</a></noframes></frameset>"
        b"<body><a href=/after>after</a></body>",
        "text/html",
        _URL,
    )
    assert [link.url for link in page.links(9)] == [
        "http://a.test/left",
        "http://a.test/in",
        "http://a.test/after",
    ]
