"""When a run stops on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """Most pages, pages of one host, and seconds of a run; 0 = no limit.

    ``spent`` are pages by host that count already.
    """

    pages: int = 0
    pages_per_host: int = 0
    seconds: float = 0.0
    spent: Mapping[str, int] = field(default_factory=dict)

    def reached(self, pages: int, seconds: float) -> str:
        """Why a run that asked for *pages* in *seconds* stops now; "" if it does not."""
        if self.pages and pages >= self.pages:
            return "limit_pages"
        return "limit_seconds" if self.seconds and seconds >= self.seconds else ""


@dataclass(frozen=True, slots=True)
class Fetches:
    """Limits and pauses of fetches.

    Attributes:
        per_host, at_once: most fetches at a time, of one host and of all.
        rest_seconds: how long a host still rests now; 0 while it is its turn.
        is_on_trial: whether a host gets one request at a time until it gives a proper answer.
    """

    per_host: int
    at_once: int
    rest_seconds: Callable[[str], float] = lambda host: 0.0
    is_on_trial: Callable[[str], bool] = lambda host: False
