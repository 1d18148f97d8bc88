"""The benchmark of growth: what it grows is what a crawl would have stored."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from benchmarks import growth
from benchmarks.consoles.collection import TOPIC
from benchmarks.growing.behind import stand_behind
from benchmarks.growing.candidates import candidate
from benchmarks.growing.made_texts import TextMaker, titles_of
from benchmarks.growing.starts import starts
from fresh_schema import make_tables
from qiaocrawl.dedup.comparison import read_sketch
from qiaocrawl.runtime.shared_titles import SharedTitleIndex
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.titles import title_log
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack
from recording import write_collection

_OF_A_ROW = (
    "`key`, url, host_id, queue, topic_id, state, outcome, reason, score, depth, parent_key,"
    " anchor, context, payload, run_id, not_before, attempts, failures, crashes, fetched_at,"
    " done_at, lease_token"
)


def _rows(engine: Engine, query: str) -> list[tuple[Any, ...]]:
    with engine.connect() as c:
        return [tuple(row) for row in c.execute(text(query))]


def test_a_grown_store_is_one_that_a_crawl_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubted: list[object] = []
    monkeypatch.setattr(SharedTitleIndex, "_doubt", lambda *given: doubted.append(given))
    kept, rows_file = tmp_path / "kept", tmp_path / "rows.jsonl"
    given = ["--urls", "1000", "--articles", "150", "--databases", "sqlite", "--keep", str(kept),
             "--json", str(rows_file), "--picture", str(tmp_path / "growth.svg")]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["growth.py", *given])
    growth.main()
    # Another connection for each transaction would have every title read again.
    assert doubted == []
    with Database.open(f"sqlite:///{kept / 'q.db'}") as database:
        counts = {
            table: _rows(database.engine, f"SELECT COUNT(*) FROM {table}")[0][0]
            for table in ("article", "title_entry", "visit", "decision", "page_source")
        }
        copies = _rows(database.engine, "SELECT COUNT(*) FROM verdict WHERE kind <> 'distinct'")
    assert counts["article"] == counts["title_entry"] >= 150
    # Lists are fetched too; each page has its visit and its reason.
    assert counts["visit"] == counts["decision"] == counts["page_source"] > counts["article"]
    assert copies[0][0] > 5
    rows = [json.loads(line) for line in rows_file.read_text("utf-8").splitlines()]
    metrics = {row["metric"] for row in rows if row["method"] == "ours"}
    assert {"cpu_us", "lease_ms", "bytes visit", "export cpu_s", "start of a crawl s"} <= metrics
    assert any(row["method"] == "plain table" for row in rows)
    assert "A store that grows" in (tmp_path / "growth.svg").read_text("utf-8")


def test_urls_that_stand_behind_are_rows_as_the_frontier_writes_them(database_url: str) -> None:
    with Database.open(database_url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            save_pack(c, load_pack(SHIPPED_PACKS / TOPIC), now=0.0)
        assert [*stand_behind(database.engine, 300)] == [300]
        query = f"SELECT {_OF_A_ROW} FROM url ORDER BY `key`"
        bulk = _rows(database.engine, query)
        with database.engine.begin() as c:
            c.execute(text("DELETE FROM url"))
            frontier.enqueue(c, [candidate(n) for n in range(300)], run_id=None, now=1.0)
        assert _rows(database.engine, query) == bulk
    assert len(bulk) == 300


def test_titles_of_starts_are_a_log_that_can_be_read(database_url: str, tmp_path: Path) -> None:
    done = [*starts(database_url, tmp_path, [300, 6_000])]
    assert [start.titles for start in done] == [300, 6_000]
    # So few are not worth a file.
    assert [start.kept_mib > 0 for start in done] == [False, True]
    with Database.open(database_url) as database, database.engine.connect() as c:
        entries = title_log.entries_since(c, 0, 6_000)
    assert len(entries) == 6_000
    assert all(entry.counts and read_sketch(entry.record.body_sketch) for entry in entries)


def test_texts_are_the_same_for_the_same_seed_and_given_titles_come_first(tmp_path: Path) -> None:
    file = tmp_path / "titles.txt"
    file.write_text("侨乡迎来归侨\n\n华文学校开学\n", encoding="utf-8")
    titles = titles_of(file)
    made = TextMaker(3, titles).texts(40)
    assert made == TextMaker(3, titles).texts(40)
    assert [text.title for text in made if text.title in titles][:2] == titles
    assert len({text.title for text in TextMaker(4).texts(200)}) > 150


def test_raw_pages_of_a_recorded_web_are_stored_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = "".join(f"<li><a href='/{n}'>侨讯第{n}期·{n * 7919 % 997}号</a>" for n in range(200))
    pages = {
        f"http://a.test/{n}": f"<ul>{frame}</ul><p>{TextMaker(n).title()}</p>".encode()
        for n in range(40)
    }
    web, rows_file = write_collection(tmp_path / "web", pages), tmp_path / "rows.jsonl"
    monkeypatch.setattr(sys, "argv", ["growth.py", "--pages", str(web), "--json", str(rows_file)])
    growth.main()
    rows = [json.loads(line) for line in rows_file.read_text("utf-8").splitlines()]
    size = {row["method"]: row["value"] for row in rows if row["metric"] == "bytes_a_page"}
    assert size["ours"] < size["zstd 3"]
