"""When hosts may be asked: gaps, pauses and their growth, in one process and over several."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from crawling import (
    Answer,
    Hit,
    article,
    import_pack,
    local_server,
    outcomes,
    pack,
    running_spider,
)
from fresh_schema import make_tables
from qiaocrawl.crawl.network.pacing import HostPacing, HostRateLimiter, LocalClock, SharedClock
from qiaocrawl.errors import HostParkedError
from qiaocrawl.storage import Database

HOST = "a.example"
With = Callable[[HostPacing, HostPacing], Awaitable[None]]


@contextlib.contextmanager
def two_shared(url: str) -> contextlib.AbstractContextManager[tuple[HostPacing, HostPacing]]:  # type: ignore[misc]
    """Two workers' clocks over one database."""
    with Database.open(url) as database:
        make_tables(database)
        one, other = SharedClock(database), SharedClock(database)
        try:
            yield one, other  # type: ignore[misc]
        finally:
            one.close()
            other.close()


@pytest.fixture(params=["one process", pytest.param("two workers", marks=pytest.mark.mariadb)])
def clocks(request: pytest.FixtureRequest) -> object:
    """The clocks of two workers: one and the same in one process."""
    if request.param == "one process":
        clock = LocalClock()
        yield clock, clock
        return
    with two_shared(request.getfixturevalue("mariadb_url")) as pair:
        yield pair


Pair = tuple[HostPacing, HostPacing]


async def is_taken(clock: HostPacing, gap: float, **again: float) -> bool:
    return (await clock.take(HOST, gap, **again)).is_taken  # type: ignore[arg-type]


async def is_taken_soon(clock: HostPacing) -> bool:
    """Whether a turn without a gap is given once the one before is good no more."""
    async with asyncio.timeout(30):
        while not await is_taken(clock, 0.0):
            await asyncio.sleep(0.02)
    return True


async def wait_out(clock: HostPacing, seconds: float) -> None:
    """Let a pause of *seconds* be over, as if they had passed."""
    if isinstance(clock, LocalClock):
        clock._of(HOST).parked_until -= seconds
        return
    assert isinstance(clock, SharedClock)
    sql = f"UPDATE host_turn SET parked_until = parked_until - {seconds}"
    await asyncio.wrap_future(clock._writer.submit(lambda c: c.exec_driver_sql(sql)))


def test_a_turn_is_given_once_and_again_after_the_gap(clocks: Pair) -> None:
    one, other = clocks

    async def go() -> None:
        assert await is_taken(one, 50.0)
        answer = await other.take(HOST, 50.0)
        assert 40.0 < answer.wait <= 50.05
        assert answer.parked == 0
        assert (await other.take("b.example", 50.0)).is_taken
        # The first turn is still held for a moment.
        assert await is_taken_soon(other)

    asyncio.run(go())


def test_a_turn_is_taken_again_by_who_has_it_until_another_has_the_next(clocks: Pair) -> None:
    one, other = clocks

    async def go() -> None:
        mark = (await one.take(HOST, 50.0)).mark
        for tries in (2, 4):
            assert not await is_taken(other, 50.0)
            mark = (await one.take(HOST, 50.0, tries=tries, mark=mark)).mark
        assert await is_taken_soon(other), "the turn is good no more"
        late = await one.take(HOST, 50.0, mark=mark)
        assert 40.0 < late.wait <= 50.05

    asyncio.run(go())


def test_who_is_held_up_with_a_turn_asks_no_sooner_than_the_gap_after_the_next(
    clocks: Pair,
) -> None:
    """Whatever takes its time between a turn and its request, a new connection for one."""
    late, punctual = (HostRateLimiter(clock, 0.01) for clock in clocks)
    gap = 1.5

    async def go() -> None:
        turn = await late.wait(HOST, gap)
        await asyncio.sleep(1.2 * gap)
        began = time.monotonic()
        await punctual.wait(HOST, gap)
        waiting = late.before_sending(turn)
        assert waiting is not None
        await waiting
        assert time.monotonic() - began > 0.5 * gap
        # Nobody else has had one since: its own is only prolonged.
        turn = await late.wait("b.example", 10_000.0 * gap)
        await asyncio.sleep(0.1)
        waiting = late.before_sending(turn)
        assert waiting is not None
        await asyncio.wait_for(waiting, 60.0)

    asyncio.run(go())


