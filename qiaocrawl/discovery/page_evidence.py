"""What a fetched page tells about traps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from qiaocrawl.discovery.trap_scores import PageValue


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """A fetched page, as far as traps are concerned.

    Attributes:
        url: canonical.
        value: what it is.
        digest: of title and text; b"" where it tells none. Compared within its host.
        closed: canonical URLs that it leads to and that are of a trap, seen for the first time.
        trial: the reason for which it had been closed, where it was taken up; else "".
        sample: of its text, see :func:`qiaocrawl.discovery.generated_text.text_sample`.
        links: canonical URLs on the sites of the crawl that it leads to.
        fresh: those of them that were seen for the first time.
    """

    url: str
    value: PageValue
    digest: bytes = b""
    links: Sequence[str] = ()
    fresh: frozenset[str] = frozenset()
    sample: bytes = b""
    closed: Collection[str] = ()
    trial: str = ""


def text_digest(title: str, body_digest: bytes) -> bytes:
    """A digest of 8 bytes by which two addresses of one text are found; b"" without text."""
    if not body_digest:
        return b""
    return blake2b(title.encode("utf-8", "replace") + b"\0" + body_digest, digest_size=8).digest()
