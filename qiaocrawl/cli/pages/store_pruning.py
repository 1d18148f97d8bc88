"""The stores of a database pruned one after the other, for `db prune`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.options import Options
from qiaocrawl.storage import Database, Reader, Writer
from qiaocrawl.storage.page_store.moving import StorePruned, prune_store
from qiaocrawl.storage.page_store.stores import held_store, known_stores, open_store

# A crawl that fills a file now has it done by then.
_HOLDER_SECONDS = 150.0


def pruned_stores(
    database: Database, retired_before: datetime
) -> Iterator[tuple[str, StorePruned | str]]:
    """Each store with what pruning it did, or why it could not be done."""
    file_bytes = Options.from_environment()["QIAO_PAGE_STORE_FILE_MB"] * 10**6
    reader, writer = Reader(database), Writer(database)
    try:
        for _id, address in reader.run(known_stores):
            try:
                store = open_store(database, address)
                with held_store(
                    reader, writer, store, file_bytes=file_bytes, wait_seconds=_HOLDER_SECONDS
                ) as work:
                    yield address, prune_store(work, retired_before)
            except (ConfigError, StorageError) as error:
                yield address, str(error)
    finally:
        writer.close()
        reader.close()
