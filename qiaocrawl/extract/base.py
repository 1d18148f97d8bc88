"""The contract of a body extractor, and the registry of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from qiaocrawl.page import Page
from qiaocrawl.registry import Registry


@dataclass(frozen=True, slots=True)
class Body:
    """The main text of a page, a paragraph a line.

    Attributes:
        text: "" when nothing was found.
        score: how sure the method is, in [0, 1].
        reason: in words, why this text or why none.
        blocks: indexes into ``page.blocks.blocks`` of what was taken, in order; empty for a
            method that does not choose blocks.
        judged: how much each block of the page looks like body text, in [0, 1]; empty for a
            method that does not judge blocks.
    """

    text: str
    score: float
    reason: str
    blocks: tuple[int, ...] = ()
    judged: tuple[float, ...] = ()


class Extractor(Protocol):
    """Finds the body of a page. One object serves many pages and keeps nothing between them."""

    def body(self, page: Page) -> Body:
        """The body of *page*; ``Body("", 0.0, why)`` when there is none. Never raises."""
        ...


extractors: Registry[Extractor] = Registry("extractor", "qiaocrawl.extract")
"""Body extractors by name; each module of this package may register one object."""
