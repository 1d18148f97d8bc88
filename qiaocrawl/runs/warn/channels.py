"""Where warnings go: names of channels with addresses as apprise has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.toml_file import parse_toml

Channels = Mapping[str, str]
"""The address of each channel: one, so that what one refuses is not sent to another again."""


def read_channels(file: str) -> Channels:
    """The channels of a TOML file: ``name = "mailto://…"``.

    Addresses hold passwords, so messages name the channel and never its address.

    Args:
        file: its path; "" for none.

    Raises:
        ConfigError: it cannot be read, or with every channel whose address is wrong.
    """
    table = _table(file)
    faults = [name for name, address in table.items() if not _is_right(address)]
    if faults:
        raise ConfigError(_("{file}: no address that apprise knows: {names}", file=file,
                            names=", ".join(faults)))  # fmt: skip
    return table


def channel_names(file: str) -> tuple[str, ...]:
    """The names of the channels of a file, which may be shown; its addresses are not looked at.

    Raises:
        ConfigError: it cannot be read.
    """
    return tuple(_table(file))


def _table(file: str) -> dict[str, Any]:
    if not file:
        return {}
    try:
        return parse_toml(Path(file).read_bytes())
    except (OSError, ValueError) as error:
        reason = _("cannot be read as TOML in UTF-8: {error}", error=error)
        raise ConfigError(f"{file}: {reason}") from None


def _is_right(address: object) -> bool:
    from apprise import Apprise

    return isinstance(address, str) and Apprise.instantiate(address) is not None
