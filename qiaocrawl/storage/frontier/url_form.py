"""Whether stored addresses are written as this version writes them.

A row of ``url`` is found by the hash of its canonical form. A version (ours, or the URL parser's)
that writes an address differently would not find the row: the page would be fetched again and
counted twice without notice.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from qiaocrawl.items import Queue
from qiaocrawl.storage import schema
from qiaocrawl.urls import canonical_url, url_key

# Newest and oldest addresses, half each (ours): a changed rule meets some of them.
_LOOKED_AT = 1_000


def url_form_problems(c: Connection) -> list[str]:
    """What is wrong with addresses that this version writes differently; [] when none is."""
    table = schema.url
    # A query's address is the engine's own writing, not a page's canonical form.
    chosen = select(table.c.url, table.c.key).where(table.c.queue != Queue.SEARCH.value)
    rows = [
        *c.execute(chosen.order_by(table.c.id).limit(_LOOKED_AT // 2)),
        *c.execute(chosen.order_by(table.c.id.desc()).limit(_LOOKED_AT // 2)),
    ]
    other = sorted({url for url, key in rows if _is_changed(url, bytes(key))})
    if not other:
        return []
    seen = len({url for url, _ in rows})
    return [
        f"{len(other)} of {seen} addresses looked at are written differently "
        f"by this version, such as {other[0]}: their pages would be fetched twice; crawl on with "
        "the version that stored them, or with a release whose `qiaocrawl db upgrade` writes the "
        "keys anew"
    ]


def _is_changed(url: str, key: bytes) -> bool:
    canonical = canonical_url(url)
    return canonical != url or url_key(url) != key
