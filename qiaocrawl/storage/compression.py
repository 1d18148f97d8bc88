"""Page bodies as zstd frames. Compressing and hashing release the GIL.

Measured on two collections of real pages (14 and 91 KB on average): level 3 takes them to 36 and
18 per cent in 0.08 and 0.33 ms each, level 6 to 34 and 17 per cent in three times that.
"""

from __future__ import annotations

import threading

from qiaocrawl.text.zstd import zstd

LEVEL = 3


# One a thread: a compressor must not be used by two at once.
class _Compressors(threading.local):
    def __init__(self) -> None:
        # Kept, since making its tables costs a fifth of compressing a page.
        self.one = zstd.ZstdCompressor(level=LEVEL)


_compressors = _Compressors()


def compress(body: bytes) -> bytes:
    """*body* as one zstd frame."""
    return framed(_compressors.one, body)


def framed(compressor: zstd.ZstdCompressor, body: bytes) -> bytes:
    """*body* as one frame of *compressor*, which can be used again."""
    # FLUSH_FRAME ends the frame, so that the next page begins one of its own.
    return compressor.compress(body, compressor.FLUSH_FRAME)


def decompress(frame: bytes) -> bytes:
    """The body in *frame*."""
    return zstd.decompress(frame)
