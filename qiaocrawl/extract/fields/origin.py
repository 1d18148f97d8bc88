"""Where an article comes from (来源), its channel, and names of sites in titles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext, Lines
from qiaocrawl.extract.fields.bylines import dateline_of
from qiaocrawl.extract.fields.declared import Declared, first_text, text_declared
from qiaocrawl.extract.fields.labels import BORDER, SOURCE, Labels
from qiaocrawl.extract.wechat import account_of, is_post
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

_NAME = r"[^\s|｜,，。；;:：()（）\[\]【】<>《》/]{2,24}(?:(?<=[a-z]) [A-Za-z][\w.]{0,20}){0,3}"
_SOURCE = re.compile(rf"[《【\[（(“]?(?!http|[请請須须需未禁][\w]{{0,2}}[注標标经經止])({_NAME})")
# Pictures, data and food have sources too.
_OTHER_SOURCE = re.compile(
    r"(?:图|圖|图片|圖片|照片|视频|視頻|音频|数据|數據|资料|資料|素材|封面|收入|资金|资源|能量|食物|营养|灵感|"
    r"题材|案例|例句|引文|参考|人才|客户|流量|污染|电力|税收|信源)$"
)
_OPENS = "（(【[《 　-—–/|｜·"
_SECTION = re.compile(
    r"(?:(?:国内|国际|社会|时政|财经|体育|娱乐|科技|军事|教育|文化|健康|汽车|房产|旅游|历史|本地|热点|图片|"
    r"视频|公司|行业|最新|综合|通知|公告|政策)(?:新闻|要闻|动态|资讯|公告|频道|栏目)?|新闻|要闻|资讯|动态|"
    r"公告|通知公告|新闻动态|[\u4e00-\u9fff]{2,4}(?:频道|頻道|栏目|欄目|专题|專題|专栏|專欄))"
)
"""A section of a site, which is no medium."""
_FILLER = re.compile(
    r"(?:本站|本网|本網|本报|本報|网络|網絡|网路|互联网|未知|佚名|不详|原创|原創|转载|整理|综合|"
    r"网上|其他|其它|无|暂无|admin|internet|unknown)(?:综合|原创|转载|整理|讯|收集|报道|摘录)?",
    re.IGNORECASE,
)
_DEVICE = re.compile(
    r"(?:手机|移动|安卓|苹果|电脑|网页|平板|iphone|ipad|android)?\s?(?:客户端|手机版?|移动端|手机端|电脑版|网页版)|"
    r"(?:iphone|ipad|android).*",
    re.IGNORECASE,
)
"""What a post was written with (来自：手机客户端), which is no medium either."""
_REPORTED = re.compile(
    r"[据據]([^，,。\s]{2,20}?)(?:客户端|客戶端)?(?:报道|報道|报导|報導|消息|讯|訊)"
)
"""A medium in the words a text cites it by (据新华社报道)."""
_LABEL_WORD = re.compile(
    r"(?:作者|编辑|編輯|记者|責任|责任|(?<=\s)[发發][布佈]|"
    r"[发發][布佈](?=\s?(?:[时時][间間]|日期|者|人|[于於]|[:：\d]))|时间|時間|点击|點擊|浏览|瀏覽|阅读|字号|字體|"
    r"打印|分享|来源|來源|日期|评论|我要|字号|关注|查看|收藏|\d{4}[-年/]).*"
)
_BREADCRUMB = re.compile(
    r"[位首Hh](?:(?<=位)置是?|(?<=首)[页頁]|(?<=[Hh])[Oo][Mm][Ee])\s*[：:>＞»›→/｜]"
)
_CRUMB_END = re.compile(r"[>＞»›→｜\\\\]+|\s/\s|&gt;")
_NO_CHANNEL = frozenset(
    (
        "正文",
        "首页",
        "首頁",
        "主页",
        "详情",
        "详细",
        "详细内容",
        "文章详情",
        "内容",
        "查看内容",
        "新闻详情",
        "返回",
        "home",
        "浏览文章",
        "文章正文",
        "当前位置",
        "您的位置",
        "homepage",
    )
)
_MAX_CHANNEL_CHARS = 20
_MAX_LINKS = 30


def source_of(page: Page, context: BodyContext, declared: Declared) -> dict[str, Field]:
    """``source`` and ``source_url``; a filler (本站, 网络) has a confidence below 0.3."""
    for lines, confidence, origin in (
        (context.head, 0.9, "text 来源"),
        (context.above, 0.8, "text 来源 above the title"),
        (context.tail, 0.7, "text 来源 at the end"),
    ):
        name = _labelled_source(page, lines, context)
        if not name:
            continue
        if _FILLER.fullmatch(name):
            return {"source": Field(name, origin, 0.15)}
        fields = {"source": Field(name, origin, confidence)}
        url = _link_called(page, context, lines.at, name)
        if url:
            fields["source_url"] = Field(url, f"link of {origin}", confidence)
        return fields
    beside = _medium(dateline_of(context, declared).source)
    fields = _declared_source(page, declared)
    if not beside or "source" in fields:
        return fields
    if not _SECTION.fullmatch(beside) and beside not in _crumb_parts(context):
        confidence = 0.15 if _FILLER.fullmatch(beside) else 0.6
        fields["source"] = Field(beside, "text beside the date", confidence)
    return fields


def _labelled_source(page: Page, lines: Lines, context: BodyContext) -> str:
    """The name behind the first label 来源 that is the article's own; "" when there is none."""
    for pair in page.once(Labels).pairs(lines, SOURCE):
        at, before = lines.at[pair.rank], pair.before.rstrip(BORDER)
        is_running = "。" in lines.texts[pair.rank] and context.first <= at <= context.last
        if _OTHER_SOURCE.search(before) or (is_running and before[-1:] not in _OPENS):
            continue
        # What stands in an element of its own behind the name is a button.
        match = _SOURCE.match(pair.parts[0]) or _SOURCE.match(pair.whole)
        name = _trim_name(match[1]) if match is not None else ""
        if name and not _DEVICE.fullmatch(name):
            return name
    return ""


