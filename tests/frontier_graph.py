"""A small web with known words and relevances, crawled by any strategy."""

from __future__ import annotations

from dataclasses import dataclass

from qiaocrawl.frontier import CrawlOrder, CrawlTopic, FoundLink, Visit, VisitedPage
from qiaocrawl.frontier.strategy import LearningStrategy, Strategy
from qiaocrawl.items import Link
from qiaocrawl.topic.pack import Sample, Term, TopicPack
from qiaocrawl.urls import url_key

TOPIC = CrawlTopic(
    TopicPack(
        "lights", "", "", 0.1, (Term("灯塔", "core", 3.0), Term("航标", "core", 2.0)), (),
        (Sample("yes", "灯塔", "守灯塔的人换航标灯。", True),
         Sample("no", "仓库", "值夜的人看守仓库。", False)),
    )
)  # fmt: skip


@dataclass(frozen=True)
class SmallPage:
    """A page: relevance in [0, 1]; links as (page, anchor, context, title)."""

    url: str
    relevance: float
    links: tuple[tuple[str, str, str, str], ...] = ()


def to(name: str, anchor: str = "", context: str = "", title: str = "") -> tuple[str, ...]:
    """A link of the small web."""
    return name, anchor, context, title


_X, _Y = "http://x.test", "http://light.y.test"
WEB: dict[str, SmallPage] = {
    name: SmallPage(url, relevance, links)  # type: ignore[arg-type]
    for name, url, relevance, links in [
        ("start", f"{_X}/", 0.3,
         (to("about", "关于我们"), to("coast", "海岸消息"), to("list", "更多"),
          to("lamp", "老灯塔"), to("shop", "商店", "航标灯出售"), to("map", "", "", "航标图"))),
        ("about", f"{_X}/about.html", 0.0,
         (to("staff", "职员"), to("start", "首页"), to("shop", "商店"))),
        ("coast", f"{_X}/coast/", 0.25,
         (to("c1", "渔船"), to("c2", "风暴", "离灯塔十里"), to("other", "邻居"))),
        ("list", f"{_X}/list_2.html", 0.05,
         (to("l1", "甲"), to("l2", "乙"), to("l3", "丙", "", "灯塔"), to("list3", "下一页"))),
        ("lamp", f"{_X}/2014/06/06/lamp.html", 0.9,
         (to("lamp2", "又一座"), to("other", "邻居"), to("coast", "海岸"))),
        ("shop", f"{_X}/shop/item.php?id=1", 0.02,
         (to("s1", "一号"), to("s2", "灯塔模型"), to("about", "关于"))),
        ("map", f"{_X}/%E7%81%AF%E5%A1%94/map", 0.4,
         (to("m1", "北"), to("m2", "南", "两座航标"), to("list", "目录"))),
        ("staff", f"{_X}/staff.html", 0.0, (to("about", "关于"), to("s1", "一号"))),
        ("c1", f"{_X}/coast/1.html", 0.1, (to("other", "邻居"), to("m1", "北"))),
        ("c2", f"{_X}/coast/2.html", 0.5, (to("lamp2", "灯"), to("m2", "南"))),
        ("other", f"{_Y}/", 0.6,
         (to("o1", "一"), to("o2", "二", "", "航标"), to("o3", "灯塔三"))),
        ("l1", f"{_X}/2014/06/07/a.html", 0.8, (to("l4", "续"),)),
        ("l2", f"{_X}/2014/06/08/b.html", 0.0, ()),
        ("l3", f"{_X}/2014/06/09/c.html", 0.7, (to("l4", "续"), to("lamp", "老灯塔"))),
        ("list3", f"{_X}/list_3.html", 0.05,
         (to("l4", "丁"), to("l5", "戊"), to("c1", "渔船"))),
        ("lamp2", f"{_X}/2014/06/10/lamp-two.html", 0.95, (to("o1", "一"),)),
        ("s1", f"{_X}/shop/item.php?id=2", 0.0, ()),
        ("s2", f"{_X}/shop/item.php?id=3", 0.15, (to("s1", "一号"),)),
        ("m1", f"{_X}/map/north", 0.1, (to("o2", "二"), to("l5", "五"))),
        ("m2", f"{_X}/map/south", 0.5, ()),
        ("o1", f"{_Y}/one", 0.3, ()),
        ("o2", f"{_Y}/%E7%81%AF%E5%A1%94/two", 0.9, ()),
        ("o3", f"{_Y}/three", 0.2, ()),
        ("l4", f"{_X}/2014/06/11/d.html", 0.6, ()),
        ("l5", f"{_X}/2014/06/12/e.html", 0.0, ()),
    ]
}  # fmt: skip
_NAMES = {page.url: name for name, page in WEB.items()}


def link_to(name: str, anchor: str = "", context: str = "", title: str = "") -> Link:
    """A link to a page of the small web, or to ``http://x.test/NAME`` where it has none."""
    url = WEB[name].url if name in WEB else f"{_X}/{name}"
    return Link(url, url_key(url), url.split("/")[2], anchor, context, title)


def links_of(name: str) -> list[Link]:
    """The links of a page, in order."""
    return [link_to(*link) for link in WEB[name].links]


def crawl(strategy: Strategy | LearningStrategy) -> list[str]:
    """The pages of the small web in the order in which *strategy* has them fetched."""
    order = CrawlOrder(strategy)
    first = link_to("start")
    order.add(first.key, first.url, first.host, 0)
    depths, urls, fetched = {"start": 0}, {first.key: first.url}, []
    while best := order.best(1):
        order.take(best)
        name = _NAMES[urls[order.key_of(best[0])]]
        fetched.append(name)
        links, page = links_of(name), link_to(name)
        for link in links:
            urls[link.key] = link.url
            depths.setdefault(_NAMES[link.url], depths[name] + 1)
        relevance = WEB[name].relevance
        order.visit(Visit(
            page.key, page.url, page.host, depths[name], relevance, relevance >= 0.5,
            1_800_000_000.0 + len(fetched), links,
        ))  # fmt: skip
    return fetched


def visited(
    name: str = "start", relevance: float = 0.0, depth: int = 0, node: int = 0
) -> VisitedPage:
    """A fetched page."""
    link = link_to(name)
    return VisitedPage(
        link.url, link.host, depth, relevance, relevance >= 0.5, 1_800_000_000.0, node
    )


def found(*links: Link, nodes: list[int] | None = None) -> list[FoundLink]:
    """*links* as they stand on one page; their nodes count from 1 where none are given."""
    numbers = nodes or list(range(1, len(links) + 1))
    return [
        FoundLink(link, place, len(links), node)
        for place, (link, node) in enumerate(zip(links, numbers, strict=True))
    ]
