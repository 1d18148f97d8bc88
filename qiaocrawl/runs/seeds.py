"""Start pages from a file that an operator has picked or written (T2)."""

from __future__ import annotations

from pathlib import Path

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _


def read_seeds(file: str) -> list[str]:
    """The addresses in *file*, one a line; a ``#`` at the start of a line or after a space ends it.

    Raises:
        ConfigError: the file cannot be read as UTF-8, or holds no address.
    """
    try:
        text = Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            _("seeds={file}: the file cannot be read: {error}", file=file, error=error)
        ) from error
    # A fragment follows its address without a space: it is no comment.
    lines = (f" {line}".partition(" #")[0].strip() for line in text.splitlines())
    addresses = [line for line in lines if line]
    if not addresses:
        raise ConfigError(
            _("seeds={file}: no line is picked, all are empty or begin with #", file=file)
        )
    return addresses
