"""Columns of all articles: what they count is what is counted article by article, always."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, insert, select

from benchmarks.consoles.collection import TOPIC, fill
from qiaocrawl.items import Relevance, Verdict, VerdictKind
from qiaocrawl.reading import article_columns
from qiaocrawl.reading.article_columns import ArticleColumns
from qiaocrawl.reading.facets import Count, FacetCounter, Facets
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import article_changes, articles
from qiaocrawl.storage.pages.article_changes import purge_changes
from qiaocrawl.storage.pages.reprocessing import drop_article
from qiaocrawl.storage.schema import article, article_change
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.sites.media import say_medium
from qiaocrawl.storage.titles.verdicts import save_verdict
from qiaocrawl.storage.topics import judgements
from storage_samples import PACK, analysed, candidate, enqueue, scalar, url_key
from title_samples import made, runtime_on

NOW = datetime(2026, 11, 20, 4, tzinfo=UTC)
DAY = timedelta(days=1)
CHOICES = (
    Selection(), Selection(only_relevant=True), Selection(TOPIC, only_irrelevant=True),
    Selection(TOPIC, regions=("中国", "广东"), only_relevant=True), Selection(TOPIC),
    Selection(tiers=(1, 2), sites=("example.cn",)), Selection(media=("central", "unknown")),
    Selection(marks=("judged",)), Selection(marks=("reprint",)), Selection(marks=("unjudged",)),
    Selection(TOPIC, marks=("starred",)), Selection(tags=("上报",)),
    Selection(since=NOW - 200 * DAY, before=NOW - 20 * DAY),
    Selection(fetched_since=NOW - 100 * DAY, fetched_before=NOW - 5 * DAY, regions=("福建",)),
    Selection(article_ids=(1, 2, 3, 50, 51, 999_999), only_relevant=True),
)  # fmt: skip


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are kept of few articles too."""
    monkeypatch.setattr(article_columns, "LEAST_KEPT", 1)


def shown(facets: Facets) -> dict[str, dict[str, Count]]:
    """What a page shows: values with rows."""
    found = {facet: {value: count for value, count in counts.items() if count.rows}
             for facet, counts in facets.counts.items()}  # fmt: skip
    return {facet: counts for facet, counts in found.items() if counts}


def compare(c: Connection, columns: ArticleColumns, selection: Selection, *, folded: bool) -> int:
    """How many values both ways of counting have, and that they are the same."""
    kept_counts = FacetCounter(c, selection, folded, columns=columns).facets()
    counted = FacetCounter(c, selection, folded, seconds=1e9).facets()
    assert shown(kept_counts) == shown(counted), (selection, folded)
    assert kept_counts.outlets.keys() == counted.outlets.keys()
    return sum(map(len, shown(counted).values()))


def test_counts_in_columns_are_those_of_looking_at_each_article(database: Database) -> None:
    fill(database, 400, NOW, lambda _count: None)
    with database.engine.begin() as c:
        say_medium(c, ["example.cn"], "blog", by="editor", now=0.0)
    columns, seen = ArticleColumns(), 0
    with database.reading() as c:
        assert columns.read(c)
        for selection in CHOICES:
            for folded in (True, False):
                seen += compare(c, columns, selection, folded=folded)
        assert columns.is_true(c)
        # What they do not know is looked at.
        words = Selection(TOPIC, words=("侨务",))
        with columns.of_now(c) as counting:
            assert counting is not None
            assert counting.mask(words) is None
    assert seen > 300


