"""A simulated year of news sites: which article appears on which page, and when.

Newsrooms as they are, not Poisson processes: office hours and night desks, empty weekends,
papers put online at dawn, batches of a content system, days of breaking news, holidays, slow
drift, pages that die. All is drawn from a seed; shapes and figures are ours, set after what
Chinese news sites do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

YEAR_HOURS = 365 * 24
START = 20_089 * 24.0
"""2025-01-01 00:00 UTC in hours since the epoch."""
GROUPS = ("home", "rolling", "channel", "list")
GROUP_WEIGHTS = (4.0, 5.0, 3.0, 2.0)
_SHOWN = (60, 100, 30, 30)
"""Links a page of a group shows; older ones are on pages nobody watches."""
_ZONE_HOURS = 8
_FACTOR = 1e5
# Spring Festival and the National Day week, as days of the year.
_HOLIDAYS = ((27, 35), (273, 281))


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of site: articles a day, hours by their share, weekends, batches."""

    share: float
    a_day: float
    day: tuple[float, ...]
    weekend: float
    batch: float
    breaking: float


def _day(*parts: tuple[int, int, float]) -> tuple[float, ...]:
    hours = [0.0] * 24
    for first, last, share in parts:
        for hour in range(first, last):
            hours[hour] += share / (last - first)
    return tuple(hours)