def test_who_keeps_no_distance_is_never_late(clocks: Pair) -> None:
    turns = HostRateLimiter(clocks[0], 0.01)

    async def go() -> None:
        turn = await turns.wait(HOST, 0.0)
        await asyncio.sleep(0.1)
        assert turns.before_sending(turn) is None

    asyncio.run(go())


def test_pauses_grow_fourfold_hold_for_all_and_begin_anew(clocks: Pair) -> None:
    one, other = clocks

    async def refused(first: float) -> float:
        """Park, and wait it out."""
        pause = await one.park_for_all(HOST, 0.0, first)
        await wait_out(one, pause + 0.01)
        return pause

    async def go() -> None:
        await one.take(HOST, 0.0)
        pauses = [await refused(30.0) for _ in range(4)]
        # What is left of them when the database has answered.
        assert all(
            longest - 15.0 < pause <= longest
            for pause, longest in zip(pauses, (30.0, 120.0, 480.0, 480.0), strict=True)
        ), pauses
        assert await is_taken(other, 0.0)
        await other.note_answer(HOST)
        assert await one.park_for_all(HOST, 0.0, 50.0) == pytest.approx(50, abs=10)
        # Answers of requests that were under way are the same refusal; a longer wish counts.
        assert await other.park_for_all(HOST, 0.0, 50.0) == pytest.approx(50, abs=10)
        assert await other.park_for_all(HOST, 90.0, 50.0) == pytest.approx(90, abs=10)
        assert await one.park_for_all(HOST, 10.0, 50.0) == pytest.approx(90, abs=10)
        assert (await other.take(HOST, 0.0)).parked == pytest.approx(90, abs=10)

    asyncio.run(go())


def test_requests_pass_one_by_one_or_come_back_at_once(clocks: Pair) -> None:
    turns = [HostRateLimiter(clock, 0.01) for clock in clocks]

    async def go() -> None:
        began = time.monotonic()
        await asyncio.gather(*(turns[n % 2].wait(HOST, 0.05) for n in range(6)))
        assert time.monotonic() - began >= 5 * 0.05
        await turns[0].park_for_all(HOST, 60.0)
        with pytest.raises(HostParkedError, match="asks to wait") as caught:
            await turns[1].wait(HOST, 0.0)
        assert 45 < caught.value.seconds <= 60

    asyncio.run(go())


@pytest.mark.mariadb
def test_a_clock_set_back_does_not_stop_the_crawl(mariadb_url: str) -> None:
    with two_shared(mariadb_url) as (one, _), Database.open(mariadb_url) as database:
        asyncio.run(one.take(HOST, 1.0))
        with database.engine.begin() as c:
            c.exec_driver_sql("UPDATE host_turn SET last_at = last_at + 3600")
        assert asyncio.run(is_taken(one, 1.0))
        assert asyncio.run(one.park_for_all(HOST, 60.0, 1.0)) == pytest.approx(60.0, abs=10.0)
        with database.engine.begin() as c:
            c.exec_driver_sql("UPDATE host_turn SET parked_until = parked_until + 3456000")
        # The turn before is still held for a moment.
        assert asyncio.run(is_taken_soon(one))
        assert asyncio.run(one.park_for_all(HOST, 30.0, 1.0)) == pytest.approx(30.0, abs=10.0)


# --- three processes (F-K5, F-K6) -----------------------------------------------------------------

PAGES = 30
SLOW, USUAL, BUSY = "slow.example", "usual.example", "busy.example"
DELAYS = {SLOW: 0.25, USUAL: 0.2, BUSY: 0.2, **{f"other{n}.example": 0.2 for n in range(7)}}


