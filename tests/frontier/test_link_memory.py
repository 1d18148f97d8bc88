"""What the adaptive order remembers of a crawl's graph: URLs, links between them, their words."""

from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.frontier import CrawlTopic, FoundLink, VisitedPage
from qiaocrawl.frontier.strategies.adaptive.arrays import MAX_LINKS_HERE, MAX_WORDS
from qiaocrawl.frontier.strategies.adaptive.link_features import LinkWords, place
from qiaocrawl.frontier.strategies.adaptive.link_memory import LinkMemory
from qiaocrawl.items import Link
from qiaocrawl.topic.pack import Term, TopicPack
from qiaocrawl.urls import url_key

HOST = "x.test"
PACK = TopicPack("lights", "", "", 0.1, (Term("灯塔", "core"),), (), ())
words = cache(lambda: LinkWords(CrawlTopic(PACK)))


@pytest.fixture
def memory() -> LinkMemory:
    return LinkMemory(words())


def url(node: int) -> str:
    return f"http://{HOST}/{node}"


def visit(memory: LinkMemory, node: int, *targets: int, anchors: tuple[str, ...] = (),
          depth: int = 0, relevant: bool = False) -> None:  # fmt: skip
    """Enter page *node* with links to *targets*, called *anchors* or nothing."""
    page = VisitedPage(url(node), HOST, depth, float(relevant), relevant, 1e9, node)
    names = (*anchors, *[""] * len(targets))
    memory.visit(page, [
        FoundLink(Link(url(target), url_key(url(target)), HOST, name), place, len(targets), target)
        for place, (target, name) in enumerate(zip(targets, names, strict=False))
    ])  # fmt: skip


def links_to(memory: LinkMemory, node: int) -> list[int]:
    """The links that are remembered to lead to *node*, in order of discovery."""
    chain, at = [], int(memory.nodes.first_link[node])
    while at >= 0:
        chain.append(at)
        at = int(memory.links.next_here[at])
    return chain


def test_the_links_of_a_page_stand_together_in_the_order_of_the_document(
    memory: LinkMemory,
) -> None:
    visit(memory, 0, 1, 2)
    visit(memory, 1, 2, 3, 0)
    start, count = int(memory.nodes.link_start[1]), int(memory.nodes.link_count[1])
    assert memory.links.target[start : start + count].tolist() == [2, 3, 0]
    assert memory.links.source[start : start + count].tolist() == [1, 1, 1]
    assert memory.links.position[start : start + count] == pytest.approx([0, 1 / 3, 2 / 3])


def test_the_links_to_a_page_are_chained_in_the_order_they_were_met(memory: LinkMemory) -> None:
    visit(memory, 0, 2)
    visit(memory, 1, 3, 2)
    assert [int(memory.links.source[link]) for link in links_to(memory, 2)] == [0, 1]
    assert links_to(memory, 0) == []


def test_the_page_that_leads_to_a_url_first_gets_the_credit(memory: LinkMemory) -> None:
    visit(memory, 0, 1, 2)
    visit(memory, 1, 2, 3)
    found = {
        page: memory.links.discovered[
            int(memory.nodes.new_start[page]) :][: int(memory.nodes.new_count[page])].tolist()
        for page in (0, 1)
    }  # fmt: skip
    assert found == {0: [1, 2], 1: [3]}


def test_only_the_first_twelve_links_to_a_url_are_looked_at(memory: LinkMemory) -> None:
    for page in range(1, 20):
        visit(memory, page, 0, anchors=(f"灯塔{page}号",))
    assert memory.nodes.links_here[0] == 19
    assert len(links_to(memory, 0)) == MAX_LINKS_HERE == 12


def test_what_every_page_links_to_still_comes_nearer(memory: LinkMemory) -> None:
    for page in range(10, 10 + MAX_LINKS_HERE):
        visit(memory, page, 0, 1, depth=6)
    visit(memory, 1)
    # Twice on one page, beside a URL that few pages lead to.
    visit(memory, 2, 0, 3, 0, 1, depth=1, relevant=True)
    nodes = memory.nodes
    assert nodes.links_here[[0, 1, 3]].tolist() == [MAX_LINKS_HERE + 2, MAX_LINKS_HERE + 1, 1]
    assert nodes.depth[[0, 1, 3]].tolist() == [2, 7, 2], "a fetched page stays where it was found"
    assert nodes.distance[[0, 1, 3]].tolist() == [0, 9, 0]
    assert len(links_to(memory, 0)) == MAX_LINKS_HERE


def test_a_url_is_as_deep_as_the_shortest_way_to_it(memory: LinkMemory) -> None:
    visit(memory, 0, 5, depth=4)
    assert memory.nodes.depth[5] == 5
    visit(memory, 1, 5, depth=1)
    assert memory.nodes.depth[5] == 2
    visit(memory, 2, 5, depth=7)
    assert memory.nodes.depth[5] == 2


def test_distance_counts_the_links_from_the_nearest_relevant_page(memory: LinkMemory) -> None:
    visit(memory, 0, 1)
    assert memory.nodes.distance[1] == 9, "far, where no relevant page is known"
    visit(memory, 10, 1, relevant=True)
    visit(memory, 1, 2)
    visit(memory, 2, 3)
    assert memory.nodes.distance[[1, 2, 3]].tolist() == [0, 1, 2]


