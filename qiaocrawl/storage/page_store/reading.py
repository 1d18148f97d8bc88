"""Payloads out of the files of all stores, each compared with its digest."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Select, select

from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.language import _
from qiaocrawl.storage.page_store.files import PageFiles
from qiaocrawl.storage.page_store.records import digest_of, payload_of
from qiaocrawl.storage.schema import page_file, page_record, page_store

# Records so near to each other are read in one go: a request costs more than the bytes between.
_GAP_BYTES = 64 * 1024
_SPAN_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands."""

    record_id: int
    digest: bytes
    file_id: int
    offset: int
    length: int
    address: str
    name: str

    def __str__(self) -> str:
        return f"{self.address}/{self.name} @{self.offset}"


def place_rows() -> Select[Any]:
    """The query of places; conditions and order are the caller's."""
    return (
        select(
            page_record.c.id, page_record.c.digest, page_record.c.file_id,
            page_record.c.offset_bytes, page_record.c.length_bytes, page_store.c.address,
            page_file.c.name,
        )
        .join(page_file, page_file.c.id == page_record.c.file_id)
        .join(page_store, page_store.c.id == page_file.c.store_id)
    )  # fmt: skip


def places(c: Connection, record_ids: Collection[int]) -> dict[int, Place]:
    """Where these records stand, by their number."""
    rows = c.execute(place_rows().where(page_record.c.id.in_(set(record_ids))))
    return {row[0]: Place(*row) for row in rows}


def payload(c: Connection, record_id: int) -> bytes:
    """The payload of one record.

    Raises:
        PageStoreError: it is missing, damaged or another one; names file and offset.
    """
    payloads_read = payloads(c, [record_id])
    result = payloads_read[record_id]
    if isinstance(result, PageStoreError):
        raise result
    return result


def payloads(c: Connection, record_ids: Collection[int]) -> dict[int, bytes | PageStoreError]:
    """The payload of each record, or what is wrong with it."""
    results: dict[int, bytes | PageStoreError] = {}
    for place, member in members(places(c, record_ids).values()):
        results[place.record_id] = member if isinstance(member, PageStoreError) else _payload(
            place, member
        )  # fmt: skip
    for record_id in record_ids:
        # Only where somebody changed the tables by hand: the reference is a foreign key.
        results.setdefault(
            record_id, PageStoreError(_("record {number} is missing", number=record_id))
        )
    return results


def _payload(place: Place, member: bytes) -> bytes | PageStoreError:
    try:
        return checked_payload(place, member)
    except PageStoreError as error:
        return error


def checked_payload(place: Place, member: bytes) -> bytes:
    """The payload of *member*, which was read at *place*.

    Raises:
        PageStoreError: it is damaged or another one.
    """
    try:
        data = payload_of(member)
    except PageStoreError as error:
        raise PageStoreError(f"{place}: {error}") from error
    if digest_of(data) != bytes(place.digest):
        raise PageStoreError(_("{place}: the page there is not the one it must be", place=place))
    return data


def members(
    chosen: Iterable[Place],
) -> Iterator[tuple[Place, bytes | PageStoreError]]:
    """The bytes at each place, or what is wrong; file by file, neighbours read in one go."""
    places_in_order = sorted(chosen, key=lambda one: (one.address, one.name, one.offset))
    for (address, name), group in groupby(places_in_order, lambda one: (one.address, one.name)):
        for span in _spans(group):
            yield from _read_span(address, name, span)


def _spans(group: Iterator[Place]) -> Iterator[list[Place]]:
    span: list[Place] = []
    for place in group:
        if span and (
            place.offset - (span[-1].offset + span[-1].length) > _GAP_BYTES
            or place.offset + place.length - span[0].offset > _SPAN_BYTES
        ):
            yield span
            span = []
        span.append(place)
    yield span


def _read_span(
    address: str, name: str, span: list[Place]
) -> Iterator[tuple[Place, bytes | PageStoreError]]:
    first, last = span[0], span[-1]
    try:
        data = files_at(address).read(name, first.offset, last.offset + last.length - first.offset)
    except PageStoreError as error:
        yield from ((place, PageStoreError(str(error))) for place in span)
        return
    except ConfigError as error:
        # Of a store that was used before: no package or no credentials for it here.
        yield from ((place, PageStoreError(f"{place}: {error}")) for place in span)
        return
    for place in span:
        start = place.offset - first.offset
        yield place, data[start : start + place.length]


@cache
def files_at(address: str) -> PageFiles:
    """The files of the store at *address*, opened once a process.

    Raises:
        ConfigError: its package or credentials are missing.
    """
    return PageFiles(address)


# Connections of another process are not ours to use.
os.register_at_fork(after_in_child=files_at.cache_clear)
