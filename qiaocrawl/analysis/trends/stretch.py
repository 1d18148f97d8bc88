"""What stretch of time is looked at, in which steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Unit = Literal["hour", "day", "week"]

SECONDS: Mapping[Unit, int] = {"hour": 3_600, "day": 86_400, "week": 604_800}
"""How long a step is."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is looked at: aware moments from *since* up to *before*, against the days before it.

    Args:
        unit: of a step.
        base_days: before the day of *since* that tell what is usual.
        ahead: steps to forecast.
    """

    since: datetime
    before: datetime
    unit: Unit = "day"
    base_days: int = 56
    ahead: int = 0
