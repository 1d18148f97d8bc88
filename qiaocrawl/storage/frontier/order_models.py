"""What crawl orders have learnt, by topic and site; only the newest versions are kept.

A model is one row, written in one transaction: a kill leaves the version before. The bytes are
the strategy's own; that they are undamaged is checked here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from qiaocrawl.errors import ModelError
from qiaocrawl.storage.compression import compress, decompress
from qiaocrawl.storage.converters import clean_host, digest16, to_stored_time
from qiaocrawl.storage.raw_sql import Statement
from qiaocrawl.storage.schema import order_model
from qiaocrawl.storage.topics.topic_ids import topic_id
from qiaocrawl.text.zstd import zstd

VERSIONS_KEPT = 3
MAX_MODEL_BYTES = 6_000_000
"""Of a compressed model: MariaDB's packets of 16 MB hold it as hexadecimal text."""

_FORMAT = 1

_NEWEST = Statement(
    "SELECT version, host, format, pages, upto, digest, model FROM order_model"
    " WHERE topic_id = :topic_id AND strategy = :strategy AND host = :host"
    " ORDER BY version DESC LIMIT :count"
)


@dataclass(frozen=True, slots=True)
class ModelName:
    """Whose model it is. ``host`` is the one site it was learnt on, "" for several."""

    topic: str
    strategy: str
    host: str = ""


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A stored version of a model, not yet unpacked.

    Attributes:
        version: higher is newer, over all models.
        pages: how many it had learnt from.
        upto: place in the log of visits up to which it had learnt.
    """

    version: int
    host: str
    format: int
    pages: int
    upto: int
    digest: bytes
    packed: bytes

    def unpacked(self) -> bytes:
        """The model as the strategy wrote it.

        Raises:
            ModelError: it is damaged, or of a form this version does not know.
        """
        if self.format != _FORMAT:
            raise ModelError(f"version {self.version} has format {self.format}, not {_FORMAT}")
        try:
            model = decompress(self.packed)
        except zstd.ZstdError as error:
            raise ModelError(f"version {self.version} is damaged: {error}") from error
        if digest16(model) != self.digest:
            raise ModelError(f"version {self.version} is damaged: its digest is another")
        return model


def save_model(
    c: Connection, name: ModelName, model: bytes, *, pages: int, upto: int, now: float
) -> int:
    """Store a new version and delete all but the newest; returns its number.

    Raises:
        ModelError: it is too large to be stored.
    """
    packed = compress(model)
    if len(packed) > MAX_MODEL_BYTES:
        raise ModelError(
            f"the model of {name.strategy} takes {len(packed)} bytes; {MAX_MODEL_BYTES} are allowed"
        )
    # Names in the columns' form, for the insert and for _forget_old alike.
    whose = {"topic_id": topic_id(c, name.topic), "host": clean_host(name.host),
             "strategy": name.strategy}  # fmt: skip
    result = c.execute(insert(order_model).values(
        **whose, format=_FORMAT, pages=pages, upto=upto,
        created_at=to_stored_time(datetime.fromtimestamp(now, UTC)),
        digest=digest16(model), model=packed,
    ))  # fmt: skip
    version = int(result.lastrowid)
    # In the same transaction, so that there never are more than the kept ones.
    _forget_old(c, whose)
    return version


def _forget_old(c: Connection, whose: dict[str, Any]) -> None:
    mine = [order_model.c[column] == value for column, value in whose.items()]
    versions = c.execute(
        select(order_model.c.version).where(*mine).order_by(order_model.c.version.desc())
    ).scalars().all()  # fmt: skip
    if old := versions[VERSIONS_KEPT:]:
        c.execute(delete(order_model).where(order_model.c.version.in_(old)))


def stored_models(c: Connection, name: ModelName) -> list[StoredModel]:
    """The kept versions that may serve *name*, in the order to try them.

    Those of its site come first, then those of the whole topic; each the newest first.
    """
    models = []
    # dict.fromkeys: without a site both names are "", which must not be read twice.
    for host in dict.fromkeys((name.host, "")):
        params = {"topic_id": topic_id(c, name.topic), "strategy": name.strategy,
                  "host": clean_host(host), "count": VERSIONS_KEPT}  # fmt: skip
        models += [_stored(row) for row in _NEWEST.run(c, params).fetchall()]
    return models


def _stored(row: Any) -> StoredModel:
    version, host, form, pages, upto, digest, packed = row
    return StoredModel(version, host, form, pages, upto, bytes(digest), bytes(packed))
