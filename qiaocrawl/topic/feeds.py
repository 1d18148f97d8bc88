"""Lists of feeds as people have them: OPML of any feed reader, CSV or Excel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.text.opml import Outline, outlines_in
from qiaocrawl.topic.check import MAX_URL_CHARACTERS, list_faults
from qiaocrawl.topic.files import read_limited, write_whole
from qiaocrawl.topic.pack import url_host
from qiaocrawl.topic.tables import Cells, Columns, rows_in, valid_rows, write_table
from qiaocrawl.urls import without_feed_scheme

FEED_COLUMNS: Columns = {
    "url": ("feed", "address", "xmlurl", "rss", "订阅地址", "订阅源", "地址", "网址", "链接"),
    "name": ("title", "text", "名称", "标题", "公众号", "来源"),
}

_HEAD = ("url", "name")
_MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed by its address, as it was written; ``name`` "" where the list gives none."""

    url: str
    name: str = ""


def read_feeds(path: Path) -> tuple[Feed, ...]:
    """The feeds of a list, each address once: OPML (however its folders nest), CSV or Excel.

    Raises:
        TopicError: the file cannot be read, names no feed, or an address is none; ``faults``
            lists all bad rows.
    """
    return feeds_in(read_limited(path), path.name)


def feeds_in(data: bytes, name: str) -> tuple[Feed, ...]:
    """As :func:`read_feeds`, of the bytes of a file that is called *name*."""
    faults: list[RowFault] = []
    outlines = outlines_in(data)
    if outlines is not None:
        rows = _of_outlines(outlines)
    elif data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise TopicError(_("{file} is no OPML document", file=name))
    else:
        rows, faults = rows_in(data, name, FEED_COLUMNS, (("url",),), _of_cells)
    faults += list_faults(name, rows, _reasons, lambda feed: "")
    feeds = valid_rows(name, rows, faults)
    if not feeds:
        raise TopicError(_("{file} names no feed", file=name))
    by_address: dict[str, Feed] = {}
    for feed in feeds:
        # Readers keep a feed in several folders.
        by_address.setdefault(feed.url, feed)
    return tuple(by_address.values())


def write_feeds(feeds: Iterable[Feed], path: Path, *, title: str) -> None:
    """Write *feeds* as OPML 2.0 (``.opml``, ``.xml``), CSV or Excel, by the ending of *path*.

    Args:
        title: of the OPML document.

    Raises:
        TopicError: another ending, or the folder cannot be written.
    """
    if path.suffix.lower() in (".opml", ".xml"):
        write_whole(path, opml_of(feeds, title))
    else:
        write_table(path, "feeds", _HEAD, ((feed.url, feed.name) for feed in feeds))


def opml_of(feeds: Iterable[Feed], title: str) -> bytes:
    """An OPML 2.0 document of *feeds*, as feed readers import it."""
    root = etree.Element("opml", version="2.0")
    etree.SubElement(etree.SubElement(root, "head"), "title").text = title
    body = etree.SubElement(root, "body")
    for feed in feeds:
        named = feed.name or feed.url
        etree.SubElement(body, "outline", type="rss", text=named, title=named, xmlUrl=feed.url)
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)
    return written


def _of_outlines(outlines: Iterable[Outline]) -> list[tuple[int, Feed]]:
    rows: list[tuple[int, Feed]] = []
    for line, given in outlines:
        # An outline without an address is a folder.
        if address := given.get("xmlurl", "").strip():
            named = " ".join((given.get("title") or given.get("text", "")).split())
            rows.append((line, _feed(address, named)))
    return rows


def _of_cells(cells: Cells, bad: list[str]) -> Feed:
    return _feed(cells["url"], cells.get("name", ""))


def _feed(address: str, name: str) -> Feed:
    return Feed(without_feed_scheme(address.strip()), name.strip()[:_MAX_NAME_CHARS])


def _reasons(feed: Feed) -> list[str]:
    if len(feed.url) > MAX_URL_CHARACTERS:
        return [_("the address has more than {most} characters", most=MAX_URL_CHARACTERS)]
    try:
        url_host(feed.url)
    except ValueError as error:
        return [str(error)]
    return []
