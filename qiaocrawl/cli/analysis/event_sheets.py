"""Events of stories: a table at the terminal, and sheets for officers, always in Chinese."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from qiaocrawl.cli.output import folding_table
from qiaocrawl.export.readable import Sheet
from qiaocrawl.language import _
from qiaocrawl.news.events.finding import event_place, event_time

if TYPE_CHECKING:
    from qiaocrawl.cli.output import FoldingTable
    from qiaocrawl.news.events.mentions import Event
    from qiaocrawl.news.stories.lists import StoryArticle, StoryLine

_PERSON, _BODY = "人物", "机构"


def event_table(events: Sequence[Event], articles: Sequence[StoryArticle]) -> FoldingTable:
    """When, what, where and who, with the numbers of the articles that tell of it."""
    table = folding_table(_("event"), _("day"), _("what happened"), _("where"), _("who"),
                          _("articles"))  # fmt: skip
    for event in events:
        table.add_row(
            str(event.number), event_time(event), escape(event.name), escape(event_place(event)),
            escape("、".join((*event.persons, *event.bodies))), _numbers(event, articles),
        )  # fmt: skip
    return table


def event_sheets(
    lines: Sequence[StoryLine],
    articles: Mapping[int, Sequence[StoryArticle]],
    events: Mapping[int, Sequence[Event]],
) -> list[Sheet]:
    """The events of all stories, and who stands together with whom in them."""
    happened = Sheet(
        "事件",
        ("故事", "编号", "名称", "时间", "地点", "人物", "机构", "文章", "网址"),
        [
            (line.id, event.number, event.name, event_time(event), event_place(event),
             "、".join(event.persons), "、".join(event.bodies),
             _numbers(event, articles[line.id]), "\n".join(event.keys[:_URLS]))
            for line in lines for event in events[line.id]
        ],
    )  # fmt: skip
    named = Sheet(
        "人物与事件",
        ("故事", "名称", "类别", "事件数", "事件", "同时出现"),
        [row for line in lines for row in _relations(line.id, events[line.id])],
    )
    return [happened, named]


_URLS = 20


def _relations(story: int, events: Sequence[Event]) -> Iterator[tuple[Any, ...]]:
    """Of everybody named the events, and who else is named in how many of them."""
    kinds: dict[str, str] = {}
    told: dict[str, list[Event]] = {}
    for event in events:
        for kind, names in ((_PERSON, event.persons), (_BODY, event.bodies)):
            for name in names:
                kinds.setdefault(name, kind)
                told.setdefault(name, []).append(event)
    for name, own in sorted(told.items(), key=lambda item: (-len(item[1]), item[0])):
        others = Counter(
            other for event in own for other in (*event.persons, *event.bodies) if other != name
        )
        ranked = sorted(others.items(), key=lambda item: (-item[1], item[0]))
        yield (
            story, name, kinds[name], len(own), "、".join(str(event.number) for event in own),
            "、".join(f"{other} {count}" for other, count in ranked),
        )  # fmt: skip


def _numbers(event: Event, articles: Sequence[StoryArticle]) -> str:
    """As ``story show`` counts them."""
    keys = set(event.keys)
    return "、".join(str(at) for at, one in enumerate(articles, start=1) if one.url in keys)
