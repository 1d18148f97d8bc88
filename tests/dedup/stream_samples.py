"""Streams of made titles: much is alike, and hosts add their names."""

from __future__ import annotations

import pytest
from dedup_samples import record
from hypothesis import strategies as st

from qiaocrawl.dedup.methods import methods
from qiaocrawl.vsm import IdfSnapshot

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
SNAPSHOT = IdfSnapshot(
    1, 1000, {word: 10 ** (n % 4) for n, word in enumerate(WORDS)}, prior_titles=0
)
TEXTS = ["", *("\n".join(f"{name}村第{n}户归侨的故事，写在这里。" for n in range(9))
               for name in ("东", "西"))]  # fmt: skip

# Of few words, so that much is alike.
TITLES = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(st.sampled_from(WORDS), max_size=7),
    st.sampled_from(["", "", " - 甲地乡音", "_乙说", "——"]),
)
RECORDS = st.builds(
    record,
    st.integers(0, 14), TITLES,
    day=st.none() | st.integers(0, 50), host=st.sampled_from(["", "a.example", "www.b.example"]),
    source=st.sampled_from(["", "新华社"]), digest=st.sampled_from([b"", b"", b"p"]),
    text=st.sampled_from(TEXTS),
)  # fmt: skip

every_method = pytest.mark.parametrize("method", methods.names())
