"""Pages of one made-up newspaper, for the tests of what is learnt of a site."""

from __future__ import annotations

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.site_memory import SiteMemory
from qiaocrawl.extract.site_observing import observation_of
from qiaocrawl.extract.site_reading import SiteReading, apply_template
from qiaocrawl.items import SiteObservation
from qiaocrawl.page import Page, parse_page

HOST = "www.jiangbei.test"
DISCLAIMER = "本报所载文章版权归江北晚报所有，未经书面授权不得转载，报料热线全天候接听读者来电。"
FOOTER = "江北晚报社 地址：江北市解放路一号 备案号：测ICP备00000000号"
_PLACES = ("老码头", "侨乡图书馆", "解放路小学", "东门菜市场", "江滨公园", "火车北站", "文化宫",
           "旧厂区", "华侨新村", "南湖湿地")  # fmt: skip
_DEEDS = ("重新开放", "完成修缮", "迎来首批客人", "办起夜校", "试行新规", "装上电梯", "征集名字")


def title(number: int) -> str:
    """A title of its own for each of the first 70 numbers."""
    return f"{_PLACES[number % len(_PLACES)]}{_DEEDS[number % len(_DEEDS)]}，居民盼了多年"


def paragraphs(number: int) -> list[str]:
    """Three paragraphs that no other number has."""
    place = _PLACES[number % len(_PLACES)]
    return [
        f"记者{number}日来到{place}，看到工人正在清理现场，围挡上贴着施工进度和监督电话。",
        f"负责人介绍，工程共分{number + 3}个阶段，前期征求了周边住户的意见，图纸改过几稿。",
        f"家住附近的第{number}位受访者说，盼的就是这一天，以后出门方便多了，孩子也有去处。",
    ]


def page(number: int, *, url: str = "", heading: str = "", design: str = "article") -> Page:
    """Article *number*; *design* is the class of the element that holds its body."""
    name = heading or title(number)
    told = "\n".join(f"<p>{text}</p>" for text in paragraphs(number))
    return parse_page(
        f"<html><head><meta charset=utf-8><title>{name}_社会_江北晚报</title></head><body>\n"
        f'<div class="nav"><a href="/">首页</a> <a href="/s/">社会</a></div>\n<h1>{name}</h1>\n'
        f'<div class="{design}" id="c-{1000 + number}">\n{told}\n'
        f"<p>{DISCLAIMER}</p>\n</div>\n"
        f'<div class="foot"><p>{FOOTER}</p></div></body></html>'.encode(),
        "text/html", url or f"http://{HOST}/a/{number}.html",
    )  # fmt: skip


def body_of(found: Page, *texts: str) -> Body:
    """What an extractor would say that took the blocks with *texts*, and those alone."""
    blocks = found.blocks.blocks
    taken = tuple(at for at, block in enumerate(blocks) if block.text in texts)
    assert len(taken) >= len(texts), "not on the page"
    judged = tuple(0.9 if at in taken else 0.1 for at in range(len(blocks)))
    return Body("\n".join(blocks[at].text for at in taken), 0.8, "test", taken, judged)


def whole(number: int, found: Page) -> Body:
    """Article *number* as an extractor takes it that is fooled by the disclaimer."""
    return body_of(found, *paragraphs(number), DISCLAIMER)


def observed(number: int, **changes: str) -> SiteObservation:
    """What article *number* tells; *changes* as for :func:`page`."""
    found = page(number, **changes)
    name = changes.get("heading") or title(number)
    seen = observation_of(found, name, SiteReading(whole(number, found)))
    assert seen is not None
    return seen


def taught(count: int, **changes: str) -> SiteMemory:
    """A memory that saw articles 0 to *count*."""
    memory = SiteMemory()
    for number in range(count):
        memory.observe(observed(number, **changes))
    return memory


def read(memory: SiteMemory, number: int, **changes: str) -> SiteReading:
    """Article *number* with what is known of its site, which learns from it."""
    found = page(number, **changes)
    template = memory.template(HOST)
    body = whole(number, found)
    reading = apply_template(template, found, body) if template else SiteReading(body)
    seen = observation_of(found, title(number), reading)
    assert seen is not None
    memory.observe(seen)
    return reading
