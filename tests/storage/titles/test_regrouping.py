"""All groups made anew: what changes is told, twice changes nothing; weights renewed on purpose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Verdict, VerdictKind
from qiaocrawl.runs import regrouping
from qiaocrawl.runs.regrouping import Stopped, change_report, regroup_all
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.titles import idf_snapshots, title_log
from qiaocrawl.storage.titles.groups import compare
from qiaocrawl.storage.titles.verdicts import Place
from storage_samples import add_topic, put_article, url_key
from title_samples import groups, judge, made, runtime_on, samples, store

TITLE = "侨乡华文教育博物馆今日开幕"


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def _go_on(_: int) -> bool:
    return True


def test_titles_that_lack_their_prints_get_them(database: Database, database_url: str) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        ids = [put_article(c, path, title=TITLE + path, body="正文。").id for path in "ab"]
        first = Verdict(VerdictKind.DISTINCT, why="as it was")
        for row_id in ids:
            articles.save_verdict(c, row_id, first, method="vsm")
        c.execute(text(
            "INSERT INTO title_entry (`key`, article_id, title, host, published_at, source,"
            " body_digest, body_simhash, body_sketch, text_chars, taken_out)"
            " SELECT u.`key`, a.id, a.title, a.site, a.published_at, a.source, a.body_digest,"
            " NULL, :empty, 3, :no FROM article a JOIN url u ON u.id = a.url_id ORDER BY a.id"
        ), {"empty": b"", "no": False})  # fmt: skip
    with database.engine.connect() as c:
        entries = title_log.entries_since(c, 0, 9)
        assert [(one.article_id, one.record.key, one.record.title) for one in entries] == [
            (ids[n], url_key(f"http://a.example/{path}"), TITLE + path)
            for n, path in enumerate("ab")
        ]
        assert [(one.text_chars, one.record.body_simhash) for one in entries] == [(3, 0)] * 2
    with runtime_on(database_url) as runtime:
        regroup_all(runtime, _go_on)
        for one in runtime.reader.run(lambda c: title_log.entries_since(c, 0, 9)):
            prints = body_fingerprints("正文。")
            assert (one.record.body_simhash, one.record.body_sketch) == (
                prints.simhash,
                prints.sketch,
            )
        assert list(map(len, groups(runtime).values())) == [2]


def test_what_changes_is_told_once(runtime: Runtime) -> None:
    chosen = samples(60, 13)
    store(runtime, chosen)
    before = groups(runtime)
    regroup_all(runtime, _go_on)
    assert groups(runtime) == before, "the groups of a crawl are those of the whole"
    assert regroup_all(runtime, _go_on).articles == []
    # Wrong groups: one torn apart, two others made one.
    heads = sorted(before, key=lambda head: -len(before[head]))
    ids = {
        url: row_id
        for row_id, url in runtime.reader.run(
            lambda c: c.execute(
                text("SELECT a.id, u.url FROM article a JOIN url u ON u.id = a.url_id")
            ).all()
        )
    }
    torn = sorted(before[heads[0]] - {heads[0]})[0]

    def spoil(c):  # type: ignore[no-untyped-def]
        c.execute(
            text("UPDATE verdict SET group_id = article_id WHERE article_id = :id"),
            {"id": ids[torn]},
        )
        c.execute(
            text("UPDATE verdict SET group_id = :to WHERE group_id = :id"),
            {"to": ids[heads[1]], "id": ids[heads[2]]},
        )

    runtime.write_now(spoil)
    changes = regroup_all(runtime, _go_on)
    assert groups(runtime) == before
    assert (changes.merged, changes.split) == (1, 1)
    assert changes.moved == 1 + len(before[heads[2]])
    assert changes.kinds.total() == 60
    lines = runtime.reader.run(lambda c: change_report(c, changes.articles))
    assert {torn, *before[heads[2]]} == {line["url"] for line in lines if line["moved"]}
    (line,) = (line for line in lines if line["url"] == torn)
    assert line["before"]["group_url"] == torn  # type: ignore[index]
    assert line["after"]["group_url"] == heads[0]  # type: ignore[index]


def test_nothing_is_written_when_it_is_stopped(runtime: Runtime) -> None:
    store(runtime, samples(9, 3))
    before = runtime.reader.run(lambda c: c.execute(text("SELECT * FROM verdict")).all())
    with pytest.raises(Stopped):
        regroup_all(runtime, lambda done: False)
    with pytest.raises(Stopped):
        regrouping.new_snapshot(runtime, lambda done: False)
    assert runtime.reader.run(lambda c: c.execute(text("SELECT * FROM verdict")).all()) == before


def test_titles_stored_meanwhile_are_grouped_too(runtime: Runtime) -> None:
    runtime.write_now(lambda c: judge(runtime, c, "1", title=TITLE))
    seen = []

    def advance(done: int) -> bool:
        if done and not seen:
            runtime.write_now(lambda c: judge(runtime, c, "2", title=TITLE))
        seen.append(done)
        return True

    assert regroup_all(runtime, advance).kinds.total() == 2
    assert list(map(len, groups(runtime).values())) == [2]


def test_moves_are_counted_against_the_best_match() -> None:
    def place(article: int, group: int) -> Place:
        return Place(article, "distinct", None, group)

    old = {1: 1, 2: 1, 3: 1, 4: 4, 5: 4, 6: 6}
    new = {1: 2, 2: 2, 3: 3, 4: 4, 5: 4, 6: 4}
    found = compare((place(n, old[n]), place(n, new[n])) for n in old)
    assert (found.moved, found.merged, found.split, found.heads) == (2, 1, 1, 0)
    assert [one.after.article_id for one in found.articles if one.has_moved] == [3, 6]
    renamed = compare((place(n, 1), place(n, 2)) for n in (1, 2))
    assert (renamed.moved, renamed.heads) == (0, 1)
    assert compare([(None, place(1, 1))]).moved == 0


def test_renewed_weights_reach_every_worker(runtime: Runtime, database_url: str) -> None:
    store(runtime, samples(60, 13))
    with runtime_on(database_url) as other:
        other.reader.run(other.articles.titles.load)
        snapshot = regrouping.new_snapshot(runtime, _go_on)
        assert (snapshot.version, snapshot.documents) == (1, 60)
        assert max(snapshot.frequencies.values()) <= 60
        trial = regrouping.try_snapshot(runtime, snapshot, _go_on)
        assert runtime.reader.run(idf_snapshots.list_snapshots)[0].is_used, "only tried"
        regrouping.put_to_use(runtime, trial, "第一次", _go_on)
        shipped, made_now = runtime.reader.run(idf_snapshots.list_snapshots)
        assert (shipped.is_used, made_now.is_used, made_now.note) == (False, True, "第一次")
        assert (made_now.verdicts, made_now.terms) == (60, len(snapshot.frequencies))
        assert regrouping.load_snapshot(runtime, 1) == snapshot
        assert regroup_all(runtime, _go_on).articles == []
        other.write_now(lambda c: judge(other, c, "x", title=TITLE))
        assert other.reader.run(idf_snapshots.list_snapshots)[1].verdicts == 61
        assert len(other.articles.titles) == 61
    back = regrouping.try_snapshot(runtime, regrouping.load_snapshot(runtime, 0), _go_on)
    regrouping.put_to_use(runtime, back, "", _go_on)
    assert [one.verdicts for one in runtime.reader.run(idf_snapshots.list_snapshots)] == [61, 0]
    with pytest.raises(ConfigError, match="no IDF snapshot 7"):
        regrouping.load_snapshot(runtime, 7)


def test_a_trial_shows_the_pairs_that_change(database_url: str) -> None:
    """Words that a collection has in every title say less there than in general."""
    made(database_url)
    ends = [*zip(*["开闭演募义讲茶书灯画棋旅座合电医", "幕幕出捐卖座会展会展赛行谈唱影疗"],
                 strict=True)]  # fmt: skip
    with runtime_on(database_url, QIAO_DEDUP_METHOD="vsm") as runtime:
        runtime.write_now(
            lambda c: [
                judge(runtime, c, str(n), title="侨乡华埠" + "".join(end))
                for n, end in enumerate(ends)
            ]
        )
        trial = regrouping.try_snapshot(runtime, regrouping.new_snapshot(runtime, _go_on), _go_on)
        lines = runtime.reader.run(lambda c: change_report(c, trial.changes.articles))
        assert trial.changes.split >= 1
        assert trial.changes.kinds == {"distinct": len(ends)}
        assert "reprint" in {line["before"]["kind"] for line in lines}  # type: ignore[index]
        assert len(groups(runtime)) < len(ends), "only tried"
        regrouping.put_to_use(runtime, trial, "", _go_on)
        assert len(groups(runtime)) == len(ends)
