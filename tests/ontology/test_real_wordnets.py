"""What was measured on the open wordnets, where they are installed on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.ontology.readers import DEBIAN, is_wordnet
from qiaocrawl.ontology.similarity import WordSimilarity
from qiaocrawl.ontology.sources import read_source, sources_of
from qiaocrawl.ontology.stored import arrays_of, wordnet_of_arrays

CHINESE = Path(__file__).resolve().parents[3] / "shared" / "data" / "ontology"


@pytest.fixture(scope="module")
def real() -> Ontology:
    if not is_wordnet(DEBIAN):
        pytest.skip("WordNet 3.0 (Debian's package wordnet-base) is not installed")
    if not CHINESE.is_dir():
        pytest.skip("the open Chinese wordnets are not in ../shared/data/ontology")
    sources = [*sources_of("wordnet"), *sources_of(str(CHINESE))]
    return Ontology(
        [wordnet_of_arrays(name, arrays_of(read_source(path))) for name, path in sources]
    )


def test_the_measured_distances_come_out_again(real: Ontology) -> None:
    alike = WordSimilarity(real)
    assert alike.distance("移民", "immigrant") == 0
    assert alike.distance("领事", "ambassador") == 2
    assert alike.distance("捐款", "banana") == 15
    assert real.max_depth == 19
    assert WordSimilarity(real, "linear")("捐款", "banana") == pytest.approx(0.605, abs=5e-4)
    # The default separates what the linear one does not: exp(-0.4 * 15).
    assert alike("捐款", "banana") == pytest.approx(0.0025, abs=1e-4)


def test_every_chinese_word_stands_on_a_concept_of_wordnet(real: Ontology) -> None:
    # One space: the tabs bring words, and no concept of their own.
    assert real.size == 117_659
    verb = real.senses("呼吸")
    assert any("en" in real.lemmas(concept) for concept in verb)
    assert "breathe" in {word for one in verb for word in real.lemmas(one).get("en", [])}
