"""Who publishes what: stories placed on sites and channels, then reprinted in other words."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from qiaocrawl.demo.inventory import Channel, Site, load_furniture, load_sites
from qiaocrawl.demo.model import Kind
from qiaocrawl.demo.stories import LAST_DAY, Story, StoryTeller

# --- How a reprint differs from its original: another title, another source line, other cuts ------

_CLAUSE = re.compile(r"[ ：，？！|]+")
# A title is not shortened below so many characters.
_MIN_TITLE = 7

_CUT_SHARE = 0.35
_ADD_SHARE = 0.3


def reprint_title(rng: random.Random, story: Story, shown: str) -> str:
    """A title for a copy of *story*, whose original says *shown*.

    A quarter is told anew, the rest keeps words: as it was, decorated, with synonyms, with its
    clauses the other way round, or shortened.
    """
    other_titles = [title for title in story.titles if title != shown]
    change = rng.choices(
        ("retold", "same", "decorated", "synonyms", "reordered", "shortened"),
        (24, 18, 22, 14, 10, 12),
    )[0]
    if change == "retold" and other_titles:
        return rng.choice(other_titles)
    if change == "synonyms":
        return _decorate(rng, _with_synonyms(shown), story.on_topic, share=0.5)
    if change == "reordered":
        return _reorder(shown)
    if change == "shortened":
        return _shorten(rng, shown)
    return _decorate(rng, shown, story.on_topic, share=0.0 if change == "same" else 1.0)


def reprint_lines(rng: random.Random, lines: Sequence[str], editor_note: str) -> list[str]:
    """*lines* with a paragraph cut, or *editor_note* put before or behind, or as they were."""
    copy = list(lines)
    if len(copy) > 3 and rng.random() < _CUT_SHARE:
        del copy[rng.randint(2, len(copy) - 1)]
    if rng.random() < _ADD_SHARE:
        copy.insert(rng.choice((0, len(copy))), editor_note)
    return copy


def reprint_source(rng: random.Random, original: Site) -> str:
    """The source line of a copy: the original's name in some form, or a vague word."""
    template: str = rng.choice(load_furniture()["reprint_sources"])
    return template.format(site=original.name, short=original.short)


def _with_synonyms(title: str) -> str:
    for word, synonym in load_furniture()["synonyms"]:
        if synonym in title:
            title = title.replace(synonym, word)
        elif word in title:
            title = title.replace(word, synonym)
    return title


def _decorate(rng: random.Random, title: str, on_topic: bool, *, share: float) -> str:
    if rng.random() >= share:
        return title
    furniture = load_furniture()
    where = "prefixes" if rng.random() < 0.6 else "suffixes"
    words = furniture[where] + (furniture[f"topic_{where}"] if on_topic else [])
    word: str = rng.choice(words)
    return word + title if where == "prefixes" else title + word


def _reorder(title: str) -> str:
    clauses = [clause for clause in _CLAUSE.split(title) if clause]
    return " ".join(reversed(clauses)) if len(clauses) > 1 else title


def _shorten(rng: random.Random, title: str) -> str:
    clauses = [clause for clause in _CLAUSE.split(title) if len(clause) >= _MIN_TITLE]
    return rng.choice(clauses) if len(clauses) > 1 else title


_KIND_OF_THEME = {"forum": Kind.FORUM, "blog": Kind.BLOG, "photo": Kind.PHOTO, "wap": Kind.BRIEF}
# Photo stories and briefs end with the paragraph that reaches so many characters.
_SHORT_FORMS = {Kind.PHOTO: 260, Kind.BRIEF: 130}

_FIRST_HOUR = 7
_MAX_COPIES = 5
# Articles behind the login form of a site that has one, and in a section robots may not read.
_WALLED, _INNER = 3, 4

_SHELL_EVERY = 3
# Round-ups, one kind for each site that has them, in the order of the sites.
_DIGESTS = (("侨界一周", "qiaotuan"), ("一周体坛", "sport"))


