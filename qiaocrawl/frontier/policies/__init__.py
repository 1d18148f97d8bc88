"""Which collector crawls which hosts: policies, modes, and how hosts move.

A *collector* is a worker process of one crawl; hosts are assigned to collectors, never single
URLs, so that the pause between two requests to a host is kept by the one that has it.
"""

from __future__ import annotations

from qiaocrawl.frontier.policies.balance import balancing_moves
from qiaocrawl.frontier.policies.collector import Collector, refresh_capacities
from qiaocrawl.frontier.policies.dealing import Round, deal_round
from qiaocrawl.frontier.policies.host_policy import (
    POLICIES,
    SHARED,
    HostPolicy,
    assign_hosts,
    make_policy,
)
from qiaocrawl.frontier.policies.link_mode import LinkMode

__all__ = [
    "POLICIES",
    "SHARED",
    "Collector",
    "HostPolicy",
    "LinkMode",
    "Round",
    "assign_hosts",
    "balancing_moves",
    "deal_round",
    "make_policy",
    "refresh_capacities",
]
