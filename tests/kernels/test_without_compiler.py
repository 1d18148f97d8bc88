"""Without machine code: the same verdicts and the same order of a crawl, to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qiaocrawl.kernels import loop_modules

ROOT = Path(__file__).resolve().parents[2]

WORK = """
import random, sys
from importlib import import_module
from importlib.util import spec_from_file_location
from pathlib import Path

# Finds a module of inner loops by its source, as where nothing was compiled.
class AsPython:
    def find_spec(self, name, path, target=None):
        source = Path(*name.split("."))
        if source.with_suffix(".pxd").is_file():
            return spec_from_file_location(name, source.with_suffix(".py"))

if sys.argv[1] == "python":
    sys.meta_path.insert(0, AsPython())
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.frontier import CrawlTopic, PriorityIndex, make_strategy
from qiaocrawl.items import Link, TitleRecord, Visit
from qiaocrawl.topic.pack import Term, TopicPack
from qiaocrawl.urls import url_key
from qiaocrawl.kernels import loop_modules
from qiaocrawl.news.names.recognition import entities_of
from qiaocrawl.news.tone_model import tone_of

for name in loop_modules():
    assert import_module(name).__file__.endswith(".py") is (sys.argv[1] == "python"), name
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
for head, text in stories[:20]:
    print(entities_of(head, f"{text}福建省泉州市市长王建国会见了客人。"), tone_of(head, text))
"""


@pytest.mark.skipif(not any(loop_modules().values()), reason="nothing is compiled here")
def test_results_are_the_same() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "-c", WORK, how],
            capture_output=True, text=True, check=True, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ).stdout
        for how in ("python", "compiled")
    ]  # fmt: skip
    assert len(said[0]) > 10_000
    assert said[0] == said[1]
