"""Which pages need a browser: found out page by page, remembered by the form of the URL.

A page that says nothing without its scripts is fetched once more with the browser. What comes
of it is a vote for all pages of its host and form: after two that gained by it, the next go
straight to the browser, each unless its document turns out to be readable as it came; after two
in vain, no more are tried but one now and then, since sites change. All numbers are **(ours)**.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from qiaocrawl.items import FetchedPage, Lease, Outcome, PageAnalysis, Queue
from qiaocrawl.urls import host_of
from qiaocrawl.urls.structure import url_form

RENDERED_HEADER = "X-Qiaocrawl-Rendered"
"""Stands in the stored headers of a page that was rendered."""

MAX_REMEMBERED = 20_000
"""Forms kept in memory; some 10 MB."""
MAX_FORMS_OF_HOST = 200
_OTHER_FORMS = "*"

_ENOUGH = 2
_DOUBT_PAGES = 25
_DOUBT_SECONDS = 7 * 86400.0
_FORGETTING = 4
# A habit that has ended is given up after so many pages.
_MOST_GAINED = 20
RENDER_IF_NEEDED = "qiaocrawl_render_if_needed"
"""In a request's meta: the browser opens the document only if it says nothing as it came."""

_READABLE = frozenset({Outcome.ARTICLE, Outcome.PART, Outcome.LIST})
_NO_BODY = "no body"
# A body that is not there although the page is: only where a script of the page fetches.
_FETCHES = re.compile(
    rb"\bfetch\s*\(|XMLHttpRequest|\baxios\b|\.(?:ajax|getJSON|load)\s*\(|"
    rb"<script[^>]{1,300}type\s*=\s*[\"']?module",
    re.IGNORECASE,
)
_LOOKED_AT_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class RenderVotes:
    """What is known of the pages of one host and form.

    Attributes:
        gained: pages that became readable by rendering.
        in_vain: pages that did not.
        plain: pages that were readable without, although others had gained.
        at: epoch second of the last vote.
    """

    host: str
    form: str
    gained: int = 0
    in_vain: int = 0
    plain: int = 0
    at: float = 0.0

    @property
    def is_needed(self) -> bool:
        """Whether pages of this form go straight to the browser."""
        return self.gained >= _ENOUGH and self.gained > self.in_vain

    @property
    def is_useless(self) -> bool:
        """Whether rendering has shown to bring nothing."""
        return self.in_vain >= _ENOUGH and self.in_vain > self.gained


class RenderModel:
    """What one run knows of pages that need a browser; not thread-safe: the event loop's."""

    def __init__(self) -> None:
        self._votes: dict[tuple[str, str], RenderVotes] = {}
        self._forms: Counter[str] = Counter()
        self._seen: Counter[tuple[str, str]] = Counter()

    def restore(self, stored: Iterable[RenderVotes]) -> None:
        """Take over what former runs learnt."""
        for votes in stored:
            self._keep(votes)

    def renders_directly(self, lease: Lease) -> bool:
        """Whether the page of *lease* is fetched with the browser at once."""
        if lease.queue is Queue.SEARCH or lease.stored:
            return False
        # The row was marked for the browser by an earlier look at its page.
        if lease.payload.render:
            return True
        return self._of(lease.url).is_needed

    def needs_rendering(self, lease: Lease, page: FetchedPage, analysis: PageAnalysis) -> bool:
        """Whether a page that was fetched without the browser is to be fetched with it."""
        return lacks_content(page, analysis) and not is_rendered(lease, page)

    def is_useless_for(self, lease: Lease) -> bool:
        """Whether pages like this one were rendered in vain; doubted now and then."""
        votes = self._of(lease.url)
        if not votes.is_useless:
            return False
        # abs(): a clock set back must not keep a verdict for ever.
        return abs(time.time() - votes.at) < _DOUBT_SECONDS and not self._is_to_be_doubted(votes)

    def learn(self, lease: Lease, page: FetchedPage, analysis: PageAnalysis) -> RenderVotes | None:
        """What the page teaches, to be stored; None when it teaches nothing."""
        votes = self._of(lease.url)
        readable = analysis.outcome in _READABLE
        # The header tells that the browser really opened it.
        if page.header(RENDERED_HEADER):
            # An old habit of the site gives way to a new one within a few pages.
            if readable:
                gained = min(votes.gained + 1, _MOST_GAINED)
                new = replace(votes, gained=gained, in_vain=votes.in_vain // _FORGETTING)
            elif lacks_content(page, analysis):
                new = replace(votes, in_vain=votes.in_vain + 1)
            else:
                return None
        elif readable and votes.gained and not lease.payload.render:
            new = replace(votes, plain=votes.plain + 1, gained=votes.gained - 1)
        else:
            return None
        new = replace(new, at=time.time())
        self._keep(new)
        return new

    def _of(self, url: str) -> RenderVotes:
        host, form = host_of(url), url_form(url)
        votes = self._votes.get((host, form))
        # A site with endless forms shares one record for those beyond the bound.
        if votes is None and self._forms[host] >= MAX_FORMS_OF_HOST:
            form = _OTHER_FORMS
            votes = self._votes.get((host, form))
        return votes or RenderVotes(host, form)

    def _keep(self, votes: RenderVotes) -> None:
        key = votes.host, votes.form
        if key not in self._votes:
            # Those of former runs come oldest first, so the first in the dict is the oldest.
            if len(self._votes) >= MAX_REMEMBERED:
                oldest = next(iter(self._votes))
                del self._votes[oldest]
                self._forms[oldest[0]] -= 1
            self._forms[votes.host] += 1
        self._votes[key] = votes

    def _is_to_be_doubted(self, votes: RenderVotes) -> bool:
        key = votes.host, votes.form
        self._seen[key] += 1
        # Limited by count as well as by age: a site may change while the crawl runs.
        return self._seen[key] % _DOUBT_PAGES == 0


def is_rendered(lease: Lease, page: FetchedPage) -> bool:
    """Whether *page* is what the browser made, or the answer to the try to have it made.

    The row's mark says it where the header cannot: the answer to the browser's request may
    have been no page to open.
    """
    return bool(page.header(RENDERED_HEADER) or lease.payload.render)


def lacks_content(page: FetchedPage, analysis: PageAnalysis) -> bool:
    """Whether what the page is about seems to be missing."""
    if analysis.outcome is Outcome.NEEDS_RENDERING:
        return True
    # The reason is written by the extraction: "no body …".
    if analysis.outcome is not Outcome.NOT_ARTICLE or not analysis.reason.startswith(_NO_BODY):
        return False
    return _FETCHES.search(page.body[:_LOOKED_AT_BYTES]) is not None
