"""The adaptive strategy: link features, an online model and its compiled loops."""

from __future__ import annotations

# Strategies are found by importing what stands beside this folder.
from qiaocrawl.frontier.strategies.adaptive.adaptive import Adaptive

__all__ = ["Adaptive"]
