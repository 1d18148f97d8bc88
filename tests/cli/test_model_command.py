"""`qiaocrawl model check` asks a model on loopback for one line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from command_runs import Run
from model_server import ModelServer, Raw, served_model
from title_samples import made

_GOOD = "2|某市侨联5月8日举行座谈会，30名侨商参加。"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with served_model() as server:
        for name, value in server.options(QIAO_MODEL_PRICE=10).items():
            monkeypatch.setenv(name, str(value))
        yield server


def test_a_model_that_obeys_is_told_so_with_its_cost(
    run: Run, model: ModelServer, database_url: str
) -> None:
    made(database_url)
    model.answers = [_GOOD]
    code, out, error = run("model", "check", "--database", database_url)
    assert (code, error) == (0, "")
    assert "某市侨联5月8日举行座谈会" in out
    assert "inside this network" in out
    assert "0.0010" in out
    assert "100 of 200,000" in out
    sent = model.questions[0]["messages"][1]["content"]
    assert "林某" in sent


def test_a_model_that_does_not_obey_is_told_so(
    run: Run, model: ModelServer, database_url: str
) -> None:
    made(database_url)
    model.answers = ["好的！这是稿件：……", "抱歉。"]
    code, out, _error = run("model", "check", "--database", database_url)
    assert code == 1
    assert "does not keep to the form" in out
    model.answers = [Raw(b"", 404)]
    code, _out, error = run("model", "check", "--database", database_url)
    assert code == 1
    assert "404" in error


def test_without_an_address_it_says_how_one_is_named(run: Run, database_url: str) -> None:
    made(database_url)
    code, _out, error = run("model", "check", "--database", database_url)
    assert code == 1
    assert "QIAO_MODEL_URL" in error
