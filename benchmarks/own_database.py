"""A database of a benchmark's own, in a folder that passes or is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.mariadb_server import MariaDB

KINDS = ("sqlite", "mariadb")
_POOL_MIB = 1024


@contextmanager
def kept_or_passing(keep: Path | None, name: str) -> Iterator[Path]:
    """The folder *keep*, or one that is gone afterwards, with *name* in its name."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix=f"qiao-{name}-") as folder:
        yield Path(folder)


@contextmanager
def own_database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of the database in *folder*: empty, unless the folder was kept."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'q.db'}"
        return
    server = MariaDB(folder / "mariadb")
    is_new = not server.folder.exists()
    if is_new:
        server.folder.mkdir()
        server.install()
    server.start(f"--innodb-buffer-pool-size={_POOL_MIB}M", "--innodb-flush-log-at-trx-commit=2")
    try:
        if is_new:
            server.execute("CREATE DATABASE q CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        yield server.url("q")
    finally:
        server.stop()
