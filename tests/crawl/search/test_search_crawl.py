"""`scrapy crawl search` over real HTTP: a SearXNG stand-in, engines that refuse, kills, budgets."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from crawling import (
    Answer,
    Crawl,
    LocalServer,
    crawl,
    import_pack,
    local_server,
    pack,
    rows,
    running_spider,
)
from qiaocrawl.topic.pack import Term
from searxng_stand_in import HOST, Found, Searxng, Trouble, html_page, hung, json_off, limited

TERMS = ("侨胞", "华侨", "归侨", "侨务", "侨乡")


def _urls(name: str, count: int) -> list[str]:
    return [f"http://{name}.test/{n}.html" for n in range(count)]


def _ask(
    server: LocalServer, url: str, tmp_path: Path, *arguments: str, code: int = 0, **options: str
) -> Crawl:
    done = crawl(
        "search", url, "topic=qiaoqing", *arguments, "-s", "QIAO_FRONTIER_RETRY_SECONDS=0.1",
        folder=tmp_path,
        **{"QIAO_DEMO": server.origin, "QIAO_ENGINES": "searxng",
           "QIAO_SEARXNG_URL": f"http://{HOST}", **options},
    )  # fmt: skip
    assert done.returncode == code, done.log
    assert code or "(finished)" in done.log, done.log
    return done


def _ledger(url: str, engine: str = "searxng") -> dict[tuple[str, int], tuple[str, int]]:
    found = rows(url, "SELECT term, page, state, hits FROM `query` WHERE engine = :e", e=engine)
    return {
        (str(term), int(str(page))): (str(state), int(str(hits)))
        for term, page, state, hits in found
    }


@pytest.mark.mariadb
def test_every_kind_of_answer_of_a_searxng_instance(mariadb_url: str, tmp_path: Path) -> None:
    import_pack(mariadb_url, pack())
    searxng = Searxng({
        "侨胞": Found(_urls("a", 24)),
        "华侨": Found(_urls("b", 10), repeats=True),
        "归侨": Found(unresponsive=[("baidu", "CAPTCHA"), ("sogou", "timeout")]),
        "侨务": Found(suggestions=["侨务工作"]),
    })  # fmt: skip
    with local_server(searxng.respond) as server:
        _ask(server, mariadb_url, tmp_path)
        assert _ledger(mariadb_url) == {
            ("侨胞", 1): ("hit", 10), ("侨胞", 2): ("hit", 10), ("侨胞", 3): ("hit", 4),
            # Nothing new on its second page: nobody turns to the third.
            ("华侨", 1): ("hit", 10), ("华侨", 2): ("hit", 10),
            ("归侨", 1): ("blocked", 0), ("侨务", 1): ("empty", 0),
            # An empty list alone is unknown, neither none nor an error.
            ("侨乡", 1): ("unknown", 0),
        }  # fmt: skip
        assert rows(mariadb_url, "SELECT engine, asked FROM engine_day") == [("searxng", 8)]
        assert sorted(searxng.asked) == sorted(_ledger(mariadb_url))
        waiting = rows(mariadb_url, "SELECT url FROM url WHERE queue = 'pages'")
        assert sorted(str(one) for (one,) in waiting) == sorted(_urls("a", 24) + _urls("b", 10))
        _ask(server, mariadb_url, tmp_path)
        assert len(searxng.asked) == 8, "all was answered or is to rest"
        # What had no answer is asked again; what had one is not.
        _ask(server, mariadb_url, tmp_path, "-s", "QIAO_SEARCH_RETRY_HOURS=0")
    assert len(searxng.asked) == 8, "the rest began when the answer came"
    # Engines nobody chose have no rows.
    assert rows(mariadb_url, "SELECT DISTINCT engine FROM `query`") == [("searxng",)]


@pytest.mark.parametrize(
    ("trouble", "state", "said"),
    [
        (json_off, "blocked", "search.formats"),
        (limited, "blocked", "server.limiter"),
        (html_page, "error", ""),
        (hung, "error", "no answer in 2 s"),
    ],
)
def test_an_instance_that_refuses_is_left_alone_and_asked_again_another_time(
    trouble: Trouble, state: str, said: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    searxng = Searxng({term: Found(_urls("a", 3)) for term in TERMS}, lambda number: trouble())
    # No other answer may come too late.
    patience = ("-s", "DOWNLOAD_TIMEOUT=2") if trouble is hung else ()
    with local_server(searxng.respond) as server:
        # Nobody answered at all.
        code = 1 if trouble is hung else 0
        done = _ask(server, url, tmp_path, *patience, code=code, QIAO_SEARCH_RETRY_HOURS="0")
        assert len(searxng.asked) <= 3
        assert "searxng refuses, it is left alone for the rest of the run" in done.log
        assert "'qiaocrawl/search/parked/searxng': 1" in done.log
        states = Counter(row[0] for row in _ledger(url).values())
        assert states[state] == len(set(searxng.asked))
        assert states["not_asked"] == len(TERMS) - states[state]
        (messages,) = zip(*rows(url, "SELECT message FROM `query` WHERE tries > 0"), strict=True)
        assert all(said in str(message) for message in messages)
        searxng.trouble = lambda number: None
        _ask(server, url, tmp_path)
    assert Counter(row[0] for row in _ledger(url).values())["hit"] >= len(TERMS)


def test_one_refusing_engine_behind_a_searxng_does_not_stop_it(tmp_path: Path) -> None:
    """Every answer lacks one engine, four in five bring nothing: all are asked, once."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    terms = [f"侨报{n}" for n in range(40)]
    import_pack(url, pack(terms=tuple(Term(term, "core") for term in terms)))
    some = {term: Found(_urls(term, 3)) for term in terms[2::5]}
    searxng = Searxng(some, unresponsive=[("sogou", "Suspended: CAPTCHA")])
    with local_server(searxng.respond) as server:
        done = _ask(server, url, tmp_path, QIAO_SEARCH_MAX_PAGES="1")
        assert Counter(searxng.asked) == Counter((term, 1) for term in terms)
        assert "refuses" not in done.log
        assert Counter(state for state, _ in _ledger(url).values()) == {"partial": 8, "blocked": 32}
        ((why,),) = rows(url, "SELECT DISTINCT message FROM `query` WHERE engine = 'searxng'")
        assert why == "no answer of sogou (Suspended: CAPTCHA)"
        # A partial answer is asked again sooner than the twenty hours of a whole one.
        pauses = rows(url, "SELECT DISTINCT (julianday(due_at) - julianday(asked_at)) * 24"
                           " FROM `query` WHERE state = 'partial'")  # fmt: skip
        assert all(0.9 < float(str(hours)) < 1.1 for (hours,) in pauses)


