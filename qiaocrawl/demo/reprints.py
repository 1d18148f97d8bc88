"""How a reprint differs from its original: another title, another source line, other cuts."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from qiaocrawl.demo.inventory import Site, load_furniture
from qiaocrawl.demo.stories import Story

_CLAUSE = re.compile(r"[ ：，？！|]+")
# A title is not shortened below so many characters.
_MIN_TITLE = 7

_CUT_SHARE = 0.35
_ADD_SHARE = 0.3


def reprint_title(rng: random.Random, story: Story, shown: str) -> str:
    """A title for a copy of *story*, whose original says *shown*.

    A quarter is told anew, the rest keeps words: as it was, decorated, with synonyms, with its
    clauses the other way round, or shortened.
    """
    other_titles = [title for title in story.titles if title != shown]
    change = rng.choices(
        ("retold", "same", "decorated", "synonyms", "reordered", "shortened"),
        (24, 18, 22, 14, 10, 12),
    )[0]
    if change == "retold" and other_titles:
        return rng.choice(other_titles)
    if change == "synonyms":
        return _decorated(rng, _with_synonyms(shown), story.on_topic, share=0.5)
    if change == "reordered":
        return _reordered(shown)
    if change == "shortened":
        return _shortened(rng, shown)
    return _decorated(rng, shown, story.on_topic, share=0.0 if change == "same" else 1.0)


def reprint_lines(rng: random.Random, lines: Sequence[str], editor_note: str) -> list[str]:
    """*lines* with a paragraph cut, or *editor_note* put before or behind, or as they were."""
    copy = list(lines)
    if len(copy) > 3 and rng.random() < _CUT_SHARE:
        del copy[rng.randint(2, len(copy) - 1)]
    if rng.random() < _ADD_SHARE:
        copy.insert(rng.choice((0, len(copy))), editor_note)
    return copy


def reprint_source(rng: random.Random, original: Site) -> str:
    """The source line of a copy: the original's name in some form, or a vague word."""
    template: str = rng.choice(load_furniture()["reprint_sources"])
    return template.format(site=original.name, short=original.short)


def _with_synonyms(title: str) -> str:
    for word, synonym in load_furniture()["synonyms"]:
        if synonym in title:
            title = title.replace(synonym, word)
        elif word in title:
            title = title.replace(word, synonym)
    return title


def _decorated(rng: random.Random, title: str, on_topic: bool, *, share: float) -> str:
    if rng.random() >= share:
        return title
    furniture = load_furniture()
    where = "prefixes" if rng.random() < 0.6 else "suffixes"
    words = furniture[where] + (furniture[f"topic_{where}"] if on_topic else [])
    word: str = rng.choice(words)
    return word + title if where == "prefixes" else title + word


def _reordered(title: str) -> str:
    clauses = [clause for clause in _CLAUSE.split(title) if clause]
    return " ".join(reversed(clauses)) if len(clauses) > 1 else title


def _shortened(rng: random.Random, title: str) -> str:
    clauses = [clause for clause in _CLAUSE.split(title) if len(clause) >= _MIN_TITLE]
    return rng.choice(clauses) if len(clauses) > 1 else title
