"""``qiaocrawl extractors sites --aliases``: what addresses are other names of pages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qiaocrawl.cli import main
from qiaocrawl.storage import Database
from qiaocrawl.storage.url_aliases import save_host_votes
from qiaocrawl.urls.aliases import AliasRules


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["qiaocrawl", "extractors", "sites", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def test_learnt_aliases_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    rules = AliasRules()
    for n in range(6):
        rules.observe(f"http://m.a.test/{n}", f"https://www.a.test/{n}")
        rules.observe(f"https://b.test/{n}_print.html", f"https://b.test/{n % 3}.html")
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            save_host_votes(c, rules.changed(), now=1_790_000_000.0)
    assert run(monkeypatch, "--aliases", "--database", url) == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]]
            for line in capsys.readouterr().out.splitlines() if ".test" in line]  # fmt: skip
    assert rows == [
        ["b.test", "去掉文件名后缀 without _print at the end of the file name", "3", "3", "否 no"],
        ["m.a.test", "主机 host → www.a.test", "6", "0", "是 yes"],
        ["m.a.test", "http → https", "6", "0", "是 yes"],
    ]
    assert run(monkeypatch, "m.a.test", "--aliases", "--database", url) == 0
    assert "b.test" not in capsys.readouterr().out
    assert run(monkeypatch, "c.test", "--aliases", "--database", url) == 1
    assert "nothing is known of 'c.test'" in capsys.readouterr().err
