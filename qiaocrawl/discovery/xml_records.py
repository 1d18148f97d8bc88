"""Reads records from XML as people write it, hostile too, in bounded time and memory.

For sitemaps and feeds. The bytes are decoded as those of pages are, by mark, declaration and what
they look like, and made well formed before the parser sees them: hand-made files have ``&`` bare
in addresses, entities of HTML, and stray ``<``, which libxml2 would leave out.

No tree is built: libxml2 calls back for tags and text, and only the asked-for fields of the
asked-for records are kept. Entities, DTDs and the network are off, so that XXE and
billion-laughs attacks fail (faults F-R13); gzip is undone piece by piece up to a
bound (F-R1). feedparser was tried instead for feeds: 1.3 ms an entry, and 6 s and 150 MB for
0.9 MB of open tags.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urljoin

from lxml import etree

from qiaocrawl.text.charset import codec_of, marked_charset, weighed_charset
from qiaocrawl.text.normalise import NOT_XML
from qiaocrawl.text.well_formed import WellFormed

MAX_BYTES = 50 * 1024 * 1024
"""Unpacked, as sitemaps.org bounds a sitemap."""
GZIP_MAGIC = b"\x1f\x8b"
# A piece at a time, so that a bound is met before the memory is full.
_PIECE = 64 * 1024
# What is packed in blocks of 64 KiB has 800.
_MAX_GZIP_MEMBERS = 1_000
_FREE_ELEMENTS = 20_000
# A news sitemap has some ten, with pictures some more; what has more is no sitemap.
_ELEMENTS_A_RECORD = 40
# Before the first element.
_FREE_BYTES = 256 * 1024
_MAX_DEPTH = 64
_MAX_FIELD_CHARS = 4_096
_MAX_NAME_CHARS = 256
_MAX_VALUES = 64
# <?xml version="1.0" encoding="gb2312"?>
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']", re.I)
_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
"""Among the attributes of a link: what its address is relative to."""
# What stands before the document: spaces and byte order marks, more than one where files were
# put together.
_BLANK = re.compile(rb"(?:\s|\xef\xbb\xbf)*+")
_HEAD_BYTES = 8_192
_BEGINS = re.compile(rb"<(?:\?xml\s|!)", re.IGNORECASE)
_DOCUMENT = re.compile(
    rb"<\?xml\s[^<>]*+>(?:\s++|<[!?][^>]*+>)*+"
    rb"<(?:[\w.-]{1,20}:)?(?:rss|feed|rdf|urlset|sitemapindex|channel)[\s>]",
    re.IGNORECASE,
)
# A program's complaint in front of the document, up to which it is left aside.
_COMPLAINT = re.compile(
    rb"(?:<br\b|<b>|(?:PHP )?(?:Warning|Notice|Deprecated|Fatal error|Strict))", re.IGNORECASE
)
_COMPLAINED_OF = re.compile(rb"<(?:\?xml|rss|feed|rdf:RDF|urlset|sitemapindex)[\s>]", re.IGNORECASE)
_PAGE = re.compile(rb"<(?:!doctype\s|html|head|body)\b", re.IGNORECASE)
# Vocabularies whose elements are called like those that are read, and mean something else.
_FOREIGN = (
    "mrss",
    "itunes",
    "podcast",
    "sitemap-image",
    "sitemap-video",
    "geo",
    "georss",
    "opensearch",
    "xhtml",
    "purl.org/rss/1.0/modules/content",
)
# Those that are read wherever they stand: Atom in RSS, Dublin Core, RSS 1.0 in RDF.
_KNOWN = re.compile(
    r"/atom\b|purl\.org/(?:dc/|atom/|rss/1\.0/?$)|netscape\.com/rdf|userland\.com/rss"
)


@dataclass(slots=True)
class Record:
    """The fields of one element, in order.

    A field is called by its local name in lower case, or ``parent/name`` where it stands deeper in
    the record, or "." for the record's own text where it has no element in it; "?name" where its
    vocabulary is neither the record's own nor known. The label or term of Atom's ``category`` is
    one of its values.
    ``links`` holds the attributes of its own ``link`` elements, not of those deeper in it (an
    entry's source has some), ``about`` its ``rdf:about``, ``base`` what ``xml:base`` says around
    and on it, perhaps a relative address, or "".
    """

    name: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    links: list[dict[str, str]] = field(default_factory=list)
    about: str = ""
    base: str = ""

    def first(self, *names: str) -> str:
        """The first field of *names*, in their order, that is there and not empty; or "".

        What an unknown vocabulary calls so counts where nothing else does.
        """
        for name in (*names, *(f"?{name}" for name in names)):
            for value in self.fields.get(name, ()):
                if value:
                    return value
        return ""


@dataclass(slots=True)
class XmlRecords:
    """What a document held; ``root`` is the local name of its first element, or ""."""

    root: str = ""
    title: str = ""
    records: list[Record] = field(default_factory=list)
    beyond: int = 0
    fault: str = ""


def xml_records(
    body: bytes,
    content_type: str,
    *,
    names: frozenset[str],
    fields: frozenset[str],
    limit: int,
    is_feed: bool = False,
) -> XmlRecords:
    """The records called *names* with their *fields* in the XML of *body*; never raises.

    Args:
        body: perhaps gzipped.
        names, fields: in lower case, as people write them in any.
        limit: records kept; further ones are counted in ``beyond``.
        is_feed: whether tags of HTML that stand in it as they are are left out, and the others
            balanced. Sitemaps come from programs and may be long: one is read again so where
            its tags do not match.
    """
    target = _Collector(names, fields, limit)
    is_whole = _collect(body, content_type, target, WellFormed(records=names if is_feed else None))
    if not is_whole and not is_feed:
        target = _Collector(names, fields, limit)
        _collect(body, content_type, target, WellFormed(records=names))
    return target.found


def _collect(body: bytes, content_type: str, target: _Collector, mender: WellFormed) -> bool:
    """Read *body* into *target*; False where the tags that were met do not match."""
    parser = etree.XMLParser(
        # recover: feeds of hand-made programs are rarely well formed.
        target=target,
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        dtd_validation=False,
    )
    faults: list[str] = []
    fed = 0
    try:
        for text in mender.of(decode_xml(body, content_type, faults)):
            # utf-8, whatever the declaration inside says: the text was decoded
            # before (encoding= above).
            parser.feed(text.encode("utf-8"))
            fed += len(text)
            # Asked after each piece: libxml2 itself would go on.
            if why := target.enough(fed):
                faults.append(why)
                break
        parser.close()
    except (etree.XMLSyntaxError, ValueError) as error:
        # Raised at the end of what is no XML at all; what was found before stays.
        faults.append(f"no XML: {error}"[:200])
    target.found.fault = "; ".join(faults)
    return not any(
        error.type == etree.ErrorTypes.ERR_TAG_NAME_MISMATCH for error in parser.feed_error_log
    )


def unpack_body(body: bytes, limit: int = MAX_BYTES) -> Iterator[bytes]:
    """*body* in pieces, gzip undone once, of all its members; at most *limit* bytes.

    Raises:
        OverflowError: there are more.
        ValueError: the gzip data are damaged; what came before them was good.
    """
    if not body.startswith(GZIP_MAGIC):
        yield from (body[at : at + _PIECE] for at in range(0, min(len(body), limit), _PIECE))
        if len(body) > limit:
            raise OverflowError(f"more than {limit} bytes")
        return
    # 16 + MAX_WBITS: with a gzip header.
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
    size, members, rest = 0, 1, body
    while rest:
        try:
            piece = inflate.decompress(rest, _PIECE)
        except zlib.error as error:
            raise ValueError(f"damaged gzip data: {error}") from None
        # What was not unpacked yet, since the piece was full.
        rest = inflate.unconsumed_tail
        size += len(piece)
        if size > limit:
            raise OverflowError(f"more than {limit} bytes when unpacked")
        yield piece
        if inflate.eof:
            # Files put one behind the other are one; other bytes are padding.
            following = inflate.unused_data
            rest = following if following.startswith(GZIP_MAGIC) else b""
            members += 1
            # Each costs a copy of all that follows.
            if rest and members > _MAX_GZIP_MEMBERS:
                raise ValueError(f"more than {_MAX_GZIP_MEMBERS} gzip members")
            inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)


def decode_xml(
    body: bytes, content_type: str, faults: list[str], limit: int = MAX_BYTES
) -> Iterator[str]:
    """*body*, perhaps gzipped, as text that XML may hold, in pieces.

    Args:
        faults: what goes wrong is added to them.
        limit: of the unpacked bytes.
    """
    try:
        for text in _decode_pieces(unpack_body(body, limit), content_type):
            if text := NOT_XML.sub(" ", text):
                # Lone surrogates, which some codecs let through, have no UTF-8.
                yield text.encode("utf-8", "replace").decode("utf-8")
    except (OverflowError, ValueError) as error:
        faults.append(str(error))


def _decode_pieces(pieces: Iterator[bytes], content_type: str) -> Iterator[str]:
    charset, head = document_in(next(pieces, b""))
    if not charset:
        declared = _declared_charset(head, content_type)
        # ASCII reads the same in all charsets that are left: decided where other bytes come.
        while head.isascii():
            yield head.decode("ascii")
            if not (head := next(pieces, b"")):
                return
        # The next as well: a few bytes at the end of a piece tell little.
        head += next(pieces, b"")
        charset = weighed_charset(head, declared)
    decoder = codecs.getincrementaldecoder(charset)("replace")
    yield decoder.decode(head).lstrip("\ufeff \t\r\n")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def document_in(head: bytes) -> tuple[str, bytes]:
    """The codec that a mark in *head* tells, or "", and *head* from its document on.

    Blanks and marks before ``<?xml`` are not allowed, and stand there in many feeds; so do the
    complaints of programs.
    """
    charset, mark_bytes = marked_charset(head)
    if charset.startswith("utf-16"):
        return charset, head[mark_bytes:]
    blank = _BLANK.match(head)
    before, head = (head[: blank.end()], head[blank.end() :]) if blank else (b"", head)
    if codecs.BOM_UTF8 in before:
        charset = "utf-8"
    if _BEGINS.match(head):
        return charset, head
    complained = _COMPLAINT.match(head) is not None
    beginning = head if complained else head[:_HEAD_BYTES]
    document = (_COMPLAINED_OF if complained else _DOCUMENT).search(beginning)
    if document is None or _PAGE.search(head, 0, document.start()):
        return charset, head
    return charset, head[document.start() :]


def _declared_charset(head: bytes, content_type: str) -> str:
    """Python's codec for what the document or the header says; "" for none."""
    declared = _DECLARED.search(head[:512])
    header = _HEADER.search(content_type)
    for label in (declared and declared[1].decode("ascii"), header and header[1]):
        charset = codec_of(label) if label else ""
        # What could be read as ASCII up to the declaration is not in UTF-16.
        if charset and not charset.startswith("utf-16"):
            return charset
    return ""


class _Collector:
    """The target libxml2 calls."""

    def __init__(self, names: frozenset[str], fields: frozenset[str], limit: int) -> None:
        self.found = XmlRecords()
        self._names = names
        self._fields = fields
        self._limit = limit
        self._elements = 0
        self._path: list[str] = []
        # What xml:base says of the elements that are open, with their depth.
        self._bases: list[tuple[int, str]] = []
        self._record: Record | None = None
        self._record_depth = 0
        # The record's vocabulary.
        self._home = ""
        self._key = ""
        self._key_depth = 0
        self._text: list[str] = []
        self._chars = 0

    def enough(self, fed_chars: int) -> str:
        """Why nothing more is to be read, in words; "" to go on."""
        records = self.found
        if not records.root and fed_chars > _FREE_BYTES:
            return "no element at the beginning"
        # An escaped sign is longer than the sign.
        if fed_chars > MAX_BYTES:
            return f"more than {MAX_BYTES} characters"
        if len(self._path) > _MAX_DEPTH:
            return f"elements more than {_MAX_DEPTH} deep"
        if records.beyond > self._limit:
            return f"more than {2 * self._limit} entries"
        if self._elements > _FREE_ELEMENTS + _ELEMENTS_A_RECORD * len(records.records):
            return f"{self._elements} elements for {len(records.records)} entries"
        return ""

    def start(self, tag: str | bytes, attributes: Mapping[str | bytes, str | bytes]) -> None:
        """An element begins."""
        self._elements += 1
        name = _local(str(tag))
        if not self._path:
            self.found.root = name
        self._path.append(name)
        depth = len(self._path)
        if base := str(attributes.get(XML_BASE, "") if attributes else ""):
            outer = self._bases[-1][1] if self._bases else ""
            self._bases.append((depth, resolve_address(outer, _unescape(base)[:_MAX_FIELD_CHARS])))
        if self._record is None:
            # Deeper than the root: the root of a feed may be called like a record.
            if name in self._names and depth > 1:
                self._begin_record(name, depth, attributes)
                self._home = _vocabulary(str(tag))
            # The title of a channel stands two or three elements deep; a picture's is deeper.
            elif name == "title" and depth <= 3 and not self.found.title:
                self._begin_text("title", depth)
            return
        # "image/title" and "title" are two fields.
        key = name
        if depth > self._record_depth + 1:
            key = f"{self._path[-2]}/{name}"
        elif name[:1] != "~" and _is_strange(_vocabulary(str(tag)), self._home):
            key = f"?{name}"
        if key == "category" and attributes:
            named = str(attributes.get("label") or attributes.get("term") or "")
            self._add(key, _unescape(named)[:_MAX_FIELD_CHARS])
        if key == "link" and attributes and len(self._record.links) < _MAX_VALUES:
            self._record.links.append(
                {
                    _local(str(name)): _unescape(str(value))[:_MAX_FIELD_CHARS]
                    for name, value in attributes.items()
                }
            )
        if key.removeprefix("?") in self._fields and depth < _MAX_DEPTH:
            self._begin_text(key, depth)

    def _begin_record(
        self, name: str, depth: int, attributes: Mapping[str | bytes, str | bytes]
    ) -> None:
        about = next((str(v) for k, v in attributes.items() if _local(str(k)) == "about"), "")
        base = self._bases[-1][1] if self._bases else ""
        self._record = Record(name, about=_unescape(about)[:_MAX_FIELD_CHARS], base=base)
        self._record_depth = depth
        if "." in self._fields:
            # Until an element in it begins a text of its own.
            self._begin_text(".", depth)

    def _begin_text(self, key: str, depth: int) -> None:
        self._key, self._key_depth, self._text, self._chars = key, depth, [], 0

    def comment(self, text: str | bytes) -> None:
        """A comment says nothing."""

    def data(self, data: str | bytes) -> None:
        """Text, perhaps a part of what stands in one element."""
        text = str(data)
        if self._key and self._chars < _MAX_FIELD_CHARS:
            self._text.append(text[: _MAX_FIELD_CHARS - self._chars])
            self._chars += len(text)

    def end(self, tag: str | bytes) -> None:
        """An element ends."""
        depth = len(self._path)
        if self._key and depth == self._key_depth:
            # Spaces and line breaks inside a value are layout.
            value = " ".join("".join(self._text).split())
            if self._record is None:
                self.found.title = value
            else:
                self._add(self._key, value)
            self._key = ""
        if self._record is not None and depth == self._record_depth:
            self._end_record()
        if self._bases and self._bases[-1][0] == depth:
            self._bases.pop()
        if self._path:
            self._path.pop()

    def _add(self, key: str, value: str) -> None:
        if self._record is not None and value:
            values = self._record.fields.setdefault(key, [])
            if len(values) < _MAX_VALUES:
                values.append(value)

    def _end_record(self) -> None:
        if self._record is not None and len(self.found.records) < self._limit:
            self.found.records.append(self._record)
        else:
            self.found.beyond += self._record is not None
        self._record = None

    def close(self) -> XmlRecords:
        """The document ended; what had come of a record whose end is cut off is kept."""
        self._end_record()
        return self.found


def _unescape(value: str) -> str:
    """An attribute's value: libxml2 hands an "&" on as it would stand in a tree to be written."""
    return value.replace("&#38;", "&")


def resolve_address(base: str, address: str) -> str:
    """*address* against *base*, either of which may be relative; as it is where one is nonsense."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address


def _local(tag: str) -> str:
    """The local name of *tag* in lower case, with a mark in front where its vocabulary is foreign.

    "~title": a name nobody asks for, so that media:title never stands for the entry's.
    """
    # There are few of them, and each comes with every record.
    return _short_local(tag) if len(tag) <= _MAX_NAME_CHARS else "~"


@lru_cache(maxsize=1024)
def _short_local(tag: str) -> str:
    if tag[:1] == "{":
        space, _, name = tag[1:].lower().partition("}")
        return f"~{name}" if any(word in space for word in _FOREIGN) else name
    return tag.lower()


def _vocabulary(tag: str) -> str:
    return tag[1:].partition("}")[0] if tag[:1] == "{" else ""


@lru_cache(maxsize=1024)
def _is_strange(vocabulary: str, home: str) -> bool:
    return vocabulary not in ("", home) and not _KNOWN.search(vocabulary.lower())
