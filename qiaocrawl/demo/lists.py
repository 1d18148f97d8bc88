"""Renders the home page and the paged lists of a site, and pages that only say something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from qiaocrawl.demo.frame import SiteFrame
from qiaocrawl.demo.furniture import channel_path
from qiaocrawl.demo.model import DemoPage, Kind
from qiaocrawl.demo.publishing import Posting

_HOME_ITEMS = 6
# Characters of a title that one-line lists show, and of the first words below one.
_SHORT_TITLE, _SUMMARY = 20, 60


def list_pages(frame: SiteFrame) -> Iterator[tuple[str, DemoPage]]:
    """The home page and every list page of every channel, by path."""
    yield "/", _home(frame)
    for position in range(len(frame.site.channels)):
        newest = _newest(frame, position)
        size = frame.site.per_page
        chunks = [newest[at : at + size] for at in range(0, len(newest), size)]
        for number, chunk in enumerate(chunks, start=1):
            pager = _pager(frame, position, number, len(chunks))
            path = channel_path(frame.site, position, number)
            yield path, _list(frame, path, position, chunk, pager)


def notice_page(frame: SiteFrame, path: str, kind: Kind, heading: str, markup: str) -> DemoPage:
    """A page of the site's look that says *markup*: a form, a "not found", a calendar."""
    slots = frame.furniture.slots(frame.rng(path))
    main = f"<div><h2>{escape(frame.text(heading))}</h2>\n{frame.text(markup)}\n</div>"
    # A theme made of table rows would lose a bare div.
    if frame.theme.sections["list"].template.startswith("<tr>"):
        main = f"<tr><td colspan=2>{main}</td></tr>"
    return frame.plain_page(path, kind, slots, main, heading)


def _newest(frame: SiteFrame, position: int) -> list[Posting]:
    channel = frame.site.channels[position]
    listed = [posting for posting in frame.postings if posting.robots_allowed]
    return [posting for posting in listed if posting.channel is channel][::-1]


def _list(
    frame: SiteFrame, path: str, position: int, chunk: Sequence[Posting], pager: str
) -> DemoPage:
    channel = frame.site.channels[position]
    slots = {
        **frame.furniture.slots(frame.rng(path), channel.slug),
        "channel": frame.text(channel.name),
        "channel_url": escape(channel_path(frame.site, position)),
        "items": "\n".join(_item(frame, posting) for posting in chunk),
        "listpager": pager,
    }
    main = frame.theme.fill("list", slots)
    return frame.plain_page(path, Kind.LIST, slots, main, channel.name)


def _item(frame: SiteFrame, posting: Posting) -> str:
    title = frame.text(posting.title)
    short = title if len(title) <= _SHORT_TITLE else title[:_SHORT_TITLE] + "…"
    return frame.furniture.row(
        "item",
        posting.path,
        posting.title,
        date=posting.published_at.strftime("%Y-%m-%d"),
        short_text=escape(short),
        summary=escape(frame.text(posting.lines[0][:_SUMMARY])),
    )


def _pager(frame: SiteFrame, position: int, number: int, count: int) -> str:
    if count == 1:
        return ""
    pages = [(page, str(page)) for page in range(1, count + 1)]
    if number > 1:
        pages.insert(0, (number - 1, "上一页"))
    if number < count:
        pages.append((number + 1, "下一页"))
    links = [
        f'<a href="{escape(channel_path(frame.site, position, page))}">{frame.text(text)}</a>'
        for page, text in pages
    ]
    return f'<div class="pagebar">{" ".join(links)}</div>'


def _home(frame: SiteFrame) -> DemoPage:
    blocks = [_block(frame, position) for position in range(len(frame.site.channels))]
    extras = [frame.furniture.row("rel", path, text) for path, text in frame.strays]
    slots = {
        **frame.furniture.slots(frame.rng("/")),
        "blocks": "\n".join(blocks),
        "extras": "\n".join(extras),
    }
    return frame.plain_page("/", Kind.HOME, slots, frame.theme.fill("home", slots), "")


def _block(frame: SiteFrame, position: int) -> str:
    rng = frame.rng(f"/#{position}")
    rows = [
        frame.furniture.row("rel", frame.furniture.href(rng, posting.path), posting.title)
        for posting in _newest(frame, position)[:_HOME_ITEMS]
    ]
    values = {
        "channel": frame.text(frame.site.channels[position].name),
        "channel_url": escape(channel_path(frame.site, position)),
        "items": "\n".join(rows),
    }
    return frame.theme.fill("block", values)
