"""Mazes of unique, dated, on-topic texts are cut; archives that look like them are read whole."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pytest

from qiaocrawl.discovery.made_up import text_sample
from qiaocrawl.discovery.page_seen import PageSeen
from qiaocrawl.discovery.static_traps import UrlLimits
from qiaocrawl.discovery.trap_accounts import Worth
from qiaocrawl.discovery.trap_watch import TrapWatch
from story_texts import MADE_UP, Text, chained, drawn, filled, written

_A = "http://a.test"
_MOST_OF_A_MAZE = 60
Page = tuple[Worth, list[str], str]
"""What a page is, its links, its text."""
Web = Callable[[str], Page | None]
_NAV = ["/", "/news/", "/about.html"]


@dataclass
class Crawled:
    """What a crawl fetched, and what its watch forbade."""

    fetched: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)


def crawl(web: Web, start: Iterable[str], most: int = 3_000, seed: int | None = None) -> Crawled:
    """Fetch page after page in the order they are found, or in any order."""
    watch, done = TrapWatch(UrlLimits()), Crawled()
    waiting, seen = list(start), set(start)
    rng = random.Random(seed)
    while waiting and len(done.fetched) < most:
        path = waiting.pop(0 if seed is None else rng.randrange(len(waiting)))
        if watch.reason(_A + path)[0]:
            done.refused.add(path)
            continue
        page = web(path)
        done.fetched.append(path)
        if page is None:
            watch.learn(PageSeen(_A + path, Worth.GONE))
            continue
        worth, links, text = page
        allowed = [link for link in links if not watch.reason(_A + link)[0]]
        done.refused.update(link for link in links if link not in allowed)
        if worth is Worth.LIST:
            watch.listed([_A + link for link in links], _A + path)
        fresh = [link for link in dict.fromkeys(allowed) if link not in seen]
        seen.update(fresh)
        waiting += fresh
        done.cut += watch.learn(PageSeen(
            _A + path, worth, path.encode(), [_A + link for link in allowed],
            frozenset(_A + link for link in fresh), text_sample(text) if text else b"",
        ))  # fmt: skip
    return done


# --- mazes ------------------------------------------------------------------------------------


def _slugs(path: str, many: int, *, words: bool = False) -> list[str]:
    seed = random.Random(path)
    if words:
        return ["".join(seed.choice("abcdefghijklm") for _ in range(6)) for _ in range(many)]
    return [f"{seed.getrandbits(40):010x}" for _ in range(many)]


def calendar(text: Text) -> Web:
    """A page a day, with links to the days, months and years around it."""
    def page(path: str) -> Page:
        day = int(path.split("/")[2])
        near = [f"/day/{day + step}/a.html" for step in (-365, -30, -1, 1, 30)]
        return Worth.STORY, [*_NAV, *near], text(day)
    return page


def tomorrow(text: Text) -> Web:
    """A page a day, with a link to the day before and the day after."""
    def page(path: str) -> Page:
        day = int(path.split("/")[2])
        return Worth.STORY, [*_NAV, f"/day/{day - 1}/", f"/day/{day + 1}/"], text(day)
    return page


def hashes(text: Text) -> Web:
    """Pages at digests, each with six more of them, the way back and three of the hottest."""
    def page(path: str) -> Page:
        more = [f"/t/{slug}.html" for slug in _slugs(path, 6)]
        hot = [f"/t/hot{n}.html" for n in range(3)]
        return Worth.STORY, [*_NAV, "/t/in.html", *hot, *more], text(hash(path))
    return page


def deeper(text: Text) -> Web:
    """Every page has five below it, so that no form of address comes often."""
    def page(path: str) -> Page:
        folder = "/".join(path.split("/")[-4:])
        below = [f"/tale/{folder}/{slug}" for slug in _slugs(path, 5, words=True)]
        return Worth.STORY, [*_NAV, path.rpartition("/")[0], *below], text(hash(path))
    return page


def related(text: Text) -> Web:
    """Articles that lead to "related" ones alone, siblings to each other."""
    def page(path: str) -> Page:
        number = int(path[3:-5])
        family = [f"/p/{10 * (number // 10) + n}.html" for n in range(3)]
        more = [f"/p/{number * 7 + 10 * n + 1}.html" for n in range(1, 6)]
        return Worth.STORY, [*_NAV, *family, *more], text(number)
    return page


def at_the_root(text: Text) -> Web:
    """Every page in a first folder of its own."""
    def page(path: str) -> Page:
        return Worth.STORY, [*_NAV, *(f"/{slug}/x" for slug in _slugs(path, 5))], text(hash(path))
    return page


def section(around: Web, real: int) -> Web:
    """The maze beside a section of news, with lists, that links to it from every page."""
    news = newspaper(real)
    def page(path: str) -> Page | None:
        if not path.startswith(("/news/", "/about")) and path != "/":
            return around(path)
        found = news(path)
        return found and (found[0], [*found[1], _ENTRANCES[around.__qualname__.split(".")[0]]],
                          found[2])
    return page


_ENTRANCES = {"calendar": "/day/20000/a.html", "tomorrow": "/day/20000/", "hashes": "/t/in.html",
              "deeper": "/tale/in", "related": "/p/1.html", "at_the_root": "/start/x"}
_MAZES = (calendar, tomorrow, hashes, deeper, related, at_the_root)


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("text", MADE_UP)
@pytest.mark.parametrize("maze", _MAZES)
def test_a_maze_of_stories_is_cut(
    maze: Callable[[Text], Web], text: Text, seed: int | None
) -> None:
    real = 300
    done = crawl(section(maze(text), real), ["/"], seed=seed)
    news = {path for path in done.fetched if path.startswith("/news/")}
    lost = len(done.fetched) - len(news)
    assert done.cut
    assert len(news) == real + -(-real // 20), "the section beside it was read whole"
    assert lost <= _MOST_OF_A_MAZE, lost


@pytest.mark.parametrize("maze", [hashes, deeper, at_the_root])
def test_a_maze_of_texts_like_any_ends_as_well(maze: Callable[[Text], Web]) -> None:
    done = crawl(section(maze(written), 100), ["/"])
    assert 100 < len(done.fetched) - 105 <= 220


# --- what is none -----------------------------------------------------------------------------


def newspaper(stories: int, text: Text = written) -> Web:
    """Lists of twenty, stories with related ones from all years, and the hottest on every page."""
    lists = -(-stories // 20)
    def page(path: str) -> Page | None:
        if path == "/":
            return Worth.LIST, ["/news/", *(f"/news/{n}.html" for n in range(5))], ""
        if path.startswith("/about"):
            return Worth.NOTHING, ["/"], ""
        if path == "/news/" or path.startswith("/news/list_"):
            number = int(path[11:-5] or 0) if path != "/news/" else 0
            links = [f"/news/{n}.html" for n in range(20 * number, min(20 * number + 20, stories))]
            nexts = [f"/news/list_{number + 1}.html"] if number + 1 < lists else []
            return Worth.LIST, [*_NAV, *links, *nexts], ""
        number = int(path[6:-5])
        near = random.Random(number).sample(range(stories), 5)
        return (Worth.STORY, [*_NAV, *(f"/news/{n}.html" for n in (*range(10), *near))],
                text(number))
    return page


def chain(stories: int, text: Text = written) -> Web:
    """A blog of which each story leads to the one before and the one after, and to no list."""
    def page(path: str) -> Page:
        number = int(path.split("/")[2])
        near = [f"/blog/{n}/" for n in (number - 1, number + 1) if 0 <= n < stories]
        return Worth.STORY, ["/", *near], text(number)
    return page


def by_date(stories: int, text: Text = written) -> Web:
    """Years lead to months, months to days, days to stories, stories nowhere."""
    def page(path: str) -> Page:
        if path == "/":
            return Worth.LIST, [f"/{year}/" for year in range(2010, 2020)], ""
        parts = path.strip("/").split("/")
        if len(parts) == 1:
            return Worth.LIST, ["/", *(f"/{parts[0]}/{month:02}/" for month in range(1, 13))], ""
        if len(parts) == 2:
            many = stories // 120
            return Worth.LIST, ["/", *(f"{path}{n:02}/s{n}.html" for n in range(1, many + 1))], ""
        return Worth.STORY, ["/", "/".join(path.split("/")[:3]) + "/"], text(hash(path))
    return page


def forum(threads: int, text: Text = written) -> Web:
    """Boards list threads; threads have pages, the next and the last thread, and quote others."""
    def page(path: str) -> Page:
        if path == "/" or path.startswith("/forum-"):
            number = int(path[7:-5]) if path != "/" else 0
            rows = range(30 * number, min(30 * number + 30, threads))
            nexts = [f"/forum-{number + 1}.html"] if 30 * number + 30 < threads else []
            return Worth.LIST, [*(f"/thread-{n}-1-1.html" for n in rows), *nexts], ""
        _, number, at, _ = path.split("-")
        near = [int(number) - 1, int(number) + 1, random.Random(path).randrange(threads)]
        more = [f"/thread-{number}-{int(at) + 1}-1.html"] if int(at) < int(number) % 3 + 1 else []
        return (Worth.STORY, ["/", *more, *(f"/thread-{n}-1-1.html" for n in near
                                           if 0 <= n < threads)], text(hash(path)))
    return page


def only_related(stories: int, text: Text = written) -> Web:
    """No list at all: each story leads to six of all others."""
    def page(path: str) -> Page:
        near = random.Random(path).sample(range(stories), 6)
        return Worth.STORY, ["/", *(f"/r/{n}.html" for n in near)], text(hash(path))
    return page


_ARCHIVES: dict[str, tuple[Web, str, int]] = {
    "newspaper": (newspaper(900), "/", 900 + 45 + 2),
    "chain": (chain(900), "/blog/899/", 900 + 1),
    "by date": (by_date(1200), "/", 1200 + 120 + 10 + 1),
    "forum": (forum(300), "/", 300 + 300 + 10),
    "only related": (only_related(900), "/r/1.html", 890),
    # Notices, results, tables: a program's texts, but of a section.
    "forms in lists": (newspaper(900, filled), "/", 900 + 45 + 2),
    "forms by date": (by_date(1200, filled), "/", 1200 + 120 + 10 + 1),
    "drawn words in lists": (newspaper(600, drawn), "/", 600 + 30 + 2),
    "a forum of chains": (forum(200, chained), "/", 200 + 200 + 7),
}


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("archive", _ARCHIVES)
def test_an_archive_is_read_whole(archive: str, seed: int | None) -> None:
    web, start, pages = _ARCHIVES[archive]
    done = crawl(lambda path: web(path) if path != "/" or start == "/" else
                 (Worth.LIST, [start], ""), [start], seed=seed)
    assert done.cut == []
    assert len(done.fetched) >= 0.99 * pages
