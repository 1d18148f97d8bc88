"""``qiaocrawl metrics``: real figures over real HTTP, on both databases."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import event, func, insert, select, text, update

from crawling import _environment as environment
from fresh_schema import make_tables
from page_store_samples import fill, work_on
from qiaocrawl.jobs.metrics import FAMILIES, MetricsKeeper, largest_series, shown_once
from qiaocrawl.reading.alarms import StoreInUse
from qiaocrawl.reading.readings import Reading, quick
from qiaocrawl.storage import Database, Reader, Writer, run_log, schema
from qiaocrawl.storage.page_store.moving import verify
from qiaocrawl.storage.page_store.packing import pack
from storage_samples import add_topic, candidate, enqueue, take

ROOT = Path(__file__).resolve().parents[2]
_STORE = StoreInUse("database", 1)
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def _parsed(page: str) -> Samples:
    found = {}
    for family in text_string_to_metric_families(page):
        assert family.type == "gauge"
        assert family.documentation
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return found


def _value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((f"qiaocrawl_{name}", tuple(sorted(labels.items()))))


def _fill(database: Database) -> None:
    """Three URLs that wait, one in hand, one whose lease ran out; a run, a job, a blocked host."""
    topic_id, now = add_topic(database), time.time()
    with database.engine.begin() as c:
        run_id = run_log.start_run(c, "site", topic_id, {}, now=now - 60)
        run_log.finish_run(c, run_id, "finished", {}, 3, now=now)
        run_id = run_log.start_run(c, "site", topic_id, {}, now=now)
        enqueue(c, [candidate(f"{n}.html") for n in range(5)], now=now - 500)
        take(c, 2, now=now)
        first = c.scalar(select(func.min(schema.url.c.id)).where(schema.url.c.state == 1))
        c.execute(update(schema.url).where(schema.url.c.id == first).values(lease_until=5.0))
        c.execute(text("INSERT INTO host_turn (host, last_at, delay, parked_until, busy)"
                       " VALUES ('a.example', 0, 0, :until, 3)"), {"until": now + 900})  # fmt: skip
        c.execute(insert(schema.collector).values(
            token=7, crawl=1, run_id=run_id, weight=1.0, fetch_seconds=0.1, pages=9,
            pages_per_minute=90.0, turns=0.0, started_at=now, seen_at=now + 3600,
        ))  # fmt: skip
        c.execute(insert(schema.collector).values(
            token=8, crawl=1, run_id=run_id, weight=1.0, fetch_seconds=0.1, pages=9,
            pages_per_minute=90.0, turns=0.0, started_at=1.0, seen_at=1.0,
        ))  # fmt: skip


def _metrics(database_url: str, folder: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "qiaocrawl", "metrics", "--port", "0"], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**environment(database_url, {}), "QIAO_METRICS_SECONDS": "1", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/metrics", line)
    assert found, line + process.stdout.read()
    return process, found[0]


def test_the_figures_are_those_of_the_database(database: Database, tmp_path: Path) -> None:
    _fill(database)
    process, address = _metrics(database.url, tmp_path)
    try:
        answer = httpx.get(address)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain")
        samples = _parsed(answer.text)
        place = {"topic": "qiaoqing", "queue": "site"}
        assert _value(samples, "up") == 1
        assert _value(samples, "frontier_urls", state="pending", **place) == 3
        assert _value(samples, "frontier_urls", state="leased", **place) == 2
        assert _value(samples, "leases", state="held") == 1
        assert _value(samples, "leases", state="expired") == 1
        assert _value(samples, "hosts_blocked") == 1
        assert _value(samples, "collectors", spider="site", topic="qiaoqing") == 1
        assert _value(samples, "collector_pages_per_second", spider="site", topic="qiaoqing") == 1.5
        assert _value(samples, "run_last_failed", spider="site", topic="qiaoqing") == 0
        age = _value(samples, "frontier_oldest_waiting_seconds", **place)
        assert age is not None
        assert 499 < age < 900
        assert (_value(samples, "database_seconds") or 0) > 0
        # A schema that is not this version's ends it, with a line.
        with database.engine.begin() as c:
            c.execute(text("UPDATE alembic_version SET version_num = '9999_later'"))
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "which this version does not know" in said
    finally:
        process.kill()
        process.wait()


def test_a_signal_ends_it_well(tmp_path: Path) -> None:
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        process, _address = _metrics(database.url, tmp_path)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, "")
        assert _value(_parsed(shown_once(database, _STORE)), "up") == 1


def test_a_database_that_is_away_is_a_figure_too(tmp_path: Path) -> None:
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        keeper = MetricsKeeper(database, _STORE, 1.0)
        keeper.read_now()
        assert _shown(keeper)["qiaocrawl_up"] == 1
        (tmp_path / "q.db").write_bytes(b"no database " * 1000)
        for log in ("q.db-wal", "q.db-shm"):
            (tmp_path / log).unlink(missing_ok=True)
        keeper.read_now()
        shown = _shown(keeper)
        assert shown["qiaocrawl_up"] == 0
        assert "qiaocrawl_leases" not in shown, "what was known before is not shown as if it held"


def _shown(keeper: MetricsKeeper) -> Mapping[str, float]:
    return {family.name: family.samples[0].value for family in keeper.collect()}


def test_what_is_counted_is_read_seldom() -> None:
    many = [Reading("frontier_urls", (f"t{n}", "site", "pending"), float(n)) for n in range(600)]
    kept = largest_series(many)
    assert len(kept) == 501
    assert kept[-1].labels == ("other", "other", "other")
    assert sum(reading.value for reading in kept) == sum(range(600))


def test_stored_pages_are_counted_where_they_are(tmp_path: Path) -> None:
    address = f"file://{tmp_path}/pages"
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        url_ids = fill(database, 20)
        with work_on(database, address) as work:
            pack(work)
            (first, *_others) = (tmp_path / "pages").rglob("*.warc.gz")
            first.write_bytes(b"")
        with closing(Reader(database)) as reader, closing(Writer(database)) as writer:
            bad = verify(reader, writer, lambda number: True)
        samples = _parsed(shown_once(database, StoreInUse(address, 50_000)))
        left = _value(samples, "raw_pages_in_database")
        read = _value(samples, "page_store_records", store=address, state="read")
        unread = _value(samples, "page_store_records", store=address, state="unread")
        assert unread == len(bad.faults) > 0
        assert left is not None
        assert read is not None
        assert left + read + unread == len(url_ids) + 4
        assert _value(samples, "page_store_bytes", store=address, state="retired") == 0
        # Beside the one that no article has come.
        assert _value(samples, "alarms") == 2


def test_the_guide_lists_all_metrics() -> None:
    guide = (ROOT / "docs" / "operations.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `qiaocrawl_(\w+)`", guide, re.M))
    assert listed == {family.name for family in FAMILIES}


def test_quick_questions_look_through_no_table_that_grows(tmp_path: Path) -> None:
    grows = {"url", "article", "page_source", "relevance", "query", "query_answer"}
    plans: list[str] = []
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        _fill(database)
        with database.engine.connect() as c:

            def explain(
                _c: object, cursor: Any, statement: str, given: Any, _x: object, _many: bool
            ) -> None:
                if statement.lstrip().startswith("SELECT"):
                    explained = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", given)
                    plans.extend(row[3] for row in explained)

            event.listen(database.engine, "before_cursor_execute", explain)
            quick(c)
    assert any("ix_url_frontier" in plan for plan in plans)
    # The newest rows by their number, a limited count of them, are no whole table.
    scanned = {found[1] for plan in plans if (found := re.match(r"SCAN (\w+)$", plan))}
    whole = scanned & grows - {"article"}
    assert not whole, plans
