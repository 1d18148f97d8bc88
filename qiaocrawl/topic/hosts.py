"""Host names of a pack: lower case, ASCII (punycode), nothing but the host."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address
from urllib.parse import urlsplit

import ada_url

from qiaocrawl.language import _

MAX_HOST_CHARACTERS = 253
"""RFC 1035 §2.3.4: 255 octets on the wire are 253 characters of text."""

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_MORE_THAN_A_HOST = re.compile(r"[/\\?#@:\s%]")


def normalise_host(text: str) -> str:
    """The ASCII form of a host name; international names become punycode.

    Raises:
        ValueError: *text* is no host name; the message says why.
    """
    host = text.strip().lower().rstrip(".")
    if not host:
        raise ValueError(_("the host is empty; write one such as 'www.chinaqw.com'"))
    if _MORE_THAN_A_HOST.search(host):
        raise ValueError(
            _(
                "{text!r} is more than a host name{suggestion}",
                text=text,
                suggestion=_suggestion(text),
            )
        )
    if not host.isascii():
        host = _punycode(host)
    reason = _host_reason(host)
    if reason:
        raise ValueError(_("{text!r} is no host name: {reason}", text=text, reason=reason))
    return host


def url_host(url: str) -> str:
    """The ASCII host of an http or https URL.

    Raises:
        ValueError: *url* is no such URL; the message says why.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  (a bad port raises here)
    except ValueError as error:
        raise ValueError(_("{url!r} is no URL: {error}", url=url, error=error)) from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(_("{url!r} must start with http:// or https://", url=url))
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            _("{hostname!r}: a URL must not carry a user name or password", hostname=parts.hostname)
        )
    return normalise_host(parts.hostname or "")


def _punycode(host: str) -> str:
    try:
        ascii_host = ada_url.idna_to_ascii(host).decode("ascii")
    except UnicodeError:  # lone surrogates
        ascii_host = ""
    if not ascii_host:
        raise ValueError(_("{host!r} is no international host name", host=host))
    return ascii_host


def _host_reason(host: str) -> str:
    if len(host) > MAX_HOST_CHARACTERS:
        return _("{count} characters, at most {most}", count=len(host), most=MAX_HOST_CHARACTERS)
    labels = host.split(".")
    bad = next((label for label in labels if not _LABEL.fullmatch(label)), None)
    if bad is not None:
        return _(
            "the part {bad!r} (1 to 63 letters, digits and inner hyphens are allowed)", bad=bad
        )
    if labels[-1].isdigit():
        return "" if _is_ipv4(host) else _("it ends in a number but is no IPv4 address")
    if len(labels) == 1 and host != "localhost":
        return _("it has no dot")
    return _punycode_reason(labels)


def _punycode_reason(labels: list[str]) -> str:
    for label in labels:
        if label.startswith("xn--") and not _is_punycode(label):
            return _("the part {label!r} is broken punycode", label=label)
    return ""


def _is_punycode(label: str) -> bool:
    try:
        return bool(label[4:]) and not label[4:].encode().decode("punycode").isascii()
    except UnicodeError:
        return False


def _is_ipv4(host: str) -> bool:
    try:
        IPv4Address(host)
    except AddressValueError:
        return False
    return True


def _suggestion(text: str) -> str:
    try:
        host = urlsplit(text if "//" in text else f"//{text}").hostname or ""
    except ValueError:
        return ""
    if not host or _MORE_THAN_A_HOST.search(host):
        return ""
    return _("; write only {host!r} (a page belongs in start_url)", host=host)
