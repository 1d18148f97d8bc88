"""Warnings: what is open and why, the rules of the office, and the channels that are told."""

from __future__ import annotations

from qiaocrawl.console.page import Area
from qiaocrawl.console.pages.warnings import channels, listing, rules
from qiaocrawl.language import N_

AREA = Area(N_("Warnings"), "bell", (*listing.PAGES, *rules.PAGES, *channels.PAGES))
