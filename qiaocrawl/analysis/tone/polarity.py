"""Words that judge, counted with what turns them round."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

# So many words before a judging one a negation reaches it.
_REACH = 3
_ENDS = frozenset("，。！？；、,.!?;\n")


@dataclass(frozen=True, slots=True)
class PolarityWords:
    """Words that judge, and those that change their sense."""

    positive: frozenset[str]
    negative: frozenset[str]
    negations: frozenset[str]
    stronger: frozenset[str]
    weaker: frozenset[str]
    turns: frozenset[str]


@cache
def polarity_words() -> PolarityWords:
    """Those that come along."""
    file = resources.files(__package__).joinpath("data", "polarity.toml")
    lists = tomllib.loads(file.read_text(encoding="utf-8"))
    return PolarityWords(**{name: frozenset(words.split()) for name, words in lists.items()})


def judgements(words: Sequence[str]) -> list[float]:
    """Of every word how it judges: above 0 well, below 0 badly, 0 not at all.

    >>> judgements(["服务", "不", "好"])
    [0.0, 0.0, -1.0]
    """
    known = polarity_words()
    values = []
    for at, word in enumerate(words):
        value = float(word in known.positive) - float(word in known.negative)
        if value:
            for before in reversed(words[max(0, at - _REACH) : at]):
                if before in _ENDS:
                    break
                if before in known.negations:
                    value = -value
                elif before in known.stronger:
                    value *= 1.5
                elif before in known.weaker:
                    value *= 0.5
        values.append(value)
    return values
