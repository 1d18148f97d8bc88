"""Remembers the usual page size of a host by URL form, to notice a sudden change.

A site that starts to answer every address with the same short notice often says nothing that
words could find. Only pages much smaller than all usual ones count: a long page is no block.
"""

from __future__ import annotations

import re
from collections import deque
from statistics import quantiles

_FEWEST_PAGES = 20
_MOST_PAGES = 60
_MOST_FORMS = 5_000
# Ninth to first decile of what counts as a steady size **(ours)**.
_STEADY = 4.0
# Share of the first decile below which a page is suddenly small **(ours)**.
_SHRUNK = 0.2
# So many small pages in a row and the small size may be the usual one now: they are learnt.
_TRUSTED_RUN = 5

_DIGITS = re.compile(r"\d+")


def url_form(url: str) -> str:
    """Host and path of *url* with every number as 0, the query by its names.

    >>> url_form("http://a.test/2026/03/t123_9.html?id=7&p=2")
    'http://a.test/0/0/t0_0.html?id&p'
    """
    path, _, query = url.partition("?")
    names = "&".join(sorted({pair.partition("=")[0] for pair in query.split("&") if pair}))
    # Sorted, so that the order of parameters makes no other form.
    return _DIGITS.sub("0", path) + (f"?{names}" if names else "")


class UsualSizes:
    """The last body sizes by form of URL, of pages that were no blocks."""

    def __init__(self) -> None:
        self._forms: dict[str, deque[int]] = {}
        self._small: dict[str, list[int]] = {}

    def is_small(self, url: str, size: int) -> bool:
        """Whether *size* bytes are suddenly little for *url*: false while few pages are known."""
        sizes = self._forms.get(url_form(url))
        if sizes is None or len(sizes) < _FEWEST_PAGES:
            return False
        deciles = quantiles(sizes, n=10)
        # Only where sizes are steady: if pages of a form have 5 to 500 KB, nothing is sudden.
        return deciles[8] <= _STEADY * deciles[0] and size < _SHRUNK * deciles[0]

    def add(self, url: str, size: int) -> None:
        """Learn the size of a page that came as it should, or was taken as it was."""
        form = url_form(url)
        if self.is_small(url, size):
            small = self._small.setdefault(form, [])
            small.append(size)
            if len(small) < _TRUSTED_RUN:
                return
            # The site was made anew, it seems.
            self._forms[form] = deque(self._small.pop(form), maxlen=_MOST_PAGES)
            return
        # A usual page in between: the small ones were exceptions.
        self._small.pop(form, None)
        # Re-inserted at the end: the form that was met longest ago goes first.
        sizes = self._forms.pop(form, None)
        if sizes is None:
            sizes = deque(maxlen=_MOST_PAGES)
        sizes.append(size)
        self._forms[form] = sizes
        while len(self._forms) > _MOST_FORMS:
            del self._forms[next(iter(self._forms))]
