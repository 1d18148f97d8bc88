"""Mazes of unique, dated, on-topic texts are cut; archives that look like them are read whole."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from zlib import crc32

import pytest

from qiaocrawl.discovery.static_traps import UrlLimits
from qiaocrawl.discovery.text_sample import text_sample
from qiaocrawl.discovery.trap_scores import PageValue
from qiaocrawl.discovery.trap_watch import PageEvidence, TrapWatch
from story_texts import MADE_UP, Text, chained, drawn, filled, written

_A = "http://a.test"
_MOST_OF_A_MAZE = 60
_REAL = 300
Page = tuple[PageValue, list[str], str]
"""What a page is, its links, its text."""
Web = Callable[[str], Page | None]
_NAV = ["/", "/news/", "/about.html"]


@dataclass
class Crawl:
    """A crawl in memory: fetches what waits, then what is closed, as far as it is tried.

    Attributes:
        fetched: paths, in order.
        cut, opened: groups.
        closed: paths that are of a trap, by reason.
    """

    web: Web
    seed: int | None = None
    watch: TrapWatch = field(default_factory=lambda: TrapWatch(UrlLimits(latest_year=2027)))
    fetched: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    closed: dict[str, list[str]] = field(default_factory=dict)

    def run(self, *start: str, most: int = 4_000) -> Crawl:
        """Fetch *start* and all that follows."""
        self._seen, self._waiting, self._rng = set(start), list(start), random.Random(self.seed)
        while len(self.fetched) < most:
            while self._waiting and len(self.fetched) < most:
                at = 0 if self.seed is None else self._rng.randrange(len(self._waiting))
                path = self._waiting.pop(at)
                why = self.watch.reason(_A + path)[1]
                if why:
                    self.closed.setdefault(why, []).append(path)
                else:
                    self._fetch(path)
            if not self._try_closed():
                break
        return self

    def _try_closed(self) -> bool:
        shares = self.watch.shares({why: len(paths) for why, paths in self.closed.items()})
        for why, share in shares.items():
            paths = [self.closed[why].pop(0) for _ in range(share)]
            if not self.closed[why]:
                del self.closed[why]
            stories = sum([self._fetch(path, why) for path in paths])
            self.watch.note_round(why, stories, len(paths))
        self.opened += self.watch.take_opened()
        return bool(shares)

    def _fetch(self, path: str, trial: str = "") -> bool:
        """Whether a story stands there."""
        page = self.web(path)
        self.fetched.append(path)
        if page is None:
            self.watch.learn(PageEvidence(_A + path, PageValue.GONE, trial=trial))
            return False
        value, links, text = page
        fresh = [link for link in dict.fromkeys(links) if link not in self._seen]
        self._seen.update(fresh)
        reasons = {link: self.watch.reason(_A + link)[1] for link in links}
        for link in fresh:
            if reasons[link]:
                self.closed.setdefault(reasons[link], []).append(link)
            else:
                self._waiting.append(link)
        closed = [_A + link for link in fresh if reasons[link]]
        if value is PageValue.LIST:
            self.watch.note_listed(closed, _A + path)
        self.cut += self.watch.learn(PageEvidence(
            _A + path, value, path.encode(), [_A + link for link in links if not reasons[link]],
            frozenset(_A + link for link in fresh if not reasons[link]), _sample(text), closed,
            trial,
        ))  # fmt: skip
        return value is PageValue.STORY


@cache
def _sample(text: str) -> bytes:
    return text_sample(text) if text else b""


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
        return PageValue.STORY, [*_NAV, *near], text(day)

    return page


def tomorrow(text: Text) -> Web:
    """A page a day, with a link to the day before and the day after."""

    def page(path: str) -> Page:
        day = int(path.split("/")[2])
        return PageValue.STORY, [*_NAV, f"/day/{day - 1}/", f"/day/{day + 1}/"], text(day)

    return page


def hashes(text: Text) -> Web:
    """Pages at digests, each with six more of them, the way back and three of the hottest."""

    def page(path: str) -> Page:
        more = [f"/t/{slug}.html" for slug in _slugs(path, 6)]
        hot = [f"/t/hot{n}.html" for n in range(3)]
        return PageValue.STORY, [*_NAV, "/t/in.html", *hot, *more], text(crc32(path.encode()))

    return page


def deeper(text: Text) -> Web:
    """Every page has five below it, so that no form of address comes often."""

    def page(path: str) -> Page:
        folder = "/".join(path.split("/")[2:][-4:])
        below = [f"/tale/{folder}/{slug}" for slug in _slugs(path, 5, words=True)]
        return PageValue.STORY, [*_NAV, path.rpartition("/")[0], *below], text(crc32(path.encode()))

    return page


def related(text: Text) -> Web:
    """Articles that lead to "related" ones alone, siblings to each other."""

    def page(path: str) -> Page:
        number = int(path[3:-5])
        family = [f"/p/{10 * (number // 10) + n}.html" for n in range(3)]
        more = [f"/p/{number * 7 + 10 * n + 1}.html" for n in range(1, 6)]
        return PageValue.STORY, [*_NAV, *family, *more], text(number)

    return page


def at_the_root(text: Text) -> Web:
    """Every page in a first folder of its own."""

    def page(path: str) -> Page:
        more = [f"/{slug}/x" for slug in _slugs(path, 5)]
        return PageValue.STORY, [*_NAV, *more], text(crc32(path.encode()))

    return page


def section(around: Web, real: int) -> Web:
    """The maze beside a section of news, with lists, that links to it from every page."""
    news = newspaper(real)

    def page(path: str) -> Page | None:
        if not path.startswith(("/news/", "/about")) and path != "/":
            return around(path)
        found = news(path)
        return found and (
            found[0],
            [*found[1], _ENTRANCES[around.__qualname__.split(".")[0]]],
            found[2],
        )

    return page


_ENTRANCES = {
    "calendar": "/day/20000/a.html",
    "tomorrow": "/day/20000/",
    "hashes": "/t/in.html",
    "deeper": "/tale/in",
    "related": "/p/1.html",
    "at_the_root": "/start/x",
}
_MAZES = (calendar, tomorrow, hashes, deeper, related, at_the_root)


# Each with texts of one kind, and one of them with all.
_CASES = [*zip(_MAZES, MADE_UP * 2, strict=True), *((hashes, text) for text in MADE_UP)]


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(("maze", "text"), dict.fromkeys(_CASES))
def test_a_maze_of_stories_is_cut(
    maze: Callable[[Text], Web], text: Text, seed: int | None
) -> None:
    done = Crawl(section(maze(text), _REAL), seed).run("/")
    news = [path for path in done.fetched if path.startswith("/news/")]
    lost = len(done.fetched) - len(news) - 2
    assert done.cut
    assert len(news) == _REAL + _REAL // 20, "the section beside it was read whole"
    assert lost <= _MOST_OF_A_MAZE + 0.1 * len(done.fetched), lost
    assert done.opened == []
    assert done.closed, "what was left out is listed"


@pytest.mark.parametrize("maze", [hashes, deeper, at_the_root])
def test_a_maze_of_texts_like_any_ends_as_well(maze: Callable[[Text], Web]) -> None:
    done = Crawl(section(maze(written), 100)).run("/")
    assert 100 < len(done.fetched) - 107 <= 200 + 0.1 * len(done.fetched)


# --- what is none -----------------------------------------------------------------------------


def newspaper(stories: int, text: Text = written) -> Web:
    """Lists of twenty, stories with related ones from all years, and the hottest on every page."""
    lists = -(-stories // 20)

    def page(path: str) -> Page | None:
        if path == "/":
            return PageValue.LIST, ["/news/", *(f"/news/{n}.html" for n in range(5))], ""
        if path.startswith("/about"):
            return PageValue.NOTHING, ["/"], ""
        if path == "/news/" or path.startswith("/news/list_"):
            number = int(path[11:-5] or 0) if path != "/news/" else 0
            links = [f"/news/{n}.html" for n in range(20 * number, min(20 * number + 20, stories))]
            nexts = [f"/news/list_{number + 1}.html"] if number + 1 < lists else []
            return PageValue.LIST, [*_NAV, *links, *nexts], ""
        number = int(path[6:-5])
        near = random.Random(number).sample(range(stories), 5)
        return (
            PageValue.STORY,
            [*_NAV, *(f"/news/{n}.html" for n in (*range(10), *near))],
            text(number),
        )

    return page


def chain(stories: int, text: Text = written) -> Web:
    """A blog of which each story leads to the one before and the one after, and to no list."""

    def page(path: str) -> Page:
        if path == "/":
            return PageValue.LIST, [f"/blog/{stories - 1}/"], ""
        number = int(path.split("/")[2])
        near = [f"/blog/{n}/" for n in (number - 1, number + 1) if 0 <= n < stories]
        return PageValue.STORY, ["/", *near], text(number)

    return page


def by_date(stories: int, text: Text = written) -> Web:
    """Years lead to months, months to days, days to stories, stories nowhere."""

    def page(path: str) -> Page:
        if path == "/":
            return PageValue.LIST, [f"/{year}/" for year in range(2010, 2020)], ""
        parts = path.strip("/").split("/")
        if len(parts) == 1:
            return (
                PageValue.LIST,
                ["/", *(f"/{parts[0]}/{month:02}/" for month in range(1, 13))],
                "",
            )
        if len(parts) == 2:
            many = stories // 120
            return (
                PageValue.LIST,
                ["/", *(f"{path}{n:02}/s{n}.html" for n in range(1, many + 1))],
                "",
            )
        return (
            PageValue.STORY,
            ["/", "/".join(path.split("/")[:3]) + "/"],
            text(crc32(path.encode())),
        )

    return page


def forum(threads: int, text: Text = written) -> Web:
    """Boards list threads; threads have pages, the next and the last thread, and quote others."""

    def page(path: str) -> Page:
        if path == "/" or path.startswith("/forum-"):
            number = int(path[7:-5]) if path != "/" else 0
            rows = range(30 * number, min(30 * number + 30, threads))
            nexts = [f"/forum-{number + 1}.html"] if 30 * number + 30 < threads else []
            return PageValue.LIST, [*(f"/thread-{n}-1-1.html" for n in rows), *nexts], ""
        _, number, at, _ = path.split("-")
        near = [int(number) - 1, int(number) + 1, random.Random(path).randrange(threads)]
        more = [f"/thread-{number}-{int(at) + 1}-1.html"] if int(at) < int(number) % 3 + 1 else []
        return (
            PageValue.STORY,
            ["/", *more, *(f"/thread-{n}-1-1.html" for n in near if 0 <= n < threads)],
            text(crc32(path.encode())),
        )

    return page


def only_related(stories: int, text: Text = written) -> Web:
    """No list at all: each story leads to six of all others."""

    def page(path: str) -> Page:
        if path == "/":
            return PageValue.LIST, ["/r/1.html"], ""
        near = random.Random(path).sample(range(stories), 6)
        return PageValue.STORY, ["/", *(f"/r/{n}.html" for n in near)], text(crc32(path.encode()))

    return page


_ARCHIVES: dict[str, tuple[Web, str, int]] = {
    "newspaper": (newspaper(500), "/", 500 + 25 + 2),
    "chain": (chain(500), "/blog/499/", 500),
    "by date": (by_date(480), "/", 480 + 120 + 10 + 1),
    "forum": (forum(300), "/", 300 + 300 + 10),
    "only related": (only_related(500), "/r/1.html", 495),
    # Notices, results, tables: a program's texts, but of a section.
    "forms in lists": (newspaper(500, filled), "/", 500 + 25 + 2),
    "forms by date": (by_date(480, filled), "/", 480 + 120 + 10 + 1),
    "drawn words in lists": (newspaper(400, drawn), "/", 400 + 20 + 2),
    "a forum of chains": (forum(200, chained), "/", 200 + 200 + 7),
}


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("archive", _ARCHIVES)
def test_an_archive_is_read_whole(archive: str, seed: int | None) -> None:
    web, start, pages = _ARCHIVES[archive]
    done = Crawl(web, seed).run(start)
    assert len(done.fetched) >= 0.99 * pages
    assert done.closed == {}
    if "drawn" not in archive and "forms" not in archive:
        assert done.cut == [], "not even for a while"


def test_a_blog_is_read_through_its_tags() -> None:
    """All tags are read before the first post, and posts' addresses have many forms."""

    def posts(tag: str) -> list[str]:
        words = _slugs(tag, 8, words=True)
        return [f"/blog/2026/{'-'.join(words[: many + 1])}/" for many in range(8)]

    def web(path: str) -> Page:
        if path == "/":
            return PageValue.LIST, [f"/tags/{n}/" for n in range(60)], ""
        if path.startswith("/tags/"):
            return PageValue.LIST, ["/", *posts(path)], ""
        return PageValue.STORY, ["/"], written(crc32(path.encode()))

    done = Crawl(web).run("/")
    assert done.cut == []
    assert len(done.fetched) == 1 + 60 + 480


