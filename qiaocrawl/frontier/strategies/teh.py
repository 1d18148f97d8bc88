"""TeH (T6): is a term of the topic in the anchor text or around it?"""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.frontier.strategies.strategy import strategies
from qiaocrawl.frontier.strategies.term_match import TermMatch, in_texts
from qiaocrawl.items import Link


@strategies.register("teh")
class TextMatch(TermMatch):
    """``score = 1`` when a topic term is in the anchor text or the text around it, else 0."""

    name: ClassVar[str] = "teh"
    part: ClassVar[str] = "term in the texts"

    def match(self, link: Link) -> float:
        """1 or 0."""
        return in_texts(self.topic, link)
