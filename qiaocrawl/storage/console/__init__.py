"""What the console keeps: users and sessions, marks, saved searches, the log of changes."""

from __future__ import annotations
