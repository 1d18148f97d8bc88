"""Full text search in Chinese: an index beside the database, kept in step with it."""

from __future__ import annotations