def _crumb_parts(context: BodyContext) -> list[str]:
    """The parts of the lines above the article that may be a breadcrumb."""
    crumbs = (text for text in context.crumbs.texts if _CRUMB_END.search(text))
    return [part.strip() for text in crumbs for part in _CRUMB_END.split(text)]


def _declared_source(page: Page, declared: Declared) -> dict[str, Field]:
    for key in ("source", "mediaid", "article:source", "dc.source", "contentsource"):
        name = collapse(page.meta.get(key, ""))[:60]
        if name and not name.startswith("http") and not _SECTION.fullmatch(name):
            confidence = 0.15 if _FILLER.fullmatch(name) else 0.75
            return {"source": Field(name, f"meta {key}", confidence)}
    name = _account(page)
    if name:
        return {"source": Field(name, "name of the account", 0.7)}
    name = text_declared(declared.articles, "sourceOrganization", "provider")
    if name:
        return {"source": Field(name[:60], "json-ld sourceOrganization", 0.6)}
    return {}


def _account(page: Page) -> str:
    """The account a page of WeChat was published by; "" on other pages."""
    node = page.tree.css_first("#js_name") if 'id="js_name"' in page.source else None
    name = collapse(node.text()[:60]) if node is not None else ""
    return name or (account_of(page) if is_post(page) else "")


def _trim_name(name: str) -> str:
    return _medium(collapse(_LABEL_WORD.sub("", name)).strip("-—_·.．、\"'“”"))


def _medium(name: str) -> str:
    cited = _REPORTED.fullmatch(name)
    return cited[1] if cited else name


def _link_called(page: Page, context: BodyContext, indexes: Sequence[int], name: str) -> str:
    """The address behind *name* in the line that names the source, "" if it is no link."""
    elements = page.blocks.elements
    for at in indexes:
        block = context.blocks[at]
        if not block.links or name not in block.text:
            continue
        for node in elements[block.element].node.css("a[href]")[:_MAX_LINKS]:
            if name in node.text():
                return page.joiner.canonical(node.attributes.get("href") or "") or ""
    return ""


