"""Arguments that are SQL (F-D11) or lead out of a folder (F-W9): refused, or nothing found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from crawling import import_pack, pack
from qiaocrawl.storage import Database

Run = Callable[..., tuple[int, str, str]]

HOSTILE = (
    "' OR '1'='1", "'; DROP TABLE url; --", "x' UNION SELECT 1 --", "%(key)s :v0 {list} ?",
    "../../etc/passwd", "/etc/passwd", "..\\..\\x", "%2e%2e%2fx", "a\udc80b", "",
)  # fmt: skip
COMMANDS = (
    ("report", "coverage", "{}"), ("report", "coverage", "qiaoqing", "--engine", "{}"),
    ("report", "coverage", "qiaoqing", "--site", "{}"),
    ("report", "coverage", "qiaoqing", "--term", "{}"),
    ("report", "coverage", "qiaoqing", "--state", "{}"),
    ("report", "coverage", "qiaoqing", "--since", "{}"),
    ("report", "why", "{}"), ("report", "why", "http://a.test/1", "--topic", "{}"),
    ("export", "--format", "{}"), ("export", "--format", "csv", "--topic", "{}"),
    ("export", "--format", "csv", "--since", "{}"), ("extractors", "sites", "{}"),
    ("watch", "list", "{}"), ("watch", "list", "--site", "{}"), ("watch", "history", "{}"),
    ("topic", "judge", "qiaoqing", "{}", "yes"),
)  # fmt: skip


def _counts(url: str) -> dict[str, int]:
    with Database.open(url) as database, database.engine.connect() as c:
        return {
            table: c.execute(text(f"SELECT COUNT(*) FROM `{table}`")).scalar_one()
            for table in inspect(c).get_table_names()
        }


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_hostile_arguments_change_nothing_and_break_nothing(
    command: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in" / "here"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("a.test"))
    monkeypatch.setenv("QIAO_DATABASE_URL", url)
    before, files = _counts(url), set(tmp_path.iterdir())
    for value in HOSTILE:
        code, _, said = run(*(part.replace("{}", value) for part in command))
        assert code in (0, 1, 2), (value, said)
        assert "Traceback" not in said, value
        if code:
            assert said.strip(), value
    assert _counts(url) == before
    assert {file.name for file in tmp_path.iterdir()} <= {
        "in", *(file.name for file in files), "q.db-wal", "q.db-shm",
    }  # fmt: skip
    assert list(folder.parent.iterdir()) == [folder]
    assert all(".." not in file.name and file.parent == folder for file in folder.rglob("*"))
