"""Articles and pages out of the database: one module a format."""

from __future__ import annotations
