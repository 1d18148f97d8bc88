"""``qiaocrawl extractors`` as a person runs it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fresh_schema import make_tables
from qiaocrawl.demo.web import build_web
from qiaocrawl.extract.base import extractors
from qiaocrawl.extract.published.cluster_model import load_model
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.site_templates import save_site_templates
from site_pages import HOST, taught

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(run: Run) -> Run:
    """Runs a command of the group; gives exit code, stdout and stderr."""
    return partial(run, "extractors")


def test_every_method_is_listed_on_a_line_of_its_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_EXTRACT_METHOD", "cluster")
    code, out, _ = run("list")
    lines = out.splitlines()
    assert code == 0
    assert [line.split()[0 if line[0] == " " else 1] for line in lines] == extractors.names()
    assert [line for line in lines if line[0] == "*"][0].startswith("* cluster  ")
    assert all(len(line.split()) > 4 for line in lines)
    assert any("[QIAO_TEMPLATES]" in line for line in lines)
    assert not re.search(r"\([A-Z]\d+\)|\*\*", out)
    (published,) = (line for line in lines if "visual_published" in line)
    assert "visual to the letter" in published
    monkeypatch.setenv("QIAO_EXTRACT_METHOD", "nope")
    code, out, err = run("list")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "unknown extractor 'nope'" in err


def saved_pages(folder: Path) -> None:
    web = build_web(scale=0.1)
    for number, page in enumerate(web.pages.values()):
        if page.status == 200 and page.gold is not None and page.gold.body:
            (folder / f"{number}.html").write_bytes(page.body)
    (folder / "notes.txt").write_text("not a page", encoding="utf-8")
    (folder / "deep").mkdir()
    with gzip.open(folder / "deep" / "z.html.gz", "wb") as file:
        file.write("<p>侨胞今天回到家乡看看老屋。</p>".encode())


def test_training_from_saved_pages_gives_a_model_that_works(run: Run, tmp_path: Path) -> None:
    saved_pages(tmp_path)
    target = tmp_path / "model.json"
    code, out, err = run("train", "cluster", "--pages", str(tmp_path), "--output", str(target))
    assert code == 0, err
    model = load_model(str(target))
    assert model.pages == len(list(tmp_path.rglob("*.html*")))
    assert f"written: {target} (" in out
    assert f"{model.samples} nodes in {model.pages} pages)" in out
    again = tmp_path / "again.json"
    run("train", "cluster", "--pages", str(tmp_path), "--output", str(again))
    assert again.read_text("utf-8") == target.read_text("utf-8")


def test_a_limit_and_k_are_kept(run: Run, tmp_path: Path) -> None:
    saved_pages(tmp_path)
    target = tmp_path / "model.json"
    limits = ("--limit", "5", "--least-k", "3", "--most-k", "3")
    run("train", "cluster", "--pages", str(tmp_path), "--output", str(target), *limits)
    model = load_model(str(target))
    assert (model.pages, len(model.centres)) == (5, 3)


def test_the_shipped_model_is_what_the_demo_web_gives(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "model.json"
    code, _, err = run("train", "cluster", "--demo", "--output", str(target))
    assert code == 0, err
    made: dict[str, Any] = json.loads(target.read_text("utf-8"))
    shipped = json.loads(load_model().to_json())
    again = "qiaocrawl extractors train cluster --demo --output qiaocrawl/extract/data/cluster.json"
    assert made.keys() == shipped.keys()
    for name in ("mean", "deviation", "centres", "radii", "counts", "body", "pages", "samples"):
        # Processors differ in the last digits of a logarithm.
        numbers = np.array(shipped[name])
        assert np.array(made[name]) == pytest.approx(numbers, rel=1e-3), f"{name}: run `{again}`"


def test_what_sites_taught_is_shown(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    template = taught(20).template(HOST)
    assert template is not None
    with Database.open(url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            save_site_templates(c, [template], now=1_790_000_000.0)
    code, out, _ = run("sites", "--database", url)
    assert code == 0
    assert HOST in out
    code, out, _ = run("sites", HOST, "--database", url)
    assert code == 0
    assert f"{HOST}: 20 articles, 3 blocks repeat, 0 redesigns, 0 pages disagreed" in out
    monkeypatch.setenv("COLUMNS", "20")  # of no meaning for a pipe: nothing is cut or folded
    code, out, _ = run("sites", HOST, "--database", url)
    for shown in ("div.article.c-0", "江北晚报", "社会"):
        assert shown in out
    code, _, err = run("sites", "other.test", "--database", url)
    assert code == 1
    assert "nothing is known of 'other.test'" in err


def test_without_pages_there_is_no_model(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
    target = tmp_path / "model.json"
    code, _, err = run("train", "cluster", "--database", url, "--output", str(target))
    assert (code, target.exists()) == (1, False)
    assert "a clustering needs 2 different nodes or more" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(("--pages", "/nowhere"), "--pages must be a folder, got '/nowhere'"),
     (("--pages", "/tmp", "--demo"), "give one of --database, --pages and --demo"),
     (("--demo", "--least-k", "9"), "got 9 and 8")],
)  # fmt: skip
def test_what_cannot_be_is_said(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    code, _, err = run("train", "cluster", "--output", str(tmp_path / "m.json"), *arguments)
    assert code == 1
    assert told in err
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("method", [("cluster", "--demo"), ("blend", "--gold", "/nowhere")])
def test_a_file_that_cannot_be_written_is_refused_before_the_training(
    run: Run, tmp_path: Path, method: tuple[str, ...]
) -> None:
    for output, words in ((tmp_path / "none" / "m", "does not exist"), (tmp_path, "is a folder")):
        code, out, err = run("train", *method, "--output", str(output))
        assert (code, out) == (1, "")
        assert f"--output {str(output)!r}" in err
        assert words in err
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_training_blend_says_what_was_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    record = {"id": "a", "url": "", "lang": "zh", "text": "侨胞今天回到家乡，看看老屋和乡亲。"}
    (tmp_path / "gold.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    page = f"<title>归侨</title><div><a href='/'>首页</a></div><p>{record['text']}</p>"
    (tmp_path / "pages" / "a.html").write_text(page, encoding="utf-8")
    target = tmp_path / "blend.npz"
    code, out, err = run("train", "blend", "--gold", str(tmp_path), "--output", str(target),
                         "--epochs", "1", "--voters", "1")  # fmt: skip
    assert code == 0, err
    assert out == f"written: {target} (trained on 1 pages, 2 blocks)\n"
    assert target.is_file()


def test_a_broken_file_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.html.gz").write_bytes(b"no gzip")
    code, _, err = run(
        "train", "cluster", "--pages", str(tmp_path), "--output", str(tmp_path / "m.json")
    )
    assert code == 1
    assert "x.html.gz" in err
