"""What each kind of run asks for: queries, sites, watched pages."""

from __future__ import annotations