# --- wrong guesses ------------------------------------------------------------------------------


def empty_at_first(path: str) -> Page:
    """Six pages that say nothing lead to all others, which tell stories."""
    if path == "/":
        return PageValue.LIST, [f"/a/{n}.html" for n in range(7)], ""
    number = int(path[3:-5])
    if number < 7:
        return PageValue.NOTHING, [f"/a/{100 * number + n}.html" for n in range(10, 40)], ""
    return PageValue.STORY, ["/"], written(number)


def of_the_eighties(path: str) -> Page:
    """A newspaper that has put its old years on the web."""
    if path == "/":
        return PageValue.LIST, [f"/1986/{month:02}/" for month in range(1, 13)], ""
    if path.endswith("/"):
        return PageValue.LIST, [f"{path}{n}.html" for n in range(10)], ""
    return PageValue.STORY, ["/"], written(crc32(path.encode()))


def repeating(path: str) -> Page:
    """Folders of one name, of which only a trap's come so often."""
    if path == "/":
        return (
            PageValue.LIST,
            [
                *(f"/cn/x/cn/y/cn/{n}.html" for n in range(100)),
                *(f"/n/{n}.html" for n in range(100)),
            ],
            "",
        )
    return PageValue.STORY, ["/"], written(crc32(path.encode()))


