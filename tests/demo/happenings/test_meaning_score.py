"""The score of an analysis of the demo: what is stored rightly scores, what is wrong does not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from sqlalchemy import BindParameter, Connection, bindparam, select, text

from benchmarks.demo_scores import Found, MeaningScore, earliest_score, score_meaning
from fresh_schema import make_tables
from qiaocrawl.cli.demo import demo_pack
from qiaocrawl.cli.demo_meaning import LEAST_OUTLETS, MONTH, check_demo_rules
from qiaocrawl.demo import happenings as office
from qiaocrawl.demo.happenings import Truth, load_happenings
from qiaocrawl.demo.model import Gold
from qiaocrawl.demo.web import build_web
from qiaocrawl.items import Relevance
from qiaocrawl.news.names.stored import read_names
from qiaocrawl.news.stories.analyse import analyse_stories
from qiaocrawl.news.trends.usual import default_calendar
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.pages.revisions import note_deleted
from qiaocrawl.storage.schema import url
from qiaocrawl.storage.sites.watched import due_articles
from qiaocrawl.storage.topics.topics import save_pack
from title_samples import judge, runtime_on

TOPIC = "qiaoqing"


@pytest.fixture(scope="module")
def golds() -> list[Gold]:
    return build_web(scale=0.1).gold()


@pytest.fixture
def runtime(database_url: str, golds: list[Gold]) -> Iterator[Runtime]:
    """The articles of the happenings, all of them found and read without a fault."""
    with Database.open(database_url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            save_pack(c, demo_pack(), now=time.time())
    with runtime_on(database_url) as opened:
        opened.write_now(lambda c: _put(opened, c, golds))
        yield opened


def _put(runtime: Runtime, c: Connection, golds: list[Gold]) -> None:
    (topic,) = c.execute(text("SELECT id FROM topic")).scalars()
    truth = Truth(golds)
    for happening in load_happenings():
        for gold in truth.groups[happening.group]:
            parts = urlsplit(gold.url)
            path = gold.url.removeprefix(f"http://{parts.netloc}/")
            judge(runtime, c, path, host=parts.netloc, title=gold.title, body=gold.body,
                  source=gold.source, published_at=gold.published_at)  # fmt: skip
            row = c.execute(text("SELECT id FROM article ORDER BY id DESC LIMIT 1")).scalar_one()
            judged = Relevance(TOPIC, 0.9, True, "vsm", ())
            articles.save_relevance(c, row, {TOPIC: topic}, [judged])
            # One group of reprints, as a crawl's bodies tell it.
            first = c.execute(text(
                "SELECT MIN(v.article_id) FROM verdict v JOIN article a ON a.id = v.article_id"
                " JOIN url u ON u.id = a.url_id WHERE u.url IN :urls"
            ).bindparams(_urls(truth, happening.group))).scalar_one()  # fmt: skip
            c.execute(text("UPDATE verdict SET group_id = :first WHERE article_id = :row"),
                      {"first": first, "row": row})  # fmt: skip


def _urls(truth: Truth, group: str) -> BindParameter[list[str]]:
    return bindparam("urls", [gold.url for gold in truth.groups[group]], expanding=True)


def scored(runtime: Runtime, golds: list[Gold]) -> MeaningScore:
    return runtime.reader.run(
        lambda c: score_meaning(
            c, golds, TOPIC, default_calendar(), (MONTH[0], LEAST_OUTLETS)
        )
    )  # fmt: skip


def test_what_is_read_without_a_fault_is_told_rightly(runtime: Runtime, golds: list[Gold]) -> None:
    analyse_stories(runtime, lambda count: True)
    read_names(runtime, lambda count: True)
    checked = [check_demo_rules(runtime, MONTH[1] + timedelta(hours=hour)) for hour in range(2)]
    assert checked[1].messages == 0
    score = scored(runtime, golds)
    assert score.first == Found(right=4)
    assert score.originals == Found(right=4)
    assert score.edges.total == sum(len(one.tellings) - 1 for one in load_happenings())
    assert score.edges.share >= 0.85
    assert score.places.share >= 0.9
    assert score.warnings == Found(right=4)
    assert score.corrected.right == score.deleted.right == 0
    assert (score.corrected.unknown, score.deleted.unknown) == (2, 1)
    # Chains are not seen by who takes the earliest for everybody's source.
    naive = runtime.reader.run(lambda c: earliest_score(c, golds, TOPIC))
    assert naive.edges.wrong > score.edges.wrong + score.edges.unknown


def test_a_deletion_is_found_with_those_who_did_not_follow(
    runtime: Runtime, golds: list[Gold]
) -> None:
    gone = next(address for address, kind, _ in Truth(golds).changes() if kind == "deleted")

    def delete(c: Connection) -> None:
        url_id = c.execute(select(url.c.id).where(url.c.url == gone)).scalar_one()
        note_deleted(c, url_id, "HTTP 410", now=time.time())

    runtime.write_now(delete)
    score = scored(runtime, golds)
    assert score.deleted == score.not_followed == Found(right=1)


def test_wrong_sources_lower_the_score(runtime: Runtime, golds: list[Gold]) -> None:
    runtime.write_now(lambda c: c.execute(text("UPDATE article SET source = '无此报'")))
    score = scored(runtime, golds)
    assert score.first.right == 0
    assert score.edges.share < 0.5


def test_what_changed_is_due_to_be_looked_at(runtime: Runtime, golds: list[Gold]) -> None:
    now = datetime.now(UTC)
    changed = [address for address, _kind, _ in Truth(golds).changes()]
    addresses = [*changed, "http://www.mnqw.test/nothing.html"]
    count = runtime.write_now(lambda c: office.look_again(c, TOPIC, addresses, now))
    assert count == len(changed)
    due = runtime.reader.run(lambda c: due_articles(c, TOPIC, now.timestamp() + 1, 10))
    assert sorted(one.url for one in due) == sorted(changed)
