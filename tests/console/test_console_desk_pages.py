"""Engines, machines and backups at the console: what commands show, in an office's words."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console_articles import add_stories
from console_client import Desk, desk_at, visible
from fresh_schema import make_tables
from qiaocrawl.jobs import backups
from qiaocrawl.jobs.scrapyd import ServerStatus
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database, schedules
from qiaocrawl.storage.jobs import JobRequest, add_job
from qiaocrawl.storage.schedules import NodeTerms
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.topics.topics import topic_id
from storage_samples import PACK

pytestmark = pytest.mark.usefixtures("chinese")


def _card(page: str, name: str) -> str:
    (card,) = [one for one in page.split('<section class="desk-card') if f">{name}</h2>" in one]
    return visible(card)


def test_an_engine_says_how_it_answered_lately(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    add_stories(desk.database)
    now = time.time()
    with desk.database.engine.begin() as c:
        queries = [Query(PACK.name, term, "", "demo_sou", 1) for term in ("侨务", "华侨", "侨乡")]
        ledger.plan_queries(c, topic_id(c, PACK.name), queries, now)
        ledger.record_answer(c, queries[0], ledger.Answered(AnswerState.HIT, hits=3), now)
        ledger.record_answer(c, queries[1], ledger.Answered(AnswerState.BLOCKED), now)
    desk.log_in_as("reader")
    unused = desk.get("/engines").text
    assert "没有使用任何搜索引擎" in unused
    assert "检查" not in visible(unused).partition("没有使用的")[0], "a reader changes nothing"
    monkeypatch.setenv("QIAO_ENGINES", "demo_sou,baidu")
    page = desk.get("/engines").text
    card = next(one for one in page.split("<section") if "demo_sou" in one)
    assert "最近 30 天问了 2 次，1 次有结果" in visible(card)
    assert "部分有答复" in visible(card)
    assert "没有问过它" in _card(page, "百度网页")
    # Codes stand behind the fold.
    assert "demo_sou" not in visible(card.partition("<details")[0])


def test_a_check_that_may_not_be_made_says_why(sqlite_desk: Desk) -> None:
    sqlite_desk.log_in_as("editor")
    assert sqlite_desk.post("/engines/check", engine="baidu").status_code == 303
    assert "没有问百度" in visible(sqlite_desk.get("/engines").text)
    assert sqlite_desk.post("/engines/check", engine="nobody").status_code == 400


def test_machines_tell_what_they_do(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    add_stories(desk.database)
    desk.log_in_as("reader")
    alone = visible(desk.get("/machines").text)
    assert "现在没有任务" in alone
    assert "现在只用这一台机器采集" in alone
    with desk.database.engine.begin() as c:
        now = datetime.now(UTC)
        # Nobody listens on one; the other's password is not here.
        schedules.save_node(c, "127.0.0.1:9", NodeTerms("http://127.0.0.1:9/"), now)
        terms = NodeTerms("http://127.0.0.1:8/", login_env="NOWHERE_LOGIN")
        schedules.save_node(c, "127.0.0.1:8", terms, now)
        add_job(c, JobRequest("site", PACK.name), by="x", machine="here", now=now)
        add_job(c, JobRequest("watch", PACK.name, "127.0.0.1:9"), by="x", machine="", now=now)
    desk.client.app.state.console.kept.clear()  # type: ignore[attr-defined]
    page = desk.get("/machines").text
    assert "1 个任务" in _card(page, "这台机器")
    away = _card(page, "127.0.0.1:9")
    assert "没有应答" in away
    assert "侨情" in away
    assert "没有它的密码" in _card(page, "127.0.0.1:8")
    assert "现在只用这一台机器采集" not in page


def test_nodes_with_other_programs_are_told(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_desk.log_in_as("reader")
    servers = sqlite_desk.client.app.state.console.jobs.desk.nodes  # type: ignore[attr-defined]
    with sqlite_desk.database.engine.begin() as c:
        for name in ("a:1", "b:1"):
            schedules.save_node(c, name, NodeTerms(f"http://{name}/"), datetime.now(UTC))
    answers = {"a:1": ServerStatus(1, 2, ("20260101-aaaa",)), "b:1": ServerStatus(0, 0, ())}
    monkeypatch.setattr(servers, "statuses", lambda _now: answers)
    page = sqlite_desk.get("/machines").text
    assert "2 个任务在跑，1 个在等" in _card(page, "a:1")
    assert "上面还没有程序" in _card(page, "b:1")


def test_a_backup_is_made_and_listed(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    add_stories(desk.database)
    desk.log_in_as("editor")
    assert desk.get("/backups").status_code == 403
    desk.log_in_as("administrator")
    assert "还没有备份" in visible(desk.get("/backups").text)
    assert desk.post("/backups").status_code == 303
    maker = desk.client.app.state.console.backups  # type: ignore[attr-defined]
    maker._thread.join()
    words = visible(desk.get("/backups").text)
    (made,) = backups.list_backups()
    assert made.name in words
    assert "最近一份完好的备份是今天" in words
    assert os.stat(tmp_path / "backups" / made.name).st_mode & 0o077 == 0
    if made.name.endswith(".db"):
        with closing(sqlite3.connect(tmp_path / "backups" / made.name)) as copy:
            assert copy.execute("SELECT COUNT(*) FROM article").fetchone() == (4,)
    old = time.time() - 27 * 3600
    os.utime(tmp_path / "backups" / made.name, (old, old))
    assert "已超过一天" in visible(desk.get("/backups").text)


def test_a_demo_keeps_its_backups_beside_its_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
    with desk_at(url, backup_dir=tmp_path / "demo") as desk:
        desk.log_in_as("administrator")
        assert desk.post("/backups").status_code == 303
        maker = desk.client.app.state.console.backups  # type: ignore[attr-defined]
        maker._thread.join()
        (made,) = backups.list_backups(tmp_path / "demo")
        words = visible(desk.get("/backups").text)
    assert made.name in words
    assert str(tmp_path / "demo") in words
    assert backups.list_backups() == []


def test_a_backup_that_fails_says_why(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sqlite_desk.log_in_as("administrator")
    monkeypatch.setattr(backups, "free_bytes", lambda _folder: 10)
    assert sqlite_desk.post("/backups").status_code == 303
    assert "请先腾出空间" in visible(sqlite_desk.get("/backups").text)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "backups").write_text("no folder")
    assert sqlite_desk.post("/backups").status_code == 303
    assert re.search("backups", visible(sqlite_desk.get("/backups").text))
    (tmp_path / "backups").unlink()
    (tmp_path / "backups").mkdir()
    # Half made ones, and what is no backup, are not in the list.
    (tmp_path / "backups" / "x.db.part").write_text("")
    (tmp_path / "backups" / "notes.txt").write_text("")
    assert backups.list_backups() == []


def test_coverage_is_told_term_by_term(desk: Desk) -> None:
    add_stories(desk.database)
    now = time.time()
    states = {
        "华文教育": (AnswerState.HIT, AnswerState.HIT, AnswerState.BLOCKED),
        "侨务": (AnswerState.EMPTY, AnswerState.HIT),
    }
    with desk.database.engine.begin() as c:
        for term, answers in states.items():
            hosts = ("", "www.a-qiao.cn", "www.b-news.cn")[: len(answers)]
            queries = [Query(PACK.name, term, host, "demo_sou", 1) for host in hosts]
            ledger.plan_queries(c, topic_id(c, PACK.name), queries, now)
            for query, state in zip(queries, answers, strict=True):
                ledger.record_answer(c, query, ledger.Answered(state, hits=5), now)
    desk.log_in_as("reader")
    words = visible(desk.get("/coverage").text)
    assert "问了 5 次" in words
    assert "有 1 处没问成" in words
    assert re.search("华文教育 ?：2 处有、1 处被屏蔽", words)
    assert re.search("侨务 ?：1 处有、1 处没有", words)
    assert "搜搜看" in words
