"""Texts of writers and of programs."""

from __future__ import annotations

import random
from pydoc_data.topics import topics

import pytest

from qiaocrawl.discovery.generated_text import MIN_PAGES, why_generated
from qiaocrawl.discovery.text_sample import text_sample
from story_texts import MADE_UP, Text, drawn, written


def samples(text: Text, pages: int = MIN_PAGES) -> list[bytes]:
    return [text_sample(text(number)) for number in range(pages)]


@pytest.mark.parametrize("text", MADE_UP)
def test_texts_of_programs_are_known(text: Text) -> None:
    assert why_generated(samples(text)).startswith("made-up texts: ")
    assert why_generated(samples(text, MIN_PAGES - 1)) == "", "too few to tell"


def test_what_people_wrote_is_not_taken_for_made_up() -> None:
    """Python's own manual, whose pages repeat their terms and each other's phrases."""
    texts = sorted(text for text in topics.values() if len(text) > 600)
    manual = [text_sample(text) for text in texts]
    assert len(manual) > MIN_PAGES + 4
    for first in range(0, len(manual) - MIN_PAGES, 4):
        assert why_generated(manual[first : first + MIN_PAGES]) == ""
    assert why_generated(samples(written)) == ""


def test_a_chain_over_what_people_wrote_is_known() -> None:
    said = " ".join(topics.values()).split()
    after: dict[str, list[str]] = {}
    for word, follower in zip(said, said[1:], strict=False):
        after.setdefault(word, []).append(follower)
    seed = random.Random(7)

    def walk(number: int) -> str:
        words = [seed.choice(said)]
        while len(words) < 300:
            words.append(seed.choice(after.get(words[-1]) or said))
        return " ".join(words)

    assert why_generated(samples(walk)).startswith("made-up texts: ")


def test_a_mixture_with_as_many_written_texts_is_left() -> None:
    half = MIN_PAGES // 2
    assert why_generated(samples(written, half) + samples(drawn, half)) == ""


@pytest.mark.parametrize("text", ["", "短", "1234567890 " * 50, "\ud800\x00" * 20, "侨" * 9000])
def test_any_text_has_a_sample(text: str) -> None:
    assert len(text_sample(text)) <= 3200
    assert why_generated([text_sample(text)] * MIN_PAGES) in (
        "",
        why_generated([text_sample(text)] * 40),
    )
