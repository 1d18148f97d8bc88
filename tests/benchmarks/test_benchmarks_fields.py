"""The benchmark of fields: what counts as right, and a whole run on two posts."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.bodies.score import Found, Gold
from benchmarks.fields import METRICS, FieldsError, judge, load_posts

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (
    "<html><head><title>{title} - 侨网</title></head><body><h1>{title}</h1>"
    "<p>2023-01-20 作者：李文</p><p>" + "侨乡的正文有许多话要说。" * 20 + "</p></body></html>"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"url": f"https://{host}.test/{i}.html", "kind": kind, "title": f"侨乡举办联欢会{i}",
         "date": "2023-01-20", "author": "李文" if i else ""}
        for i, (host, kind) in enumerate([("a", "post"), ("b", "post"), ("b", "list")])
    ]  # fmt: skip
    (tmp_path / "pages").mkdir()
    for i, row in enumerate(rows):
        (tmp_path / "pages" / f"{i}.html").write_text(PAGE.format(title=row["title"]), "utf-8")
    graph = (
        json.dumps({"url": row["url"], "file": f"pages/{i}.html"}) for i, row in enumerate(rows)
    )
    (tmp_path / "graph.jsonl").write_text("\n".join(graph), "utf-8")
    with gzip.open(tmp_path / "labels.jsonl.gz", "wt", encoding="utf-8") as labels:
        labels.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def test_what_counts_as_right() -> None:
    gold = Gold("zh", None, "侨批 展", "2023-01-20", ("李文",))
    right = judge(gold, Found("", "侨批展", "2023-01-20", ("李文",)))
    assert (right.title, right.date, right.author_found, right.author_precision) == (1, 1, 1, 1)
    assert right.author_unlabelled is None
    missed = judge(gold, Found("", "", "", ()))
    assert (missed.title, missed.author_found, missed.author_precision) == (0, 0, None)
    assert judge(gold, Found("", "", "", ("李文", "王红"))).author_precision == 0
    assert judge(Gold("zh"), Found("", "", "", ("王红",))).author_unlabelled == 1


def test_only_posts_of_the_sites_named_are_read(data: Path) -> None:
    assert [page.source for page in load_posts(data)] == ["a.test", "b.test"]
    assert [page.source for page in load_posts(data, ["b.test"])] == ["b.test"]
    with pytest.raises(FieldsError, match="no labelled posts"):
        load_posts(data, ["c.test"])
    with pytest.raises(FieldsError, match=r"labels\.jsonl\.gz"):
        load_posts(data / "pages")


def test_the_program_prints_and_writes_a_row_a_figure(data: Path, tmp_path: Path) -> None:
    rows_file = tmp_path / "rows.jsonl"
    run = subprocess.run(
        [sys.executable, "benchmarks/fields.py", "--data", str(data), "--peers", "",
         "--json", str(rows_file)],
        cwd=PROJECT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "a.test" in run.stdout
    rows = [json.loads(line) for line in rows_file.read_text("utf-8").splitlines()]
    assert {row["metric"] for row in rows} == set(METRICS)
    values = {(row["set"], row["metric"]): row["value"] for row in rows}
    assert values["all", "title"] == values["all", "date"] == values["b.test", "author_found"] == 1
