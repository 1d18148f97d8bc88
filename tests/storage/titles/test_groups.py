"""Reprint groups: who represents them, how they merge, and members taken out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Verdict, VerdictKind
from qiaocrawl.reading import summary
from qiaocrawl.runs.regrouping import regroup_all
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.pages.reprocessing import drop_article
from qiaocrawl.storage.titles import groups as reprint_groups
from qiaocrawl.storage.titles import title_log, verdicts
from storage_samples import add_article, add_topic, put_article, url_key
from title_samples import groups, judge, made, runtime_on

TITLE = "侨乡华文教育博物馆今日开幕"


def _url(path: str) -> str:
    return f"http://a.example/{path}"


def _day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def _take(runtime: Runtime, path: str, *, out: bool) -> None:
    """Take the article at *path* out, or put it back."""
    (entry,) = runtime.reader.run(lambda c: title_log.entries_of_keys(c, [url_key(_url(path))]))
    act = runtime.articles.titles.take_out if out else runtime.articles.titles.put_back
    runtime.write_now(lambda c: act(c, entry))


def _of(runtime: Runtime, path: str) -> Verdict | None:
    return runtime.reader.run(
        lambda c: verdicts.stored_verdict(c, reprint_groups.article_at(c, _url(path)))
    )


def test_a_copy_of_two_stories_makes_them_one(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        ids = [add_article(c, str(n), published_at=_day(9 - n)) for n in range(5)]
        for n in range(4):
            of = url_key(_url("0")) if n == 1 else url_key(_url("2")) if n == 3 else None
            kind = VerdictKind.REPRINT if of else VerdictKind.DISTINCT
            articles.save_verdict(c, ids[n], Verdict(kind, of, 0.9), method="vsm")
        both = Verdict(VerdictKind.REVISION, url_key(_url("1")), 0.9, "", (url_key(_url("2")),))
        articles.save_verdict(c, ids[4], both, method="vsm", snapshot=3)
        rows = c.execute(text("SELECT group_id, snapshot FROM verdict ORDER BY article_id")).all()
    assert [tuple(row) for row in rows] == [(ids[4], 0)] * 4 + [(ids[4], 3)]


def test_the_longer_text_then_the_url_decides(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        ids = [
            add_article(c, path, body=body)
            for path, body in (("b", "短。"), ("c", "长一点。"), ("a", "短。"))
        ]
        assert verdicts.best_of(c, ids) == ids[1]
        assert verdicts.best_of(c, [ids[0], ids[2]]) == ids[2]


def test_a_huge_group_finds_its_best(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        ids = [add_article(c, str(n), published_at=_day(1 + n % 20)) for n in range(300)]
        assert verdicts.best_of(c, ids) == ids[0]


def test_without_its_representative_a_group_has_another(runtime: Runtime) -> None:
    for path in "1234":
        day = _day(int(path))
        runtime.write_now(
            lambda c, path=path, day=day: judge(runtime, c, path, title=TITLE, published_at=day)
        )
    assert groups(runtime) == {_url("1"): {_url(path) for path in "1234"}}
    runtime.write_now(lambda c: drop_article(c, put_article(c, "1", title=TITLE).id))
    assert groups(runtime) == {_url("2"): {_url(path) for path in "234"}}
    kinds = {path: _of(runtime, path) for path in "234"}
    assert [(one.is_same_story, one.of is None) for one in kinds.values() if one] == [
        (False, True),
        (True, False),
        (True, False),
    ]


def test_a_member_that_says_something_else_leaves(runtime: Runtime) -> None:
    for path in "123":
        runtime.write_now(lambda c, path=path: judge(runtime, c, path, title=TITLE))
    runtime.write_now(lambda c: judge(runtime, c, "1", title="东南亚船队满载茶叶到港"))
    assert set(groups(runtime).values()) == {
        frozenset({_url("1")}),
        frozenset({_url("2"), _url("3")}),
    }
    # The first of a group is read again with another body: it stays the first.
    runtime.write_now(lambda c: judge(runtime, c, "2", title=TITLE, body="另一个正文。"))
    second, third = _of(runtime, "2"), _of(runtime, "3")
    assert second is not None
    assert third is not None
    assert (second.kind, third.of) == (VerdictKind.DISTINCT, url_key(_url("2")))


def test_who_is_taken_out_stays_out(runtime: Runtime, database_url: str) -> None:
    for path in "123":
        runtime.write_now(lambda c, path=path: judge(runtime, c, path, title=TITLE))
    runtime.reader.run(runtime.articles.titles.load)
    _take(runtime, "1", out=True)
    apart = {frozenset({_url("1")}), frozenset({_url("2"), _url("3")})}
    assert set(groups(runtime).values()) == apart
    runtime.write_now(lambda c: judge(runtime, c, "1", title=TITLE, body="又读了一遍。"))
    regroup_all(runtime, lambda done: True)
    assert set(groups(runtime).values()) == apart
    with runtime_on(database_url) as later:
        later.write_now(lambda c: judge(later, c, "1", title=TITLE + "！"))
        found = later.write_now(lambda c: judge(later, c, "4", title=TITLE))
        assert found.of in (url_key(_url("2")), url_key(_url("3")))
        assert frozenset({_url("1")}) in groups(later).values()
        _take(later, "1", out=False)
        assert set(groups(later).values()) == {frozenset(_url(path) for path in "1234")}
        assert regroup_all(later, lambda done: True).moved == 0


def test_the_chain_of_a_group(runtime: Runtime) -> None:
    for path, day in (("1", 5), ("2", None), ("3", 4)):
        when = _day(day) if day else None
        runtime.write_now(
            lambda c, path=path, when=when: judge(
                runtime,
                c,
                path,
                title=TITLE,
                published_at=when,
                source="侨报",
                host="www.a-qiao.cn",
            )
        )
    at = runtime.reader.run(lambda c: reprint_groups.article_at(c, "http://www.a-qiao.cn/2#top"))
    chain = runtime.reader.run(lambda c: reprint_groups.chain(c, at))
    assert [one.url[-1] for one in chain] == ["3", "1", "2"]
    assert [one.represents for one in chain] == [True, False, False]
    assert {(one.site_name, one.source) for one in chain} == {("甲侨网", "侨报")}
    (group,) = runtime.reader.run(lambda c: reprint_groups.largest_groups(c, "", least=2, limit=5))
    assert (group.articles, group.sites, group.first, group.last) == (3, 1, _day(4), _day(5))
    assert (
        runtime.reader.run(lambda c: reprint_groups.largest_groups(c, "qiaoqing", least=2, limit=5))
        == []
    )


def test_a_report_names_the_other_sites_first_come_first(runtime: Runtime) -> None:
    for path, host in (("1", "a.test"), ("2", "b.test"), ("3", "c.test"), ("4", "b.test")):
        runtime.write_now(
            lambda c, path=path, host=host: judge(
                runtime, c, path, title=TITLE, published_at=_day(int(path)), host=host
            )
        )
    runtime.write_now(lambda c: c.execute(text(
        "INSERT INTO relevance (article_id, topic_id, score, relevant, method, terms)"
        " SELECT article.id, topic.id, 1, 1, 'm', '[]' FROM article, topic"
    )).rowcount)  # fmt: skip
    total, (group,) = runtime.reader.run(lambda c: summary.reprint_groups(c, "qiaoqing", 5))
    assert total == 1
    assert group.host == "a.test"
    assert group.members == ((TITLE, "b.test"), (TITLE, "c.test"))


def test_what_is_no_article_is_told(runtime: Runtime) -> None:
    runtime.write_now(lambda c: put_article(c, "7", title=TITLE))
    url_id = runtime.reader.run(lambda c: c.execute(text("SELECT id FROM url")).scalar_one())
    runtime.write_now(lambda c: drop_article(c, url_id))
    for url, words in (
        ("http://a.example/nope", "not in the database"), ("mailto:a@b", "no URL"),
        ("http://a.example/7", "still waiting"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=words):
            runtime.reader.run(lambda c, url=url: reprint_groups.article_at(c, url))
