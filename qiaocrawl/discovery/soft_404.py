"""Soft 404s by comparison: what a host shows for a page that cannot exist (faults F-T5).

Bar-Yossef and others (WWW 2004, "Sic transit gloria telae") ask a host for a random path and
compare; here each host is asked once, and every page is compared with the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from urllib.parse import unquote

from qiaocrawl.items import Outcome, PageAnalysis
from qiaocrawl.urls import canonical_host

# Of 64, under one title: a line of other words moves a short text that far; unrelated texts differ
# in 32, give or take 4 **(ours)**.
_NEAR_BITS = 10
_SHORTEST_ADDRESS = 4


@dataclass(frozen=True, slots=True)
class MissingPage:
    """The page that a host shows, with status 200, for a page that does not exist.

    Attributes:
        host: which.
        title: of its page.
        digest, simhash: of its visible text; b"" and 0 where there is none.
    """

    host: str
    title: str
    digest: bytes
    simhash: int = 0


def probe_url(start_url: str) -> str:
    """An address on the host of *start_url* where no page can exist; always the same one."""
    scheme, _, rest = start_url.partition("://")
    host = canonical_host(start_url)
    # The same in every run, so that a stored answer still belongs to it.
    name = blake2b(f"qiaocrawl {rest and host}".encode(), digest_size=9).hexdigest()
    return f"{scheme}://{host}/{name}.html"


def without_address(text: str, url: str) -> str:
    """*text* without the requested address, which pages for missing ones often repeat."""
    # Else every missing page would differ from the probe by its own address.
    path = "/" + url.partition("://")[2].partition("/")[2]
    # Longest first: the path alone would leave the rest of the URL behind.
    for written in (url, path, unquote(path)):
        if len(written) >= _SHORTEST_ADDRESS:
            text = text.replace(written, " ")
    return text


def missing_page(host: str, analysis: PageAnalysis) -> MissingPage | None:
    """The page for missing ones, from the probe's answer; None if it has no text to compare."""
    # Without text any page without text would look like it.
    if not analysis.body_digest:
        return None
    return MissingPage(host, analysis.page_title, analysis.body_digest, analysis.body_simhash)


def is_missing(analysis: PageAnalysis, missing: MissingPage) -> bool:
    """Whether a page looks like the page its host shows for missing ones.

    A list must show exactly that: where a home page stands in for what is missing, what all
    pages repeat may be most of a list's text, and its links lead elsewhere.
    """
    if not analysis.body_digest:
        return False
    if analysis.body_digest == missing.digest:
        return True
    if analysis.outcome is Outcome.LIST:
        return False
    near = (analysis.body_simhash ^ missing.simhash).bit_count() <= _NEAR_BITS
    alike = bool(missing.simhash and analysis.body_simhash) and near
    # Sites with one title for all pages have short articles too, but those carry a date.
    dated = analysis.article is not None and analysis.article.published_at is not None
    return alike and not dated and analysis.page_title == missing.title


def as_missing(analysis: PageAnalysis, host: str = "") -> PageAnalysis:
    """*analysis* of a page that is gone: no article; its links are put off.

    Args:
        host: of the page; "" for the answer to the probe, whose links are nobody's.
    """
    why = f"on pages of {host} that look like its page for missing ones"
    links = tuple(replace(link, postponed=why) for link in analysis.links) if host else ()
    return PageAnalysis(
        Outcome.SOFT_404,
        None,
        links,
        analysis.charset,
        analysis.charset_source,
        reason="shows what its host shows for a page that does not exist",
        page_title=analysis.page_title,
        page_relevance=analysis.page_relevance,
    )
