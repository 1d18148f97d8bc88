"""What an operator may set: every ``QIAO_*`` option, its kind, and where values come from."""

from __future__ import annotations

from qiaocrawl.options.table import OPTIONS, RENAMED, Option
from qiaocrawl.options.values import (
    DEFAULTS,
    PREFIX,
    Options,
    given_in_environment,
    given_in_settings_file,
    use_settings_file,
    written,
)

__all__ = [
    "DEFAULTS",
    "OPTIONS",
    "PREFIX",
    "RENAMED",
    "Option",
    "Options",
    "given_in_environment",
    "given_in_settings_file",
    "use_settings_file",
    "written",
]
