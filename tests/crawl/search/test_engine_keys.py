"""An interface's key goes into the requests to it, and nowhere else (faults F-C8)."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from crawling import Answer, crawl, import_pack, local_server, pack, rows

KEY = "canaryEngineKey"
API, OTHER, SITE = "api.key.test", "other.key.test", "www.qiao.test"


def test_a_key_is_shown_to_its_engine_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(SITE))
    definition = files("qiaocrawl.search").joinpath("engines/brave.toml").read_text("utf-8")
    engines = tmp_path / "engines"
    engines.mkdir()
    (engines / "brave.toml").write_text(
        definition.replace("https://api.search.brave.com", f"https://{API}")
    )
    hit = {"url": f"http://{SITE}/1", "title": "侨胞回乡", "description": "侨胞 华侨 归侨"}
    answers = iter([
        Answer(status=401), Answer(b'{"error": "bad key"}', 422),
        Answer(status=302, headers={"Location": f"https://{OTHER}/res?again"}),
        Answer(b"[" * 5_000), Answer(status=500),
    ])  # fmt: skip

    def respond(host: str, path: str) -> Answer | None:
        if host != API:
            return None
        hits = json.dumps({"web": {"results": [hit]}}).encode()
        return next(answers, Answer(hits, headers={"Content-Type": "application/json"}))

    with local_server(respond) as server:
        done = crawl("search", url, "topic=qiaoqing", "-s", "LOG_LEVEL=DEBUG", folder=tmp_path,
                     QIAO_DEMO=server.origin, QIAO_ENGINES="brave", BRAVE_API_KEY=KEY,
                     QIAO_ENGINES_DIR=str(engines), QIAO_SEARCH_PARK_AFTER="0",
                     QIAO_FRONTIER_RETRY_SECONDS="0.1")  # fmt: skip
    assert done.returncode == 0, done.log
    asked = [hit for hit in server.log if hit.host == API and hit.path != "/robots.txt"]
    assert len(asked) > 5, done.log
    assert all(hit.headers.get("X-Subscription-Token") == KEY for hit in asked)
    # Neither robots.txt nor another host is told.
    assert all(KEY not in str(hit.headers) for hit in server.log if hit not in asked)
    assert rows(url, "SELECT state FROM query WHERE engine = 'brave' AND state = 'hit'")
    assert KEY not in done.log
    for file in tmp_path.glob("q.db*"):
        assert KEY.encode() not in file.read_bytes(), file.name
