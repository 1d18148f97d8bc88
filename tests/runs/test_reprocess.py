"""Stages run again over stored pages: on all workers, in batches, stoppable."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from crawling import article, rows
from qiaocrawl.cli import main
from qiaocrawl.runs.regrouping import Stopped, regroup_all
from qiaocrawl.runs.reprocess import preview_relevance, reprocess_extract, reprocess_relevance
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.topics.judgements import save_judgement
from qiaocrawl.storage.values import changes
from stopped_command import stopped_when
from stored_pages import NOW, opened, store

__all__ = ["opened"]

TITLES = ("侨胞寻根", "侨乡办厂", "华文学校开学", "归侨座谈", "侨务新规")


def numbered(count: int) -> dict[str, bytes]:
    return {f"/{n}.html": article(f"第{n}批：{TITLES[n % 5]}") for n in range(count)}


def paged() -> dict[str, bytes]:
    """Two pages of one story."""
    pager = '<div>共2页 <a href="/n/12345.html">1</a> <a href="/n/12345_2.html">2</a></div></body>'
    return {
        path: article("侨胞代表团回乡参访", paragraphs=count).decode()
        .replace("</body>", pager).replace("（", f"（{count}之").encode()
        for path, count in (("/n/12345.html", 6), ("/n/12345_2.html", 3))
    }  # fmt: skip


def test_every_page_is_read_again(database_url: str, opened: Callable[[], Runtime]) -> None:
    store(database_url, {**numbered(150), **paged(), "/empty": b"<title>x</title>"})
    done = []

    def advance(pages: int) -> bool:
        done.append(pages)
        return True

    runtime = opened()
    changes = reprocess_extract(runtime, advance)
    assert sum(done) == 153
    assert changes == Counter(
        {
            "not_article -> article": 151,
            "not_article, read again": 2,
        }
    )
    ((whole, texts),) = rows(
        database_url,
        "SELECT a.text, COUNT(*) FROM article a JOIN url u ON u.id = a.url_id"
        " WHERE u.url LIKE '%12345%' GROUP BY a.text",
    )
    assert texts == 1
    assert len(unpack_text(whole).split("\n")) == 9
    found = rows(database_url, "SELECT outcome FROM url WHERE url LIKE '%12345%' ORDER BY url")
    assert found == [("article",), ("part",)]
    again = reprocess_extract(runtime, advance)
    assert again == Counter(
        {
            "article, read again": 151,
            "part, read again": 1,
            "not_article, read again": 1,
        }
    )
    assert rows(database_url, "SELECT COUNT(*) FROM article") == [(151,)]


def test_relevance_and_groups_are_made_again(
    database_url: str, opened: Callable[[], Runtime]
) -> None:
    store(database_url, numbered(40))
    runtime = opened()
    reprocess_extract(runtime, lambda done: True)
    before = rows(database_url, "SELECT article_id, score FROM relevance ORDER BY article_id")
    runtime.write_now(lambda c: c.execute(text("UPDATE relevance SET score = 0")))
    assert reprocess_relevance(runtime, lambda done: True) == {"qiaoqing: on topic": 40}
    assert (
        rows(database_url, "SELECT article_id, score FROM relevance ORDER BY article_id") == before
    )
    verdicts = rows(database_url, "SELECT * FROM verdict ORDER BY article_id")
    assert len(verdicts) == 40, "articles that are read again are judged"
    with pytest.raises(Stopped):
        regroup_all(runtime, lambda done: False)
    assert rows(database_url, "SELECT * FROM verdict ORDER BY article_id") == verdicts
    seen = []
    regroup_all(runtime, lambda done: bool(seen.append(done)) or True)
    assert sum(seen) == 40
    assert regroup_all(runtime, lambda done: True).articles == []


def test_an_operators_verdict_is_final(database_url: str, opened: Callable[[], Runtime]) -> None:
    store(database_url, numbered(6))
    runtime = opened()
    reprocess_extract(runtime, lambda done: True)
    ((url,), *_) = rows(database_url, "SELECT u.url FROM article a JOIN url u ON u.id = a.url_id")
    verdict = (
        "SELECT r.relevant, r.score, r.method FROM relevance r JOIN article a ON"
        f" a.id = r.article_id JOIN url u ON u.id = a.url_id WHERE u.url = '{url}'"
    )
    runtime.write_now(
        lambda c: save_judgement(c, "qiaoqing", str(url), relevant=False, note="", now=NOW)
    )
    assert rows(database_url, verdict) == [(0, 0.0, "operator")], "at once"
    reprocess_relevance(runtime, lambda done: True)
    reprocess_extract(runtime, lambda done: True)
    assert rows(database_url, verdict) == [(0, 0.0, "operator")]
    runtime.write_now(lambda c: c.execute(text("UPDATE relevance SET relevant = 0")))
    preview = preview_relevance(runtime, lambda done: True)
    assert preview.judged == 6
    assert len(preview.turned) == 5, "not the operator's own"
    assert url not in {one.url for one in preview.turned}


@pytest.fixture
def command(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str, str]]:
    """Runs `reprocess` with a stage and options: exit code, what was said, and errors."""

    def run(stage: str, *given: str) -> tuple[object, str, str]:
        line = ["reprocess", "--stage", stage, "--database", database_url, "--workers", "1"]
        monkeypatch.setattr(sys, "argv", ["qiaocrawl", *line, *given])
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return run


def test_what_cannot_be_read_is_a_failure_of_this_command_only(
    database_url: str,
    opened: Callable[[], Runtime],
    command: Callable[..., tuple[object, str, str]],
) -> None:
    store(database_url, numbered(6))
    # What another command of the process could not read.
    changes["unread_pages"] += 1
    code, _said, errors = command("extract")
    assert not code, errors
    damage = text("UPDATE page_source SET body = :body WHERE id = 3")
    runtime = opened()
    runtime.write_now(lambda c: c.execute(damage, {"body": b"damaged"}))
    runtime.close()
    code, _said, errors = command("extract")
    assert code == 1
    assert "1 stored pages could not be read" in errors


def test_a_large_change_is_shown_and_refused(
    database_url: str,
    opened: Callable[[], Runtime],
    command: Callable[..., tuple[object, str, str]],
) -> None:
    store(database_url, numbered(6))
    runtime = opened()
    reprocess_extract(runtime, lambda done: True)
    runtime.write_now(lambda c: c.execute(text("UPDATE relevance SET relevant = 0")))
    runtime.close()

    on_topic = "SELECT COUNT(*) FROM relevance WHERE relevant = 1"
    code, said, _errors = command("relevance", "--dry-run")
    assert not code
    assert "verdicts that change: 6 / 6" in said
    assert said.count("on topic │") == 6
    code, _said, errors = command("relevance")
    assert code == 1
    assert "6 of 6 verdicts would change, more than a tenth" in errors
    assert rows(database_url, on_topic) == [(0,)]
    assert not command("relevance", "--yes")[0]
    assert rows(database_url, on_topic) == [(6,)]
    assert "--yes is for --stage relevance" in command("dedup", "--yes")[2]


@pytest.mark.parametrize(
    "database_url", [pytest.param("mariadb", marks=pytest.mark.mariadb)], indirect=True
)
def test_a_stage_that_was_stopped_starts_anew(
    database_url: str, opened: Callable[[], Runtime]
) -> None:
    store(database_url, paged())
    store(database_url, numbered(200))
    runtime = opened()
    stopped = reprocess_extract(runtime, lambda done: False)
    assert 0 < stopped.total() < 202
    (joined,) = rows(
        database_url,
        "SELECT text FROM article a JOIN url u ON u.id = a.url_id WHERE u.url LIKE '%12345%'",
    )
    assert len(unpack_text(joined[0]).split("\n")) == 9, "what was read is joined"
    assert reprocess_extract(runtime, lambda done: True).total() == 202
    assert rows(database_url, "SELECT COUNT(*) FROM article") == [(201,)]


@pytest.mark.parametrize(
    ("stage", "name", "value"),
    [("extract", "QIAO_EXTRACT_METHOD", "nope"), ("extract", "QIAO_BLEND_NETWORK", "/nope.npz"),
     ("extract", "QIAO_CLUSTER_MODEL", "/nope"), ("relevance", "QIAO_EXTRACT_METHOD", "nope")],
)  # fmt: skip
def test_a_wrong_option_ends_the_command_at_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stage: str,
    name: str,
    value: str,
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    store(url, numbered(2))
    if name == "QIAO_CLUSTER_MODEL":
        monkeypatch.setenv("QIAO_EXTRACT_METHOD", "cluster")
    monkeypatch.setenv(name, value)
    command = ["qiaocrawl", "reprocess", "--stage", stage, "--database", url]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("qiaocrawl: ")
    assert said.count("\n") == 1
    assert value in said


def test_ctrl_c_ends_the_command_between_two_batches(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    store(url, numbered(1500))
    code, said = stopped_when(
        ["reprocess", "--stage", "extract", "--database", url, "--workers", "1"],
        lambda: bool(rows(url, "SELECT 1 FROM article LIMIT 1")),
    )
    assert code == 130, said
    assert "of 1500; the same command begins anew" in said
    assert "Traceback" not in said
    ((read,),) = rows(url, "SELECT COUNT(*) FROM article")
    assert isinstance(read, int)
    assert 0 < read < 1500
    assert read % 4 == 0, "whole batches of 64"
