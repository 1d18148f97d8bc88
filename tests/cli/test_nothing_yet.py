"""A new topic of which nothing is stored: no empty tables, and what comes next."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.storage import Database
from storage_samples import PACK, add_topic

pytestmark = pytest.mark.usefixtures("chinese")


def test_every_list_says_that_nothing_is_there(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/q.db"
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
    code, out, _ = run("report", "missed", PACK.name, "--database", url)
    assert (code, out) == (
        0, f"还没有采集过；下一步：qiaocrawl run {PACK.name} --database {url}\n"
    )  # fmt: skip
    code, out, _ = run("article", "list", "--database", url)
    assert (code, out) == (0, "共 0 篇\n")
    code, out, error = run("export", "--out", str(tmp_path / "a.xlsx"), "--database", url)
    assert (code, error) == (0, "")
    assert f"没有符合的文章；现有的：qiaocrawl article list --database {url}" in out
    code, _, error = run("export", "--format", "pdf", "--database", url)
    assert (code, error.partition("（")[0]) == (1, "qiaocrawl: 没有名为 'pdf' 的导出格式")
