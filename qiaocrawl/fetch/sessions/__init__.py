"""Logins as data: recipes, accounts, cookies kept encrypted (Q3, T4)."""

from __future__ import annotations
