"""Archives with the pagers of real life: five list pages each, each with a story of its own.

Each kind is a site; every page of its list also shows the story that the first page has, as
lists with a column of hot topics do, so that a page of known links only is nothing unusual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crawling import article

PAGES = 5
STORIES = 1

Pager = Callable[[int], str]
"""The HTML of the pager on page number so-and-so."""


@dataclass(frozen=True)
class Kind:
    """A kind of pager.

    Attributes:
        path: of list page n; the first is the home page where it is "/".
        pager: its HTML.
        head: what the head of the page says.
        missing: list pages that answer 404.
        dry: list pages that show what the first one shows and no more.
    """

    path: Callable[[int], str]
    pager: Pager = lambda n: ""
    head: Pager = lambda n: ""
    missing: frozenset[int] = frozenset()
    dry: frozenset[int] = frozenset()


def _a(href: str, text: object, more: str = "") -> str:
    return f'<a href="{href}"{more}>{text}</a> '


def _numbers(
    path: Callable[[int], str], *order: int, label: Callable[[int], object] = str
) -> Pager:
    shown = order or tuple(range(1, PAGES + 1))
    return lambda n: "".join(
        f"<b>{label(m)}</b> " if m == n else _a(path(m), label(m)) for m in shown
    )


def _steps(path: Callable[[int], str], first: str, back: str, on: str, last: str) -> Pager:
    def pager(n: int) -> str:
        before = (_a(path(1), first) if first else "") + (_a(path(n - 1), back) if n > 1 else "")
        after = _a(path(n + 1), on) if n < PAGES else ""
        return before + after + (_a(path(PAGES), last) if last else "")

    return pager


def _blog(path: Callable[[int], str]) -> Pager:
    """Two numbers, the last one, an arrow to the next page and a double one to the last."""

    def pager(n: int) -> str:
        near = [m for m in (n + 1, n + 2) if m < PAGES]
        arrows = _a(path(n + 1), "»") + _a(path(PAGES), "»»") if n < PAGES else ""
        return "".join(_a(path(m), m) for m in near) + "… " + arrows

    return pager


def _gaps(path: Callable[[int], str]) -> Pager:
    return lambda n: " … ".join(_a(path(m), m) for m in sorted({1, n - 1, n + 1, PAGES})
                                if 1 <= m <= PAGES and m != n)


def _only_next(make: Callable[[int], str]) -> Pager:
    return lambda n: make(n + 1) if n < PAGES else ""


def _plain(form: str, first: str = "") -> Callable[[int], str]:
    return lambda n: first if first and n == 1 else form.format(n)


_STATIC = _plain("/list_{}.html", "/list.html")
_QUERY = _plain("/l?page={}")
_FOLDER = _plain("/page/{}/", "/")
_FALLING = (lambda n: "/" if n == 1 else f"/page/{PAGES + 1 - n}")  # noqa: E731


def _offset(name: str) -> Callable[[int], str]:
    return lambda n: f"/l?{name}={20 * (n - 1)}" if n > 1 else "/l"


def _form(n: int) -> str:
    return (f'<form action="/l" method="get"><input type="hidden" name="page" value="{n}">'
            '<button type="submit">下一页</button></form>')


def _menu(path: Callable[[int], str]) -> Pager:
    options = "".join(f'<option value="{path(m)}">第{m}页</option>' for m in range(1, PAGES + 1))
    return lambda n: f'<select onchange="location=this.value">{options}</select>'


def _menu_form(n: int) -> str:
    options = "".join(f'<option value="{m}">{m}</option>' for m in range(1, PAGES + 1))
    return f'<form action="/l"><select name="page">{options}</select><button>Go</button></form>'


KINDS: Mapping[str, Kind] = {
    "numbers": Kind(_STATIC, _numbers(_STATIC)),
    "arrows": Kind(_QUERY, _steps(_QUERY, "«", "‹", "›", "»")),
    "blog": Kind(_FOLDER, _blog(_FOLDER)),
    "words": Kind(_STATIC, _steps(_STATIC, "首页", "上一页", "下一页", "尾页")),
    "bars": Kind(_QUERY, _steps(_QUERY, "|<", "<", ">", ">|")),
    "more": Kind(_QUERY, _only_next(lambda n: _a(_QUERY(n), "加载更多", ' class="load-more"'))),
    "scroll": Kind(_QUERY, _only_next(lambda n: f'<div data-next-url="{_QUERY(n)}"></div>')),
    "ranges": Kind(_offset("start"), _numbers(
        _offset("start"), label=lambda m: f"{20 * m - 19}-{20 * m}")),
    "letters": Kind(lambda n: f"/az/{chr(64 + n)}.html", lambda n: "".join(
        _a(f"/az/{chr(64 + m)}.html", chr(64 + m)) for m in range(1, PAGES + 1))),
    "months": Kind(lambda n: f"/archives/2026/{n:02}/", lambda n: "".join(
        _a(f"/archives/2026/{m:02}/", f"2026年{m}月") for m in range(1, PAGES + 1))),
    "offset": Kind(_offset("offset"), _numbers(_offset("offset"))),
    "start": Kind(_offset("start"), _steps(_offset("start"), "First", "Prev", "Next", "Last")),
    "buttons": Kind(_QUERY, _only_next(_form)),
    "head": Kind(_QUERY, head=_only_next(lambda n: f'<link rel="next" href="{_QUERY(n)}">')),
    "rel": Kind(_QUERY, _only_next(
        lambda n: _a(_QUERY(n), "此前发表的全部文章都在这里，请点击阅读", ' rel="next"'))),
    "image": Kind(_QUERY, _only_next(
        lambda n: _a(_QUERY(n), '<img src="/r.gif" alt="下一页">'))),
    "order": Kind(_QUERY, _numbers(_QUERY, 3, 1, 5, 2, 4)),
    "gaps": Kind(_QUERY, _gaps(_QUERY)),
    "falling": Kind(_FALLING, _numbers(_FALLING, label=lambda m: PAGES + 1 - m)),
    "menu": Kind(_STATIC, _menu(_STATIC)),
    "menuform": Kind(_QUERY, _menu_form),
    "folder": Kind(_FOLDER, _steps(_FOLDER, "", "Newer posts", "Older posts", "")),
    "once": Kind(_STATIC, lambda n: _numbers(_STATIC)(n) if n == 1 else ""),
    "failing": Kind(_STATIC, _numbers(_STATIC), missing=frozenset({2})),
    "dry": Kind(_STATIC, _steps(_STATIC, "", "上一页", "下一页", ""), dry=frozenset({2, 3, 4})),
}


def site_of(name: str) -> str:
    """Where the archive of that name stands."""
    return f"http://{name}.pagers.test"


def start_of(name: str) -> str:
    """Its first list page."""
    return site_of(name) + KINDS[name].path(1)


def stories_of(name: str) -> set[str]:
    """The stories that links lead to."""
    kind = KINDS[name]
    return {f"{site_of(name)}/story/{n}-{m}.html"
            for n in range(1, PAGES + 1) if n not in kind.missing | kind.dry
            for m in range(STORIES)}


def pages_of(name: str) -> dict[str, bytes]:
    """All pages of the archive of that name by URL."""
    kind, site = KINDS[name], site_of(name)
    found = {site + kind.path(n): _list(name, kind, n)
             for n in range(1, PAGES + 1) if n not in kind.missing}
    return found | {url: article(f"侨乡故事{url}", paragraphs=3) for url in stories_of(name)}


def _list(name: str, kind: Kind, n: int) -> bytes:
    own = () if n in kind.dry else (n,)
    items = "".join(
        f'<li><a href="/story/{page}-{m}.html">侨务新闻第{page}页第{m}条：侨胞回乡参访</a>'
        f"<span>2026-03-{page:02}</span></li>\n"
        for page in dict.fromkeys((*own, 1)) for m in range(STORIES)
    ) + "".join(
        f'<li><a href="http://elsewhere.test/{n}-{m}.html">外站转来的要闻第{n}页第{m}条</a></li>\n'
        for m in range(8)
    )
    return (
        f'<html><head><meta charset="utf-8"><title>要闻列表 {name}</title>{kind.head(n)}</head>'
        f"<body><h1>要闻列表</h1><ul class='news'>\n{items}</ul>\n<div class='pager'>"
        f"{kind.pager(n)}</div></body></html>"
    ).encode()
