"""Bulk stages on a real Dask cluster: the same result, whatever becomes of a worker."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from crawl_starter import run_started
from crawling import article, rows
from dask_cluster import DaskCluster, dask_cluster
from held_ports import held_port
from qiaocrawl.cli import main
from qiaocrawl.errors import ClusterError
from qiaocrawl.news.names.stored import read_names
from qiaocrawl.news.stories.analyse import analyse_stories
from qiaocrawl.options import Options
from qiaocrawl.runs.reprocess import reprocess_extract, reprocess_relevance
from qiaocrawl.runtime.bulk import Bulk
from qiaocrawl.runtime.cluster import _check_workers, _connect, code_version, dask_bulk
from qiaocrawl.runtime.runtime import Runtime
from stopped_command import stopped_when
from stored_pages import store

__all__ = ["dask_cluster"]

# When a row was written.
_MOMENTS = {"updated_at"}


def numbered(count: int) -> dict[str, bytes]:
    """So many articles of one site."""
    return {f"/{n}.html": article(f"第{n}批侨胞寻根") for n in range(count)}


def paged() -> dict[str, bytes]:
    """Two pages of one story."""
    pager = '<div>共2页 <a href="/n/12345.html">1</a> <a href="/n/12345_2.html">2</a></div></body>'
    return {
        path: article("侨胞代表团回乡参访", paragraphs=count).decode()
        .replace("</body>", pager).replace("（", f"（{count}之").encode()
        for path, count in (("/n/12345.html", 6), ("/n/12345_2.html", 3))
    }  # fmt: skip


def _runtime(path: Path) -> Runtime:
    given = {"QIAO_DATABASE_URL": f"sqlite:///{path}", "QIAO_EXTRACT_WORKERS": 1}
    return Runtime(Options.from_environment(given))


def _rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables, but for moments."""
    found = {}
    with closing(sqlite3.connect(path)) as c:
        for (table,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            cursor = c.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            found[table] = [
                tuple(value for name, value in zip(names, row, strict=True) if name not in _MOMENTS)
                for row in cursor
            ]
    return found


@pytest.mark.thorough
def test_a_killed_worker_costs_time_only(tmp_path: Path, dask_cluster: DaskCluster) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    pages = {**numbered(130), **paged(), "/empty": b"<title>x</title>"}
    store(f"sqlite:///{here}", pages)
    with closing(sqlite3.connect(here)) as c:
        c.execute("VACUUM INTO ?", (str(there),))
    local = _runtime(here)
    expected = (
        reprocess_extract(local, lambda done: True),
        reprocess_relevance(local, lambda done: True),
    )

    # Without a nanny, nobody brings it back.
    victim = dask_cluster.add_worker("victim", "--no-nanny")
    dask_cluster.add_worker("other", "--nanny")
    remote = _runtime(there)
    with dask_bulk(dask_cluster.address, lambda: remote.analysis.setup, 20.0) as bulk:

        def advance(done: int) -> bool:
            # Two batches are under way at that time.
            victim.kill()
            return True

        got = (
            reprocess_extract(remote, advance, bulk),
            reprocess_relevance(remote, lambda done: True, bulk),
        )
        assert victim.wait(20) == -9
        assert "slots" not in vars(remote.analysis), "nothing was read here"
        assert got == expected
        assert _rows(there) == _rows(here)
        _read_names_with_a_loss(local, remote, dask_cluster, bulk)
        assert _rows(there) == _rows(here)
    local.close()
    remote.close()


def _read_names_with_a_loss(
    local: Runtime, remote: Runtime, cluster: DaskCluster, bulk: Bulk
) -> None:
    """The names of both stores' articles; a worker that reads those of *remote* is killed."""
    analyse_stories(local, lambda done: True)
    # What the texts say is read there too.
    analyse_stories(remote, lambda done: True, bulk)
    expected = read_names(local, lambda done: True)
    victim = cluster.add_worker("second victim", "--no-nanny")

    def advance(done: int) -> bool:
        victim.kill()
        return True

    assert read_names(remote, advance, bulk) == expected > 100
    assert victim.wait(20) == -9


@pytest.mark.thorough
def test_ctrl_c_leaves_whole_batches_and_the_next_run_ends_it(
    tmp_path: Path, dask_cluster: DaskCluster
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    store(url, numbered(200))
    dask_cluster.add_worker("one", "--no-nanny")
    command = ["reprocess", "--stage", "extract", "--database", url,
               "--scheduler", dask_cluster.address]  # fmt: skip
    code, said = stopped_when(command, lambda: bool(rows(url, "SELECT 1 FROM article LIMIT 1")))
    assert code == 130, said
    assert "of 200; the same command begins anew" in said
    assert "Traceback" not in said
    ((read,),) = rows(url, "SELECT COUNT(*) FROM article")
    assert 0 < int(str(read)) < 200
    # The cluster is as it was for whoever comes next.
    done = run_started("qiaocrawl", *command)
    assert done.returncode == 0, done.stderr
    assert rows(url, "SELECT COUNT(*) FROM article") == [(200,)]


def test_other_code_on_a_worker_is_refused(dask_cluster: DaskCluster) -> None:
    dask_cluster.add_worker("one", "--no-nanny")
    client = _connect(dask_cluster.address)
    try:
        _check_workers(client, dask_cluster.address, code_version())
        other = code_version()._replace(digest="0123456789ab")
        with pytest.raises(ClusterError, match="runs qiaocrawl .*this command qiaocrawl .*0123456"):
            _check_workers(client, dask_cluster.address, other)
    finally:
        client.close()


def _refused(monkeypatch: pytest.MonkeyPatch, url: str, stage: str, scheduler: str) -> None:
    command = ["reprocess", "--stage", stage, "--database", url, "--scheduler", scheduler]
    monkeypatch.setattr(sys, "argv", ["qiaocrawl", *command])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1


def test_a_cluster_that_is_not_there_is_one_clear_line(
    tmp_path: Path,
    dask_cluster: DaskCluster,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    store(url, numbered(1))
    for stage, scheduler, said in (
        ("dedup", dask_cluster.address, "is for the stages extract and relevance"),
        ("extract", "localhost", "must be tcp://HOST:PORT"),
        ("extract", f"tcp://127.0.0.1:{held_port()}", "no Dask scheduler answers at tcp://127"),
        ("extract", dask_cluster.address, "has no worker; start some"),
    ):
        _refused(monkeypatch, url, stage, scheduler)
        errors = capsys.readouterr().err
        assert said in errors
        assert errors.count("\n") == 1, errors