def channel_of(page: Page, context: BodyContext, declared: Declared, title: str) -> Field | None:
    """The section the page declares, or the last part of its breadcrumb."""
    section = page.meta.get("article:section", "")
    if section:
        return Field(collapse(section)[:60], "meta article:section", 0.9)
    section = text_declared(declared.articles, "articleSection")
    if section:
        return Field(collapse(section)[:60], "json-ld articleSection", 0.9)
    name = _last_crumb(context.crumbs.whole, title)
    if name:
        return Field(name, "text breadcrumb", 0.8)
    name = _crumb_element(page, context, title)
    if name:
        return Field(name, "breadcrumb element", 0.75)
    name = _declared_crumb(page, title)
    return Field(name, "json-ld BreadcrumbList", 0.8) if name else None


def _crumb_element(page: Page, context: BodyContext, title: str) -> str:
    end = max(context.crumbs.at, default=-1)
    for index in page.once(BlockTexts).elements_named("crumb"):
        element = page.blocks.elements[index]
        if element.first > end:
            break
        if 0 < element.end - element.first <= 10:
            text = " > ".join(b.text for b in context.blocks[element.first : element.end])
            name = _last_crumb(text, title)
            if name:
                return name
    return ""


def _last_crumb(text: str, title: str) -> str:
    if "位置" not in text and "首" not in text and "ome" not in text and "OME" not in text:
        return ""
    start = _BREADCRUMB.search(text)
    if start is None:
        return ""
    tail = text[start.end() - 1 : start.end() + 200].replace("\n", " ")
    if title:
        tail = tail.partition(title)[0]
    last = ""
    for part in _CRUMB_END.split(tail):
        part = collapse(part).strip("：:/ ")
        if len(part) > _MAX_CHANNEL_CHARS:
            break  # the breadcrumb is over
        if part and part.lower() not in _NO_CHANNEL and not part.endswith(("首页", "首頁")):
            last = part
    return last


def _declared_crumb(page: Page, title: str) -> str:
    for item in page.json_ld:
        entries = item.get("itemListElement")
        if item.get("@type") != "BreadcrumbList" or not isinstance(entries, list):
            continue
        names = [
            first_text(entry.get("name")) or first_text(entry.get("item"))
            for entry in entries[:20]
            if isinstance(entry, dict)
        ]
        fitting = [n for n in names if n and n.lower() not in _NO_CHANNEL and n not in title]
        short = [name for name in fitting if len(name) <= 2 * _MAX_CHANNEL_CHARS]
        if short:
            return collapse(short[-1])
    return ""


# --- The names of sites and channels in titles: where they stand, and a title without them --------

