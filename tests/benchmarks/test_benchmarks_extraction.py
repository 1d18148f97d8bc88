"""The extraction benchmark: its metric by hand-worked cases, and a whole run on two pages."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.bodies.peers import PEERS
from benchmarks.bodies.score import (
    Found,
    Gold,
    author_f1,
    mean,
    means,
    overlap,
    score_page,
    title_of_source,
    without_title_line,
)
from benchmarks.extraction import (
    BenchmarkError,
    chosen_methods,
    decode,
    groups_of,
    lines_of,
    load_pages,
    measure,
    speed_ratio,
)

PROJECT = Path(__file__).resolve().parents[2]
COLUMNS = ["method", "source", "language", "pages", "precision", "recall", "f1", "share_90",
           "title", "date", "author", "speed_ratio"]  # fmt: skip
TITLE = "侨乡举办春节联欢会"
TEXT = "\n".join(
    (
        "一月二十日，侨乡各界人士和归侨侨眷代表在市文化馆里欢聚一堂，共庆新春，畅谈一年来的变化和打算。",
        "市侨联主席在会上致辞，向海外侨胞拜年，也向长期关心家乡建设的侨团和侨领表示了感谢和问候。",
        "联欢会上，归侨合唱团演唱了两首老歌，来自印度尼西亚的归侨表演了竹琴合奏，台下掌声一阵接着一阵。",
        "主办方说，今年还要在三个侨乡的村子里办夏令营，请海外华裔青少年回来看看祖辈出发的地方。",
    )
)
PAGE = (
    f"<html><head><title>{TITLE}_侨网</title></head><body><h1>{TITLE}</h1>\n"
    "<p>2023-01-20 10:00 作者：李文</p>\n"
    + "\n".join(f"<p>{line}</p>" for line in TEXT.split("\n"))
    + "\n</body></html>"
)


# --- the metric ----------------------------------------------------------------------------


def test_grams_are_counted_as_often_as_they_stand() -> None:
    # Gold 甲乙丙丁戊: 甲乙丙丁, 乙丙丁戊. Found: the first twice, and two grams between.
    assert overlap("甲乙丙丁戊", "甲乙丙丁甲乙丙丁", "zh") == pytest.approx((1 / 5, 1 / 2, 2 / 7))
    assert overlap("one two three four five", "one, two three\nfour", "en") == (
        1, 1 / 2, 2 / 3
    )  # fmt: skip


def test_width_and_marks_do_not_count_and_short_texts_are_one_gram() -> None:
    assert overlap("ＡＢ１２，３", "ab1 23", "zh") == (1, 1, 1)
    assert overlap("好", "好。", "zh") == (1, 1, 1)
    assert overlap("好", "", "zh") == overlap("", "好", "en") == (0, 0, 0)


@pytest.mark.parametrize("first", [TITLE, f"{TITLE}_侨网", f"{TITLE} ", f"\n\n{TITLE}"])
def test_a_leading_title_line_does_not_count(first: str) -> None:
    kept = without_title_line(f"{first}\n正文", TITLE, f"{TITLE}_侨网")
    assert kept.strip() == "正文"


@pytest.mark.parametrize("first", ["侨乡", "别的一行文字", f"a\nb\nc\n{TITLE}"])
def test_other_lines_count(first: str) -> None:
    assert without_title_line(f"{first}\n正文", TITLE, "") == f"{first}\n正文"


def test_authors_are_a_set_of_names() -> None:
    assert author_f1(["李文、王 芳"], ("王芳", "李文")) == 1
    assert author_f1(["Ann Lee and Bo Chan"], ("By ann lee",)) == pytest.approx(2 / 3)
    assert author_f1(("李文",), ("李文", "侨网")) == pytest.approx(2 / 3)
    assert author_f1(("李文",), ()) == 0


def test_what_nobody_judges_is_none_and_what_was_missed_is_zero() -> None:
    gold = Gold("zh", TEXT, TITLE, "2023-01-20", ("李文",))
    missed = score_page(gold, Found("", "", "", ()))
    assert (missed.f1, missed.title, missed.date, missed.author) == (0, 0, 0, 0)
    only_text = score_page(gold, Found(TEXT))
    assert (only_text.f1, only_text.share_90, only_text.title) == (1, 1, None)
    right = score_page(gold, Found(TEXT, f"{TITLE}！", "2023-01-20T10:00", ("李文",)))
    assert (right.title, right.date, right.author) == (1, 1, 1)
    assert score_page(Gold("zh"), Found(TEXT, TITLE)).f1 is None


def test_the_interval_holds_the_mean_and_is_the_same_every_time() -> None:
    values = [0.0, 1.0] * 20
    one = mean(values)
    assert one is not None
    assert one == mean(values)
    assert one.value == 0.5
    assert 0.3 < one.low < 0.5 < one.high < 0.7
    assert mean([]) is None
    assert means([])["f1"] is None


def test_the_title_as_written() -> None:
    assert title_of_source("<TITLE lang=zh>\n 侨 &amp; 乡\n</TITLE><title>b</title>") == "侨 & 乡"
    assert title_of_source("<p>") == ""


# --- the collection -----------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A collection of two sources: the first page in GBK with all gold, the second with none."""
    rows = [
        {"id": "a", "url": "http://www.qiao.example/2023/a.html", "lang": "zh",
         "source_dataset": "one", "title": TITLE, "date": "2023-01-20", "author": "李文",
         "text": TEXT},
        {"id": "b", "url": None, "lang": "en", "source_dataset": "two", "title": "A title",
         "date": None, "author": ["Ann Lee", "Bo Chan"], "text": None},
    ]  # fmt: skip
    (tmp_path / "pages").mkdir()
    bodies = (PAGE.replace("<head>", "<head><meta charset=gbk>").encode("gbk"), b"<title>A title")
    for row, body in zip(rows, bodies, strict=True):
        (tmp_path / "pages" / f"{row['id']}.html.gz").write_bytes(gzip.compress(body))
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (tmp_path / "gold.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_pages_of_one_half_are_not_in_the_other(data: Path) -> None:
    every = {page.id for page in load_pages(data)}
    halves = []
    for half in ("choose", "report"):
        try:
            halves.append({page.id for page in load_pages(data, half)})
        except BenchmarkError:
            halves.append(set())
    assert halves[0] | halves[1] == every
    assert not halves[0] & halves[1]
    assert len(load_pages(data, limit=1)) == 1


def test_a_folder_without_gold_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="no gold.jsonl"):
        load_pages(tmp_path)


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "gb18030"])
def test_the_others_get_readable_text(charset: str) -> None:
    assert decode(PAGE.encode(charset)) == PAGE


