"""Files that somebody sent and has not decided about yet: kept for half an hour, in memory."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass

_KEPT_SECONDS = 1800.0
_MOST_KEPT = 20


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, by whom it was sent, and what it is for."""

    name: str
    data: bytes
    user: str
    topic: str
    kept_at: float


class Uploads:
    """The files of one console; the oldest goes when there are too many."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, Upload] = OrderedDict()

    def keep(self, name: str, data: bytes, user: str, topic: str) -> str:
        """Keep a file; returns the key it is found by."""
        key = secrets.token_urlsafe(16)
        self._by_key[key] = Upload(name, data, user, topic, time.monotonic())
        while len(self._by_key) > _MOST_KEPT:
            self._by_key.popitem(last=False)
        return key

    def find(self, key: str, user: str) -> Upload | None:
        """The file of *key*, if *user* sent it within the last half hour."""
        upload = self._by_key.get(key)
        if upload is None or upload.user != user:
            return None
        return upload if time.monotonic() - upload.kept_at < _KEPT_SECONDS else None

    def drop(self, key: str) -> None:
        """Let a file go."""
        self._by_key.pop(key, None)
