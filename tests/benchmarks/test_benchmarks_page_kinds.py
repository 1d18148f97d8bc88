"""The measurement of page kinds: its figures, and the rules beside ours."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest

from benchmarks.page_kinds import (
    Call,
    KindsError,
    Labelled,
    address_rule,
    boilerpipe_rule,
    figures,
    link_share_rule,
    load_pages,
    macro_f1,
    ours,
)

HOST = "https://www.example.com"
STORY = "".join(
    f"<p>第{i}天：老码头的工人说，今年的水位比往年高，船要等到月底才能靠岸，大家都在等。</p>"
    for i in range(9)
)


def labelled(path: str, kind: str, body: str, title: str, chars: int = 0) -> Labelled:
    head = f"<head><meta charset=utf-8><title>{title}</title></head>"
    return Labelled(HOST + path, kind, chars, f"<html>{head}<body>{body}</body></html>".encode())


TITLE, DAY = "老码头的水位为何比往年高", "<p>2024-03-05</p>"
POST = labelled("/2024/03/05/port.html", "article", f"<h1>{TITLE}</h1>{DAY}{STORY}", TITLE, 300)
EXCERPT = STORY[: STORY.index("</p>")]
TAG = labelled(
    "/water/", "tag", f"<h2><a href='{POST.url}'>{TITLE}</a></h2>{DAY}{EXCERPT}</p>", "水位 | 河边"
)
LIST = labelled("/tags/", "list", "".join(
    f"<li><a href='/{n}.html'>第{n}条新闻的题目写在这里，说水位又高了</a></li>" for n in range(30)
), "列表")  # fmt: skip


def test_what_is_known_of_a_site_withdraws_an_index() -> None:
    alone, known = ours([POST, TAG, LIST])
    assert [call.is_article for call in known] == [True, False, False]
    assert alone[0].is_article
    assert alone[2].kind in ("list", "tag")


def test_published_rules() -> None:
    for rule in (boilerpipe_rule, link_share_rule, address_rule):
        assert [rule(page).is_article for page in (POST, LIST)] == [True, False]


def test_figures() -> None:
    pages = [POST, TAG, LIST, POST]
    calls = [Call(True, "article"), Call(True, "article"), Call(False, "list"), Call(False, "list")]
    index_share, missed, missed_any, f1 = figures(pages, calls, [300, 50, 50, 40])
    assert (index_share, missed, missed_any) == (0.5, 0.0, 0.5)
    # article: 1 right of 2 and 2; list: 1 right of 1 and 2; tag: none.
    assert f1 == pytest.approx((0.5 + 2 / 3 + 0) / 3)
    assert macro_f1([("article", "article")]) == 1.0
    assert figures([LIST], [Call(False)], [0]) == [None, None, None, None]


def test_pages_are_read_with_their_labels(tmp_path: Path) -> None:
    with pytest.raises(KindsError, match=r"labels.jsonl.gz and graph.jsonl.xz must be there"):
        load_pages(tmp_path)
    (tmp_path / "pages").mkdir()
    graph, labels = [], []
    for number, (page, kind) in enumerate(((POST, "post"), (LIST, "list"))):
        (tmp_path / f"pages/{number}.html").write_bytes(page.body)
        graph.append({"url": page.url, "file": f"pages/{number}.html", "outlinks": []})
        labels.append({"url": page.url, "kind": kind, "text": "水" * page.chars})
    with lzma.open(tmp_path / "graph.jsonl.xz", "wt") as lines:
        lines.write("\n".join(map(json.dumps, graph)))
    with gzip.open(tmp_path / "labels.jsonl.gz", "wt") as lines:
        lines.write("\n".join(map(json.dumps, labels)))
    assert load_pages(tmp_path) == [POST, LIST]
    assert load_pages(tmp_path, ["www.example.com"]) == [POST, LIST]
    with pytest.raises(KindsError, match="no labelled pages"):
        load_pages(tmp_path, ["other.example"])
