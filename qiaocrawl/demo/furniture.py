"""What surrounds a page's own text, in the templates of each theme."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from html import escape
from importlib import resources
from string import Template

from qiaocrawl.demo.inventory import Site, load_furniture
from qiaocrawl.demo.model import script_converter
from qiaocrawl.demo.publishing import Posting

# --- Page templates: one HTML file a theme, in named sections with ``$slots`` ---------------------
# A file begins with options between ``+++`` lines (TOML): ``byline`` (the author is shown),
# ``links`` (words of the body are linked), ``minify`` (one source line), ``wrap`` (characters
# after which the body's source breaks), ``join`` (what stands between paragraphs), ``absolute``
# (links name the host) and ``date``.

_SECTION = re.compile(r"^<!--# (\w+) -->\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Theme:
    """The templates of one theme by section, and its options."""

    sections: Mapping[str, Template]
    date: str
    byline: bool = False
    links: bool = False
    minify: bool = False
    wrap: int = 0
    join: str = "\n"
    absolute: bool = False

    def fill(self, section: str, values: Mapping[str, str]) -> str:
        """The *section* with its slots filled, without the line end of the file; "" if none.

        Raises:
            KeyError: *values* lacks a slot.
        """
        template = self.sections.get(section)
        return "" if template is None else template.substitute(values)

    def shows(self, slot: str) -> bool:
        """Whether articles show *slot*, as "srcline"."""
        return slot in self.sections and f"${slot}" in self.sections["article"].template

    def show_date(self, day: datetime) -> str:
        """*day* as articles of this theme write it."""
        return self.date.format(
            y=day.year,
            m=f"{day.month:02}",
            d=f"{day.day:02}",
            H=f"{day.hour:02}",
            M=f"{day.minute:02}",
        )


@lru_cache(maxsize=32)
def load_theme(name: str) -> Theme:
    """The theme of ``templates/NAME.html``."""
    file = resources.files("qiaocrawl.demo") / "templates" / f"{name}.html"
    _, head, rest = file.read_text(encoding="utf-8").split("+++\n", 2)
    parts = _SECTION.split(rest)
    sections = {
        part: Template(text.removesuffix("\n"))
        for part, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return Theme(sections=sections, **tomllib.loads(head))


_RELATED, _RANKED, _RECOMMENDED, _WORDS = 8, 10, 6, 14
_LINKS_A_LINE = 9
# So many pages have a dead, moved or otherwise odd link among their related ones.
_STRAY_SHARE = 0.3

# So many links of a site that tracks its visitors carry a parameter.
_MARKED_SHARE = 0.25


class Furniture:
    """The surroundings of one site's pages.

    Args:
        site: the site.
        theme: its theme.
        postings: what it has published.
        strays: (path, text) of its odd links.
    """

    def __init__(
        self,
        site: Site,
        theme: Theme,
        postings: Sequence[Posting],
        strays: Sequence[tuple[str, str]],
    ) -> None:
        self._site = site
        self._theme = theme
        self._postings = [posting for posting in postings if posting.robots_allowed]
        self._strays = strays
        self.text: Callable[[str], str] = script_converter(site.script)
        self.charset_meta = _charset_meta(site, theme)
        self._fixed = self._fixed_slots()

    def slots(
        self,
        rng: random.Random,
        channel: str = "",
        not_path: str = "",
        day: datetime | None = None,
    ) -> dict[str, str]:
        """The slots of a page of *channel* (its slug): all that is not its own text."""
        near = [posting for posting in self._postings if posting.channel.slug == channel]
        strays = [rng.choice(self._strays)] if rng.random() < _STRAY_SHARE and self._strays else []
        return {
            **self._fixed,
            **self._notices(rng),
            "related": self._rows(rng, near, _RELATED, not_path, strays),
            "ranking": self._rows(rng, self._postings, _RANKED, not_path),
            "recommend": self._rows(rng, self._postings, _RECOMMENDED, not_path),
            "words": self._words(rng),
            "replies": self._replies(rng, day) if day else "",
            "reads": str(rng.randint(30, 9000)),
            "n": str(rng.randint(10, 99)),
        }

    def row(self, section: str, href: str, text: str, **more: str) -> str:
        """One link in the theme's *section*; *text* is converted and escaped here."""
        if self._theme.absolute:
            href = self._site.url(href)
        values = {"href": escape(href), "text": escape(self.text(text)), **more}
        return self._theme.fill(section, values)

    def href(self, rng: random.Random, path: str) -> str:
        """*path*, at times with the mark of a visitor or of the list it was clicked in."""
        marks = [mark for mark in ("tracking", "session") if mark in self._site.features]
        if not marks or rng.random() >= _MARKED_SHARE:
            return path
        if marks[0] == "session":
            mark = f"sid={rng.getrandbits(40):010x}"
        else:
            mark = rng.choice(["utm_source=rank&utm_medium=web", "spm=a1.b7.0", "from=hot"])
        return f"{path}{'&' if '?' in path else '?'}{mark}"

    def _rows(
        self,
        rng: random.Random,
        postings: Sequence[Posting],
        count: int,
        not_path: str,
        strays: Iterable[tuple[str, str]] = (),
    ) -> str:
        candidates = [posting for posting in postings if posting.path != not_path]
        chosen = rng.sample(candidates, min(count, len(candidates)))
        rows = [(self.href(rng, posting.path), posting.title) for posting in chosen]
        return "\n".join(self.row("rel", href, text) for href, text in (*rows, *strays))

    def _words(self, rng: random.Random) -> str:
        words = rng.sample(load_furniture()["hot_words"], _WORDS)
        return "\n".join(self._theme.fill("word", {"text": self.text(word)}) for word in words)

    def _replies(self, rng: random.Random, day: datetime) -> str:
        furniture = load_furniture()
        replies = []
        for number in range(2, rng.randint(4, 9)):
            day += timedelta(minutes=rng.randint(3, 300))
            texts = rng.sample(furniture["comments"], 2)
            values = {
                "user": rng.choice(furniture["users"]),
                "text": texts[0],
                "text2": texts[1],
                "signature": rng.choice(furniture["signatures"]),
            }
            values = {name: self.text(value) for name, value in values.items()}
            values |= {"n": str(number), "date": self._theme.show_date(day)}
            replies.append(self._theme.fill("reply", values))
        return "\n".join(replies)

    def _notices(self, rng: random.Random) -> dict[str, str]:
        furniture = load_furniture()
        promos = rng.sample(furniture["promos"], 3)
        chosen = {f"promo{number}": text for number, text in enumerate(promos, start=1)}
        chosen["signature"] = rng.choice(furniture["signatures"])
        chosen["editor"] = rng.choice(("林小婉", "赵一川", "孙可", "陈立言", "吴桐", "何田田"))
        return {name: self.text(text) for name, text in chosen.items()}

    def _fixed_slots(self) -> dict[str, str]:
        """What is the same on every page of the site."""
        furniture, site = load_furniture(), self._site
        slots = {"site": self.text(site.name), "short": self.text(site.short), "host": site.host}
        for name in ("disclaimers", "footers"):
            for number, text in enumerate(furniture[name], start=1):
                own = text.replace("$site", site.name).replace("$host", site.host)
                slots[f"{name[:-1]}{number}"] = self.text(own)
        slots["slogan"] = self.text(furniture["slogans"][len(site.host) % 3])
        channels = [
            (channel_path(site, position), channel.name)
            for position, channel in enumerate(site.channels)
        ]
        slots["nav"] = "\n".join(self.row("nav", path, name) for path, name in channels)
        slots["sidenav"] = "\n".join(self.row("rel", path, name) for path, name in channels)
        slots["linkbar"] = self._dead_ends(furniture["links"])
        slots["friends"] = self._dead_ends(furniture["friends"])
        slots["charset_meta"] = self.charset_meta
        return slots

    def _dead_ends(self, words: Sequence[str]) -> str:
        """Links that lead nowhere, some on a line of the source."""
        links = [f'<a href="#">{self.text(word)}</a>' for word in words]
        rows = [links[at : at + _LINKS_A_LINE] for at in range(0, len(links), _LINKS_A_LINE)]
        return "\n".join(" ".join(row) for row in rows)


def channel_path(site: Site, position: int, page: int = 1) -> str:
    """The path of *page* (from 1) of the list of the channel at *position*."""
    channel = site.channels[position]
    template = site.list if page == 1 else site.list_more
    return template.format(ch=channel.slug, chid=channel.number, n=page)


def _charset_meta(site: Site, theme: Theme) -> str:
    if not site.meta:
        return ""
    if theme.sections["shell"].template.lower().startswith("<!doctype html>"):
        return f'<meta charset="{site.meta}">'
    return f'<meta http-equiv="Content-Type" content="text/html; charset={site.meta}" />'
