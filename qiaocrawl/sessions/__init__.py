"""Logins as data: recipes, accounts, cookies kept encrypted (Q3, T4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.sessions.accounts import (
        Account,
        AccountState,
        Credentials,
        SavedSession,
        owner_name,
    )
    from qiaocrawl.sessions.recipe import Recipe
    from qiaocrawl.sessions.recipe_file import find_recipe, load_recipes
    from qiaocrawl.sessions.vault import Vault, new_key

__all__ = [
    "Account", "AccountState", "Credentials", "Recipe", "SavedSession", "Vault", "find_recipe",
    "load_recipes", "new_key", "owner_name",
]  # fmt: skip

__getattr__ = lazy_exports(
    __name__,
    {
        "accounts": ("Account", "AccountState", "Credentials", "SavedSession", "owner_name"),
        "recipe": ("Recipe",),
        "recipe_file": ("find_recipe", "load_recipes"),
        "vault": ("Vault", "new_key"),
    },
)
