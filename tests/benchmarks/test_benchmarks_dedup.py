"""The benchmark of titles: its arithmetic by hand-worked cases, and a whole run on made-up data."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import dedup, dedup_stream
from benchmarks.dedup import growth, plan, show_stream
from benchmarks.dedup_stream import stream_ours, titles_of
from benchmarks.demo_scores import Rates
from benchmarks.titles.data import Pair, read_pairs
from benchmarks.titles.exact import only_earlier, recall, sample
from benchmarks.titles.picture import thinned
from benchmarks.titles.quality import (
    best_threshold,
    called_same,
    judged,
    lowest_threshold,
    margins_of,
    rates_of,
)
from benchmarks.titles.scores import (
    published_idf,
    simhash,
    title_scores,
    verdicts,
    weighted_cosine,
)
from qiaocrawl.vsm import IdfSnapshot

STREAM_KEYS = {"method", "titles", "titles_per_second", "recall", "bytes_per_title"}
QUALITY_KEYS = {"method", "task", "at", "threshold", "precision", "recall", "f1"}
KINDS = ("sohu_event", "url_edit", "series_digits", "far_neighbor", "sohu_topic", "lcqmc")
PLACES = ("泉州", "江门", "梅州", "潮州", "温州", "福清")
THINGS = ("侨乡博物馆开馆迎来首批归侨", "中学新校舍落成典礼举行", "渔港开渔首日满载而归",
          "老街骑楼修缮工程完工", "华文夏令营学员结业汇演", "茶叶出口创下历史新高")  # fmt: skip


def _pairs() -> list[dict[str, object]]:
    """A retold and another story of each place and thing, for every kind of pair."""
    rows: list[dict[str, object]] = []
    for at, kind in enumerate(KINDS):
        for number, thing in enumerate(THINGS):
            # A year of its own for each, so that pairs share no title and are parted.
            title = f"{PLACES[number]}{thing}20{at}{number}"
            series = kind in ("series_digits", "far_neighbor")
            rows.append({"task": kind, "title_a": title, "label": int(not series),
                         "title_b": f"第{at}期{thing}" if series else f"{title}了"})  # fmt: skip
    return rows


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Pairs of every kind, and two small collections of titles."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _pairs())
    (tmp_path / "pairs.jsonl").write_text(lines, encoding="utf-8")
    titles = [f"{place}{thing}" for place in PLACES for thing in THINGS]
    for name, some in (("titles", titles), ("hot_titles", titles[::3])):
        text = "".join(f"{title}\n" for title in some)
        (tmp_path / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


# --- scores -----------------------------------------------------------------------------------


def test_cosines_and_weights_are_the_published_ones() -> None:
    idf = published_idf([["侨", "乡"], ["侨", "报"], ["侨"]])
    assert idf("侨") == 0
    assert idf("乡") == idf("新") == pytest.approx(math.log(3))
    assert weighted_cosine(["侨", "乡"], ["乡"], idf) == pytest.approx(1)
    assert weighted_cosine(["乡", "乡", "报"], ["乡"], idf) == pytest.approx(2 / math.sqrt(5))
    assert weighted_cosine(["侨"], ["侨"], idf) == 0


def test_equal_sets_have_equal_hashes() -> None:
    assert simhash(["甲乙", "乙丙"]) == simhash(["乙丙", "甲乙"])
    assert simhash(["甲乙"]) != simhash(["丙丁"])


def test_scores_and_verdicts_of_an_index_agree() -> None:
    pairs = [
        Pair("sohu_event", *titles, True, 9)
        for titles in (
            ("泉州侨乡博物馆开馆", "泉州侨乡博物馆开馆"),
            ("泉州侨乡博物馆今天开馆 - 新华网", "泉州侨乡博物馆今天开馆"),
            ("开馆", "开馆"),
            ("泉州侨乡博物馆迎来首批归侨", "渔港开渔首日满载而归"),
            ("", ""),
            ("—", "——"),
            ("第12期侨务简报", "第13期侨务简报"),
        )
    ]
    scores = title_scores(pairs, IdfSnapshot())
    assert scores[:2].tolist() == [1, 1]
    assert scores[[2, 4, 5]].tolist() == [0, 0, 0]
    assert 0 < scores[3] < 0.8
    assert (scores >= 0.8).tolist() == verdicts(pairs, IdfSnapshot()).tolist()


# --- figures ----------------------------------------------------------------------------------


def test_thresholds_are_found_among_the_scores() -> None:
    scores = np.array([0.9, 0.8, 0.8, 0.6, 0.3, 0.0])
    labels = np.array([True, True, False, True, False, True])
    # From 0.6 on: 3 right of 4 found, of 4 wanted.
    assert best_threshold(scores, labels) == 0.6
    assert rates_of(called_same(scores, 0.6), labels) == Rates(0.75, 0.75, 0.75)
    assert lowest_threshold(scores, labels, 0.9) == 0.9
    assert lowest_threshold(scores, ~labels, 0.9) is None
    assert best_threshold(np.zeros(3), labels[:3]) is None
    assert not called_same(scores, None).any()


def test_margins_are_the_same_each_time_and_shrink_with_more_pairs() -> None:
    found = np.array([True, True, False, False] * 25)
    labels = np.array([True, False, True, False] * 25)
    few, many = margins_of(found, labels), margins_of(np.tile(found, 9), np.tile(labels, 9))
    assert few == margins_of(found, labels)
    assert 0.1 < few.f1 < 0.2
    assert many.f1 == pytest.approx(few.f1 / 3, rel=0.3)
    assert margins_of(found[:0], labels[:0]) == Rates(0, 0, 0)


def test_thresholds_are_chosen_on_one_part_and_measured_on_the_other() -> None:
    pairs = [
        Pair("sohu_event", "甲", "乙", same, part)
        for same, part in ((True, 0), (False, 5), (True, 6), (False, 9))
    ]
    scores = np.array([0.5, 0.1, 0.4, 0.9])
    lines = {line.at: line for line in judged("m", scores, pairs, ["event"])}
    assert lines["chosen"].threshold == 0.5
    assert lines["chosen"].rates == Rates(0, 0, 0)
    assert lines["best"].rates == Rates(0.5, 1, 2 / 3)
    assert lines["aim"].threshold is None
    assert {line.pairs for line in lines.values()} == {2}


def test_growth_is_the_slope() -> None:
    rows = [{"method": "m", "titles": 10**n, "seconds": 2.0 * 10 ** (1.5 * n)} for n in (3, 4, 5)]
    assert list(growth(rows)) == [
        {"method": "m", "growth_exponent": 1.5, "sizes": [1000, 10_000, 100_000]}
    ]
    assert list(growth(rows[:1])) == []


def test_recall_counts_pairs() -> None:
    exact = {5: {1, 7}, 6: {2}, 8: set()}
    assert only_earlier(exact) == {5: {1}, 6: {2}, 8: set()}
    assert recall(exact, {5: {1, 3}, 6: {2}}) == pytest.approx(2 / 3)
    assert recall({8: set()}, {}) is None
    assert sample(100, 10) == sample(100, 10)
    assert len(set(sample(100, 10))) == 10


def test_slow_ones_are_not_fed_more_than_they_can_take() -> None:
    quick, full = plan(100_000), plan(1_000_000)
    assert max(size for _, size in quick) == 100_000
    assert [size for name, size in full if name == "reprint"] == [10**4, 10**5, 4 * 10**5, 10**6]
    assert max(size for name, size in full if name == "scikit-learn") == 100_000
    assert set(quick) <= set(full)


# --- whole runs -------------------------------------------------------------------------------


def test_pairs_of_one_title_are_in_one_part(data: Path) -> None:
    pairs = read_pairs(data)
    assert {pair.kind for pair in pairs} == set(KINDS)
    assert {pair.choosing for pair in pairs} == {True, False}


def test_missing_titles_are_made_of_halves(data: Path) -> None:
    titles, made_up = titles_of(data, 100)
    assert len(titles) == 100
    assert made_up == 100 - 48
    assert titles_of(data, 10) == (titles[:10], 0)


def test_an_index_is_held_against_brute_force(data: Path) -> None:
    pytest.importorskip("scipy")
    titles, _ = titles_of(data, 300)
    for method in ("reprint", "vsm"):
        found = stream_ours(method, titles, IdfSnapshot())
        assert found.pairs > 0
        assert found.recall == 1
        assert found.same_story is not None
        assert found.same_story > 0


def test_the_table_of_streaming_shows_what_was_not_tried() -> None:
    row = {"method": "m", "titles": 10, "titles_per_second": 5, "seconds": 2.0, "made_up": 3,
           "words": None, "pairs": 0, "recall": None, "recall_from": 0.8, "bytes_per_title": None,
           "process_bytes_per_title": 7.0}  # fmt: skip
    console = Console(file=io.StringIO(), width=160)
    show_stream([row, {**row, "method": "n", "titles": 20}], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "3 of the largest are made up" in text


@pytest.mark.filterwarnings("default")
def test_the_command_writes_rows(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "rows.jsonl"
    arguments = ["--data", str(data), "--tasks", "quality,paper,segmentation"]
    monkeypatch.setattr(sys, "argv", ["dedup.py", *arguments, "--json", str(target)])
    dedup.main()
    rows = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    scored = [row for row in rows if "precision" in row]
    assert {row["method"] for row in scored} >= {"reprint", "vsm"}
    assert {row["task"] for row in scored} == {"event", "revision", "topic", "question"}
    assert all(row.keys() >= QUALITY_KEYS for row in scored)
    paper = [row for row in rows if row["task"] == "paper" and row["cleaned"]]
    assert paper
    assert all(row["same"] >= 0.9 and row["different"] <= 0.65 for row in paper)
    assert {row["method"] for row in rows if row["task"] == "segmentation"} == {"jieba", "rjieba"}
    assert "differ from score ≥ .8 on 0 of" in capsys.readouterr().out


def test_one_size_gives_one_row(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(data), "--method", "vsm", "--titles", "60"]
    monkeypatch.setattr(sys, "argv", ["dedup_stream.py", *arguments])
    dedup_stream.main()
    row = json.loads(capsys.readouterr().out)
    assert row.keys() >= STREAM_KEYS
    assert (row["method"], row["titles"], row["made_up"]) == ("vsm", 60, 12)


def test_a_folder_without_data_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["dedup.py", "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no pairs\.jsonl there"):
        dedup.main()


def test_curves_are_thinned_to_what_a_picture_shows() -> None:
    thresholds = np.array([1.0, 0.9, 0.503, 0.501])
    steps, precision, recalled = thinned(thresholds, np.arange(4.0), np.arange(4.0) / 10)
    assert steps.tolist()[0] == 1
    at = dict(zip(steps.round(3).tolist(), precision.tolist(), strict=True))
    assert (at[1.0], at[0.905], at[0.9], at[0.505], at[0.5]) == (0, 0, 1, 1, 3)
    assert recalled.max() == pytest.approx(0.3)
