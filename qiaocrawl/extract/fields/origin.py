"""Where an article comes from (来源) and where it stands in its site (channel)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qiaocrawl.extract.block_texts import BlockTexts, lines_with
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext, Lines
from qiaocrawl.extract.fields.dateline import dateline_of
from qiaocrawl.extract.fields.declared import Declared, first_text, text_declared
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

_NAME = r"[^\s|｜,，。；;:：()（）\[\]【】<>《》/]{2,24}(?:(?<=[a-z]) [A-Za-z][\w.]{0,20}){0,3}"
# Each pattern begins with letters that are rare, so that a search leaps to them.
_SOURCE = re.compile(
    rf"(?:来\s{{0,2}}源|來\s{{0,2}}源|稿源|出处|出處|来自|來自|转自|轉自|转载自)\s*[：:]\s*"
    rf"[《【\[（(]?(?!http)({_NAME})"
)
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
_SOURCE_SIGNS = "源处處自"
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
    r"(?:作者|编辑|編輯|记者|責任|责任|发布|發布|时间|時間|点击|點擊|浏览|瀏覽|阅读|字号|字體|"
    r"打印|分享|来源|來源|日期|评论|我要|字号|关注|查看|收藏|\d{4}[-年/]).*"
)
_BREADCRUMB = re.compile(
    r"[位首Hh](?:(?<=位)置是?|(?<=首)[页頁]|(?<=[Hh])[Oo][Mm][Ee])\s*[：:>＞»›→/｜]"
)
_CRUMB_END = re.compile(r"[>＞»›→｜\\\\]+|\s/\s|&gt;")
_NO_CHANNEL = frozenset(
    ("正文", "首页", "首頁", "主页", "详情", "详细", "详细内容", "文章详情", "内容", "查看内容",
     "新闻详情", "返回", "home", "浏览文章", "文章正文", "当前位置", "您的位置", "homepage")
)  # fmt: skip
_MAX_CHANNEL_CHARS = 20
_MAX_LINKS = 30


def source_of(page: Page, context: BodyContext, declared: Declared) -> dict[str, Field]:
    """``source`` and ``source_url``; a filler (本站, 网络) has a confidence below 0.3."""
    for lines, confidence, origin in (
        (context.head, 0.9, "text 来源"),
        (context.above, 0.8, "text 来源 above the title"),
        (context.tail, 0.7, "text 来源 at the end"),
    ):
        name = _labelled_source(lines, context)
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


def _labelled_source(lines: Lines, context: BodyContext) -> str:
    """The name behind the first label 来源 that is the article's own; "" when there is none."""
    for rank in lines_with(lines.whole, _SOURCE_SIGNS):
        at, text = lines.at[rank], lines.texts[rank]
        is_running = "。" in text and context.first <= at <= context.last
        for match in _SOURCE.finditer(text):
            before = text[: match.start()]
            if _OTHER_SOURCE.search(before) or (is_running and before[-1:] not in _OPENS):
                continue
            name = _trimmed(match[1])
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
    return collapse(node.text()[:60]) if node is not None else ""


def _trimmed(name: str) -> str:
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
