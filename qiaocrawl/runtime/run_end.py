"""How a run ends, and its exit code: 0 only if it did its task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from qiaocrawl.errors import SchemaError, StorageError
from qiaocrawl.storage.run_log import SUCCESSFUL_ENDS

logger = logging.getLogger(__name__)

T = TypeVar("T")

END_REASON = "qiaocrawl/end_reason"
"""Statistic: how the run really ended, if it failed after it had begun to close."""

SEED_SET_ASIDE = "start_page_set_aside"
"""How a run ends whose start pages cannot be analysed: what they lead to was not crawled."""

START_REFUSED = "start_page_refused"
"""How a run ends where a page that the operator named may not be fetched."""

NOBODY_ANSWERED = "nobody_answered"
"""How a run ends that asked, and got no answer from any host."""

SCHEMA_CHANGED = "schema_changed"
"""How a run ends whose database another version of the program upgraded meanwhile."""


def exit_code(reason: str) -> int:
    """The exit code of a run that closed with *reason*; a reason nobody named here is 1."""
    return 0 if reason in SUCCESSFUL_ENDS else 1


def end_reason(stats: Mapping[str, Any]) -> str:
    """How a run with these statistics ended; "" when it did not come to its end."""
    # The crawl's own reason first: Scrapy says "finished" even if the store failed while closing.
    return str(stats.get(END_REASON) or stats.get("finish_reason") or "")


class Ending:
    """Why a run stops.

    Args:
        wake: called when it is to stop.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.reason = ""
        """What the crawl closes with; "" while it goes on."""
        self.failure = ""
        """The reason of what failed first; "" when nothing did."""

    def stop(self, reason: str, error: BaseException | None) -> None:
        """Stop for *reason*; the first one holds.

        Args:
            error: what failed. Only the first one is logged: the others follow from it.
        """
        if isinstance(error, SchemaError):
            reason = SCHEMA_CHANGED
        if error is not None and not self.failure:
            self.failure = reason
            logger.error("the crawl stops: %s", error)
        if not self.reason:
            self.reason = reason
            self._wake()

    async def stops_with(self, write: Awaitable[T]) -> T:
        """What *write* gives; a failure of it stops the run, which would wait for it for ever."""
        try:
            return await write
        except StorageError as error:
            self.stop("storage_error", error)
            raise

    def pump_ended(self, task: asyncio.Task[None]) -> None:
        """Stop the crawl when its pump fails: it would wait for ever otherwise."""
        # A cancelled pump ended because the run does.
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the frontier worker failed", exc_info=error)
            self.stop("internal_error", error)
