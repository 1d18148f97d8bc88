"""What one run shares: storage, topics, analysis, articles; and how it ends."""

from __future__ import annotations

from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.runtime.scope import CrawlScope, rows_of

__all__ = ["CrawlScope", "Runtime", "rows_of"]
