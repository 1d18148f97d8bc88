"""Decoys take more than the words of one answer."""

from __future__ import annotations

from qiaocrawl.search.answer import DecoyWatch
from qiaocrawl.search.query import AnswerState, Hit, Query, SearchAnswer


def _doubtful(*urls: str) -> SearchAnswer:
    hits = tuple(Hit(url, "海外华人") for url in urls)
    genuine = SearchAnswer(AnswerState.PARTIAL, hits, has_next=True, message="no word of it")
    return SearchAnswer(AnswerState.DECOY, message="no word of it", doubted=genuine)


def _urls(name: str, count: int = 10) -> list[str]:
    return [f"http://{name}.test/{n}" for n in range(count)]


def _state(watch: DecoyWatch, term: str, *urls: str, engine: str = "e", page: int = 1) -> str:
    query = Query("t", term, "", engine, page)
    return watch.decide(query, _doubtful(*urls)).state


def test_one_answer_without_the_word_is_hits() -> None:
    watch = DecoyWatch()
    answer = watch.decide(Query("t", "侨胞", "", "e"), _doubtful(*_urls("a")))
    assert answer.state is AnswerState.PARTIAL
    assert len(answer.hits) == 10
    assert answer.has_next
    assert answer.message == "no word of it"


def test_the_same_hits_for_another_term_are_a_decoy() -> None:
    watch = DecoyWatch()
    assert _state(watch, "侨胞", *_urls("a")) == "partial"
    assert _state(watch, "侨胞", *_urls("a")) == "partial", "the same query may be put again"
    assert _state(watch, "侨胞", *_urls("b"), page=2) == "partial"
    assert _state(watch, "华侨", *_urls("a"), engine="other") == "partial"
    assert _state(watch, "华侨", *_urls("b", 5), *_urls("c", 5)) == "decoy"
    answer = watch.decide(Query("t", "归侨", "", "e"), _doubtful(*_urls("c", 6)))
    assert (answer.state, answer.hits, answer.doubted) == (AnswerState.DECOY, (), None)
    assert answer.message == "no word of it, as another term brought"


def test_terms_in_a_row_without_a_word_are_decoys_and_an_answer_between_clears_them() -> None:
    watch = DecoyWatch()
    states = [_state(watch, term, *_urls(term)) for term in ("甲", "乙", "丙", "丁")]
    assert states == ["partial", "partial", "decoy", "decoy"]
    shows = SearchAnswer(AnswerState.HIT, (Hit("http://a.test/", "戊"),))
    assert watch.decide(Query("t", "戊", "", "e"), shows) is shows
    assert _state(watch, "己", *_urls("己")) == "partial"


def test_few_hits_are_no_evidence() -> None:
    watch = DecoyWatch()
    states = {_state(watch, f"词{n}", "http://a.test/1", "http://a.test/2") for n in range(9)}
    assert states == {"partial"}


def test_what_an_engine_says_itself_stays() -> None:
    said = SearchAnswer(AnswerState.DECOY, message="text: 已为您显示")
    assert DecoyWatch().decide(Query("t", "侨胞", "", "e"), said) is said
