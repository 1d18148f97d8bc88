"""What a text says that no earlier one said word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLAUSE = re.compile(r"[^。！？!?;；,，\n]+[。！？!?;；,，\n]*")
# Shorter ones (他说, 记者:) are said again without being copied.
_SHORTEST_COPY = 6


class FreshClauses:
    """Takes texts and leaves out what stands in many word for word: legal notes, slogans."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def of(self, text: str) -> str:
        """The clauses of *text* (folded) that no earlier one had."""
        return "".join(self._fresh(text))

    def _fresh(self, text: str) -> Iterator[str]:
        for clause in _CLAUSE.findall(text):
            key = hash(clause.strip())
            if len(clause) < _SHORTEST_COPY or key not in self._seen:
                self._seen.add(key)
                yield clause
