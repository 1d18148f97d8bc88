"""Addresses that ask who one is: of a login page or of a single sign-on."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

# "https://passport.weibo.cn/…", "/user/login.php", "/signin/"; not "/login-news".
_PLACE = re.compile(
    r"^https?://(?:login|passport|sso|cas|auth|signin|account)s?\.|"
    r"/(?:user[/_-]?)?(?:log[-_]?in|sign[-_]?in|logon|passport|sso|cas)(?:[/._?]|$)",
    re.IGNORECASE,
)
# The words that mean nothing else: /cas/ may be the Chinese Academy of Sciences.
_SURE_PATH = re.compile(
    r"/(?:user[/_-]?)?(?:log[-_]?in|sign[-_]?in|logon)(?:[/._?]|$)", re.IGNORECASE
)
# "member.php?mod=logging&action=login", "?c=user&m=login"
_ACTION = re.compile(
    r"[?&](?:action|act|mod|do|op|cmd|func|method|m|a)=(?:log[-_]?in|logging|logon|sign[-_]?in)"
    r"(?:&|$)",
    re.IGNORECASE,
)
# A sign-on that asks in passing: who is not logged in is sent back to the page (CAS protocol).
_IN_PASSING = re.compile(r"[?&](?:gateway=true|prompt=none)(?:&|$)", re.IGNORECASE)


def looks_like_login(url: str) -> bool:
    """Whether *url* may be the place of a login, by host, path or action."""
    # Without the query, which may quote the page one came from.
    place, _, query = url.partition("?")
    return bool(_PLACE.search(place) or _ACTION.search(f"?{query}"))


def sends_to_login(page_url: str, target: str) -> bool:
    """Whether a page that sends on to *target*, an absolute address, asks for a login.

    Not where it only may be: a host called auth, say, that is not told where to send one back.
    """
    if not looks_like_login(target) or looks_like_login(page_url) or _IN_PASSING.search(target):
        return False
    place, _, query = target.partition("?")
    if _SURE_PATH.search(place) or _ACTION.search(f"?{query}"):
        return True
    path = urlsplit(page_url).path
    return len(path) > 1 and path in unquote(query)
