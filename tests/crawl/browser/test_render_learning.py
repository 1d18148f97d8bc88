"""What is learnt of pages that need a browser, and how it is doubted."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from qiaocrawl.fetch.rendering import MAX_FORMS_OF_HOST, RenderModel, RenderVotes
from qiaocrawl.items import FetchedPage, Lease, Outcome, PageAnalysis, Payload, Queue

HOST = "news.test"
PLAIN = FetchedPage(f"http://{HOST}/a/1.html", "", 200, (), b"", datetime.now(UTC))
RENDERED = replace(PLAIN, headers=(("x-qiaocrawl-rendered", "1"),))
FETCHING = replace(PLAIN, body=b"<div id=x></div><script>fetch('/d')</script>")


def lease(path: str = "/a/1.html", **changes: object) -> Lease:
    base = Lease(1, 1, 1, f"http://{HOST}{path}", b"k" * 16, HOST, Queue.SITE, "t", 0.0, 1, 0)
    return replace(base, **changes)  # type: ignore[arg-type]


def read(outcome: Outcome, reason: str = "") -> PageAnalysis:
    return PageAnalysis(outcome, None, (), "utf-8", reason=reason)


SHELL = read(Outcome.NEEDS_RENDERING)
ARTICLE = read(Outcome.ARTICLE)


def learnt(*pages: tuple[FetchedPage, PageAnalysis]) -> RenderModel:
    learning = RenderModel()
    for page, analysis in pages:
        learning.learn(lease(), page, analysis)
    return learning


@pytest.mark.parametrize(("page", "analysis", "row", "expected"), [
    (PLAIN, SHELL, lease(), True),
    (RENDERED, SHELL, lease(), False),
    # Its row was marked before: this is the second fetch, whatever came of it.
    (PLAIN, SHELL, lease(payload=Payload(render="x")), False),
    (PLAIN, ARTICLE, lease(), False),
    (FETCHING, read(Outcome.NOT_ARTICLE, "no body: nothing"), lease(), True),
    (PLAIN, read(Outcome.NOT_ARTICLE, "no body: nothing"), lease(), False),
    (FETCHING, read(Outcome.NOT_ARTICLE, "no title"), lease(), False),
])  # fmt: skip
def test_what_is_fetched_again(
    page: FetchedPage, analysis: PageAnalysis, row: Lease, expected: bool
) -> None:
    assert RenderModel().needs_rendering(row, page, analysis) is expected


def test_two_pages_that_gained_send_the_next_straight_to_the_browser() -> None:
    assert not learnt((RENDERED, ARTICLE)).renders_directly(lease())
    learning = learnt(*[(RENDERED, ARTICLE)] * 2)
    assert learning.renders_directly(lease("/a/77.html"))
    assert not learning.renders_directly(lease("/b/77.html"))
    assert not learning.renders_directly(lease(queue=Queue.SEARCH))
    assert not learning.renders_directly(lease(stored=True))


def test_a_site_that_no_longer_needs_it_is_believed_soon() -> None:
    learning = learnt(*[(RENDERED, ARTICLE)] * 99)
    pages = 0
    while learning.renders_directly(lease()):
        learning.learn(lease(), PLAIN, ARTICLE)
        pages += 1
    assert pages == 19


def test_what_was_in_vain_is_spared_for_a_week() -> None:
    assert not learnt((RENDERED, SHELL)).is_useless_for(lease())
    learning = learnt(*[(RENDERED, SHELL)] * 2)
    assert learning.is_useless_for(lease())
    old = RenderVotes(HOST, "/a/0.html", in_vain=9, at=time.time() - 8 * 86400)
    learning.restore([old])
    assert not learning.is_useless_for(lease())
    learning.restore([replace(old, at=time.time())])
    assert [learning.is_useless_for(lease()) for _ in range(30)].count(False) == 1
    # Gains count at once.
    for _ in range(3):
        learning.learn(lease(), RENDERED, ARTICLE)
    assert not learning.is_useless_for(lease())
    assert learning.renders_directly(lease())


def test_a_mark_in_the_row_needs_no_memory_and_teaches_nothing() -> None:
    learning = RenderModel()
    marked = lease(payload=Payload(render="mount point"))
    assert learning.renders_directly(marked)
    assert learning.learn(marked, PLAIN, ARTICLE) is None
    assert learning.learn(lease(), PLAIN, ARTICLE) is None, "nobody had gained"
    assert learning.learn(lease(), RENDERED, read(Outcome.LOGIN)) is None


def test_a_host_with_endless_forms_has_one_for_the_rest() -> None:
    learning = RenderModel()
    for n in range(MAX_FORMS_OF_HOST + 5):
        word = "".join("abcdefghij"[int(digit)] for digit in str(n))
        votes = learning.learn(lease(f"/{word}/1.html"), RENDERED, ARTICLE)
    assert votes is not None
    assert (votes.form, votes.gained) == ("*", 5)
    assert learning.renders_directly(lease("/never/seen.html"))