def three_workers(url: str, origin: str, folder: Path) -> dict[str, list[float]]:
    """Run three crawls of the hosts at once, to their end; when each host was asked, in order."""
    port = origin.rpartition(":")[2]
    hosts = [f"{name}:{port}" for name in DELAYS]
    given = {
        "QIAO_ALLOW_ADDRESSES": ",".join(f"http://{host}" for host in hosts),
        "NAMES_OF_TEST": json.dumps(dict.fromkeys(DELAYS, ["127.0.0.1"])),
        "START_TOGETHER": str(folder),
        "SENDINGS_OF_TEST": str(folder / "sendings"),
        "QIAO_FRONTIER_BATCH": "6",
    }
    starts = ",".join(f"http://{host}/" for host in hosts)
    with contextlib.ExitStack() as stack:
        workers = [
            stack.enter_context(running_spider(
                "site", url, "topic=qiaoqing", f"start={starts}", "strategy=bfs",
                "-s", f"DOWNLOAD_DELAY={DELAYS[USUAL]}", folder=folder,
                QIAO_CONTACT=f"worker{number}@office.example", **given,
            ))
            for number in range(3)
        ]  # fmt: skip
        while len(list(folder.glob("ready-*"))) < 3:
            assert all(worker.poll() is None for worker in workers)
            time.sleep(0.05)
        (folder / "go").touch()
        for worker in workers:
            said, _ = worker.communicate(timeout=400)
            assert worker.returncode == 0, said
    sent: dict[str, list[float]] = defaultdict(list)
    for line in (folder / "sendings").read_text().splitlines():
        host, at = line.split()
        sent[host].append(float(at))
    return {host: sorted(times) for host, times in sent.items()}


@pytest.mark.mariadb
def test_three_processes_ask_each_host_as_one(mariadb_url: str, tmp_path: Path) -> None:
    import_pack(mariadb_url, pack("www.qiao.test"))
    refused: list[float] = []

    def respond(host: str, path: str) -> Answer | None:
        name = host.partition(":")[0]
        if path == "/robots.txt":
            asks = f"Crawl-delay: {DELAYS[SLOW]}\n" if name == SLOW else ""
            return Answer(f"User-agent: *\n{asks}".encode(), headers={"Content-Type": "text/plain"})
        if name == BUSY and path == "/5" and not refused:
            refused.append(time.monotonic())
            return Answer(b"later", 429, {"Retry-After": "3"})
        # What is not there costs a request like any page, and no analysis.
        links = tuple(f"/{n}" for n in range(1, PAGES))
        return Answer(article(f"侨乡 {name}", links=links)) if path == "/" else None

    with local_server(respond) as server:
        sent = three_workers(mariadb_url, server.origin, tmp_path)
        log = sorted(server.log, key=lambda hit: hit.at)
    by_host: dict[str, list[Hit]] = defaultdict(list)
    for hit in log:
        by_host[hit.host.partition(":")[0]].append(hit)
    # The third may come when all is done, where the machine is busy.
    assert len({hit.headers["User-Agent"] for hit in log}) >= 2
    for name, delay in DELAYS.items():
        times = sent[name]
        assert len(times) >= len(by_host[name]), "a request without a turn"
        gaps = [round(after - before, 3) for before, after in zip(times, times[1:], strict=False)]
        print(name, len(times), "requests, least gap", min(gaps), "of", delay)
        # Who asks first knows of no Crawl-delay yet.
        assert min(gaps[1:]) >= 0.75 * delay, (name, gaps)
        # All of them cannot come sooner.
        assert times[-1] - times[0] >= (len(times) - 2) * delay, gaps
        pages = {hit.path for hit in by_host[name]}
        assert len(pages) == PAGES + 1
    after = [at - refused[0] for at in sent[BUSY] if at > refused[0]]
    # Others go on until the worker that was refused has read and told it.
    until_told = [later - sooner for sooner, later in zip([0.0, *after], after, strict=False)]
    paused_at = next((place for place, gap in enumerate(until_told) if gap >= 2.9), len(after))
    assert paused_at <= 10, "workers asked within the time the host had told another"
    assert len(log) >= PAGES * len(DELAYS)
    assert set(outcomes(mariadb_url).values()) <= {"article", "list", "dead"}
