"""The table of remembered titles by key: host, source, date and digests of each."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qiaocrawl.dedup.methods import seconds
from qiaocrawl.dedup.title_keys import FREE, GONE, enter_members, find_members, find_slot
from qiaocrawl.dedup.vocabulary import SavedState, State, pack, unpack
from qiaocrawl.items import TitleRecord
from qiaocrawl.kernels import ints
from qiaocrawl.vsm.growing_array import Column

KEY_BYTES = 16
_FEWEST_SLOTS = 2048
_FULLEST = 0.7
_UNDATED = int(np.iinfo(np.int32).min)
# The year 6053; later dates count as this one.
_MOST_MINUTES = int(np.iinfo(np.int32).max)

Array = NDArray[Any]


class TitleTable:
    """Titles by number; a number is used again after its title was removed.

    What a record leaves out costs nothing: the columns of hosts, sources, dates and digests
    are made when the first record has one. Memory: 24 bytes a title and 6 to 12 for finding
    its key, 28 more with all columns. A key of another length than 16 bytes is kept beside.
    """

    def __init__(self) -> None:
        self._keys: Array = np.zeros((_FEWEST_SLOTS, 2), np.uint64)
        self._slots: Array = np.full(_FEWEST_SLOTS, FREE, np.int32)
        self._row, self._next = Column(np.int32, -1), Column(np.int32, -1)
        self._odd_keys: dict[int, bytes] = {}
        self._size = self._gone = 0
        self._free: list[int] = []
        self._hosts, self._sources = _Names(), _Names()
        self._minutes = _Numbers(np.int32, _UNDATED)
        self._digests, self._simhashes = _Numbers(np.uint64), _Numbers(np.uint64)

    def __len__(self) -> int:
        """How many titles are remembered."""
        return self._size - len(self._free)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        columns = (
            self._row,
            self._next,
            self._hosts.column,
            self._sources.column,
            self._minutes.column,
            self._digests.column,
            self._simhashes.column,
        )
        held = sum(column.nbytes for column in columns if column is not None)
        return held + self._keys.nbytes + self._slots.nbytes

    @property
    def rows(self) -> Array:
        """The row of each, -1 for a number that is free."""
        return self._row.data

    @property
    def next_in_row(self) -> Array:
        """The next older member of the same row, -1 at the end."""
        return self._next.data

    def numbers(self, records: Sequence[TitleRecord]) -> Array:
        """The number of each record's key, -1 where it is not remembered."""
        keys = _split_keys([record.key for record in records])
        numbers = np.empty(len(keys), np.int32)
        find_members(ints(keys), ints(self._keys), ints(self._slots), ints(numbers))
        return numbers

    def key(self, number: int) -> bytes:
        """The key of a member."""
        odd = self._odd_keys.get(number)
        return self._keys[number].tobytes() if odd is None else odd

    def enter(self, records: Sequence[TitleRecord]) -> Array:
        """Take in records whose keys are not remembered, each once; returns their numbers.

        Raises:
            OverflowError: a SimHash outside of [0, 2**64); nothing is taken in then.
        """
        keys = _split_keys([record.key for record in records])
        minutes = np.array([_minutes(record) for record in records], np.int32)
        digests = np.array([_digest(record) for record in records], np.uint64)
        simhashes = np.array([record.body_simhash for record in records], np.uint64)
        # Nothing that can fail comes after this: half a title would never be found again.
        numbers = np.array([self._number() for _ in records], np.int32)
        self._reserve()
        self._keys[numbers] = keys
        enter_members(ints(numbers), ints(self._keys), ints(self._slots))
        for number, record in zip(numbers.tolist(), records, strict=True):
            if len(record.key) != KEY_BYTES:
                self._odd_keys[number] = record.key
        # These columns are optional: each is only made once a record has a value for it.
        self._hosts.enter(numbers, [record.host for record in records], self._size)
        self._sources.enter(numbers, [record.source for record in records], self._size)
        self._minutes.enter(numbers, minutes, self._size)
        self._digests.enter(numbers, digests, self._size)
        self._simhashes.enter(numbers, simhashes, self._size)
        return numbers

    def remove(self, number: int) -> None:
        """Forget a member that was already removed from its row."""
        keys = ints(self._keys)
        slot = find_slot(keys, number, keys, ints(self._slots))
        self._slots[slot] = GONE
        self._gone += 1
        # -1 marks the number as free for rebuilt() of the rows.
        self._row.data[number] = -1
        self._odd_keys.pop(number, None)
        self._free.append(number)

    def host(self, number: int) -> str:
        """Where it stands; "" if unknown."""
        return self._hosts.of(number)

    def source(self, number: int) -> str:
        """The name in its source line; "" if unknown."""
        return self._sources.of(number)

    def minutes(self, number: int) -> int | None:
        """When it was published, minutes since 1970; None if unknown."""
        minutes = self._minutes.of(number)
        return None if minutes == _UNDATED else minutes

    def has_digest(self, number: int, record: TitleRecord) -> bool:
        """Whether its body is the one of *record*, word for word; False if one is unknown."""
        return bool(record.body_digest) and self._digests.of(number) == _digest(record)

    def simhash(self, number: int) -> int:
        """The SimHash of its body; 0 if unknown."""
        return self._simhashes.of(number)

    def to_state(self) -> State:
        """Keys and columns."""
        size = self._size
        odd = [(number, key.hex()) for number, key in self._odd_keys.items()]
        state: State = {
            "titles.counts": np.array([size, self._gone], np.int64),
            "titles.free": np.array(self._free, np.int32),
            "titles.odd_keys": pack(odd),
            "titles.keys": self._keys[:size],
            "titles.slots": self._slots,
            "titles.row": self._row.data[:size],
            "titles.next": self._next.data[:size],
        }
        for name, column in self._optional.items():
            state |= {
                f"titles.{name}{part}": array for part, array in column.to_state(size).items()
            }
        return state

    def restore(self, state: SavedState) -> None:
        """Take up the titles that were saved."""
        self._size, self._gone = state["titles.counts"].tolist()
        self._free = state["titles.free"].tolist()
        self._odd_keys = {
            number: bytes.fromhex(key) for number, key in unpack(state["titles.odd_keys"])
        }
        self._keys = state["titles.keys"]
        self._slots = state["titles.slots"]
        self._row.restore(state["titles.row"])
        self._next.restore(state["titles.next"])
        for name, column in self._optional.items():
            column.restore(state, f"titles.{name}")

    @property
    def _optional(self) -> dict[str, _Names | _Numbers]:
        return {
            "host": self._hosts,
            "source": self._sources,
            "minutes": self._minutes,
            "digest": self._digests,
            "simhash": self._simhashes,
        }

    def _number(self) -> int:
        if self._free:
            return self._free.pop()
        self._size += 1
        return self._size - 1

    def _reserve(self) -> None:
        self._row.reserve(self._size)
        self._next.reserve(self._size)
        if self._size > len(self._keys):
            longer = np.zeros((int(self._size * 1.1) + _FEWEST_SLOTS, 2), np.uint64)
            longer[: len(self._keys)] = self._keys
            self._keys = longer
        if self._size + self._gone > _FULLEST * len(self._slots):
            self._rehash()

    def _rehash(self) -> None:
        # Where titles go and come, room for an eighth of them: the slots they leave count as
        # full, and without room every other title would lead here.
        needed = self._size + (self._size // 8 if self._gone else 0)
        size = _FEWEST_SLOTS
        while needed > _FULLEST * size:
            size *= 2
        members = self._slots[self._slots >= 0]
        self._slots = np.full(size, FREE, np.int32)
        self._gone = 0
        enter_members(ints(members), ints(self._keys), ints(self._slots))


class _Names:
    """A text of each member, kept once; no column until the first member has one."""

    def __init__(self) -> None:
        self.column: Column | None = None
        self._ids: dict[str, int] = {"": 0}
        self._names = [""]

    def enter(self, numbers: Array, names: Sequence[str], size: int) -> None:
        if self.column is None:
            if not any(names):
                return
            self.column = Column(np.int32)
        for name in names:
            if name not in self._ids:
                self._ids[name] = len(self._names)
                self._names.append(name)
        self.column.reserve(size)[numbers] = [self._ids[name] for name in names]

    def to_state(self, size: int) -> State:
        if self.column is None:
            return {}
        # Not every one was long enough for the titles without a value that came after it.
        return {"": self.column.reserve(size)[:size], "_names": pack(self._names)}

    def restore(self, state: SavedState, name: str) -> None:
        if name not in state:
            return
        self._names = unpack(state[f"{name}_names"])
        self._ids = {text: number for number, text in enumerate(self._names)}
        self.column = Column(np.int32)
        self.column.restore(state[name])

    def of(self, number: int) -> str:
        return self._names[self.column.data[number]] if self.column is not None else ""


class _Numbers:
    """A number of each member; no column until one differs from *unknown*."""

    def __init__(self, dtype: DTypeLike, unknown: int = 0) -> None:
        self.column: Column | None = None
        self._dtype, self._unknown = dtype, unknown

    def enter(self, numbers: Array, values: Array, size: int) -> None:
        if self.column is None:
            if (values == self._unknown).all():
                return
            self.column = Column(self._dtype, self._unknown)
        self.column.reserve(size)[numbers] = values

    def to_state(self, size: int) -> State:
        return {} if self.column is None else {"": self.column.reserve(size)[:size]}

    def restore(self, state: SavedState, name: str) -> None:
        if name in state:
            self.column = Column(self._dtype, self._unknown)
            self.column.restore(state[name])

    def of(self, number: int) -> int:
        return int(self.column.data[number]) if self.column is not None else self._unknown


def _split_keys(keys: Sequence[bytes]) -> Array:
    """Keys as two numbers each: those of 16 bytes as they are."""
    exact = [
        key if len(key) == KEY_BYTES else blake2b(key, digest_size=KEY_BYTES).digest()
        for key in keys
    ]
    return np.frombuffer(b"".join(exact), "<u8").reshape(-1, 2)


def _minutes(record: TitleRecord) -> int:
    when = record.published_at
    # 32 bits of minutes reach from 2114 BC to the year 6053.
    return _UNDATED if when is None else min(int(seconds(when) // 60), _MOST_MINUTES)


def _digest(record: TitleRecord) -> int:
    """64 bits of the body's digest, 0 for none."""
    if not record.body_digest:
        return 0
    # "or 1": 0 stands for no body.
    return int.from_bytes(record.body_digest[:8].ljust(8, b"\0"), "little") or 1
