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
        source = "standard input"
        try:
            secret = sys.stdin.read(_MAX_CHARS)
        except UnicodeDecodeError:
            raise ConfigError(f"{source} is no UTF-8 text") from None
        secret = secret if file else secret.rstrip("\r\n")
    elif env or file.startswith("env:"):
        name = env or file.removeprefix("env:")
        if name not in os.environ:
            raise ConfigError(f"the variable {name} is not set")
        secret, source = os.environ[name], f"the variable {name}"
    elif file:
        secret, source = _read_private(Path(file)), file
    else:
        secret, source = typer.prompt(f"{prompt}: 密码 password", hide_input=True), "what you typed"
    if not secret.strip():
        raise ConfigError(f"{source} is empty")
    return secret


def _read_private(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & 0o077:
                raise ConfigError(
                    f"{str(file)!r} holds a secret but others may read it (mode {mode:04o}): "
                    f"chmod 600 {str(file)!r}"
                )
            return opened.read(_MAX_CHARS).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ConfigError(f"{str(file)!r} cannot be read: {why}") from None
