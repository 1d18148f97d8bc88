"""Search engines as data: one TOML file each, loaded and checked.

Result pages change every few months, so what depends on them (addresses, selectors, words
that mean "blocked") stands in ``engines/*.toml`` and nowhere else. Files of an operator's
folder (``QIAO_ENGINES_DIR``) add engines or override the shipped ones by name. The keys are
described in :mod:`qiaocrawl.search.records`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.search.documents import parse_document
from qiaocrawl.search.records import EngineDefinition, read_definition
from qiaocrawl.search.request import request_url
from qiaocrawl.text.charset import decode_page
from qiaocrawl.text.toml_file import load_records, toml_files

__all__ = [
    "EngineDefinition",
    "definitions_of",
    "find_definition",
    "load_definitions",
    "request_url",
]


def definitions_of(options: Mapping[str, Any]) -> dict[str, EngineDefinition]:
    """:func:`load_definitions` as *options* say."""
    return load_definitions(
        options["QIAO_ENGINES_DIR"] or None,
        base_urls={"searxng": options["QIAO_SEARXNG_URL"]},
        region=options["QIAO_SEARCH_REGION"],
    )


def find_definition(definitions: Mapping[str, EngineDefinition], name: str) -> EngineDefinition:
    """The engine called *name*.

    Raises:
        ConfigError: no such engine.
    """
    if name not in definitions:
        there = ", ".join(sorted(definitions))
        raise ConfigError(_("unknown engine {name!r} (there are: {there})", name=name, there=there))
    return definitions[name]


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
    shipped = resources.files("qiaocrawl.search").joinpath("engines")
    files = toml_files(shipped, Path(extra_dir) if extra_dir else None, "QIAO_ENGINES_DIR")
    definitions = load_records(files, N_("engine definitions"), read_definition)
    by_name = {definition.name: definition for definition in definitions}
    for name, base_url in (base_urls or {}).items():
        if name not in by_name:
            # After the operator's folder is read: a base URL may be for an engine that is
            # defined only there.
            there = ", ".join(sorted(by_name))
            raise ConfigError(
                _(
                    "base URL for unknown engine {name!r} (there are: {there})",
                    name=name,
                    there=there,
                )
            )
        if base_url:
            by_name[name] = by_name[name].at(base_url)
    return {name: by_name[name].for_region(region) for name in sorted(by_name)}


# --- Counts what a definition's selectors find, to see which a new layout has outdated ------------

_PARTS = ("link", "title", "snippet", "date")


@dataclass(frozen=True, slots=True)
class SelectorUse:
    """How often one part was found: in *found* of *entries* entries by *selectors* together."""

    part: str
    selectors: tuple[str, ...]
    found: int
    entries: int


def selectors_in_use(
    definition: EngineDefinition, content_type: str, body: bytes
) -> tuple[SelectorUse, ...]:
    """For ``hits.each`` and each part of a hit, how often it is found; never raises on bytes.

    The first record is ``each``; its ``found`` is the number of entries.
    """
    if definition.charset:
        content_type = f"text/html; charset={definition.charset}"
    text = decode_page(body, content_type).text
    document = parse_document(text, definition.format, definition.scripts)
    fields = definition.hits
    try:
        entries = document.items(fields.each)
        uses = [SelectorUse("each", fields.each, len(entries), len(entries))]
        for part in _PARTS:
            paths: tuple[str, ...] = getattr(fields, part)
            if paths:
                matches = sum(bool(document.value(entry, paths)) for entry in entries)
                uses.append(SelectorUse(part, paths, matches, len(entries)))
    except ValueError:
        # A selector that compiles but cannot be evaluated finds nothing.
        return (SelectorUse("each", fields.each, 0, 0),)
    return tuple(uses)
