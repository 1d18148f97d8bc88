"""Seeds from searches: offered, picked, and crawled across hosts (T2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text
from typer import Typer
from typer.testing import CliRunner

from crawling import Answer, article, crawl, import_pack, local_server, pack, rows
from qiaocrawl.cli.topic_judge import picked_numbers
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Queue
from qiaocrawl.runs.run_summary import read_seeds
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.search.ledger import Answered
from qiaocrawl.storage.search.seed_offers import seed_offers
from storage_samples import NOW, PACK, add_topic, candidate, enqueue, url_key

_REDIRECT = text("UPDATE url SET redirect_key = :to WHERE `key` = :link")


def _app() -> Typer:
    from qiaocrawl.cli.topic import app

    return app


def found(database: Database, term: str, *paths: str, engine: str = "sogou") -> None:
    """An answer that lists *paths*, best first."""
    entries = [
        candidate(path, queue=Queue.PAGES, score=1 / (1 + place), anchor=f"题{path}")
        for place, path in enumerate(paths)
    ]
    with database.engine.begin() as c:
        enqueue(c, entries)
        keys = tuple(entry.key for entry in entries)
        answer = Answered(AnswerState.HIT, len(paths), hit_keys=keys)
        ledger.record_answer(c, Query(PACK.name, term, "", engine), answer, NOW)


def test_the_pages_of_most_answers_come_first_then_those_of_the_best_place(
    database: Database,
) -> None:
    add_topic(database)
    found(database, "侨", "a", "b", "c")
    found(database, "侨", "c", engine="baidu")
    found(database, "侨胞", "d")
    with database.engine.connect() as c:
        offers = seed_offers(c, PACK.name, 50)
        # c in two answers; a and d first places of one, a was found earlier; b second.
        expected = ["http://a.example/c", "http://a.example/a", "http://a.example/d",
                    "http://a.example/b"]  # fmt: skip
        assert [offer.url for offer in offers] == expected
        assert (offers[0].title, offers[0].answers) == ("题c", 2)
        assert [offer.url for offer in seed_offers(c, PACK.name, 2)] == expected[:2]
        c.execute(
            _REDIRECT, {"to": url_key("http://a.example/b"), "link": url_key("http://a.example/d")}
        )
        # d leads to b, which two answers list now.
        assert [offer.url for offer in seed_offers(c, PACK.name, 3)] == [
            "http://a.example/c", "http://a.example/b", "http://a.example/a"
        ]  # fmt: skip


def test_numbers_are_picked_as_written() -> None:
    assert picked_numbers("1, 3-5,4", 5) == {1, 3, 4, 5}
    assert picked_numbers("all", 3) == {1, 2, 3}
    assert picked_numbers("", 3) == set()
    for wrong in ("0", "6", "5-3", "x", "1-"):
        with pytest.raises(ConfigError, match="from 1 to 5"):
            picked_numbers(wrong, 5)


def test_a_file_of_seeds_is_read_as_the_operator_left_it(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text("\ufeff# 说明\n\nhttp://a.test/x#top  # 题目\n  # http://b.test/\n", "utf-8")
    assert read_seeds(str(file)) == ["http://a.test/x#top"]
    file.write_text("# nothing\n", "utf-8")
    with pytest.raises(ConfigError, match="no line is picked"):
        read_seeds(str(file))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_seeds(str(tmp_path / "none"))


def test_picked_seeds_are_crawled_across_hosts(tmp_path: Path) -> None:
    pages = {
        ("one.test", "/list"): article("侨胞", links=("/a", "http://two.test/b")),
        ("one.test", "/a"): article("侨胞回乡"),
        ("two.test", "/b"): article("华侨农场", links=("http://three.test/c",)),
        ("three.test", "/c"): article("归侨口述"),
    }

    def answer(host: str, path: str) -> Answer | None:
        return Answer(pages[host, path]) if (host, path) in pages else None

    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("www.qiao.test"))
    with Database.open(url) as database, database.engine.begin() as c:
        own = [candidate("list", host="one.test", topic="qiaoqing", queue=Queue.PAGES, score=1.0),
               candidate("x", host="four.test", topic="qiaoqing", queue=Queue.PAGES)]  # fmt: skip
        enqueue(c, own)
        keys = tuple(entry.key for entry in own)
        ledger.record_answer(
            c, Query("qiaoqing", "侨", "", "sogou"),
            Answered(AnswerState.HIT, 2, hit_keys=keys), NOW,
        )  # fmt: skip
    file = tmp_path / "seeds.txt"
    done = CliRunner().invoke(_app(), ["seeds", "qiaoqing", "--pick", "1", "--out", str(file),
                                       "--database", url])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert f"-a seeds={file} -a across=on" in done.output.replace("\n", "")
    assert read_seeds(str(file)) == ["http://one.test/list"]
    again = CliRunner().invoke(_app(), ["seeds", "qiaoqing", "--json", "--database", url])
    assert [offer["url"] for offer in json.loads(again.output)] == [
        "http://one.test/list", "http://four.test/x"
    ]  # fmt: skip
    with local_server(answer) as server:
        crawl("site", url, "topic=qiaoqing", f"seeds={file}", "across=on", folder=tmp_path,
              QIAO_DEMO=server.origin)  # fmt: skip
    fetched = rows(url, "SELECT url FROM url WHERE outcome IN ('article', 'list') ORDER BY url")
    assert [str(address) for (address,) in fetched] == [
        "http://one.test/a", "http://one.test/list", "http://three.test/c", "http://two.test/b"
    ]  # fmt: skip


def test_sites_of_a_file_are_offered_but_for_those_of_the_topic(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    add_topic(database)
    known = PACK.sites[0].host
    lines = "".join(
        f'<a href="http://{host}/">{host}</a>' for host in ("new.test", known, "other.test")
    )
    page, out = tmp_path / "hao.html", tmp_path / "seeds.txt"
    page.write_text(f"{lines}<a href='http://other.test/a'>a</a>", "utf-8")
    asked = ["seeds", PACK.name, "--from", str(page), "--pick", "1", "--out", str(out), "--json"]
    done = CliRunner().invoke(_app(), [*asked, "--database", database_url])
    assert done.exit_code == 0, done.output
    assert [one["url"] for one in json.loads(done.stdout)] == [
        "http://other.test/", "http://new.test/",
    ]  # fmt: skip
    assert read_seeds(str(out)) == ["http://other.test/"]
