"""Opening, upgrading and checking a database."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

import qiaocrawl
from mariadb_fixtures import MariaDB
from qiaocrawl.errors import SchemaError, StorageError
from qiaocrawl.storage import Database
from qiaocrawl.storage.migrate import locks_nothing
from qiaocrawl.storage.schema import metadata


def test_the_sqlite_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "q.db"
    with Database.open(f"sqlite:///{path}") as database:
        database.upgrade()
        assert path.parent.stat().st_mode & 0o777 == 0o700
        with database.engine.begin() as c:
            c.execute(text("DELETE FROM term_weight"))
            files = [path, *path.parent.glob("q.db-*")]
            assert len(files) == 3  # with -wal and -shm
            assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}


def test_sqlite_is_set_up_for_a_crawl(tmp_path: Path) -> None:
    opened = Database.open(f"sqlite:///{tmp_path / 'q.db'}")
    with opened as database, database.engine.connect() as c:
        settings = {
            name: c.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "busy_timeout": 30000,
    }


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&uri=true",
        "postgresql://u:geheim@h/d",
        "mysql+pymysql://u:geheim@h:port/d",
        "mysql+pymysql://u:geheim@h",
        "nonsense",
    ],
)
def test_other_databases_are_refused_without_showing_the_password(url: str) -> None:
    with pytest.raises(StorageError) as caught:
        Database.open(url)
    assert "geheim" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot open database file"):
        Database.open(f"sqlite:///{tmp_path / 'file' / 'q.db'}")


def test_an_unreachable_server_is_an_error_without_the_password() -> None:
    database = Database.open("mysql+pymysql://u:geheim@127.0.0.1:1/d")
    with pytest.raises(StorageError, match="127.0.0.1") as caught:
        database.require_current()
    assert "geheim" not in str(caught.value)
    assert "geheim" not in database.shown_url


def test_upgrading_twice_changes_nothing(database_url: str) -> None:
    with Database.open(database_url) as database:
        with pytest.raises(SchemaError, match="`qiaocrawl db upgrade`"):
            database.require_current()
        assert any("has no tables yet" in one for one in database.check())
        for _ in range(2):
            database.upgrade()
            database.require_current()
            assert database.check() == []


def test_an_interrupted_upgrade_is_finished_by_the_next(database_url: str) -> None:
    """MySQL commits every table on its own: a killed upgrade leaves some of them."""
    with Database.open(database_url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            c.execute(text("DROP TABLE verdict"))
            c.execute(text("DROP TABLE title_term"))
            c.execute(text("DELETE FROM alembic_version"))
        database.upgrade()
        assert database.check() == []
        with database.engine.connect() as c:
            assert {"verdict", "title_term"} <= set(inspect(c).get_table_names())


def test_a_newer_schema_is_refused(database: Database) -> None:
    with database.engine.begin() as c:
        c.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for action in (database.upgrade, database.require_current):
        with pytest.raises(SchemaError, match="newer qiaocrawl"):
            action()


def test_migrations_make_the_schema(database: Database) -> None:
    with database.engine.connect() as c:
        context = MigrationContext.configure(c, opts={"compare_type": False})
        assert compare_metadata(context, metadata) == []


def test_an_egg_that_is_a_zip_file_upgrades(tmp_path: Path) -> None:
    """scrapyd imports eggs without unpacking them."""
    package = Path(qiaocrawl.__file__).parent
    egg = tmp_path / "qiaocrawl.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in package.rglob("*.py"):
            archive.write(path, Path("qiaocrawl") / path.relative_to(package))
    code = (
        "import qiaocrawl.storage as s, sys; d = s.Database.open(sys.argv[1]); d.upgrade();"
        "d.require_current(); print(s.__file__)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, f"sqlite:///{tmp_path / 'q.db'}"],
        env={**os.environ, "PYTHONPATH": str(egg)}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert str(egg) in result.stdout


def test_check_finds_a_readable_file_and_missing_rows(tmp_path: Path) -> None:
    path = tmp_path / "q.db"
    with Database.open(f"sqlite:///{path}") as database:
        database.upgrade()
        with database.engine.connect() as c:
            c.exec_driver_sql("ROLLBACK")
            c.exec_driver_sql("PRAGMA foreign_keys=OFF")
            c.exec_driver_sql("INSERT INTO title_term VALUES (7, 'x', 1, 0)")
        path.chmod(0o644)
        found = "\n".join(database.check())
    assert "chmod 600" in found
    assert "missing row of article" in found


def test_check_finds_three_byte_utf8_and_small_packets(mariadb: MariaDB, mariadb_url: str) -> None:
    with Database.open(mariadb_url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            c.execute(text("ALTER TABLE term_weight CONVERT TO CHARACTER SET utf8mb3"))
            c.execute(text("ALTER TABLE term_weight ENGINE = MyISAM"))
        mariadb.execute("SET GLOBAL max_allowed_packet = 1048576")
        mariadb.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
        database.engine.dispose()
        try:
            found = "\n".join(database.check())
        finally:
            mariadb.execute("SET GLOBAL max_allowed_packet = 16777216")
            mariadb.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 1")
    for word in (
        "term_weight is utf8mb3",
        "term_weight is MyISAM",
        "max_allowed_packet is 1048576",
        "innodb_flush_log_at_trx_commit is 2",
    ):
        assert word in found


def test_a_server_that_takes_no_row_locks_is_told_apart() -> None:
    assert locks_nothing("8.0.11-TiDB-v8.5.6")
    assert not locks_nothing("10.11.18-MariaDB-0+deb12u1")
