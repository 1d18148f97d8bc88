"""The 300 sites of the soak: what each shows at a moment, and how each misbehaves.

All is a function of the host, the page and the seconds since the farm began, so that the server
and whoever judges the crawl agree without a word.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

ENGINE_HOST = "www.soaksou.test"
SUBJECTS = (
    "海外侨胞",
    "归侨代表",
    "华文学校",
    "侨乡博物馆",
    "商会会长",
    "留学生社团",
    "领事官员",
    "侨联干部",
)
ASKED = SUBJECTS[:4]
"""The terms that the search engine is asked for."""
_ACTIONS = ("举行座谈", "捐赠图书", "发布报告", "开办讲座", "回乡寻根", "签署协议", "组织义诊")
_PLACES = ("福州", "江门", "温州", "曼谷", "巴黎", "悉尼", "多伦多", "马尼拉", "伦敦", "槟城")
_THINGS = ("中文教材", "春节晚会", "侨批档案", "投资项目", "法律援助", "青年论坛", "文化展览")

BREAKING = ("errors", "hangs", "dead", "drops", "slow")
BLOCKING = ("too_many", "forbidden", "captcha")
LYING = ("soft_404", "length", "trap", "header_flood", "redirects", "bomb")
HOSTILE = (*BREAKING, *BLOCKING, *LYING)
"""What a hundredth of the hosts each does; the rest are honest."""
LISTED = 6
"""Articles of one list page."""
_WINDOW_SECONDS = 240
_NEW_ARTICLES = 6


def draw(*parts: object, sides: int = 100) -> int:
    """A number below *sides* that depends on *parts* only."""
    text = "\n".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") % sides


@dataclass(frozen=True, slots=True)
class Article:
    """One article; times in seconds since the farm began, infinite = never."""

    host: str
    number: int
    published: float
    corrected: float
    deleted: float

    @property
    def path(self) -> str:
        """Where it stands on its host."""
        return f"/2026/{self.number:04}.html"

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{self.host}{self.path}"

    @property
    def title(self) -> str:
        """Unlike any other's."""
        pick = random.Random(f"{self.host} {self.number}")
        parts = (_PLACES, SUBJECTS, _ACTIONS, _PLACES, _THINGS)
        return "".join(pick.choice(part) for part in parts) + f"第{draw(self.url, sides=9999)}期"

    def is_there(self, at: float) -> bool:
        """Whether it can be read at *at*."""
        return self.published <= at < self.deleted


