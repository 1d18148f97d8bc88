"""What every page of a site has in common: its look, its page title, its bytes, its gold."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape

from qiaocrawl.demo.furniture import Furniture, load_theme
from qiaocrawl.demo.inventory import Site
from qiaocrawl.demo.model import DemoPage, Gold, Kind, content_type, encode_page
from qiaocrawl.demo.publishing import Posting

# Slots of a page's head that only articles fill.
_BLANK = {"title": "", "date": "", "date_iso": "", "description": "", "id": "0", "ld": "{}"}


class SiteFrame:
    """The look of one site.

    Args:
        seed: all chance comes from it and from a page's own path.
        site: the site.
        postings: what it publishes, oldest first.
        strays: (path, text) of odd links that pages mention.
    """

    def __init__(
        self,
        seed: int,
        site: Site,
        postings: Sequence[Posting],
        strays: Sequence[tuple[str, str]],
    ) -> None:
        self.site = site
        self.postings = postings
        self.strays = strays
        self.theme = load_theme(site.theme)
        self.furniture = Furniture(site, self.theme, postings, strays)
        self.text = self.furniture.text
        self._seed = seed

    def rng(self, path: str) -> random.Random:
        """The source of chance for the page at *path*."""
        return random.Random(f"{self._seed}/{self.site.host}{path}")

    def page(self, gold: Gold, slots: Mapping[str, str], main: str, page_title: str) -> DemoPage:
        """A page of the site's look with *main* as its content; *slots* fill its surroundings."""
        values = {**_BLANK, "keywords": slots["site"], **slots}
        values |= {"main": main, "page_title": escape(page_title)}
        markup = self.theme.fill("shell", values)
        if self.theme.minify:
            markup = markup.replace("\n", "")
        return self.answer(markup, gold)

    def plain_page(
        self, path: str, kind: Kind, slots: Mapping[str, str], main: str, heading: str
    ) -> DemoPage:
        """A page that is no article: a list, a form, a notice; *heading* "" on the home page."""
        name = f"{heading}-{self.site.name}" if heading else self.site.name
        gold = Gold(self.site.url(path), kind, self.site.charset, self.text(heading))
        return self.page(gold, slots, main, self.text(name))

    def answer(self, markup: str, gold: Gold) -> DemoPage:
        """*markup* in the site's charset, declared as the site declares it."""
        body = encode_page(markup, self.site.charset)
        return DemoPage(200, (content_type("text/html", self.site.header),), body, gold)

    def gold(self, path: str, kind: Kind, posting: Posting) -> Gold:
        """The truth about *posting* as the page at *path* shows it."""
        site, text = self.site, self.text
        byline = self.theme.byline and kind is not Kind.PRINT
        signed = byline or posting.author in posting.lines[0]
        sourced = self.theme.shows("srcline") or kind is Kind.PRINT
        return Gold(
            url=site.url(path),
            kind=kind,
            charset=site.charset,
            title=text(posting.title),
            body="\n".join(text(line) for line in posting.lines),
            published_at=_to_the_minute(posting.published_at),
            author=text(posting.author) if signed else "",
            source=text(_medium(posting.source)) if sourced else "",
            channel=text(posting.channel.name),
            on_topic=posting.story.on_topic,
            reprint_group=posting.story.key,
            target_url=site.url(posting.path) if kind in (Kind.PART, Kind.PRINT) else "",
            robots_allowed=_is_open_to_all(site, path),
            taken_from=posting.taken_from,
        )


def _is_open_to_all(site: Site, path: str) -> bool:
    """Whether the site's robots.txt lets everyone read *path* (it has prefixes only)."""
    rules = [
        line.removeprefix("Disallow: ")
        for line in site.robots.splitlines()
        if line.startswith("Disallow: ")
    ]
    return not any(path.startswith(rule) for rule in rules)


def _medium(source_line: str) -> str:
    """The medium a source line names: of 据侨乡晚报报道 the paper."""
    return source_line.removeprefix("据").removesuffix("报道")


def _to_the_minute(day: datetime) -> datetime:
    return day.replace(second=0, microsecond=0)
