"""Bringing a database to this version's schema, from migrations inside the package.

The package may be a zipped egg, where no migration has a path: they are copied out then.
"""

from __future__ import annotations

import io
import logging
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from qiaocrawl.errors import SchemaError
from qiaocrawl.language import _
from qiaocrawl.options.project import advised

if TYPE_CHECKING:
    from alembic.config import Config

# Alembic's warnings still come through.
logging.getLogger("alembic").setLevel(logging.WARNING)

# Schemas before the first release; the first migration has their last.
_DEVELOPMENT = re.compile(r"00(0\d|1[0-4])")

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
            command=advised("qiaocrawl db upgrade"),
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
