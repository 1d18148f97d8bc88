"""The canonical form of a page URL: one spelling for one page, never two pages in one.

The parser is WHATWG's (ada). On top of it only what cannot change the page: the
fragment, credentials and a trailing dot of the host go, escapes are written one way,
tracking parameters and session ids go (:mod:`qiaocrawl.urls.canonical`). Parameter
order, ``index.html``, double slashes and letter case of paths stay as they are, since
servers may tell them apart.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from hashlib import blake2b
from urllib.parse import quote

import ada_url

# --- Chinese text that authors glue to a URL: ``http://example.com/a.html，更多`` ----------------
# Inside a path Chinese letters may be meant (an encyclopaedia's titles), so text is cut only
# where a URL has visibly ended: in the last label of the host, after a page's file ending, or
# as sentence punctuation at the very end.

_WIDE_MARKS = "，。；：！？、（）【】《》「」『』“”‘’…"
# "http://example.com更多", "https://example.com，/x"
_HOST_END = re.compile(r"(https?://(?:[\w-]+\.)+[a-z]{2,8})([^\x00-\x7f].*)", re.I | re.A | re.S)
_WIDE_DOTS = "。．｡"  # read as "." inside a host name
# "/a.html更多", "/show.php（来源"
_FILE_END = re.compile(r"(\.(?:s?html?|php|aspx?|jsp|do))[^\x00-\x7f].*", re.I | re.A | re.S)
# "/a，", "/topic。”"
_TAIL = re.compile(rf"(?<=[\x21-\x7e])[{_WIDE_MARKS}]+$")


def without_feed_scheme(href: str) -> str:
    """``feed://a.cn/x`` and ``feed:https://a.cn/x`` as a page's address; any other as it is."""
    if href[:5].lower() != "feed:":
        return href
    rest = href[5:]
    return f"http:{rest}" if rest.startswith("//") else rest


def cut_glued_text(url: str) -> str:
    """*url* without the Chinese text glued to its end; ASCII comes back as it is."""
    if url.isascii():
        return url
    host = _HOST_END.match(url)
    if host is not None and _is_glued_to_host(host[2]):
        return host[1]
    return _TAIL.sub("", _FILE_END.sub(r"\1", url, count=1))


def _is_glued_to_host(rest: str) -> bool:
    """Whether *rest*, which follows an ASCII label, is text rather than part of the host."""
    if rest[0] in _WIDE_DOTS:
        # "a.com。更多" ends a sentence; "www.a。com" is a host.
        return not rest[1:2].isascii() or not rest[1:2].isalnum()
    if rest[0] in _WIDE_MARKS:
        return True
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    # "www.ab中文.com" is a host that goes on; "www.a.com更多/x" is not.
    return not any(dot in authority for dot in "." + _WIDE_DOTS)


# --- Parameters that never choose the page: tracking marks and session ids ------------------------
# The lists hold only names used by one well-known tool or share button, or words for a
# session; a name that a site might use to choose an article (``id``, ``sid=5``, ``from=home``,
# ``source``) stays.

_TRACKING_PREFIXES = ("utm_", "mtm_")
_TRACKING_NAMES = """
    spm scm spmid spm_id_from from_spmid fbclid fb_action_ids fb_action_types fb_source fb_ref
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid msclkid yclid ysclid twclid
    ttclid li_fat_id ref_src ref_url igshid igsh mibextid mc_cid mc_eid _ga _gl _hsenc _hsmi
    hsctatracking mkt_tok vero_id oly_enc_id oly_anon_id wickedid s_kwcid _openstat
    _branch_match_id _branch_referrer piwik_campaign piwik_kwd
    pk_campaign pk_kwd pk_source pk_medium hmsr hmpl hmcu hmkw hmci
    bd_vid qhclickid sogou_vid vd_source unique_k tdsourcetag isappinstalled nsukey tt_from
    sharer_shareid sharer_shareinfo sharer_shareinfo_first sharer_sharetime
    share_source share_medium share_token share_from share_plat share_session_id share_tag
"""
_TRACKING = frozenset(_TRACKING_NAMES.split())
# WeChat, QQ and QZone add from=… when a page is shared; other values of "from" may matter.
_SHARE_FROM = frozenset(
    ("timeline", "singlemessage", "groupmessage", "androidqq", "iphoneqq", "qzone")
)
# In lower case: "phpsessid", "jsessionid", "aspsessionidqqba", "bv_sessionid", "sess_id"
_SESSION = re.compile(
    r"(?:php|j|asp|bv_|_)?sess(?:ion)?_?id|aspsessionid\w*|session_id|sessionid|cfid|cftoken"
    r"|phpsession|zenid|oscsid|phpbb_sid",
    re.ASCII,
)
# Names that also number sections ("sid=5"): only a random value makes them a session.
_SID = frozenset(("sid", "_sid", "s", "session"))
_RANDOM_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}", re.IGNORECASE)
# ";jsessionid=1A2B.node1"
_PATH_SESSION = re.compile(r";jsessionid=[\w.!-]*", re.IGNORECASE | re.ASCII)


