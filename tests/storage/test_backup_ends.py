"""Backups and exports on a full disk leave nothing behind; no backup is put under a console."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect
from typer.testing import CliRunner

from console_articles import add_stories
from console_client import desk_at
from qiaocrawl.cli import app
from qiaocrawl.errors import QiaoError, SchemaError, StorageError
from qiaocrawl.export.base import exporters
from qiaocrawl.storage import Database
from qiaocrawl.storage.backup import backup, restore
from qiaocrawl.storage.locking import ConsoleSign, who_serves
from qiaocrawl.storage.selection import Selection
from storage_samples import PACK, add_topic, child_environment

_SIGN = """
import sys
from qiaocrawl.storage import Database
from qiaocrawl.storage.locking import ConsoleSign
with Database.open(sys.argv[1]) as database:
    sign = ConsoleSign(database.engine, "127.0.0.1:8808")
    print("there", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 256 KB."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder],
                             capture_output=True, text=True, check=False)  # fmt: skip
    if mounted.returncode:
        pytest.skip(f"needs the right to mount a tmpfs: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Database]:
    """A SQLite database with four articles whose pages are long and cannot be packed."""
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        database.upgrade()
        add_stories(database, body=os.urandom(200_000).hex())
        yield database


def test_a_backup_on_a_full_disk_is_one_line(stored: Database, full: Path) -> None:
    with pytest.raises(StorageError, match=r"b\.db'.*full"):
        backup(stored, full / "b.db")
    assert list(full.iterdir()) == []
    result = CliRunner().invoke(app, ["db", "backup", str(full / "b.db"), "--database", stored.url])
    assert isinstance(result.exception, StorageError)
    assert list(full.iterdir()) == []


def test_a_backup_put_back_on_a_full_disk_leaves_what_was_there(
    stored: Database, full: Path, tmp_path: Path
) -> None:
    source = tmp_path / "b.db"
    backup(stored, source)
    with (
        Database.open(f"sqlite:///{full / 'q.db'}") as other,
        pytest.raises(StorageError, match=r"q\.db'.*full"),
    ):
        restore(other, source, lambda done, whole: None)
    assert [file.name for file in full.iterdir() if not file.name.endswith("-lock")] == ["q.db"]
    with Database.open(f"sqlite:///{full / 'q.db'}") as other, other.reading() as c:
        assert inspect(c).get_table_names() == []


@pytest.mark.parametrize("name", ["xlsx", "html", "docx"])
def test_an_export_on_a_full_disk_leaves_no_copies(stored: Database, full: Path, name: str) -> None:
    exporter = exporters.get(name)
    (full / "kept-copies").mkdir()
    (full / "kept-copies" / "mine.txt").write_text("x", "utf-8")
    for stem, left in (("a", set()), ("kept", {"mine.txt"})):
        out = full / f"{stem}.{name}"
        with stored.reading() as c, pytest.raises(StorageError, match="cannot write"):
            exporter.write(c, Selection(PACK.name), out, lambda _count: None)
        assert [file.name for file in full.iterdir()] == ["kept-copies"]
        folder = full / f"{stem}-copies"
        assert ({file.name for file in folder.iterdir()} if folder.exists() else set()) == left


def test_no_backup_is_put_under_a_live_console(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    add_topic(database)
    source = tmp_path / ("b.db" if database.dialect == "sqlite" else "b.sql")
    backup(database, source)
    assert who_serves(database.engine) == []
    with desk_at(database_url, search_dir=str(tmp_path / "search"), port=8899):
        _until_seen(database)
        for overwrite in (False, True):
            with pytest.raises(SchemaError, match="is in use: a console") as told:
                restore(database, source, lambda done, whole: None, overwrite=overwrite)
        assert "end it" in str(told.value)
        if database.dialect == "sqlite":
            assert f"process {os.getpid()}, 127.0.0.1:8899" in str(told.value)
        with database.reading() as c:
            assert c.exec_driver_sql("SELECT COUNT(*) FROM topic").scalar() == 1
    assert who_serves(database.engine) == []
    restore(database, source, lambda done, whole: None, overwrite=True)


def _until_seen(database: Database) -> None:
    """On a server the sign is given by a thread."""
    until = time.monotonic() + 60
    while not who_serves(database.engine):
        assert time.monotonic() < until, "no sign of the console"


def test_a_damaged_file_under_a_console_is_not_replaced_either(
    stored: Database, tmp_path: Path
) -> None:
    source = tmp_path / "b.db"
    backup(stored, source)
    sign = ConsoleSign(stored.engine, "here")
    file = tmp_path / "q.db"
    for log in tmp_path.glob("q.db-*l"):
        log.unlink()
    file.write_bytes(b"damaged" * 1_000)
    with pytest.raises(QiaoError, match="a console"):
        restore(stored, source, lambda done, whole: None, overwrite=True)
    sign.close()
    restore(stored, source, lambda done, whole: None, overwrite=True)
    assert stored.check() == []


def test_a_killed_console_holds_nothing(database: Database, database_url: str) -> None:
    command = [sys.executable, "-c", _SIGN, database_url]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         env=child_environment())
        for _number in range(2)
    ]  # fmt: skip
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"there\n"
        _until_seen(database)
        if database.dialect == "sqlite":
            assert len(who_serves(database.engine)) == 2
    finally:
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.communicate()
    until = time.monotonic() + 60
    while who_serves(database.engine):
        assert time.monotonic() < until, "the sign of a killed console stays"
