"""Passwords: Argon2id, and those made up for a first log-in."""

from __future__ import annotations

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS = 10, 200
# Letters and digits that nobody mistakes for one another when reading them aloud.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _GROUP_LETTERS = 4, 5

_hasher = PasswordHasher()


def hashed(password: str) -> str:
    """What is stored of a password.

    Raises:
        ConfigError: it is too short or too long.
    """
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise ConfigError(_(
            "a password has {least} to {most} characters",
            least=MIN_PASSWORD_CHARS, most=MAX_PASSWORD_CHARS,
        ))  # fmt: skip
    return _hasher.hash(password)


def is_right(stored: str | None, password: str) -> bool:
    """Whether *password* is the one of the hash; None takes as long and is never right."""
    try:
        return _hasher.verify(stored or _nobodys(), password[:MAX_PASSWORD_CHARS]) and bool(stored)
    except (VerificationError, InvalidHashError):
        return False


def made_up() -> str:
    """A password that is easily read out: 99 bits in four groups."""
    return "-".join(
        "".join(secrets.choice(_LETTERS) for _letter in range(_GROUP_LETTERS))
        for _group in range(_GROUPS)
    )


@cache
def _nobodys() -> str:
    """A hash to compare with where there is no user: the time of an answer tells nothing."""
    return _hasher.hash(secrets.token_urlsafe())
