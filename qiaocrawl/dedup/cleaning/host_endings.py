"""Counts what one host adds to its titles **(ours)**; does no I/O."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

ENDING, CHANNEL, BEGINNING = "$", "<", "^"
"""Marks before a text: ended a title, stood before a name that did, began a title."""
LEAST_TITLES = {ENDING: 4, CHANNEL: 3, BEGINNING: 4}
"""Different titles before a text is believed to be a name. A channel stands directly before a
name, which is evidence by itself."""
LEAST_SHARES = {ENDING: 0.2, CHANNEL: 0.02, BEGINNING: 0.5}
"""Of the titles that end in something short (of all with a separator for a beginning). A site
has one name and many channels; what begins titles may be a series' name, so it needs more."""
# At its trial's end a name is taken back below such a part of the share it was learnt at.
_LEAST_KEPT_SHARE = 0.5
WINDOW = 128
"""Titles after which counts are halved, so that a new name is learnt on an old host too."""
MAX_CANDIDATES = 48
"""Texts counted per host; the double may be held between two clearings."""
MAX_KNOWN = 48
"""Names per host; the one not met for longest goes first."""
MAX_SEEN = 64
"""Titles lately counted, as 4 bytes each: the same one again proves nothing."""


class HostEndings:
    """Counts of one host and the names learnt from them; at most some 20 KB.

    Deterministic: depends on the calls alone, on no clock, random number or process-local hash.
    """

    __slots__ = ("_counts", "_ended", "_known", "_seen", "_titles", "_turn")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._known: dict[str, bool] = {}
        # "I": four bytes a digest, where a list of integers would take forty.
        self._seen = array("I")
        self._titles = 0
        self._ended = 0
        self._turn = 0

    def knows(self, marked: str) -> bool:
        """Whether the *marked* text is a name of this host."""
        return marked in self._known

    def is_new(self, digest: int) -> bool:
        """Whether the title of this *digest* (32 bits) was not among the last 64; it is now."""
        if digest in self._seen:
            return False
        if len(self._seen) < MAX_SEEN:
            self._seen.append(digest)
        else:
            # A ring: the place of the oldest, once it is full.
            self._seen[self._turn % MAX_SEEN] = digest
        self._turn += 1
        return True

    def count(self, marked: Iterable[str], *, is_ended: bool) -> bool:
        """Count a new title that holds a separator; True when what is known has changed.

        Args:
            marked: texts of it that may be names, each with its mark in front.
            is_ended: whether its last piece may be a name, listed ones included.
        """
        self._titles += 1
        self._ended += is_ended
        is_changed = False
        for text in marked:
            # Re-inserted at the end: a dict keeps the order in which texts were met last.
            self._counts[text] = self._counts.pop(text, 0) + 1
            if text in self._known:
                self._known[text] = self._known.pop(text)
            elif self._is_believed(text, 1):
                self._add(text)
                is_changed = True
        if len(self._counts) > 2 * MAX_CANDIDATES:
            self._make_room()
        if self._titles >= WINDOW:
            is_changed |= self._end_trials()
            self._fade()
        return is_changed

    def saved(self) -> list[Any]:
        """All that is known, as JSON has it; dicts are in order."""
        return [self._counts, self._known, self._seen.tolist(), self._titles, self._ended,
                self._turn]  # fmt: skip

    @classmethod
    def restored(cls, saved: list[Any]) -> HostEndings:
        """The host that was saved."""
        host = cls()
        host._counts, host._known, seen, host._titles, host._ended, host._turn = saved
        host._seen = array("I", seen)
        return host

    def _is_believed(self, text: str, part: float) -> bool:
        titles = self._titles if text[0] == BEGINNING else self._ended
        # Both a number and a share: four of twenty titles make a name, four of two hundred do not.
        least = max(LEAST_TITLES[text[0]], LEAST_SHARES[text[0]] * titles)
        return self._counts.get(text, 0) >= part * least

    def _add(self, text: str) -> None:
        # On trial until the end of the window.
        self._known[text] = False
        if len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]

    def _make_room(self) -> None:
        """Keep the candidates met most often, of those met equally often the latest."""
        order = list(self._counts)
        places = {text: place for place, text in enumerate(order)}
        # Among equal counts the latest: an old candidate has had its time.
        order.sort(key=lambda text: (-self._counts[text], -places[text]))
        frequent = set(order[:MAX_CANDIDATES])
        self._counts = {text: n for text, n in self._counts.items() if text in frequent}

    def _end_trials(self) -> bool:
        """Take back what was learnt in this window and did not go on; the rest is proven.

        A proven name stays even if it is not seen again: earlier titles still carry it.
        """
        wrong = [
            text for text, is_proven in self._known.items()
            if not is_proven and not self._is_believed(text, _LEAST_KEPT_SHARE)
        ]  # fmt: skip
        for text in wrong:
            del self._known[text]
        # What was not taken back has passed.
        self._known = dict.fromkeys(self._known, True)
        return bool(wrong)

    def _fade(self) -> None:
        # Counts and totals alike, so that the shares stay as they are.
        self._titles //= 2
        self._ended //= 2
        self._counts = {text: n // 2 for text, n in self._counts.items() if n > 1}
