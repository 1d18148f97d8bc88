"""Files that somebody sent and has not decided about yet: kept for half an hour, in memory."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

_KEPT_SECONDS = 1800.0
MOST_KEPT = 40
"""Of all users."""
MOST_OF_USER = 4


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, by whom it was sent, and what it is for."""

    name: str
    data: bytes
    user: str
    topic: str
    kept_at: float


class Uploads:
    """The files of one console; of each user the oldest goes when there are too many of theirs."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, Upload] = OrderedDict()

    def keep(self, name: str, data: bytes, user: str, topic: str) -> str:
        """Keep a file; returns the key it is found by.

        Raises:
            ConfigError: others have so many here that no more is taken.
        """
        self._drop_old()
        own = [key for key, upload in self._by_key.items() if upload.user == user]
        for key in own[: max(0, len(own) + 1 - MOST_OF_USER)]:
            del self._by_key[key]
        if len(self._by_key) >= MOST_KEPT:
            raise ConfigError(_("too many files wait here to be decided about; try again later"))
        key = secrets.token_urlsafe(16)
        self._by_key[key] = Upload(name, data, user, topic, time.monotonic())
        return key

    def _drop_old(self) -> None:
        too_old = time.monotonic() - _KEPT_SECONDS
        for key in [key for key, upload in self._by_key.items() if upload.kept_at <= too_old]:
            del self._by_key[key]

    def find(self, key: str, user: str) -> Upload | None:
        """The file of *key*, if *user* sent it within the last half hour."""
        upload = self._by_key.get(key)
        if upload is None or upload.user != user:
            return None
        return upload if time.monotonic() - upload.kept_at < _KEPT_SECONDS else None

    def drop(self, key: str) -> None:
        """Let a file go."""
        self._by_key.pop(key, None)
