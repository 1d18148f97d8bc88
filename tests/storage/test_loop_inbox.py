"""What other threads have done reaches an event loop together, and with all that it says."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from qiaocrawl.storage.writer import in_loop


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts how often another thread woke it."""

    calls = 0

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Count, then do."""
        self.calls += 1
        return super().call_soon_threadsafe(callback, *args, context=context)


def run_counted(main: Callable[[], Any]) -> int:
    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        runner.run(main())
        loop = runner.get_loop()
        assert isinstance(loop, CountingLoop)
        return loop.calls


def test_results_that_come_together_wake_the_loop_once_and_keep_their_order() -> None:
    heard: list[int] = []

    async def main() -> None:
        sources: list[Future[int]] = [Future() for _ in range(50)]
        futures = [in_loop(source) for source in sources]
        for future in futures:
            future.add_done_callback(lambda done: heard.append(done.result()))

        def commit() -> None:
            for number, source in enumerate(sources):
                source.set_result(number)

        thread = threading.Thread(target=commit)
        thread.start()
        # The loop is busy with a page meanwhile.
        thread.join()
        assert await asyncio.gather(*futures) == list(range(50))

    assert run_counted(main) == 1
    assert heard == list(range(50))


def test_none_is_overlooked_however_threads_and_loop_meet() -> None:
    async def main() -> None:
        with ThreadPoolExecutor(4) as threads:
            waiting = [in_loop(threads.submit(lambda n=n: n)) for n in range(3_000)]
            assert await asyncio.gather(*waiting) == list(range(3_000))

    asyncio.run(asyncio.wait_for(main(), 60))


def test_errors_and_cancellation_pass_both_ways() -> None:
    async def main() -> None:
        failed: Future[int] = Future()
        failed.set_exception(KeyError("a"))
        with pytest.raises(KeyError):
            await in_loop(failed)
        given_up: Future[int] = Future()
        waiting = in_loop(given_up)
        given_up.cancel()
        given_up.set_running_or_notify_cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        source: Future[int] = Future()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await in_loop(source)
        assert source.cancelled()

    asyncio.run(main())


def test_an_error_that_a_loop_does_not_take_keeps_nothing_from_others() -> None:
    async def main() -> None:
        sources: list[Future[int]] = [Future() for _ in range(3)]
        first, second, third = map(in_loop, sources)
        sources[0].set_result(1)
        # As next() of a thread's operation raises it.
        sources[1].set_exception(StopIteration())
        sources[2].set_result(3)
        assert await first + await third == 4
        with pytest.raises(RuntimeError, match="StopIteration"):
            await second

    asyncio.run(asyncio.wait_for(main(), 10))


def test_a_result_for_a_loop_that_has_ended_is_dropped_and_the_loop_with_it() -> None:
    async def main(source: Future[int]) -> weakref.ref[asyncio.AbstractEventLoop]:
        in_loop(source)
        return weakref.ref(asyncio.get_running_loop())

    def ended_loop() -> weakref.ref[asyncio.AbstractEventLoop]:
        source: Future[int] = Future()
        loop = asyncio.run(main(source))
        source.set_result(1)
        return loop

    loop = ended_loop()
    gc.collect()
    assert loop() is None
