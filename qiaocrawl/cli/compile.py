"""``qiaocrawl compile``: makes the compiled inner loops now, so that no crawl waits for them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress

from qiaocrawl.kernels.compiled import NotOnDiskError, has_compiler, loading
from qiaocrawl.language import _
from qiaocrawl.machine import let_others_go_first
from qiaocrawl.text.visible import Terminal

# A story, itself again with other words around, under a title without a word in common, and
# another one.
_STORY = (
    "三月五日，归侨代表在侨乡博物馆开幕式上捐赠了一百二十件家书。馆长说，这些家书记录了三代人的往来。"
    "当地还将整理口述史，预计明年出版。开幕式后，来自五个国家的侨领参观了展厅。"
)
_NAMES = "福建省泉州市市长王建国在厦门大学会见了印度尼西亚客人。"
_TITLES = (
    ("侨乡博物馆3月5日开幕 归侨捐赠家书", _STORY),
    ("归侨捐赠家书 侨乡博物馆3月5日开幕", f"本报讯 {_STORY}展厅面积两千平方米，全年免费。"),
    ("十二箱旧信回国记", _STORY),
    (
        "台风过后渔港救援十二小时",
        "渔港的船只在台风前全部回港避风。救援队连夜清理航道，伤者已送医院。",
    ),
)

_MANY = 1_500
_log = logging.getLogger(__name__)
_log.setLevel(logging.INFO)
_COMPILE_SECONDS = 1_800.0
"""A machine under full load takes minutes; one that takes longer has another trouble."""
_TOLD_EVERY_SECONDS = 30.0


def compile_() -> None:
    """Compile the inner loops now (once a machine), so that no crawl waits for it."""
    console = Terminal(soft_wrap=True, highlight=False)
    with console.status(_("compiling the inner loops …")):
        if has_compiler():
            compile_all()
    if not has_compiler():
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            console.print(_("nothing to compile: the variable NUMBA_DISABLE_JIT forbids it"))
            return
        command = f"{sys.executable} -m pip install numba"
        console.print(_("nothing to compile, numba is not installed: {command}", command=command))
        return
    console.print(_("compiled"))


def compile_all() -> None:
    """Call every compiled loop with what is usual; at once where all is on disk."""
    _work_as_crawls()
    _analyse_text()


def _work_as_crawls() -> None:
    _judge_titles()
    for name in ("adaptive", "url_structure"):
        _order_links(name)


def load_loops() -> None:
    """Load a crawl's compiled loops; where any is not on disk, a process of its own compiles all.

    Only where nothing can be kept on disk does this thread compile.
    """
    if not has_compiler():
        return
    for is_last in (False, True):
        try:
            with loading(may_compile=False):
                _work_as_crawls()
            return
        except NotOnDiskError:
            if not is_last and not _compile_apart():
                break
    if threading.main_thread().is_alive():
        with loading(may_compile=True):
            _work_as_crawls()


def _compile_apart() -> bool:
    """Run ``qiaocrawl compile``; whether it went well. A process that ends does not wait for it."""
    _log.info(
        "first use on this machine: compiling the inner loops in a process of its own, which"
        " takes a minute and comes once (`qiaocrawl compile` does it beforehand)"
    )
    command = [sys.executable, "-m", "qiaocrawl", "compile"]
    began = told_at = time.monotonic()
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        _log.warning("no process compiles the inner loops: %s", error)
        return False
    # A crawl's own work comes first.
    let_others_go_first(process.pid, 10)
    while process.poll() is None:
        taken = time.monotonic() - began
        if not threading.main_thread().is_alive() or taken > _COMPILE_SECONDS:
            process.kill()
            process.wait()
            break
        if time.monotonic() - told_at > _TOLD_EVERY_SECONDS:
            told_at = time.monotonic()
            _log.info("compiling the inner loops: %.0f s so far", taken)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
    if process.returncode == 0:
        _log.info("the inner loops are compiled")
    else:
        _log.warning(
            "`qiaocrawl compile` ended with %d: run it by hand to see why", process.returncode
        )
    return process.returncode == 0


def _analyse_text() -> None:
    from qiaocrawl.news.names.recognition import entities_of
    from qiaocrawl.news.tone_model import tone_of

    title = _TITLES[0][0]
    # How sure a name is, is asked only where there is one.
    entities_of(title, f"{_STORY}{_NAMES}")
    tone_of(title, _STORY)


def _judge_titles() -> None:
    from qiaocrawl.dedup import TitleIndex
    from qiaocrawl.dedup.fingerprints import body_fingerprints
    from qiaocrawl.items import TitleRecord

    def record(number: int, title: str, text: str) -> TitleRecord:
        prints = body_fingerprints(text)
        return TitleRecord(
            number.to_bytes(16),
            title,
            f"{number % 9}.example",
            body_digest=prints.digest,
            body_simhash=prints.simhash,
            body_sketch=prints.sketch,
        )

    index = TitleIndex()
    index.judge_all(record(number, *story) for number, story in enumerate(_TITLES))
    # So many that its tables grow.
    index.add(
        record(
            number, f"侨刊第{number}期", f"侨刊第{number}期出版了，共{number}页。已寄往各地读者。"
        )
        for number in range(len(_TITLES), _MANY)
    )
    index.near(_TITLES[0][0])
    index.remove((0).to_bytes(16))


def _order_links(strategy: str) -> None:
    from qiaocrawl.frontier import CrawlTopic, PriorityIndex, make_strategy
    from qiaocrawl.items import Link, Visit
    from qiaocrawl.topic.pack import Term, TopicPack
    from qiaocrawl.urls import url_key

    topic = TopicPack("compile", "", "", 0.1, (Term("侨乡", "core", 1.0),), (), ())
    order = PriorityIndex(make_strategy(strategy, CrawlTopic(topic)))

    def link(number: int) -> Link:
        url = f"http://a.example/2026/{number % 7}/{number}.html"
        return Link(url, url_key(url), "a.example", "侨乡", "", "")

    for number in range(40):
        page = link(number)
        order.add(page.key, page.url, page.host, 0)
        links = [link(number + step) for step in (1, 2, 8, 40)]
        order.visit(
            Visit(
                page.key,
                page.url,
                page.host,
                0,
                (number % 3) / 3,
                number % 3 == 2,
                1.8e9 + number,
                links,
            )
        )
    order.best(1)
