"""``qiaocrawl extract`` as a person runs it: files, standard input, and real HTTP on loopback."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crawling import Answer, local_server
from forking_python import forking_python
from qiaocrawl.cli.explain import MARK, explain_as_html
from qiaocrawl.extract.api import examine

Run = Callable[..., tuple[int, str, str]]

TITLE = "侨批档案展在汕头开幕"
BODY = (
    "四月十二日上午，“一纸家书”侨批档案展在汕头开埠文化陈列馆开幕，展出晚清以来的侨批一百六十件。",
    "策展人说，侨批是海外侨胞寄给家乡亲人的信和钱，一封信里往往写着一家人几十年的悲欢。",
    "展览持续到六月底，周一闭馆，市民和游客可以免费参观，团体参观需要提前两天预约。",
)
PAGE = (
    f"<!doctype html><html><head><meta charset='utf-8'><title>{TITLE}_潮汕侨网</title></head>"
    "<body>\n"
    "<div class='nav'><a href='/'>首页</a> <a href='/n'>新闻</a></div>\n"
    f"<h1>{TITLE}</h1>\n<p class='info'>2024-04-12 16:20 来源：潮汕侨网 作者：黄晓</p>\n"
    + "\n".join(f"<p>{paragraph}</p>" for paragraph in BODY)
    + "\n</body></html>"
).encode()
HOSTILE = PAGE.replace(
    b"<p class='info'>",
    "<p class='x\"&gt;&lt;script&gt;alert(1)//'>[red]开幕式&lt;script&gt;alert(2)&lt;/script&gt;"
    "&lt;img src=x onerror=alert(3)&gt;\x1b[31m，来宾二十多人出席了当天上午的仪式。</p>"
    "<p>".encode(),
)


@pytest.fixture
def run(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs the command in an empty folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: str, method: str = "density") -> tuple[int, str, str]:
        chosen = ("--method", method) if method else ()
        return run("extract", *arguments, *chosen)

    return call


@pytest.fixture
def page(tmp_path: Path) -> str:
    """A file in the folder of the run."""
    (tmp_path / "news.html").write_bytes(PAGE)
    return "news.html"


def test_a_file_for_people(run: Run, page: str) -> None:
    code, out, err = run(page)
    assert (code, err) == (0, "")
    for shown in (TITLE, "article", "2024-04-12 16:20:00", "黄晓", "潮汕侨网", *BODY):
        assert shown in out
    assert "origin" in out


def test_json_holds_everything(run: Run, page: str) -> None:
    code, out, _ = run(page, "--json", "--url", "http://www.chaoshan.example/2024/0412/1.html")
    found = json.loads(out)
    assert code == 0
    assert (found["title"], found["method"], found["page_kind"]) == (TITLE, "density", "article")
    assert found["published_at"] == "2024-04-12T16:20:00+08:00"
    assert found["authors"] == ["黄晓"]
    assert all(paragraph in found["text"] for paragraph in BODY)
    assert set(found["fields"]["title"]) == {"value", "origin", "confidence"}


def test_without_a_method_the_option_counts(
    run: Run, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "method blend" in run(page, method="")[1]
    monkeypatch.setenv("QIAO_EXTRACT_METHOD", "visual")
    assert "method visual ·" in run(page, method="")[1]
    assert "method density" in run(page)[1]
    monkeypatch.setenv("QIAO_EXTRACT_METHOD", "nope")
    code, out, err = run(page, method="")
    assert (code, out) == (1, "")
    assert "unknown extractor 'nope'" in err


def test_values_are_whole_where_there_is_no_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    summary = "侨批档案展出晚清以来的侨批一百六十件" * 6
    meta = f"<meta name='description' content='{summary}'></head>".encode()
    (tmp_path / "long.html").write_bytes(PAGE.replace(b"</head>", meta))
    assert summary in run("long.html")[1]


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAGE)))
    code, out, _ = run("-")
    assert code == 0
    assert TITLE in out


def test_markup_and_terminal_codes_of_a_page_are_shown_as_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "evil.html").write_bytes(HOSTILE)
    code, out, _ = run("evil.html")
    assert code == 0
    assert "[red]开幕式" in out
    assert "\x1b" not in out


# --- --explain ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "written"), [(["--explain"], "news.explained.html"),
                               (["--explain", "why.html"], "why.html")],
)  # fmt: skip
@pytest.mark.parametrize("method", ["density", "visual"])
def test_explain_writes_a_page(
    run: Run, page: str, tmp_path: Path, arguments: list[str], written: str, method: str
) -> None:
    for _ in range(2):  # an earlier one is replaced
        code, _, err = run(page, *arguments, method=method)
        assert code == 0
        assert written in err
    html = (tmp_path / written).read_text("utf-8")
    assert all(paragraph in html for paragraph in BODY)
    assert html.count("taken") >= len(BODY)
    assert ("Source lines" if method == "density" else "Blocks, in") in html


@pytest.mark.parametrize("method", ["density", "visual"])
def test_nothing_of_a_hostile_page_is_markup_there(method: str) -> None:
    reading, extraction = examine(HOSTILE, "", "", method)
    html = explain_as_html(reading, extraction, "<script>alert(0)</script>")
    assert "&lt;script&gt;alert(2)" in html
    assert set(re.findall(r"<([a-z0-9]+)", html)) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th",
        "td", "div", "small", "span",
    }  # fmt: skip
    assert "default-src 'none'; style-src 'sha256-" in html
    assert not re.search(r"\son\w+=|\sstyle=|href=|src=", re.sub(r"&lt;.*?&gt;", "", html))


def test_explaining_what_is_no_page() -> None:
    reading, extraction = examine(b"%PDF-1.7", "", "", "density")
    html = explain_as_html(reading, extraction, "a.pdf")
    assert MARK in html
    assert "bytes: PDF" in html


def test_other_files_are_not_written_over(run: Run, page: str, tmp_path: Path) -> None:
    code, _, err = run(page, "--explain", page)
    assert code == 1
    assert "'news.html' exists already" in err
    assert (tmp_path / page).read_bytes() == PAGE
    (tmp_path / "folder").mkdir()
    for target, words in (
        ("none/why.html", "folder none does not exist"),
        ("folder", "'folder' is a folder"),
    ):
        code, out, err = run(page, "--explain", target)
        assert (code, out) == (1, "")
        assert target in err
        assert words in err


def test_the_explaining_page_is_there_before_the_article_is_printed(
    page: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closed(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with contextlib.suppress(BrokenPipeError):
        run(page, "--explain", "why.html", "--json")
    assert MARK in (tmp_path / "why.html").read_text("utf-8")


def test_the_page_tells_threshold_ids_and_kind() -> None:
    marked = PAGE.replace(b"<h1>", b"<div id=zoom class='a b'>\xe4\xbe\xa8</div><h1>")
    reading, extraction = examine(marked, "", "", "blend")
    html = explain_as_html(reading, extraction, "a.html")
    assert "threshold 0.5; " in html
    assert "div#zoom.a.b" in html
    assert "title, date and sentences" in html
    reading, extraction = examine(marked, "", "", "visual")
    assert "threshold" not in explain_as_html(reading, extraction, "a.html")


def test_scores_near_the_threshold_have_three_digits() -> None:
    reading, extraction = examine(PAGE, "", "", "blend")
    assert reading is not None
    count = len(reading.page.blocks.blocks)
    for judged, threshold, scores in (
        ((0.496, 0.9), "0.5", ("0.496", "0.90")), ((0.196, 0.3), "0.2", ("0.196", "0.30")),
    ):  # fmt: skip
        body = replace(reading.body, judged=(*judged, *(0.0,) * (count - 2)))
        html = explain_as_html(replace(reading, body=body), extraction, "a.html")
        assert f"threshold {threshold}; " in html
        for score in scores:
            assert f"score {score}<" in html


# --- clear errors -----------------------------------------------------------------------------


@pytest.mark.usefixtures("_forks")
def test_what_cannot_be_had_is_one_line(run: Run, page: str, tmp_path: Path) -> None:
    for arguments, words in (
        (("none.html",), "'none.html': no such file (a URL begins with http"),
        ((str(tmp_path),), "Is a directory"),
        (("ftp://www.chaoshan.example/a",), "no http or https URL"),
        (("file:///etc/passwd",), "no http or https URL"),
        (("http://",), "no http or https URL"),
        ((page, "second.html"), "for --explain"),
        (("http://127.0.0.1/", "--allow", "a b:c"), "QIAO_ALLOW_ADDRESSES: 'a b:c'"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (1, ""), arguments
        assert words in err
        assert err.count("\n") == 1
    code, _, err = run(page, method="densty")
    assert code == 1
    assert "did you mean 'density'? (there are: " in err


# --- over HTTP ----------------------------------------------------------------------------------


@pytest.fixture
def _forks(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The process that fetches is forked."""
    monkeypatch.setattr(sys, "executable", forking_python(tmp_path_factory.mktemp("bin")))


