"""Decodes page bytes to text, once: byte order mark, header, meta, then a capped guess.

Labels mean what WHATWG says they mean (``gb2312`` is gb18030, ``big5`` has the Hong Kong
characters). A declared charset that fits badly is overruled, and the decision is recorded.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import charset_normalizer
import webencodings

from qiaocrawl.text.plausible import plausibility
from qiaocrawl.text.prescan import declared_in

# Chinese pages put long comments and scripts before their meta; the standard looks at 1,024.
_PRESCAN_BYTES = 4096
# As far a parser may still come upon a meta tag that the prescan did not see.
_LATE_BYTES = 65_536
# A guess reads this much from the first non-ASCII byte on: its time does not grow.
_SAMPLE_BYTES = 16_384
# A declared charset stands while at most this share of the characters cannot be decoded.
_BAD_SHARE = 0.005
# Least share of everyday characters in text of the right charset: measured .93 and more.
_PLAUSIBLE = 0.7
# As before, when bytes are missing: Latin text read as Chinese stays under .1.
_DAMAGED = 0.3
_LATIN_AS_CHINESE = 0.1
_FEW_BYTES = 3
_LAST_RESORT = ["gb18030", "big5hkscs", "cp1252"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Each is a superset, so that no character a browser shows is lost.
_WIDER = {"gbk": "gb18030", "hz": "gb18030", "big5": "big5hkscs", "iso8859-1": "cp1252"}
_SINGLE_BYTE = re.compile(r"cp125|iso8859|windows-|latin|mac-|cp874|koi8|ascii")

_LATE_META = re.compile(rb"<meta[^>]{0,200}charset")
_HEADER_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_NON_ASCII = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page's text; ``source`` is bom, header, meta, guess or overruled.

    ``charset`` is Python's codec name; ``replaced`` counts the U+FFFD of the text: those put
    in for bytes that could not be decoded, and those the page came with.
    """

    text: str
    charset: str
    source: str
    replaced: int = 0


def decode_page(body: bytes, content_type: str = "") -> Decoded:
    """Decode *body*; *content_type* is the Content-Type header or "". Never raises."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], charset, "bom")
    declared, source = declared_charset(body, content_type)
    if body.isascii():
        # ASCII bytes are no UTF-16, whatever is declared.
        if declared.startswith("utf-16"):
            declared = ""
        # The standard's fallback; ASCII reads the same in all remaining charsets.
        return Decoded(body.decode("ascii"), declared or "cp1252", source)
    return _weighed(body, declared, source)


def declared_charset(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Python's codec for what header or markup declares, and "header" or "meta".

    ``("", "guess")`` when nothing is declared. Whether the bytes fit is not asked.
    """
    match = _HEADER_LABEL.search(content_type)
    charset = codec_of(match[1]) if match else ""
    if charset:
        return charset, "header"
    charset = declared_in(body[:_PRESCAN_BYTES], codec_of)
    if not charset and len(body) > _PRESCAN_BYTES:
        head = body[:_LATE_BYTES]
        if _LATE_META.search(head.lower()):
            charset = declared_in(head, codec_of)
    return (charset, "meta") if charset else ("", "guess")


def weighed_charset(sample: bytes, declared: str) -> str:
    """Python's codec for bytes of a text that *declared* (a codec or "") was said of.

    Args:
        sample: some of them, ASCII bytes and others; a character may be cut off at the end.
    """
    return _weighed(sample, declared, "").charset


def marked_charset(head: bytes) -> tuple[str, int]:
    """The codec that a byte order mark tells, and the mark's length; ``("", 0)`` without one.

    UTF-16 without a mark is told by the zeros of its first two characters, if those are ASCII.
    """
    for mark, charset in _BOMS:
        if head.startswith(mark):
            return charset, len(mark)
    first = head[:4]
    if len(first) == 4 and (first[1], first[3]) == (0, 0) and first[0] and first[2]:
        return "utf-16-le", 0
    if len(first) == 4 and (first[0], first[2]) == (0, 0) and first[1] and first[3]:
        return "utf-16-be", 0
    return "", 0


def codec_of(label: str) -> str:
    """Python's codec for a WHATWG *label*, the wider one of a family; "" if unknown."""
    encoding = webencodings.lookup(label.strip())
    if encoding is None or encoding.name in ("replacement", "x-user-defined"):
        return ""
    name = encoding.codec_info.name
    return _WIDER.get(name, name)