class World:
    """The farm's hosts and pages.

    Args:
        sites: how many hosts.
        seconds: over which each host publishes its new articles.
        began: epoch seconds at which the farm began.
    """

    def __init__(self, sites: int, seconds: float, began: float) -> None:
        self.began, self._seconds = began, seconds
        self.hosts = tuple(f"www.s{number:03}.test" for number in range(sites))
        self._number = {host: number for number, host in enumerate(self.hosts)}
        self.articles = {host: self._articles_of(host) for host in self.hosts}

    def kind(self, host: str) -> str:
        """What *host* does beside publishing; "honest" for most."""
        number = self._number[host] % 100
        return HOSTILE[number] if number < len(HOSTILE) else "honest"

    def is_found_by_search(self, host: str) -> bool:
        """Whether *host* stands in no list of sites: only the engine knows it."""
        return self._number[host] % 8 == 6

    def is_reachable(self, host: str) -> bool:
        """Whether nothing on *host* ever fails that stands in its lists."""
        return self.kind(host) not in BREAKING + BLOCKING

    def misbehaves(self, host: str, at: float) -> bool:
        """Whether a host that is dead or blocks for a while does so now."""
        return (int(at / _WINDOW_SECONDS) + self._number[host]) % 3 == 0

    def there(self, host: str, at: float) -> list[Article]:
        """The articles of *host*, the newest first."""
        present = [article for article in self.articles[host] if article.is_there(at)]
        return sorted(present, key=lambda article: (-article.published, -article.number))

    def searchable(self, at: float) -> list[Article]:
        """What the engine knows."""
        return [
            one
            for host in self.hosts
            if self.is_found_by_search(host)
            for one in self.there(host, at)
        ]

    def _articles_of(self, host: str) -> list[Article]:
        first = 4 + draw(host, sides=4)
        articles = []
        for number in range(first + _NEW_ARTICLES):
            place = max(number - first + 1, 0) / _NEW_ARTICLES
            jitter = draw(host, number, "jitter") / 100 / _NEW_ARTICLES
            published = max(place - jitter, 0.0) * self._seconds if place else 0.0
            later = published + self._seconds * (0.1 + draw(host, number, "later") / 200)
            fate = draw(host, number, "fate")
            articles.append(
                Article(
                    host,
                    number,
                    published,
                    corrected=later if 4 <= fate < 12 else float("inf"),
                    deleted=later if fate < 4 else float("inf"),
                )
            )
        return articles

    # --- pages ------------------------------------------------------------------------------

    def page(self, host: str, path: str, at: float) -> bytes | None:
        """The page at *path*, None where there is none."""
        if path == "/":
            return self._home(host, at)
        if path == "/news/":
            return self._list(host, 1, at)
        if path.startswith("/news/index_") and (number := path[12:-5]).isdigit():
            return self._list(host, int(number), at)
        return next(
            (self._article(one, at) for one in self.there(host, at) if one.path == path), None
        )

    def _home(self, host: str, at: float) -> bytes:
        newest = [(one.path, one.title) for one in self.there(host, at)[:5]]
        return _frame(host, "首页", _links([("/news/", "侨务要闻"), *newest, *self._extras(host)]))

    def _extras(self, host: str) -> list[tuple[str, str]]:
        paths = {
            "soft_404": "/gone/{}.html",
            "length": "/length/{}.html",
            "trap": "/calendar/{}/",
            "header_flood": "/flood/{}.html",
            "redirects": "/round/{}",
            "bomb": "/bomb/{}.html",
        }
        path = paths.get(self.kind(host))
        return [(path.format(n), f"专题策划第{n}辑") for n in range(1, 4)] if path else []

    def _list(self, host: str, number: int, at: float) -> bytes | None:
        articles = self.there(host, at)
        shown = articles[(number - 1) * LISTED : number * LISTED]
        if not shown:
            return None
        links = [(one.path, one.title) for one in shown]
        if number * LISTED < len(articles):
            links.append((f"/news/index_{number + 1}.html", "下一页"))
        number = self._number[host]
        links += [
            (f"http://{other}/", f"友情链接：{other}")
            for other in self.hosts[number + 1 : number + 13]
        ]
        return _frame(host, "侨务要闻", _links(links))

    def _article(self, one: Article, at: float) -> bytes:
        text = _body(one.host, one.number)
        if one.corrected <= at:
            text += "<p>更正：本文此前所述人数有误，现已改正，特此说明，向读者致歉。</p>"
        stamp = time.strftime("%Y-%m-%d %H:%M", time.gmtime(self.began + one.published + 8 * 3600))
        return _frame(
            one.host,
            one.title,
            (
                f"<h1>{one.title}</h1><p class=info>{stamp} 来源：{one.host}</p>"
                f"<div class=body>{text}</div>"
            ),
        )


def _links(links: list[tuple[str, str]]) -> str:
    return "<ul>" + "".join(f'<li><a href="{p}">{t}</a></li>' for p, t in links) + "</ul>"


def _frame(host: str, title: str, inside: str) -> bytes:
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}_{host}</title></head>'
        f'<body><div class=nav><a href="/">首页</a> <a href="/news/">侨务要闻</a></div>{inside}'
        f"<div class=foot>版权所有 {host}</div></body></html>"
    ).encode()


@cache
def _body(host: str, number: int) -> str:
    pick = random.Random(f"{number} {host} body")
    return "".join(f"<p>{_sentence(pick)}{_sentence(pick)}</p>" for _ in range(7))


def _sentence(pick: random.Random) -> str:
    return (
        f"{pick.choice(_PLACES)}的{pick.choice(SUBJECTS)}日前{pick.choice(_ACTIONS)}，内容涉及"
        f"{pick.choice(_THINGS)}和{pick.choice(_THINGS)}，共有{pick.randint(20, 900)}人参加。"
    )
