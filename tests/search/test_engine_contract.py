"""Every shipped engine definition against its saved answers: one without them fails."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from qiaocrawl.search.answer import parse_answer
from qiaocrawl.search.definition import EngineDefinition, load_definitions, request_url
from qiaocrawl.search.query import WITH_HITS, AnswerState, Query

PAGES = Path(__file__).parent / "pages"
NEEDED_STATES = {"hit", "empty", "blocked", "decoy", "layout_changed"}


def _shipped() -> dict[str, EngineDefinition]:
    return {
        name: definition.at("http://searx.test:8888") if needs_base(definition) else definition
        for name, definition in load_definitions().items()
    }


def needs_base(definition: EngineDefinition) -> bool:
    return "{base}" in definition.url and not definition.base_url


DEFINITIONS = _shipped()


@dataclass(frozen=True)
class Case:
    engine: str
    expected: dict[str, Any]

    def __str__(self) -> str:
        name = self.expected.get("file", self.expected.get("status"))
        return f"{self.engine}-{name}-{self.expected['state']}"

    def query(self) -> Query:
        given = self.expected
        return Query("t", given["term"], given.get("site", ""), self.engine, given.get("page", 1))

    def body(self) -> bytes:
        name = self.expected.get("file")
        return (PAGES / self.engine / name).read_bytes() if name else b""


def _cases(engine: str) -> list[Case]:
    file = PAGES / engine / "cases.toml"
    assert file.exists(), f"engine {engine!r} has no saved answers ({file} is missing)"
    return [Case(engine, entry) for entry in tomllib.loads(file.read_text("utf-8"))["case"]]


ALL_CASES = [case for engine in sorted(DEFINITIONS) for case in _cases(engine)]


@pytest.mark.parametrize("engine", sorted(DEFINITIONS))
def test_every_engine_has_saved_answers_of_each_kind(engine: str) -> None:
    states = {case.expected["state"] for case in _cases(engine)}
    assert states >= NEEDED_STATES


def test_no_saved_answers_without_engine() -> None:
    assert {folder.name for folder in PAGES.iterdir() if folder.is_dir()} == set(DEFINITIONS)


@pytest.mark.parametrize("case", ALL_CASES, ids=str)
def test_saved_answer_is_classified(case: Case) -> None:
    definition, query, expected = DEFINITIONS[case.engine], case.query(), case.expected
    assert request_url(definition, query).startswith("http")
    headers = {"Location": expected.get("location", ""), "Content-Type": expected.get("type", "")}

    answer = parse_answer(definition, query, expected.get("status", 200), headers, case.body())

    assert answer.state == AnswerState(expected["state"]), answer.message
    assert len(answer.hits) == expected.get("hits", 0)
    assert answer.total == expected.get("total", answer.total)
    assert (answer.hits != ()) == (answer.state in WITH_HITS)
    assert answer.message or answer.state is AnswerState.HIT
    if answer.hits:
        _check_hits(answer.hits[0], answer.has_next, answer.message, expected)


def _check_hits(first: Any, has_next: bool, message: str, expected: dict[str, Any]) -> None:
    assert (first.url, first.title) == (expected["first_url"], expected["first_title"])
    assert has_next == expected.get("has_next", False)
    assert message == expected.get("message", message)
    if "first_date" in expected:
        assert first.published_at == datetime.fromisoformat(expected["first_date"])


@pytest.mark.parametrize("engine", sorted(DEFINITIONS))
def test_every_part_a_definition_names_is_found_in_its_saved_hits(engine: str) -> None:
    definition = DEFINITIONS[engine]
    answers = [
        parse_answer(definition, case.query(), 200, {}, case.body())
        for case in _cases(engine)
        if case.expected["state"] == "hit"
    ]
    hits = [hit for answer in answers for hit in answer.hits]
    assert all(hit.snippet for hit in hits)
    assert not definition.hits.date or any(hit.published_at for hit in hits)
    assert not definition.total or any(answer.total for answer in answers)
    assert definition.paging.max_pages == 1 or any(answer.has_next for answer in answers)


@pytest.mark.parametrize("engine", sorted(DEFINITIONS))
def test_a_blocked_answer_stays_blocked_for_any_term(engine: str) -> None:
    for case in _cases(engine):
        if case.expected["state"] != "blocked" or "file" not in case.expected:
            continue
        for term in ("验证码", "captcha", "请", "侨", "无"):
            query = Query("t", term, "", engine)
            status = case.expected.get("status", 200)
            answer = parse_answer(DEFINITIONS[engine], query, status, {}, case.body())
            assert answer.state is AnswerState.BLOCKED, (term, answer.message)