def _weighed(body: bytes, declared: str, source: str) -> Decoded:
    """Decode *body*, which has non-ASCII bytes, weighing the declaration against the bytes."""
    as_utf8 = _strict(body, "utf-8")
    if as_utf8 is not None and declared in ("", "utf-8"):
        return Decoded(as_utf8, "utf-8", source, _lost(as_utf8))
    if as_utf8 is not None and not _could_be_chance(body, declared):
        return Decoded(as_utf8, "utf-8", "overruled", _lost(as_utf8))
    sample = _sample(body)
    if declared and _fits(sample, declared):
        as_declared = _decoded(body, declared, source)
        if as_declared.replaced <= _BAD_SHARE * len(body):
            return as_declared
    guessed = _guess(sample)
    if not declared or guessed == declared:
        return _decoded(body, guessed, source)
    if _SINGLE_BYTE.match(guessed) and plausibility(sample, declared) >= _DAMAGED:
        # A single-byte charset decodes any bytes, so it proves nothing against damaged Chinese.
        return _decoded(body, declared, source)
    as_guessed, declared_text = (
        _decoded(body, guessed, "overruled"),
        _decoded(body, declared, source),
    )
    return as_guessed if _is_better(as_guessed, declared_text, sample) else declared_text


def _strict(body: bytes, charset: str) -> str | None:
    """*body* decoded, or None if it has an error; a last character cut off is no error."""
    try:
        return body.decode(charset)
    except UnicodeDecodeError as error:
        # A UTF-8 character has four bytes at most, so one that is cut off begins within
        # the last three.
        if len(body) - error.start > 3:
            return None
    text = body.decode(charset, "replace")
    return text if text.count("\ufffd") <= 1 else None


def _decoded(body: bytes, charset: str, source: str) -> Decoded:
    text = body.decode(charset, "replace")
    return Decoded(text, charset, source, _lost(text))


def _lost(text: str) -> int:
    # `in` is four times as fast as count(), and nearly always false.
    return text.count("\ufffd") if "\ufffd" in text else 0


def _could_be_chance(body: bytes, declared: str) -> bool:
    """Whether valid UTF-8 may still be *declared*: a handful of bytes, such as 联通 in GBK."""
    high_bytes = len(_NON_ASCII.findall(body[:65536]))
    return (
        high_bytes < 12
        and not _SINGLE_BYTE.match(declared)
        and (_strict(body, declared) is not None)
    )


def _sample(body: bytes) -> bytes:
    first = _NON_ASCII.search(body)
    start = first.start() if first else 0
    return body[start : start + _SAMPLE_BYTES]


def _fits(sample: bytes, charset: str) -> bool:
    """Whether *sample* reads like text in *charset*."""
    if _SINGLE_BYTE.match(charset):
        # Any bytes decode; multi-byte text shows by being plausible in another charset.
        return max(_scores(sample).values()) < _PLAUSIBLE
    return plausibility(sample, charset) >= _PLAUSIBLE


def _scores(sample: bytes) -> dict[str, float]:
    return {
        charset: plausibility(sample, charset)
        for charset in ("gb18030", "big5hkscs", "utf-8", "euc_jp", "cp932")
    }


def _guess(sample: bytes) -> str:
    scores = _scores(sample)
    best = max(scores, key=lambda charset: scores[charset])
    if scores[best] >= _PLAUSIBLE:
        return best
    match = charset_normalizer.from_bytes(
        sample, steps=3, chunk_size=512, cp_isolation=_LAST_RESORT, preemptive_behaviour=False
    ).best()
    return codec_of(match.encoding) or "cp1252" if match else "cp1252"


def _is_better(guessed: Decoded, declared: Decoded, sample: bytes) -> bool:
    if guessed.replaced != declared.replaced and max(guessed.replaced, declared.replaced) > 2:
        return guessed.replaced < declared.replaced
    if not _SINGLE_BYTE.match(guessed.charset):
        return True
    # Read as Chinese, each accent swallows the letter after it: nearly all characters are rare.
    enough = len(_NON_ASCII.findall(sample)) >= _FEW_BYTES
    return enough and plausibility(sample, declared.charset) < _LATIN_AS_CHINESE
