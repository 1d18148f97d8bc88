"""One page that is stored under two addresses: one article, at the plainer of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crawling import article, rows
from qiaocrawl.runs.reprocess import reprocess_extract
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.titles.groups import article_at
from qiaocrawl.storage.topics.judgements import save_judgement
from stored_pages import HOST, opened, store

__all__ = ["opened"]

_PAGE = article("老码头修缮工程昨天动工，乡亲送来旧照片")
_NAMES_ITS_PLACE = _PAGE.replace(
    b"</head>", f'<link rel="canonical" href="http://{HOST}/1.html"></head>'.encode()
)
_MARKED = ("/1.html?from=hot", "/1.html?sid=ab12cd34ef")


def _outcomes(database_url: str) -> dict[str, str]:
    found = rows(database_url, "SELECT url, outcome FROM url")
    return {url.removeprefix(f"http://{HOST}"): outcome for url, outcome in found}


@pytest.mark.parametrize("order", [("/1.html", *_MARKED), (*_MARKED, "/1.html")])
def test_the_plain_address_has_the_article_whatever_comes_first(
    database_url: str, opened: Callable[[], Runtime], order: tuple[str, ...]
) -> None:
    for path in order:
        store(database_url, {path: _PAGE})
    runtime = opened()
    for _ in range(2):  # the second time nothing changes
        reprocess_extract(runtime, lambda _: True)
        assert _outcomes(database_url) == {"/1.html": "article", **dict.fromkeys(_MARKED, "alias")}
        for table in ("relevance", "verdict", "article"):
            assert rows(database_url, f"SELECT COUNT(*) FROM {table}") == [(1,)]
    with Database.open(database_url) as database, database.engine.connect() as c:
        places = {article_at(c, f"http://{HOST}{path}") for path in ("/1.html", *_MARKED)}
    assert len(places) == 1


def test_what_a_page_names_as_its_address_counts(
    database_url: str, opened: Callable[[], Runtime]
) -> None:
    store(database_url, {"/1.html": _PAGE})
    store(database_url, {"/show.php?id=1": _NAMES_ITS_PLACE})
    reprocess_extract(opened(), lambda _: True)
    assert _outcomes(database_url) == {"/1.html": "article", "/show.php?id=1": "alias"}


def test_two_places_of_one_text_and_judged_pages_stay(
    database_url: str, opened: Callable[[], Runtime]
) -> None:
    for path in ("/1.html", "/channel/1.html", _MARKED[0]):
        store(database_url, {path: _PAGE})
    with Database.open(database_url) as database, database.engine.begin() as c:
        save_judgement(
            c, "qiaoqing", f"http://{HOST}{_MARKED[0]}", relevant=True, note="", now=1.8e9
        )
    reprocess_extract(opened(), lambda _: True)
    assert set(_outcomes(database_url).values()) == {"article"}
    kinds = rows(database_url, "SELECT kind FROM verdict ORDER BY article_id")
    assert kinds == [("distinct",), ("same_page",), ("same_page",)]
