"""Bringing a database to this version's schema, from migrations inside the package.

The package may be a zipped egg, where no migration has a path: they are copied out then.
"""

from __future__ import annotations

import io
import logging
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DatabaseError

from qiaocrawl.errors import SchemaError
from qiaocrawl.language import _
from qiaocrawl.options.project import command_here
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.frontier.url_aliases import url_form_problems
from qiaocrawl.storage.schema import metadata

if TYPE_CHECKING:
    from alembic.config import Config

# Alembic's warnings still come through.
logging.getLogger("alembic").setLevel(logging.WARNING)

# Schemas before the first release; the first migration has their last.
_DEVELOPMENT = re.compile(r"00([0-2]\d|3[0-5])\w*")

# Two upgrades at once would both create the tables; on SQLite the write lock prevents it.
_MYSQL_LOCK = "qiaocrawl.upgrade"
_LOCK_WAIT_SECONDS = 300


def upgrade(c: Connection) -> None:
    """Bring the schema to this version, if it is not; *c* is in a transaction.

    Raises:
        SchemaError: the schema was made by a newer version, or before the first release.
    """
    from alembic import command

    _refuse_unknown(current_revision(c))
    is_mysql = c.dialect.name != "sqlite"
    if is_mysql:
        # A named lock of the server: MariaDB commits each CREATE TABLE, so no transaction holds
        # two upgrades apart.
        c.execute(
            text("SELECT GET_LOCK(:name, :seconds)"),
            {"name": _MYSQL_LOCK, "seconds": _LOCK_WAIT_SECONDS},
        )
    try:
        with _script_location() as location:
            config = _config(location)
            config.attributes["connection"] = c
            command.upgrade(config, "head")
    finally:
        if is_mysql:
            c.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": _MYSQL_LOCK})


def require_current(c: Connection, shown_url: str) -> None:
    """Raise unless the schema is exactly this version's.

    Raises:
        SchemaError: it is missing, older or newer; the message says what to run.
    """
    revision = current_revision(c)
    if is_current(revision):
        return
    _refuse_unknown(revision)
    what = _("has schema {revision}", revision=revision) if revision else _("has no tables yet")
    raise SchemaError(
        _(
            "database {shown_url} {what}, this version needs schema {head}; run `{command}`",
            shown_url=shown_url,
            what=what,
            head=head_revision(),
            command=command_here("qiaocrawl db upgrade"),
        )
    )


def current_revision(c: Connection) -> str | None:
    """The revision the database says it has; None for a database without tables."""
    # Alembic itself takes longer to import than most commands to answer.
    if not inspect(c).has_table("alembic_version"):
        return None
    revision: str | None = c.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def head_revision() -> str:
    """The revision this version of the program needs."""
    return _known_revisions()[-1]


def is_current(revision: str | None) -> bool:
    """Whether *revision* is the one this version of the program needs."""
    return revision == head_revision()


@cache
def _known_revisions() -> tuple[str, ...]:
    """All revisions, oldest first: they are in one row, and numbered as their files are."""
    names = (entry.name for entry in (_migrations() / "versions").iterdir())
    return tuple(sorted(name.removesuffix(".py") for name in names if name.endswith(".py")))


def why_refused(revision: str | None) -> str:
    """Why a database of *revision* is refused; "" when this version can upgrade it."""
    if revision is None or revision in _known_revisions():
        return ""
    if _DEVELOPMENT.fullmatch(revision):
        return _(
            "the database has schema {revision!r} of a development version; this version "
            "upgrades from {first!r} on: run `qiaocrawl db upgrade` of the last development "
            "version first, or begin with an empty database",
            revision=revision,
            first=_known_revisions()[0],
        )
    return _(
        "the database has schema {revision!r}, which this version does not know (it knows up "
        "to {head!r}): it was made by a newer qiaocrawl; upgrade the program",
        revision=revision,
        head=head_revision(),
    )


def _refuse_unknown(revision: str | None) -> None:
    if why := why_refused(revision):
        raise SchemaError(why)


def _config(location: Path) -> Config:
    from alembic.config import Config

    # Alembic's own output goes nowhere: what happened is told by the command that asked.
    config = Config(stdout=io.StringIO(), output_buffer=io.StringIO())
    # ConfigParser reads % as the start of a variable.
    config.set_main_option("script_location", str(location).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _migrations() -> Traversable:
    return files("qiaocrawl.storage") / "migrations"


@contextmanager
def _script_location() -> Iterator[Path]:
    folder = _migrations()
    if isinstance(folder, Path):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="qiaocrawl-migrations-") as name:
        target = Path(name) / "migrations"
        _copy_tree(folder, target)
        yield target


def _copy_tree(source: Traversable, target: Path) -> None:
    target.mkdir()
    for entry in source.iterdir():
        if entry.is_dir():
            _copy_tree(entry, target / entry.name)
        # Compiled files stay behind.
        elif entry.name.endswith(".py"):
            with entry.open("rb") as reader, (target / entry.name).open("wb") as writer:
                shutil.copyfileobj(reader, writer)


# --- The checks of `qiaocrawl db check` -----------------------------------------------------------

MIN_PACKET_BYTES = 16 * 1024 * 1024
"""``max_allowed_packet`` that holds any page of the default body limit (10 MiB), escaped."""

MIN_MARIADB = (10, 11)
MIN_MYSQL = (8, 0, 16)


