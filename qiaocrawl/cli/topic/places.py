"""Where topic packs are: folders in QIAO_TOPICS_DIR, and the database."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.errors import ConfigError, SchemaError
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.storage.migrate import current_revision
from qiaocrawl.topic import folder as pack_folder
from qiaocrawl.topic.check import PACK_NAME

TermsFile = Annotated[Path | None, typer.Option("--terms", help="Table of terms, CSV or .xlsx.")]
SitesFile = Annotated[Path | None, typer.Option("--sites", help="Table of sites, CSV or .xlsx.")]


def topics_dir() -> Path:
    """The folder QIAO_TOPICS_DIR."""
    return Path(Options.from_environment()["QIAO_TOPICS_DIR"])


def pack_folders() -> list[Path]:
    """The packs in QIAO_TOPICS_DIR, and those that are shipped, by name."""
    return pack_folder.pack_folders(topics_dir())


def find_pack(source: str) -> Path:
    """The folder of the pack called *source* in QIAO_TOPICS_DIR, or else the folder *source*."""
    named = topics_dir() / source
    if PACK_NAME.fullmatch(source):
        named = pack_folder.find_pack_folder(topics_dir(), source) or named
        if named.is_dir():
            return named
    if Path(source).is_dir():
        return Path(source)
    names = [path.name for path in pack_folders()]
    close = get_close_matches(source, names, n=1)
    hint = _("; did you mean {close!r}?", close=close[0]) if close else ""
    there = ", ".join(names) or "none"
    raise ConfigError(
        _(
            "no pack {source!r}{hint} (in {topics_dir!r}: {there}; a folder is one too)",
            source=source,
            hint=hint,
            topics_dir=str(topics_dir()),
            there=there,
        )
    )


def make_tables(database: Database) -> None:
    """Make the tables of a new database; an older schema is the operator's decision."""
    try:
        database.require_current()
    except SchemaError:
        with database.engine.connect() as c:
            is_new = current_revision(c) is None
        if not is_new:
            raise
        database.upgrade()
