"""Slow pages have a slot of their own: the quick ones go on meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawling import article, pack
from qiaocrawl.errors import ConfigError, ExtractionError, PoisonPageError
from qiaocrawl.extract.base import extractor_options
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.language import using_language
from qiaocrawl.options import Options
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.runtime.analysis_slots import AnalysisSlots

# Two seconds of the processor where a page has one in an ordinary slot.
SLOW = b"<p>x" * 400_000


def page(body: bytes) -> FetchedPage:
    url = "http://www.qiao.test/a"
    return FetchedPage(url, url, 200, (("content-type", "text/html"),), body, datetime.now(UTC))


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnalysisSlots]:
    monkeypatch.setattr("qiaocrawl.runtime.analysis_slots.QUICK_SECONDS", 0.3)
    setup = AnalysisSetup("density", 100, (pack("www.qiao.test"),), "vsm_breadth")
    made = AnalysisSlots(setup, workers=1, seconds=30.0)
    yield made
    made.close()


def test_other_pages_are_analysed_while_a_slow_one_is_in_hand(slots: AnalysisSlots) -> None:
    """F-R6, told by counts: twenty pages end before the one that came first."""

    async def both() -> list[str]:
        ended: list[str] = []

        async def analyse(name: str, body: bytes, *, alone: bool) -> None:
            await slots.analyse(page(body), None, alone=alone)
            ended.append(name)

        await slots.make_ready()
        # The other slot too: on a busy machine its worker begins long after the slow page ends.
        await slots.analyse(page(article("侨讯")), None, alone=False)
        slow = asyncio.ensure_future(analyse("slow", SLOW * 10, alone=True))
        await asyncio.gather(*(analyse("quick", article(f"侨讯{n}"), alone=False)
                               for n in range(20)))  # fmt: skip
        await slow
        return ended

    assert asyncio.run(both()) == ["quick"] * 20 + ["slow"]


def test_a_page_that_outlasts_its_ordinary_slot_is_read_in_the_separate_one(
    slots: AnalysisSlots,
) -> None:
    async def tries() -> Outcome:
        with pytest.raises(PoisonPageError, match=r"longer than 0\.3 s"):
            await slots.analyse(page(SLOW), None, alone=False)
        return (await slots.analyse(page(SLOW), None, alone=True)).outcome

    assert asyncio.run(tries()) is Outcome.NOT_ARTICLE


def test_workers_that_cannot_start_blame_no_page(tmp_path: Path) -> None:
    """As when a file of templates is damaged while a crawl runs, and a worker is started anew."""
    gone = Options({"QIAO_TEMPLATES": str(tmp_path / "gone.toml")})
    options = extractor_options("density", gone)
    setup = AnalysisSetup("density", 100, (pack("www.qiao.test"),), "vsm_breadth",
                          extractor_options=options)  # fmt: skip
    slots = AnalysisSlots(setup, workers=1, seconds=30.0)
    good = page(article("侨讯"))
    try:
        with pytest.raises(ConfigError, match=r"cannot start: .*gone\.toml"):
            asyncio.run(slots.analyse(good, None, alone=False))
        with pytest.raises(ConfigError, match="cannot start"):
            asyncio.run(slots.make_ready())
        with pytest.raises(ConfigError, match="cannot start"):
            slots.result(lambda pool: pool.submit(good), slots.ordinary.submit(good))
    finally:
        slots.close()


def test_workers_speak_the_language_of_who_asks(tmp_path: Path) -> None:
    """Also where the server of forks was started by a reader of another one."""
    gone = Options({"QIAO_TEMPLATES": str(tmp_path / "gone.toml")})
    setup = AnalysisSetup("density", 100, (pack("www.qiao.test"),), "vsm_breadth",
                          extractor_options=extractor_options("density", gone))  # fmt: skip
    for name, words in (("zh_CN", "网页分析无法启动"), ("en", "cannot start")):
        with using_language(name):
            slots = AnalysisSlots(setup, workers=1, seconds=30.0)
            try:
                with pytest.raises(ConfigError, match=words):
                    asyncio.run(slots.make_ready())
            finally:
                slots.close()


def test_without_an_event_loop_it_is_the_same(slots: AnalysisSlots) -> None:
    """As `qiaocrawl reprocess` does it."""
    futures = [slots.ordinary.submit(page(body)) for body in (SLOW, article("侨讯"))]
    wait(futures, timeout=240)
    found = [
        slots.result(lambda pool, body=body: pool.submit(page(body)), future)
        for body, future in zip((SLOW, article("侨讯")), futures, strict=True)
    ]
    assert not any(isinstance(one, ExtractionError) for one in found)


def test_the_separate_slot_is_started_when_it_is_needed(slots: AnalysisSlots) -> None:
    asyncio.run(slots.analyse(page(article("侨讯")), None, alone=False))
    assert "separate" not in vars(slots)


def test_a_run_that_stops_takes_nothing_more(slots: AnalysisSlots) -> None:
    async def stop() -> int:
        slow = [asyncio.ensure_future(slots.analyse(page(SLOW), None, alone=alone))
                for alone in (False, True)]  # fmt: skip
        await asyncio.sleep(0)
        stopped = slots.stop()
        for task in (*slow, asyncio.ensure_future(slots.join("侨", ["讯"]))):
            with pytest.raises(asyncio.CancelledError):
                await task
        return stopped

    assert asyncio.run(stop()) == 2


class StartsLate:
    """A pool whose workers are not there yet, as on a machine that is overloaded for minutes."""

    generation = 0
    seconds = 1.0
    patience_seconds = 0.02

    def restart(self, generation: int) -> None:
        self.generation = generation + 1


def test_an_overloaded_machine_is_waited_for_longer_each_time(slots: AnalysisSlots) -> None:
    asked: list[float] = []

    def submit(pool: object) -> Future[str]:
        asked.append(time.monotonic())
        done: Future[str] = Future()
        if len(asked) == 5:
            done.set_result("analysed")
        return done

    assert asyncio.run(slots._in(StartsLate(), submit)) == "analysed"  # type: ignore[arg-type]
    waits = [after - before for before, after in zip(asked, asked[1:], strict=False)]
    assert all(wait >= 0.02 * 2**tries for tries, wait in enumerate(waits))