def test_hits_without_the_word_are_hits_until_more_speaks_against_them(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    searxng = Searxng({
        "侨胞": Found(_urls("a", 3), title="海外华人座谈"),
        "华侨": Found(_urls("b", 3)),
        "归侨": Found(_urls("c", 3), title="一条消息"),
        "侨务": Found(_urls("c", 3), title="一条消息"),
        "侨乡": Found(_urls("d", 2), title="家乡"),
    })  # fmt: skip
    with local_server(searxng.respond) as server:
        done = _ask(server, url, tmp_path, QIAO_SEARCH_MAX_PAGES="1")
    states = {term: state for (term, _), (state, _) in _ledger(url).items()}
    same = [states.pop("归侨"), states.pop("侨务")]
    assert sorted(same) == ["decoy", "hit"]
    assert set(states.values()) == {"hit"}
    assert "refuses" not in done.log


def test_a_dash_asks_without_a_site_as_it_shows_in_coverage(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("a.test"))
    searxng = Searxng()
    with local_server(searxng.respond) as server:
        _ask(server, url, tmp_path, "site=-", "terms=2")
        assert {words for words, _ in searxng.asked} == {"侨胞", "华侨"}
        _ask(server, url, tmp_path, "site=-, b.test", "terms=1")
    assert searxng.asked[2:] == [("侨胞 site:b.test", 1)]


def test_a_retry_after_is_kept_and_the_run_goes_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    once = replace(limited(), headers={"Retry-After": "2"})
    searxng = Searxng({term: Found(_urls("a", 3)) for term in TERMS},
                      lambda number: once if number == 2 else None)  # fmt: skip
    with local_server(searxng.respond) as server:
        _ask(server, url, tmp_path)
        times = [hit.at for hit in server.log if hit.path.startswith("/search")]
    assert times[2] - times[1] >= 1.9
    states = Counter(row[0] for (_, page), row in _ledger(url).items() if page == 1)
    assert states == {"hit": 4, "blocked": 1}


ENGINE = """
name = "{name}"
title = "{name}"
kind = "scraped"
format = "html"
url = "http://{name}.test/s?q={{query}}&page={{page}}"
[site]
query = "{{term}} site:{{site}}"
[hits]
each = "li.hit"
link = "a::attr(href)"
title = "a"
[[signals.empty]]
in = "select"
path = "p.none"
"""


def _other_engine(host: str, path: str) -> Answer | None:
    """Engines that refuse in every way, and one that answers."""
    hit = "<ul><li class='hit'><a href='http://c.test/1'>侨胞华侨归侨侨务侨乡</a></li></ul>"
    pages = {
        "captcha.test": Answer("<title>安全验证</title><p>请输入验证码</p>".encode()),
        "sorry.test": Answer(status=302, headers={"Location": "http://sorry.test/sorry/x"}),
        "nothing.test": Answer(b""),
        "changed.test": Answer(f"<title>结果</title><div>{hit}".replace("hit'", "x'").encode()),
        "kind.test": Answer(f"<title>结果</title>{hit}".encode()),
    }
    return pages.get(host) if path.startswith("/s?") else None


def test_engines_that_refuse_get_three_requests_and_the_others_go_on(tmp_path: Path) -> None:
    """F-K10."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    names = ("captcha", "sorry", "nothing", "changed", "kind")
    folder = tmp_path / "engines"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.toml").write_text(ENGINE.format(name=name), "utf-8")
    with local_server(_other_engine) as server:
        done = _ask(server, url, tmp_path, QIAO_ENGINES=",".join(names),
                    QIAO_ENGINES_DIR=str(folder), QIAO_SEARCH_MAX_PAGES="1")  # fmt: skip
        asked = Counter(hit.host for hit in server.log if hit.path.startswith("/s?"))
    assert asked == {"kind.test": 5, **{f"{name}.test": 3 for name in names[:-1]}}
    for name, state in (("captcha", "blocked"), ("sorry", "blocked"), ("nothing", "blocked"),
                        ("changed", "layout_changed")):  # fmt: skip
        states = Counter(row[0] for row in _ledger(url, name).values())
        assert states == {state: 3, "not_asked": 2}, name
        assert f"{name} refuses" in done.log
    assert rows(url, "SELECT url FROM url WHERE queue = 'pages'") == [("http://c.test/1",)]
    assert all(hits == 0 for name in names[:-1] for _, hits in _ledger(url, name).values())


def _answers(url: str) -> int:
    return sum(state in ("hit", "empty") for state, _ in _ledger(url).values())


def test_a_kill_loses_no_planned_question(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    searxng = Searxng({term: Found(_urls(f"s{n}", 15)) for n, term in enumerate(TERMS)},
                      lambda number: hung() if number == 4 else None)  # fmt: skip
    with local_server(searxng.respond) as server:
        with running_spider(
            "search",
            url,
            "topic=qiaoqing",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_ENGINES="searxng",
            QIAO_SEARXNG_URL=f"http://{HOST}",
        ) as process:
            end = time.monotonic() + 150
            # The fourth answer never comes; the three before are committed.
            while len(searxng.asked) < 4 or _answers(url) < 3:
                assert time.monotonic() < end, "waited too long"
                time.sleep(0.05)
            process.kill()
        planned = set(_ledger(url))
        assert len(planned) >= len(TERMS)
        _ask(server, url, tmp_path)
    answered = _ledger(url)
    assert planned <= set(answered)
    assert {term: answered[term, 1] for term in TERMS} == dict.fromkeys(TERMS, ("hit", 10))
    # Behind its last page an instance has an empty list.
    assert {state for state, _ in answered.values()} <= {"hit", "empty"}
    twice = [one for one, count in Counter(searxng.asked).items() if count > 1]
    assert len(twice) <= 1, "only the query under way is put again"


def test_a_days_budget_holds_over_restarts(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    searxng = Searxng({term: Found(_urls(f"s{n}", 15)) for n, term in enumerate(TERMS)})
    with local_server(searxng.respond) as server:
        for _ in range(2):
            done = _ask(server, url, tmp_path, QIAO_SEARCH_DAILY_BUDGET="searxng=3")
            assert len(searxng.asked) == 3
        assert "today's budget has room for 0 requests" in done.log
        states = Counter(state for state, _ in _ledger(url).values())
        assert states["hit"] == 3
        assert states["not_asked"] >= 3, "result pages and terms nobody came to"
        _ask(server, url, tmp_path)
    # Everything waits no more, the later result pages that were put off too.
    assert {page for _, page in _ledger(url)} == {1, 2, 3}
    assert "not_asked" not in Counter(state for state, _ in _ledger(url).values())


def test_a_choice_or_period_that_is_none_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    for argument, options, said in (
        (
            "period=2w",
            {"QIAO_ENGINES": "searxng", "QIAO_SEARXNG_URL": "http://x.test"},
            "period= must be one of day",
        ),
        ("terms=3", {"QIAO_ENGINES": "searxng"}, "needs a base URL"),
        (
            "terms=²",
            {"QIAO_ENGINES": "searxng", "QIAO_SEARXNG_URL": "http://x.test"},
            "terms= must be a whole number from 1, got '²'",
        ),
        (
            "site=a.test,--",
            {"QIAO_ENGINES": "searxng", "QIAO_SEARXNG_URL": "http://x.test"},
            "site= must be hosts, or - for no site: '--' is no host name",
        ),
    ):
        done = crawl("search", url, "topic=qiaoqing", argument, folder=tmp_path, **options)
        assert done.returncode == 1
        assert said in done.log
