"""Crawl order: strategies score links, the frontier hands out the highest score first.

Each strategy is one file here; :data:`strategies` finds it by name.
"""

from __future__ import annotations

from qiaocrawl.frontier.strategy import LinkContext, Strategy, strategies

__all__ = ["LinkContext", "Strategy", "strategies"]
