"""The benchmark of golden sets: real titles are found by digest, or skipped in words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.golden import LIST_METHODS, find_titles, lists_of, measure
from qiaocrawl.items import PageText
from qiaocrawl.topic.folder import save_pack
from qiaocrawl.topic.pack import Term, TopicPack
from qiaocrawl.topic.tree import DIGESTS_FILE, GOLDEN_FILE, GoldenTitle, title_digest


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "t"
    save_pack(TopicPack("t", "题", "", 0.1, (Term("侨批", "culture", 6.0),), (), ()), folder)
    (folder / GOLDEN_FILE).write_text("title,label\n侨批展,yes\n汽车降价,no\n")
    rows = [("侨批入馆", "yes"), ("侨批白酒", "no"), ("不在", "no"), ("撤侨航班", "yes")]
    table = "".join(f"{title_digest(title)},{label},组\n" for title, label in rows)
    (folder / DIGESTS_FILE).write_text(f"digest,label,group\n{table}")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    with gzip.open(folder / "titles.txt.gz", "wt", encoding="utf-8") as file:
        file.write("僑批入館\n别的\n侨批入馆\n")
    pair = {"task": "url_edit", "title_a": "侨批白酒", "title_b": "撤侨航班", "label": 1}
    (folder / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    return folder


def test_titles_are_found_by_digest_once(pack: Path, data: Path) -> None:
    titles, wanted = find_titles(data, pack / DIGESTS_FILE)
    assert wanted == 4
    assert titles == [
        GoldenTitle("僑批入館", True, "组"), GoldenTitle("侨批白酒", False, "组"),
        GoldenTitle("撤侨航班", True, "组"),
    ]  # fmt: skip


def test_both_sets_are_measured(pack: Path, data: Path) -> None:
    console = Console(record=True, width=200)
    rows = {(row["set"], row["part"]): row for row in measure(pack, "vsm_breadth", data, console)}
    assert "3 of 4 real titles are there" in console.export_text()
    assert list(rows) == [
        ("own", "all"), ("own", "tuning"), ("own", "held out"),
        ("real", "all"), ("real", "tuning"), ("real", "held out"), ("real", "group 组"),
    ]  # fmt: skip
    real = rows["real", "all"]
    assert (real["titles"], real["relevant"]) == (3, 2)
    assert [real[rate]["value"] for rate in ("precision", "recall")] == [0.5, 0.5]  # type: ignore[index]


@pytest.mark.parametrize(("given", "said"), [(None, "no --data"), ("empty", "none of them is in")])
def test_absent_titles_are_skipped_in_words(
    pack: Path, tmp_path: Path, given: str | None, said: str
) -> None:
    console = Console(record=True, width=200)
    rows = measure(pack, "vsm_breadth", tmp_path / given if given else None, console)
    assert {row["set"] for row in rows} == {"own"}
    assert f"t: real titles skipped, {said}" in console.export_text()


def test_lists_are_parts_of_a_pack_and_every_method_judges_by_them() -> None:
    terms = tuple(Term(f"侨批{n}展", "culture", float(n % 9 + 1)) for n in range(30))
    pack = TopicPack("t", "题", "", 0.1, terms, (), ())
    lists = lists_of(pack, 5, weighted=True)
    assert [len(one.terms) for one in lists] == [5] * 4
    assert {term.weight for term in lists[0].terms} <= {9.0, 8.0}
    assert {one.weight for one in lists_of(pack, 5, weighted=False)[0].terms} == {3.0}
    named, other = PageText("侨批专题", "今日侨批入馆。"), PageText("汽车降价", "今日汽车降价。")
    word = TopicPack("t", "题", "", 0.1, (Term("侨批", "culture"),), (), ())
    for make in LIST_METHODS.values():
        assert (make(word)(named), make(word)(other)) == (True, False)
