"""The login recipes there are: the shipped files and the operator's, every fault named."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.sessions.recipe import Recipe
from qiaocrawl.text.toml_file import check_table, load_records, toml_files


def load_recipes(extra_dir: str | None = None) -> dict[str, Recipe]:
    """All login recipes by name: the shipped ones, then those of *extra_dir* over them.

    Raises:
        ConfigError: the folder or a file cannot be read, or recipes have faults; the message
            lists every fault of every file.
    """
    shipped = resources.files("qiaocrawl.sessions").joinpath("recipes")
    files = toml_files(shipped, Path(extra_dir) if extra_dir else None, "QIAO_LOGINS_DIR")
    recipes = load_records(files, N_("login recipes"), read_recipe)
    return {recipe.name: recipe for recipe in sorted(recipes, key=lambda recipe: recipe.name)}


def find_recipe(recipes: Mapping[str, Recipe], name: str) -> Recipe:
    """The recipe called *name*.

    Raises:
        ConfigError: there is none; the message lists what there is.
    """
    if name not in recipes:
        there = ", ".join(recipes) or "none"
        raise ConfigError(
            _(
                "no login recipe {name!r} (there are: {there}); QIAO_LOGINS_DIR can hold more",
                name=name,
                there=there,
            )
        )
    return recipes[name]


def read_recipe(table: Mapping[str, object], file_name: str) -> tuple[list[Recipe], list[str]]:
    """The recipe in *table* and no faults, or none and every fault as ``key: why``."""
    recipe, faults = check_table(Recipe, table, {"file": file_name})
    return ([] if recipe is None else [recipe]), faults
