"""A pattern that is compiled late answers as one that is compiled at once."""

from __future__ import annotations

import re

import pytest

from qiaocrawl.text.normalise import late_pattern


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
@pytest.mark.parametrize("method", ["search", "match", "fullmatch", "findall", "split"])
def test_it_answers_as_a_compiled_one(method: str, flags: int) -> None:
    late, compiled = late_pattern("侨(乡|A)", flags), re.compile("侨(乡|A)", flags)
    for text in ("侨乡", "在侨a", "无", ""):
        # Twice: the first call compiles.
        for _ in range(2):
            found, wanted = getattr(late, method)(text), getattr(compiled, method)(text)
            assert (found and repr(found)) == (wanted and repr(wanted))
    assert late.sub("x", "侨乡侨乡") == "xx"
    assert [match[1] for match in late.finditer("侨乡")] == ["乡"]


def test_it_is_compiled_when_it_is_first_used() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error):
        late.search("")
    with pytest.raises(AttributeError, match="no 'groups'"):
        late_pattern("a").groups  # noqa: B018
