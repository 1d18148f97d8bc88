"""Where compiled loops are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from qiaocrawl.options.user_folders import user_cache_folder

BESIDE = "__pycache__"
"""The name of the folder beside a source, where there is one version of it."""


def kept_folders(beside: Path | None) -> Iterator[Path]:
    """Folders for what is compiled of a source, the best first; any may refuse to be written to.

    The user's cache comes behind the one beside the source, and several versions may be in use
    there: the name of what is kept has to tell them apart.

    Args:
        beside: the source's own folder; None or one that is not there in an archive (an egg).
    """
    if beside is not None and beside.is_dir():
        yield beside / BESIDE
    # An account without a home has no cache.
    with suppress(RuntimeError):
        yield user_cache_folder() / "kernels"
