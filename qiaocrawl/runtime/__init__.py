"""The shared objects of one run."""

from __future__ import annotations

from qiaocrawl.runtime.runtime import CrawlScope, Runtime

__all__ = ["CrawlScope", "Runtime"]
