"""Whom a text says it was taken from: datelines (新华社北京3月5日电), 据…报道, 转自…."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from qiaocrawl.analysis.spread.outlets import is_nobody, is_own, known_outlets
from qiaocrawl.text.normalise import fold

_HEAD_CHARS, _TAIL_CHARS = 400, 200
_NAME = r"[《“\"]?([\w·]{2,16}?)[》”\"]?"
# After folding: ( ) : , are the ASCII signs.
_DATELINE = re.compile(r"(?:^|[\s()【】\]])([\w·]{2,24}?)\d{1,2}月\d{1,2}日(?:专)?[电電讯訊]")
_REPORTED = re.compile(
    rf"据(?:悉,)?{_NAME}(?:网站|客户端|微信公众号|微博)?(?:\d{{1,4}}年)?(?:\d{{1,2}}月)?(?:\d{{1,2}}日)?"
    r"(?:消息|报道|報道|援引|引述)"
)
_TAKEN = re.compile(
    # 客源来源地更加多样 names nobody: 来源 is a label with a colon or space.
    rf"(?:(?:转载自|转自|轉載自|摘自|原载于?)[::]?|(?:来源|來源|稿源)(?::|\s))\s*{_NAME}"
    r"(?=[\s)）】\],。;|]|$)"
)
# 据外媒报道, 据有关部门消息: nobody by name.
_NO_NAME = re.compile(
    r"(?:有关|相关|当地|多家|外国|海外|国内|上述|另有?|各|主流)*(?:[外港台官英美日法]媒|媒体|传媒|方面|部门|了解|介绍|统计)"
)


def credits_in(text: str) -> tuple[str, ...]:
    """Names that the beginning or the end of *text* credits, each once, in their order.

    >>> credits_in("新华社北京3月5日电（记者张三）据《联合早报》报道，……")
    ('新华社', '联合早报')
    """
    folded = fold(text)
    head, tail = folded[:_HEAD_CHARS], folded[_HEAD_CHARS:][-_TAIL_CHARS:]
    names = [*_datelines(head[:_TAIL_CHARS]), *_named(head), *_named(tail)]
    return tuple(dict.fromkeys(name for name in names if not is_nobody(name) and not is_own(name)))


def _datelines(head: str) -> Iterator[str]:
    """Outlets that stand before a place and a date; where the name ends only a list can tell."""
    for match in _DATELINE.finditer(head):
        name = next((name for name in _longest_first() if match[1].startswith(name)), "")
        if name:
            yield name


def _named(part: str) -> Iterator[str]:
    for pattern in (_REPORTED, _TAKEN):
        for match in pattern.finditer(part):
            if not _NO_NAME.fullmatch(match[1]):
                yield match[1]


@cache
def _longest_first() -> tuple[str, ...]:
    return tuple(sorted(known_outlets(), key=lambda name: (-len(name), name)))
