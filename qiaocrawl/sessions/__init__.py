"""Logins as data: recipes, accounts, cookies kept encrypted (Q3, T4)."""
