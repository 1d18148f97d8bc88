"""What stands before every page: log-in, roles, forms of our own, headers, limits."""

from __future__ import annotations
