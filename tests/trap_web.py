"""A site with a real section amid traps: a maze, facets, a calendar and session ids."""

from __future__ import annotations

import random
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

from crawling import Answer, article
from story_texts import drawn

HOST = "www.qiao.test"
_FACETS = {"colour": 10, "size": 7, "brand": 6, "price": 10, "sort": 4}
_HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自"
    "二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变"
    "条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指"
    "几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安"
    "场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连"
)


class TrapWeb:
    """Answers for the site; ``real`` pages lie in its real section.

    With ``tales`` its one trap is a maze of dated stories of the topic, each with its own words.
    """

    def __init__(self, real: int, *, tales: bool = False) -> None:
        self.real = real
        self._traps = ["/maze/in", "/shop", "/cal/2026/3", "/news/1.html?uid=a1b2"]
        if tales:
            self._traps = ["/tale/in"]
        self._per_list = 20

    def respond(self, host: str, path: str) -> Answer | None:
        """The page at *path*; None is 404."""
        if host != HOST:
            return None
        name, _, query = path.partition("?")
        for prefix, make in self._makers().items():
            if name.startswith(prefix):
                return make(name, query)
        return self._home() if name == "/" else None

    def _makers(self) -> dict[str, Callable[[str, str], Answer | None]]:
        return {"/news/": self._article, "/list/": self._list, "/maze/": self._maze,
                "/tale/": self._tale,
                "/shop": self._facets, "/cal/": self._calendar}

    def _home(self) -> Answer:
        lists = [f"/list/{n}.html" for n in range(1, -(-self.real // self._per_list) + 1)][:5]
        return _page("首页", [*lists, *self._traps])

    def _list(self, name: str, query: str) -> Answer | None:
        number = _number(name)
        last = -(-self.real // self._per_list)
        if not 1 <= number <= last:
            return None
        first = (number - 1) * self._per_list + 1
        behind = min(first + self._per_list, self.real + 1)
        links = [f"/news/{n}.html" for n in range(first, behind)]
        near = range(max(1, number - 3), min(last, number + 3) + 1)
        pages = [(str(n), f"/list/{n}.html") for n in near]
        if number < last:
            pages.append(("下一页", f"/list/{number + 1}.html"))
        return _page(f"侨务新闻 第{number}页", links, pages)

    def _article(self, name: str, query: str) -> Answer | None:
        """A story; with a session id, all its links carry a new one."""
        number = _number(name)
        if not 1 <= number <= self.real:
            return None
        near = [f"/news/{n}.html" for n in (number - 1, number + 1) if 1 <= n <= self.real]
        session = dict(parse_qsl(query)).get("uid")
        if session:
            seed = random.Random(f"{session}{number}")
            near = [f"/news/{seed.randint(1, self.real)}.html?uid={seed.getrandbits(24):x}"
                    for _ in range(6)]
        return Answer(article(f"侨胞返乡见闻第{number}篇：{_words(random.Random(number), 6)}",
                              links=(*near, "/", *self._traps[:2]), paragraphs=3))

    def _maze(self, name: str, query: str) -> Answer:
        seed = random.Random(name)
        links = [f"/maze/{_token(seed)}/{_token(seed)}" for _ in range(8)]
        text = "".join(f"<p>{_words(seed, 60)}。</p>" for _ in range(4))
        return _page(_words(seed, 8), links, text=text)

    def _tale(self, name: str, query: str) -> Answer:
        seed = random.Random(name)
        links = [f"/tale/{_token(seed)}/{_token(seed)}.html" for _ in range(6)]
        items = "".join(f'<li><a href="{href}">{_words(seed, 9)}</a></li>' for href in links)
        text = "".join(f"<p>{drawn(seed.getrandbits(30), 160)}侨胞{_words(seed, 3)}。</p>"
                       for _ in range(4))
        return Answer(
            f'<html><head><meta charset="utf-8"><title>侨胞{_words(seed, 9)}</title></head><body>'
            f"<h1>侨胞{_words(seed, 9)}</h1><p>2026-03-05 10:00 来源：侨网</p>{text}"
            f"<ul>{items}</ul><a href='/'>首页</a></body></html>".encode()
        )

    def _facets(self, name: str, query: str) -> Answer:
        chosen = dict(parse_qsl(query))
        links = [f"/shop?{urlencode(sorted({**chosen, facet: str(n)}.items()))}"
                 for facet, most in _FACETS.items() for n in range(most)]
        return _page("商品 " + query, links, text="<p>共 12 件商品。</p>")

    def _calendar(self, name: str, query: str) -> Answer:
        year, month = (int(part) for part in name.split("/")[2:4])
        before = (year - (month == 1), (month - 2) % 12 + 1)
        after = (year + (month == 12), month % 12 + 1)
        links = [f"/cal/{y}/{m}" for y, m in (before, after)]
        return _page(f"{year}年{month}月", links, text="<p>本月暂无活动。</p>")


def trap_of(path: str) -> str:
    """Which trap *path* lies in; "" for real pages."""
    if "uid=" in path:
        return "session"
    first = path.split("/")[1].partition("?")[0]
    return first if first in ("maze", "shop", "cal", "tale") else ""


def _page(
    title: str, links: list[str], named: list[tuple[str, str]] | None = None, text: str = ""
) -> Answer:
    items = "".join(f'<li><a href="{href}">条目 {href}</a></li>\n' for href in links)
    pages = " ".join(f'<a href="{href}">{name}</a>' for name, href in named or [])
    return Answer(
        f'<html><head><meta charset="utf-8"><title>{title}</title></head><body><h1>{title}</h1>'
        f"{text}<ul>{items}</ul><div>{pages}</div><a href='/'>首页</a></body></html>".encode()
    )


def _number(name: str) -> int:
    digits = "".join(char for char in name.rpartition("/")[2] if char.isdigit())
    return int(digits) if digits else 0


def _words(seed: random.Random, count: int) -> str:
    return "".join(seed.choice(_HAN) for _ in range(count))


def _token(seed: random.Random) -> str:
    return "".join(seed.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(7))