def test_a_run_scores_every_page_and_times_every_run(data: Path) -> None:
    pages = load_pages(data)
    console = Console(file=io.StringIO())
    methods = chosen_methods(["density", "none"], [], console)
    assert "none: not registered, skipped" in console.file.getvalue()  # type: ignore[attr-defined]
    measured = measure(methods, pages, 2, console)
    rows = [line.row() for line in lines_of(measured, pages)]
    assert [list(row) for row in rows] == [COLUMNS] * 5
    first = rows[0]
    assert (first["method"], first["source"], first["language"], first["pages"]) == (
        "density", "all", "all", 2
    )  # fmt: skip
    assert float(str(first["f1"])) > 0.9
    assert first["speed_ratio"] is None
    assert rows[2]["f1"] is None
    assert [len(seconds) for seconds in measured["density"].seconds] == [2, 2]


def test_the_ratio_is_the_median_over_the_runs(data: Path) -> None:
    pages = load_pages(data)
    (group, *_) = groups_of(pages)
    methods = chosen_methods(["density"], [], Console(file=io.StringIO()))
    measured = measure(methods, pages, 3, Console(file=io.StringIO()))["density"]
    measured.seconds[:] = [[1.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    other = measure(methods, pages, 3, Console(file=io.StringIO()))["density"]
    other.seconds[:] = [[10.0, 10.0], [8.0, 8.0], [4.0, 4.0]]
    assert speed_ratio(measured, other, group.indexes) == 4.0
    assert speed_ratio(measured, None, group.indexes) is None


def test_an_unknown_peer_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="there are: trafilatura"):
        chosen_methods([], ["trafilatur"], Console(file=io.StringIO()))


@pytest.mark.parametrize("name", sorted(PEERS))
def test_every_peer_reads_a_page(name: str) -> None:
    # In a process of its own: other projects' warnings are none of our tests' business.
    code = (
        "import logging, sys, warnings; warnings.simplefilter('ignore')\n"
        "logging.disable(logging.CRITICAL)\n"
        "from benchmarks.bodies.peers import PEERS\n"
        "try:\n"
        f"    peer = PEERS[{name!r}]()\n"
        "except ImportError:\n"
        "    sys.exit(3)\n"
        "found = peer(sys.stdin.read(), 'http://www.qiao.example/a.html', 'zh')\n"
        "print(found.text); print(found.title, found.date, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=PAGE, capture_output=True, text=True, cwd=PROJECT,
        check=False, timeout=400, env={"PYTHONIOENCODING": "utf-8", "PATH": ""},
    )  # fmt: skip
    if done.returncode == 3:
        pytest.skip(f"{name} is not installed: pip install -e '.[benchmark]'")
    assert done.returncode == 0, done.stderr
    assert "向海外侨胞拜年" in done.stdout


def test_the_command_writes_rows(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "rows.jsonl"
    command = [sys.executable, "benchmarks/extraction.py", "--data", str(data), "--peers", "",
               "--methods", "density", "--runs", "1", "--json", str(target)]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=PROJECT, check=False, timeout=400
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert {(row["source"], row["language"]) for row in rows} == {
        ("all", "all"), ("all", "zh"), ("all", "en"), ("one", "zh"), ("two", "en")
    }  # fmt: skip
    assert "no speed ratios" in done.stdout
