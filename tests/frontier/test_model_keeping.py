"""What a strategy has learnt is loaded at the start of a crawl and stored now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection, text

from fresh_schema import make_tables
from learning_samples import AnchorYield
from qiaocrawl.errors import ModelError
from qiaocrawl.frontier.learning_order import ModelKeeping
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.visit_log import VERSIONS_KEPT, ModelName, stored_models
from storage_samples import NOW, PACK, add_topic

T = TypeVar("T")
TOPIC = ModelName(PACK.name, "anchor_yield")
SITE = ModelName(PACK.name, "anchor_yield", "www.a.test")


class Store:
    """A database, asked in the way a run asks it."""

    def __init__(self, database: Database) -> None:
        self._engine = database.engine

    async def read(self, operation: Callable[[Connection], T]) -> T:
        with self._engine.connect() as c:
            return operation(c)

    async def write(self, operation: Callable[[Connection], T]) -> T:
        with self._engine.begin() as c:
            return operation(c)


async def run(work: Callable[[], T]) -> T:
    """The thread of the order, which here is this one."""
    return work()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Database.open(f"sqlite:///{tmp_path}/q.db") as opened:
        make_tables(opened)
        add_topic(opened)
        yield Store(opened)


def keeping(store: Store, strategy: AnchorYield, name: ModelName = TOPIC) -> ModelKeeping:
    return ModelKeeping(strategy, name, store, pages_between=3)


def learnt(**anchors: float) -> AnchorYield:
    strategy = AnchorYield()
    strategy.taught = {anchor: [value] for anchor, value in anchors.items()}
    return strategy


def save(store: Store, strategy: AnchorYield, name: ModelName = TOPIC, *, upto: int = 0,
         pages: int = 1) -> ModelKeeping:  # fmt: skip
    kept = keeping(store, strategy, name)
    for _ in range(pages):
        kept.begin(known=False)
    asyncio.run(kept.save(run, upto))
    return kept


def loaded(store: Store, name: ModelName = TOPIC) -> tuple[AnchorYield, ModelKeeping]:
    strategy = AnchorYield()
    kept = keeping(store, strategy, name)
    asyncio.run(kept.load(run))
    return strategy, kept


def versions(store: Store, name: ModelName = TOPIC) -> list[visit_log.StoredModel]:
    return asyncio.run(store.read(lambda c: stored_models(c, name)))


def test_a_crawl_goes_on_with_what_the_last_one_learnt(store: Store) -> None:
    save(store, learnt(good=0.9), upto=17, pages=5)
    strategy, kept = loaded(store)
    assert strategy.taught == {"good": [0.9]}
    assert kept.upto == 17
    kept.begin(known=False)
    asyncio.run(kept.save(run, 18))
    assert versions(store)[0].pages == 6


def test_the_model_of_the_site_is_tried_before_that_of_the_topic(store: Store) -> None:
    save(store, learnt(site=0.1), SITE)
    save(store, learnt(topic=0.2))
    assert loaded(store, SITE)[0].taught == {"site": [0.1]}
    assert loaded(store)[0].taught == {"topic": [0.2]}
    other = ModelName(PACK.name, "anchor_yield", "www.b.test")
    assert loaded(store, other)[0].taught == {"topic": [0.2]}


def test_without_any_model_a_crawl_begins_with_nothing(store: Store) -> None:
    strategy, kept = loaded(store)
    assert (strategy.taught, kept.upto, kept.damaged) == ({}, 0, 0)


@pytest.mark.parametrize("change", [
    "model = X'00'", "format = 2", "digest = X'00000000000000000000000000000000'",
])  # fmt: skip
def test_where_the_newest_version_is_damaged_the_one_before_serves(
    store: Store, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    save(store, learnt(older=0.1))
    save(store, learnt(newest=0.2))
    newest = versions(store)[0].version
    sql = text(f"UPDATE order_model SET {change} WHERE version = {newest}")
    asyncio.run(store.write(lambda c: c.execute(sql)))
    strategy, kept = loaded(store)
    assert strategy.taught == {"older": [0.1]}
    assert kept.damaged == 1
    assert f"version {newest}" in caplog.text
    assert len(versions(store)) == 2, "the damaged row is left for whoever looks into it"


def test_a_version_is_due_after_so_many_pages_the_model_did_not_know(store: Store) -> None:
    strategy = AnchorYield()
    kept = keeping(store, strategy)
    for known in (False, True, False, True):
        kept.begin(known=known)
        assert strategy.replaying is known
    assert not kept.is_due
    kept.begin(known=False)
    assert kept.is_due
    asyncio.run(kept.save(run, 3))
    assert (kept.is_due, kept.saved) == (False, 1)


def test_nothing_is_stored_where_nothing_was_learnt(store: Store) -> None:
    kept = keeping(store, AnchorYield())
    kept.begin(known=True)
    asyncio.run(kept.save(run, 3))
    assert (kept.saved, versions(store)) == (0, [])


def test_only_the_newest_versions_are_kept(store: Store) -> None:
    for number in range(VERSIONS_KEPT + 2):
        save(store, learnt(good=float(number)))
    save(store, learnt(site=1.0), SITE)
    taught = [model.unpack() for model in versions(store)]
    assert [model.count(b"%d.0" % number) for model, number in zip(taught, (4, 3, 2), strict=True)]
    assert len(versions(store, SITE)) == VERSIONS_KEPT + 1, "those of the topic serve a site too"


def test_a_model_that_is_too_large_is_said_once_and_not_tried_with_every_page(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(visit_log, "MAX_MODEL_BYTES", 10)
    kept = save(store, learnt(good=0.9), pages=3)
    assert (kept.saved, kept.is_due) == (0, False)
    assert "what was learnt is not kept: the model of anchor_yield takes" in caplog.text


def test_what_could_not_be_written_is_written_the_next_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = keeping(store, learnt(good=0.9))
    kept.begin(known=False)
    with monkeypatch.context() as patch:
        patch.setattr(visit_log, "save_model", lambda c, **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            asyncio.run(kept.save(run, 1))
    asyncio.run(kept.save(run, 1))
    assert (kept.saved, len(versions(store))) == (1, 1)


def test_a_strategy_that_cannot_be_trained_is_left_alone(store: Store) -> None:
    class Forgetful:
        """Learns within a crawl only."""

        rescore_pages = 1

    kept = ModelKeeping(Forgetful(), TOPIC, store, pages_between=1)  # type: ignore[arg-type]
    kept.begin(known=False)
    asyncio.run(kept.load(run))
    asyncio.run(kept.save(run, 1))
    assert (kept.is_due, kept.saved) == (False, 0)


def test_what_is_no_model_of_the_strategy_is_damaged_too(store: Store) -> None:
    asyncio.run(store.write(lambda c: visit_log.save_model(
        c, TOPIC, b"another's", pages=1, upto=1, now=NOW
    )))  # fmt: skip
    with pytest.raises(ModelError):
        AnchorYield().load(versions(store)[0].unpack())
    assert loaded(store)[1].damaged == 1
