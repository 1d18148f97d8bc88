"""``qiaocrawl report missed``: which pages, why, and what to do, by site and by kind."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.items import SEED_SCORE, Outcome, Payload, Queue
from qiaocrawl.reading.outcome_names import ADVICE, OUTCOME_NAMES
from qiaocrawl.reading.summary import MISSED, MISSED_STARTS
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier import complete
from storage_samples import NOW, add_topic, candidate, enqueue, take

# What officers see.
pytestmark = pytest.mark.usefixtures("chinese")

_PAGES = {
    "a.example": (Outcome.NEEDS_RENDERING, Outcome.NEEDS_RENDERING, Outcome.DEAD, Outcome.ARTICLE),
    "news.b.example": (Outcome.ROBOTS, Outcome.TRAP, Outcome.LOGIN, Outcome.SOFT_404),
    "c.example": (Outcome.ARTICLE, Outcome.DEAD, Outcome.REFUSED),
}


@pytest.fixture
def url(database_url: str) -> str:
    """Three sites of which two hide pages; and an engine's page that was blocked."""
    with Database.open(database_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            outcomes = {}
            for host, ends in _PAGES.items():
                for number, end in enumerate(ends):
                    page = candidate(str(number), host=host, anchor="=锚[x]", score=number)
                    enqueue(c, [page])
                    outcomes[page.url] = end
            for lease in take(c, 50):
                complete(c, lease, outcome=outcomes[lease.url], reason="缘由 <x>", http_status=200,
                         redirect_key=None, now=NOW)  # fmt: skip
            enqueue(c, [candidate("s", queue=Queue.SEARCH)])
    return database_url


def test_sites_come_first_then_what_to_do_then_pages(run: Run, url: str) -> None:
    code, out, _ = run("report", "missed", "qiaoqing", "--database", url)
    assert code == 0
    sites, pages = out.split("┏")[1:]
    advice = sites[sites.index("怎么办") :]
    assert sites.index("news.b.example") < sites.index("│ a.example")
    assert "网站不许采 1、" in sites
    assert "需浏览器 2" in sites
    assert "c.example" not in out
    retry = "\n      qiaocrawl url retry --outcome needs_rendering"
    assert f"{retry} --database {shlex.quote(url)}\n" in advice
    assert "QIAO_TRAPS_ALLOWED" in advice
    # The best first.
    assert pages.index("http://news.b.example/2") < pages.index("http://a.example/0")
    assert "“=锚[x]”" in pages
    assert "缘由 <x>" in pages
    assert "死链" not in out


def test_what_we_asked_for_as_a_guess_is_no_page_that_was_missed(
    database_url: str, run: Run
) -> None:
    asked = {
        "start": (Payload(as_is="start page"), Outcome.DEAD),
        "c0ffee.html": (Payload(probe=True), Outcome.DEAD),
        "c0ffee2.html": (Payload(probe=True), Outcome.BLOCKED),
        "sitemap.xml": (Payload(sitemap=0), Outcome.DEAD),
    }
    with Database.open(database_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [
                candidate(path, score=SEED_SCORE, payload=payload)
                for path, (payload, _end) in asked.items()
            ])  # fmt: skip
            for lease in take(c, 50):
                end = asked[lease.url.rpartition("/")[2]][1]
                complete(c, lease, outcome=end, reason="", http_status=None,
                         redirect_key=None, now=NOW)  # fmt: skip
    _, out, _ = run("report", "missed", "qiaoqing", "--database", database_url)
    assert "起始页已不在" in out
    assert "http://a.example/start" in out
    assert "c0ffee" not in out
    assert "sitemap" not in out


def test_pages_are_chosen_and_written(run: Run, url: str, tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    code, out, _ = run("report", "missed", "qiaoqing", "--site", "b.example", "--why", "trap",
                       "--why", "login", "--csv", str(file), "--database", url)  # fmt: skip
    assert (code, "a.example/" in out) == (0, False)
    rows = list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))
    assert [row["类别"].partition("(")[2] for row in rows] == ["login)", "trap)"]
    assert rows[0]["链接文字"] == "'=锚[x]"
    assert rows[0]["时间"] == "2027-01-15 16:00"
    assert rows[1]["怎么办"] == "若属误判，以 QIAO_TRAPS_ALLOWED=站/路径/* 放行"


def test_nothing_missed_and_wrong_options(run: Run, url: str) -> None:
    _, out, _ = run("report", "missed", "qiaoqing", "--site", "c.example", "--database", url)
    assert "没有漏采" in out
    for arguments, words in (
        (("none",), "数据库中没有主题 'none'"),
        (("qiaoqing", "--why", "dead"), "--why 须为 needs_rendering"),
        (("qiaoqing", "--csv", "/none/a.csv"), "--csv '/none/a.csv'"),
    ):
        code, _, err = run("report", "missed", *arguments, "--database", url)
        assert (code, words in err) == (1, True), err


def test_every_miss_has_a_name_and_advice() -> None:
    assert set(ADVICE) == {*MISSED, *MISSED_STARTS}
    assert set(OUTCOME_NAMES) - {"waiting"} == set(Outcome) - {Outcome.SERP, Outcome.RETRY}
