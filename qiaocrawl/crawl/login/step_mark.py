"""How requests that are steps of a login are known, to parts that make none."""

from __future__ import annotations

LOGIN_STEP = "qiaocrawl_login_step"
"""Request meta key: a step of a login, whose address may hold a ticket."""
