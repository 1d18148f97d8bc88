"""Keys by which wordnets share concepts: the interlingual index, WordNet 3.0, own ids.

A key is a whole number, so that a hundred thousand of them are one array:

- a number of the interlingual index (``i35545``): itself;
- a synset of WordNet 3.0 by offset and part of speech (``00001740-n``): above 10^9;
- an id of a wordnet's own (``qiaoqing-huaqiao``): a 61-bit hash of it, above 2^61.
"""

from __future__ import annotations

import re
from hashlib import blake2b

_POS = "nvar"
# Offsets have eight digits, so a step of 10**9 a part of speech keeps them apart.
_POS_STEP = 10**9
_OWN = 1 << 61
_ILI = re.compile(r"i([1-9][0-9]{0,8})")
_WN30 = re.compile(r"([0-9]{8})-([nvars])")


def ili_key(text: str) -> int | None:
    """The key of ``i35545``; None for anything else, such as "" and ``in`` (not listed yet)."""
    match = _ILI.fullmatch(text.strip())
    return int(match[1]) if match else None


def wn30_key(text: str) -> int | None:
    """The key of ``00001740-n``; satellite adjectives are adjectives. None for anything else."""
    match = _WN30.fullmatch(text.strip())
    if match is None:
        return None
    return (_POS.index(match[2].replace("s", "a")) + 1) * _POS_STEP + int(match[1])


def own_key(text: str) -> int:
    """The key of a synset by the id its wordnet gives it."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    # >> 3: 61 bits, so that the mark of own ids fits above them in a positive 64-bit number.
    return _OWN | (int.from_bytes(digest, "big") >> 3)


def is_own(key: int) -> bool:
    """Whether *key* stands for an id of a wordnet's own."""
    return key >= _OWN


def key_name(key: int) -> str:
    """``i35545`` or ``00001740-n`` again; "" for an own id, which a hash does not give back."""
    if is_own(key):
        return ""
    pos, number = divmod(key, _POS_STEP)
    return f"i{number}" if pos == 0 else f"{number:08d}-{_POS[pos - 1]}"
