"""Finds titles by their keys, which are two numbers each; compiled by ``title_keys.pxd``.

Open addressing: a slot holds a member by number. A removed one leaves ``GONE``, past which the
search goes on; ``FREE`` ends it. There is always a free slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiaocrawl.kernels import Ints

FREE = -1
GONE = -2

_FREE = FREE
_BITS = (1 << 64) - 1
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def _home(high: int, low: int) -> int:
    """The home slot of a key; all bits are mixed, since keys may be consecutive numbers."""
    value = (high ^ (low >> 29)) * _FIRST & _BITS
    value = (value ^ (value >> 32) ^ low) * _SECOND & _BITS
    return value ^ (value >> 31)


def find_slot(wanted: Ints, at: int, keys: Ints, slots: Ints) -> int:
    """The slot of the member whose key is ``wanted[at]``, -1 if there is none."""
    high, low = wanted[at, 0], wanted[at, 1]
    mask = len(slots) - 1
    slot = _home(high, low) & mask
    while slots[slot] != _FREE:
        member = slots[slot]
        if member >= 0 and keys[member, 0] == high and keys[member, 1] == low:
            return slot
        slot = (slot + 1) & mask
    return -1


def find_members(wanted: Ints, keys: Ints, slots: Ints, members: Ints) -> None:
    """Fill in the member of each key, -1 if there is none."""
    for at in range(len(members)):
        slot = find_slot(wanted, at, keys, slots)
        members[at] = slots[slot] if slot >= 0 else -1


def enter_members(numbers: Ints, keys: Ints, slots: Ints) -> None:
    """Enter members whose keys stand in *keys* already."""
    mask = len(slots) - 1
    for i in range(len(numbers)):
        number = numbers[i]
        slot = _home(keys[number, 0], keys[number, 1]) & mask
        # Slots of removed members are taken again.
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
