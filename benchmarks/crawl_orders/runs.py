"""Runs many simulated crawls on all cores; what is finished is kept and not done again."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.crawl_orders.data import (
    Collection,
    FocusError,
    code_digest,
    collection_digest,
    load_collection,
)
from benchmarks.crawl_orders.peers import PEERS
from benchmarks.crawl_orders.sim import curve, figures, scorer_of, simulate
from benchmarks.crawl_orders.tasks import MIN_TARGETS, Task, judgements, make_task
from qiaocrawl.frontier import strategies
from qiaocrawl.frontier.strategies.strategy import CrawlTopic

_PRODUCT = ("frontier", "relevance", "topic", "ontology", "vsm", "urls")
"""What decides the course of a simulated crawl: runs of an earlier version do not count."""
_OURS = ("peer.py", "peers.py", "prototype.py", "runs.py", "sim.py", "tasks.py")
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Unit:
    """One task by name: folder of the collection, topic and number of the draw.

    Attributes:
        samples: relevant pages shown at most.
        scorer: page scorer where a strategy leaves it open; "" = the product's default.
    """

    folder: str
    topic: str
    seed: int
    samples: int
    scorer: str


@dataclass(frozen=True, slots=True)
class Run:
    """One finished crawl.

    Attributes:
        figures: by the names that are written to JSON.
        curve: (share of the reachable pages fetched, recall, precision).
        seconds: CPU time of the crawl without judging pages.
        pages, links: fetched, and scored on them.
        targets: relevant pages to find.
        scorer: whose judgement the strategy got.
    """

    strategy: str
    collection: str
    topic: str
    seed: int
    figures: Mapping[str, float]
    curve: Sequence[Sequence[float]]
    seconds: float
    pages: int
    links: int
    targets: int
    scorer: str


@dataclass(frozen=True, slots=True)
class Done:
    """All runs in the order they were asked for, and what failed, in words."""

    runs: list[Run]
    failures: list[str]


def run_all(
    units: Sequence[Unit],
    names: Sequence[str],
    kept: Path,
    console: Console,
    *,
    processes: int,
    again: bool = False,
) -> Done:
    """Crawl every unit with every strategy of *names*, as far as *kept* does not know them.

    Args:
        kept: file to which every finished run is added.
        again: crawl all anew.
    """
    wanted = {_key(unit, name): (unit, name) for unit in units for name in names}
    known = {} if again else {key: row for key, row in _read(kept) if key in wanted}
    if known:
        console.print(f"{len(known)} of {len(wanted)} runs are known from before ({kept})")
    failures: list[str] = []
    # Parsed here, one after the other: the workers find them in the cache.
    for folder in dict.fromkeys(unit.folder for unit in units):
        _collection(folder)
    left = {unit: [name for name in names if _key(unit, name) not in known] for unit in units}
    left = {unit: some for unit, some in left.items() if some}
    total = sum(map(len, left.values()))
    _end_line(kept)
    with kept.open("a", encoding="utf-8") as file, _progress(console) as progress:
        bar = progress.add_task("crawling", total=total)
        for key, row in _results(left, processes):
            progress.advance(bar)
            if isinstance(row, str):
                failures.append(row)
                continue
            known[key] = row
            file.write(json.dumps([key, row]) + "\n")
            file.flush()
    runs = [Run(**known[key]) for key in wanted if known.get(key)]
    for unit in units:
        if names and known.get(_key(unit, names[0]), True) is None:
            console.print(f"left out: {_title(unit)}, fewer than {MIN_TARGETS} pages to find")
    return Done(runs, failures)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeRemainingColumn(), console=console, transient=True,
    )  # fmt: skip


def _title(unit: Unit) -> str:
    return f"{Path(unit.folder).name}/{unit.topic}/{unit.seed}"


@cache
def _folder_digest(folder: str) -> str:
    return collection_digest(Path(folder))


@cache
def _own_digest() -> str:
    here = Path(__file__).parent
    return hashlib.blake2b(b"".join((here / name).read_bytes() for name in _OURS)).hexdigest()


def _key(unit: Unit, name: str) -> str:
    named = [name, Path(unit.folder).name, unit.topic, unit.seed, unit.samples, unit.scorer,
             _folder_digest(unit.folder), code_digest(*_PRODUCT), _own_digest()]  # fmt: skip
    return hashlib.blake2b(json.dumps(named).encode(), digest_size=12).hexdigest()


def _read(kept: Path) -> Iterator[tuple[str, Any]]:
    """Finished runs; a line that a stop cut short is none."""
    if not kept.is_file():
        return
    for line in kept.read_text(encoding="utf-8").splitlines():
        try:
            key, row = json.loads(line)
        except ValueError:
            continue
        yield key, row


def _end_line(kept: Path) -> None:
    """A stop may have left half a line: what is added must not be joined to it."""
    if kept.is_file() and not kept.read_bytes().endswith(b"\n"):
        with kept.open("ab") as file:
            file.write(b"\n")


# --- in worker processes --------------------------------------------------------------------

_results_of: Any = None
_stopped: Any = None
_PARENT_CHECK_SECONDS = 1.0


def _start_worker(queue: Any, stopped: Any) -> None:
    global _results_of, _stopped
    _results_of, _stopped = queue, stopped
    # The first process is the one that is interrupted; it stops the others after their run.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()


def _exit_with_parent(parent: int) -> None:
    """What is killed with -9 must not leave its workers behind."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)


