"""``qiaocrawl extractors sites --aliases``: what addresses are other names of pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fresh_schema import make_tables
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.url_aliases import save_host_votes
from qiaocrawl.urls.aliases import AliasRules

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(run: Run) -> Run:
    """Runs ``extractors sites``; gives exit code, stdout and stderr."""
    return partial(run, "extractors", "sites")


def test_learnt_aliases_are_listed(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    rules = AliasRules()
    for n in range(6):
        rules.observe(f"http://m.a.test/{n}", f"https://www.a.test/{n}")
        rules.observe(f"https://b.test/{n}_print.html", f"https://b.test/{n % 3}.html")
    with Database.open(url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            save_host_votes(c, rules.take_changes(), now=1_790_000_000.0)
    code, out, _ = run("--aliases", "--database", url)
    assert code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]]
            for line in out.splitlines() if ".test" in line]  # fmt: skip
    assert rows == [
        ["b.test", "without _print at the end of the file name", "3", "3", "no"],
        ["m.a.test", "host → www.a.test", "6", "0", "yes"],
        ["m.a.test", "http → https", "6", "0", "yes"],
    ]
    code, out, _ = run("m.a.test", "--aliases", "--database", url)
    assert code == 0
    assert "b.test" not in out
    code, _, err = run("c.test", "--aliases", "--database", url)
    assert code == 1
    assert "nothing is known of 'c.test'" in err
