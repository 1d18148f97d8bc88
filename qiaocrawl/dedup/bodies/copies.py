"""Titles with identical bodies, for bodies of which only the digest is known."""

from __future__ import annotations

from itertools import islice

from qiaocrawl.dedup.index_state import SavedState, State, packed, unpacked
from qiaocrawl.items import TitleRecord


class BodyCopies:
    """Titles by number, found by the digest of their body.

    Bodies whose sentences are known are found by those (see
    :class:`qiaocrawl.dedup.bodies.index.BodyIndex`) and take no room here. Those of a single
    sentence (a caption, a notice) are not, on purpose: they are the same under many titles.
    Others take some 300 bytes each.
    """

    def __init__(self) -> None:
        # A dict as an ordered set: removing one of thousands must not search a list.
        # By digest, oldest first.
        self._numbers: dict[bytes, dict[int, None]] = {}
        self._digests: dict[int, bytes] = {}

    def add(self, number: int, record: TitleRecord) -> None:
        """Remember the body of *record* as that of the title *number*, which has none yet."""
        self._numbers.setdefault(record.body_digest, {})[number] = None
        self._digests[number] = record.body_digest

    def remove(self, number: int) -> None:
        """Forget the body of a title; a title without one is no error."""
        digest = self._digests.pop(number, None)
        if digest is not None:
            left = self._numbers[digest]
            del left[number]
            if not left:
                del self._numbers[digest]

    def saved(self) -> State:
        """Digests with their titles, in the order in which they came."""
        return {"copies": packed([[digest.hex(), [*numbers]]
                                  for digest, numbers in self._numbers.items()])}  # fmt: skip

    def restore(self, state: SavedState) -> None:
        """Take up what was saved."""
        self._numbers = {
            bytes.fromhex(digest): dict.fromkeys(numbers)
            for digest, numbers in unpacked(state["copies"])
        }
        self._digests = {
            number: digest for digest, numbers in self._numbers.items() for number in numbers
        }

    def of(self, record: TitleRecord, limit: int) -> list[int]:
        """Titles with the body of *record*, the newest *limit*."""
        if not record.body_digest:
            return []
        return list(islice(reversed(self._numbers.get(record.body_digest, {})), limit))
