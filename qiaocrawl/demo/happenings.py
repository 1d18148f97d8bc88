"""The happenings of ``data/happenings.toml``: posted, true, and what their office has beside."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from sqlalchemy import Connection, select

from qiaocrawl.demo.inventory import (
    Channel,
    Site,
    load_furniture,
    load_names,
    load_sites,
    read_data,
)
from qiaocrawl.demo.model import ARTICLE_KINDS, CHINA_TIME, Gold, Kind
from qiaocrawl.demo.publishing import Later, Posting, kind_on, number_posting, shorten
from qiaocrawl.demo.stories import Story
from qiaocrawl.fetch.sessions.vault import new_key
from qiaocrawl.storage import schedules
from qiaocrawl.storage.jobs import JobRequest
from qiaocrawl.storage.schedules import Timing, WhenMissed
from qiaocrawl.storage.schema import article, url
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sites.accounts import add_account, list_accounts
from qiaocrawl.storage.values import from_time

Tone = Literal["positive", "negative", "neutral"]

_FRAME = "happening"
# Behind the numbers of everything else on a site.
_NUMBERS_ON = 1_000


@dataclass(frozen=True, slots=True)
class Telling:
    """One article of a happening; the head of the file explains the fields."""

    site: str
    channel: str
    at: datetime
    title: str
    taken_from: str = ""
    source: str = ""
    lead: str = ""
    cut: tuple[int, ...] = ()
    add: tuple[str, ...] = ()
    later: Later | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """What happened, with the truth about it; the first telling is the first publisher's."""

    key: str
    author: str
    tone: Tone
    place: str
    text: tuple[str, ...]
    tellings: tuple[Telling, ...]
    burst: bool = False

    @property
    def group(self) -> str:
        """The reprint group of its articles."""
        return f"{_FRAME}-{self.key}"


@lru_cache(maxsize=1)
def load_happenings() -> tuple[Happening, ...]:
    """Every happening, in file order."""
    return tuple(_happening_of(row) for row in read_data("happenings")["happening"])


def is_happening(posting: Posting) -> bool:
    """Whether *posting* tells one of the happenings."""
    return posting.story.frame == _FRAME


def with_happenings(postings: Sequence[Posting]) -> list[Posting]:
    """*postings* and those of the happenings, by site and date; the given ones stay as they are."""
    told = [posting for happening in load_happenings() for posting in _postings(happening)]
    joined: list[Posting] = []
    for site in load_sites():
        own = [posting for posting in postings if posting.site is site]
        new = sorted((posting for posting in told if posting.site is site), key=_when)
        last = max(posting.number for posting in own)
        own += [
            number_posting(posting, last + _NUMBERS_ON + 7 * at) for at, posting in enumerate(new)
        ]
        joined += sorted(own, key=_when)
    return joined


def _when(posting: Posting) -> tuple[datetime, str]:
    return posting.published_at, posting.story.key


def _postings(happening: Happening) -> list[Posting]:
    sites = {site.host: site for site in load_sites()}
    story = Story(
        key=happening.group,
        frame=_FRAME,
        domain="",
        on_topic=True,
        titles=(happening.tellings[0].title,),
        lines=happening.text,
        happened_at=happening.tellings[0].at,
        lead_city=happening.place,
        author=happening.author,
    )
    lines_on: dict[str, tuple[str, ...]] = {}
    postings = []
    for telling in happening.tellings:
        taken = lines_on.get(telling.taken_from, happening.text)
        lines_on[telling.site] = shorten(
            _telling_lines(telling, taken), kind_on(sites[telling.site])
        )
        postings.append(_posting(sites[telling.site], story, telling, lines_on[telling.site]))
    return postings


def _telling_lines(telling: Telling, taken: Sequence[str]) -> list[str]:
    """The lines of *telling*, made of those it was taken from."""
    first, *rest = (line for at, line in enumerate(taken) if at not in telling.cut)
    return [telling.lead + first, *rest, *telling.add]


def _posting(site: Site, story: Story, telling: Telling, lines: tuple[str, ...]) -> Posting:
    kind = kind_on(site)
    posting = Posting(
        site=site,
        channel=_channel(site, telling.channel),
        story=story,
        kind=kind,
        title=telling.title,
        lines=lines,
        published_at=telling.at,
        author=story.author,
        source=telling.source or (site.name if not telling.taken_from else ""),
        original=not telling.taken_from,
        taken_from=telling.taken_from,
        later=telling.later,
    )
    if kind is Kind.FORUM:
        furniture = load_furniture()
        return replace(
            posting,
            author=furniture["users"][0],
            source="",
            lines=(furniture["openers"][0], *lines),
        )
    return posting


def _channel(site: Site, slug: str) -> Channel:
    return next(channel for channel in site.channels if channel.slug == slug)


def _happening_of(row: dict[str, Any]) -> Happening:
    tellings = tuple(_telling_of(telling) for telling in row["telling"])
    given = {name: value for name, value in row.items() if name not in ("telling", "text")}
    return Happening(**given, text=tuple(row["text"].strip().splitlines()), tellings=tellings)


def _telling_of(row: dict[str, Any]) -> Telling:
    later = row.get("later")
    return Telling(
        **{
            **row,
            "at": datetime.fromisoformat(row["at"]).replace(tzinfo=CHINA_TIME),
            "cut": tuple(row.get("cut", ())),
            "add": tuple(row.get("add", ())),
            "later": later
            and Later(
                tuple((old, new) for old, new in later.get("replace", ())),
                later.get("note", ""),
                later.get("deleted", False),
            ),
        }
    )


# --- What is true of the articles of the demo web: parents, originals, places, what changed
# later