@pytest.mark.parametrize(("web", "pages"), [
    (empty_at_first, 8 + 7 * 30), (of_the_eighties, 1 + 12 + 120), (repeating, 201),
])  # fmt: skip
def test_a_wrong_guess_costs_the_order_and_no_page(web: Web, pages: int) -> None:
    other = newspaper(200)
    done = Crawl(
        lambda path: (
            other(path)
            if path.startswith(("/news", "/about"))
            else (PageValue.LIST, [*web("/")[1], "/news/"], "")
            if path == "/"
            else web(path)
        )
    ).run("/")
    found = [path for path in done.fetched if not path.startswith(("/news/", "/about"))]
    assert done.opened
    assert len(found) == pages
    assert done.closed == {}


def of_no_topic(path: str) -> Page:
    """Courses with lectures and handouts: nothing of the topic, no date, no story; but an end."""
    if path == "/":
        return PageValue.LIST, ["/c/0/"], ""
    parts = path.strip("/").split("/")
    if len(parts) == 2:
        number = int(parts[1])
        nexts = [f"/c/{number + 1}/"] if number < 9 else []
        return PageValue.NOTHING, ["/", *nexts, *(f"{path}{n}.html" for n in range(8))], ""
    notes = [path.replace(".html", "-notes.html")] if "-" not in path else []
    return PageValue.WEAK, ["/", *notes], written(crc32(path.encode()))


