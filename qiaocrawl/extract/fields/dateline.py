"""Names beside the date under a title, without a label: ``2013-10-02 10:20 桂林侨讯 韦敏``.

Chinese only. What is left of a short line when date, time and what has a label of its own
(阅读 1277) are taken off is a medium by its last characters or because the page calls its site
so, or a person by the surname **(ours)**.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from qiaocrawl.extract.block_texts import lines_with
from qiaocrawl.extract.fields.body_context import BodyContext
from qiaocrawl.extract.fields.chinese_names import is_surely_chinese_name
from qiaocrawl.extract.fields.declared import Declared

_LINE_CHARS = 80
_MOST_NAMES = 3
"""A line with more words than this beside its date tells something else."""
_DATE = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?\s*(?:[0-2]?\d[:：时]\d\d(?:[:：分]\d\d秒?)?)?"
)
_BORDER = re.compile(r"[\s|｜丨·•,，◆]+")
# A label with its value; the value may stand behind a space.
_LABELLED = re.compile(
    r"(?:阅读|閱讀|浏览|瀏覽|点击|點擊|评论|評論|播放|收藏|人气|查看|编辑|編輯|责编|责任编辑|责任編輯|"
    r"时间|時間|日期|发布|發布|摄影|攝影|供图|字号|字號|字体|字體|共)\S*(?:\s*[\d.,]+\s?万?次?)?"
)
_SOURCE_LABEL = re.compile(r"(?:^|\s)(?:来源|來源|稿源)\s+([^\s|｜:：]{2,14})(?=\s|$)")
_HAN_NAME = re.compile("[\u3400-\u9fff·A-Za-z]{2,14}")
_MEDIUM = re.compile(
    r"(?:网|網|报|報|社|台|臺|站|局|办公室|委员会|厅|中心|在线|在線|论坛|論壇|新闻|新聞|快讯|快訊|"
    r"侨讯|侨刊|侨声|通讯|通訊|之声|周刊|月刊|杂志|雜誌|客户端|手机版|频道|頻道|博客)$"
)


class DateLine(NamedTuple):
    """What stands beside the date; each "" where nothing does."""

    source: str = ""
    author: str = ""


def dateline_of(context: BodyContext, declared: Declared) -> DateLine:
    """The medium and the person in the first short line with a date near the title."""
    head = context.head
    for line in lines_with(head.whole, ("19", "20")):
        text = head.texts[line]
        if len(text) > _LINE_CHARS:
            continue
        date = _DATE.search(text)
        if date is not None:
            return _read(text[: date.start()], text[date.end() :], declared)
    return DateLine()


def _read(before: str, after: str, declared: Declared) -> DateLine:
    text = f"{before} {after}"
    labelled = _SOURCE_LABEL.search(text)
    source = labelled[1] if labelled is not None else ""
    if labelled is not None:
        text = text[: labelled.start()] + " " + text[labelled.end() :]
    words = [word for word in _BORDER.split(_LABELLED.sub(" ", text)) if word]
    if len(words) > _MOST_NAMES:
        return DateLine(source)
    names = [word for word in words if _HAN_NAME.fullmatch(word)]
    if not source:
        source = next((n for n in names if _MEDIUM.search(n) or declared.is_site(n)), "")
    author = next((n for n in names if n != source and is_surely_chinese_name(n)), "")
    return DateLine(source, author)
