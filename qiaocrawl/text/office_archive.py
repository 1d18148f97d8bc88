"""The guard before every Office file (Word, Excel): what its archive would grow to.

They are zip archives of XML. A file of 20 KB can hold millions of elements, of each of which a
reader makes an object. So bytes, parts and elements are counted before any XML is parsed, and XML
that could grow by itself (entities) or hide from the count (odd encodings) is refused: no office
program writes it.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from enum import Enum

_XML_NAMES = (".xml", ".rels", ".vml")
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_ENCODING = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)", re.IGNORECASE)
# In these "<" is that byte and no other.
_PLAIN_ENCODINGS = frozenset(
    {
        b"utf-8",
        b"utf8",
        b"utf-16",
        b"us-ascii",
        b"ascii",
        b"iso-8859-1",
        b"windows-1252",
        b"gb2312",
        b"gbk",
        b"gb18030",
    }
)
# "<?xm" in EBCDIC, which parsers know without a declaration.
_EBCDIC = b"\x4c\x6f\xa7\x94"


@dataclass(frozen=True, slots=True)
class ArchiveBounds:
    """What is read at most.

    Attributes:
        parts: files in the archive.
        unpacked_bytes: of all of them.
        main_names: how the names of parts begin that hold the text.
        main_elements, other_elements: tags, opening and closing, of these and of all other parts.
    """

    parts: int
    unpacked_bytes: int
    main_names: tuple[str, ...]
    main_elements: int
    other_elements: int


class ArchiveFault(Enum):
    """What is wrong with an archive."""

    ENCRYPTED = "encrypted"
    TOO_LARGE = "too large"
    """``found`` are its bytes."""
    TOO_MANY_PARTS = "too many parts"
    TOO_MANY_ELEMENTS = "too many elements"
    FOREIGN_XML = "foreign XML"
    """``name`` is the part it is in."""


class ArchiveRefusedError(Exception):
    """An archive that is not read; whoever asked says so in words."""

    def __init__(self, fault: ArchiveFault, *, found: int = 0, name: str = "") -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.found = found
        self.name = name


def guard_archive(data: bytes, bounds: ArchiveBounds) -> None:
    """Refuse the archive *data* where it holds more than *bounds*, or XML of no office program.

    Raises:
        ArchiveRefusedError: it does.
        zipfile.BadZipFile and others: it is damaged.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        if any(part.flag_bits & 1 for part in parts):
            raise ArchiveRefusedError(ArchiveFault.ENCRYPTED)
        if len(parts) > bounds.parts:
            raise ArchiveRefusedError(ArchiveFault.TOO_MANY_PARTS, found=len(parts))
        # No part is unpacked further than its declared size.
        unpacked = sum(part.file_size for part in parts)
        if unpacked > bounds.unpacked_bytes:
            raise ArchiveRefusedError(ArchiveFault.TOO_LARGE, found=unpacked)
        in_main = in_others = 0
        for part in parts:
            elements = _count_elements(part.filename, archive.read(part))
            if part.filename.startswith(bounds.main_names):
                in_main += elements
            else:
                in_others += elements
            if in_main > bounds.main_elements or in_others > bounds.other_elements:
                raise ArchiveRefusedError(ArchiveFault.TOO_MANY_ELEMENTS, found=in_main + in_others)


def _count_elements(name: str, content: bytes) -> int:
    """The tags of a part, or half its attributes where those are more; 0 for what is no XML."""
    head = content[:64]
    for mark in _MARKS:
        head = head.removeprefix(mark)
    # Whatever its name is: another part may say that it is the document.
    looks_like_xml = head.replace(b"\0", b"").lstrip().startswith(b"<")
    if not looks_like_xml:
        if head.startswith(_EBCDIC):
            raise ArchiveRefusedError(ArchiveFault.FOREIGN_XML, name=name)
        # An XML part may begin with more white space than was looked at.
        if not name.lower().endswith(_XML_NAMES):
            return 0
    plain = content.replace(b"\0", b"")  # UTF-16 becomes comparable
    # The declaration ends with the first "?>", however many blanks it holds.
    encoding = _ENCODING.search(plain[: plain.find(b"?>")])
    odd = encoding is not None and encoding[1].lower() not in _PLAIN_ENCODINGS
    if odd or b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
        raise ArchiveRefusedError(ArchiveFault.FOREIGN_XML, name=name)
    return max(content.count(b"<"), content.count(b"=") // 2)