def _respond(host: str, path: str) -> Answer | None:
    return {
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /closed/"),
        "/news/1.html": Answer(PAGE),
        "/old": Answer(b"", 302, {"Location": "/news/1.html"}),
        "/inside": Answer(b"", 302, {"Location": "http://127.0.0.2/secret"}),
        "/closed/2.html": Answer(PAGE),
    }.get(path)


def test_a_url_is_fetched_as_politely_as_in_a_crawl(run: Run) -> None:
    with local_server(_respond) as server:
        origin = f"http://{server.origin}"
        code, out, err = run(f"{origin}/old", "--allow", server.origin, "--json")
        assert (code, json.loads(out)["title"]) == (0, TITLE), err
        assert [hit.path for hit in server.log] == ["/robots.txt", "/old", "/news/1.html"]
        assert server.log[0].headers["User-Agent"].startswith("qiaocrawl/")


@pytest.mark.usefixtures("_forks")
@pytest.mark.parametrize(("path", "words"), [
    ("/closed/2.html", "robots.txt of the site does not allow"),
    ("/none", "HTTP 404 Not Found"),
    ("/inside", "127.0.0.2:80 is no public address"),
])  # fmt: skip
def test_what_is_not_fetched_says_why(run: Run, path: str, words: str) -> None:
    with local_server(_respond) as server:
        code, out, err = run(f"http://{server.origin}{path}", "--allow", server.origin)
        assert (code, out) == (1, "")
        assert words in err
        assert path not in ("/closed/2.html",) or server.paths() == []


@pytest.mark.usefixtures("_forks")
def test_private_addresses_need_a_word(run: Run) -> None:
    with local_server(_respond) as server:
        code, _, err = run(f"http://{server.origin}/news/1.html")
        assert code == 1
        assert "is no public address" in err
        assert "--allow" in err
        assert server.log == []
