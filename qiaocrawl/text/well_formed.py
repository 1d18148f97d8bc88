"""Makes well-formed XML of what people write: a parser that meets a fault would leave text out.

Stray signs are escaped and entities of HTML become characters. In feeds also HTML that stands
there as it is goes, and every tag gets its partner: libxml2 takes an end tag, whatever its name,
for the end of the element that is open, so that one unclosed or stray tag in one entry would
take all entries behind it along.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from qiaocrawl.text.normalise import NOT_XML

# A bare "&", or a reference that is none of XML's own.
_REFERENCE = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos);)"
    r"(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z_][\w.-]{0,31});)?",
    re.ASCII,
)
# A "<" that begins no tag: libxml2 would end at it, as it does at a "]]>" that ends no CDATA.
_STRAY = re.compile(r"<(?!/?[A-Za-z_])")
_PASSED_OVER = re.compile(r"<!\[CDATA\[|<!--|<!DOCTYPE|<\?(?=[A-Za-z])", re.IGNORECASE)
_NO_DOCTYPE = re.compile(r"<!\[CDATA\[|<!--|<\?(?=[A-Za-z])", re.IGNORECASE)
_BEHIND_REFERENCE = re.compile(r"[^\w#.-]")
# No reference is longer, nor what begins a part that is passed over.
_HELD_BACK_CHARS = 40
# With what it defines, between brackets: quotes and comments in it may hold brackets. Possessive,
# so that one without end costs linear time.
_DOCTYPE = re.compile(
    r"<!DOCTYPE(?:[^>\[\"']++|\"[^\"]*+\"|'[^']*+')*+"
    r"(?:\[(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|<!--(?:[^-]++|-(?!->))*+-->|<)*+\][^>]*+)?>",
    re.IGNORECASE,
)
_LOOSE_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*+(?:\[.*?\]\s*+)?>", re.IGNORECASE | re.DOTALL)
# Of the declarations in front of the first element.
_MAX_DOCTYPE_CHARS = 128 * 1024
# <!ENTITY org "侨联">: a word, of no other entity and no markup, so that it cannot grow.
_ENTITY = re.compile(
    r"<!ENTITY\s++([A-Za-z_][\w.-]{0,31})\s++[\"'](&#\w{1,8};|[^&%<\"']{0,200})[\"']\s*+>", re.ASCII
)
_MAX_ENTITIES = 256
# HTML that a hand-made feed has in it as it is: unclosed "<br>" and "<img>" would take every
# element behind them along. Names that feeds have as well are left.
HTML_TAG = re.compile(
    r"</?(a|abbr|b|big|blockquote|br|center|cite|code|del|div|em|embed|font|form|h[1-6]|hr|i|iframe"
    r"|img|input|ins|label|li|mark|nobr|o:p|ol|p|pre|small|span|strike|strong|style|s|sub|sup|script"
    r"|table|tbody|td|th|tr|tt|u|ul|wbr)"
    r"(?=[\s/>])(?:[^<>\"']++|\"[^\"<]{0,2000}+\"|'[^'<]{0,2000}+'|[\"'])*+>",
    re.IGNORECASE,
)
_HELD_BACK_TAG_CHARS = 16_000
_INLINE = frozenset(
    (
        "a",
        "abbr",
        "b",
        "big",
        "cite",
        "code",
        "del",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "label",
        "mark",
        "nobr",
        "o:p",
        "small",
        "span",
        "strike",
        "strong",
        "s",
        "sub",
        "sup",
        "tt",
        "u",
        "wbr",
    )
)
# Of these the local name says enough, declared or not; "xml" is always declared.
_KNOWN_PREFIXES = frozenset(
    ("xml", "dc", "dcterms", "atom", "news", "rss", "sm", "s", "a", "rdf", "ns")
)
# A tag up to its ">", or to where it breaks off. Possessive, so that hostile text costs linear
# time; a "<" in quotes belongs to the value unless a tag stands there, of which the quote is none.
_TAG = re.compile(
    r"<(/?)([A-Za-z_][\w:.-]*+)"
    r"((?:[^<>\"']++|\"[^\"<]*+(?:<[^\"<>\n]*+)*+\"|'[^'<]*+(?:<[^'<>\n]*+)*+'|[\"'])*+)(>?)"
)
_SOUND_ATTRIBUTES = re.compile(
    r"(?:\s++[A-Za-z_][\w:.-]*+\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+\s*+/?"
)
# As HTML may have them too: without quotes, or without a space in front.
_ATTRIBUTE = re.compile(
    r"(?<![\w:.-])([A-Za-z_][\w:.-]*+)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++))"
)
_IN_QUOTES = str.maketrans({"<": "&lt;", '"': "&quot;"})
_DECLARED_PREFIX = re.compile(r"xmlns:([\w.-]{1,64}+)\s*+=")
# What holds words or attributes alone: where another of them begins, its end was forgotten.
_LEAVES = frozenset(
    (
        "title",
        "link",
        "guid",
        "pubdate",
        "enclosure",
        "description",
        "category",
        "comments",
        "loc",
        "lastmod",
        "changefreq",
        "priority",
    )
)
# An end tag is looked for among as many open elements as one document may have.
_MAX_DEPTH = 64


class WellFormed:
    """Text of XML, in pieces, with stray signs escaped and HTML's entities as characters.

    Comments, processing instructions and the DOCTYPE go; of its entities those that are plain
    words are put in where they are named.

    Args:
        records: the elements of a feed or sitemap that hold an entry each, in lower case: HTML
            that stands in it as it is goes then, and its tags are balanced.
    """

    def __init__(self, *, records: frozenset[str] | None = None) -> None:
        self._tags = _Tags(records) if records else None
        self._entities: dict[str, str] = {}
        self._rest = ""
        self._passed_over = _PASSED_OVER
        # The end of the part that is passed over, and whether its text is wanted.
        self._until = ""
        self._is_text = False

    def of(self, texts: Iterable[str]) -> Iterator[str]:
        """Each of *texts*, mended; an end that may go on is held back until the next."""
        for text in texts:
            self._rest += text
            yield "".join(self._mend(is_end=False))
        yield "".join(self._mend(is_end=True))

    def _mend(self, *, is_end: bool) -> Iterator[str]:
        rest, at = self._rest, 0
        # Most pieces of a sitemap have neither, and are searched for them in no time.
        has_part = "<!" in rest or "<?" in rest
        while at < len(rest):
            if self._until:
                end = rest.find(self._until, at)
                found = end >= 0
                if not found:
                    end = len(rest) if is_end else max(at, len(rest) - len(self._until) + 1)
                # The lines stay, so that what is said of a line says the right one.
                yield rest[at:end] if self._is_text else "\n" * rest.count("\n", at, end)
                at = end
                if not found:
                    # So that what stood before it is not lost with it.
                    yield "]]>" if is_end and self._is_text else ""
                    break
                yield "]]>" if self._is_text else ""
                at += len(self._until)
                self._until = ""
                continue
            part = self._passed_over.search(rest, at) if has_part else None
            end = part.start() if part else len(rest) if is_end else self._last_whole(rest, at)
            yield self._escape(rest[at:end])
            at = end
            if part is None:
                break
            name = part[0].upper()
            if name == "<!DOCTYPE":
                over = _DOCTYPE.match(rest, at)
                if over is None and not is_end and len(rest) - at < _MAX_DOCTYPE_CHARS:
                    break
                over = over or _LOOSE_DOCTYPE.match(rest, at)
                for declared in _ENTITY.finditer(over[0] if over else ""):
                    if len(self._entities) < _MAX_ENTITIES:
                        self._entities.setdefault(declared[1], declared[2])
                yield "\n" * over[0].count("\n") if over else ""
                at = over.end() if over else part.end()
                if over is None:
                    # Looked for once: each would be looked through to the end of the text.
                    self._passed_over = _NO_DOCTYPE
            else:
                at = part.end()
                self._is_text = name == "<![CDATA["
                yield name if self._is_text else ""
                # A processing instruction often lacks its question mark.
                self._until = "]]>" if self._is_text else "-->" if name == "<!--" else ">"
        self._rest = rest[at:]

    def _last_whole(self, text: str, at: int) -> int:
        """How far *text* can be mended before more of it is there."""
        end = len(text)
        reference = text.rfind("&", max(at, end - _HELD_BACK_CHARS))
        if reference >= 0 and not _BEHIND_REFERENCE.search(text, reference + 1):
            end = reference
        tag = text.rfind("<", at, end)
        if tag >= 0 and end - tag < _HELD_BACK_TAG_CHARS and text.find(">", tag, end) < 0:
            end = tag
        # What may be the beginning of a "]]>".
        tail = text[max(at, end - 2) : end]
        return end - (len(tail) - len(tail.rstrip("]")))

    def _escape(self, text: str) -> str:
        if "&" in text:
            text = _REFERENCE.sub(self._meant, text)
        text = _STRAY.sub("&lt;", text).replace("]]>", "]]&gt;")
        if self._tags is None:
            return text
        return _TAG.sub(self._tags.mend, HTML_TAG.sub(left_by_tag, text))

    def _meant(self, reference: re.Match[str]) -> str:
        name = reference[1]
        if name is None:
            return "&amp;"
        written = self._entities.get(name, reference[0])
        meant = html.unescape(written)
        # A name that neither HTML nor the document knows is no entity: "&page;" in an address.
        if meant == reference[0]:
            return f"&amp;{name};"
        return html.escape(NOT_XML.sub(" ", meant))


def left_by_tag(tag: re.Match[str]) -> str:
    """What a tag of HTML leaves: lines are apart, and words within a line are not."""
    return "" if tag[1].lower() in _INLINE else " "


class _Tags:
    """The elements that are open, each of which ends once and within the one around it."""

    def __init__(self, records: frozenset[str]) -> None:
        self._records = records
        self._open: list[str] = []
        self._prefixes = set(_KNOWN_PREFIXES)

    def mend(self, tag: re.Match[str]) -> str:
        """What stands for *tag* so that the parser sees one tag, or none."""
        slash, name, rest, end = tag.groups()
        if not end and not self._lacks_its_end(tag):
            # Words behind a "<".
            return tag[0].replace("<", "&lt;")
        return self._end(name) if slash else self._start(name, rest)

    def _lacks_its_end(self, tag: re.Match[str]) -> bool:
        """Whether another tag begins where the ">" of *tag* should be."""
        slash, _name, rest, _end = tag.groups()
        if tag.end() == len(tag.string):
            return False
        return not rest.strip() or (not slash and "=" in rest)

    def _start(self, name: str, rest: str) -> str:
        before = self._forgotten_ends(name)
        is_empty = rest.rstrip().endswith("/")
        if not is_empty:
            self._open.append(name)
        if rest and not _SOUND_ATTRIBUTES.fullmatch(rest):
            rest = _sound(rest.rstrip().removesuffix("/")) + "/" * is_empty
        if "xmlns:" in rest:
            self._prefixes.update(_DECLARED_PREFIX.findall(rest))
        prefix, colon, _ = name.partition(":")
        if colon and prefix not in self._prefixes:
            # Else libxml2 leaves the prefix out, and media:title is the entry's title.
            rest = f' xmlns:{prefix}="undeclared:{prefix}"{rest}'
        return f"{before}<{name}{rest}>"

    def _forgotten_ends(self, name: str) -> str:
        """The end tags that are missing where *name* begins."""
        lower, last = name.lower(), self._open[-1].lower() if self._open else ""
        if self._is_entry(name):
            back = self._depth_of(lower)
            return self._close(back) if back else ""
        return self._close(1) if lower in _LEAVES and last in _LEAVES else ""

    def _end(self, name: str) -> str:
        back = self._depth_of(name.lower())
        innermost = enumerate(reversed(self._open[-_MAX_DEPTH:]), 1)
        entry = next((at for at, open_name in innermost if self._is_entry(open_name)), 0)
        if not back:
            # Misspelt; but an entry and what is around it do not end by it.
            return self._close(1) if entry > 1 else ""
        # Of what stands around an entry nothing ends within it, and nothing stands behind the
        # document's end: the parser would read no further.
        if back == len(self._open) or 0 < entry < back:
            return ""
        return self._close(back)

    def _is_entry(self, name: str) -> bool:
        return name.lower().rpartition(":")[2] in self._records

    def _depth_of(self, lower: str) -> int:
        """How many elements end with the innermost called *lower*; 0 where none is open."""
        for back, name in enumerate(reversed(self._open[-_MAX_DEPTH:]), 1):
            if name.lower() == lower:
                return back
        return 0

    def _close(self, back: int) -> str:
        ends = "".join(f"</{name}>" for name in reversed(self._open[-back:]))
        del self._open[-back:]
        return ends


def _sound(attributes: str) -> str:
    """*attributes* as XML has them, with quotes; those without a value go."""
    written: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(attributes):
        written.setdefault(name, "".join(values))
    return "".join(f' {name}="{value.translate(_IN_QUOTES)}"' for name, value in written.items())
