"""Where the time of a page goes: own time of functions, put together by stage."""

from __future__ import annotations

import cProfile
import pstats
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.crawls.running import PROJECT
from benchmarks.local_site import HOST, LocalSite
from qiaocrawl.items import FetchedPage
from qiaocrawl.options import Options
from qiaocrawl.runtime.analyse_page import analyse_page, prepare
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.topic.folder import load_pack

Stages = Sequence[tuple[str, re.Pattern[str]]]
_Function = tuple[str, int, str]
_NOTHING = re.compile(r"<method '(poll|acquire|control)' of|<built-in method _?time\.sleep>")
# Deeper than that what calls built-in functions is no stage's.
_MOST_CALLERS = 8


def _patterns(*named: tuple[str, str]) -> Stages:
    """Names with the expressions for what belongs to them."""
    return tuple((name, re.compile(pattern)) for name, pattern in named)


MAIN_PROCESS = _patterns(
    ("titles", r"qiaocrawl/(dedup|vsm|storage/titles|runtime/(shared|kept)_titles)"),
    ("frontier: leases", r"frontier/(worker|ready|lease|host_|waits|crawl_rows|completion)"
                         r"|storage/frontier|crawl/scheduler"),
    ("frontier: aliases", r"frontier/aliases|urls/aliases"),
    ("frontier: order", r"qiaocrawl/frontier"),
    ("links and traps", r"runtime/follow_links|qiaocrawl/(discovery|urls|runs)"
                        r"|pipelines/(discovery|links)"),
    ("what sites teach", r"runtime/articles|extract/sites"),
    ("storage", r"qiaocrawl/storage|sqlalchemy|sqlite3|pipelines/(evidence|store)"),
    ("hand-over to workers", r"pebble|multiprocessing|pickle|runtime/(workers|analys)"
                             r"|pipelines/extract"),
    ("requests and pacing", r"middlewares/|qiaocrawl/crawl|qiaocrawl/fetch|spiders/"),
    ("Scrapy and Twisted", r"scrapy|twisted|parsel|w3lib|zope"),
    ("event loop", r"asyncio|selectors"),
)  # fmt: skip
# Trips of a page, by file and function of what each begins with.
TRIPS = _patterns(
    ("tasks", r"asyncio/base_events\.py:create_task$"),
    ("callbacks of the event loop", r"asyncio/base_events\.py:_call_soon$"),
    ("wake-ups by other threads", r"asyncio/base_events\.py:call_soon_threadsafe$"),
    ("hand-overs to the order", r"futures/thread\.py:submit$"),
    ("futures of threads", r"concurrent/futures/_base\.py:__init__$"),
    ("calls of downloader middlewares", r"middleware\.py:_handle_mw_method$"),
    ("layers of spider output", r":(asyncgen_inner|_evaluate_iterable)$"),
    ("headers made", r"scrapy/http/headers\.py:__init__$"),
    ("counts", r":inc_value$"),
    ("signals", r"scrapy/signalmanager\.py:send_catch_log"),
    ("statements", r":<method 'execute(many)?' of 'sqlite3\.Cursor' objects>$"),
    ("commits", r":<method 'commit' of 'sqlite3\.Connection' objects>$"),
    ("all calls", r""),
)  # fmt: skip
WORKER = _patterns(
    ("parse and walk", r"qiaocrawl/page/|selectolax"),
    ("words and features of blocks", r"extract/methods"),
    ("fields", r"extract/fields"),
    ("page kind", r"extract/(kind|sniff|entries|verse)"),
    ("what sites teach", r"extract/sites"),
    ("structure", r"extract/structure"),
    ("rest of extraction", r"qiaocrawl/extract"),
    ("links", r"qiaocrawl/urls"),
    ("relevance", r"qiaocrawl/(relevance|topic|lexicon|ontology|vsm)"),
    ("body prints", r"qiaocrawl/dedup"),
    ("text", r"qiaocrawl/text"),
    ("rest", r"qiaocrawl/"),
)


