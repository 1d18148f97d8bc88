"""What an index of titles is made by, as a digest: settings, code, data and libraries."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from importlib.resources.abc import Traversable

from qiaocrawl.vsm.vectors import IdfSnapshot

# Each file of theirs counts, whether an index needs it or not: what is forgotten in a list of
# single files, or in a number that somebody has to raise, would be believed for ever.
_PACKAGES = ("qiaocrawl.dedup", "qiaocrawl.text", "qiaocrawl.vsm")
_LIBRARIES = ("jieba", "numpy", "OpenCC", "rjieba")
_COMPILED = "__pycache__"


def recipe_of(
    least_cosine: float, uses_bodies: bool, snapshot: IdfSnapshot, terms: Sequence[str]
) -> str:
    """The digest, as hexadecimal digits; the same in every process of this installation."""
    digest = blake2b(digest_size=16)
    counted = snapshot.frequencies
    settings = (
        least_cosine, uses_bodies, sorted(set(terms)), sys.byteorder,
        # Snapshots are never changed, so their size tells two of one number apart well enough.
        snapshot.version, snapshot.documents, snapshot.prior_titles, len(counted),
        sum(counted.values()),
    )  # fmt: skip
    digest.update(repr(settings).encode("utf-8", "backslashreplace"))
    digest.update(_program())
    return digest.hexdigest()


@cache
def _program() -> bytes:
    """Digest of the code that makes an index, of its data, and of the libraries below."""
    digest = blake2b(digest_size=16)
    digest.update(repr((sys.version_info[:3], [*map(_version, _LIBRARIES)])).encode())
    for package in _PACKAGES:
        for name, content in _files(resources.files(package), package):
            digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.digest()


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = f"{name}/{entry.name}"
        if entry.is_file():
            yield path, entry.read_bytes()
        elif entry.name != _COMPILED:
            yield from _files(entry, path)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""