class Office:
    """Stores, judges, regroups and drops articles at random."""

    def __init__(self, runtime: Runtime, seed: int) -> None:
        self.runtime, self.rng, self.count = runtime, random.Random(seed), 0

    def act(self, c: Connection) -> None:
        ids = list(c.execute(select(article.c.id)).scalars())
        acts = [self.store, self.store]
        if len(ids) > 3:
            acts += [self.store_anew, self.judge, self.rejudge, self.drop, self.join, self.leave]
        self.rng.choice(acts)(c, ids)

    def store(self, c: Connection, _ids: list[int]) -> None:
        self.count += 1
        host = self.rng.choice(("a.cn", "www.a.cn", "b.cn", "news.b.cn"))
        one = candidate(f"p-{self.count}", host=host)
        enqueue(c, [one])
        self._save(c, scalar(c, "SELECT id FROM url WHERE `key` = :key", key=one.key), one.url)

    def _save(self, c: Connection, url_id: int, address: str) -> None:
        title = self.rng.choice(("侨胞返乡创业座谈会举行", "华文学校迎来百年校庆", "某地举办灯会"))
        body = f"{title}，{self.rng.choice('甲乙丙')}地消息。" * 8
        analysis = analysed(
            address, title, body,
            published_at=self.rng.choice((None, NOW - self.rng.randint(0, 9) * DAY)),
        )  # fmt: skip
        judged = (Relevance(PACK.name, 0.5, self.rng.random() < 0.5, "vsm", ()),)
        self.runtime.articles.save(c, url_id, replace(analysis, relevance=judged), anchor="")

    def store_anew(self, c: Connection, ids: list[int]) -> None:
        url_id, address = articles.page_of(c, self.rng.choice(ids))
        self._save(c, url_id, address)

    def judge(self, c: Connection, ids: list[int]) -> None:
        _url_id, address = articles.page_of(c, self.rng.choice(ids))
        relevant = self.rng.random() < 0.5
        judgements.save_judgement(c, PACK.name, address, relevant=relevant, note="", now=0.0)

    def rejudge(self, c: Connection, ids: list[int]) -> None:
        own = Relevance(PACK.name, 0.4, self.rng.random() < 0.5, "vsm", ())
        articles.save_relevance(c, self.rng.choice(ids), {PACK.name: 1}, [own])

    def drop(self, c: Connection, ids: list[int]) -> None:
        drop_article(c, articles.page_of(c, self.rng.choice(ids))[0])

    def join(self, c: Connection, ids: list[int]) -> None:
        one, other = self.rng.sample(ids, 2)
        key = url_key(articles.page_of(c, other)[1])
        save_verdict(c, one, Verdict(VerdictKind.REPRINT, key, 0.9, "same"), method="test")

    def leave(self, c: Connection, ids: list[int]) -> None:
        verdict = Verdict(VerdictKind.DISTINCT, why="alone")
        save_verdict(c, self.rng.choice(ids), verdict, method="test")


@pytest.mark.parametrize("seed", range(3))
def test_columns_follow_whatever_changes_articles(database_url: str, seed: int) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        office, columns = Office(runtime, seed), ArticleColumns()
        runtime.write_now(
            lambda c: office.store(c, []),
        )
        assert runtime.reader.run(columns.read)
        for _round in range(12):
            for _act in range(5):
                runtime.write_now(office.act)
            for selection in (
                Selection(),
                Selection(PACK.name, only_relevant=True),
                Selection(only_irrelevant=True),
                Selection(since=NOW - 4 * DAY),
            ):
                for folded in (True, False):
                    runtime.reader.run(
                        lambda c, own=selection, folded=folded: compare(  # type: ignore[misc]
                            c, columns, own, folded=folded
                        )
                    )
            assert runtime.reader.run(columns.is_true)


def test_what_left_no_trace_is_found_and_read_anew(database: Database) -> None:
    fill(database, 50, NOW, lambda _count: None)
    columns = ArticleColumns()
    with database.reading() as c:
        assert columns.read(c)
        assert columns.is_true(c)
    with database.engine.begin() as c:
        c.exec_driver_sql("UPDATE relevance SET relevant = 1 - relevant WHERE article_id = 1")
    with database.reading() as c:
        assert not columns.is_true(c)
        columns.forget()
        assert not columns.is_ready
        assert columns.read(c)
        assert columns.is_true(c)


def test_the_log_is_bounded_and_who_is_far_behind_begins_anew(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database, 20, NOW, lambda _count: None)
    monkeypatch.setattr(article_changes, "KEPT_ROWS", 10)
    columns = ArticleColumns()
    with database.engine.begin() as c:
        columns.read(c)
        assert columns.is_true(c)
        c.execute(insert(article_change), [{"article_id": 1}] * 40)
        assert purge_changes(c) > 0
        assert purge_changes(c) == 0
        assert not columns.is_true(c)
        assert not columns.is_ready


def test_a_change_that_was_committed_behind_a_later_one_is_not_missed(database: Database) -> None:
    """As of two transactions on MariaDB: the one that got its number first ends last."""
    fill(database, 20, NOW, lambda _count: None)
    columns = ArticleColumns()
    with database.engine.begin() as c:
        c.execute(insert(article_change).values(seq=10, article_id=1))
        columns.read(c)
        assert columns.is_true(c)
        c.execute(insert(article_change).values(seq=12, article_id=2))
        assert columns.is_true(c)
        c.exec_driver_sql("UPDATE relevance SET relevant = 1 - relevant WHERE article_id = 5")
        c.execute(insert(article_change).values(seq=11, article_id=5))
        assert columns.is_true(c)


def test_of_a_small_collection_none_are_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(article_columns, "LEAST_KEPT", 10)
    fill(database, 9, NOW, lambda _count: None)
    columns = ArticleColumns()
    with database.reading() as c:
        assert not columns.read(c)
        compare(c, columns, Selection(), folded=True)
