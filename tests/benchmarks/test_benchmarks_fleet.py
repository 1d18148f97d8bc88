"""What the benchmark of several collectors reads out of the requests a web has seen."""

from __future__ import annotations

from benchmarks.fleets.figures import coverage, crossings, politeness, takeover
from benchmarks.fleets.web import FORBIDDEN, FleetWeb, Hit

WEB = FleetWeb(hosts=2, articles=3, delay_seconds=1.0)


def hits(*seen: tuple[float, str, str, str]) -> list[Hit]:
    return [Hit(at, f"h{host}.fleet.test", path, agent) for at, host, path, agent in seen]


def test_its_links_lead_to_every_page() -> None:
    waiting = [url.removeprefix("http://").split("/", 1) for url in WEB.starts]
    reached = set()
    while waiting:
        host, path = waiting.pop()
        body = WEB.page(host, f"/{path}")
        if body is None or (host, path) in reached:
            continue
        reached.add((host, path))
        for link in body.decode().split('href="')[1:]:
            address = link.partition('"')[0]
            there = address.removeprefix("http://").split("/", 1)
            waiting.append(there if "//" in address else [host, address[1:]])
    assert len(reached) == WEB.pages == 10


def test_a_pause_holds_whoever_asks() -> None:
    seen = hits((0.0, "0", "/robots.txt", "a"), (0.0, "0", "/robots.txt", "b"),
                (1.0, "0", "/", "a"), (1.2, "0", "/1", "b"), (2.2, "0", "/2", "a"),
                (2.3, "1", FORBIDDEN, "a"))  # fmt: skip
    figures = politeness(WEB, seen)
    assert figures["politeness_violations"] == 1
    assert figures["least_gap_seconds"] == 0.2
    assert figures["hosts_asked_too_fast"] == 1
    assert figures["forbidden_pages_asked_for"] == 1


def test_a_page_that_is_asked_for_twice_or_never_counts() -> None:
    seen = hits((1, "0", "/", "a"), (2, "0", "/", "b"), (3, "1", "/", "a"), (4, "1", "/x", "a"))
    assert coverage(WEB, seen) == {
        "pages": 3, "pages_missed": 7, "fetched_twice": 1, "least_share_percent": 25,
    }  # fmt: skip
    assert crossings(seen) == 1


def test_hosts_of_the_dead_go_on_when_another_asks_them() -> None:
    seen = hits((1, "0", "/", "dead"), (2, "1", "/", "other"), (3, "1", "/1", "other"),
                (12, "0", "/1", "other"), (13, "0", "/2", "other"))  # fmt: skip
    assert takeover(seen, "dead", killed_at=2.5) == {
        "hosts_taken_over": 1, "hosts_go_on_seconds": 9.5, "longest_silence_seconds": 9,
    }  # fmt: skip