def test_a_section_without_stories_is_read_where_it_is_not_the_larger_part() -> None:
    news = newspaper(400)

    def web(path: str) -> Page | None:
        if path == "/":
            return PageValue.LIST, ["/news/", "/c/0/"], ""
        return of_no_topic(path) if path.startswith("/c/") else news(path)

    done = Crawl(web).run("/")
    assert done.cut, "this section is no guess at all"
    assert sum(path.startswith("/c/") for path in done.fetched) == 10 + 2 * 80
    assert done.closed == {}


def test_a_link_on_a_list_does_not_open_what_a_former_run_cut() -> None:
    first = Crawl(section(hashes(drawn), _REAL)).run("/")
    again = Crawl(section(hashes(drawn), _REAL))
    again.watch.restore(first.watch.take_changes())
    again.run("/")
    assert again.opened == []
    assert sum(path.startswith("/t/") for path in again.fetched) <= 0.1 * len(again.fetched)


def test_what_the_operator_bounds_is_listed_and_never_tried() -> None:
    def web(path: str) -> Page:
        if path == "/":
            return (
                PageValue.LIST,
                ["/" + "/".join(f"f{n}" for n in range(25)), *(f"/n/{n}.html" for n in range(100))],
                "",
            )
        return PageValue.STORY, [], written(crc32(path.encode()))

    done = Crawl(web).run("/")
    assert len(done.fetched) == 101
    assert list(done.closed) == ["trap: a.test/(path too deep)"]
