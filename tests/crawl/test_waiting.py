"""What a run waits for: no longer than options ask for, and told."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from crawling import import_pack, pack, rows
from qiaocrawl.fetch.failure_policy import longest_wait_seconds
from qiaocrawl.frontier.host_slots import Fetches, HostUse, Limits
from qiaocrawl.frontier.row_waits import RowWaits
from qiaocrawl.items import Queue
from qiaocrawl.options import Options
from qiaocrawl.runtime.follow_links import seed_candidate
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.frontier import Remaining, Scope

HOST = "www.qiao.test"
ROWS = Scope(Queue.SITE, "qiaoqing")


def test_the_longest_wait_is_what_the_options_can_ask_for() -> None:
    assert longest_wait_seconds(Options({})) == 3_660
    assert longest_wait_seconds(Options({"QIAO_MAX_RETRY_AFTER_SECONDS": "80000"})) == 80_060
    patient = {"QIAO_FRONTIER_RETRY_SECONDS": "100", "QIAO_FRONTIER_MAX_FAILURES": "5"}
    assert longest_wait_seconds(Options(patient)) == 25_660


def test_rows_and_hosts_are_waited_for_as_long_as_asked_and_told(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}))
    hosts = HostUse(Fetches(2, 8), Limits())
    waits = RowWaits(runtime, hosts)
    now = time.time()
    for number, ahead in enumerate((90.0, 3_000.0, 40 * 86_400.0)):
        one = seed_candidate(f"http://{HOST}/{number}", Queue.SITE, "qiaoqing", refetch=False)
        runtime.write_now(lambda c, one=one: runtime.enqueue(c, [one]))
        runtime.write_now(lambda c, one=one, at=now + ahead: c.execute(
            text("UPDATE url SET not_before = :at WHERE `key` = :key"), {"at": at, "key": one.key}
        ))  # fmt: skip
    asyncio.run(waits.right(ROWS))
    found = [float(str(at)) - now for (at,) in rows(url, "SELECT not_before FROM url ORDER BY id")]
    assert found[:2] == [pytest.approx(90.0), pytest.approx(3_000.0)], "they were asked to wait"
    assert found[2] == pytest.approx(0.0, abs=60.0)

    assert waits.words() == "", "it is not known yet what is left"
    asyncio.run(waits.note(ROWS, Remaining(pending=2, leased=0, next_due=time.time() + 90.0)))
    assert re.fullmatch(r"2 URLs, the first until [\d:]{8} \(in (90|8\d) s\)", waits.words())
    hosts.park("a.example", 50_000.0)
    assert re.match(r"1 hosts that rest, a.example until \d{4}-[\d-]+ [\d:]+ \(in ", waits.words())
    hosts.begin("b.example")
    assert waits.words() == "", "it asks somebody"
    runtime.close()