_HOME = "中国"
# 福清 of 巴拿马福清公所 is part of a name.
_NO_BODY = r"(?![^，。、；：\s]{0,6}(?:同乡会|公所|会馆|商会|总会|互济会|联合会|政府))"


class Truth:
    """The gold of a demo web by groups of reprints; print versions are left out.

    Attributes:
        groups: the articles of each group, by its name.
        by_url: the same articles by address.
    """

    def __init__(self, golds: Sequence[Gold]) -> None:
        self.groups: dict[str, list[Gold]] = defaultdict(list)
        for gold in golds:
            if gold.kind in ARTICLE_KINDS - {Kind.PRINT} and gold.reprint_group:
                self.groups[gold.reprint_group].append(gold)
        articles = [gold for group in self.groups.values() for gold in group]
        self.by_url = {gold.url: gold for gold in articles}
        self._urls = {(host_of(gold.url), gold.reprint_group): gold.url for gold in articles}
        # An original that needs a login or a script is no article of the web; it was one of these.
        for gold in golds:
            if gold.kind in (Kind.LOGIN_WALL, Kind.SHELL):
                self._urls.setdefault((host_of(gold.url), gold.reprint_group), gold.url)

    def parent_of(self, gold: Gold) -> str:
        """The address it was taken from; "" of an original."""
        return self._urls[gold.taken_from, gold.reprint_group] if gold.taken_from else ""

    def first_of(self, group: str) -> tuple[str, str]:
        """Host and address of who published first in *group*."""
        hosts = {gold.taken_from for gold in self.groups[group]} - {""}
        originals = [gold for gold in self.groups[group] if not gold.taken_from]
        # Of a group whose original is behind a wall only the copies' word is there.
        host = host_of(originals[0].url) if originals else hosts.pop()
        return host, self._urls[host, group]

    def below(self, url: str) -> set[str]:
        """Addresses of all that was taken from *url*, directly or through others."""
        group = self.groups[self.by_url[url].reprint_group]
        found, waiting = set[str](), [url]
        while waiting:
            parent = waiting.pop()
            children = [own.url for own in group if self.parent_of(own) == parent]
            found.update(children)
            waiting += children
        return found

    def url_of(self, happening: Happening, telling: Telling) -> str:
        """The address of one article of a happening."""
        return self._urls[telling.site, happening.group]

    def changes(self) -> list[tuple[str, str, set[str]]]:
        """What changes later: its address, corrected or deleted, and who does not follow."""
        changes, later = [], set()
        for happening in load_happenings():
            for telling in happening.tellings:
                if telling.later:
                    url = self.url_of(happening, telling)
                    later.add(url)
                    kind = "deleted" if telling.later.deleted else "corrected"
                    changes.append((url, kind))
        return [(url, kind, self.below(url) - later) for url, kind in changes]


def host_of(url: str) -> str:
    """The host of an address of the demo web."""
    return urlsplit(url).hostname or ""


def places_in(text: str) -> set[str]:
    """The places of the inventory that *text* names."""
    return set(_pattern().findall(text))


@lru_cache(maxsize=1)
def known_places() -> Mapping[str, str]:
    """The country of every place of the inventory."""
    places = {_HOME: _HOME}
    for row in load_names()["country"]:
        places |= dict.fromkeys((row["name"], *row["cities"]), row["name"])
    for row in load_names()["home"]:
        places |= dict.fromkeys((row["city"], row["province"], *row["counties"]), _HOME)
    return places


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(known_places(), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, longest_first))}){_NO_BODY}")


# --- What an office has beside its crawls, so that the console over a demo shows it ---------------

LOGIN = "qiaoxiang.demo"
"""The login recipe of the demo: of a site that wants cookies."""
_RECIPE = f"""name = "{LOGIN}"
title = "演示：需登录的网站"
way = "cookies"
hosts = ["{{host}}"]
"""
_BY = "demo"


def environment(folder: Path, host: str) -> dict[str, str]:
    """Variables for accounts of the demo: its recipe and its key, made in *folder*.

    Args:
        host: the site of the demo web that wants a login.
    """
    logins, key = folder / "logins", folder / "secret.key"
    logins.mkdir(parents=True, exist_ok=True)
    (logins / f"{LOGIN}.toml").write_text(_RECIPE.format(host=host), "utf-8")
    if not key.exists():
        # Readable by its owner alone from the first byte on.
        with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(new_key())
    return {"QIAO_LOGINS_DIR": str(logins.resolve()), "QIAO_SECRET_KEY": key.read_text("ascii")}


def furnish(c: Connection, topic: str, now: datetime) -> None:
    """Add an account and a schedule, switched off, where there is none."""
    if not list_accounts(c):
        add_account(c, LOGIN, "编辑部", b"", now=now)
    if not schedules.schedules(c):
        next_at = now.astimezone(UTC).timestamp()
        timing = Timing("周一至周五 8:00", "Asia/Shanghai", next_at, WhenMissed.SKIP)
        row_id = schedules.add_schedule(c, JobRequest("watch", topic), timing, by=_BY, now=now)
        schedules.switch(c, row_id, False, next_at)


def look_again(c: Connection, topic: str, urls: Sequence[str], now: datetime) -> int:
    """Let the stored articles at *urls* be due to be looked at; how many there are."""
    rows = c.execute(
        select(url.c.id, article.c.published_at)
        .join(article, article.c.url_id == url.c.id)
        .where(url.c.url.in_(urls))
    ).all()
    for row in rows:
        published = from_time(row.published_at) or now
        watched.put_article(
            c, topic, row.id, published=published.timestamp(), next_at=now.timestamp()
        )
    return len(rows)
