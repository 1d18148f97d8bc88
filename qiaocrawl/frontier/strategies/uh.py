"""UH (T6): is a term of the topic in the URL?"""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.frontier.strategies.strategy import strategies
from qiaocrawl.frontier.strategies.term_match import TermMatch, in_url
from qiaocrawl.items import Link


@strategies.register("uh")
class UrlMatch(TermMatch):
    """``score = 1`` when a topic term is in the URL, else 0."""

    name: ClassVar[str] = "uh"
    part: ClassVar[str] = "term in the URL"

    def match(self, link: Link) -> float:
        """1 or 0."""
        return in_url(self.topic, link)
