"""Deduplication of articles by their titles: decided and remembered in one step."""

from __future__ import annotations

from qiaocrawl.dedup.deduper import TitleDeduper, dedupers

__all__ = ["TitleDeduper", "dedupers"]
