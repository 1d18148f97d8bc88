"""A topic of whose articles hardly one is on it: why, and which threshold would change that."""

from __future__ import annotations

import pytest

from qiaocrawl.items import Relevance
from qiaocrawl.runs.run_summary import few_lines, few_steps
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.articles import save_relevance
from qiaocrawl.storage.topics.changes import basis_of, few_on_topic
from qiaocrawl.storage.topics.judgements import save_judgement
from qiaocrawl.storage.topics.topics import topic_id
from storage_samples import PACK, add_article, add_topic


def _judged(database: Database, *scores: float, method: str = "blend") -> None:
    """Articles with these scores, on topic from a half on."""
    with database.engine.begin() as c:
        ids = {PACK.name: topic_id(c, PACK.name)}
        for number, score in enumerate(scores):
            row = add_article(c, f"{method}{number}", title=f"{number}")
            save_relevance(c, row, ids, [Relevance(PACK.name, score, score >= 0.5, method)])


@pytest.mark.parametrize(
    ("scores", "line", "more"),
    [
        ([0.33] * 37 + [0.01] * 60, 0.30, 37),
        # The strictest line that brings enough, not all there is.
        ([0.46] * 6 + [0.21] * 30, 0.45, 6),
        # Fewer than enough: the line that brings those.
        ([0.12] * 2 + [0.001] * 20, 0.10, 2),
        ([0.009] * 20, None, 0),
    ],
)
def test_the_line_is_the_strictest_that_brings_enough(
    database: Database, scores: list[float], line: float | None, more: int
) -> None:
    add_topic(database)
    _judged(database, *scores)
    with database.engine.connect() as c:
        few = few_on_topic(c, PACK.name)
    assert few is not None
    assert (few.articles, few.on_topic, few.line, few.more) == (len(scores), 0, line, more)
    said = " ".join(few_lines(few))
    assert f"0 of {len(scores)} articles" in said
    steps = list(few_steps(few))
    if line is None:
        assert "hardly have one of its words" in said
        assert steps == [f"qiaocrawl topic show {PACK.name} --all"]
    else:
        assert f"{line:.2f} {more} articles more" in said
        assert steps == [
            f"qiaocrawl topic threshold {PACK.name} --line {line:.2f} && "
            "qiaocrawl reprocess --stage relevance --yes"
        ]


@pytest.mark.parametrize("scores", [[0.3] * 9, [0.9] * 2 + [0.3] * 98, [0.9] * 10, []])
def test_enough_on_topic_or_too_few_to_tell_says_nothing(
    database: Database, scores: list[float]
) -> None:
    add_topic(database)
    _judged(database, *scores)
    with database.engine.connect() as c:
        assert few_on_topic(c, PACK.name) is None


def test_what_operators_said_moves_with_no_line(database: Database) -> None:
    add_topic(database)
    _judged(database, *[0.4] * 12, method="operator")
    with database.engine.connect() as c:
        few = few_on_topic(c, PACK.name)
    assert few is not None
    assert (few.line, few.more) == (None, 0)


def test_words_alone_are_said_to_be_alone(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        basis = basis_of(c, PACK.name)
        assert (basis.words, basis.on_topic, basis.off_topic) == (3, 1, 1)
        assert "3 words alone" in basis.note
        assert "few words" in basis.note
        for number in range(4):
            save_judgement(
                c, PACK.name, f"http://a.test/{number}", relevant=number % 2 == 0, note="", now=1.0
            )
        assert basis_of(c, PACK.name).note == ""
