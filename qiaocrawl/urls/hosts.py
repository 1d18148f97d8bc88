"""Hosts and registrable domains."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

from qiaocrawl.language import N_
from qiaocrawl.urls.canonical import canonical_url

if TYPE_CHECKING:
    from tldextract import TLDExtract


@cache
def suffix_list() -> TLDExtract:
    """The Public Suffix List's snapshot inside the package: no download, no cache folder.

    With private suffixes, since sites under github.io belong to different owners.
    """
    # Brings an HTTP client along, which few commands would use.
    from tldextract import TLDExtract

    return TLDExtract(
        cache_dir=None,
        suffix_list_urls=(),
        fallback_to_snapshot=True,
        include_psl_private_domains=True,
    )


def canonical_host(canonical: str) -> str:
    """The host of an already canonical URL: text work only."""
    return canonical.split("/", 3)[2]


def host_of(url: str) -> str:
    """The host of *url*: lower case, punycode, the port only when not the default; "" if none."""
    canonical = canonical_url(url)
    return canonical_host(canonical) if canonical else ""


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """The domain someone registered (``news.example.com.cn`` -> ``example.com.cn``).

    A port is ignored. Addresses, single labels and bare suffixes come back as they are. Under
    a top-level domain that the list lacks (``.test``, an intranet's) it is the last two labels,
    as the list's own algorithm has it (its rule ``*``).
    """
    # "[::1]:8080" has colons in its host.
    name = host if host.startswith("[") else host.partition(":")[0]
    name = name.lower().rstrip(".")
    parts = suffix_list()(name)
    if parts.suffix or parts.ipv4 or parts.ipv6:
        return parts.top_domain_under_public_suffix or name
    return ".".join(name.split(".")[-2:])


# --- Whether a host belongs to a site -------------------------------------------------------------

_WWW = "www."


def in_site(host: str, site: str) -> bool:
    """Whether *host* is *site*, its ``www.`` twin or a subdomain of it.

    Both are host names as :func:`~qiaocrawl.urls.host_of` gives them; a port counts, so
    ``a.com:8080`` is not in ``a.com``.
    """
    base = site.removeprefix(_WWW)
    return host in (site, base) or host.endswith(f".{base}")


# --- The words of a URL: what it says of its page to a reader (T5, O3) ----------------------------

_REMEMBERED = 16_384
# What stands behind is data, not words.
_MAX_CHARS = 512
# "news", "c" and "12345" of /news/c_12345

_RUN = re.compile(r"[^\W_]+")
# Pieces inside a run: machineLearning, AIClub, course410.
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_EVERYWHERE = """
    www com cn org net gov edu html htm shtml php asp aspx jsp do index default
"""
_SAYS_NOTHING = frozenset(_EVERYWHERE.split())


@lru_cache(_REMEMBERED)
def url_words(url: str) -> str:
    """The words of host, path and query of *url* as a text, with one space between them.

    Escapes are read as UTF-8, else as GB 18030. A run of letters and digits is a word; so are
    the pieces it is joined from (``machineLearning`` gives three). Parts that every address
    has (``www``, ``html``, ``index``) are left out. Any text may be given; no URL is none.
    """
    words: list[str] = []
    for run in _RUN.findall(_readable(url.rpartition("://")[2][:_MAX_CHARS])):
        if run.lower() in _SAYS_NOTHING:
            continue
        # A word in small letters has no pieces: no second search.
        words.append(run)
        pieces = [] if run.islower() and run.isalpha() else _PIECE.findall(run)
        words += [piece for piece in pieces if piece != run and len(piece) > 1]
    return " ".join(words)


def _readable(text: str) -> str:
    if "%" not in text:
        return text
    # The cut may have split an escape.
    decoded = unquote_to_bytes(text.encode("utf-8", "replace"))
    try:
        return decoded.decode("utf-8")
    except UnicodeDecodeError:
        return decoded.decode("gb18030", "replace")


# --- URLs whose file ending says that they are no page --------------------------------------------
# ``.js`` and ``.css`` are left out: links to scripts are rare, tag pages called ``node.js``
# are not.

_ENDINGS = """
    jpg jpeg jpe png gif webp bmp svg ico tif tiff avif heic psd
    json xml rss atom woff woff2 ttf eot otf
    mp3 wav wma ogg m4a aac flac mp4 m4v avi mov wmv flv f4v mkv webm rm rmvb mpg mpeg swf
    zip rar 7z gz tgz bz2 xz tar iso dmg exe msi apk ipa deb rpm jar bin torrent
    pdf doc docx xls xlsx ppt pptx wps csv rtf epub mobi
"""
_FILE_ENDINGS = frozenset(_ENDINGS.split())


_DOCUMENT_ENDINGS = frozenset(("pdf", "docx", "xlsx"))


def looks_like_document(canonical: str) -> bool:
    """Whether the path ends like a document that can be an article."""
    return looks_like_file(canonical) and canonical.rpartition(".")[2].lower() in _DOCUMENT_ENDINGS


def looks_like_file(canonical: str) -> bool:
    """Whether the path ends like an image, archive, document or feed rather than a page.

    A URL with a query is never judged by its ending (``/show.php?f=a.jpg`` is a page).
    """
    if "?" in canonical:
        return False
    # Eight characters hold the longest ending, ".torrent".
    stem, dot, ending = canonical[-8:].rpartition(".")
    return bool(dot) and "/" not in ending and ending.lower() in _FILE_ENDINGS


# --- Six classes of links and four of pages (T, 4.4.3), for people who read why a URL was
# fetched
# The text names them (after Yu 1999) and does not define them: where the borders lie is **(ours)**.

LINK_CLASSES = {
    "down": N_("down link"),
    "up": N_("up link"),
    "across": N_("horizontal link"),
    "cross": N_("cross link"),
    "out": N_("outward link"),
    "frame": N_("frame link"),
}
PAGE_CLASSES = {
    "home": N_("home page"),
    "index": N_("index page"),
    "content": N_("content page"),
    "reference": N_("reference page"),
}
_FRAMES = ("frame", "iframe")
_MOSTLY = 0.5


def link_class(page: str, target: str, tag: str = "a") -> str:
    """The class of a link from *page* to *target*, both canonical: a key of LINK_CLASSES.

    ``frame`` by its tag; ``out`` to another registrable domain; on the site by directories:
    ``across`` to the same, ``down`` below it, ``up`` above it, ``cross`` to another branch. A host
    of the site other than the page's is another branch.
    """
    if tag in _FRAMES:
        return "frame"
    here, there = urlsplit(page), urlsplit(target)
    if registrable_domain(here.netloc) != registrable_domain(there.netloc):
        return "out"
    if here.netloc != there.netloc:
        return "cross"
    own, other = (split.path.rpartition("/")[0] + "/" for split in (here, there))
    if own == other:
        return "across"
    if other.startswith(own):
        return "down"
    return "up" if own.startswith(other) else "cross"


def page_class(url: str, *, is_article: bool, is_list: bool, outward: float = 0.0) -> str:
    """The class of a page: a key of PAGE_CLASSES.

    Args:
        url: canonical.
        is_article, is_list: what its analysis found.
        outward: share of its links that lead to other sites, in [0, 1].
    """
    split = urlsplit(url)
    if split.path in ("", "/") and not split.query:
        return "home"
    if is_article:
        return "content"
    # A page whose links mostly lead away, such as one of friendly links, is for reference.
    return "index" if is_list and outward <= _MOSTLY else "reference"
