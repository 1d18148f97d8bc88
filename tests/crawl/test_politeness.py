"""robots.txt, Crawl-delay and Retry-After, seen from the server's side."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawling import Answer, LocalServer, article, crawl, import_pack, local_server, outcomes, pack

HOST = "www.qiao.test"


def site(robots: Answer | None, *paths: str) -> dict[str, Answer]:
    pages = {"/": Answer(article("首页", links=paths))}
    pages |= {path: Answer(article(f"侨乡新闻{path}")) for path in paths}
    if robots is not None:
        pages["/robots.txt"] = robots
    return pages


def run(pages: dict[str, Answer], tmp_path: Path, *arguments: str) -> tuple[LocalServer, str, str]:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: pages.get(path)) as server:
        done = crawl("site", url, "topic=qiaoqing", *arguments, folder=tmp_path,
                     QIAO_DEMO=server.origin, QIAO_FRONTIER_RETRY_SECONDS="0.1")
    assert done.returncode == 0, done.log
    return server, url, done.log


def text(body: str, status: int = 200) -> Answer:
    return Answer(body.encode(), status, {"Content-Type": "text/plain"})


def test_forbidden_paths_are_not_fetched(tmp_path: Path) -> None:
    robots = text("User-agent: qiaocrawl\nDisallow: /private/\n\nUser-agent: *\nDisallow: /\n")
    server, url, _ = run(site(robots, "/a", "/private/b"), tmp_path)
    assert sorted(server.paths()) == ["/", "/a"]
    assert outcomes(url)[f"http://{HOST}/private/b"] == "robots"


@pytest.mark.parametrize(
    ("status", "fetched"),
    [(200, True), (204, True), (401, True), (403, True), (404, True), (410, True),
     (429, False), (500, False), (503, False)],
)
def test_what_a_status_of_robots_txt_means(tmp_path: Path, status: int, fetched: bool) -> None:
    server, url, _ = run(site(text("", status), "/a"), tmp_path)
    assert bool(server.paths()) is fetched
    if not fetched:
        assert outcomes(url)[f"http://{HOST}/"] == "unreachable"


def test_robots_txt_may_be_redirected(tmp_path: Path) -> None:
    pages = site(Answer(status=301, headers={"Location": "/rules"}), "/a", "/b")
    pages["/rules"] = text("User-agent: *\nDisallow: /b\n")
    server, _, _ = run(pages, tmp_path)
    assert sorted(server.paths()) == ["/", "/a", "/rules"]


def test_robots_txt_that_leads_inside_refuses_no_page_for_good(tmp_path: Path) -> None:
    away = Answer(status=302, headers={"Location": "http://10.0.0.7/login"})
    server, url, _ = run(site(away, "/a"), tmp_path, "-s", "QIAO_FRONTIER_MAX_FAILURES=2")
    assert server.paths() == []
    assert outcomes(url)[f"http://{HOST}/"] == "unreachable"


def test_crawl_delay_is_kept(tmp_path: Path) -> None:
    robots = text("User-agent: *\nCrawl-delay: 0.4\n")
    server, _, log = run(site(robots, "/a", "/b", "/c", "/d"), tmp_path)
    times = [hit.at for hit in server.log if hit.path != "/robots.txt"]
    assert len(times) == 5
    # A busy machine may hold up single requests; all five cannot come sooner than this.
    assert times[-1] - times[0] >= 4 * 0.4 - 0.1
    assert "crawl_delay_kept" in log


def test_an_endless_crawl_delay_is_capped(tmp_path: Path) -> None:
    robots = text("User-agent: *\nCrawl-delay: 86400\n")
    server, _, log = run(site(robots, "/a"), tmp_path, "-s", "QIAO_MAX_CRAWL_DELAY_SECONDS=0.2")
    assert len(server.paths()) == 2
    assert "asks for a Crawl-delay of 86400 s" in log


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_kept_for_the_whole_host(tmp_path: Path, status: int) -> None:
    pages = site(None, "/a", "/b", "/c")
    refused: list[float] = []

    def respond(host: str, path: str) -> Answer | None:
        if path == "/a" and not refused:
            refused.append(1.0)
            return Answer(b"later", status, {"Retry-After": "2"})
        return pages.get(path)

    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(respond) as server:
        done = crawl("site", url, "topic=qiaoqing", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1",
                     folder=tmp_path, QIAO_DEMO=server.origin)
    assert done.returncode == 0, done.log
    first = next(hit.at for hit in server.log if hit.path == "/a")
    after = [hit.at - first for hit in server.log if hit.at > first]
    assert min(after) >= 1.9, "asked again within the time the host wanted to be left alone"
    assert set(outcomes(url).values()) == {"article"} or "list" in outcomes(url).values()
    assert outcomes(url)[f"http://{HOST}/a"] == "article"


def test_the_user_agent_names_a_contact(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: site(None).get(path)) as server:
        crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
              QIAO_CONTACT="https://office.example/crawler")
    agents = {hit.headers["User-Agent"] for hit in server.log}
    assert len(agents) == 1
    agent = agents.pop()
    assert agent.startswith("qiaocrawl/")
    assert "(+https://office.example/crawler)" in agent


def test_a_robots_txt_that_fails_once_does_not_lose_the_host(tmp_path: Path) -> None:
    asked: list[str] = []

    def respond(host: str, path: str) -> Answer | None:
        if path == "/robots.txt" and len(asked) < 2:
            asked.append(path)
            return Answer(b"busy", 503)
        return site(None, "/a", "/b").get(path)

    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(respond) as server:
        crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
              QIAO_FRONTIER_RETRY_SECONDS="0.2")
    assert set(outcomes(url).values()) <= {"article", "list"}
    assert len(outcomes(url)) == 3


def test_a_short_storm_of_503_loses_nothing(tmp_path: Path) -> None:
    paths = tuple(f"/{n}" for n in range(12))
    refusals = dict.fromkeys(paths, 2)

    def respond(host: str, path: str) -> Answer | None:
        if refusals.get(path, 0) > 0:
            refusals[path] -= 1
            return Answer(b"busy", 503)
        return site(None, *paths).get(path)

    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(respond) as server:
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
                     QIAO_FRONTIER_RETRY_SECONDS="0.1")
    assert set(outcomes(url).values()) <= {"article", "list"}, done.log
    assert len(outcomes(url)) == 13
