"""robots.txt, Crawl-delay and Retry-After, seen from the server's side.

One crawl meets all hosts; what each of them saw and what became of its pages is checked by itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from crawling import (
    Answer,
    Crawl,
    LocalServer,
    article,
    crawl,
    import_pack,
    local_server,
    outcomes,
    pack,
)
from qiaocrawl.storage.schema import State

# Status of robots.txt, and whether the host is fetched then.
STATUSES = {200: True, 204: True, 401: True, 403: True, 404: True, 410: True,
            429: False, 500: False, 503: False}  # fmt: skip
WAITS = str(State.PENDING.value)
LATER = (429, 503)
DELAY, LONGEST_DELAY = 0.8, 0.9


def site(robots: Answer | None, *paths: str) -> dict[str, Answer]:
    pages = {"/": Answer(article("首页", links=paths))}
    pages |= {path: Answer(article(f"侨乡新闻{path}")) for path in paths}
    if robots is not None:
        pages["/robots.txt"] = robots
    return pages


def text(body: str, status: int = 200) -> Answer:
    return Answer(body.encode(), status, {"Content-Type": "text/plain"})


SITES = {
    "forbids": site(text("User-agent: qiaocrawl\nDisallow: /private/\n\n"
                         "User-agent: *\nDisallow: /\n"), "/a", "/private/b"),
    **{f"status{status}": site(text("", status), "/a") for status in STATUSES},
    "redirects": site(Answer(status=301, headers={"Location": "/rules"}), "/a", "/b")
    | {"/rules": text("User-agent: *\nDisallow: /b\n")},
    "astray": site(Answer(status=302, headers={"Location": "http://10.0.0.7/login"}), "/a"),
    "slow": site(text(f"User-agent: *\nCrawl-delay: {DELAY}\n"), "/a", "/b", "/c", "/d"),
    "endless": site(text("User-agent: *\nCrawl-delay: 86400\n"), "/a"),
    **{f"later{status}": site(None, "/a", "/b", "/c") for status in LATER},
    "recovers": site(None, "/a", "/b"),
}  # fmt: skip


class Hosts:
    """SITES, each under NAME.test, with what they refuse at first."""

    def __init__(self) -> None:
        self._refusals = Counter({("recovers", "/robots.txt"): 2})
        self._refusals.update({(f"later{status}", "/a"): 1 for status in LATER})

    def __call__(self, host: str, path: str) -> Answer | None:
        name = host.removesuffix(".test")
        if self._refusals[name, path] > 0:
            self._refusals[name, path] -= 1
            if name.startswith("later"):
                return Answer(b"later", int(name.removeprefix("later")), {"Retry-After": "2"})
            return Answer(b"busy", 503)
        return SITES[name].get(path)


@dataclass
class Seen:
    """What a crawl of all hosts did."""

    server: LocalServer
    done: Crawl
    found: dict[str, str]

    def outcomes(self, name: str) -> dict[str, str]:
        """Outcome by path."""
        origin = f"http://{name}.test"
        return {
            url.removeprefix(origin): outcome
            for url, outcome in self.found.items()
            if url.startswith(f"{origin}/")
        }

    def times(self, name: str) -> list[tuple[str, float]]:
        """Path and time of every request, in order."""
        return [(hit.path, hit.at) for hit in self.server.log if hit.host == f"{name}.test"]

    def paths(self, name: str) -> list[str]:
        return self.server.paths(f"{name}.test")


def test_what_hosts_ask_for_is_kept(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(*(f"{name}.test" for name in SITES)))
    with local_server(Hosts()) as server:
        done = crawl("site", url, "topic=qiaoqing", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1",
                     "-s", f"QIAO_MAX_CRAWL_DELAY_SECONDS={LONGEST_DELAY}",
                     folder=tmp_path, QIAO_DEMO=server.origin,
                     QIAO_FRONTIER_RETRY_SECONDS="0.1",
                     QIAO_CONTACT="https://office.example/crawler")  # fmt: skip
    assert done.returncode == 0, done.log
    seen = Seen(server, done, outcomes(url))
    forbidden_paths_are_not_fetched(seen)
    the_status_of_robots_txt_says_whether_a_host_is_fetched(seen)
    robots_txt_may_be_redirected(seen)
    a_robots_txt_that_leads_inside_refuses_no_page_for_good(seen)
    a_robots_txt_that_fails_once_does_not_lose_the_host(seen)
    crawl_delay_is_kept_and_an_endless_one_capped(seen)
    retry_after_is_kept_for_the_whole_host(seen)
    the_user_agent_names_a_contact(seen)


def forbidden_paths_are_not_fetched(seen: Seen) -> None:
    assert sorted(seen.paths("forbids")) == ["/", "/a"]
    assert seen.outcomes("forbids")["/private/b"] == "robots"


def the_status_of_robots_txt_says_whether_a_host_is_fetched(seen: Seen) -> None:
    for status, fetched in STATUSES.items():
        assert bool(seen.paths(f"status{status}")) is fetched, f"{status}\n{seen.done.log}"
        if not fetched:
            # "Too many requests" means us; a server error is the server's own.
            ended = "blocked" if status == 429 else "unreachable"
            assert seen.outcomes(f"status{status}") == {"/": ended}, status


def robots_txt_may_be_redirected(seen: Seen) -> None:
    assert sorted(seen.paths("redirects")) == ["/", "/a", "/rules"]


def a_robots_txt_that_leads_inside_refuses_no_page_for_good(seen: Seen) -> None:
    assert seen.paths("astray") == []
    # Its host is given up for this run, or has failed often enough before that.
    assert seen.outcomes("astray")["/"] in (WAITS, "unreachable")


def a_robots_txt_that_fails_once_does_not_lose_the_host(seen: Seen) -> None:
    found = seen.outcomes("recovers")
    assert set(found) == {"/", "/a", "/b"}
    assert set(found.values()) <= {"article", "list"}


def crawl_delay_is_kept_and_an_endless_one_capped(seen: Seen) -> None:
    times = [at for path, at in seen.times("slow") if path != "/robots.txt"]
    assert len(times) == 5
    # The first may be noted late on a busy machine.
    assert times[-1] - times[0] >= 3 * DELAY
    assert "'qiaocrawl/politeness/crawl_delay_kept': 2" in seen.done.log
    assert len(seen.paths("endless")) == 2
    assert "endless.test asks for a Crawl-delay of 86400 s" in seen.done.log


def retry_after_is_kept_for_the_whole_host(seen: Seen) -> None:
    for status in LATER:
        times, found = seen.times(f"later{status}"), seen.outcomes(f"later{status}")
        first = next(at for path, at in times if path == "/a")
        after = [at - first for _, at in times if at > first]
        assert min(after) >= 1.9, f"{status}: asked again too soon"
        assert set(found) == {"/", "/a", "/b", "/c"}, status
        assert set(found.values()) <= {"article", "list"}, status
        assert found["/a"] == "article", status


def the_user_agent_names_a_contact(seen: Seen) -> None:
    agents = {hit.headers["User-Agent"] for hit in seen.server.log}
    assert len(agents) == 1
    agent = agents.pop()
    assert agent.startswith("qiaocrawl/")
    assert "(+https://office.example/crawler)" in agent
