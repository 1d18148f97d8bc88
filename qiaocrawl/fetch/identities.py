"""Browser identities: a user agent with the other headers this browser sends.

A user agent is unmasked by headers that belong to another program. What is beyond
headers (TLS and HTTP/2 as a browser speaks them, scripts) is not imitated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ROTATE = "rotate"
HONEST = "honest"
"""The crawler's own user agent: it exempts a host from a wider rule."""

HeaderList = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """The headers of one browser.

    Attributes:
        secure, plain: what it sends over https and over http, in its order.
        mobile: a phone's; sites answer it with other pages.
    """

    name: str
    secure: HeaderList
    plain: HeaderList
    mobile: bool = False

    def headers(self, scheme: str) -> HeaderList:
        """What is sent over *scheme*."""
        return self.secure if scheme == "https" else self.plain

    @property
    def user_agent(self) -> str:
        """Its user agent."""
        return next(value for name, value in self.plain if name.lower() == "user-agent")


def choice_of(identities: Mapping[str, Identity]) -> Callable[[str], str]:
    """A converter of option values: a name of *identities*, ``rotate`` or ``honest``."""

    def convert(value: str) -> str:
        if value not in (*identities, ROTATE, HONEST):
            allowed = ", ".join((ROTATE, HONEST, *sorted(identities)))
            raise ValueError(f"must be one of {allowed}")
        return value

    return convert


def pick(identities: Sequence[Identity], host: str, number: int, salt: bytes) -> Identity:
    """The identity of *host*'s session *number* (0, 1, …): the same for the whole session.

    Later sessions of a host take the others in turn; *salt* is of the run.
    """
    # Phones get other pages, so phone identities are used only where there is no other.
    usable = [identity for identity in identities if not identity.mobile] or list(identities)
    # Keyed: the same within a run, another from run to run.
    digest = hashlib.blake2b(host.encode(), key=salt, digest_size=8).digest()
    return usable[(int.from_bytes(digest, "big") + number) % len(usable)]