def _results(left: Mapping[Unit, Sequence[str]], processes: int) -> Iterator[tuple[str, Any]]:
    """(key, run as a mapping; None for a unit left out; text for a failure) as they come."""
    if not left:
        return
    # Not forked: what another thread of this process holds would be held for ever in a worker.
    context = multiprocessing.get_context("forkserver")
    queue, stopped = context.SimpleQueue(), context.Event()
    with ProcessPoolExecutor(processes, context, _start_worker, (queue, stopped)) as pool:
        futures: list[Future[None]] = []
        for unit, names in left.items():
            future = pool.submit(_run_unit, unit, tuple(names))
            # A worker that dies must not leave us waiting.
            future.add_done_callback(lambda future_: queue.put(_fault(future_)))
            futures.append(future)
        ended = 0
        try:
            while ended < len(futures):
                result = queue.get()
                if isinstance(result, tuple):
                    yield result
                    continue
                ended += 1
                if result:
                    raise FocusError(f"a process failed: {result}")
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _fault(future: Future[None]) -> str:
    if future.cancelled():
        return "stopped"
    error = future.exception()
    return "" if error is None else repr(error)


def _run_unit(unit: Unit, names: Sequence[str]) -> None:
    task = make_task(_collection(unit.folder), unit.topic, unit.seed, unit.samples)
    topic = CrawlTopic(task.pack)
    for name in names:
        if _stopped.is_set():
            return
        row = _attempt(task, name, unit.scorer, topic) if len(task.targets) >= MIN_TARGETS else None
        _results_of.put((_key(unit, name), row))


def _attempt(task: Task, name: str, scorer: str, topic: CrawlTopic) -> dict[str, Any] | str:
    """The run as a mapping; one that fails is named, and the others go on."""
    try:
        return asdict(run_one(task, name, scorer, topic))
    except Exception as error:
        return f"{name} on {task.name}: {error!r}"


@lru_cache(2)
def _collection(folder: str) -> Collection:
    return load_collection(Path(folder))


def run_one(task: Task, name: str, scorer: str = "", topic: CrawlTopic | None = None) -> Run:
    """Crawl *task* with the strategy or peer called *name*.

    Args:
        scorer: page scorer where the strategy leaves it open.
        topic: that of *task*, where others were run before; what it remembers is forgotten.

    Raises:
        ConfigError: no strategy or page scorer is called that.
    """
    topic = topic or CrawlTopic(task.pack)
    # The vector of the topic is made once and belongs to no strategy's time; words of links do.
    assert topic.profile is not None
    topic.words_of.cache_clear()
    topic.similarity.cache_clear()
    strategy = PEERS[name](topic, task) if name in PEERS else strategies.get(name)(topic)
    judge = scorer_of(strategy, scorer)
    judged = judgements(task, judge)
    start = time.process_time()
    fetched = simulate(task, strategy, judged)
    seconds = time.process_time() - start
    links = sum(len(task.collection.pages[number].links) for number in fetched)
    row = {name: round(value, _DIGITS) for name, value in figures(task, fetched).row().items()}
    places = [[round(value, 4) for value in point] for point in curve(task, fetched)]
    return Run(name, task.collection.name, task.topic, task.seed, row, places,
               round(seconds, 3), len(fetched), links, len(task.targets), judge)  # fmt: skip
