"""What is true of the articles of the demo web: parents, originals, places, what changed later."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from qiaocrawl.demo.happenings.telling import Happening, Telling, load_happenings
from qiaocrawl.demo.inventory import load_names
from qiaocrawl.demo.model import ARTICLE_KINDS, Gold, Kind

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

    def changed(self) -> list[tuple[str, str, set[str]]]:
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
