"""The charset a page's first bytes declare: the prescan of the HTML standard.

Source: WHATWG HTML, "prescan a byte stream to determine its encoding" and "extracting a
character encoding from a meta element". **(ours)**: an XML declaration is read in the same
pass, and a meta tag that a script writes counts when there is no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# One match leads from a "<" to the end of its name; what follows is read by kind.
_OPENING = re.compile(rb"<(?:(!--)|(\?xml\b|[!?])|(/?[a-zA-Z][^\s/>]*))")
_ATTRIBUTE = re.compile(
    rb"""[\s/]*([^\s/>][^\s/>=]*)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|(["'])|([^\s>]*)))?"""
)
_END = re.compile(rb"[\s/]*>")
_QUOTES = re.compile(rb"[\"']")
_SCRIPT_END = re.compile(rb"</script", re.IGNORECASE)
_XML_LABEL = re.compile(rb"encoding\s*=\s*[\"']\s*([^\s\"'>]+)", re.IGNORECASE)
_CONTENT_LABEL = re.compile(
    rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"'][^\s;]*))""", re.IGNORECASE
)
_JOINED = re.compile(rb"[\"']\s*\+\s*[\"']")

# The two ways nearly every page writes it; read as they stand where nothing before them could
# hide them.
_PLAIN_META = re.compile(
    rb"""<meta\s+(?:charset=(["']?)([\w-]+)\1\s*/?>|http-equiv=(["']?)content-type\3\s+"""
    rb"""content=(["'])text/html;\s*charset=([\w-]+)\4\s*/?>)"""
)
_HIDING = re.compile(rb"<!-|<scr|<\?|charset")

CodecOf = Callable[[str], str]


def declared_in(head: bytes, codec_of: CodecOf) -> str:
    """The codec that the markup at the start of a page declares, or "".

    Args:
        head: the first bytes of the page; a tag cut off at their end does not count.
        codec_of: gives Python's codec for a label, "" for one it does not know.

    Linear in the length of *head*.
    """
    lower = head.lower()
    plain = _PLAIN_META.search(lower)
    if plain is not None and _is_open(lower[: plain.start()]):
        codec = codec_of((plain[2] or plain[5]).decode("ascii"))
        if codec:
            return _not_utf16(codec)
    elif b"charset" not in lower and b"encoding" not in lower:
        return ""
    declared, scripts = _scan(head, codec_of)
    if declared or not scripts:
        return declared
    written = _JOINED.sub(b"", b"\n".join(scripts))
    return _scan(written, codec_of)[0] if b"<meta" in written.lower() else ""


def _is_open(before: bytes) -> bool:
    """Whether what follows *before* stands outside of comments, scripts and attributes."""
    even = before.count(b'"') % 2 == before.count(b"'") % 2 == 0
    return even and _HIDING.search(before) is None


def _scan(head: bytes, codec_of: CodecOf) -> tuple[str, list[bytes]]:
    """The declared codec or "", and the scripts passed over on the way."""
    scripts: list[bytes] = []
    position = 0
    while (opening := _OPENING.search(head, position)) is not None:
        comment, markup, name = opening.groups()
        if comment:
            end = head.find(b"-->", opening.start() + 2)  # "<!-->" is a whole comment
            position = end + 3
        elif markup:
            end = head.find(b">", opening.end())
            label = _XML_LABEL.search(head, opening.end(), end) if len(markup) > 1 else None
            codec = codec_of(label[1].decode("latin-1")) if label and end >= 0 else ""
            if codec:
                return _not_utf16(codec), scripts
            position = end + 1
        else:
            tag = name.lower()
            codec, end = _read_tag(head, opening.end(), tag, codec_of)
            if codec:
                return codec, scripts
            position = end
            if tag == b"script" and end >= 0:
                closing = _SCRIPT_END.search(head, end)
                scripts.append(head[end : closing.start() if closing else len(head)])
                end = position = closing.start() if closing else -1
        if end < 0:
            break
    return "", scripts


def _read_tag(head: bytes, start: int, tag: bytes, codec_of: CodecOf) -> tuple[str, int]:
    """The codec if this is a meta tag that declares one, and where it ends (-1: nowhere)."""
    end = head.find(b">", start)
    if end < 0:
        return "", -1
    if tag != b"meta" and not _QUOTES.search(head, start, end):
        return "", end + 1
    attributes: dict[bytes, bytes] = {}
    position = start
    while (closing := _END.match(head, position)) is None:
        match = _ATTRIBUTE.match(head, position)
        if match is None or match[4]:
            return "", -1  # the end of the bytes, or a quote that is never closed
        value = match[2] or match[3] or match[5] or b""
        attributes.setdefault(match[1].lower(), value)
        position = match.end()
    return (_of_meta(attributes, codec_of) if tag == b"meta" else ""), closing.end()


def _of_meta(attributes: dict[bytes, bytes], codec_of: CodecOf) -> str:
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _CONTENT_LABEL.search(attributes.get(b"content", b""))
        label = match[1] or match[2] or match[3] if match else None
    return _not_utf16(codec_of(label.decode("latin-1"))) if label else ""


def _not_utf16(codec: str) -> str:
    # A declaration that could be read byte by byte is not UTF-16, whatever it says.
    return "utf-8" if codec.startswith("utf-16") else codec
