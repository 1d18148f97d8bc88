"""A database of the newest servers Debian has serves a crawl and all that reads it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from crawling import Answer, article, crawl, local_server, pack, rows
from newest_servers import UnpackedMariaDB, UnpackedMySQL, newest_server
from qiaocrawl.cli import main
from qiaocrawl.storage import Database, migrate
from qiaocrawl.storage.schema import metadata
from qiaocrawl.storage.topics.topics import save_pack

_TITLES = ("侨胞代表团回到侨乡参访", "华侨农场举行座谈会", "归侨侨眷共度元宵", "侨务部门介绍新措施")
_LISTS = (
    ("article", "list"), ("story", "list"), ("dedup", "groups"), ("report", "missed", "qiaoqing"),
    ("report", "coverage", "qiaoqing"), ("report", "words", "hot", "qiaoqing", "--since", "30d"),
    ("report", "trends", "qiaoqing"), ("report", "entities", "list", "qiaoqing"), ("db", "stats"),
    ("db", "check"), ("report", "outlets", "qiaoqing"),
)  # fmt: skip


@pytest.mark.thorough
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", [UnpackedMariaDB, UnpackedMySQL])
def test_a_crawl_and_its_analysis_run_on_the_newest_server(
    kind: type[UnpackedMariaDB],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def says(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["qiaocrawl", *arguments])
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code or 0
        out, errors = capsys.readouterr()
        assert code == 0, (arguments, out + errors)
        return out

    with newest_server(kind) as server:
        server.execute("CREATE DATABASE qiao CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        url = server.url("qiao")
        monkeypatch.setenv("QIAO_DATABASE_URL", url)
        says("db", "upgrade")
        _crawl(url, tmp_path)
        assert rows(url, "SELECT COUNT(*) FROM article") == [(len(_TITLES) + 1,)]
        says("analyse")
        assert rows(url, "SELECT COUNT(*) FROM story_article WHERE term_weights IS NOT NULL") != [
            (0,)
        ]
        for arguments in _LISTS:
            says(*arguments)
        _a_database_of_the_last_schema_comes_up_to_date(url)
        _no_name_is_reserved(server, url)


def _crawl(url: str, folder: Path) -> None:
    def respond(host: str, path: str) -> Answer | None:
        name = path.strip("/") or "0"
        if not name.isdigit() or int(name) > len(_TITLES):
            return None
        links = tuple(f"/{n}" for n in range(1, len(_TITLES) + 1)) if name == "0" else ()
        return Answer(article(("侨乡要闻", *_TITLES)[int(name)], links=links))

    with local_server(respond) as site:
        with Database.open(url) as database, database.engine.begin() as c:
            save_pack(c, pack("127.0.0.1"), now=time.time())
        done = crawl(
            "site", url, "topic=qiaoqing", f"start=http://{site.origin}/", folder=folder,
            QIAO_ALLOW_ADDRESSES=site.origin,
        )  # fmt: skip
    assert done.returncode == 0, done.log


def _a_database_of_the_last_schema_comes_up_to_date(url: str) -> None:
    """As where MariaDB 10.11 became 11.8 under it: the name that is reserved now is in use."""
    with Database.open(url) as database:
        with database.engine.begin() as c:
            before = c.execute(text("SELECT url_id, term_weights FROM story_article")).all()
            c.execute(text("ALTER TABLE story_article RENAME COLUMN term_weights TO `vector`"))
            c.execute(text("UPDATE alembic_version SET version_num = '0036_chosen_queries'"))
        database.upgrade()
        with database.engine.connect() as c:
            assert c.execute(text("SELECT url_id, term_weights FROM story_article")).all() == before
            assert migrate.is_current(migrate.current_revision(c))


def _no_name_is_reserved(server: UnpackedMariaDB, url: str) -> None:
    """Statements by hand write names bare, all but those that were always reserved."""
    names = {table.name for table in metadata.tables.values()}
    names |= {column.name for table in metadata.tables.values() for column in table.columns}
    with Database.open(url) as database, database.engine.connect() as c:
        quoted = database.engine.dialect.identifier_preparer.reserved_words
        for name in sorted(names - quoted):
            c.execute(text(f"CREATE TEMPORARY TABLE no_word_is_reserved ({name} INT)"))
            c.execute(text("DROP TEMPORARY TABLE no_word_is_reserved"))