_ARROWS = "〉》»›▸►▶>＞→❯⟩⟫"
SEPARATOR = re.compile(
    rf"\s*(?:[_＿|｜丨∣‖¦«‹{_ARROWS}]+|--+|——?|–|－)\s*|\s+[-·•:：/／~]\s+|-(?=[^\d\s][^-]*$)"
)
_MAY_SEPARATE = re.compile(f"[-_＿|｜丨∣‖¦«‹{_ARROWS}—–－·•:：/／~]")
_ARROW = re.compile(rf"\s*[{_ARROWS}]+\s*")
_QUOTES = re.compile("《[^》]*》")
_MAX_SECTION_CHARS = 8
_MAX_HEADINGS = 20
_SITE_WORDS = (
    "网", "網", "网站", "網站", "在线", "在線", "频道", "頻道", "门户", "博客", "论坛", "論壇",
    "资讯", "資訊", "新闻", "新聞", "日报", "日報", "晚报", "晚報", "时报", "時報", "晨报", "商报",
    "周刊", "通讯社", "通訊社", "电视台", "中心", "首页", "首頁", "主页", "部落格",
    "之家", "官网", "官網", "blog", "news",
)  # fmt: skip
_INSTITUTION_CHARS = 24
COLUMN_CHARS = 8
"""Longer names are no institution's, and no column's."""
_INSTITUTION = re.compile(
    "(?:协[会會]|協會|[学學商总總分基]会|[学學商總]會|(?:同乡|联谊|联合|促进|基金|研究|校友|宗亲|理事|委员)会|"
    "(?:同鄉|聯誼|聯合|促進|基金|研究|校友|宗親|理事|委員)會|[侨僑][联聯办辦网網]|政府|[办辦]公室|局|[厅廳]|"
    "大[学學]|[学學][院校]|[中小][学學]|[医醫]院|公司|集[团團]|研究[院所]|(?:博物|[图圖][书書]|文化|[纪紀]念|展[览覽])[馆館]|"
    "[会會][馆館]|法院|支部|工作室|(?:服务|服務|工作)站|平台|[门門][户戶])$"
)
"""What names of institutions end in **(ours)**; titles do too: it counts beside a heading only."""
_COLUMN = re.compile(
    "(?:[动動][态態]|要[闻聞]|快讯|简[讯报]|信息(?:公开)?|资料|[栏欄]目|[专專][题題栏欄]|正文|详[情细]|内容|文章|法规|政策|"
    "之窗|园地|天地|风采|概况|简介|[阅閱][读讀]|[头頭][条條]|排行|列表|导航|服务|指南|下载|党建|讲堂|通知公告|公告通知|"
    "公示公告|公告公示)$"
)
_UNNAMED = re.compile(
    r"(?:latest |all )?(?:news|home|blog|events?|articles?|posts?|details?|press releases?|"
    r"notices?|announcements?|index|welcome|document|untitled(?: (?:document|page))?)|"
    r"无标题(?:文档|页)?|新建网页\s?\d*|通知|公告|公示|通告|活动|活動|文件|视频|图片|推荐|推薦",
    re.IGNORECASE,
)
_MAX_SUFFIX_CHARS = 24
_MAX_SUFFIX_WORDS = 4
_LEAST_WORD_CHARS = 4
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]{2,40}\.){1,3}[A-Za-z]{2,8}")
_MAX_NAMES = 6
"""Names cut off one title: site, channel, region and the like."""


def is_called_as_sites(text: str) -> bool:
    """Whether *text* ends as the names of sites and channels do."""
    return text.lower().endswith(_SITE_WORDS)


def names_place(text: str) -> bool:
    """Whether *text* is called as sites, institutions and their columns are, by its last word."""
    if len(text) > _INSTITUTION_CHARS:
        return False
    if is_called_as_sites(text) or _UNNAMED.fullmatch(text) or _is_domain_name(text):
        return True
    if len(text) <= COLUMN_CHARS and _COLUMN.search(text):
        return True
    return _INSTITUTION.search(text) is not None


def title_pieces(title: str) -> list[str]:
    """*title* cut at everything that may stand before a name of the site or of a channel."""
    return SEPARATOR.split(title)


def without_site_name(title: str, page: Page, site: Declared) -> str:
    """*title* less trailing parts that are a site's or a channel's name.

    A part counts as such when it is a name of the *site*, or is short and stands elsewhere
    in the page by itself; a dash inside a title (``4-0``, ``GPT-2``) never cuts. A name of
    the site before the title is cut as well, with the channels behind it.
    """
    if not _MAY_SEPARATE.search(title):
        return title
    title = _end_of_trail(title, page, site)
    title = _without_leading_names(title, page, site)
    rest = _without_trailing_names(title, page, site)
    last = title[_cuts(title)[-1].end() :] if rest != title else ""
    if last and _is_called_site(rest, site) and not _is_called_site(last, site):
        return last  # the site stands first, and what follows is a line of the page
    return rest


def _without_trailing_names(title: str, page: Page, site: Declared) -> str:
    cuts = _cuts(title)
    lines = page.once(BlockTexts).lines
    for number in range(_MAX_NAMES):
        is_shown = number and title in lines
        if not cuts or not cuts[-1].start() or is_shown:
            return title
        cut = cuts[-1]
        suffix = title[cut.end() :].strip()
        rest = title[: cut.start()].rstrip()
        # In English nothing else stands behind an upright line.
        is_behind_line = "|" in cut[0] and _is_few_words(suffix) and len(suffix) < len(rest)
        if suffix and not is_behind_line and not _is_name(suffix, title, page, site):
            return title
        title = rest
        cuts = _cuts(title)
    return title


