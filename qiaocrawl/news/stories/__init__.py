"""Stories: articles of one happening and the reactions to it, grouped as they come in."""

from __future__ import annotations