@dataclass(frozen=True, slots=True)
class Later:
    """What becomes of a page after its first month.

    Attributes:
        replace: texts in title and body, each with what stands there then.
        note: a line behind the body.
        deleted: it is gone.
    """

    replace: tuple[tuple[str, str], ...] = ()
    note: str = ""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Posting:
    """One story on one site. ``lines`` are what the page shows as body, the date line in them.

    ``taken_from`` is the host it was taken from, "" for an original.
    """

    site: Site
    channel: Channel
    story: Story
    kind: Kind
    title: str
    lines: tuple[str, ...]
    published_at: datetime
    author: str
    source: str
    original: bool
    number: int = 0
    path: str = ""
    robots_allowed: bool = True
    taken_from: str = ""
    later: Later | None = None


class Publisher:
    """Places stories on sites.

    Args:
        seed: all chance comes from it.
        scale: factor on the number of articles of every channel.
    """

    def __init__(self, seed: int, scale: float) -> None:
        self._rng = random.Random(f"{seed}/publisher")
        self._teller = StoryTeller(seed)
        self._scale = scale
        self._postings: list[Posting] = []
        self._hosts_of: dict[str, set[str]] = {}

    def publish(self) -> list[Posting]:
        """Every posting of the demo web, by site and date, with its path."""
        copies: list[tuple[Site, Channel, int]] = []
        for site in load_sites():
            for channel in site.channels:
                articles = max(2, round(channel.articles * self._scale))
                reprints = round(articles * channel.reprint_share)
                copies.append((site, channel, reprints))
                self._originals(site, channel, articles - reprints)
        self._digests()
        for site, channel, count in copies:
            for _ in range(count):
                self._reprint(site, channel)
        return [posting for site in load_sites() for posting in self._finish_site(site)]

    def _originals(self, site: Site, channel: Channel, count: int) -> None:
        for position in range(count):
            domain = channel.domains[position % len(channel.domains)]
            self._add(self._original(site, channel, self._teller.tell(domain)))

    def _original(self, site: Site, channel: Channel, story: Story) -> Posting:
        """*story* as *site* is the first to tell it."""
        rng = self._rng
        kind = kind_on(site)
        lines = shorten(story.lines, kind)
        named = {
            "short": site.short,
            "city": story.lead_city,
            "md": f"{story.happened_at.month}月{story.happened_at.day}日",
            "author": story.author,
        }
        return Posting(
            site=site,
            channel=channel,
            story=story,
            kind=kind,
            title=story.titles[0],
            lines=(site.dateline.format(**named) + lines[0], *lines[1:]),
            published_at=_office_hours(story.happened_at + timedelta(minutes=rng.randint(20, 600))),
            author=story.author,
            source=site.name if kind not in (Kind.FORUM, Kind.BLOG) else "",
            original=True,
        )

    def _digests(self) -> None:
        sites = [site for site in load_sites() if "digest" in site.features]
        for site, (name, domain) in zip(sites, _DIGESTS, strict=True):
            channel = next(channel for channel in site.channels if domain in channel.domains)
            stories = [
                posting.story for posting in self._postings if posting.story.domain == domain
            ]
            for week in range(4):
                end = LAST_DAY - timedelta(days=7 * week + 2)
                start = end - timedelta(days=6)
                title = f"{name}（{start.month}月{start.day}日—{end.month}月{end.day}日）"
                chosen = self._rng.sample(stories, min(12, len(stories)))
                story = self._teller.digest(chosen, title, end)
                self._add(self._original(site, channel, story))

    def _reprint(self, site: Site, channel: Channel) -> None:
        """One more article of *channel*: a copy of what another site had, if there is any."""
        candidates = [
            posting
            for posting in self._postings
            if posting.original
            and posting.story.domain in channel.domains
            and site.host not in self._hosts_of[posting.story.key]
            and len(self._hosts_of[posting.story.key]) <= _MAX_COPIES
        ]
        if not candidates:
            self._originals(site, channel, 1)
            return
        weights = [len(self._hosts_of[posting.story.key]) ** 2 for posting in candidates]
        self._add(self._copy(site, channel, self._rng.choices(candidates, weights)[0]))

    def _copy(self, site: Site, channel: Channel, original: Posting) -> Posting:
        rng = self._rng
        kind = kind_on(site)
        note = f"（本文转载自{original.site.name}，标题和内容略有改动）"
        lines = reprint_lines(rng, original.lines, note)
        later = timedelta(minutes=rng.randint(30, 3900))
        return replace(
            original,
            site=site,
            channel=channel,
            kind=kind,
            title=reprint_title(rng, original.story, original.title),
            lines=shorten(lines, kind),
            published_at=_office_hours(original.published_at + later),
            source=reprint_source(rng, original.site) if kind is not Kind.FORUM else "",
            original=False,
            taken_from=original.site.host,
        )

    def _add(self, posting: Posting) -> None:
        if posting.kind is Kind.FORUM:
            posting = self._posted_by_member(posting)
        self._postings.append(posting)
        self._hosts_of.setdefault(posting.story.key, set()).add(posting.site.host)

    def _posted_by_member(self, posting: Posting) -> Posting:
        opener = self._rng.choice(load_furniture()["openers"])
        member = self._rng.choice(load_furniture()["users"])
        return replace(posting, author=member, lines=(opener, *posting.lines))

    def _finish_site(self, site: Site) -> list[Posting]:
        """The postings of *site* in the order of their dates, numbered, with paths and walls."""
        postings = [posting for posting in self._postings if posting.site is site]
        postings.sort(key=lambda posting: (posting.published_at, posting.story.key))
        number = self._rng.randint(10, 800) * 1000
        finished: list[Posting] = []
        for posting in postings:
            number += self._rng.randint(1, 30)
            finished.append(number_posting(posting, number))
        for feature, change in _CHANGES.items():
            if feature in site.features:
                finished = change(finished)
        return finished


