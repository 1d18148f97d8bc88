"""Search engines as data: one TOML file each, loaded and checked.

Result pages change every few months, so what depends on them (addresses, selectors, words
that mean "blocked") stands in ``engines/*.toml`` and nowhere else. Files of an operator's
folder (``QIAO_ENGINES_DIR``) add engines or override the shipped ones by name. The keys are
described in :mod:`qiaocrawl.search.schema`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from qiaocrawl.errors import ConfigError
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.search.request import request_url
from qiaocrawl.search.schema import read_definition
from qiaocrawl.text.toml_table import parse_toml

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["EngineDefinition", "load_definitions", "request_url"]


def load_definitions(
    extra_dir: str | None = None,
    base_urls: Mapping[str, str] | None = None,
    region: str = "",
) -> dict[str, EngineDefinition]:
    """All engine definitions by name: the shipped ones, then those of *extra_dir* over them.

    Args:
        extra_dir: the operator's folder of definitions (``QIAO_ENGINES_DIR``).
        base_urls: where engines stand, by name, such as the operator's own SearXNG; "" leaves
            an engine's own base URL.
        region: what to ask the engines that know it for, such as ``zh-HK``; "" leaves each its
            own.

    Raises:
        ConfigError: the folder or a file cannot be read, definitions have faults (the message
            lists every fault of every file), or a base URL is wrong or of an unknown engine.
    """
    definitions: dict[str, EngineDefinition] = {}
    faults: list[str] = []
    for file in (*_shipped_files(), *_extra_files(extra_dir)):
        definition, file_faults = _load_file(file)
        faults += file_faults
        if definition is not None:
            definitions[definition.name] = definition
    if faults:
        raise ConfigError("engine definitions have faults:\n  " + "\n  ".join(faults))
    for name, base_url in (base_urls or {}).items():
        if name not in definitions:
            there = ", ".join(sorted(definitions))
            raise ConfigError(f"base URL for unknown engine {name!r} (there are: {there})")
        if base_url:
            definitions[name] = definitions[name].at(base_url)
    return {name: definitions[name].for_region(region) for name in sorted(definitions)}


def _shipped_files() -> Iterator[Traversable]:
    folder = resources.files("qiaocrawl.search").joinpath("engines")
    yield from _toml_files(folder)


def _extra_files(extra_dir: str | None) -> Iterator[Traversable]:
    if not extra_dir:
        return
    folder = Path(extra_dir)
    if not folder.is_dir():
        raise ConfigError(f"QIAO_ENGINES_DIR must be a folder, got {extra_dir!r}")
    yield from _toml_files(folder)


def _toml_files(folder: Traversable) -> Iterator[Traversable]:
    files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    yield from sorted(files, key=lambda file: file.name)


def _load_file(file: Traversable) -> tuple[EngineDefinition | None, list[str]]:
    try:
        table = parse_toml(file.read_bytes())
    except (OSError, ValueError) as error:
        return None, [f"{file.name}: cannot be read as TOML in UTF-8: {error}"]
    definition, faults = read_definition(table, file.name)
    return definition, [f"{file.name}: {fault}" for fault in faults]
