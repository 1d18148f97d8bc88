"""Early warning: rules an officer writes, one warning a story, told once."""

from __future__ import annotations
