"""Decodes page bytes to text, once: byte order mark, header, meta, then a capped guess.

Labels mean what WHATWG says they mean (``gb2312`` is gb18030, ``big5`` has the Hong Kong
characters). A declared charset that fits badly is overruled, and the decision is recorded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import charset_normalizer
import webencodings

# --- Judges how plausible bytes are as text of a charset, by the share of everyday characters -----
# East Asian standards put the everyday characters into a first level of their table, so the
# right charset shows nearly only those, and a wrong one scatters over rare characters.

_ASCII = re.compile("[\\x00-\\x7f]+")
_WIDE_MARKS = frozenset("　、。·…—～〈〉《》「」『』【】！（），．：；？“”‘’￥・〜－")
_KANA = frozenset(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FD))))
# Japanese without kana is not told from Chinese, and Chinese is what is looked for.
_LEAST_KANA_SHARE = 0.15
_UTF8_COMMON = frozenset(map(chr, (*range(0xA0, 0x250), *range(0x4E00, 0x9FA6))))

# First level of each table: lead bytes from, to (exclusive), trail bytes.
_FIRST_LEVEL = {
    "gb18030": (0xB0, 0xD8, (*range(0xA1, 0xFF),)),
    "big5hkscs": (0xA4, 0xC7, (*range(0x40, 0x7F), *range(0xA1, 0xFF))),
    "euc_jp": (0xB0, 0xD0, (*range(0xA1, 0xFF),)),
    "cp932": (0x88, 0x99, (*range(0x40, 0x7F), *range(0x80, 0xFD))),
    "cp949": (0xB0, 0xC9, (*range(0xA1, 0xFF),)),
}


def plausibility(sample: bytes, charset: str) -> float:
    """Share in [0, 1] of the non-ASCII characters of *sample* that are everyday ones.

    Undecodable bytes count as rare characters. A charset without a table here gives 1 when
    every byte decodes and falls with the errors. A sample without non-ASCII gives 1.
    """
    letters = list(_ASCII.sub("", sample.decode(charset, "replace")))
    if not letters:
        return 1.0
    if len(letters) > 1 and letters[-1] == "\ufffd":
        letters.pop()  # the sample may end inside a character
    share = sum(map(_common(charset).__contains__, letters)) / len(letters)
    if charset in ("euc_jp", "cp932"):
        kana = sum(map(_KANA.__contains__, letters)) / len(letters)
        return share if kana >= _LEAST_KANA_SHARE else 0.0
    return share if charset in _FIRST_LEVEL or charset == "utf-8" else _share_undamaged(letters)


def _share_undamaged(letters: list[str]) -> float:
    return 1.0 - letters.count("\ufffd") / len(letters)


@cache
def _common(charset: str) -> frozenset[str]:
    if charset == "utf-8":
        return _UTF8_COMMON | _WIDE_MARKS | _KANA
    if charset not in _FIRST_LEVEL:
        return frozenset()
    low, high, trails = _FIRST_LEVEL[charset]
    pairs = (bytes((lead, trail)) for lead in range(low, high) for trail in trails)
    characters = {pair.decode(charset, "ignore") for pair in pairs}
    kana = _KANA if charset in ("euc_jp", "cp932") else frozenset()
    return frozenset(c for c in characters if len(c) == 1) | _WIDE_MARKS | kana


# --- The charset a page's first bytes declare: the prescan of the HTML standard -------------------
# Source: WHATWG HTML, "prescan a byte stream to determine its encoding" and "extracting a
# character encoding from a meta element". **(ours)**: an XML declaration is read in the same
# pass, and a meta tag that a script writes counts when there is no other.

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


# --- Decodes page bytes to text, once: byte order mark, header, meta, then a capped guess ---------

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

# HZ (RFC 1843): ASCII bytes, GB 2312 between ~{ and ~}. Old mailing lists and magazines of Chinese
# abroad are in it; the web standard has dropped it, so hardly any page declares it.
_HZ_LABEL = re.compile(rb"hz-?gb-?2312|charset=[\"']?hz\b", re.IGNORECASE)
# In a run a pair begins with no "~"; one that is not closed ends with its line.
_HZ_RUN = re.compile(rb"~\{((?:[\x21-\x77][\x21-\x7e])++)(?:~\}|(?=\r?\n|$))")
_HZ_PART = re.compile(_HZ_RUN.pattern + rb"|~(~|\r?\n)")
_HIGH_BITS = bytes(byte | 0x80 for byte in range(256))
_LEAST_HZ_PAIRS = 8
"""Characters of a page that is taken for HZ though it does not say so."""


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
            return _decode(body[len(mark) :], charset, "bom")
    if b"\0" in body[:4] and (charset := marked_charset(body[:4])[0]):
        return _decode(body, charset, "guess")
    declared, source = declared_charset(body, content_type)
    if body.isascii():
        if b"~{" in body and (decoded := _decode_hz(body, content_type)) is not None:
            return decoded
        # ASCII bytes are no UTF-16, whatever is declared.
        if declared.startswith("utf-16"):
            declared = ""
        # The standard's fallback; ASCII reads the same in all remaining charsets.
        return Decoded(body.decode("ascii"), declared or "cp1252", source)
    return _weigh_charsets(body, declared, source)


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
    return _weigh_charsets(sample, declared, "").charset


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


def _decode_hz(body: bytes, content_type: str) -> Decoded | None:
    """Decode ASCII bytes that are HZ; None if they are not."""
    is_declared = _HZ_LABEL.search(content_type.encode("ascii", "replace") + body[:_PRESCAN_BYTES])
    runs = b"".join(_HZ_RUN.findall(body))
    if len(runs) < (2 if is_declared else 2 * _LEAST_HZ_PAIRS):
        return None
    if plausibility(_as_gb2312(runs[:_SAMPLE_BYTES]), "gb18030") < _PLAUSIBLE:
        return None
    # Run by run: a lone "~" is common in addresses, and an error to HZ.
    text = _HZ_PART.sub(_hz_part, body)
    return replace(_decode(text, "gb18030", "meta" if is_declared else "guess"), charset="hz")


def _hz_part(part: re.Match[bytes]) -> bytes:
    return _as_gb2312(part[1]) if part[1] else b"~" if part[2] == b"~" else b""


def _as_gb2312(seven_bits: bytes) -> bytes:
    return seven_bits.translate(_HIGH_BITS)


def _weigh_charsets(body: bytes, declared: str, source: str) -> Decoded:
    """Decode *body*, which has non-ASCII bytes, weighing the declaration against the bytes."""
    as_utf8 = _strict(body, "utf-8")
    if as_utf8 is not None and declared in ("", "utf-8"):
        return Decoded(as_utf8, "utf-8", source, _lost(as_utf8))
    if as_utf8 is not None and not _could_be_chance(body, declared):
        return Decoded(as_utf8, "utf-8", "overruled", _lost(as_utf8))
    sample = _sample(body)
    if declared and _fits(sample, declared):
        as_declared = _decode(body, declared, source)
        if as_declared.replaced <= _BAD_SHARE * len(body):
            return as_declared
    guessed = _guess(sample)
    if not declared or guessed == declared:
        return _decode(body, guessed, source)
    if _SINGLE_BYTE.match(guessed) and plausibility(sample, declared) >= _DAMAGED:
        # A single-byte charset decodes any bytes, so it proves nothing against damaged Chinese.
        return _decode(body, declared, source)
    as_guessed, declared_text = (
        _decode(body, guessed, "overruled"),
        _decode(body, declared, source),
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


def _decode(body: bytes, charset: str, source: str) -> Decoded:
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
