"""What packing makes of texts, beside plain zstd."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from qiaocrawl.errors import QiaoError
from qiaocrawl.storage.packed_text import compress, decompress, pack_text, unpack_text


class PackingError(QiaoError):
    """Texts that cannot be measured."""


@dataclass(frozen=True, slots=True)
class Packing:
    """One way of packing the texts of one language.

    Attributes:
        share: packed bytes over those of UTF-8.
        pack_ms, unpack_ms: processor time a text.
    """

    language: str
    method: str
    texts: int
    share: float
    pack_ms: float
    unpack_ms: float


_WAYS: dict[str, tuple[Callable[[str], bytes], Callable[[bytes], str]]] = {
    "ours": (pack_text, unpack_text),
    "zstd 3": (lambda text: compress(text.encode()), lambda packed: decompress(packed).decode()),
}


def packings(data: Path) -> Iterator[Packing]:
    """The texts of the gold in *data* (see ``extraction.py``), by language.

    Raises:
        PackingError: there is no gold, or a text does not come back as it was.
    """
    for language, texts in sorted(_texts(data / "gold.jsonl").items()):
        for method, (pack, unpack) in _WAYS.items():
            yield _packing(language, method, texts, pack, unpack)


def _packing(
    language: str,
    method: str,
    texts: list[str],
    pack: Callable[[str], bytes],
    unpack: Callable[[bytes], str],
) -> Packing:
    began = time.process_time()
    packed = [pack(text) for text in texts]
    between = time.process_time()
    again = [unpack(stored) for stored in packed]
    ended = time.process_time()
    if again != texts:
        raise PackingError(f"{method}: a text of {language!r} does not come back as it was")
    plain = sum(len(text.encode()) for text in texts)
    return Packing(language, method, len(texts), sum(map(len, packed)) / plain,
                   1e3 * (between - began) / len(texts),
                   1e3 * (ended - between) / len(texts))  # fmt: skip


def _texts(gold: Path) -> dict[str, list[str]]:
    try:
        lines = gold.read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise PackingError(f"--texts {str(gold.parent)!r}: no gold.jsonl there") from None
    texts: dict[str, list[str]] = {}
    for row in map(json.loads, lines):
        if row["text"]:
            texts.setdefault(row["lang"] or "unknown", []).append(row["text"])
    return texts
