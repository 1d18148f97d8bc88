"""What a fetched page tells about traps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import NamedTuple

from qiaocrawl.discovery.trap_scores import PageEffects, PageValue
from qiaocrawl.discovery.url_forms import url_forms


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """A fetched page, as far as traps are concerned.

    Attributes:
        url: canonical.
        value: what it is.
        digest: of title and text; b"" where it tells none. Compared within its host.
        closed: canonical URLs that it leads to and that are of a trap, seen for the first time.
        trial: the reason for which it had been closed, where it was taken up; else "".
        sample: of its text, see :func:`qiaocrawl.discovery.text_sample.text_sample`.
        links: canonical URLs on the sites of the crawl that it leads to.
        fresh: those of them that were seen for the first time.
    """

    url: str
    value: PageValue
    digest: bytes = b""
    links: Sequence[str] = ()
    fresh: frozenset[str] = frozenset()
    sample: bytes = b""
    closed: Collection[str] = ()
    trial: str = ""


class EvidentLink(NamedTuple):
    """A link of a page, with what each of the page's groups asks about it.

    Attributes:
        key: a hash of it.
        form, forms: its groups, and the first of them.
        is_fresh: seen for the first time.
        is_itself: leads to the page it stands on.
    """

    key: int
    form: str
    forms: tuple[str, ...]
    is_fresh: bool
    is_itself: bool


def links_of(page: PageEvidence) -> list[EvidentLink]:
    """The links of *page*, each looked up once."""
    return [
        EvidentLink(hash(link), (forms := url_forms(link))[0], forms, link in page.fresh,
                    link == page.url)
        for link in page.links
    ]  # fmt: skip


def text_digest(title: str, body_digest: bytes) -> bytes:
    """A digest of 8 bytes by which two addresses of one text are found; b"" without text."""
    if not body_digest:
        return b""
    return blake2b(title.encode("utf-8", "replace") + b"\0" + body_digest, digest_size=8).digest()


def effects_of_double(effects: PageEffects, form: str, url: str, other: str) -> PageEffects:
    """*effects* on the group *form* of a page at *url* whose text was met at *other* before."""
    # A double under another query string blames forms with a query, not the folders above.
    return replace(effects, is_double=True, same_path="?" in form and is_same_path(other, url))


def is_same_path(one: str, other: str) -> bool:
    """Whether two URLs differ in their parameters at most."""
    return one.partition("?")[0] == other.partition("?")[0]
