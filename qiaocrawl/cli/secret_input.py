"""Secrets come in without echo, from a variable, a private file or standard input.

Never from an argument: every user of the machine can read those.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import typer

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

_MAX_CHARS = 1_000_000


def read_secret(prompt: str, *, env: str = "", stdin: bool = False, file: str = "") -> str:
    """One secret.

    Args:
        prompt: what is asked for at the terminal, when nothing else is given.
        file: a path, ``env:NAME`` or ``-``.

    Raises:
        ConfigError: it is empty, its variable is not set, its file cannot be read or is
            readable by others.
    """
    if file == "-" or stdin:
        source = _("standard input")
        try:
            secret = sys.stdin.read(_MAX_CHARS)
        except UnicodeDecodeError:
            raise ConfigError(_("{source} is no UTF-8 text", source=source)) from None
        secret = secret if file else secret.rstrip("\r\n")
    elif env or file.startswith("env:"):
        name = env or file.removeprefix("env:")
        if name not in os.environ:
            raise ConfigError(_("the variable {name} is not set", name=name))
        secret, source = os.environ[name], _("the variable {name}", name=name)
    elif file:
        secret, source = _read_private(Path(file)), file
    else:
        secret, source = (
            typer.prompt(_("{prompt}: password", prompt=prompt), hide_input=True),
            _("what you typed"),
        )
    if not secret.strip():
        raise ConfigError(_("{source} is empty", source=source))
    return secret


def _read_private(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & 0o077:
                raise ConfigError(
                    _(
                        "{file!r} holds a secret but others may read it (mode {mode:04o}): "
                        "chmod 600 {file!r}",
                        file=str(file),
                        mode=mode,
                    )
                )
            return opened.read(_MAX_CHARS).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else _("it is no UTF-8 text")
        raise ConfigError(_("{file!r} cannot be read: {why}", file=str(file), why=why)) from None
