"""What stands where: figures of stores for people and alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, case, func, select

from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.options.project import advised
from qiaocrawl.storage.page_store.files_table import FileState
from qiaocrawl.storage.page_store.packing import enough_for, waiting_rows
from qiaocrawl.storage.page_store.reading import files_at
from qiaocrawl.storage.page_store.stores import DATABASE
from qiaocrawl.storage.schema import page_file, page_record, page_store


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """One store: its whole files, their bytes and records; files that only wait to be deleted.

    ``unread`` are records that could not be read when they were verified last.
    """

    address: str
    files: int
    file_bytes: int
    records: int
    unread: int
    retired_files: int
    retired_bytes: int


@dataclass(frozen=True, slots=True)
class PlaceFigures:
    """Where pages and pictures are: ``in_database`` of them in rows, the others in stores."""

    in_database: int
    stores: tuple[StoreFigures, ...]


def place_figures(c: Connection) -> PlaceFigures:
    """Counted over the indexes, without reading a page."""
    return PlaceFigures(waiting_rows(c), tuple(store_figures(c)))


def store_figures(c: Connection) -> list[StoreFigures]:
    """Every store this database has had, the first one first."""

    def summed(state: FileState, what: Any) -> Any:
        return func.coalesce(func.sum(case((page_file.c.state == state, what), else_=0)), 0)

    files = c.execute(
        select(
            page_store.c.id, page_store.c.address,
            summed(FileState.COMPLETE, 1), summed(FileState.COMPLETE, page_file.c.file_bytes),
            summed(FileState.RETIRED, 1), summed(FileState.RETIRED, page_file.c.file_bytes),
        )
        .outerjoin(page_file, page_file.c.store_id == page_store.c.id)
        .group_by(page_store.c.id, page_store.c.address)
        .order_by(page_store.c.id)
    ).all()  # fmt: skip
    records = {
        row[0]: (row[1], int(row[2]))
        for row in c.execute(
            select(
                page_file.c.store_id, func.count(), func.sum(case((page_record.c.fault != "", 1),
                                                                  else_=0)),
            )
            .join(page_record, page_record.c.file_id == page_file.c.id)
            .group_by(page_file.c.store_id)
        )
    }  # fmt: skip
    figures = []
    for store_id, address, whole, size, retired, retired_size in files:
        count, unread = records.get(store_id, (0, 0))
        figures.append(StoreFigures(
            address, int(whole), int(size), count, unread, int(retired), int(retired_size)
        ))  # fmt: skip
    return figures


# So many files' worth of pages in the database: the store takes none.
_FILES_WAITING = 3


class StoreInUse(NamedTuple):
    """What the options say of raw pages: where they go, in files of how many bytes."""

    address: str
    file_bytes: int

    @classmethod
    def of(cls, options: Options) -> StoreInUse:
        """As QIAO_PAGE_STORE and QIAO_PAGE_STORE_FILE_MB have it."""
        return cls(options["QIAO_PAGE_STORE"], options["QIAO_PAGE_STORE_FILE_MB"] * 10**6)


def store_alarms(
    c: Connection, store: StoreInUse, figures: Sequence[StoreFigures], *, ask: bool = True
) -> list[str]:
    """What is wrong with stored pages: unreadable ones, a store that is away or takes none.

    Args:
        figures: of all stores, as :func:`store_figures` has them.
        ask: whether the store answers; that may take a minute where it does not.
    """
    problems = [
        _(
            "{address}: {count} stored pages cannot be read; `{command}` names them",
            address=one.address, count=one.unread, command=advised("qiaocrawl pages verify"),
        )
        for one in figures if one.unread
    ]  # fmt: skip
    if store.address == DATABASE:
        return problems
    if ask:
        try:
            files_at(store.address).mark()
        except (ConfigError, PageStoreError) as error:
            problems.append(_("the page store does not answer: {error}", error=error))
    if enough_for(c, _FILES_WAITING * store.file_bytes):
        problems.append(
            _(
                "pages wait in the database for {address}; `{command}` says why",
                address=store.address,
                command=advised(f"qiaocrawl pages move --to {store.address}"),
            )
        )
    return problems
