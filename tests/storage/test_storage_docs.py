"""docs/operations.md: what it tells an operator to do works."""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import make_url, text

from fresh_schema import make_tables
from mariadb_fixtures import MariaDB
from qiaocrawl.storage import Database
from qiaocrawl.storage.backup import backup

_DOC = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")


def test_the_documented_grants_are_enough(
    mariadb: MariaDB, mariadb_url: str, tmp_path: Path
) -> None:
    found = re.search(r"GRANT (SELECT, INSERT.*?)\s+ON qiaocrawl\.\*", _DOC, re.DOTALL)
    assert found is not None
    url = make_url(mariadb_url)
    mariadb.execute("CREATE USER IF NOT EXISTS doc@'%' IDENTIFIED BY 'x'")
    mariadb.execute(f"GRANT {found[1]} ON {url.database}.* TO doc@'%'")
    theirs = url.set(username="doc", password="x").render_as_string(hide_password=False)
    with Database.open(theirs) as database:
        make_tables(database)
        database.require_current()
        assert database.check() == []
        backup(database, tmp_path / "b.sql")
        with database.engine.connect() as c:
            assert c.execute(text("SELECT COUNT(*) FROM url")).scalar_one() == 0


def test_the_documented_settings_exist(mariadb: MariaDB) -> None:
    (block,) = re.findall(r"\[mariadb\]\n(.*?)```", _DOC, re.DOTALL)
    names = re.findall(r"^([a-z-_]+)\s*=", block, re.MULTILINE)
    assert len(names) == 6
    with mariadb.connect() as connection, connection.cursor() as cursor:
        for name in names:
            cursor.execute("SHOW GLOBAL VARIABLES LIKE %s", (name.replace("-", "_"),))
            assert cursor.fetchone() is not None
