"""What an index is made of, as named arrays: so that it can be kept in a file and taken up again.

Whoever restores gets the very arrays that were saved, so all that is decided afterwards is what
the saved index would have decided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
State = dict[str, Array]
SavedState = Mapping[str, Array]
"""A state that may be read array by array, each when it is asked for."""


def packed(value: object) -> Array:
    """Lists, dicts, texts and numbers as bytes; for what is small or of no even shape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Titles of pages may hold lone surrogates.
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def unpacked(array: Array) -> Any:
    """What :func:`packed` was given, tuples as lists."""
    return json.loads(array.tobytes().decode("utf-8", "surrogatepass"))
