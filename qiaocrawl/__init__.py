"""qiaocrawl: a focused crawler for Chinese-language topic news."""

from __future__ import annotations

__version__ = "0.1.0"
