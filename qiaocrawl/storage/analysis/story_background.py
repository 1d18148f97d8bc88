"""How common terms are, as stories count them: a whole count now and then, minutes since."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select

from qiaocrawl.analysis.stories.background import Background, MinuteCounts
from qiaocrawl.storage.compression import compress, decompress
from qiaocrawl.storage.schema import story_background

# A whole count is written when so many articles were counted since the last one.
_WHOLE_AFTER_ARTICLES = 5_000
# What MariaDB takes at once is limited.
_PART_BYTES = 4 << 20


def load_background(c: Connection) -> Background:
    """How common terms were when the desk was stored last."""
    table = story_background
    rows = c.execute(select(table).order_by(table.c.id)).all()
    parts = b"".join(bytes(row.data) for row in rows if row.minute is None)
    background = Background()
    if parts:
        with np.load(BytesIO(decompress(parts)), allow_pickle=False) as arrays:
            background = Background.restored(dict(arrays))
    for row in rows:
        if row.minute is not None:
            counts = decompress(bytes(row.data))
            background.count(MinuteCounts.of_bytes(row.minute * 60.0, row.articles, counts))
    return background


def save_background(
    c: Connection, background: Background, minutes: Sequence[tuple[int, MinuteCounts]]
) -> None:
    """Store what was counted since the last time, in *minutes*."""
    table = story_background
    rows = [
        {"minute": minute, "articles": counts.articles, "data": compress(counts.as_bytes())}
        for minute, counts in minutes
    ]
    if rows:
        c.execute(insert(table), rows)
    counted = c.execute(select(func.sum(table.c.articles))).scalar() or 0
    if counted > _WHOLE_AFTER_ARTICLES:
        c.execute(delete(table))
        file = BytesIO()
        np.savez(file, allow_pickle=False, **background.saved())
        data = compress(file.getvalue())
        c.execute(insert(table), [
            {"minute": None, "articles": 0, "data": data[start : start + _PART_BYTES]}
            for start in range(0, len(data), _PART_BYTES)
        ])  # fmt: skip