def _cuts(title: str) -> list[re.Match[str]]:
    """The separators of *title*; the marks of a book's name are none."""
    cuts = list(SEPARATOR.finditer(title))
    if "《" in title and cuts:
        names = [name.span() for name in _QUOTES.finditer(title)]
        cuts = [cut for cut in cuts if not any(a < cut.end() and cut.start() < b for a, b in names)]
    return cuts


def _end_of_trail(title: str, page: Page, site: Declared) -> str:
    """The last part of a *title* that is a trail from the site down: ``site 〉 section 〉 title``.

    A trail the other way round, with the site last, is left as it is.
    """
    if not _ARROW.search(title) or "《" in title:
        return title
    parts = [part for part in _ARROW.split(title.strip()) if part]
    if len(parts) < 2 or _is_called_site(parts[-1], site):
        return title
    leads_down = _is_called_site(parts[0], site) or (
        len(parts) > 2 and len(parts[-1]) > max(map(len, parts[:-1]))
    )
    if not leads_down:
        titles = {collapse(node.text()) for node in page.tree.css("h1,h2,h3")[:_MAX_HEADINGS]}
        titles |= {block.text for block in page.blocks.blocks if not block.linked}
        leads_down = parts[-1] in titles and parts[0] not in titles
    return parts[-1] if leads_down else title


def _is_called_site(text: str, site: Declared) -> bool:
    return site.is_site(text) or (len(text) <= _MAX_SUFFIX_CHARS and is_called_as_sites(text))


def _without_leading_names(title: str, page: Page, site: Declared) -> str:
    """*title* less a name of the site before it, and less the channels that follow that name."""
    cuts = _cuts(title)
    if not cuts or not cuts[0].start():
        return title
    first = title[: cuts[0].start()]
    lines = page.once(BlockTexts).lines
    if not site.is_site(first):
        last = title[cuts[-1].end() :]
        # Three parts and more are a trail; of two, the first may begin a sentence.
        is_name = _is_called_site(first, site) and (len(cuts) > 1 or first in lines)
        if not is_name or _is_called_site(last, site) or len(last) <= len(first):
            return title
    title = title[cuts[0].end() :].lstrip()
    for _ in range(_MAX_NAMES):
        cuts = _cuts(title)
        section = title[: cuts[0].start()] if cuts else ""
        if not section or len(section) > _MAX_SECTION_CHARS or section not in lines:
            break
        title = title[cuts[0].end() :].lstrip()
    return title


def _is_name(suffix: str, title: str, page: Page, site: Declared) -> bool:
    if site.is_site(suffix) or _is_domain_name(suffix) or _shares_word(suffix, site):
        return True
    if len(suffix) > _MAX_SUFFIX_CHARS:
        return False
    is_name = suffix in page.once(BlockTexts).lines or is_called_as_sites(suffix)
    return is_name and _stands_elsewhere(suffix, title, page.source)


def _is_domain_name(text: str) -> bool:
    return _DOMAIN.fullmatch(text) is not None


def _shares_word(suffix: str, site: Declared) -> bool:
    """Whether a word of *suffix*, in a few words of Latin letters, is part of the host's name:
    ``Mail Online`` on dailymail.co.uk, ``Los Angeles Times`` on latimes.com."""
    words = suffix.split()
    if not _is_few_words(suffix) or any(word[0].islower() for word in words):
        return False
    words = [word.lower() for word in words if len(word) >= _LEAST_WORD_CHARS]
    return any(word in label for word in words for label in site.labels)


def _is_few_words(text: str) -> bool:
    """Whether *text* is some words of a language that puts spaces between them."""
    return 0 < len(text.split()) <= _MAX_SUFFIX_WORDS and not _WIDE.search(text)


def _stands_elsewhere(suffix: str, title: str, source: str) -> bool:
    """Whether *suffix*, a part of *title*, is in *source* outside of *title* as well."""
    if title.count(suffix) > 1:
        return suffix in source
    offset = title.find(suffix)
    at = source.find(suffix)
    while at >= 0 and source.startswith(title, max(0, at - offset)):
        at = source.find(suffix, at + len(suffix))
    return at >= 0
