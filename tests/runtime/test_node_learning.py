"""The buffer of the method cluster in a crawl: filled, shared by workers, used on pages."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crawling import Answer, crawl, import_pack, local_server, pack, rows
from qiaocrawl.cli import app
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.published.cluster import ClusterState, Training
from qiaocrawl.extract.published.cluster_model import load_model, read_model
from qiaocrawl.items import FetchedPage, Outcome, PageAnalysis
from qiaocrawl.options import Options
from qiaocrawl.runs.reprocess import reprocess_extract
from qiaocrawl.runtime import node_learning
from qiaocrawl.runtime.analyse_page import analyse_page
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.runtime.node_learning import NodeLearning
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.runtime.workers import AnalysisPool
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.pages.node_clusters import load_clusters
from site_pages import HOST, page

RNG = np.random.default_rng(11)
BODIES = np.exp(RNG.normal([7.0, 4.5, 1.0, 0.3, 3.0], 0.3, (60, 5)))
LINES = np.exp(RNG.normal([3.0, 3.0, 0.5, 0.0, 0.1], 0.3, (60, 5))) - 1
LEARNS = (("QIAO_CLUSTER_LEARNING", True), ("QIAO_CLUSTER_MODEL", ""))
SETUP = AnalysisSetup("cluster", 50, (), "vsm_breadth", extractor_options=LEARNS)


def fetched(number: int) -> FetchedPage:
    url = f"http://{HOST}/a/{number}.html"
    return FetchedPage(
        url, url, 200, (("content-type", "text/html"),), page(number).source.encode(),
        datetime(2026, 6, 1, tzinfo=UTC),
    )  # fmt: skip


def taught(rows: np.ndarray) -> PageAnalysis:
    return PageAnalysis(Outcome.ARTICLE, None, (), "utf-8", samples=rows.tobytes())


def test_an_analysis_gives_nodes_where_it_teaches_and_is_read_by_what_was_learnt() -> None:
    taught_by = analyse_page(fetched(1), SETUP)
    nodes = np.frombuffer(taught_by.samples).reshape(-1, 5)
    assert len(nodes) > 3
    silent = (("QIAO_CLUSTER_LEARNING", False), ("QIAO_CLUSTER_MODEL", ""))
    other = AnalysisSetup("cluster", 50, (), "vsm_breadth", extractor_options=silent)
    assert analyse_page(fetched(1), other).samples == b""

    # A model whose bodies are nowhere near any node of the page.
    record = json.loads(load_model().to_json())
    record["centres"] = [[90.0] * 5 for _ in record["centres"]]
    learnt = json.dumps(record)
    assert taught_by.article is not None
    assert analyse_page(fetched(1), SETUP, learnt=learnt).article is None
    pool = AnalysisPool(SETUP, workers=1, seconds=5.0)
    try:
        assert pool.submit(fetched(1), None, "", learnt).result(240).article is None
    finally:
        pool.close()


def test_workers_on_one_database_fill_one_buffer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_learning, "TRAINING", Training(least_k=2, most_k=3, buffer=150))
    reader = Reader(database)
    one, other = NodeLearning(reader), NodeLearning(reader)
    assert one.model_now() == asyncio.run(other.model()) == ""
    for place in range(49):
        one.observe(taught(BODIES[place : place + 1]))
        assert one.due() is None
    one.observe(PageAnalysis(Outcome.NOT_HTML, None, (), ""))
    one.observe(taught(BODIES[49:]))
    save = one.due()
    assert save is not None
    with database.engine.begin() as c:
        save(c)
    with database.engine.connect() as c:
        first = load_clusters(c)
    assert (first.pages, first.model, len(first.waiting)) == (50, "", 60 * 5 * 8)

    other.observe(taught(LINES))
    other.observe(taught(BODIES[:40]))
    operation = other.saving()
    with database.engine.connect() as c:
        operation(c)
        c.rollback()
    with database.engine.begin() as c:
        operation(c)  # a transaction may be played again
    with database.engine.connect() as c:
        second = load_clusters(c)
    assert (second.pages, second.clusterings, second.waiting) == (52, 1, b"")
    assert sorted(read_model(second.model).counts) == [60, 100]
    assert other.model_now() == second.model
    # The first goes on from what the second stored.
    with database.engine.begin() as c:
        one.saving()(c)
    assert one.model_now() == second.model
    assert one.numbers() == {
        "qiaocrawl/cluster/pages": 52,
        "qiaocrawl/cluster/clusterings": 1,
        "qiaocrawl/cluster/nodes_waiting": 0,
    }
    reader.close()


def test_a_damaged_row_is_learnt_anew_and_said(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    reader = Reader(database)
    learning = NodeLearning(reader)
    learning.observe(taught(LINES))
    with database.engine.begin() as c:
        learning.saving()(c)
        c.exec_driver_sql("UPDATE node_clusters SET joined = x'78'")
    with database.engine.connect() as c:
        assert load_clusters(c) == ClusterState()
    assert "is learnt anew" in caplog.text
    reader.close()


class Site:
    """A start page that links *count* articles."""

    def __init__(self, count: int) -> None:
        links = "".join(f'<li><a href="/a/{n}.html">{n}</a></li>' for n in range(count))
        self.pages = {"/": f"<title>江北晚报</title><ul>{links}</ul>".encode()}
        self.pages |= {f"/a/{n}.html": page(n).source.encode() for n in range(count)}

    def __call__(self, host: str, path: str) -> Answer | None:
        return Answer(self.pages[path]) if host == HOST and path in self.pages else None


def test_a_crawl_learns_its_model_and_reprocessing_reads_by_it(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(database_url, pack(HOST))
    learning = {"QIAO_EXTRACT_METHOD": "cluster", "QIAO_CLUSTER_LEARNING": "on"}
    with local_server(Site(60)) as server:
        done = crawl(
            "site", database_url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
            **learning,
        )  # fmt: skip
    assert done.returncode == 0, done.log
    ((stats,),) = rows(database_url, "SELECT stats FROM run")
    numbers = json.loads(str(stats))
    assert numbers["qiaocrawl/cluster/pages"] == 60
    ((pages, waiting),) = rows(database_url, "SELECT pages, LENGTH(waiting) FROM node_clusters")
    assert pages == 60
    assert int(str(waiting)) > 100

    target = tmp_path / "learnt.json"
    command = ["extractors", "train", "cluster", "--learnt", "--database", database_url,
               "--output", str(target)]  # fmt: skip
    early = CliRunner().invoke(app, command)
    assert early.exit_code != 0
    assert "60" in early.output + str(early.exception)

    # The buffer is full at 5,000 nodes: what it takes beside the crawl's own is put in here.
    with Database.open(database_url) as opened:
        reader = Reader(opened)
        more = NodeLearning(reader)
        for _ in range(50):
            more.observe(taught(np.concatenate([BODIES, LINES])))
        with opened.engine.begin() as c:
            more.saving()(c)
        with opened.engine.connect() as c:
            learnt = load_clusters(c)
        assert learnt.clusterings == 1
        reader.close()
    assert CliRunner().invoke(app, command).exit_code == 0
    assert target.read_text() == learnt.model

    options = Options.from_environment({"QIAO_DATABASE_URL": database_url, **learning})
    runtime = Runtime(options)
    try:
        assert runtime.analysis.nodes is not None
        assert runtime.analysis.nodes.model_now() == learnt.model
        reprocess_extract(runtime, lambda done: True)
    finally:
        runtime.close()
    # Reading stored pages again teaches nothing.
    assert rows(database_url, "SELECT pages FROM node_clusters") == [(60 + 50,)]


def test_learning_with_another_method_is_refused(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(database_url, pack(HOST))
    options = Options.from_environment(
        {"QIAO_DATABASE_URL": database_url, "QIAO_CLUSTER_LEARNING": "on"}
    )
    runtime = Runtime(options)
    try:
        with pytest.raises(ConfigError, match=r"QIAO_EXTRACT_METHOD=cluster.*'blend'"):
            runtime.check_choices(workers=False)
    finally:
        runtime.close()
