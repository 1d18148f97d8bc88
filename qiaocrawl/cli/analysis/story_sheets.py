"""Stories as sheets for officers: Chinese whoever writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from qiaocrawl.cli.output import shown_moment
from qiaocrawl.export.readable import Sheet

if TYPE_CHECKING:
    from qiaocrawl.news.names.stored import StoryName
    from qiaocrawl.news.stories.lists import StoryArticle, StoryLine

_STATES = {"awake": "进行中", "asleep": "沉寂", "ended": "已结束"}
_KINDS = ("person", "place", "organisation")


def story_sheets(
    lines: Sequence[StoryLine],
    articles: Mapping[int, Sequence[StoryArticle]],
    names: Mapping[int, Sequence[StoryName]],
) -> list[Sheet]:
    """The stories, and the articles of all of them."""
    stories = Sheet(
        "故事",
        ("编号", "标题", "状态", "不同文本", "文章", "最早", "最晚", "关键词", "人物", "地点",
         "机构", "关注"),
        [
            (line.id, line.title, _STATES.get(line.state, line.state), line.voices, line.articles,
             shown_moment(line.first), shown_moment(line.last), "、".join(line.words),
             *("、".join(own.name for own in names[line.id] if own.kind == kind)
               for kind in _KINDS),
             "是" if line.is_followed else "")
            for line in lines
        ],
    )  # fmt: skip
    texts = Sheet(
        "文章",
        ("故事", "时间", "站点", "标题", "网址", "转载"),
        [
            (line.id, shown_moment(own.published_at), own.site, own.title, own.url,
             "是" if own.is_reprint else "")
            for line in lines for own in articles[line.id]
        ],
    )  # fmt: skip
    return [stories, texts]
