"""The benchmark of coverage, on a web of one archive."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest

from benchmarks import coverage
from pager_web import pages_of, site_of, start_of, stories_of
from qiaocrawl.fetch.replay.web import open_recording
from recording import write_collection

LONELY = site_of("blog") + "/lonely.html"


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """An archive, its stories labelled as posts, and a page that nothing links to."""
    pages = pages_of("blog")
    folder = write_collection(tmp_path / "blog", {**pages, LONELY: pages[min(stories_of("blog"))]})
    graph = folder / "graph.jsonl.xz"
    with lzma.open(graph, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        body = pages.get(row["url"], b"").decode()
        row["outlinks"] = [site_of("blog") + path for path in re.findall(r'href="(/[^"]*)"', body)]
        row["label"] = ["post"] if row["url"] in stories_of("blog") else []
    with lzma.open(graph, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    (folder / "topics.json").write_text(json.dumps({"topics": {}, "seeds": [start_of("blog")]}))
    return folder


def test_what_can_be_reached_is_told_from_what_was(web: Path) -> None:
    with open_recording(web) as recorded:
        read = coverage.read_web(web, recorded)
        reach = coverage.reachable(read)
        assert stories_of("blog") < reach == set(pages_of("blog"))
        fetched, requests = coverage.follow_all(read, recorded)
    assert {read.pages[url] for url in reach} <= fetched
    assert requests >= len(reach)
    assert LONELY in coverage._sources(read.links)
    left = coverage._rule("http://blog.pagers.test/x", {"http://blog.pagers.test/x": (
        "postponed", "a pager")}, read)  # fmt: skip
    assert left == "postponed: a pager"
    assert coverage._rule(min(stories_of("blog")), {start_of("blog"): ("list", "")}, read) == (
        f"never proposed: linked from 1 read pages, such as list {start_of('blog')}"
    )


def test_an_archive_is_covered_and_the_table_says_so(web: Path) -> None:
    found = coverage.measure(web, coverage.PROJECT, ())
    assert (found.reachable, found.fetched, found.missing) == (len(pages_of("blog")),) * 2 + ([],)
    assert (found.articles, found.reached, found.share) == (len(stories_of("blog")),) * 2 + (1.0,)
    assert coverage.table_of([found]).row_count == 1
    assert coverage._as_dict(found)["name"] == "blog"


def test_unknown_names_are_refused(web: Path) -> None:
    with pytest.raises(coverage.FocusError, match="unknown web 'x'"):
        list(coverage._webs(web.parent, ["x"]))
    with pytest.raises(coverage.FocusError, match="no recorded web"):
        list(coverage._webs(web / "none", []))
