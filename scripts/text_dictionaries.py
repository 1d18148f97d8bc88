"""Makes the dictionaries that stored texts are packed with: qiaocrawl/storage/data/words_*.xz.

    python scripts/text_dictionaries.py NUMBER

Chinese: the most frequent words of jieba's dictionary (MIT). English: this project's documents.
NUMBER is that of a new pair: a file that was ever released stays as it is, since rows were packed
with it, and `storage/packed_text.py` gets a new format for the new one.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(PROJECT)]

import jieba

from qiaocrawl.text.zstd import zstd

_TARGET = PROJECT / "qiaocrawl" / "storage" / "data"
_BYTES = 32 * 1024
# Tables of frequencies stand before the words.
_TABLE_BYTES = 8 * 1024
_SAMPLE_CHARS = 1_500
_LEVEL = 5


def main() -> None:
    """Write a pair of dictionaries."""
    number = int(sys.argv[1])
    chinese = [
        s.encode("gb18030") for s in _samples("docs/zh/*.md", "qiaocrawl/demo/data/**/*.toml")
    ]
    words = (word.encode("gb18030") for word in _frequent_words())
    raw = zstd.ZstdDict(_joined(words), is_raw=True)
    _write(f"words_zh_{number}", zstd.finalize_dict(raw, chinese, _BYTES + _TABLE_BYTES, _LEVEL))
    english = [s.encode() for s in _samples("docs/*.md", "*.md", "qiaocrawl/**/*.py")]
    _write(f"words_en_{number}", zstd.train_dict(english, _BYTES))


def _frequent_words() -> Iterator[str]:
    lines = Path(jieba.__file__).with_name("dict.txt").read_text("utf-8").splitlines()
    counted = ((int(count), word) for word, count, _tag in (line.split(" ") for line in lines))
    return (word for _count, word in sorted(counted, reverse=True) if len(word) > 1)


def _joined(words: Iterable[bytes]) -> bytes:
    """The first words that fit; the first stands at the end, where it is cheapest to refer to."""
    joined = b""
    for word in words:
        if word not in joined:
            joined = word + joined
        if len(joined) > _BYTES:
            break
    return joined[-_BYTES:]


def _samples(*patterns: str) -> list[str]:
    texts = (
        path.read_text("utf-8") for pattern in patterns for path in sorted(PROJECT.glob(pattern))
    )
    return [
        text[at : at + _SAMPLE_CHARS] for text in texts for at in range(0, len(text), _SAMPLE_CHARS)
    ]


def _write(name: str, dictionary: zstd.ZstdDict) -> None:
    path = _TARGET / f"{name}.xz"
    if path.exists():
        sys.exit(f"scripts/text_dictionaries.py: {path} is there: rows may be packed with it")
    path.write_bytes(lzma.compress(dictionary.dict_content, preset=9))
    print(f"{path}: {path.stat().st_size:,} bytes, {len(dictionary.dict_content):,} unpacked")


if __name__ == "__main__":
    main()
