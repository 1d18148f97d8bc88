"""What a crawl stored goes from the database into files, beside the crawl (QIAO_PAGE_STORE)."""

from __future__ import annotations

import logging
import threading
import time
from functools import partial

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.options import Options
from qiaocrawl.storage import Database, Reader, Writer
from qiaocrawl.storage.page_store.packing import enough_for, pack
from qiaocrawl.storage.page_store.stores import DATABASE, held_store, open_store

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 30.0
_QUIET_SECONDS = 600.0
# A run has ten seconds to end; a file that is not sent by then is made again by the next one.
_PATIENCE_SECONDS = 5.0


class PagePacker:
    """A thread that fills a file whenever enough pages for one are in the database.

    Of several workers one does it at a time, for all of them. A store that is away costs nothing
    but room: pages stay in the database until it is back.
    """

    def __init__(
        self, options: Options, database: Database, reader: Reader, writer: Writer
    ) -> None:
        self._database = database
        self._reader = reader
        self._writer = writer
        self._address: str = options["QIAO_PAGE_STORE"]
        self._file_bytes: int = options["QIAO_PAGE_STORE_FILE_MB"] * 10**6
        self._stopped = threading.Event()
        self._told_at = -_QUIET_SECONDS
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look at the store, then begin; nothing where pages stay in the database.

        Raises:
            ConfigError: the store cannot be used; the message says why.
        """
        if self._address == DATABASE or self._thread is not None:
            return
        self._store = open_store(self._database, self._address)
        self._thread = threading.Thread(target=self._run, name="qiaocrawl-pages", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish the file in hand, if that is soon done."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_SECONDS)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._look()
            # Of the store, which may be away, or of a database that ends this run anyway.
            except (StorageError, ConfigError) as error:
                self._tell(error)
            self._stopped.wait(_LOOK_SECONDS)

    def _look(self) -> None:
        if not self._reader.run(partial(enough_for, file_bytes=self._file_bytes)):
            return
        with held_store(
            self._reader,
            self._writer,
            self._store,
            file_bytes=self._file_bytes,
            advance=lambda number: not self._stopped.is_set(),
        ) as work:
            packed = pack(work, whole_files=True)
        logger.info("%d pages went from the database to %s", packed, self._address)

    def _tell(self, error: Exception) -> None:
        # Once in a while: a store that is away for a night is no line every half minute.
        if not self._stopped.is_set() and time.monotonic() - self._told_at > _QUIET_SECONDS:
            self._told_at = time.monotonic()
            logger.warning("pages stay in the database for now: %s", error)
