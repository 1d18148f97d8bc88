"""Base forms of English words, by the rules that WordNet itself uses."""

from __future__ import annotations

# Nouns, then verbs, then adjectives: what stands at the end, and what stands there instead.
_ENDINGS = (
    ("ches", "ch"), ("shes", "sh"), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ies", "y"),
    ("men", "man"), ("s", ""),
    ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip
# What is left has at least so many letters: ``as`` is no plural.
_LEAST = 3


def base_forms(word: str) -> list[str]:
    """What *word* may be a form of, likelier first; nothing for words of other scripts.

    >>> base_forms("emigrants")
    ['emigrant']
    >>> base_forms("归侨")
    []
    """
    if not word.isascii() or len(word) <= _LEAST:
        return []
    forms = [
        word.removesuffix(ending) + other
        for ending, other in _ENDINGS
        if word.endswith(ending) and len(word) - len(ending) + len(other) >= _LEAST
    ]
    return list(dict.fromkeys(forms))
