"""``qiaocrawl engines``: the list, and checks against the demo's engines and a SearXNG stand-in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from crawling import Answer, LocalServer, local_server
from qiaocrawl.demo.engines import build_engines
from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import build_web

Run = Callable[..., tuple[int, str, str]]

HIT = {"url": "https://news.test/1", "title": "中国新闻网 要闻", "content": "今日要闻。",
       "publishedDate": "2026-01-02T00:00:00"}  # fmt: skip
SERVICE = """
name = "small"
title = "Small"
kind = "service"
format = "json"
base_url = "{base}"
url = "{{base}}/ask?q={{query}}"
{more}
[key]
variable = "SMALL_KEY"
header = "X-Key"
[hits]
each = "found"
link = "url"
title = "name"
[check]
term = "侨胞"
host = "a.test"
"""


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    web = build_web(scale=0.2)
    web.add_engines(build_engines(web))
    server = DemoServer(web)
    host, port = server.start()
    try:
        yield f"{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def searxng(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answer], LocalServer]]:
    answers = [Answer()]
    with local_server(lambda host, path: answers[-1]) as server:
        monkeypatch.setenv("QIAO_SEARXNG_URL", f"http://{server.origin}")

        def says(answer: Answer) -> LocalServer:
            answers.append(answer)
            return server

        yield says


def _json(**parts: object) -> Answer:
    body = json.dumps({"results": [], "unresponsive_engines": [], **parts}).encode()
    return Answer(body, headers={"Content-Type": "application/json"})


def test_list(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_ENGINES", "baidu,brave")
    monkeypatch.setenv("GOOGLE_CSE_KEY", "SECRET")
    code, out, _ = run("engines", "list")
    lines = {line.split("│")[1].strip(): line for line in out.splitlines() if "│" in line}
    assert code == 0
    assert "│ yes " in lines["baidu"]
    assert "none needed" in lines["baidu"]
    assert "│ no " in lines["bing"]
    assert "missing: BRAVE_API_KEY" in lines["brave"]
    assert "missing: GOOGLE_CSE_CX" in lines["google_cse"]
    assert "no base URL" in lines["searxng"]
    assert "SECRET" not in out


@pytest.mark.parametrize("name", ["demo_sou", "demo_zhao"])
def test_check_of_the_demo_engines(
    run: Run, demo: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("QIAO_DEMO", demo)
    code, out, _ = run("engines", "check", name)
    assert (code, "not in QIAO_ENGINES" in out) == (1, True)
    monkeypatch.setenv("QIAO_ENGINES", "demo_sou,demo_zhao")
    code, out, _ = run("engines", "check", name)
    assert code == 0, out
    assert out.startswith(f"{name}: ok: hits: ")


def test_check_of_all_asks_only_what_may_be_asked(
    run: Run, demo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_DEMO", demo)
    monkeypatch.setenv("QIAO_ENGINES", "demo_sou")
    code, out, _ = run("engines", "check")
    assert code == 0
    said = dict(line.split(": ", 1) for line in out.splitlines())
    assert said.pop("demo_sou").startswith("ok")
    assert len(said) >= 14
    assert all(text.startswith("not asked") for text in said.values())


def test_check_names_the_selector_that_finds_nothing(
    run: Run, demo: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = Path(__file__).parents[2] / "qiaocrawl/search/engines/demo_sou.toml"
    text = shipped.read_text("utf-8").replace("div.c-abstract", "div.c-abstract-2019")
    (tmp_path / "demo_sou.toml").write_text(text, "utf-8")
    for name, value in (("QIAO_DEMO", demo), ("QIAO_ENGINES", "demo_sou"),
                        ("QIAO_ENGINES_DIR", str(tmp_path))):  # fmt: skip
        monkeypatch.setenv(name, value)
    code, out, _ = run("engines", "check", "demo_sou")
    assert code == 1
    assert "hits.snippet finds nothing in 1" in out
    (tmp_path / "demo_sou.toml").write_text(text.replace("div.result", "div.r2"), "utf-8")
    code, out, _ = run("engines", "check", "demo_sou")
    assert code == 1
    assert "layout changed" in out
    assert "hits.each finds nothing: #content_left > div.r2" in out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (_json(results=[HIT]), "ok: hits: 1"),
        (
            _json(results=[HIT], unresponsive_engines=[["sogou", "timeout"]]),
            "ok: partial, hits: 1; no answer of sogou (timeout)",
        ),
        (
            _json(results=[{**HIT, "title": "中国", "content": ""}]),
            "none shows what was expected (新闻)",
        ),
        (_json(unresponsive_engines=[["baidu", "CAPTCHA"]]), "blocked"),
        (_json(unresponsive_engines=[["baidu", "timeout"]]), "error"),
        (_json(), "unknown; an empty list and no sign that it is true"),
        (_json(suggestions=["新闻网"]), "empty"),
        (Answer(b"", 403), "JSON switched off"),
        (Answer(b"", 429), "limiter is on"),
        (Answer(b"", 302, {"Location": "/elsewhere"}), "was not followed"),
        (_json(results=[{"link": "x"}]), "hits.link finds nothing in 1 entries: url"),
    ],
)
def test_check_of_searxng(
    run: Run, searxng: Callable[[Answer], LocalServer], answer: Answer, said: str
) -> None:
    server = searxng(answer)
    code, out, _ = run("engines", "check", "searxng")
    assert said in out
    assert code == (1 if "not ok" in out else 0)
    fields = parse_qs(urlsplit(server.paths()[0]).query)
    assert (fields["format"], fields["language"]) == (["json"], ["zh-CN"])
    assert server.log[0].headers["User-Agent"].startswith("qiaocrawl/")


def test_packed_answers(run: Run, searxng: Callable[[Answer], LocalServer]) -> None:
    packed = gzip.compress(_json(results=[HIT]).body)
    searxng(Answer(packed, headers={"Content-Encoding": "gzip"}))
    assert run("engines", "check", "searxng")[0] == 0
    searxng(Answer(b"no gzip", headers={"Content-Encoding": "gzip"}))
    assert "error" in run("engines", "check", "searxng")[1]


def test_nobody_there(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_SEARXNG_URL", "http://127.0.0.1:9")
    code, out, _ = run("engines", "check", "searxng")
    assert code == 1
    assert "cannot be reached" in out


def test_private_addresses_are_refused_and_keys_kept_secret(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer = Answer(json.dumps({"found": [{"url": "http://a.test/1", "name": "侨胞"}]}).encode())
    monkeypatch.setenv("QIAO_ENGINES_DIR", str(tmp_path))
    monkeypatch.setenv("SMALL_KEY", "SECRET")
    with local_server(lambda host, path: answer) as server:
        text = SERVICE.format(base=f"http://{server.origin}", more="")
        (tmp_path / "small.toml").write_text(text, "utf-8")
        code, out, err = run("engines", "check", "small")
        assert (code, "address refused" in out, server.log) == (1, True, [])
        monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", server.origin)
        code, said, _ = run("engines", "check", "small")
        assert (code, said) == (0, "small: ok: hits: 1\n")
        assert server.log[0].headers["X-Key"] == "SECRET"
        monkeypatch.delenv("SMALL_KEY")
        missing = run("engines", "check", "small")[1]
    assert "set the environment variable SMALL_KEY" in missing
    assert "SECRET" not in out + err + said


def test_unknown_engine(run: Run) -> None:
    code, _, err = run("engines", "check", "gogle")
    assert code == 1
    assert "unknown engine 'gogle' (there are: baidu" in err
