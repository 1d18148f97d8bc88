"""Days and authors of something else on the page: lists, comments, quotes, other articles."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.extraction import Extraction

TITLE = "侨乡新春联谊会举行"
URL = "https://www.example.com/news/20711.html"
BODY = "<div class=text>" + f"<p>{'侨乡的正文有许多话要说。' * 12}</p>" * 3 + "</div>"


def article_with(line: str, below: str = "", head: str = "") -> Extraction:
    html = (
        f"<meta charset=utf-8><title>{TITLE}</title>{head}"
        f"<main><h1>{TITLE}</h1><p>{line}</p>{BODY}</main>{below}"
    )
    return extract_article(html.encode(), URL)


@pytest.mark.parametrize(
    "below",
    [
        "<div class=hot-news><p><time>2019-01-02</time><a href=/1>老街的骑楼修好了</a></p></div>",
        "<ul><li><a href=/1><time datetime=2019-01-02>2019-01-02</time>老街的骑楼修好了</a></ul>",
        "<div><h3>最新评论</h3><p><b>乡亲</b><time>2019-01-02 10:00</time>好！</p></div>",
        "<div class=pinglun><b>乡亲</b><span>2019-01-02 10:00:00</span><p>好！</p></div>",
        "<blockquote><time datetime=2019-01-02>2019-01-02</time> 一则转帖</blockquote>",
    ],
)
@pytest.mark.parametrize(
    ("line", "day"), [("2018年3月5日", "2018-03-05"), ("3月5日 08:30", "-03-05")]
)
def test_days_below_a_short_article(line: str, day: str, below: str) -> None:
    assert day in str(article_with(line, below).published_at)


@pytest.mark.parametrize(
    "below",
    [
        "<div class=discuss><h4>网友评论</h4><p><span class=author>陈小桥</span>写得好</p></div>",
        "<div id=comments><p><a rel=author href=/u/1>陈小桥</a>写得好</p></div>",
        "<ul><li><a href=/b/1><i class=author>陈小桥：</i>老街的骑楼修好了</a></li></ul>",
        "<blockquote><b class=author>Nora Field</b>: what a day</blockquote>",
        "<div><a style='display: none' class=author>陈小桥</a></div>",
        "<div><h3>相关阅读</h3><p class=author>陈小桥</p></div>",
    ],
)
def test_authors_of_something_else(below: str) -> None:
    assert article_with("2018年3月5日", below).authors == ()


@pytest.mark.parametrize(
    "below",
    [
        "<aside class=author><b class=author>陈小桥</b><a href=/1>陈小桥的全部文章</a></aside>",
        "<footer class=entry-meta><a rel=author href=/u/1>陈小桥</a></footer>",
    ],
)
def test_the_card_of_the_author_below(below: str) -> None:
    assert article_with("2018年3月5日", below).authors == ("陈小桥",)


OTHER = {"@type": "NewsArticle", "headline": "老街的骑楼修好了", "datePublished": "2019-01-02",
         "url": "https://www.example.com/news/10002.html", "author": {"name": "林木"}}  # fmt: skip
OWN = {"@type": "NewsArticle", "datePublished": "2018-03-05", "author": {"name": "陈小桥"}}


@pytest.mark.parametrize(
    "mark",
    [
        {"headline": TITLE},
        {"url": URL},
        {"mainEntityOfPage": {"@id": f"{URL}?from=1"}},
        {"headline": TITLE, "url": "https://m.example.com/amp/1"},
    ],
)
def test_the_declared_article_is_that_of_the_page(mark: dict[str, object]) -> None:
    declared = json.dumps([OTHER, {**OWN, **mark}])
    head = f"<script type=application/ld+json>{declared}</script>"
    found = article_with("", head=head)
    assert found.authors == ("陈小桥",)
    assert found.published_at == datetime(2018, 3, 4, 16, tzinfo=UTC)


def test_a_declared_article_of_another_page_says_nothing() -> None:
    head = f"<script type=application/ld+json>{json.dumps(OTHER)}</script>"
    found = article_with("2018年3月5日", head=head)
    assert str(found.published_at)[:10] == "2018-03-05"
    assert found.authors == ()
