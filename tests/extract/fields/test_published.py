"""The publish date: which witness wins, and what is no publish date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.fields.metadata import metadata_of
from qiaocrawl.page.page import parse_page
from qiaocrawl.text.dates import EARLIEST_YEAR, DateReader, latest_plausible

NOW = datetime(2024, 6, 1, 4, tzinfo=UTC)
TITLE = "侨乡新春联谊会举行"
BODY = f"<p>{'侨乡的正文有许多话要说。' * 12}</p>"


def date_in(html: str, url: str = "https://www.example.com/a.html") -> str:
    page = parse_page(f"<title>{TITLE}</title>{html}".encode(), "text/html; charset=utf-8", url)
    published = metadata_of(page, None, NOW).published_at
    return published.strftime("%Y-%m-%d %H:%M") if published is not None else ""


def shown(line: str) -> str:
    return f"<h1>{TITLE}</h1><div>{line}</div>{BODY}"


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("2012年1月11日 16:48", "2012-01-11 16:48"),
        ("二〇一二年一月十一日", "2012-01-11 00:00"),
        ("中華民國101年1月11日", "2012-01-11 00:00"),
        ("2012-01-11 下午 4:48", "2012-01-11 16:48"),
        ("12年1月11日", "2012-01-11 00:00"),
        ("| 侨联动态 | 12-01-11 |", "2012-01-11 00:00"),
        ("3小时前", "2024-06-01 09:00"),
        ("昨天 20:15", "2024-05-31 20:15"),
        ("5月30日 08:00", "2024-05-30 08:00"),
        # themes translated from English
        ("十月 5th, 2010", "2010-10-05 00:00"),
        ("星期一, 04 三月 2019 08:30", "2019-03-04 08:30"),
        ("10 月 5, 2010 下午 3:20", "2010-10-05 15:20"),
        # a calendar leaf
        ("<b>05</b><br><i>2018-01</i>", "2018-01-05 00:00"),
        ("<b>05</b><span>2018-01</span>", "2018-01-05 00:00"),
        # beside the number of a floor
        ("<b>#1</b><span>2018-01-05 10:20</span>", "2018-01-05 10:20"),
        ("<b>5</b><br><i>一月, 2018</i>", "2018-01-05 00:00"),
        ("<b>十月</b><br><b>5</b><br><i>2018</i>", "2018-10-05 00:00"),
        ("<b>Oct</b><br><b>5</b><br><i>2018</i>", "2018-10-05 00:00"),
        ("<b>10-05</b><br><i>2018</i>", "2018-10-05 00:00"),
        ("<b>10月5日</b><br><i>2018年</i>", "2018-10-05 00:00"),
        # a day and a month, but numbers of something else
        ("<b>5</b><br><i>2018</i>", ""),
        ("<b>5</b><br><b>10</b><br><i>2018</i>", ""),
        (
            '<abbr class="published" title="2018-01-05T10:00:00+08:00">星期五</abbr>',
            "2018-01-05 10:00",
        ),
        ("October the 5th, 2018", "2018-10-05 00:00"),
        ("Posted: 05 Oct 18 10:20", "2018-10-05 10:20"),
        ("5-Oct-18", "2018-10-05 00:00"),
        # several dates
        ("活动时间：2018-03-05<br>发布日期：2018-01-02", "2018-01-02 00:00"),
        ("打印日期：2024-01-02<br>2018-01-05", "2018-01-05 00:00"),
        # published before updated, whatever comes first
        ("更新：2024-03-09 10:00 发布：2024-03-05 08:30", "2024-03-05 08:30"),
        ("更新时间：2024-03-09 10:00", "2024-03-09 10:00"),
        # what is no publish date
        ("今天是2024年5月30日", ""),
        ("注册时间：2010-01-01", ""),
        ("© 2023-01-01 南桥侨网", ""),
    ],
)
def test_lines_near_the_title(line: str, date: str) -> None:
    assert date_in(shown(line)) == date


@pytest.mark.parametrize(
    "html",
    [
        '<div itemprop="datePublished" content="2024-03-05T08:00:00Z">Tuesday</div>',
        '<span itemprop="datePublished">5 March 2024</span>',
        '<span property="schema:datePublished" content="2024-03-05">Tuesday</span>',
    ],
)
def test_microdata_and_rdfa(html: str) -> None:
    update = '<div itemprop="dateModified" content="2024-03-09">Saturday</div>'
    later = '<div itemprop="datePublished" content="2024-04-01">teaser</div>'
    assert date_in(shown(update) + html + later)[:10] == "2024-03-05"


ENGLISH_BODY = f"<p>{'The town has seen a new bridge for the river and its people. ' * 9}</p>"


@pytest.mark.parametrize(
    ("head", "line", "date"),
    [
        ("", "03/05/2024", "2024-03-05"),
        # the page says whose English it is
        ('<html lang="en-GB">', "03/05/2024", "2024-05-03"),
        ('<html lang="en"><meta property="og:locale" content="en_IN">', "03/05/2024", "2024-05-03"),
        # another witness says which number is the day
        ('<meta name="date" content="2024-05-03">', "03/05/2024", "2024-05-03"),
        ('<link rel="canonical" href="/2024/05/03/bridge">', "Ann Lee", "2024-05-03"),
    ],
)
def test_english_pages(head: str, line: str, date: str) -> None:
    html = f"{head}<title>A new bridge</title><h1>A new bridge</h1><div>{line}</div>{ENGLISH_BODY}"
    page = parse_page(html.encode(), "text/html; charset=utf-8", "https://www.example.com/1")
    published = metadata_of(page, None, NOW).published_at
    assert published is not None
    assert published.date().isoformat() == date


def test_a_title_that_is_a_date_is_the_day_of_its_posts() -> None:
    html = f"<title>2007年4月8日 - 老林的博客</title><h2>2007年4月8日</h2>{BODY}"
    page = parse_page(html.encode(), "text/html; charset=utf-8", "https://www.example.com/d")
    published = metadata_of(page, None, NOW).published_at
    assert published is not None
    assert published.strftime("%Y-%m-%d") == "2007-04-08"


def test_agreeing_witnesses_outvote_one() -> None:
    html = shown("2024-03-05") + '<meta name="createdate" content="2024-03-01">'
    assert date_in(html, "https://www.example.com/2024/03/05/a.html")[:10] == "2024-03-05"


def test_the_header_of_the_page_and_comments_do_not_count() -> None:
    html = (
        "<div>2024年5月30日 星期四</div>" + "<p>导航</p>" * 20 + shown("2024-03-05")
        + "<div>网友 2024-04-01 10:00</div><div>网友 2024-04-02 10:00</div>"
    )  # fmt: skip
    assert date_in(html)[:10] == "2024-03-05"


@pytest.mark.parametrize(
    "head",
    [
        '<script>var a = {"publishTime":"2024-03-05 08:30:00"}</script>',
        "<script>window.x = {ptime: 1, pubDate: '2024-03-05T08:30:00+08:00'}</script>",
        '<script>{"ctime":1709598600}</script>',
        '<span itemprop="datePublished" content="2024-03-05T08:30:00+08:00"></span>',
        '<script type="application/ld+json">{"@graph": [{"@type": "WebSite"}, '
        '{"@type": "NewsArticle", "datePublished": "2024-03-05T08:30:00+08:00"}]}</script>',
        '<script type="application/ld+json">{"datePublished": "2024-03-05 08:30", }</script>',
    ],
)
def test_scripts_and_attributes(head: str) -> None:
    assert date_in(head + shown("")) == "2024-03-05 08:30"


def test_the_year_may_stand_in_the_url() -> None:
    url = "https://www.example.com/2019/a.html"
    assert date_in(shown("3月5日 08:30"), url) == "2019-03-05 08:30"


def test_the_year_may_stand_in_the_copyright_line() -> None:
    assert date_in(shown("3月5日 08:30") + "<p>版权所有 2010-2018</p>") == "2018-03-05 08:30"


def test_the_day_before_the_month_by_country() -> None:
    html = "<html lang=en><h1>The hall of the town opens to all</h1><p>Posted 03/05/2024</p>"
    for host, date in (("www.example.co.uk", "2024-05-03"), ("www.example.com", "2024-03-05")):
        page = parse_page(html.encode(), "", f"https://{host}/a")
        published = metadata_of(page, None, NOW).published_at
        assert published is not None
        assert str(published.date()) == date


def test_the_last_change_is_kept_apart() -> None:
    html = (
        '<meta property="article:published_time" content="2024-03-05T08:30:00+08:00">'
        '<meta property="article:modified_time" content="2024-03-09T10:00:00+08:00">'
    )
    page = parse_page((html + shown("")).encode(), "text/html; charset=utf-8")
    fields = metadata_of(page, None, NOW).fields
    assert str(fields["modified_at"].value.date()) == "2024-03-09"
    assert fields["published_at"].origin == "meta article:published_time"
    assert fields["published_at"].confidence >= 0.9


def test_the_day_shown_counts_not_that_of_the_server() -> None:
    html = (
        '<meta property="article:published_time" content="2020-01-16T16:30:00Z">'
        + shown('<time datetime="2020-01-16T16:30:00Z">2020-01-17</time>')
    )  # fmt: skip
    assert date_in(html)[:10] == "2020-01-17"


def test_a_moment_is_given_the_day_that_its_element_shows() -> None:
    moment = "2020-01-16T16:30:00.000Z"
    html = f'<meta property="article:published_time" content="{moment}">' + shown(
        f'<time datetime="{moment}">2020年1月17日</time> <span>更新於 2020年1月17日</span>'
    )
    assert date_in(html)[:16] == "2020-01-17 00:30"


def test_themes_that_mark_both_dates_as_published_tell_them_apart() -> None:
    html = shown(
        '<time itemprop="dateCreated datePublished" title="发表于 2025-02-22" '
        'datetime="2025-02-22"></time><time itemprop="dateCreated datePublished" class="updated" '
        'datetime="2025-03-15"></time>'
    )
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    fields = metadata_of(page, None, datetime(2025, 6, 1, tzinfo=UTC)).fields
    assert str(fields["published_at"].value.date()) == "2025-02-22"
    assert str(fields["modified_at"].value.date()) == "2025-03-15"


def test_a_date_in_the_heading_counts_whatever_the_title_says() -> None:
    html = f"<h2>{TITLE}自动登录 <span>十月 5th, 2010</span></h2>{BODY}"
    page = parse_page(f"<title>{TITLE}自动登录</title>{html}".encode(), "text/html; charset=utf-8")
    published = metadata_of(page, None, NOW).published_at
    assert published is not None
    assert str(published.date()) == "2010-10-05"


@pytest.mark.parametrize(
    "line",
    [
        "<table><tr><td>成文日期：</td><td>2018年01月05日</td></tr>"
        "<tr><td>发布日期：</td><td>2018年03月05日</td></tr></table>",
        "<table><tr><th>生成日期</th><td>2018-01-05</td><th>公开日期</th><td>2018-03-05</td></tr></table>",
        "<dl><dt>印发日期</dt><dd>2018-01-05</dd><dt>发布时间</dt><dd>2018-03-05</dd></dl>",
        "<ul><li>施行日期：</li><li>2018-04-01</li><li>公布日期：</li><li>2018-03-05</li></ul>",
        "<p>发文日期：2018-01-05 发布日期：2018-03-05</p>",
        "<div><span>【发布时间：2018-03-05】</span><span>【<a href=#>打印</a>】</span></div>",
        "<p>|18-03-05| 【大 中 小】</p>",
        "<p>发布时间：18/03/05</p>",
    ],
)
def test_the_day_of_publishing_by_its_label(line: str) -> None:
    assert date_in(shown(line), "https://www.example.com/t20180401_1.html")[:10] == "2018-03-05"


def test_a_document_shows_its_own_day_where_it_shows_no_other() -> None:
    assert date_in(shown("<table><tr><td>成文日期</td><td>2018-03-05</td></tr></table>"))


@pytest.mark.parametrize(
    "witness",
    [
        '<meta itemprop="dateUpdate" content="2018-03-05 22:46">',
        '<meta property="og:updated_time" content="2018-03-05T09:00:00+08:00">',
        '<script type="application/ld+json">'
        '{"@type": "WebPage", "dateModified": "2018-03-05T09:00:00+08:00"}</script>',
    ],
)
def test_another_witness_tells_the_year(witness: str) -> None:
    assert date_in(witness + shown("03-05 08:30")) == "2018-03-05 08:30"


@pytest.mark.parametrize("name", ["date", "created", "dc.date"])
def test_the_day_of_building_a_page_yields_to_the_day_shown(name: str) -> None:
    meta = f'<meta name="{name}" content="2024-05-31">'
    assert date_in(meta + shown("2018-03-05 08:30"))[:10] == "2018-03-05"
    assert date_in(meta + shown("陈小桥"))[:10] == "2024-05-31"


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("<b>2018</b><i><em>03</em>/<em>05</em></i><u>08:30:00</u>", "2018-03-05 08:30"),
        ("<b>03-05</b><i>2018</i> <u>08:30</u>", "2018-03-05 08:30"),
        ("<b>2018</b><b>03</b><b>05</b>", "2018-03-05 00:00"),
        ("<b>05</b><i>三月</i><i>2018</i>", "2018-03-05 00:00"),
        ("<b>2018</b>年<b>3</b>月<b>5</b>日", "2018-03-05 00:00"),
    ],
)
def test_a_date_in_pieces_of_a_line(line: str, date: str) -> None:
    assert date_in(shown(line)) == date


@pytest.mark.parametrize(
    ("html", "date"),
    [
        ('<i data-time="1520209800000"></i>', "2018-03-05"),
        ('<i class=when data-publish-date="2018-03-05 08:30"></i>', "2018-03-05"),
        ("<i data-pubtime=1520209800></i>", "2018-03-05"),
        ('<i data-expire-time="1520209800000"></i>', ""),
    ],
)
def test_a_date_for_a_script_to_write(html: str, date: str) -> None:
    assert date_in(shown(html))[:10] == date


def test_a_date_for_a_script_below_the_text_is_of_something_else() -> None:
    assert date_in(shown("") + '<i data-time="1520209800000"></i>') == ""


@pytest.mark.parametrize(
    ("script", "date"),
    [
        ('{"consent": {"expiresAt": "2028-01-31", "createdAt": "2018-03-05"}}', ""),
        ('{"title": "a", "shop": {"id": 1, "created_at": "2018-03-05"}}', ""),
        ('{"headline": "a", "author": {"id": 1}, "createdAt": "2018-03-05"}', "2018-03-05"),
        ("var createTime = '2018-03-05 08:30';", "2018-03-05"),
    ],
)
def test_what_a_script_has_created(script: str, date: str) -> None:
    assert date_in(f"<script>var x = {script}</script>" + shown(""))[:10] == date


@given(st.text(alphabet="0123456789年月日十一二三 -/:.,stndrhJanMayUTC+Z前昨天"))
@settings(max_examples=300, deadline=None)
def test_every_date_lies_between_1990_and_tomorrow(text: str) -> None:
    reader = DateReader(latest=latest_plausible(NOW), now=NOW)
    for written in (*reader.sure(text), *reader.unsure(text)):
        assert written.moment.year >= EARLIEST_YEAR
        assert written.moment <= NOW + timedelta(days=2)
        assert written.moment.tzinfo is not None


SENTENCE = (
    "<p>现将渡口修缮的工作方案印发给你们，请结合各村实际认真抓好落实，"
    "有什么问题及时向镇里反映。</p>"
)


@pytest.mark.parametrize(
    "inside",
    [
        f"{SENTENCE}<p>渡口镇人民政府</p><p>2018年3月15日</p><p>渡口修缮工作方案</p>{SENTENCE * 3}",
        f"{SENTENCE}<p>镇长林木</p><p>二○一八年三月十五日</p>{SENTENCE * 3}",
        f"{SENTENCE}<p>二、面试集中时间：2018年5月21日上午8:00进入考点。</p>{SENTENCE * 3}",
    ],
)
def test_a_day_in_a_notice_is_less_than_the_one_in_its_address(inside: str) -> None:
    page = f"<meta charset=utf-8><title>{TITLE}</title><h1>{TITLE}</h1><div>{inside}</div>"
    url = "https://www.example.com/tz/201804/t20180413_21600.html"
    found = extract_article(page.encode(), url)
    assert str(found.published_at)[:10] == "2018-04-13"
