"""Where topic packs lie as folders."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from qiaocrawl.errors import ConfigError
from qiaocrawl.options import Options
from qiaocrawl.topic.check import PACK_FILE, PACK_NAME


def topics_dir() -> Path:
    """The folder of packs (QIAO_TOPICS_DIR)."""
    return Path(Options.from_environment()["QIAO_TOPICS_DIR"])


def pack_folders() -> list[Path]:
    """The folders in it that hold a pack, by name."""
    directory = topics_dir()
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if (path / PACK_FILE).is_file())


def find_pack(source: str) -> Path:
    """The folder of the pack called *source* in QIAO_TOPICS_DIR, or else the folder *source*.

    Raises:
        ConfigError: neither is there.
    """
    named = topics_dir() / source
    if PACK_NAME.fullmatch(source) and named.is_dir():
        return named
    if Path(source).is_dir():
        return Path(source)
    names = [path.name for path in pack_folders()]
    close = get_close_matches(source, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    there = ", ".join(names) or "none"
    raise ConfigError(
        f"no pack {source!r}{hint} (in {str(topics_dir())!r}: {there}; a folder is one too)"
    )
