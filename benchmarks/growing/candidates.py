"""URLs as links name them; each is drawn from its number alone, so that it can be met again."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b

from benchmarks.consoles.collection import TOPIC
from benchmarks.growing.made_pages import SECTIONS
from benchmarks.growing.made_texts import TextMaker
from qiaocrawl.items import Candidate, Queue
from qiaocrawl.urls import url_key

HOSTS = 3_000
_ANCHORS = 20_000


def candidate(number: int) -> Candidate:
    """The *number*-th URL; few hosts have most of them."""
    # Random bytes of the number: to seed a generator for each URL takes longer than all the rest.
    drawn = blake2b(number.to_bytes(8, "big"), digest_size=32).digest()
    host = host_name(int(HOSTS * (int.from_bytes(drawn[16:20], "big") / 2**32) ** 3))
    month, day, depth = drawn[21] % 12 + 1, drawn[22] % 28 + 1, drawn[23] % 6
    section = SECTIONS[drawn[20] % len(SECTIONS)]
    url = f"http://{host}/{section}/2026/{month:02d}/{day:02d}/content_{number}.shtml"
    score = int.from_bytes(drawn[24:28], "big") / 2**32
    anchor = _anchors()[int.from_bytes(drawn[28:], "big") % _ANCHORS]
    return Candidate(url, url_key(url), host, Queue.SITE, TOPIC, score, depth,
                     parent=drawn[:16], anchor=anchor)  # fmt: skip


def host_name(number: int) -> str:
    """The *number*-th of :data:`HOSTS` hosts."""
    return f"www.site{number}.example.cn"


@cache
def _anchors() -> list[str]:
    maker = TextMaker(1)
    return [maker.title() for _ in range(_ANCHORS)]
