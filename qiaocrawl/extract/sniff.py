"""What bytes are, whatever the Content-Type says."""

from __future__ import annotations

import codecs
import re

_MAGIC = (
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "zip archive or office document"),
    (b"\xd0\xcf\x11\xe0", "old office document"),
    (b"{\\rtf", "RTF document"),
    (b"\x89PNG", "PNG image"),
    (b"GIF8", "GIF image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"RIFF", "RIFF media"),
    (b"Rar!", "RAR archive"),
    (b"7z\xbc\xaf", "7z archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg media"),
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FEED = re.compile(rb"<(?:rss|feed|urlset|sitemapindex|rdf:rdf)[\s>]")
_MARKUP = re.compile(rb"<(?:!doctype|html|head|body|title|meta|div|table|p|script)\b", re.I)
_HTML_TYPES = ("text/html", "application/xhtml", "application/xml", "text/xml")
_HEAD_BYTES = 2048


def why_not_html(body: bytes, content_type: str) -> str:
    """In words why *body* is no HTML page, or "" if it may be one."""
    head = body[:_HEAD_BYTES].lstrip()
    if not head:
        return "empty body"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head.count(0) > 16 and not body.startswith(_BOMS):
        return "binary data"
    if _FEED.search(head.lower()):
        return "feed or sitemap"
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json") or (head[:1] in b"{[" and b"<" not in head):
        return "JSON"
    if not kind or kind.startswith(_HTML_TYPES) or _MARKUP.search(head):
        return ""
    return kind
