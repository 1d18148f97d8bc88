"""Zstandard from wherever this Python has it."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd
