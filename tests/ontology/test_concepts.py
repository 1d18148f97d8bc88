"""One concept space of several wordnets, word similarity in it, and topics in it."""

from __future__ import annotations

import math
from collections.abc import Collection

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.ontology.similarity import (
    TopicWords,
    WordSimilarity,
    exponential,
    linear,
    logarithmic,
    similarity_function,
)
from small_wordnets import english, two_languages, words


def test_words_of_two_languages_meet_in_one_concept() -> None:
    joined = two_languages()
    assert joined.size == 7
    assert joined.senses("灯") == joined.senses("lamp")
    assert joined.lemmas(joined.senses("lamp")[0]) == {"en": ["beacon fire", "lamp"], "zh": ["灯"]}
    assert joined.count_lemmas() == {"en": 7, "zh": 3}
    assert joined.knows("LAMPS")
    assert joined.knows("燈")
    assert not joined.knows("航标")


def test_wordnets_are_joined_over_a_third_one() -> None:
    # One knows the index, one its own id, the third both.
    bridge = words("few", "en", {"bridge": ["person"]})
    joined = Ontology([english(), bridge, words("other", "ja", {"kokku": ["i9003"]})])
    assert joined.senses("bridge") == joined.senses("person")
    assert joined.senses("kokku") == joined.senses("cook")


def test_the_order_of_the_wordnets_changes_no_distance() -> None:
    one, other = english(), words("zh", "zh", {"人": ["i9001"], "厨": ["i9003"]})
    for order in ([one, other], [other, one]):
        assert WordSimilarity(Ontology(order)).distance("人", "cook") == 3 - 1 + 0


def test_distances_are_edges_over_the_nearest_common_concept() -> None:
    alike = WordSimilarity(two_languages())
    assert alike.distance("emigrant", "migrant") == 1
    assert alike.distance("emigrant", "cook") == 3
    assert alike.distance("emigrant", "lamp") == 5
    # 移民 is both migrant and emigrant: the nearer sense counts.
    assert alike.distance("移民", "cook") == 2
    assert alike.distance("移民", "emigrant") == 0
    assert alike.distance("移民", "航标") is None


def test_similarity_of_words_in_one_two_and_no_wordnet() -> None:
    alike = WordSimilarity(two_languages())
    assert alike("移民", "厨师") == alike("厨师", "移民") == pytest.approx(math.exp(-0.8))
    assert alike("移民", "Emigrants") == 1.0
    assert alike("航标", "航标") == 1.0
    assert alike("航标", "lamp") == alike("航标", "灯塔") == 0.0
    assert alike("僑批", "侨批") == 1.0


def test_the_three_functions_by_hand() -> None:
    assert exponential(0, 19) == logarithmic(0, 19) == linear(0, 19) == 1.0
    assert exponential(5, 19) == pytest.approx(0.1353, abs=1e-4)
    assert logarithmic(15, 19) == pytest.approx(1 - math.log(16) / math.log(39))
    assert linear(15, 19) == pytest.approx(0.605, abs=5e-4)
    for function in (logarithmic, linear):
        assert function(38, 19) == pytest.approx(0.0)
        assert function(99, 19) == 0.0
        assert (function(0, 0), function(1, 0)) == (1.0, 0.0)
    with pytest.raises(ConfigError, match="unknown word similarity 'cubic'"):
        similarity_function("cubic")


def test_depth_circles_and_what_hangs_nowhere_are_counted() -> None:
    joined = two_languages()
    assert (joined.max_depth, joined.without_relations, joined.without_words) == (3, 0, 1)
    assert not joined.in_circles.any()
    circle = Ontology([words("c", "en", {"a": ["a"], "b": ["b"], "c": ["c"], "alone": ["d"]},
                             [("a", "b"), ("b", "a"), ("c", "a")])])  # fmt: skip
    assert (int(circle.in_circles.sum()), circle.max_depth, circle.without_relations) == (2, 0, 1)
    assert WordSimilarity(circle).distance("c", "b") == 2


def test_a_small_wordnet_is_no_short_cut_through_a_large_one() -> None:
    # Both know emigrant and entity; the small one puts one right below the other.
    short = words("short", "en", {"outgoer": ["i9002"]}, [("i9002", "i35545")])
    for order in ([english(), short], [short, english()]):
        joined = Ontology(order)
        assert WordSimilarity(joined).distance("outgoer", "entity") == 3
    # A new way between concepts the other one does not join is kept.
    new = words("new", "en", {"beam": ["i9004"]}, [("i9004", "i9003")])
    assert WordSimilarity(Ontology([english(), new])).distance("lamp", "cook") == 1


def test_usual_senses_come_first_and_rare_ones_are_left_out() -> None:
    many = words("many", "en", {"word": [f"i{number}" for number in range(101, 110)],
                                "usual": ["i203"], "other": ["i202", "i203"]})  # fmt: skip
    chinese = words("zh", "zh", {"词": ["i202", "i203"]})
    joined = Ontology([many, chinese])
    assert [joined.names(one) for one in joined.senses("word")] == [
        [f"i{number}"] for number in range(101, 106)
    ]


def test_an_ontology_of_nothing_knows_nothing() -> None:
    empty = Ontology([])
    assert (empty.size, empty.max_depth, empty.without_relations) == (0, 0, 0)
    assert WordSimilarity(empty)("a", "a") == 1.0
    assert WordSimilarity(empty)("a", "b") == 0.0
    assert TopicWords(empty, {"灯塔": 2.0}, {"灯塔"}).similarity("灯塔") == 1.0


# --- topics ----------------------------------------------------------------------------------


def topic(*, named: Collection[str] = (), least: float = 0.0) -> TopicWords:
    weights = {"migrant": 2.0, "cook": 1.0, "航标": 1.0}
    return TopicWords(two_languages(), weights, {*weights}, named, least=least)


def test_a_word_is_as_near_as_its_nearest_term_is_heavy() -> None:
    near = topic().similarity
    assert near("migrant") == near("移民") == 1.0
    assert near("cook") == near("厨师") == 0.5
    # One edge from migrant, three from cook.
    assert near("emigrant") == pytest.approx(math.exp(-0.4))
    # The term the ontology does not know meets itself.
    assert (near("航标"), near("灯塔")) == (0.5, 0.0)


def test_words_that_are_hardly_alike_count_as_strangers() -> None:
    near = topic(least=0.5).similarity
    # person is one edge above migrant and cook, entity two; lamp four away.
    assert near("person") == pytest.approx(math.exp(-0.4))
    assert (near("entity"), near("lamp")) == (0.0, 0.0)
    assert topic().similarity("entity") == pytest.approx(math.exp(-0.8))


def test_named_things_meet_their_other_names_only() -> None:
    near = topic(named={"migrant"}).similarity
    assert near("移民") == 1.0
    assert near("emigrant") == pytest.approx(0.5 * math.exp(-1.2))


def test_words_that_do_not_spread_meet_themselves_only() -> None:
    one = TopicWords(two_languages(), {"migrant": 2.0, "cook": 1.0}, {"cook"}, least=0.0)
    assert one.similarity("migrant") == 1.0
    assert one.similarity("移民") == pytest.approx(0.5 * math.exp(-0.8))


def test_words_beside_the_topic_are_to_be_cut_whole() -> None:
    ontology = two_languages()
    assert TopicWords(ontology, {"lamp": 1.0}, {"lamp"}).near_words() == {"lamp", "beacon fire"}
    assert TopicWords(ontology, {"migrant": 1.0}, {"migrant"}).near_words() == {
        "migrant", "移民", "person", "emigrant"
    }  # fmt: skip