_KINDS = (
    # Agencies: day and night, more by day.
    _Kind(0.10, 120, _day((0, 24, 0.35), (7, 23, 0.65)), 0.7, 1.2, 1.0),
    # Papers: the printed pages at dawn, some news over the day.
    _Kind(0.25, 50, _day((5, 8, 0.6), (8, 22, 0.4)), 0.8, 4.0, 0.7),
    # Authorities: office hours, workdays, in batches.
    _Kind(0.30, 6, _day((9, 12, 0.5), (14, 18, 0.45), (18, 22, 0.05)), 0.06, 2.5, 0.2),
    # Associations: now and then, evenings too.
    _Kind(0.20, 1, _day((9, 18, 0.6), (18, 24, 0.4)), 0.6, 1.5, 0.2),
    # Portals: from morning to midnight.
    _Kind(0.15, 80, _day((6, 24, 0.95), (0, 6, 0.05)), 0.85, 1.5, 1.0),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class World:
    """A year of pages.

    Attributes:
        site, group: (pages,) of each page.
        shown: (pages,) how many links it shows.
        keys: (entries,) ascending ``page * 1e5 + hours since START`` of every appearance.
        articles: (entries,) the article that appears.
        published: (articles,) hours since START.
        article_site: (articles,).
    """

    site: Ints
    group: Ints
    shown: Ints
    keys: Floats
    articles: Ints
    published: Floats
    article_site: Ints

    @property
    def pages(self) -> int:
        """How many."""
        return len(self.site)

    def entry_time(self, entries: Ints, pages: Ints) -> Floats:
        """Hours since START at which *entries* (each of its page) appeared."""
        return np.asarray(self.keys[entries] - pages * _FACTOR)

    def upto(self, pages: Ints, hours: float) -> Ints:
        """Number of the first entry of each page later than *hours* since START."""
        return np.searchsorted(self.keys, pages * _FACTOR + hours, "right")


def draw_world(pages: int, seed: int, hours: int = YEAR_HOURS) -> World:
    """*pages* pages on a twentieth of as many sites, for *hours* from START on."""
    rng = np.random.default_rng(seed)
    sites = max(pages // 20, 1)
    site, group = _pages_of_sites(rng, pages, sites)
    kinds = rng.choice(len(_KINDS), sites, p=[kind.share for kind in _KINDS])
    by_site = [_articles_of(rng, _KINDS[kinds[one]], hours) for one in range(sites)]
    published = np.concatenate(by_site)
    article_site = np.repeat(np.arange(sites), [len(one) for one in by_site])
    on, which = _placed(rng, site, group, article_site)
    appeared = published[which] + rng.exponential(0.03, len(which))
    alive = appeared < _ends(rng, group, hours)[on]
    on, which, appeared = on[alive], which[alive], np.minimum(appeared[alive], hours)
    keys = on * _FACTOR + appeared
    order = np.argsort(keys, kind="stable")
    shown = np.array(_SHOWN)[group]
    return World(site, group, shown, keys[order], which[order], published, article_site)


def _pages_of_sites(rng: np.random.Generator, pages: int, sites: int) -> tuple[Ints, Ints]:
    """Site and group of each page: a home page each, most have a rolling page, then the rest."""
    site = np.arange(pages) % sites
    rank = np.arange(pages) // sites
    has_rolling = rng.random(sites) < 0.7
    group = np.where(rank < 11, 2, 3)
    group[(rank == 1) & has_rolling[site]] = 1
    group[rank == 0] = 0
    return site.astype(np.int64), group.astype(np.int64)


def _articles_of(rng: np.random.Generator, kind: _Kind, hours: int) -> Floats:
    """Hours since START at which a site publishes, ascending."""
    hour = np.arange(hours)
    local = hour + _ZONE_HOURS
    # 2025-01-01 was a Wednesday.
    is_weekend = (local // 24 + 2) % 7 >= 5
    jitter = rng.dirichlet(np.full(24, 30.0)) * 24
    rate = kind.a_day * rng.lognormal(-0.32, 0.8) * np.array(kind.day)[local % 24]
    rate = rate * jitter[local % 24] * np.where(is_weekend, kind.weekend, 1.0)
    for first, last in _HOLIDAYS:
        rate[(local // 24 >= first) & (local // 24 < last)] *= 0.3
    rate *= _drift(rng, hours) * _breaking(rng, hours, kind.breaking)
    batches = rng.poisson(rate / kind.batch)
    starts = np.repeat(hour, batches) + rng.random(batches.sum())
    sizes = rng.geometric(1 / kind.batch, len(starts))
    times = np.repeat(starts, sizes) + rng.exponential(0.05, sizes.sum())
    return np.sort(np.minimum(times, hours - 1e-3))


def _drift(rng: np.random.Generator, hours: int) -> Floats:
    """A slow random walk of the rate, by the week."""
    weeks = hours // 168 + 2
    walk = np.exp(np.cumsum(rng.normal(0, 0.12, weeks)))
    return np.interp(np.arange(hours), np.arange(weeks) * 168, walk)


def _breaking(rng: np.random.Generator, hours: int, share: float) -> Floats:
    """Breaking news: some times a month three to eight times as much, fading over hours."""
    more = np.ones(hours)
    for start in np.flatnonzero(rng.random(hours) < share * 3 / 720):
        length = min(36, hours - int(start))
        more[start : start + length] += rng.uniform(2, 7) * np.exp(-np.arange(length) / 6)
    return more


def _ends(rng: np.random.Generator, group: Ints, hours: int) -> Floats:
    """When pages die: a tenth had died before, a tenth do in the year; home pages live."""
    draw, when = rng.random(len(group)), rng.random(len(group)) * hours
    ends = np.where(draw < 0.1, 0.0, np.where(draw < 0.2, when, np.inf))
    return np.where(group == 0, np.inf, ends)


def _placed(
    rng: np.random.Generator, site: Ints, group: Ints, article_site: Ints
) -> tuple[Ints, Ints]:
    """(page, article) of all appearances: a channel, its list, rolling and home page."""
    pages: list[Ints] = []
    articles: list[Ints] = []
    sites = int(np.max(site)) + 1
    bounds = np.searchsorted(article_site, np.arange(sites + 1))
    for one in range(sites):
        own = np.arange(bounds[one], bounds[one + 1])
        of_site = {number: np.flatnonzero((site == one) & (group == number)) for number in range(4)}
        for number, share in ((2, 1.0), (3, 0.7), (1, 0.9), (0, 0.35)):
            there = of_site[number]
            if not len(there):
                continue
            taken = own[rng.random(len(own)) < share]
            zipf = 1 / np.arange(1, len(there) + 1)
            pages.append(rng.choice(there, len(taken), p=zipf / zipf.sum()))
            articles.append(taken)
    return np.concatenate(pages), np.concatenate(articles)
