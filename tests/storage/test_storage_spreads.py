"""The spread of an article reaches what left its group of reprints, as far as its story says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, text

from qiaocrawl.news.spread.stored import spread_of
from qiaocrawl.news.stories.analyse import analyse_stories
from title_samples import made, runtime_on
from told_stories import store_on_topic

_BEGIN = datetime(2026, 3, 5, 8, tzinfo=UTC)
_TEXT = (
    "印度尼西亚泗水侨胞许某捐资{sum}万元支持家乡泉州晋江教育事业，签约仪式在市侨联举行。"
    "善款将用于建设一所侨乡中学的图书馆和实验楼，预计明年秋季投入使用。"
)
_OTHER = "晋江一所侨乡中学的图书馆昨日封顶，校方感谢泗水侨胞许某多年捐资。"
_ROWS = (
    ("www.a-qiao.cn", "泗水侨胞捐资380万元建图书馆", _TEXT.format(sum=380)),
    ("b.example", "泗水侨胞捐资3800万元建图书馆", _TEXT.format(sum=3800)),
    ("c.example", "晋江侨乡中学图书馆封顶", _OTHER),
)


def _articles(c: Connection) -> dict[str, int]:
    return {row[0]: row[1] for row in c.execute(text("SELECT site, id FROM article"))}


def _apart_in_one_story(c: Connection) -> None:
    """Each is a group of its own, all are in one story; b names a as its source."""
    c.execute(text("UPDATE verdict SET group_id = article_id"))
    c.execute(text("UPDATE article SET source = '甲侨网' WHERE site = 'b.example'"))
    story = c.execute(text("SELECT MIN(story_id) FROM story_article")).scalar()
    c.execute(text("UPDATE story_article SET story_id = :story"), {"story": story})


def test_a_copy_that_left_its_group_is_in_the_spread_of_both(database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        store_on_topic(runtime, "gift", [
            (host, _BEGIN + timedelta(hours=at), title, body)
            for at, (host, title, body) in enumerate(_ROWS)
        ])  # fmt: skip
        analyse_stories(runtime, lambda _count: True)
        runtime.write_now(_apart_in_one_story)
        articles = runtime.reader.run(_articles)
        trees = [runtime.reader.run(lambda c, number=articles[host]: spread_of(c, number))
                 for host in ("www.a-qiao.cn", "b.example")]  # fmt: skip
        alone = runtime.reader.run(lambda c: spread_of(c, articles["c.example"]))
        assert not runtime.reader.run(lambda c: spread_of(c, 999)).publications
    for tree in trees:
        hosts = {own.host for own in tree.publications.values()}
        assert hosts == {"www.a-qiao.cn", "b.example"}
        (edge,) = [own for own in tree.edges.values() if own.parent]
        assert edge.evidence[0].kind == "source"
    # It is alike, which is no reason to call it a copy.
    assert {own.host for own in alone.publications.values()} == {"c.example"}
