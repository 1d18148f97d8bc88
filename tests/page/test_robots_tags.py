"""What pages ask of robots, by tag and by header, of all and of one by name."""

from __future__ import annotations

import pytest

from qiaocrawl.page.page import RobotsTags, parse_page, robots_tags

NOTHING, NOFOLLOW = RobotsTags(), RobotsTags(nofollow=True)
NOINDEX, BOTH = RobotsTags(noindex=True), RobotsTags(nofollow=True, noindex=True)


@pytest.mark.parametrize(
    ("meta", "headers", "asked"),
    [
        ("", [], NOTHING),
        ("<meta name=robots content='index, follow, max-snippet:-1'>", [], NOTHING),
        ("<meta name=Robots content='NoIndex,NOFOLLOW'>", [], BOTH),
        ("<meta name=robots content=none>", [], BOTH),
        ("<meta name=robots content=noindex>", [], NOINDEX),
        ("<meta name=robots content=noindex>", ["nofollow"], BOTH),
        ("", ["noindex"], NOINDEX),
        ("", ["noindex, nofollow"], BOTH),
        ("", ["NONE"], BOTH),
        ("", ["noarchive", " nofollow "], NOFOLLOW),
        ("", ["unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"], NOFOLLOW),
        ("", ["max-image-preview:none"], NOTHING),
        ("", ["otherbot: noindex, nofollow"], NOTHING),
        ("", ["otherbot: none", "qiaocrawl: nofollow"], NOFOLLOW),
        ("<meta name=otherbot content=none>", [], NOTHING),
        ("<meta name=qiaocrawl content=nofollow>", [], NOFOLLOW),
        ("", [":", "", "a:", "\x00nofollow"], NOTHING),
    ],
)
def test_all_robots_and_us(meta: str, headers: list[str], asked: RobotsTags) -> None:
    page = parse_page(f"<html><head>{meta}</head><body>x</body></html>".encode())
    assert robots_tags(page.meta, [("x-robots-tag", value) for value in headers]) == asked


def test_other_headers_say_nothing() -> None:
    assert robots_tags({}, [("x-robots", "none"), ("robots", "none")]) == NOTHING
