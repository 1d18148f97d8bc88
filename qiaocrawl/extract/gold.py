"""Pages whose right body is known: what ``blend`` is trained on.

A folder holds ``gold.jsonl``, one object a line with ``id``, ``url``, ``lang`` and ``text`` at
least, and ``pages/<id>.html.gz`` or ``pages/<id>.html``, the bytes as fetched.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _


@dataclass(frozen=True, slots=True)
class GoldBody:
    """One page and its right body.

    Attributes:
        name: its id.
        url: where it was, "" when unknown.
        chinese: whether its language is Chinese.
        text: the body, a paragraph a line.
        body: the bytes of the page.
    """

    name: str
    url: str
    chinese: bool
    text: str
    body: bytes


def gold_bodies(folder: Path) -> Iterator[GoldBody]:
    """The pages of *folder* with a known body, in the order of ``gold.jsonl``.

    Raises:
        ConfigError: a file is missing or a line is not as described; names file and line.
    """
    listed = folder / "gold.jsonl"
    try:
        # Not splitlines(): a text may hold U+2028, which JSON leaves as it is.
        lines = listed.read_text("utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            _("{listed}: cannot be read: {error}", listed=listed, error=error)
        ) from error
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            name, text = str(row["id"]), row["text"]
            url, chinese = row.get("url") or "", str(row.get("lang", "")).startswith("zh")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                _(
                    "{listed}, line {number}: {error!r}; wanted is an object with id, url, "
                    "lang, text",
                    listed=listed,
                    number=number,
                    error=error,
                )
            ) from error
        if text:
            yield GoldBody(name, url, chinese, text, _page_bytes(folder / "pages", name))


def _page_bytes(folder: Path, name: str) -> bytes:
    packed, plain = folder / f"{name}.html.gz", folder / f"{name}.html"
    try:
        return gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(
            _(
                "{folder}: the page {name!r} cannot be read: {error}",
                folder=folder,
                name=name,
                error=error,
            )
        ) from error