def kind_on(site: Site) -> Kind:
    """What the articles of *site* are."""
    return _KIND_OF_THEME.get(site.theme, Kind.ARTICLE)


def number_posting(posting: Posting, number: int) -> Posting:
    """*posting* under *number* of its site, with the path that goes with it."""
    return replace(posting, number=number, path=_path(posting, number))


def shorten(lines: Sequence[str], kind: Kind) -> tuple[str, ...]:
    """*lines* as far as *kind* has room."""
    room = _SHORT_FORMS.get(kind)
    shown_lines: list[str] = []
    for line in lines:
        if room is not None and sum(map(len, shown_lines)) >= room:
            break
        shown_lines.append(line)
    return tuple(shown_lines)


def _office_hours(day: datetime) -> datetime:
    """What would appear at night appears in the morning."""
    return day if day.hour >= _FIRST_HOUR else day.replace(hour=_FIRST_HOUR + day.hour)


def _path(posting: Posting, number: int) -> str:
    day = posting.published_at
    return posting.site.article.format(
        ch=posting.channel.slug,
        chid=posting.channel.number,
        y=day.year,
        m=f"{day.month:02}",
        d=f"{day.day:02}",
        id=number,
    )


def _with_walls(postings: Sequence[Posting]) -> list[Posting]:
    step = max(1, len(postings) // _WALLED)
    return [
        replace(posting, kind=Kind.LOGIN_WALL) if position % step == step // 2 else posting
        for position, posting in enumerate(postings)
    ]


def _with_shells(postings: Sequence[Posting]) -> list[Posting]:
    return [
        replace(posting, kind=Kind.SHELL) if position % _SHELL_EVERY == 1 else posting
        for position, posting in enumerate(postings)
    ]


def _with_inner(postings: Sequence[Posting]) -> list[Posting]:
    inner = {posting.number for posting in postings if posting.original}
    chosen = sorted(inner)[:: max(1, len(inner) // _INNER)][:_INNER]
    return [
        replace(posting, path=f"/neibu/{posting.number}.html", robots_allowed=False)
        if posting.number in chosen
        else posting
        for posting in postings
    ]


_CHANGES: dict[str, Callable[[Sequence[Posting]], list[Posting]]] = {
    "login": _with_walls,
    "shells": _with_shells,
    "inner": _with_inner,
}
