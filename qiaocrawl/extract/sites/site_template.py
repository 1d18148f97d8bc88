"""What is known of a site **(ours)**: the blocks it repeats, where bodies stand, its names.

A :class:`SiteTemplate` is the knowledge, plain data that goes to worker processes and into the
database. :mod:`~qiaocrawl.extract.sites.boilerplate_model` gathers it, and
:mod:`~qiaocrawl.extract.sites.apply_template` uses it on a page.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1
"""Of the digests and of what a template holds; others are not read but learnt anew."""
MIN_PAGES = 5
"""Articles of a site before anything is believed of it."""
_LEAST_PAGES = 5
_LEAST_SHARE = 0.3
"""A block repeats when it stood on so many articles and on such a share of them."""
_MANY_PAGES = 6
_MANY_SHARE = 0.6
"""From so many on it stands on nearly all: a paragraph of its own is none, wherever it is."""
_LEAST_PLACE_SHARE = 0.1
"""Bodies are expected where they stood on such a share of the articles."""
_LEAST_NAME_SHARE = 0.05
"""What ends titles is a name (of the site, of a channel) from such a share of them."""
_LEAST_START_SHARE = 0.5
"""The same for what begins titles: a series (第一章 …) has one beginning too."""
START = "^"
"""Marks, in :attr:`SiteTemplate.names`, what stood at the beginning of titles."""


@dataclass(frozen=True)
class SiteTemplate:
    """What was learnt from the articles of one host.

    All counts are of different articles and fade: they are halved now and then.

    Attributes:
        host: as in canonical URLs.
        pages: articles behind it.
        blocks: digests (see :mod:`qiaocrawl.page.blocks`) of blocks that came more than
            once, 8 bytes each, ascending, in the order of this machine's little end.
        counts: on how many articles each of them stood, 2 bytes each.
        places: (place, count) of the elements that held bodies, most frequent first.
        names: (lower-case text, count) of what ended ``<title>``; with :data:`START` in front,
            what began it.
        redesigns: how often the site was found to be built otherwise than before.
        disagreements: how often a page would have lost its body to the template.
        seen: 4 bytes of the URLs of the last articles.
    """

    host: str
    pages: int
    blocks: bytes = b""
    counts: bytes = b""
    places: tuple[tuple[str, int], ...] = ()
    names: tuple[tuple[str, int], ...] = ()
    redesigns: int = 0
    disagreements: int = 0
    seen: bytes = b""

    @cached_property
    def repeated(self) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Digests of the blocks that repeat, ascending, and whether on nearly all articles."""
        digests, counts = self.known
        repeat = counts >= max(_LEAST_PAGES, _LEAST_SHARE * self.pages)
        return digests[repeat], counts[repeat] >= max(_MANY_PAGES, _MANY_SHARE * self.pages)

    @property
    def known(self) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
        """Digests of all blocks, ascending, with their counts; not to be changed."""
        return np.frombuffer(self.blocks, "<u8"), np.frombuffer(self.counts, "<u2")

    @property
    def body_places(self) -> tuple[str, ...]:
        """Where bodies stand on this site, the most frequent place first."""
        least = max(_LEAST_PAGES, _LEAST_PLACE_SHARE * self.pages)
        return tuple(place for place, count in self.places if count >= least and place != "body")

    @property
    def site_names(self) -> frozenset[str]:
        """What the site adds to its titles, lower case."""
        return frozenset(
            text.removeprefix(START) for text, count in self.names
            if count >= _LEAST_PAGES
            and count >= self.pages
            * (_LEAST_START_SHARE if text.startswith(START) else _LEAST_NAME_SHARE)
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """As values that JSON knows; at most some 20 KB of it."""
        return {
            "version": VERSION,
            "host": self.host,
            "pages": self.pages,
            "blocks": b64encode(self.blocks).decode(),
            "counts": b64encode(self.counts).decode(),
            "places": [list(entry) for entry in self.places],
            "names": [list(entry) for entry in self.names],
            "redesigns": self.redesigns,
            "disagreements": self.disagreements,
            "seen": b64encode(self.seen).decode(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SiteTemplate | None:
        """The template that :meth:`to_dict` gave; None for another version's or a damaged one.

        What cannot be read is learnt again from a few pages, so it is no error.
        """
        if values.get("version") != VERSION:
            return None
        try:
            template = cls(
                host=str(values["host"]),
                pages=int(values["pages"]),
                blocks=b64decode(values["blocks"]),
                counts=b64decode(values["counts"]),
                places=_counted(values["places"]),
                names=_counted(values["names"]),
                redesigns=int(values["redesigns"]),
                disagreements=int(values["disagreements"]),
                seen=b64decode(values["seen"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        return template if template._is_whole else None

    @property
    def _is_whole(self) -> bool:
        numbers = [self.pages, self.redesigns, self.disagreements]
        numbers += [count for _, count in (*self.places, *self.names)]
        return (
            all(0 <= number < 2**31 for number in numbers)
            and len(self.blocks) % 8 == 0
            and len(self.blocks) == 4 * len(self.counts)
            and len(self.seen) % 4 == 0
            and bool(np.all(self.known[0][:-1] < self.known[0][1:]))
        )


def _counted(values: Any) -> tuple[tuple[str, int], ...]:
    return tuple((str(text), int(count)) for text, count in values)
