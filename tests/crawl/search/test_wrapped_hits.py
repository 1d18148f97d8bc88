"""Hits that only the engine can resolve, through two real crawls: search, then pages."""

from __future__ import annotations

from pathlib import Path

from crawling import PROJECT, Answer, article, crawl, import_pack, local_server, outcomes, pack

ENGINE = PROJECT / "qiaocrawl/search/engines/demo_sou.toml"
RULES = """
[[unwrap]]
by = "header"
host = "www.sousou.test"
path = "/go"
"""
HEADERS = {"hop": "/go?id=page", "page": "http://a.test/1", "off": "http://b.test/2",
           "check": "/antispider?from=go"}  # fmt: skip
SCRIPT = b'<script>window.location.replace("http://a.test/3")</script>'


def _respond(host: str, path: str) -> Answer | None:
    if host == "www.sousou.test":
        return _engine(path)
    return Answer(article(f"侨胞回乡 {path}")) if path != "/robots.txt" else None


def _engine(path: str) -> Answer | None:
    if path == "/robots.txt":
        return Answer(b"User-agent: *\nDisallow: /\n", headers={"Content-Type": "text/plain"})
    name = path.partition("id=")[2]
    if path.startswith("/s?"):
        links = "".join(
            f'<div class="result"><h3 class="t"><a href="/go?id={name}">侨胞 {name}</a></h3></div>'
            for name in ("hop", "off", "check", "script", "lost")
        )
        return Answer(f'<div id="content_left">{links}</div>'.encode())
    if name in HEADERS:
        return Answer(b"", 302, {"Location": HEADERS[name]})
    return Answer(SCRIPT if name == "script" else b"<p>nothing</p>")


def test_links_lead_to_the_asked_site_or_are_said_to_be_lost(tmp_path: Path) -> None:
    engines = tmp_path / "engines"
    engines.mkdir()
    (engines / "demo_sou.toml").write_text(ENGINE.read_text("utf-8") + RULES, "utf-8")
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("a.test"))
    with local_server(_respond) as server:
        options = {
            "QIAO_DEMO": server.origin, "QIAO_ENGINES": "demo_sou",
            "QIAO_ENGINES_DIR": str(engines), "QIAO_FRONTIER_RETRY_SECONDS": "0.01",
        }  # fmt: skip
        quick = ("-s", "DOWNLOAD_DELAY=0")
        asked = crawl("search", url, "topic=qiaoqing", "site=a.test", "terms=1", *quick,
                      folder=PROJECT, **options)  # fmt: skip
        assert asked.returncode == 0, asked.log
        fetched = crawl("pages", url, "topic=qiaoqing", *quick, folder=PROJECT, **options)
    assert fetched.returncode == 0, fetched.log
    found = outcomes(url)
    ends = {name: found[f"http://www.sousou.test/go?id={name}"]
            for name in ("hop", "page", "off", "check", "script", "lost")}  # fmt: skip
    assert ends == {
        "hop": "redirect", "page": "redirect", "script": "redirect", "off": "not_article",
        "lost": "not_article", "check": "blocked",
    }  # fmt: skip
    assert found["http://a.test/1"] == "article"
    assert found["http://a.test/3"] == "article"
    assert "http://b.test/2" not in found
    assert "b.test" not in {hit.host for hit in server.log}
    assert "'qiaocrawl/search/links_resolved': 3" in fetched.log
    assert "'qiaocrawl/search/links_lost': 2" in fetched.log