def problems(c: Connection) -> list[str]:
    """Every fault of the database behind *c*, in words; [] is healthy."""
    # The form of addresses is read through this version's columns: not of another schema or a
    # damaged file.
    faults = _schema_problems(c)
    is_current = not faults
    faults += _sqlite_problems(c) if c.dialect.name == "sqlite" else _mysql_problems(c)
    if is_current and not any(fault.startswith("damaged") for fault in faults):
        faults += url_form_problems(c)
    return faults


def _schema_problems(c: Connection) -> list[str]:
    revision, head = current_revision(c), head_revision()
    if revision == head:
        return []
    if why := why_refused(revision):
        return [why]
    command = command_here("qiaocrawl db upgrade")
    if not revision:
        return [_("has no tables yet: run `{command}`", command=command)]
    return [
        _(
            "schema is {revision}, this version needs {head}: run `{command}`",
            revision=revision,
            head=head,
            command=command,
        )
    ]


def _sqlite_problems(c: Connection) -> list[str]:
    faults = _damage(c)
    mode = c.execute(text("PRAGMA journal_mode")).scalar_one()
    if mode != "wal":
        faults.append(
            _("journal mode is {mode!r}, not 'wal': the file system may not support it", mode=mode)
        )
    path = sqlite_path(c.engine.url)
    rights = stat.S_IMODE(path.stat().st_mode)
    # Bits for group and others: the file holds cookies and whatever pages said of people.
    if rights & 0o077:
        faults.append(
            _(
                "others may read {path!r} (mode {rights:04o}): chmod 600 it",
                path=str(path),
                rights=rights,
            )
        )
    return faults


def _damage(c: Connection) -> list[str]:
    try:
        faults = [
            f"damaged: {row[0]}"
            # The first twenty say enough; a broken file may have millions.
            for row in c.execute(text("PRAGMA integrity_check(20)"))
            if row[0] != "ok"
        ]
        faults += [
            _(
                "table {table}: row {row} refers to a missing row of {other}",
                table=row[0],
                row=row[1],
                other=row[2],
            )
            for row in c.execute(text("PRAGMA foreign_key_check")).fetchmany(20)
        ]
    except DatabaseError as error:  # damaged too much to be looked through
        return [f"damaged: {error.orig}"]
    return faults


def _mysql_problems(c: Connection) -> list[str]:
    return [*_version_problems(c), *_setting_problems(c), *_table_problems(c)]


def locks_nothing(version: str) -> bool:
    """Whether a server of this version takes SKIP LOCKED for no lock at all.

    TiDB does, which calls itself MySQL 8 (pingcap/tidb issue 69720).
    """
    return "TiDB" in version


def _version_problems(c: Connection) -> list[str]:
    if locks_nothing(str(c.scalar(text("SELECT VERSION()")))):
        return [
            _(
                "server is TiDB, which locks no rows for SKIP LOCKED: two workers would fetch the "
                "same pages; run one worker at a time, or use MariaDB or MySQL"
            )
        ]
    version = c.dialect.server_version_info or ()
    is_mariadb = bool(getattr(c.dialect, "is_mariadb", False))
    least, name = (MIN_MARIADB, "MariaDB") if is_mariadb else (MIN_MYSQL, "MySQL")
    if tuple(version[:3]) >= least:
        return []
    return [
        _(
            "server is {name} {version}; the least version is {least}",
            name=name,
            version=_version_text(version),
            least=_version_text(least),
        )
    ]


def _version_text(version: tuple[object, ...]) -> str:
    return ".".join(str(part) for part in version)


def _setting_problems(c: Connection) -> list[str]:
    row = c.execute(
        text(
            "SELECT @@max_allowed_packet, @@innodb_flush_log_at_trx_commit,"
            " @@character_set_database"
        )
    ).one()
    faults = []
    if row[0] < MIN_PACKET_BYTES:
        faults.append(
            _(
                "max_allowed_packet is {bytes} bytes: larger pages are cut; set {least} or more",
                bytes=row[0],
                least=MIN_PACKET_BYTES,
            )
        )
    if row[1] != 1:
        faults.append(
            _(
                "innodb_flush_log_at_trx_commit is {value}: a crash of the server loses "
                "acknowledged pages; set 1",
                value=row[1],
            )
        )
    if row[2] != "utf8mb4":
        faults.append(
            _("the database's character set is {charset!r}: create it with utf8mb4", charset=row[2])
        )
    return faults


def _table_problems(c: Connection) -> list[str]:
    tables = c.execute(
        text(
            "SELECT table_name, engine, table_collation FROM information_schema.tables "
            "WHERE table_schema = DATABASE()"
        )
    )
    faults = []
    for name, engine, collation in tables:
        # Tables of other programs in the same database are none of our business.
        if name not in metadata.tables:
            continue
        if engine != "InnoDB":
            faults.append(
                _(
                    "table {name} is {engine}, not InnoDB: its rows are not safe",
                    name=name,
                    engine=engine,
                )
            )
        if not str(collation).startswith("utf8mb4"):
            faults.append(
                _(
                    "table {name} is {collation}: characters such as 𠮷 cannot be stored; "
                    "ALTER TABLE {name} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                    name=name,
                    collation=collation,
                )
            )
    columns = c.execute(
        text(
            "SELECT table_name, column_name, character_set_name FROM information_schema.columns "
            # Codes and host names are stored as ASCII on purpose.
            "WHERE table_schema = DATABASE() AND character_set_name NOT IN ('utf8mb4', 'ascii')"
        )
    )
    faults += [
        _(
            "column {table}.{column} is {charset}, not utf8mb4",
            table=table,
            column=column,
            charset=charset,
        )
        for table, column, charset in columns
        if table in metadata.tables
    ]
    return faults
