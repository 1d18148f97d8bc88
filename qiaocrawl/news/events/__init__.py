"""What happened in a story, in order of time: days that texts name, and what they tell of them."""

from __future__ import annotations
