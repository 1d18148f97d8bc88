"""Which address of a host showed a text first; other addresses with the same text are doubles."""

from __future__ import annotations

from qiaocrawl.discovery.url_forms import url_forms
from qiaocrawl.urls import canonical_host

MAX_DIGESTS = 200_000


class FirstAddresses:
    """Texts of a crawl, by host, and the address that stands for each.

    The same text on two hosts is a reprint, not a trap: neither host makes endless copies.
    """

    def __init__(self) -> None:
        self._urls: dict[int, str] = {}

    def other_address(self, url: str, digest: bytes) -> tuple[str, bool]:
        """The other address on the host of *url* that shows the text *digest* stands for.

        Args:
            digest: of the page's text; b"" for a page without any.

        Returns:
            The address ("" for none), and whether *url* is the double of the two.
        """
        if not digest:
            return "", False
        # A number of 64 bits instead of the pair: 200,000 of them stay small. Two texts meet by
        # chance once in 2^64.
        key = hash((canonical_host(url), digest))
        first_url = self._urls.get(key)
        if first_url is None:
            self._urls[key] = url
            if len(self._urls) > MAX_DIGESTS:
                del self._urls[next(iter(self._urls))]
            return "", False
        if first_url == url:
            return "", False
        # The shorter address counts as the original: traps lengthen URLs, they do not shorten them.
        if len(url) >= len(first_url) or url_forms(first_url)[0] == url_forms(url)[0]:
            return first_url, True
        self._urls[key] = url
        return first_url, False
