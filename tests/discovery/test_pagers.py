"""Which link leads to the next page of a list."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qiaocrawl.discovery.pagers import ListBound, pager_of
from qiaocrawl.items import Link
from qiaocrawl.page.links import NEXT_TAG
from qiaocrawl.urls import host_of, url_key

_A = "http://a.test"


def links(*pairs: tuple[str, str]) -> list[Link]:
    return [
        Link(_A + path, url_key(_A + path), host_of(_A + path), anchor) for anchor, path in pairs
    ]


def numbered(pattern: str, *numbers: int) -> list[Link]:
    return links(*((str(n), pattern.format(n)) for n in numbers))


@pytest.mark.parametrize(
    ("own", "shown", "next_path"),
    [
        ("/list_1.html", numbered("/list_{}.html", 1, 2, 3, 9), "/list_2.html"),
        ("/list.html", numbered("/list_{}.html", 2, 3, 4), "/list_2.html"),
        ("/list_3.html", numbered("/list_{}.html", 1, 2, 4, 5), "/list_4.html"),
        ("/list_9.html", numbered("/list_{}.html", 7, 8), None),
        ("/l?p=2", [*numbered("/l?p={}", 1, 3, 4), *links(("下一页", "/l?p=3"))], "/l?p=3"),
        (
            "/l/",
            links(("1", "/l/"), ("2", "/l/2/"), ("下一页>", "/l/2/"), ("尾页", "/l/99/")),
            "/l/2/",
        ),
        # Archives whose numbers fall are followed by what the link is called.
        (
            "/a/98.html",
            [*numbered("/a/{}.html", 99, 97, 96), *links(("下一页", "/a/97.html"))],
            "/a/97.html",
        ),
        (
            "/roll/2026-03-05.html",
            links(("前一天", "/roll/2026-03-04.html"), ("后一天", "/roll/2026-03-06.html")),
            "/roll/2026-03-04.html",
        ),
        ("/blog/", links(("Older posts", "/blog/page/2/")), "/blog/page/2/"),
        (
            "/l?start=20",
            [
                *numbered("/l?start={}", 20),
                *links(("1", "/l?start=0"), ("3", "/l?start=40"), ("4", "/l?start=60")),
            ],
            "/l?start=40",
        ),
        # Of two arrows the one that points less far; a number nearer than both.
        (
            "/",
            links(("2", "/page/2/"), ("3", "/page/3/"), ("13", "/page/13/"), ("»»", "/page/13/")),
            "/page/2/",
        ),
        ("/page/4/", links(("»»", "/page/13/"), ("»", "/page/5/"), ("«", "/page/3/")), "/page/5/"),
        ("/l?p=1", links((">|", "/l?p=9"), (">", "/l?p=2")), "/l?p=2"),
        (
            "/l?p=3",
            links(("1", "/l?p=1"), ("5", "/l?p=5"), ("9", "/l?p=9"), ("›", "/l?p=4")),
            "/l?p=4",
        ),
        ("/l?p=8", links(("7", "/l?p=7"), ("尾页", "/l?p=9")), None),
        # The newest page has the highest number; or the numbers rise where those of addresses fall.
        ("/page/98", [*numbered("/page/{}", 97, 96, 95)], "/page/97"),
        ("/page/98", links(("2", "/page/97"), ("3", "/page/96")), "/page/97"),
        ("/l", links(("21-40", "/l?start=20"), ("41-60", "/l?start=40")), "/l?start=20"),
        ("/l?p=2", numbered("/l?p={}", 3, 1, 5, 4), "/l?p=3"),
    ],
)
def test_next_pages(own: str, shown: list[Link], next_path: str | None) -> None:
    pager = pager_of(_A + own, [*links(("要闻一则", "/n/1.html"), ("侨乡", "/x/2.html")), *shown])
    assert pager is not None
    assert (pager.next and pager.next.url) == (next_path and _A + next_path)
    assert url_key(f"{_A}/n/1.html") not in pager.others
    if pager.next is not None:
        assert pager.next.key not in pager.others


@pytest.mark.parametrize(
    "shown",
    [
        [],
        links(("要闻", "/1.html"), ("侨乡", "/2.html")),
        numbered("/cal/2026-03-{:02}", *range(1, 32)),
        links(("1", "/a.html"), ("2", "/b.html")),
        links(
            ("2", "http"),
        ),
        # Ranks of stories beside a link to somewhere else; the headings of a home page.
        [*numbered("/n/{}.html", 3, 4, 5), *links(("下一页", "/about"))],
        links((">>", "/a/list_1.html"), (">>", "/b/list_2.html"), (">>", "/c/list_3.html")),
    ],
)
def test_what_is_no_pager(shown: list[Link]) -> None:
    assert pager_of(f"{_A}/list.html", shown) is None


def test_what_is_called_next_is_followed_and_never_put_off() -> None:
    both = links(("下一页", "/l?p=2"), ("前一天", "/l?p=7"), ("9", "/l?p=9"))
    pager = pager_of(f"{_A}/l?p=1", both)
    assert pager is not None
    assert pager.others == {url_key(f"{_A}/l?p=9")}
    told = replace(links(("此前的全部文章都在这里请点击阅读", "/l?p=2"))[0], tag=NEXT_TAG)
    pager = pager_of(f"{_A}/l?p=1", [told, *numbered("/l?p={}", 3)])
    assert pager is not None
    assert pager.next == told
    assert pager.shown_name == f"{_A}/l?p=N"


def test_a_list_that_was_put_off_may_be_dry_for_longer() -> None:
    bound = ListBound()
    said = [
        bound.should_continue("a", brings_new=False, taken_up=up)
        for up in (False, False, True, False, True, False, False)
    ]
    assert said == [True, False, True, False, True, True, True]


def test_a_list_ends_after_two_dry_pages() -> None:
    bound = ListBound()
    said = [
        bound.should_continue("a", brings_new=new)
        for new in (True, False, True, False, False, True)
    ]
    assert said == [True, True, True, True, False, True]
    assert bound.should_continue("b", brings_new=False)
