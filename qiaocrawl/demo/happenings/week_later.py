"""The pages that answer otherwise a week later: corrected articles, and one that is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qiaocrawl.demo.articles import pages_of_article
from qiaocrawl.demo.encoding import content_type
from qiaocrawl.demo.frame import SiteFrame
from qiaocrawl.demo.model import DemoPage, Gold, Kind
from qiaocrawl.demo.publishing import Posting

_GONE = 410


def later_pages(seed: int, frame: SiteFrame) -> Iterator[tuple[str, DemoPage]]:
    """Every page of the site that changes, as it is then, by path."""
    changed = [_corrected(posting) for posting in frame.postings]
    positions = [at for at, posting in enumerate(frame.postings) if posting.later]
    if not positions:
        return
    later_frame = SiteFrame(seed, frame.site, changed, frame.strays)
    for at in positions:
        for path, page in pages_of_article(later_frame, at):
            later = frame.postings[at].later
            yield path, _gone(frame, path) if later and later.deleted else page


def _corrected(posting: Posting) -> Posting:
    if posting.later is None:
        return posting
    title, lines = posting.title, list(posting.lines)
    for old, new in posting.later.replace:
        title = title.replace(old, new)
        lines = [line.replace(old, new) for line in lines]
    note = [posting.later.note] if posting.later.note else []
    return replace(posting, title=title, lines=(*lines, *note))


def _gone(frame: SiteFrame, path: str) -> DemoPage:
    gold = Gold(frame.site.url(path), Kind.DEAD, frame.site.charset)
    markup = "<html><head><title>410</title></head><body><h1>410 Gone</h1></body></html>"
    return DemoPage(_GONE, (content_type("text/html", ""),), markup.encode(), gold)
