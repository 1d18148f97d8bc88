"""Reads OPML as feed readers and people write it: lists of feeds and of the sites they are of."""

from __future__ import annotations

from typing import NamedTuple

from lxml import etree

from qiaocrawl.text.charset import decode_page
from qiaocrawl.text.normalise import NOT_XML
from qiaocrawl.text.well_formed import WellFormed


class Outline(NamedTuple):
    """One ``outline``: its attributes, called in lower case, and the line it stands in, from 1."""

    line: int
    attributes: dict[str, str]


def outlines_in(data: bytes) -> list[Outline] | None:
    """All outlines of an OPML document, however its folders nest; None where *data* is none.

    Never raises. Nothing is loaded and no entity is unfolded: a list may come from anywhere.
    """
    text = decode_page(data).text
    # What is a page of HTML, a table or a workbook is not mended and parsed to find that out.
    if "<opml" not in text.lower():
        return None
    # Many programs write the "&" of an address as it is; a parser would leave parameters out.
    mended = "".join(WellFormed().of([NOT_XML.sub(" ", text.lstrip("\ufeff"))]))
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, recover=True
    )
    try:
        root = etree.fromstring(mended.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None or etree.QName(root).localname.lower() != "opml":
        return None
    return [
        Outline(
            outline.sourceline if isinstance(outline.sourceline, int) else 1,
            {str(key).lower(): str(value) for key, value in outline.attrib.items()},
        )
        for outline in root.iter("{*}outline")
    ]
