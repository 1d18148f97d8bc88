"""What a medium says of itself before its text or after it: whose opinion it is, what to follow.

It stands in sentences, beside the paragraphs: so it is told by its place and its form together.
News may tell of declarations and accounts, and a notice may ask people to scan a code. **(ours)**
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from qiaocrawl.extract.block_texts import enclosing
from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import Page

_DECLARED = re.compile(
    r"[\W①-⑩]*(?:(?:免[责責]|特[别別]|版[权權]|[郑鄭]重|重要|[风風][险險]|侵[权權]|法律|平台)?(?:[声聲]明|提示|[说說]明)|"
    r"免[责責][条條]款|disclaimer|editor[’']?s? note)\s?(?:[】\])）:：]|$)",
    re.IGNORECASE,
)
"""How a declaration of the medium begins."""
_OF_TEXT = re.compile(
    r"本文(?!件|化)|本[站网網][^上]|本平台|本公[众眾]|本[号號刊]|文章|撰稿|作者(?:本人|[个個]人|[观觀][点點])|"
    r"[注註][册冊]用[户戶]|自媒体|自媒體|存[储儲]|[转轉][载載发發]|投[资資]建[议議]|[观觀][点點]|出[处處]|"
    r"\b(?:author|article|investment advice|views?|opinions?)\b",
    re.IGNORECASE,
)
_DISOWNED = re.compile(
    r"信息存[储儲](?:空[间間])?服[务務]|存[储儲]空[间間](?:服[务務]|的?提供)|"
    r"不[构構]成.{0,8}建[议議]|版[权權][归歸].{0,6}作者|"
    r"如有.{0,8}(?:[请請]|[联聯]).{0,3}(?:[联聯][系繫絡络](?:我[们們]|本)|我[们們][联聯][系繫絡络]|本站)"
)
_TOLD_BY = re.compile(
    r"(?:新[闻聞]|爆料|[报報]料)[热熱][线線].{0,20}(?:[拨撥]打|[来來][电電]|[采採]用|[线線]索)|"
    r"一[经經][采採]用.{0,8}(?:[线線]索|[奖獎])"
)
"""How a medium asks for news."""
_HINTS = re.compile("存[储儲]|[构構]成|版[权權][归歸]|如有|[热熱][线線綫]|一[经經][采採]")
"""What one of these holds."""
_ACCOUNT = (
    r"(?:公[众眾][号號]|微信|(?<![(（])微博|抖音|[视視][频頻][号號]|[头頭][条條][号號]|客[户戶]端|二[维維][码碼]|小程序|"
    r"line\s?(?:@|好友|官方)|[电電]子(?:[早晚]?[报報]|周刊|週刊)|粉[丝絲](?:[专專]?[页頁]|[团團])|telegram|[账賬帐帳][号號]|app\b)"
)
_FOLLOW = re.compile(
    rf"(?:[关關]注|[订訂][阅閱]|下[载載]|搜索|添加|加入|追[蹤踪]|[长長]按|[扫掃](?:描|一[扫掃]|[码碼])?).{{0,24}}{_ACCOUNT}|"
    rf"{_ACCOUNT}.{{0,24}}(?:[关關]注|[订訂][阅閱]|下[载載])|[长長]按.{{0,8}}(?:[识識][别別]|[关關]注)",
    re.IGNORECASE,
)
_FOLLOW_HINT = re.compile("[注订訂载載搜添按入蹤踪]")
_ASKED = re.compile(
    r"^\W*(?:[欢歡]迎|[请請]|敬[请請]|更多|[点點][击擊]|[扫掃]|[长長]按|[关關]注|[订訂][阅閱]|下[载載]|[专專]注|想)|"
    r"本[报報刊号號台网網站]|我[们們]|不[错錯][过過]|下方|上方|下[图圖]"
)
"""How a medium asks its readers to follow it."""
_ABOUT_WORK = re.compile(
    r"[报報]名|[缴繳][费費]|投票|登[记記]|申[请請领領]|[参參][赛賽加]|填[写寫]|入群|[记記]者"
)
"""What a code may be for otherwise."""
_LEAST_LEFT_CHARS, _PROMOTION_CHARS, _DECLARED_CHARS = 40, 120, 500
_HEAD_LINES, _TAIL_LINES = 2, 4
_CARD = re.compile(
    r"(?:^|[\s_-])(?:author|writer|columnist|contributor)s?[_-]*(?:card|bio\w*|box|profile|desc\w*|about|"
    r"intro\w*|blurb)|about[_-]?(?:the[_-]?)?author|(?:^|[\s_-])bio(?:$|[\s_-])|zuozhe[_-]?jianjie"
)
_MOST_OF_TEXT, _CARD_LEVELS = 0.4, 4


def words_of_medium(page: Page, chosen: Sequence[int]) -> set[int]:
    """Those of the blocks *chosen* in which the medium speaks of itself, before or after the text,
    and cards about the author there; none where little else would be left."""
    blocks = page.blocks.blocks
    ends = {*chosen[:_HEAD_LINES], *chosen[-_TAIL_LINES:]}
    taken = {index for index in ends if _is_of_medium(blocks[index].text)}
    for index in ends:
        for at in enclosing(page.blocks, blocks[index].element, _CARD_LEVELS):
            if page.blocks.elements[at].names and _is_card(page.blocks.elements[at].names):
                taken.update(_card(page.blocks, at, chosen))
    if not taken:
        return taken
    left = sum(len(blocks[index].text) for index in chosen if index not in taken)
    return taken if left >= _LEAST_LEFT_CHARS else set()


def _is_of_medium(text: str) -> bool:
    if len(text) > _DECLARED_CHARS:
        return False
    if _DECLARED.match(text) and _OF_TEXT.search(text):
        return True
    if text.isascii():
        return False
    is_short = len(text) <= 2 * _PROMOTION_CHARS
    if is_short and _HINTS.search(text) and (_DISOWNED.search(text) or _TOLD_BY.search(text)):
        return True
    return (
        len(text) <= _PROMOTION_CHARS
        and _FOLLOW_HINT.search(text) is not None
        and _FOLLOW.search(text) is not None
        and _ASKED.search(text) is not None
        and _ABOUT_WORK.search(text) is None
    )


@lru_cache(maxsize=20_000)  # asked for several elements of every page
def _is_card(names: str) -> bool:
    return _CARD.search(names) is not None


def _card(found: PageBlocks, at: int, chosen: Sequence[int]) -> Sequence[int]:
    """Those of *chosen* that stand in the element *at*; none if they are most of the text."""
    element = found.elements[at]
    within = chosen[bisect_left(chosen, element.first) : bisect_left(chosen, element.end)]
    whole = sum(len(found.blocks[index].text) for index in chosen)
    size = sum(len(found.blocks[index].text) for index in within)
    return within if size <= _MOST_OF_TEXT * whole else ()