def test_a_fetched_page_stays_where_it_was_found(memory: LinkMemory) -> None:
    visit(memory, 1, depth=3)
    visit(memory, 0, 1, depth=0, relevant=True)
    assert (memory.nodes.depth[1], memory.nodes.distance[1]) == (3, 9)
    assert memory.nodes.new_count[0] == 0, "it was not found by the link"


def test_words_of_anchors_are_kept_once_and_twenty_four_at_most(memory: LinkMemory) -> None:
    visit(memory, 0, 1, anchors=("north lighthouse",))
    count = int(memory.nodes.number_of_words[1])
    visit(memory, 2, 1, anchors=("lighthouse north lighthouse",))
    assert memory.nodes.number_of_words[1] == count
    visit(memory, 3, 1, anchors=(" ".join(f"word{chr(97 + n)}" for n in range(26)),))
    assert memory.nodes.number_of_words[1] == MAX_WORDS == 24
    assert len(set(memory.nodes.words[1].tolist())) == MAX_WORDS


def test_an_anchor_of_the_topic_is_nearer_to_it_than_another(memory: LinkMemory) -> None:
    visit(memory, 0, 1, 2, 3, anchors=("灯塔", "灯塔 和 仓库", "仓库"))
    whole, half, none = memory.links.similarity[:3].tolist()
    assert whole == 1
    assert 0 < half < whole
    assert none == 0


def test_numbers_of_a_link_tell_what_it_looks_like(memory: LinkMemory) -> None:
    page = VisitedPage("http://x.test/a/b", HOST, 0, 0.0, False, 1e9, 0)
    looks = (
        Link("http://x.test/a/b/c", b"1" * 16, HOST, "下一页"),
        Link("http://x.test/a/", b"2" * 16, HOST),
        Link("http://y.test/", b"3" * 16, "y.test", "灯塔"),
    )
    memory.visit(page, [FoundLink(link, n, 3, n + 1) for n, link in enumerate(looks)])
    many = pytest.approx(math.log1p(3) / 6)
    # Words in the anchor, no anchor, pager, other host, up to a folder above, links on the page.
    assert memory.links.numbers[0].tolist()[1:] == [0, 1, 0, 0, many]
    assert memory.links.numbers[1].tolist() == [0, 1, 0, 0, 1, many]
    assert memory.links.numbers[2].tolist() == [1 / 8, 0, 0, 1, 0, many]


def test_room_grows_and_nothing_that_was_known_is_lost(memory: LinkMemory) -> None:
    visit(memory, 0, *range(1, 5))
    before = memory.links
    visit(memory, 5000, *range(6000, 8000))
    assert len(memory.links.source) >= 2004
    assert memory.links.source is not before.source
    assert memory.links.target[:4].tolist() == [1, 2, 3, 4]
    assert memory.nodes.links_here[[1, 7999, 5000]].tolist() == [1, 1, 0]


graphs = st.lists(st.tuples(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=5)),
                  max_size=8, unique_by=lambda page: page[0])  # fmt: skip


@given(graphs)
def test_every_link_is_in_the_chain_of_its_target_and_every_url_found_once(
    graph: list[tuple[int, list[int]]],
) -> None:
    memory = LinkMemory(words())
    fetched, discovered = set(), []
    for node, targets in graph:
        visit(memory, node, *targets)
        fetched.add(node)
        start, count = memory.nodes.new_start[node], memory.nodes.new_count[node]
        discovered += memory.links.discovered[start : start + count].tolist()
    assert len(discovered) == len(set(discovered))
    for target in range(10):
        sources = [node for node, targets in graph for each in targets if each == target]
        if sources:
            chained = [int(memory.links.source[link]) for link in links_to(memory, target)]
            assert chained == sources[:MAX_LINKS_HERE]
            assert memory.nodes.links_here[target] == len(sources)


def test_what_a_link_says_by_itself_stands_in_its_own_row(memory: LinkMemory) -> None:
    """Columns are filled a page at a time: each link keeps its own values."""
    page = VisitedPage(url(0), HOST, 0, 1.0, True, 1e9, 0)
    named = Link(url(1), url_key(url(1)), HOST, "灯塔", "灯塔", region="main")
    pager = Link(url(2), url_key(url(2)), HOST, "下一页", region="nav")
    away = Link("http://y.test/", url_key("http://y.test/"), "y.test", region="main")
    links = (named, pager, away)
    memory.visit(page, [FoundLink(link, n, 3, n + 1) for n, link in enumerate(links)])
    columns = memory.links
    regions = [place("region", f"{HOST} {name}") for name in ("main", "nav", "main")]
    assert columns.region[:3].tolist() == regions
    assert columns.similarity[:3].tolist() == [1.0, 0.0, 0.0]
    assert columns.context[:3].tolist() == [1.0, 0.0, 0.0]
    # No anchor, a pager's anchor, another host.
    assert columns.numbers[:3, 1:4].tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 1]]
