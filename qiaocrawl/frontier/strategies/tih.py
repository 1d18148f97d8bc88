"""TiH (T6): is a term of the topic in the title attribute?"""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.frontier.strategies.strategy import strategies
from qiaocrawl.frontier.strategies.term_match import TermMatch, in_title
from qiaocrawl.items import Link


@strategies.register("tih")
class TitleMatch(TermMatch):
    """``score = 1`` when a topic term is in the title attribute, else 0."""

    name: ClassVar[str] = "tih"
    part: ClassVar[str] = "term in the title"

    def match(self, link: Link) -> float:
        """1 or 0."""
        return in_title(self.topic, link)
