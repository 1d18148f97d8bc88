"""Sitemaps as sitemaps.org and the news extension define them: bytes in, entries out."""

from __future__ import annotations

import codecs
import re

from qiaocrawl.discovery.entries import (
    MAX_ENTRIES,
    Entry,
    EntryList,
    address_in,
    moment_of,
    newest_first,
    plain_words,
)
from qiaocrawl.discovery.xml_records import Record, decoded, xml_records
from qiaocrawl.text.charset import decode_page, marked_charset
from qiaocrawl.urls import canonical_url

MAX_LEVELS = 3
"""Indexes below each other that are followed; the protocol allows one **(ours)**."""
# As for feeds: limits what a hostile robots.txt may name **(ours)**.
MAX_ROBOTS_SITEMAPS = 100
_RECORDS = frozenset(("url", "sitemap"))
_FIELDS = frozenset((
    "loc", "lastmod", "news/title", "news/publication_date", "news/keywords", ".",
))  # fmt: skip
_KINDS = {"urlset": "pages", "sitemapindex": "index"}
# "Sitemap: https://a.cn/s.xml", in any case and anywhere in the file. Possessive (*+), so that a
# line of spaces costs linear time.
_ROBOTS_LINE = re.compile(
    r"^[ \t]*+site[ -]?maps?[ \t]*+:[ \t]*+(\S+)", re.IGNORECASE | re.MULTILINE
)
# A colon as Chinese keyboards write it.
_WIDE_COLON = re.compile(r"^([ \t]*+[A-Za-z-]{4,20}[ \t]*+)：", re.MULTILINE)
# Byte order marks of files put together, and what copying from web pages brings along.
_UNSEEN = re.compile("[\ufeff\u200b-\u200f\u2060]")
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_MAX_TEXT_BYTES = 4 * 1024 * 1024
_URL_LINE = re.compile(r"https?://\S+", re.IGNORECASE)


def parse_sitemap(
    body: bytes, content_type: str = "", url: str = "", *, limit: int = MAX_ENTRIES
) -> EntryList:
    """The entries of a sitemap, of an index of sitemaps, or of a list of URLs in plain text.

    Never raises, whatever the bytes: for anything else ``kind`` is "", and ``fault`` says why.

    Args:
        body: as it came, perhaps gzipped.
        content_type: the Content-Type header.
        url: where it was fetched.
        limit: entries taken.
    """
    document = xml_records(body, content_type, names=_RECORDS, fields=_FIELDS, limit=limit)
    kind = _KINDS.get(document.root, "")
    # XML, but of something else: an HTML page or a feed.
    if not kind and document.root:
        return EntryList("", fault=document.fault or f"no sitemap: <{document.root}>"[:80])
    if not kind:
        return _read_text(body, content_type, limit, document.fault)
    wanted = "sitemap" if kind == "index" else "url"
    entries = [
        entry
        for record in document.records
        if record.name == wanted and (entry := _entry(record, url)) is not None
    ]
    left = len(document.records) - len(entries) + document.beyond
    return EntryList(kind, newest_first(entries), left=left, fault=document.fault)


def robots_sitemaps(body: bytes, url: str) -> tuple[str, ...]:
    """The canonical URLs that the ``Sitemap:`` lines of a robots.txt at *url* name, in order."""
    lines = _ROBOTS_LINE.findall(robots_text(body))[:MAX_ROBOTS_SITEMAPS]
    canonical = (canonical_url(line, url) for line in lines)
    return tuple(dict.fromkeys(address for address in canonical if address))


def robots_text(body: bytes) -> str:
    """A robots.txt as text with lines of one kind, for all who read it.

    As Notepad and old programs write it: with a byte order mark, in UTF-16, with lone CRs, NULs,
    or colons of full width. In a file that is not UTF-8, such as one in GBK, a line with other
    bytes comes twice: with them as an address has them, ``%C4%DA``, and with their characters.
    """
    charset, mark_bytes = marked_charset(body)
    body = body[mark_bytes:]
    if not charset.startswith("utf-16"):
        body = body.replace(b"\0", b"")
    try:
        # A character that the bound on its length cuts off is none.
        text = codecs.getincrementaldecoder(charset or "utf-8")().decode(body)
    except UnicodeDecodeError:
        text = body.decode(charset, "replace") if charset else _in_both_forms(body)
    # Lines end as the parser of the rules has them end.
    text = "\n".join(_UNSEEN.sub("", text).splitlines())
    return _WIDE_COLON.sub(r"\1:", text)


def _in_both_forms(body: bytes) -> str:
    charset = decode_page(body, "text/plain").charset
    lines = []
    for line in re.split(rb"\r\n?|\n", body):
        if not line.isascii():
            # The colon is part of the line's form, not of its path.
            as_text = line.decode(charset, "replace")
            wide = _WIDE_COLON.match(as_text)
            name = wide[1].encode() + b":" if wide else b""
            path = as_text[wide.end() :].encode(charset, "replace") if wide else line
            encoded = _NON_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], path)
            lines += [(name + encoded).decode("ascii"), as_text]
        else:
            lines.append(line.decode("ascii"))
    return "\n".join(lines)


def _entry(record: Record, base: str) -> Entry | None:
    # Some indexes have the address in <sitemap> itself.
    written = record.first("loc", ".")
    url = canonical_url(address_in(written), base or None) if written else None
    if url is None:
        return None
    return Entry(
        url,
        moment_of(record.first("news/publication_date", "lastmod")),
        plain_words(record.first("news/title")),
        plain_words(record.first("news/keywords")),
    )


def _read_text(body: bytes, content_type: str, limit: int, fault: str) -> EntryList:
    """A list of URLs, one a line; nine lines in ten must be URLs **(ours)**."""
    faults: list[str] = []
    # What comes before an error is taken: half a list is better than none.
    text = "".join(decoded(body, content_type, faults, _MAX_TEXT_BYTES))
    fault = "; ".join(faults) or fault
    lines = [line for line in map(str.strip, re.split(r"\r\n?|\n", text)) if line]
    urls = [line for line in lines if _URL_LINE.fullmatch(line)]
    # A text that merely mentions addresses is no list of them.
    if not urls or 10 * len(urls) < 9 * len(lines):
        return EntryList("", fault=fault or "no sitemap")
    canonical = [canonical_url(line) for line in urls[:limit]]
    entries = [Entry(url) for url in canonical if url]
    return EntryList("text", newest_first(entries), left=len(lines) - len(entries))
