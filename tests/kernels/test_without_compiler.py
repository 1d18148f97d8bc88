"""As Python: the same verdicts and the same order of a crawl, to the last bit.

Where numba is not installed, and where it is loaded late, in the middle of the work.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qiaocrawl.cli.compile import compile_
from qiaocrawl.kernels.compiled import has_compiler

ROOT = Path(__file__).resolve().parents[2]

WORK = """
import os, random, sys
if sys.argv[1] == "plain":
    sys.modules["numba"] = None
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.frontier import CrawlTopic, PriorityIndex, make_strategy
from qiaocrawl.items import Link, TitleRecord, Visit
from qiaocrawl.topic.pack import Term, TopicPack
from qiaocrawl.urls import url_key
from qiaocrawl.kernels.compiled import compile_late, has_compiler

if sys.argv[1] == "late":
    from qiaocrawl.cli.compile import load_loops
    compile_late(0.05, load_loops)
draw = random.Random(5)
words = "侨乡 博物馆 开幕 归侨 捐赠 家书 台风 渔港 救援 展厅 领事 华人 春节 论坛".split()
title = lambda: "".join(draw.sample(words, draw.randint(3, 6))) + str(draw.randint(1, 30))
body = lambda head: "。".join(head + "".join(draw.sample(words, 4)) for _ in range(6))
stories = [(head, body(head)) for head in (title() for _ in range(90))]
records = []
for number in range(200):
    head, text = draw.choice(stories)
    prints = body_fingerprints(text if draw.random() < .6 else body(head))
    records.append(TitleRecord(
        number.to_bytes(16), head, f"{number % 9}.example", body_digest=prints.digest,
        body_simhash=prints.simhash, body_sketch=prints.sketch))
index = TitleIndex()
print(list(index.judge_all(records)))
topic = TopicPack("t", "", "", 0.1, (Term("侨乡", "core", 1.0), Term("归侨", "core", .5)), (), ())
for name in ("adaptive", "url_structure"):
    order = PriorityIndex(make_strategy(name, CrawlTopic(topic)))
    def link(number):
        host = f"h{number % 5}.example"
        url = f"http://{host}/2026/{number % 7}/{number}.html"
        return Link(url, url_key(url), host, "".join(draw.sample(words, 2)), "", "")
    for number in range(80):
        page = link(number)
        order.add(page.key, page.url, page.host, 0)
        links = [link(number + draw.randrange(1, 300)) for _ in range(10)]
        order.visit(Visit(page.key, page.url, page.host, 0, (number % 5) / 5, number % 3 == 2,
                          1.8e9 + number, links))
        if not number % 10:
            print(order.best(5))
forbidden = os.environ["NUMBA_DISABLE_JIT"] == "1"
assert has_compiler() is (sys.argv[1] != "plain" and not forbidden)
"""


def test_results_are_the_same() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "-c", WORK, how],
            capture_output=True, text=True, check=True, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": forbidden},
        ).stdout
        for how, forbidden in (("plain", "0"), ("compiled", "0"), ("late", "0"), ("late", "1"))
    ]  # fmt: skip
    assert len(said[0]) > 10_000
    assert len(set(said)) == 1


def test_there_is_nothing_to_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    has_compiler.cache_clear()
    compile_()
    has_compiler.cache_clear()
    assert "-m pip install numba" in capsys.readouterr().out


def test_where_compiling_is_forbidden_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    has_compiler.cache_clear()
    compile_()
    has_compiler.cache_clear()
    assert "NUMBA_DISABLE_JIT" in capsys.readouterr().out
