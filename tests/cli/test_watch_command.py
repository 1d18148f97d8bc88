"""``qiaocrawl watch list`` and ``watch history`` on rows as a round leaves them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

from command_runs import Run
from crawling import import_pack, pack
from qiaocrawl.items import Candidate, FetchedPage, Outcome, PageAnalysis, Queue
from qiaocrawl.items.article import Article
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier.scope import Scope
from qiaocrawl.storage.pages import articles, revisions
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.sites import watch_counts, watched
from qiaocrawl.topic.feeds import read_feeds
from qiaocrawl.urls import url_key

HOST = "www.qiao.test"
URL = f"http://{HOST}/a.html"


def analysis(text: str) -> PageAnalysis:
    return PageAnalysis(Outcome.ARTICLE, None, (), "utf-8", body_digest=text.encode()[:16])


def fill(database_url: str) -> None:
    now = time.time()
    import_pack(database_url, pack(HOST))
    with Database.open(database_url) as database, database.engine.begin() as c:
        found = [Candidate(url, url_key(url), HOST, Queue.WATCH, "qiaoqing")
                 for url in (f"http://{HOST}/qw/", URL)]  # fmt: skip
        frontier.enqueue(c, found, run_id=None, now=now)
        watched.enter_page(c, "qiaoqing", found[0].key, kind="channel", name="侨务要闻",
                           weight=3.0, now=now)  # fmt: skip
        watch_counts.count_request(c, "qiaoqing", HOST, "looks", now)
        for number, text in enumerate(("旧文。", "新文。")):
            (lease,) = frontier.lease_keys(
                c, Scope(Queue.WATCH, "qiaoqing"), {found[1].key: 1.0}, token=1,
                lease_seconds=60.0, now=now,
            ).leases  # fmt: skip
            seen = datetime.fromtimestamp(now + number, UTC)
            store_page(c, lease, FetchedPage(URL, URL, 200, (), text.encode(), seen), now=now)
            articles.save_article(
                c, lease.url_id, Article(URL, f"侨讯{number}", text), analysis(text),
                anchor="", now=now + number,
            )  # fmt: skip
            frontier.complete(c, lease, outcome=Outcome.ARTICLE, reason="", http_status=200,
                              redirect_key=None, now=now)  # fmt: skip
            frontier.enqueue(c, [Candidate(URL, found[1].key, HOST, Queue.WATCH, "qiaoqing",
                                         refetch=True)], run_id=None, now=now)  # fmt: skip
        assert revisions.note_deleted(c, lease.url_id, "HTTP 404", now=now + 2)
        assert not revisions.note_deleted(c, lease.url_id, "HTTP 404", now=now + 3), "once"


def test_what_is_watched_and_what_an_article_said(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    fill(url)
    code, out, _ = run("watch", "list", "qiaoqing", "--database", url)
    assert code == 0
    assert "侨务要闻" in out
    assert "channel" in out
    assert "1 of 20000 requests today" in out
    code, out, _ = run("watch", "list", "--json", "--database", url)
    (told,) = json.loads(out)
    assert told["requests_today"] == {"pages": 0, "new_articles": 0, "articles_again": 1}
    assert told["pages"][0]["name"] == "侨务要闻"

    code, out, _ = run("watch", "history", URL, "--diff", "--database", url)
    assert code == 0
    assert "revised" in out
    assert "was: 侨讯0" in out
    assert "deleted" in out
    assert "-侨讯0\n-旧文。\n+侨讯1\n+新文。" in out
    code, out, _ = run("watch", "history", URL, "--json", "--database", url)
    told = json.loads(out)
    assert told["now"]["text"] == "新文。"
    assert [one["kind"] for one in told["revisions"]] == ["revised", "deleted"]
    assert len(told["pages"]) == 2

    code, _, _ = run("watch", "weight", f"http://{HOST}/qw/", "7.5", "--database", url)
    assert code == 0
    _, out, _ = run("watch", "list", "--json", "--database", url)
    assert json.loads(out)[0]["pages"][0]["weight"] == 7.5
    for arguments, why in (((f"http://{HOST}/qw/", "0"), "above 0"), ((URL, "3"), "not watched")):
        code, _, said = run("watch", "weight", *arguments, "--database", url)
        assert code == 1
        assert why in said

    code, _, said = run("watch", "history", "http://nowhere.test/", "--database", url)
    assert code == 1
    assert "was never seen" in said
    code, _, said = run("watch", "list", "nothing", "--database", url)
    assert code == 1
    assert "'nothing' is not in the database" in said


def test_feeds_of_a_topic_are_added_imported_exported_and_taken_away(
    run: Run, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    database = ("--database", url)
    listed = tmp_path / "feeds.csv"
    listed.write_text("url,name\nhttp://b.test/f,侨报\n", "utf-8")
    wanted = ("--add", "http://a.test/f", "--import", str(listed))
    _, said, _ = run("watch", "feeds", "qiaoqing", *wanted, *database)
    assert "2 feeds added" in said
    _, shown, _ = run("watch", "feeds", "qiaoqing", *database)
    assert "侨报" in shown
    assert "not visited yet" in shown
    opml = tmp_path / "out.opml"
    run("watch", "feeds", "qiaoqing", "--export", str(opml), *database)
    assert [feed.url for feed in read_feeds(opml)] == ["http://a.test/f", "http://b.test/f"]
    run("watch", "feeds", "qiaoqing", "--remove", "http://a.test/f", *database)
    _, written, _ = run("watch", "feeds", "qiaoqing", "--json", *database)
    assert [one["url"] for one in json.loads(written)] == ["http://b.test/f"]
    code, _, refused = run("watch", "feeds", "qiaoqing", "--remove", "http://a.test/f", *database)
    assert (code, "none of the feeds" in refused) == (1, True)