def seconds_by_stage(stats: pstats.Stats, stages: Stages) -> dict[str, float]:
    """Own time of all functions by stage, most first.

    Built-in functions and libraries that are no stage count as who called them.
    """
    functions: dict[_Function, Any] = stats.stats  # type: ignore[attr-defined]
    sums: dict[str, float] = {}
    known: dict[tuple[_Function, int], dict[str, float]] = {}
    for function, (_, _, own, _, _) in functions.items():
        if not _NOTHING.search(function[2]):
            shares = _shares(function, functions, stages, known, _MOST_CALLERS)
            for stage, share in shares.items():
                sums[stage] = sums.get(stage, 0.0) + own * share
    return dict(sorted(sums.items(), key=lambda pair: -pair[1]))


def _shares(
    function: _Function, functions: dict[_Function, Any], stages: Stages,
    known: dict[tuple[_Function, int], dict[str, float]], most: int,
) -> dict[str, float]:  # fmt: skip
    """Whose time *function* is, by stage, looking *most* callers up."""
    if (function, most) in known:
        return known[function, most]
    stage = next((name for name, pattern in stages if pattern.search(function[0])), None)
    # Of each caller: how long the function took when it called.
    callers = {one: counts[3] for one, counts in functions[function][4].items() if one != function}
    whole = sum(callers.values())
    found: dict[str, float] = {}
    if stage is not None or not most or whole <= 0:
        found = {stage or "other": 1.0}
    else:
        for caller, seconds in callers.items():
            for name, share in _shares(caller, functions, stages, known, most - 1).items():
                found[name] = found.get(name, 0.0) + share * seconds / whole
    known[function, most] = found
    return found


def main_process_stages(profile: Path) -> dict[str, float]:
    """Seconds by stage of a profiled crawl's own process, all threads together."""
    return seconds_by_stage(pstats.Stats(str(profile)), MAIN_PROCESS)


def main_process_trips(profile: Path) -> dict[str, float]:
    """How often a profiled crawl's own process made each of :data:`TRIPS`."""
    functions: dict[_Function, Any] = pstats.Stats(str(profile)).stats  # type: ignore[attr-defined]
    return {
        name: float(sum(
            counts[1] for (file, _, function), counts in functions.items()
            if pattern.search(f"{file}:{function}")
        ))
        for name, pattern in TRIPS
    }  # fmt: skip


def worker_stages(site: LocalSite, pages: int) -> tuple[float, dict[str, float]]:
    """CPU milliseconds of analysing a page, and their shares by stage (1 in all).

    The same call as a worker's, in this process: nothing is handed over.
    """
    options = Options({})
    setup = AnalysisSetup(
        options["QIAO_EXTRACT_METHOD"], options["QIAO_MAX_LINKS_PER_PAGE"],
        (load_pack(PROJECT / "topics" / "qiaoqing"),), options["QIAO_RELEVANCE_METHOD"],
        learn_sites=True, order_topic="qiaoqing", documents=options["QIAO_DOCUMENTS"],
    )  # fmt: skip
    prepare(setup)
    head = (("content-type", "text/html; charset=utf-8"),)
    some = [
        FetchedPage(url := f"http://{HOST}{path}", url, 200, head, body, datetime.now(UTC))
        for path, body in list(site.pages.items())[:pages]
    ]
    for page in some[:20]:
        analyse_page(page, setup)
    began = time.thread_time()
    for page in some:
        analyse_page(page, setup)
    milliseconds = 1000 * (time.thread_time() - began) / len(some)
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    for page in some:
        analyse_page(page, setup)
    profile.disable()
    found = seconds_by_stage(pstats.Stats(profile), WORKER)
    whole = sum(found.values())
    return milliseconds, {stage: seconds / whole for stage, seconds in found.items()}
