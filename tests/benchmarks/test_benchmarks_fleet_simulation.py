"""The simulated fleet: its webs, our policies and modes on them, and the peers that hash."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fleets.links import LinkedWeb, generated_web, make_web, recorded_webs
from benchmarks.fleets.partition import PARTITIONS, PartitionCrawl
from benchmarks.fleets.simulation import (
    PAGES_A_SECOND,
    SharedFrontierCrawl,
    our_methods,
    speeds_of,
)
from benchmarks.fleets.trials import simulated_rows, simulation_tables

PAGES = 1_000


@pytest.fixture(scope="module")
def web() -> LinkedWeb:
    return generated_web(PAGES)


def test_the_made_up_web_is_the_same_at_every_call_and_can_be_reached(web: LinkedWeb) -> None:
    again = generated_web(PAGES)
    for one, other in zip(web.links, again.links, strict=True):
        assert np.array_equal(one, other)
    assert web.pages == PAGES
    # A page that is linked from its own followers only cannot be.
    assert web.reachable >= 0.99 * PAGES
    assert np.bincount(web.links.hosts).min() >= 1
    in_links = np.sort(np.bincount(web.links.targets, minlength=web.pages))[::-1]
    assert in_links[0] > 20 * np.median(in_links)


@pytest.mark.parametrize(("policy", "mode"), our_methods())
def test_ours_fetch_each_page_once_and_ask_no_host_twice_a_second(
    web: LinkedWeb, policy: str, mode: str
) -> None:
    speeds = speeds_of("mixed", 4)
    crawl = SharedFrontierCrawl(web, speeds, policy, mode).run()
    figures = crawl.figures(web, speeds)
    assert figures["overlap_percent"] == figures["asked_too_soon_percent"] == 0
    assert crawl.pages.sum() == crawl.distinct == crawl.fetched.sum()
    if mode == "firewall":
        assert 50 < figures["coverage_percent"] < 100
    else:
        assert crawl.distinct == web.reachable
    # No host is asked more than once a second, so a crawl lasts as long as its largest one.
    assert len(crawl.fetched) >= np.bincount(web.links.hosts).max() or mode == "firewall"
    assert crawl.fetched.max() <= speeds.sum()


def test_a_slow_collector_is_given_less(web: LinkedWeb) -> None:
    speeds = speeds_of("mixed", 4)
    pages = SharedFrontierCrawl(web, speeds, "least_load", "exchange").run().pages
    assert pages[3] < pages[:3].min()


@pytest.mark.parametrize("method", PARTITIONS)
def test_peers_that_exchange_miss_nothing_and_fetch_nothing_twice(
    web: LinkedWeb, method: str
) -> None:
    speeds = speeds_of("equal", 4)
    figures = PartitionCrawl(web, speeds, method, "exchange").run().figures(web, speeds)
    assert figures["coverage_percent"] == 100
    assert figures["overlap_percent"] == 0
    assert figures["urls_crossed_per_page"] > 0
    # A host belongs to one collector, unless it is the URL that is hashed.
    assert (figures["asked_too_soon_percent"] > 0) == (method == "url hash")


def test_peers_that_cross_over_fetch_pages_of_others(web: LinkedWeb) -> None:
    speeds = speeds_of("equal", 4)
    crawl = PartitionCrawl(web, speeds, "host hash", "crossover").run()
    assert crawl.distinct == web.reachable
    assert crawl.pages.sum() > crawl.distinct


def test_a_peer_s_firewall_misses_what_only_others_link_to() -> None:
    """Two hosts, each page of the second linked from the first one's only page."""
    hosts = np.array([0, 1, 1], np.int32)
    two = make_web("two", np.array([0, 0], np.int32), np.array([1, 2], np.int32), hosts,
                   np.array([0], np.int32))  # fmt: skip
    owners = PARTITIONS["host hash"](two, speeds_of("equal", 2))
    crawl = PartitionCrawl(two, speeds_of("equal", 2), "host hash", "firewall").run()
    assert crawl.distinct == (3 if owners[0] == owners[1] else 1)
    assert two.reachable == 3


def test_recorded_graphs_are_read_alone_and_together(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        rows = [{"url": f"http://{name}.example/", "file": "a.html",
                 "outlinks": [f"http://{name}.example/x", "http://elsewhere.example/"]},
                {"url": f"http://{name}.example/x", "file": "b.html"}]  # fmt: skip
        lines = "\n".join(map(json.dumps, rows))
        (folder / "graph.jsonl.xz").write_bytes(lzma.compress(lines.encode()))
        (folder / "topics.json").write_text('{"topics": {}, "seeds": []}')
    (first,) = recorded_webs(tmp_path, ["one"])
    (together,) = recorded_webs(tmp_path, [])
    assert (first.name, first.pages, first.host_count, first.reachable) == ("one", 2, 1, 2)
    assert (together.pages, together.host_count, together.reachable) == (4, 2, 4)


def test_every_method_and_figure_has_its_row() -> None:
    rows = list(simulated_rows(generated_web(200), 2))
    methods = {row["method"] for row in rows}
    assert len(methods) == len(our_methods()) + 3 * len(PARTITIONS)
    assert "ours" in methods
    assert {len([row for row in rows if row["method"] == one]) for one in methods} == {11}
    (table,) = simulation_tables(rows)
    assert table.row_count == len(methods)
    assert speeds_of("equal", 2).tolist() == [PAGES_A_SECOND] * 2
