"""Articles, relevance, title terms and verdicts."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from fresh_schema import make_tables
from qiaocrawl.errors import StorageError
from qiaocrawl.items import Relevance, Verdict, VerdictKind
from qiaocrawl.storage import Database
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.titles import title_log
from storage_samples import (
    NOW,
    PACK,
    add_article,
    add_topic,
    analysed,
    candidate,
    close,
    counts,
    enqueue,
    fetched,
    scalar,
    take,
    url_key,
)

_BLNS = Path(__file__).parents[4] / "shared" / "data" / "external" / "blns" / "blns.json"

_HOSTILE = [
    "'; DROP TABLE article; --", '" OR 1=1 --', "%s %(name)s %%", ":url_id {list} ?", "\\' \\",
    "侨𠮷😀👨‍👩‍👧", "\ue5e5\U0010fffd", "\0\x01\x1f\x7f", "\ud800lone\udfff", "‮RTL", "a\u2028b",
    "=1+1", " lead and trail ", "",
]  # fmt: skip


def test_all_that_a_page_brings_is_the_same_after_three_replays(database: Database) -> None:
    """F-D5: the crawl's own transaction, played three times."""
    ids = {PACK.name: add_topic(database)}
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        analysis = analysed(lease.url, published_at=datetime(2026, 1, 2, 3, tzinfo=UTC))
        assert analysis.article is not None
        seen = []
        for play in range(3):
            when = NOW + play
            store_page(c, lease, fetched(lease), now=when)
            assert close(c, lease, now=when) or play
            article_id = articles.save_article(
                c, lease.url_id, analysis.article, analysis, anchor="锚", now=when
            ).id
            articles.save_relevance(c, article_id, ids, analysis.relevance)
            articles.save_title_terms(c, article_id, analysis.title_tokens)
            articles.save_verdict(c, article_id, Verdict(VerdictKind.DISTINCT), method="vsm")
            enqueue(c, [candidate("2"), candidate("3")])
            articles.rebuild_term_weights(c)
            # The log of changes has a row for each; it is no state of anything.
            seen.append((article_id, counts(c) | {"article_change": 0}))
        assert seen[0] == seen[1] == seen[2]
        assert scalar(c, "SELECT COUNT(DISTINCT discovered_at) FROM url") == 1
        row = c.execute(text("SELECT site, page_source_id, charset FROM article")).one()
        assert tuple(row) == ("a.example", 1, "gb18030")


@pytest.mark.parametrize("value", _HOSTILE)
def test_any_text_is_stored_as_text(database: Database, value: str) -> None:
    add_topic(database)
    stored = value.replace("\0", "\ufffd").replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")
    with database.engine.begin() as c:
        add_article(
            c,
            "1",
            title=value,
            body=value * 3,
            author=value,
            source=value,
            keywords=value,
            description=value,
            channel=value,
            language=value,
            method=value,
        )
        row = c.execute(text("SELECT title, text, author, keywords FROM article")).one()
        assert (row[0], unpack_text(row[1]), *row[2:]) == (
            stored,
            stored * 3,
            stored.strip(),
            stored,
        )
        (found,) = title_log.entries_since(c, 0, 10)
        assert found.record.title == stored
        assert found.record.key == url_key("http://a.example/1")
        assert counts(c)["article"] == 1


@pytest.mark.skipif(not _BLNS.exists(), reason="the shared list of naughty strings is absent")
def test_naughty_strings_change_no_row_but_their_own(database: Database) -> None:
    strings = json.loads(_BLNS.read_text("utf-8"))
    add_topic(database)
    with database.engine.begin() as c:
        for n, value in enumerate(strings):
            add_article(c, str(n), title=value, body=value, author=value)
        stored = c.execute(text("SELECT title FROM article ORDER BY id")).scalars().all()
        assert list(stored) == [value.replace("\0", "\ufffd") for value in strings]
        assert counts(c)["article"] == len(strings)