def drop_tracking(query: str) -> str:
    """*query* (without "?") less tracking marks, session ids and empty pieces; order kept."""
    if ";" in query:
        query = _PATH_SESSION.sub("", query)
    return "&".join(piece for piece in query.split("&") if piece and not is_tracking(piece))


def drop_path_session(path: str) -> str:
    """*path* less a Java session id (``;jsessionid=…``)."""
    return _PATH_SESSION.sub("", path)


def is_tracking(piece: str) -> bool:
    """Whether ``name=value`` is a tracking mark or a session id."""
    name, _, value = piece.partition("=")
    name = name.lower()
    if name in _TRACKING or name.startswith(_TRACKING_PREFIXES):
        return True
    if name == "from":
        return value.lower() in _SHARE_FROM
    if name in _SID:
        return _RANDOM_ID.fullmatch(value) is not None
    return _SESSION.fullmatch(name) is not None


# --- The canonical form of a page URL: one spelling for one page, never two pages in one ----------

MAX_URL_CHARS = 4096
"""Longer URLs are traps or data, not pages (Nutch drops outlinks over 4,096 as well)."""

_HTTP = ("http://", "https://")
# Not behind "%" or "%4": decoding the second escape of "%4%31" would make a new one, "%41".
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES = {
    f"{code:02X}": chr(code) if code in _UNRESERVED else f"%{code:02X}" for code in range(256)
}
# Fast path: paths the WHATWG parser leaves untouched (no dot or empty segments, no escapes, no
# parameters), so that joining is string addition. Possessive quantifiers: otherwise a link that
# fails to match would cost exponential time.
# Escapes from %80 on only, in capitals: the slow path may write others differently.
_SEGMENT = r"(?:[\w~-]|%[89A-F][0-9A-F])(?:[\w.~-]++|%[89A-F][0-9A-F])*+"
_SIMPLE_PATH = re.compile(rf"(?:/{_SEGMENT})*+/?", re.ASCII)
# The host's last label has letters only, so "1.2.3.4" takes the slow path; so does punycode.
_SIMPLE_URL = re.compile(
    r"https?://(?!xn--)(?:[a-z0-9-]++\.(?!xn--))++[a-z]{2,12}+"
    rf"(?=/)(?:/{_SEGMENT})*+/?",
    re.ASCII,
)
_MAX_SIMPLE_CHARS = 1024
# What a query may hold as it is, "%" included: what is escaped already stays so.
_QUERY_SAFE = "!#$%&'()*+,-./:;=?@[]_~"
_REMEMBERED_LINKS = 16_384


