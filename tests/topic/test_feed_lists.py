"""Lists of feeds as people have them: read, refused by the line, written and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiaocrawl.errors import TopicError
from qiaocrawl.topic.feeds import Feed, feeds_in, read_feeds, write_feeds

OPML = """\ufeff<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE opml [<!ENTITY file SYSTEM "file:///etc/hostname">]>
<opml version="1.0"><head><title>订阅</title></head><body>
<outline text="报纸" title="报纸">
  <outline text="&file;侨报" type="rss" xmlUrl="https://paper.test/rss?a=1&amp;b=2" htmlUrl="https://paper.test/"/>
  <outline title="公众号" type="rss" xmlUrl="feed://maker.test/wx/1"/>
</outline>
<outline text="又一次" XMLURL="https://paper.test/rss?a=1&amp;b=2"/>
</body></opml>"""  # noqa: E501
FEEDS = (Feed("https://paper.test/rss?a=1&b=2", "侨报"), Feed("http://maker.test/wx/1", "公众号"))


def test_opml_gives_each_feed_once_whatever_its_folder_and_loads_nothing() -> None:
    # What stands for a file says its own name.
    first = Feed(FEEDS[0].url, "&file;侨报")
    assert feeds_in(OPML.encode(), "list.opml") == (first, FEEDS[1])


@pytest.mark.parametrize(
    ("declared", "charset"),
    [("utf-8", "gb18030"), ("gb2312", "utf-8"), ("gb2312", "gb18030"), ("utf-8", "utf-16")],
)
def test_opml_is_read_as_programs_write_it(declared: str, charset: str) -> None:
    """In another charset than it says, with an "&" as it is and entities of HTML."""
    feed = "<outline text='海外侨胞参访团&nbsp;侨讯' xmlUrl='http://a.test/rss?a=1&b=2'/>"
    written = f"\n<?xml version='1.0' encoding='{declared}'?>\n<opml><body>{feed}</body></opml>"
    assert feeds_in(written.encode(charset), "list.opml") == (
        Feed("http://a.test/rss?a=1&b=2", "海外侨胞参访团 侨讯"),
    )


def test_a_bad_row_of_opml_is_said_by_its_own_line() -> None:
    head = "\n<?xml version='1.0'?>\n<!DOCTYPE opml [\n]><!-- a\nb -->\n"
    with pytest.raises(TopicError) as refused:
        feeds_in(f"{head}<opml><body>\n<outline xmlUrl='javascript:x'/>".encode(), "list.opml")
    assert "list.opml:7" in str(refused.value)


@pytest.mark.parametrize("ending", [".opml", ".csv", ".xlsx"])
def test_what_is_written_is_read_again(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"feeds{ending}"
    write_feeds(FEEDS, path, title="侨情")
    assert read_feeds(path) == FEEDS


def test_a_table_needs_only_a_column_of_addresses() -> None:
    table = "订阅地址\nhttps://paper.test/rss\n".encode("gb18030")
    assert feeds_in(table, "订阅.csv") == (Feed("https://paper.test/rss"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("订阅地址,名称\nftp://paper.test/rss,侨报\n", "feeds.csv:2"),
        ("名称\n侨报\n", "url"),
        ("订阅地址\n", "names no feed"),
        ("<html><body>侨</body></html>", "no OPML document"),
        ("<opml><body><outline text='空'/></body></opml>", "names no feed"),
        ("<opml><body>\n<outline xmlUrl='javascript:x'/></body></opml>", "feeds.csv:2"),
        ("<", "no OPML document"),
    ],
)
def test_what_is_no_list_says_where_and_why(text: str, said: str) -> None:
    with pytest.raises(TopicError) as refused:
        feeds_in(text.encode(), "feeds.csv")
    assert said in str(refused.value)


def test_an_ending_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TopicError):
        write_feeds(FEEDS, tmp_path / "feeds.docx", title="侨情")
