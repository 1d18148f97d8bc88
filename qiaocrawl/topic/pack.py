"""The records of a topic pack and the fixed words they may use.

A pack is all that defines a topic: terms, sites and sample documents. The records hold
plain values only (picklable, hashable); what makes them valid is in
:mod:`qiaocrawl.topic.check`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from typing import Literal
from urllib.parse import urlsplit

import ada_url

from qiaocrawl.language import _

Role = Literal["authoritative", "target"]

ROLES: dict[str, str] = {"authoritative": "权威", "target": "目标"}
"""Roles of a site with the Chinese word an imported table may use instead."""

TERM_KINDS: dict[str, str] = {
    "core": "核心",
    "group": "群体",
    "person": "人物",
    "organisation": "机构",
    "policy": "政策",
    "event": "活动",
    "place": "地域",
    "education": "教育",
    "business": "经贸",
    "culture": "文化",
    "safety": "安全",
    "media": "媒体",
    "other": "其他",
}
"""Kinds of a term with their Chinese words."""

SITE_KINDS: dict[str, str] = {
    "government": "政府",
    "association": "社团",
    "agency": "通讯社",
    "newspaper": "报纸",
    "broadcaster": "广播电视",
    "news": "新闻网站",
    "portal": "门户",
    "education": "教育机构",
    "business": "企业",
    "forum": "论坛",
    "blog": "博客",
    "other": "其他",
}
"""Kinds of a site with their Chinese words."""

MIN_TIER, MAX_TIER = 1, 5
"""Authority of a site: 1 is the highest (the body that decides), 5 the lowest."""

MAX_WEIGHT = 10.0
"""Term weights lie in (0, 10]."""

DEFAULT_WEIGHT = 3.0
"""Of a word of which nothing is said, wherever it comes from: somebody named it for the topic."""

MARKED_WEIGHT = 4.0
"""Of a word that a list marks as one to look for above all (是否重点: 是, ★)."""

DEFAULT_THRESHOLD = 0.1
"""Vector-space relevance from which terms speak for an article, where a pack says nothing."""

DEFAULT_LANGUAGE = "zh"


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the topic. ``kind`` is a key of TERM_KINDS, ``weight`` lies in (0, 10]."""

    text: str
    kind: str
    weight: float = DEFAULT_WEIGHT
    note: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """A site by its ASCII host. ``tier`` is 1 (highest authority) to 5, ``region`` free text.

    Authoritative sites are crawled whole; target sites are asked through search engines.
    ``start_url`` "" means the root page of the host.
    """

    host: str
    name: str
    role: Role
    tier: int
    region: str
    kind: str
    start_url: str = ""
    render: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample document; ``relevant`` False makes it a counter-example. ``name`` is unique."""

    name: str
    title: str
    text: str
    relevant: bool


@dataclass(frozen=True, slots=True)
class TopicPack:
    """All that defines a topic. ``threshold`` is a vector-space relevance in [0, 1]."""

    name: str
    title: str
    description: str
    threshold: float
    terms: tuple[Term, ...]
    sites: tuple[Site, ...]
    samples: tuple[Sample, ...]
    language: str = DEFAULT_LANGUAGE


# --- Host names of a pack: lower case, ASCII (punycode), nothing but the host ---------------------

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
