"""Files are kept as small as what they are needed for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, delete, select

from qiaocrawl.storage.page_store.files_table import (
    FileState,
    StoreWork,
    deletable,
    forget,
    live_bytes,
    retire_empty,
)
from qiaocrawl.storage.page_store.moving import repack, unnamed
from qiaocrawl.storage.schema import page_file, page_record

_RECORDS_AT_A_TIME = 500
# A file with less than this share of it needed is made anew, and so are files so much smaller
# than a whole one, where there are two of them.
_LEAST_LIVE = 0.6
_SMALL = 0.5


@dataclass(slots=True)
class StorePruned:
    """What pruning did to a store. ``faults`` are of records that could not be copied."""

    records: int = 0
    repacked_files: int = 0
    deleted_files: int = 0
    deleted_bytes: int = 0
    faults: list[str] = field(default_factory=list)


def prune_store(work: StoreWork, retired_before: datetime) -> StorePruned:
    """Forget records nobody names, copy the rest out of sparse files, delete old files.

    A file that is needed no more stays until it was retired before *retired_before*: a database
    that is restored from a copy of before still finds its pages. It may be stopped anywhere.

    Raises:
        PageStoreError: the store does not answer, or another process has taken it over.
    """
    done = StorePruned()
    work.store.files.drop_leftovers()
    last = 0
    while True:
        some, last = work.write(partial(_drop_unnamed, store_id=work.store.id, after=last))
        done.records += some
        if not last:
            break
    sparse = work.reader.run(partial(_sparse_files, work=work))
    if sparse:
        moved = repack(work, sparse)
        done.faults = moved.faults or []
    done.repacked_files = len(sparse)
    work.write(partial(retire_empty, store_ids=[work.store.id]))
    for row_id, name, size in work.reader.run(
        partial(deletable, store_id=work.store.id, retired_before=retired_before)
    ):
        # The file first: a row without a file is found and finished by the next time.
        work.hold.renew()
        work.store.files.delete(name)
        work.write(partial(forget, row_id=row_id))
        done.deleted_files += 1
        done.deleted_bytes += size
    return done


def _drop_unnamed(c: Connection, store_id: int, after: int) -> tuple[int, int]:
    """Look through the next records; returns how many went, and the last one (0 at the end)."""
    ids = c.execute(
        select(page_record.c.id)
        .join(page_file, page_file.c.id == page_record.c.file_id)
        .where(page_file.c.store_id == store_id, page_file.c.state == FileState.COMPLETE)
        .where(page_record.c.id > after)
        .order_by(page_record.c.id)
        .limit(_RECORDS_AT_A_TIME)
    ).scalars().all()  # fmt: skip
    if not ids:
        return 0, 0
    gone = c.execute(
        delete(page_record).where(page_record.c.id.in_(ids), unnamed(page_record.c.id))
    )
    return gone.rowcount, ids[-1]


def _sparse_files(c: Connection, work: StoreWork) -> list[int]:
    files = live_bytes(c, work.store.id)
    sparse = [row_id for row_id, size, live in files if live < _LEAST_LIVE * size]
    small = [row_id for row_id, size, live in files
             if row_id not in sparse and size < _SMALL * work.file_bytes]  # fmt: skip
    return sorted([*sparse, *(small if len(small) > 1 or sparse else [])])