def url_key(canonical: str) -> bytes:
    """The 16-byte key of a canonical URL (BLAKE2b); a hash of the bytes, never collated text."""
    return blake2b(canonical.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def canonical_url(url: str, base: str | None = None) -> str | None:
    """The canonical form of *url*, resolved against *base*; None for what is no page URL.

    Only http and https are page URLs. Chinese text glued on by authors is cut off. Never
    raises, and is idempotent: the canonical form of a canonical URL is itself.
    """
    # What is short here may still grow by escapes: _tidy() checks again.
    if len(url) > MAX_URL_CHARS:
        return None
    parsed = _parse(cut_glued_text(url.strip()), base)
    if parsed is None or not parsed.startswith(_HTTP):
        return None
    return _tidy(parsed)


class UrlJoiner:
    """Canonical URLs of the links of one page; what depends on the base is worked out once.

    Most links are plain paths, which need no parser: those are added to the base as text.

    Args:
        base: the page's base URL; one that is no page URL resolves absolute links only.
        charset: of the page, a codec: as browsers do, the query of a link is written in it, and
            the path in UTF-8.
    """

    def __init__(self, base: str, charset: str = "utf-8") -> None:
        self._written = base
        # Those that have no bytes of ASCII count as UTF-8, as WHATWG has it.
        self._charset = "utf-8" if charset.startswith("utf-16") else charset

    @cached_property
    def _base(self) -> str:
        return _parse(self._written, None) or ""

    @cached_property
    def _origin(self) -> str:
        base = self._base
        usable = base.startswith(_HTTP) and "@" not in base
        origin = "/".join(base.split("/", 3)[:3]) if usable else ""
        # The slow path removes the dot of "a.com.".
        return "" if origin.endswith(".") else origin

    def canonical(self, href: str) -> str | None:
        """Like :func:`canonical_url` of *href* against the base."""
        if "?" in href and self._charset != "utf-8" and not href.isascii():
            path, _, query = href.strip().partition("?")
            href = f"{path}?{_query(query, self._charset)}"
        if len(href) <= _MAX_SIMPLE_CHARS:
            # Not "httpd.html", which is a page beside this one.
            if href.startswith(_HTTP):
                return _absolute(href)
            if href[:1] == "/" and self._origin:
                return _under_origin(self._origin, href)
        return canonical_url(href, self._base or None)


def _query(written: str, charset: str) -> str:
    """*written* in *charset*; what that does not have as a reference, itself escaped."""
    try:
        return quote(written.encode(charset), safe=_QUERY_SAFE)
    except UnicodeEncodeError:
        # By character: the "&" and "#" of a reference end no parameter and no address.
        return "".join(
            quote(encoded, safe=_QUERY_SAFE if len(encoded) < 4 or encoded[:2] != b"&#" else "")
            for encoded in (sign.encode(charset, "xmlcharrefreplace") for sign in written)
        )


# Menus repeat on every page of a site, so results that do not depend on the page are cached.
@lru_cache(maxsize=_REMEMBERED_LINKS)
def _under_origin(origin: str, path: str) -> str | None:
    return origin + path if _SIMPLE_PATH.fullmatch(path) else canonical_url(path, origin)


@lru_cache(maxsize=_REMEMBERED_LINKS)
def _absolute(url: str) -> str | None:
    return url if _SIMPLE_URL.fullmatch(url) else canonical_url(url)


def _parse(url: str, base: str | None) -> str | None:
    try:
        if base is None:
            return str(ada_url.URL(_scalar(url)).href)
        return str(ada_url.join_url(_scalar(base), _scalar(url)))
    except ValueError:
        return None


def _scalar(text: str) -> str:
    """*text* with lone surrogates replaced: WHATWG takes scalar values only."""
    if text.isascii():
        return text
    # Through UTF-16, so that a pair of surrogates becomes its one character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _tidy(href: str) -> str | None:
    """The canonical form of *href*, which ada has written."""
    scheme, _, rest = href.partition("#")[0].partition("://")
    host, slash, path = rest.partition("/")
    # An "@" behind the slash belongs to the path: only user:password@ goes.
    host = host.rpartition("@")[2]
    if _host_ends_with_dot(host):
        # Without the dot the host may parse as an IPv4 address: parse again.
        name, colon, port = host.partition(":")
        name = name.rstrip(".")
        return canonical_url(f"{scheme}://{name}{colon}{port}{slash}{path}") if name else None
    path, mark, query = path.partition("?")
    if ";" in path and (shorter := drop_path_session(path)) != path:
        # What is left may be a dot segment: parse again.
        return canonical_url(f"{scheme}://{host}/{shorter}{mark}{query}")
    if mark:
        query = drop_tracking(query)
    result = f"{scheme}://{host}/{path}{'?' if query else ''}{query}"
    if "%" in result:
        result = _ESCAPE.sub(lambda match: _ESCAPES[match[1].upper()], result)
    if len(result) > MAX_URL_CHARS or not host:
        return None
    return result


def _host_ends_with_dot(host: str) -> bool:
    return host.endswith(".") or ".:" in host
