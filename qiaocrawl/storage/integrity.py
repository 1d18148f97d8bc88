"""The checks of `qiaocrawl db check`."""

from __future__ import annotations

import stat

from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError

from qiaocrawl.language import _
from qiaocrawl.options.project import advised
from qiaocrawl.storage import migrate
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.frontier.url_form import url_form_problems
from qiaocrawl.storage.schema import metadata

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
    revision, head = migrate.current_revision(c), migrate.head_revision()
    if revision == head:
        return []
    if why := migrate.why_refused(revision):
        return [why]
    command = advised("qiaocrawl db upgrade")
    if not revision:
        return [_("has no tables yet: run `{command}`", command=command)]
    return [
        _(
            "schema is {revision}, this version needs {head}: run `{command}`",
            revision=revision, head=head, command=command,
        )
    ]  # fmt: skip


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
            version=_dotted(version),
            least=_dotted(least),
        )
    ]


def _dotted(version: tuple[object, ...]) -> str:
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
