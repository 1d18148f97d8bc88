"""``qiaocrawl analyse`` with processes that read texts."""

from __future__ import annotations

import pytest

from command_runs import Run
from title_samples import made, runtime_on
from told_stories import put_texts

pytestmark = pytest.mark.usefixtures("chinese")


def test_texts_are_read_by_as_many_processes_as_are_asked_for(run: Run, database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_texts(runtime)
    code, out, error = run("analyse", "--processes", "2", "--database", database_url)
    assert (code, error) == (0, ""), error
    again, said, error = run("story", "list", "--database", database_url)
    assert (again, error) == (0, ""), error
    assert "已归入 3 篇文章" in out
    assert "马德里" in said


def test_processes_of_this_machine_and_a_cluster_are_not_asked_for_together(run: Run) -> None:
    code, _out, error = run("analyse", "--processes", "2", "--scheduler", "tcp://127.0.0.1:9")
    assert code == 1
    assert "--processes 不能与 --scheduler 同用" in error
    code, _out, error = run("analyse", "--processes", "0")
    assert code == 2
    assert "--processes" in error
