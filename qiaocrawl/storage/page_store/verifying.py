"""Reads stored pages and compares them with their digests."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection, func, select, update

from qiaocrawl.errors import PageStoreError
from qiaocrawl.storage.converters import clean_word, digest16
from qiaocrawl.storage.page_store.files_table import Advance
from qiaocrawl.storage.page_store.reading import Place, checked_payload, members, place_rows
from qiaocrawl.storage.pages.page_bodies import unpack_body
from qiaocrawl.storage.schema import page_record, page_source, url
from qiaocrawl.storage.writer import Reader, Writer

_RECORDS_AT_A_TIME = 200
_ROWS_AT_A_TIME = 50
_MOST_FAULT_CHARS = 200


@dataclass(slots=True)
class Verified:
    """How many payloads were read, and what is wrong with others, in words that name the place."""

    good: int = 0
    faults: list[str] = field(default_factory=list)
    is_cut: bool = False


def payload_count(c: Connection) -> int:
    """How many payloads :func:`verify` looks at; a file keeps those that were moved back, too."""
    in_files = select(func.count()).select_from(place_rows().subquery())
    in_rows = select(func.count()).where(page_source.c.record_id.is_(None))
    return int(c.scalar(in_files) or 0) + int(c.scalar(in_rows) or 0)


def verify(reader: Reader, writer: Writer, advance: Advance, *, share: float = 1.0) -> Verified:
    """Read a *share* (in (0, 1]) of all payloads, those in files and those in the database.

    What is wrong with a record stays noted with it until it is verified again.
    """
    done = Verified()
    for batch_of, faults_of in ((_next_places, _faults_in_files), (_next_rows, _faults_in_rows)):
        after = 0
        while batch := reader.run(partial(batch_of, after=after)):
            after = _id_of(batch[-1])
            chosen = [one for one in batch if share >= 1.0 or random.random() < share]
            found = faults_of(reader, chosen)
            if batch_of is _next_places and chosen:
                writer.run(partial(_note, found=found, verified=[_id_of(one) for one in chosen]))
            done.faults += found.values()
            done.good += len(chosen) - len(found)
            if not advance(len(batch)):
                done.is_cut = True
                return done
    return done


def _id_of(one: Any) -> int:
    number: int = one.record_id if isinstance(one, Place) else one.id
    return number


def _next_places(c: Connection, after: int) -> list[Any]:
    rows = c.execute(
        place_rows().where(page_record.c.id > after).order_by(page_record.c.id)
        .limit(_RECORDS_AT_A_TIME)
    )  # fmt: skip
    return [Place(*row) for row in rows]


def _faults_in_files(_reader: Reader, chosen: Collection[Place]) -> dict[int, str]:
    faults = {}
    for place, member in members(chosen):
        try:
            if isinstance(member, PageStoreError):
                raise member
            checked_payload(place, member)
        except PageStoreError as error:
            faults[place.record_id] = str(error)
    return faults


def _note(c: Connection, found: dict[int, str], verified: Collection[int]) -> None:
    c.execute(
        update(page_record)
        .where(page_record.c.id.in_(verified), page_record.c.fault != "")
        .values(fault="")
    )
    for record_id, fault in found.items():
        c.execute(
            update(page_record)
            .where(page_record.c.id == record_id)
            .values(fault=clean_word(fault, _MOST_FAULT_CHARS))
        )


def _next_rows(c: Connection, after: int) -> list[Any]:
    return list(c.execute(
        select(page_source.c.id, url.c.url, page_source.c.digest, page_source.c.body_bytes,
               page_source.c.body)
        .join(url, url.c.id == page_source.c.url_id)
        .where(page_source.c.record_id.is_(None), page_source.c.id > after)
        .order_by(page_source.c.id)
        .limit(_ROWS_AT_A_TIME)
    ))  # fmt: skip


def _faults_in_rows(reader: Reader, chosen: Collection[Any]) -> dict[int, str]:
    return reader.run(partial(_row_faults, chosen=chosen))


def _row_faults(c: Connection, chosen: Collection[Any]) -> dict[int, str]:
    faults = {}
    for row in chosen:
        place = f"page_source {row.id} ({row.url})"
        try:
            body = unpack_body(c, row.body)
        except PageStoreError as error:
            faults[row.id] = f"{place}: {error}"
            continue
        # Of a body that was cut, the digest is that of the whole.
        if len(body) == row.body_bytes and digest16(body) != bytes(row.digest):
            faults[row.id] = f"{place}: not what was fetched"
    return faults
