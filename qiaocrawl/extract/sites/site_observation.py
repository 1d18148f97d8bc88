"""Observes what an article tells about its site **(ours)**, for the boilerplate model."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from qiaocrawl.extract.fields.site_suffix import title_pieces
from qiaocrawl.extract.sites.element_paths import body_place
from qiaocrawl.extract.sites.site_template import START
from qiaocrawl.items import SiteObservation
from qiaocrawl.text.normalise import fold
from qiaocrawl.urls import canonical_host
from qiaocrawl.vsm.grams import distinct

if TYPE_CHECKING:
    from qiaocrawl.extract.sites.apply_template import TemplateMatch
    from qiaocrawl.page.page import Page

_MAX_BLOCKS = 2000
"""Blocks of a page that are told: half from its beginning, half from its end."""
_MAX_NAMES = 4
_MAX_NAME_CHARS = 40


def observation_of(page: Page, title: str, match: TemplateMatch) -> SiteObservation | None:
    """What *page*, an article called *title*, tells about its site; None without a URL."""
    url = page.canonical
    if not url:
        return None
    return SiteObservation(
        host=canonical_host(url),
        url=_digest(url),
        title=_digest(fold(title or page.title)),
        blocks=_digests(page),
        # Where the body is nothing but repetition, it stands in no good place.
        place="" if match.contradicts else match.place or body_place(page, match.body),
        names=_names(page.title),
        in_known_place=bool(match.place),
        contradicts=match.contradicts,
        left_out=match.left_out,
    )


def _digests(page: Page) -> bytes:
    digests = page.block_digests
    if len(digests) > _MAX_BLOCKS:
        half = _MAX_BLOCKS // 2
        digests = np.concatenate((digests[:half], digests[-half:]))
    return distinct(digests).astype("<u8").tobytes()


def _names(title: str) -> tuple[str, ...]:
    """The pieces of ``<title>`` that may be names: the last ones, and the first one marked."""
    pieces = [piece.strip().lower() for piece in title_pieces(title)]
    if len(pieces) < 2:
        return ()
    names = [*pieces[1:][-_MAX_NAMES:], START + pieces[0]]
    return tuple(name for name in dict.fromkeys(names) if 1 < len(name) <= _MAX_NAME_CHARS)


def _digest(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))
