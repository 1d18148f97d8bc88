"""Random numbers by URL: the same URL always draws the same number."""

from __future__ import annotations

from hashlib import blake2b

_STEPS = 2.0**64


def draws(key: bytes, seed: int = 0) -> tuple[float, float]:
    """Two numbers in [0, 1), evenly spread over *key*, independent of each other.

    A crawl that is stopped and goes on, or is repeated, draws the same ones.

    Args:
        key: of a URL.
        seed: another one gives other numbers; 0 to 2^32 - 1.
    """
    digest = blake2b(key, digest_size=16, salt=seed.to_bytes(16, "big")).digest()
    first, second = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
    # Fifty-three bits are what a double holds: more could round up to 1.
    return (first >> 11) / (_STEPS / 2048), (second >> 11) / (_STEPS / 2048)
