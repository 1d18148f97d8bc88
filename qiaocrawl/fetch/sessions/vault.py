"""Secrets at rest: encrypted with a key from the environment (Fernet: AES-128-CBC and HMAC).

The key is never stored. Each sealed text names its owner, so that a secret that was
moved to another row does not open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from qiaocrawl.errors import SecretKeyError
from qiaocrawl.language import N_, _

_HOW = N_("`qiaocrawl session key new` makes one; set QIAO_SECRET_KEY to it in the environment")


def new_key() -> str:
    """A fresh key: 44 characters."""
    return Fernet.generate_key().decode("ascii")


class Vault:
    """Seals and opens with the keys given; the first one seals, all open.

    Raises:
        SecretKeyError: no key, or one that is none.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise SecretKeyError(_("QIAO_SECRET_KEY is not set; {how}", how=_(_HOW)))
        try:
            # MultiFernet: keys can be changed without a moment in which nothing opens.
            self._fernet = MultiFernet([Fernet(key) for key in keys])
        except ValueError:
            # The text of the error, and of the one it came from, may hold the key.
            problem = _("QIAO_SECRET_KEY holds a key that is none (not shown); {how}", how=_(_HOW))
            raise SecretKeyError(problem) from None

    @classmethod
    def from_option(cls, value: str) -> Vault:
        """The vault for the option's *value*: keys, comma separated."""
        return cls([key.strip() for key in value.split(",") if key.strip()])

    def seal(self, owner: str, value: Mapping[str, Any]) -> bytes:
        """*value* (JSON) as bytes that only this vault, and *owner*, can open."""
        # The owner is sealed with it, so that a secret copied to another row does not open there.
        text = json.dumps({"owner": owner, "value": dict(value)}, ensure_ascii=False)
        return self._fernet.encrypt(text.encode())

    def open(self, owner: str, sealed: bytes) -> dict[str, Any]:
        """What was sealed for *owner*; {} for b"".

        Raises:
            SecretKeyError: sealed with another key, damaged, or somebody else's.
        """
        if not sealed:
            return {}
        try:
            content = json.loads(self._fernet.decrypt(sealed))
        except (InvalidToken, ValueError):
            raise SecretKeyError(
                _(
                    "what is stored of {owner} cannot be opened: QIAO_SECRET_KEY is not "
                    "the key it was stored with, or the row is damaged",
                    owner=owner,
                )
            ) from None
        if content.get("owner") != owner:
            raise SecretKeyError(
                _("what is stored of {owner} belongs to another account", owner=owner)
            )
        value: dict[str, Any] = content["value"]
        return value
