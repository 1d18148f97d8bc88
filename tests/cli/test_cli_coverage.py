"""``qiaocrawl report coverage``: tables, words, files."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from crawling import import_pack, pack
from qiaocrawl.cli.heat_map import MOST_SITES, MOST_TERMS, heat_map, summary_lines
from qiaocrawl.search.definition import load_definitions
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database
from qiaocrawl.storage.search import coverage, ledger
from qiaocrawl.storage.search.coverage import Cell, cells_of
from qiaocrawl.storage.search.ledger import Answered

Run = Callable[..., tuple[int, str, str]]

FAILED = "no answer of sogou (Suspended: CAPTCHA); no answer of bing (timeout)"
HINT = dict(load_definitions()["searxng"].status_hints)["403"]
NOW = 1_800_000_000.0
WEEK = 7 * 86_400.0


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A ledger with an answer of every kind."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())

    def query(term: str, site: str = "", engine: str = "bing", **more: object) -> Query:
        return Query("qiaoqing", term, site, engine, **more)  # type: ignore[arg-type]

    answers = [
        (query("侨胞"), Answered(AnswerState.HIT, 10, 7)),
        (query("侨胞", page=2), Answered(AnswerState.HIT, 5, 1)),
        (query("侨胞", page=3), Answered(AnswerState.BLOCKED, message="验证码")),
        (query("华侨"), Answered(AnswerState.EMPTY)),
        (query("=归侨", "a.test"), Answered(AnswerState.DECOY, message="6 hits [x] <&>")),
        (query("侨务"), Answered(AnswerState.LAYOUT_CHANGED, message="no hits and no sign why")),
        (query("侨乡", engine="sogou"), Answered(AnswerState.ERROR, message="Timeout")),
        (query("侨胞", engine="searxng"), Answered(AnswerState.PARTIAL, 10, 9, message=FAILED)),
        (query("华侨", engine="searxng"), Answered(AnswerState.UNKNOWN, message="no sign")),
        (query("侨务", engine="searxng"), Answered(AnswerState.BLOCKED, message=HINT)),
    ]
    with Database.open(url) as database, database.engine.begin() as c:
        topic = c.exec_driver_sql("SELECT id FROM topic").scalar_one()
        ledger.plan_queries(c, topic, [query("侨胞", "a.test"), *(one for one, _ in answers)], NOW)
        lost = answers[5][0]
        ledger.record_answer(c, lost, Answered(AnswerState.HIT, 9, 9), NOW - WEEK)
        for one, answer in answers:
            ledger.record_answer(c, one, answer, NOW)
    return url


def test_what_was_searched_got_missed_and_why(run: Run, url: str) -> None:
    code, out, _ = run("report", "coverage", "qiaoqing", "--database", url)
    assert code == 0
    said = out.splitlines()
    assert "5 terms × 2 sites × 3 engines, 9 queries" in said[0]
    assert "8 asked (89%), 11 requests" in said[0]
    assert "2 queries with hits, 25 hits, 17 new URLs" in said[1]
    assert "1 blocked, 1 decoy, 1 error, 1 layout changed" in said[2]
    assert "1 unknown, 1 not asked, 1 partial" in said[2]
    assert "not chosen, so not missed: baidu, baidu_news, bing_news," in out
    assert "1 further pages" in said[2]
    assert any("侨务 @ whole web (bing): 9 hits on 2027-01-08" in line for line in said)
    assert "`qiaocrawl engines check bing`" in out
    assert "6 hits [x] <&>" in out
    assert "│ baidu" not in out, "what nobody chose is in no table"
    # Tables by engine, term and site, and the missed ones; what had hits before comes first.
    missed = out[out.index("missed first") :].splitlines()
    assert [line.split("│")[1].strip() for line in missed[2:6]] == ["侨务", "侨务", "=归侨", "侨乡"]


def test_of_a_searxng_all_is_said_and_the_advice_fits_it(run: Run, url: str) -> None:
    code, out, _ = run("report", "coverage", "qiaoqing", "--database", url, "--engine", "searxng")
    assert code == 0
    why = [line for line in out.splitlines() if "why: searxng" in line]
    partial = next(line for line in why if "partial ×1" in line)
    assert "no answer of sogou (Suspended: CAPTCHA) (×1)" in partial
    assert "no answer of bing (timeout) (×1)" in partial
    assert any(f"{HINT} (×1)" in line for line in why), "the hint is never cut"
    advice = {line for line in out.splitlines() if line.startswith("What to do")}
    assert len(advice) == 3
    assert not [line for line in advice if "through your own SearXNG" in line]
    assert not [line for line in advice if "does searxng run" in line]
    (blocked,) = (line for line in advice if "blocked" in line)
    assert "search.formats" in blocked
    assert "server.limiter" in blocked
    assert "cut off: 1 queries" in out


def test_a_full_last_page_is_told_as_cut_off(url: str) -> None:
    with Database.open(url) as database, database.engine.begin() as c:

        def cut_off(site: str, *pages: int, period: str = "", per_page: int = 10) -> bool:
            for page, hits in enumerate(pages, 1):
                query = Query("qiaoqing", "侨眷", site, "so360", page, period)
                ledger.record_answer(c, query, Answered(AnswerState.HIT, hits, 0), NOW)
            rows = coverage.ledger_rows(c, "qiaoqing", coverage.Chosen(site=site, term="侨眷"))
            (cell,) = cells_of(rows, {}, {"so360": per_page})
            return cell.cut_off

        assert cut_off("a.test", 10)
        assert not cut_off("a.test", 10, 4)
        assert cut_off("a.test", 10, 4, 0, period="year") is False
        assert cut_off("a.test", 9, period="month"), "of a shorter period too"
        assert not cut_off("b.test", 9, per_page=20)


def test_filters_and_history(run: Run, url: str) -> None:
    given = ("report", "coverage", "qiaoqing", "--database", url)
    _, out, _ = run(*given, "--engine", "sogou")
    assert "1 queries;" in out
    assert "侨乡" in out
    assert "侨务" not in out
    _, out, _ = run(*given, "--state", "layout_changed", "--history")
    history = out[out.index("period") :]
    assert history.index("│ hit ") < history.index("│ layout changed ")
    _, out, _ = run(*given, "--site", "-", "--term", "华侨")
    assert "1 queries truly empty" in out
    _, out, _ = run(*given, "--since", "2027-01-15")
    assert "not asked" not in out, "what was never asked is left out"
    _, out, _ = run(*given, "--since", "2030-01-01")
    assert "Nothing of this is in the ledger" in out


def test_what_is_no_state_time_topic_or_file_is_named(run: Run, url: str, tmp_path: Path) -> None:
    for arguments, said in (
        (("qiaoqing", "--state", "lost"), "--state must be one of not_asked, hit, partial, empty"),
        (("qiaoqing", "--since", "gestern"), "--since must be as 2026-03-05"),
        (("qiaoqing", "--since", "0001-01-01T00:00:00+14:00"), "--since must be as"),
        (("a\udcff",), "is not in the database (imported: qiaoqing)"),
        (("qiaoqing", "--csv", "/dev/null"), "it is there and no file"),
        (("none",), "topic 'none' is not in the database (imported: qiaoqing)"),
        (("qiaoqing", "--picture", str(tmp_path / "a.gif")), "--picture must end in .svg"),
        (("qiaoqing", "--csv", str(tmp_path / "no" / "a.csv")), "does not exist"),
    ):
        code, _, err = run("report", "coverage", *arguments, "--database", url)
        assert code == 1
        assert said in err


def test_files(run: Run, url: str, tmp_path: Path) -> None:
    picture, table = tmp_path / "c.svg", tmp_path / "c.csv"
    code, _, _ = run("report", "coverage", "qiaoqing", "--database", url, "--picture", str(picture),
                     "--csv", str(table))  # fmt: skip
    assert code == 0
    with table.open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file))
    chosen = [row for row in found if row["state"] != AnswerState.ROBOTS]
    assert len(chosen) == 11
    assert {row["state"] for row in found} == {str(state) for state in AnswerState}
    assert "'=归侨" in {row["term"] for row in found}, "no spreadsheet takes it for a formula"
    svg = ElementTree.parse(picture).getroot()
    texts = [node.text or "" for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"bing", "侨胞", "a.test", "15", "10", "D", "L", "E", "0", "B", "?"} <= set(texts)
    assert any(one.startswith("not chosen: baidu, baidu_news, bing_news") for one in texts)
    titles = [node.text or "" for node in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert any("6 hits [x] <&>" in title for title in titles)


def _many(terms: int, sites: int) -> list[Cell]:
    return [
        Cell(f"词\x00<{t}>", f"s{s}.test", "bing", AnswerState.HIT, 12, 1, 1, 0, 0, None, "", 0, 0)
        for t in range(terms) for s in range(sites)
    ]  # fmt: skip


def test_a_large_ledger_stays_a_readable_picture() -> None:
    svg = ElementTree.fromstring(heat_map(_many(200, 60), "题 & <b>"))
    squares = list(svg.iter("{http://www.w3.org/2000/svg}title"))
    assert len(squares) == (MOST_TERMS + 1) * (MOST_SITES + 1)
    texts = [node.text or "" for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "140 more terms" in texts
    assert "20 more sites" in texts
    assert all(len(text) < 40 for text in texts)
    assert "33k" in texts, "the hits of all that was joined"


def test_nothing_asked_is_said() -> None:
    assert ElementTree.fromstring(heat_map([], "空")) is not None
    assert list(summary_lines([])) == ["Nothing of this is in the ledger."]


def test_periods_and_pages_are_one_cell(url: str) -> None:
    with Database.open(url) as database, database.engine.begin() as c:
        week = Query("qiaoqing", "侨胞", "", "bing", period="week")
        ledger.record_answer(c, week, Answered(AnswerState.HIT, 3, 3), NOW)
        rows = coverage.ledger_rows(c, "qiaoqing", coverage.Chosen(engine="bing", term="侨胞"))
    cells = cells_of(rows, {})
    assert [(cell.site, cell.state, cell.hits, cell.failed, cell.open) for cell in cells] == [
        ("a.test", AnswerState.NOT_ASKED, 0, 0, 0), ("", AnswerState.HIT, 18, 1, 0),
    ]  # fmt: skip
