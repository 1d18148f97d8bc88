"""Addresses of sites as people type them into cells."""

from __future__ import annotations

import re
import unicodedata

from qiaocrawl.topic.hosts import normalise_host, url_host

_END = r"[^\s,;、()<>\"'“”‘’\[\]{}|]*"
_URL = re.compile(rf"https?://?/?[^\s/,;、()]{_END}", re.IGNORECASE)
_BARE = re.compile(
    rf"(?<![@\w./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{{2,}}(?::\d+)?(?:/{_END})?",
    re.IGNORECASE | re.ASCII,
)
_INTERNATIONAL = re.compile(
    r"(?:[\w-]+\.)+(?:中国|公司|网络|网址|政务|公益|香港|台湾|澳门|cn|com|net|org)"
)
_NO_SITE = re.compile(r"\.(?:xlsx?|docx?|pdf|txt|csv|jpe?g|png)$", re.IGNORECASE)


def addresses_in(text: str) -> list[str]:
    """Every http(s) address in *text* as a URL; those without a scheme get ``http://``.

    A mail address is none; an international host name counts when it is all of the text.
    """
    folded = unicodedata.normalize("NFKC", text).replace("。", ".").strip()
    urls = [re.sub(r"^(https?):/{1,3}", r"\1://", url, flags=re.IGNORECASE).rstrip(".")
            for url in _URL.findall(folded)]  # fmt: skip
    rest = _URL.sub(" ", folded)
    urls += [f"http://{bare.rstrip('.')}" for bare in _BARE.findall(rest)
             if not _NO_SITE.search(bare)]  # fmt: skip
    if not urls and _INTERNATIONAL.fullmatch(folded):
        urls = [f"http://{folded}"]
    return [url for url in urls if _is_site(url)]


def _is_site(url: str) -> bool:
    try:
        host = url_host(url)
    except ValueError:
        return False
    return not host.replace(".", "").isdigit() or host.count(".") == 3


def host_and_start(url: str) -> tuple[str, str]:
    """The host of *url*, and the URL itself where it is deeper than the root, else ""."""
    host = url_host(url)
    rest = url.partition("://")[2].rstrip("/")
    try:
        is_root = normalise_host(rest) == host
    except ValueError:
        is_root = False
    return host, "" if is_root else url