def test_over_long_texts_are_cut_and_marked(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        add_article(
            c,
            "1",
            title="题" * 65_000,
            body="文" * (articles.MAX_TEXT_CHARS + 1),
            author="作" * 500,
            keywords="词" * 50_000,
        )
        add_article(c, "2")
        rows = c.execute(text("SELECT title, text, author, truncated FROM article ORDER BY id"))
        (title, body, author, truncated), (*_, whole) = rows.all()
    assert (len(title), len(unpack_text(body)), len(author)) == (
        2_000,
        articles.MAX_TEXT_CHARS,
        200,
    )
    assert (bool(truncated), bool(whole)) == (True, False)


def test_a_second_version_replaces_the_first(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        first = add_article(c, "1", title="旧标题", body="旧")
        assert add_article(c, "1", title="新标题很长", body="新") == first
        row = c.execute(text("SELECT title, text FROM article")).one()
        assert (row[0], unpack_text(row[1])) == ("新标题很长", "新")
        terms = c.execute(text("SELECT term FROM title_term ORDER BY term")).scalars().all()
        assert sorted(terms) == sorted("新标题很长")


def test_an_article_needs_its_url(database: Database) -> None:
    add_topic(database)
    analysis = analysed()
    assert analysis.article is not None
    with database.engine.begin() as c, pytest.raises(StorageError, match="no url row 77"):
        articles.save_article(c, 77, analysis.article, analysis, anchor="", now=NOW)


def test_relevance_is_per_topic_and_replaced(database: Database) -> None:
    ids = {PACK.name: add_topic(database)}
    with database.engine.begin() as c:
        article_id = add_article(c, "1")
        for score in (0.1, 0.9):
            judged = [Relevance(PACK.name, score, score > 0.5, "vsm", (("侨", 0.3),))]
            articles.save_relevance(c, article_id, ids, judged)
        row = c.execute(text("SELECT score, relevant, terms FROM relevance")).one()
        assert (row[0], bool(row[1]), row[2]) == (0.9, True, '[["侨",0.3]]')
        placed = Relevance(PACK.name, 0.9, True, "vsm", (("侨", 0.3),), ("title text",))
        articles.save_relevance(c, article_id, ids, [placed])
        assert scalar(c, "SELECT terms FROM relevance") == '[["侨",0.3,"title text"]]'
        with pytest.raises(StorageError, match="'other'"):
            articles.save_relevance(c, article_id, ids, [Relevance("other", 1, True, "vsm")])


def test_the_title_terms_of_a_known_article_are_replaced(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        article_id = add_article(c, "1")
        articles.save_title_terms(c, article_id, ["侨", "办"])
        articles.save_title_terms(c, article_id, ["侨", "厂"])
        stored = c.execute(text("SELECT term FROM title_term ORDER BY term")).scalars().all()
    assert sorted(stored) == ["侨", "厂"]


def test_title_terms_are_counted_and_weighted(database: Database) -> None:
    """Q6: tf · ln(N/df)."""
    add_topic(database)
    with database.engine.begin() as c:
        titles = [["侨", "侨", "办", " ", "p ", "p"], ["侨", "厂"], ["球"], []]
        for n, tokens in enumerate(titles):
            article_id = add_article(c, str(n))
            articles.save_title_terms(c, article_id, tokens)
        assert articles.rebuild_term_weights(c) == 5
        weights = {
            term: (df, weight)
            for term, df, weight in c.execute(text("SELECT term, df, weight FROM term_weight"))
        }
        assert weights == {
            "侨": (2, pytest.approx(math.log(3 / 2))),
            **{term: (1, pytest.approx(math.log(3))) for term in ("办", "p", "厂", "球")},
        }
        first = dict(
            c.execute(text("SELECT term, weight FROM title_term WHERE article_id = 1")).all()
        )
        assert first == {
            "侨": pytest.approx(2 * math.log(1.5)),
            "办": pytest.approx(math.log(3)),
            "p": pytest.approx(2 * math.log(3)),
        }


@pytest.mark.mariadb
def test_workers_that_end_together_rebuild_weights_together(mariadb_url: str) -> None:
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            for n in range(30):
                article_id = add_article(c, str(n))
                articles.save_title_terms(c, article_id, [f"词{n}{k}" for k in range(10)])

        together = Barrier(4, timeout=60)

        def rebuild(_: int) -> None:
            together.wait()
            try:
                with database.engine.begin() as c:
                    articles.rebuild_term_weights(c)
            except OperationalError as error:
                # A deadlock passes by itself: the writer of a crawl plays the operation again.
                if "1213" not in str(error):
                    raise

        for _ in range(8):
            # Nothing is there that could be locked: all of them find nothing to clear.
            with database.engine.begin() as c:
                c.execute(text("DELETE FROM term_weight"))
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(rebuild, range(4)))
            with database.engine.connect() as c:
                assert scalar(c, "SELECT COUNT(*) FROM term_weight WHERE weight > 0") == 300


def test_weights_of_an_empty_collection(database: Database) -> None:
    with database.engine.begin() as c:
        assert articles.rebuild_term_weights(c) == 0


def _day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


@pytest.mark.parametrize("order", ["abc", "cab", "bca", "cba"])
def test_the_earliest_copy_represents_the_group_whatever_came_first(
    database: Database, order: str
) -> None:
    days = {"a": _day(2), "b": _day(1), "c": None}
    add_topic(database)
    with database.engine.begin() as c:
        ids: dict[str, int] = {}
        before = ""
        for path in order:
            ids[path] = add_article(c, path, published_at=days[path])
            verdict = Verdict(VerdictKind.DISTINCT)
            if before:
                of = url_key(f"http://a.example/{before}")
                verdict = Verdict(VerdictKind.REPRINT, of, 0.9, "同题")
            articles.save_verdict(c, ids[path], verdict, method="vsm")
            before = path
        groups = set(c.execute(text("SELECT group_id FROM verdict")).scalars())
    assert groups == {ids["b"]}


def test_authority_decides_between_undated_copies(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        low = add_article(c, "1", host="www.b-news.cn")
        high = add_article(c, "9", host="www.a-qiao.cn")
        articles.save_verdict(c, low, Verdict(VerdictKind.DISTINCT), method="vsm")
        same = Verdict(VerdictKind.REPRINT, url_key("http://www.b-news.cn/1"), 0.8)
        articles.save_verdict(c, high, same, method="vsm")
        assert set(c.execute(text("SELECT group_id FROM verdict")).scalars()) == {high}
        (of,) = c.execute(text("SELECT of_article_id FROM verdict WHERE kind = 'reprint'")).one()
        assert of == low


@pytest.mark.parametrize("kind", [VerdictKind.DISTINCT, VerdictKind.SERIES])
def test_series_and_distinct_titles_stand_alone(database: Database, kind: VerdictKind) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        one, two = add_article(c, "1"), add_article(c, "2")
        articles.save_verdict(c, one, Verdict(VerdictKind.DISTINCT), method="vsm")
        verdict = Verdict(kind, url_key("http://a.example/1"), 0.6)
        articles.save_verdict(c, two, verdict, method="vsm")
        assert set(c.execute(text("SELECT group_id FROM verdict")).scalars()) == {one, two}


def test_a_copy_of_something_unknown_stands_alone(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        one = add_article(c, "1")
        articles.save_verdict(c, one, Verdict(VerdictKind.REPRINT, b"x" * 16, 0.9), method="vsm")
        row = c.execute(text("SELECT of_article_id, group_id FROM verdict")).one()
        assert tuple(row) == (None, one)
