"""What a post of WeChat says in its scripts."""

from __future__ import annotations

import pytest

from qiaocrawl.extract import extract_article
from qiaocrawl.extract.extraction import Extraction

TITLE = "古榕下的夏天"
LINES = (
    "七月的村口，古榕树下又热闹起来，放暑假的孩子们跟着老人学唱过番歌。",
    "带队的老师说，这些歌是从曾祖辈传下来的，每一首都有一段离乡的故事。",
)
BODY = "".join(f"<p>{line}</p>" for line in (*LINES, *(line.replace("歌", "曲") for line in LINES)))
URL = "https://mp.weixin.qq.com/s/abc"


def post(
    script: str, body: str = BODY, head: str = "", title: str = TITLE, url: str = URL
) -> Extraction:
    html = (
        f'<title></title><meta property="og:title" content="{title}">'
        '<meta property="og:url" content="http://mp.weixin.qq.com/s?__biz=B">'
        f'{head}<body><h1 id="activity-name"></h1><em id="publish_time">昨天</em>'
        f'<div id="js_content" style="visibility: hidden">{body}</div><script>{script}</script>'
    )
    return extract_article(html.encode(), url, content_type="text/html; charset=utf-8")


@pytest.mark.parametrize(
    "script",
    [
        'var ct = "1720402200"; var nickname = htmlDecode("榕树头");',
        'var svr_time = "1799999999"; window.ct=\'1720402200\', hit_nickname = "别家"; '
        "d.nick_name = xml ? value('nick_name.DATA') : '榕树头'; d.x = 'y'",
        "d.ct = xml ? value('ori_create_time.DATA') : '1720402200'; nick_name='榕树头'",
        "c = { nick_name: JsDecode('榕树头'), ori_create_time: '1720402200' * 1 }",
        "c = { create_time: JsDecode('2024-07-08 09:30'), nick_name: JsDecode('榕树头') }",
        'var t="1720488600",n="1720402200",s="2024-07-08"; var nickname = "榕树头";',
    ],
)
@pytest.mark.parametrize("url", [URL, "https://www.example.com/saved.html"])
def test_when_and_by_whom_it_was_sent(script: str, url: str) -> None:
    got = post(script, url=url)
    assert got.published_at is not None
    assert got.published_at.isoformat() == "2024-07-08T09:30:00+08:00"
    assert got.source == "榕树头"


def test_an_account_is_decoded() -> None:
    assert post(r"c = { nick_name: JsDecode('山\x26amp;海') }").source == "山&海"


@pytest.mark.parametrize(
    "script",
    [
        "c = { item_show_type: '10', content_noencode: JsDecode('%s') }",
        "c = { desc: JsDecode(''), text_page_info: { content: JsDecode('%s') } }",
        'c = { text_page_info: { "content_noencode": JsDecode("%s"), is_title: \'1\' } }',
        "c = { item_show_type: '8', desc: JsDecode('%s'), pictures: [{ url: 'a', }] }",
    ],
)
def test_a_post_of_text_or_pictures_stands_in_a_script(script: str) -> None:
    assert post(script % r"\x0a\x0a".join(LINES), body="").text == "\n".join(LINES)


def test_a_post_of_pictures_may_have_its_text_in_the_summary_alone() -> None:
    written = r"\x0a".join(LINES)
    got = post("c = { item_show_type: '8' }", "", f'<meta name=description content="{written}">')
    assert got.text == "\n".join(LINES)


@pytest.mark.parametrize("line_end", [r"\n\n", r"\x0a"])
def test_a_text_that_is_its_own_title_gives_its_first_line(line_end: str) -> None:
    whole = line_end.join(LINES)
    script = f"c = {{ user_name: JsDecode('gh_0'), content: JsDecode('{whole}'), of: '1' * 1 }}"
    got = post(script, body="", title=whole)
    assert got.title == LINES[0].rstrip("。")
    assert got.text == "\n".join(LINES)


def test_a_title_may_stand_in_a_script_alone() -> None:
    script = f"c = {{ msg_title: JsDecode('{TITLE}'), nick_name: JsDecode('榕树头') }}"
    assert post(script, title="").title == TITLE


def test_other_pages_are_not_asked() -> None:
    html = (
        f'<h1>{TITLE}</h1><div>{BODY}</div><script>var ct = "1720402200", nickname = "榕"</script>'
    )
    got = extract_article(
        html.encode(), "https://www.example.com/1.html", content_type="a;charset=utf-8"
    )
    assert got.published_at is None
    assert got.source == ""
