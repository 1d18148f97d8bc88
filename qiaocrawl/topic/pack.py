"""The records of a topic pack and the fixed words they may use.

A pack is all that defines a topic: terms, sites and sample documents. The records hold
plain values only (picklable, hashable); what makes them valid is in
:mod:`qiaocrawl.topic.check`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
