"""Who wrote an article: labels and places of Chinese lines, and which claim is believed."""

from __future__ import annotations

import re
from math import prod
from typing import NamedTuple

from qiaocrawl.extract.block_texts import lines_with
from qiaocrawl.extract.fields.body_context import BodyContext, Lines
from qiaocrawl.extract.fields.declared import Declared
from qiaocrawl.extract.fields.labels import AUTHOR, Labels, Pair
from qiaocrawl.extract.fields.names import (
    is_chinese_name,
    is_organisation,
    is_person,
    is_surely_chinese_name,
    name_before_place,
    name_behind_profession,
    split_names,
    without_place,
)
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import HAN

# --- Claims of who wrote an article, and which of them is believed --------------------------------
# Claims of different kinds of witness for the same people add up as independent ones do,
# 1 - prod(1 - weight); of one kind only the heaviest counts **(ours)**.

_MAX_AUTHORS = 12
_MOST = 0.98
_FAIR = 0.6
"""From this weight on a longer list of the same people is believed."""


class Claim(NamedTuple):
    """Authors as one witness names them; ``weight`` in [0, 1], ``kind`` of the witness."""

    names: tuple[str, ...]
    weight: float
    origin: str
    kind: str = "text"

    @property
    def people(self) -> frozenset[str]:
        """The names in lower case, in no order."""
        return frozenset([name.lower() for name in self.names])


def claim_of(names: list[str], weight: float, origin: str, kind: str = "text") -> Claim:
    """The claim of *names*, each once and not too many."""
    return Claim(tuple(dict.fromkeys(names))[:_MAX_AUTHORS], weight, origin, kind)


def heaviest(claims: list[Claim]) -> float:
    """The weight of the heaviest of *claims*; 0 when there is none."""
    return max([claim.weight for claim in claims], default=0.0)


def best_claim(claims: list[Claim]) -> Claim | None:
    """The claim whose people have the most weight; one that names them and more goes before."""
    if not claims:
        return None
    totals = {people: _total(claims, people) for people in {claim.people for claim in claims}}
    best = max(claims, key=lambda claim: (totals[claim.people], claim.weight))
    total = totals[best.people]
    if len(best.names) == 1 and " " not in best.names[0]:  # a first name alone: "Todd"
        begin = best.names[0] + " "
        best = next((claim for claim in claims if claim.names[0].startswith(begin)), best)
    for claim in claims:
        if claim.weight >= _FAIR and best.people < claim.people:
            best = claim
    return best._replace(weight=min(_MOST, max(total, totals[best.people])))


def _total(claims: list[Claim], people: frozenset[str]) -> float:
    kinds: dict[str, float] = {}
    for claim in claims:
        if claim.people == people:
            kinds[claim.kind] = max(claim.weight, kinds.get(claim.kind, 0.0))
    return 1.0 - prod([1.0 - weight for weight in kinds.values()])


# --- Names beside the date under a title, without a label ----------------------------------
# ``2013-10-02 10:20 桂林侨讯 韦敏``
# Chinese only. What is left of a short line when date, time and what has a label of its own
# (阅读 1277) are taken off is a medium by its last characters or because the page calls its site
# so, or a person by the surname **(ours)**.

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


_OF_THIS_TEXT = ("文章", "本文")
# The author of the original, of a picture or of a game is another.
_OTHER_AUTHOR = re.compile(
    r"(?:原|原文|图片|圖片|照片|封面|插画|插圖|插图|漫画|主题|主題|插件|游戏|遊戲|软件|軟件|歌曲|音乐|视频|影片|"
    r"作词|作曲|本书|书籍|小说|[该該此合创創写寫工名位的]|项目|程序|程式|代码|脚本|模板|皮肤|评论|回复|留言|关于|關於|"
    r"文献|论文|著|推荐|推薦|热门|熱門|签约|更多|其他|相关|相關)$"
)
_HAN_NAMES = r"([\u4e00-\u9fff·]{2,4}(?:[ 、][\u4e00-\u9fff·]{2,4}){0,4})"
# A name without a label, by its place: (what the text must hold, form with the name as its first
# group), such as 陈小桥/文, 陈小桥 著, ■本报记者 陈小桥, posted on … 陈小桥 阅读.
_BY_PLACE = (
    ("[/／] ?图?文", rf"(?:^|[\s（(]){_HAN_NAMES} ?[/／] ?[图]?文(?=[\s）)]|$)"),
    ("作者", r"[（(]作者 ?([\u4e00-\u9fff·]{2,4}?) ?[，,]? ?(?:系|係|是|为|為|现任|現任)"),
    ("著", r"^([\u4e00-\u9fff·]{2,8}) ?著$"),
    ("记者", rf"^[□■◎●○◆▲] ?(?:[\u4e00-\u9fff]{{2,6}}记者 ?)?{_HAN_NAMES}$"),
    (
        "osted",
        r"[Pp]osted (?:on|@) [\d :：/.年月日-]{8,24}(?:[AP]M )?(\S{2,16}) (?:阅读|閱讀|评论)",
    ),
    ("发[表布]于", r"(?:^|[\s:：])([^\s:：]{2,16}) ?(?:发表于|发布于) ?\d{4}"),
    ("發[表佈]於", r"(?:^|[\s:：])([^\s:：]{2,16}) ?(?:發表於|發佈於) ?\d{4}"),
)
_PLACES = tuple((re.compile(sign), re.compile(form, re.MULTILINE)) for sign, form in _BY_PLACE)
_ANY_SIGN = re.compile("|".join(sign for sign, _ in _BY_PLACE))
_BAR = re.compile(r"\s?[|｜丨－—–-]+\s?")
_NEEDS_PERSON = re.compile("[记記]者|文字|编译")
_PHOTOGRAPHER = re.compile(
    r"(?:摄影|攝影)(?:报道|報導|师)?\s?[：:/／]\s?([\u4e00-\u9fff]{2,4})(?=\s|$)"
)
_SIGNED = re.compile(r"[（(]([\u4e00-\u9fff·]{2,4})[）)]$")
# Here and below each branch begins with a letter, so that a search leaps to the few places
# where one may begin.
_REPORTER = re.compile(
    r"(?P<open>[（(][^（()）\n]{0,14}?)?(?:记者|記者|实习生|通讯员|通訊員|特派员|撰稿|撰文|评论员)"
    r"[ /：:]{0,3}"
    r"((?:[\u4e00-\u9fff·]{2,4}[ 、/]{1,2}){0,5}"
    r"(?:[\u4e00-\u9fff]{1,8}·[\u4e00-\u9fff·]{2,12}|[\u4e00-\u9fff·]{2,4}))"
    r"(?=[\s）)/／╱、|】\]摄攝]|$|[一二三四五六七八九十\d]+月|文并|报道|報道|報導)",
    re.MULTILINE,
)
_REPORTER_SIGN = re.compile("[记記]者|实习生|通讯员|通訊員|特派[员員]|撰稿|撰文|评论员")
_OTHER_WORK = re.compile(
    r"[ 、/](?:[摄攝](?:影|像)|[编編][辑輯]|[责責美][编編]|校[对對]|[审審]核|"
    r"[图圖]片|[视視][频頻]|剪[辑輯]|制[图圖])"
)
"""Who did something else to an article stands behind its reporters."""
_BEHIND_CHARS = 8
_SENT_ON = re.compile(r"\s?[一二三四五六七八九十\d]{1,3}日[专專]?[电電]")
_REPORT = re.compile("[报報][道导導]|[讯訊]|[专專]?[电電]")
# As papers overseas begin their news: 【本報記者陳小橋紐約報導】, 南桥社记者陈小桥洛杉矶28日专电.
_REPORTED = re.compile(
    r"(?:[记記]者|特派[员員]|通[讯訊][员員])[ ：:／/]{0,2}"
    r"((?:[\u4e00-\u9fff]{2,4}[、 ]){0,3}[\u4e00-\u9fff]{2,9}?)"
    r"[ ／/]?(?:\d{1,2}月)?(?:\d{1,2}日)?(?:[综綜]合|[现現][场場]|[实實]地|[专專][题題])?"
    r"(?:[报報][道导導]|[专外專]?[电電]|[专專][访訪]|[快專专]?[讯訊]|特稿)(?=[\s】）)〕\]：:，,]|$)",
    re.MULTILINE,
)
_TEXT_BY = re.compile(
    r"[图圖文](?:(?<=[\s（(【\[].)|(?<=^.))(?:(?<=文)(?:\s?[/、&＆]?\s?[图圖])?|\s?[/、&＆]?\s?文)"
    r"(?:\s?[：:/／|｜丨︱]\s?|(?<=[/、].)\s)([^\n，。；|（(]{2,30})",
    re.MULTILINE,
)
_PICTURES_BY = re.compile(r"\s*[图圖摄攝影片]\s?[/／：:|｜丨︱]")
_BY = re.compile(
    r"[Bb]y(?:(?<=^..)|(?<=[\s|·•,，]..))[：:\s]\s?([^\s，。；|]{2,16})(?=[\s，。|]|$)",
    re.MULTILINE,
)
_NOT_WRITTEN = re.compile(
    r"(?:power|theme|design|host|provid|sponsor|generat|driv|made|craft|group|order|sort|call|pass|"
    r"licen[cs]|develop|animat|review|produc|support|maintain|manag)\w*\s$",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"(?:^|\n|[|·•,，]\s?)(?:(?:written|posted|published|created)\s)?$", re.I)
_NO_BY = re.compile(
    r"the|an?|all|both|th[aeio]\w+|my|your|our|its|default|value|reference|id|name|date|using|step|"
    r"side|one|each|any|way|means|hand|itself|clicking|time",
    re.IGNORECASE,
)
_JUST_ABOVE = 4
_BY_LINE_CHARS = 80
_SHORT_CHARS = 60
"""A longer line of the body is running text: what it labels is seldom the article's."""
_ENOUGH = 0.85
_NO_LINE_TAGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "th", "dt", "label", "button"))
_ROLE_AND_NAME_CHARS = 12
_LINE_DATE = re.compile(r"(?:19|20)\d\d|\d\s?[月-]\s?\d")
_DATE_DISTANCE = 2
_LEVELS = 3
_PERSON_CLASS = re.compile("author|user|writer|editor|byline|nick|name|zuozhe")


def chinese_claims(
    page: Page, context: BodyContext, declared: Declared, other: list[Claim]
) -> list[Claim]:
    """Claims by the lines around the body of the Chinese *page*.

    Args:
        other: claims of other witnesses; where they suffice, only the lines near the title count.
    """
    above_body, in_body, running = _near_title(page, context)
    above_title = Lines(context.blocks, context.above.at[:_JUST_ABOVE])
    claims = []
    for lines, weight, origin in (
        (above_body, 0.92, "text near the title"),
        (in_body, 0.8, "text in the body"),
        (above_title, 0.8, "text above the title"),
    ):
        pairs = page.once(Labels).pairs(lines, AUTHOR)
        claims += _label_claims(pairs, lines.whole, weight, origin)
        claims += _by(lines.whole, weight - 0.2, f"{origin}: by")
    pairs = page.once(Labels).pairs(running, AUTHOR)
    claims += _label_claims(pairs, running.whole, 0.6, "text in the body", reporters=0.86)
    if heaviest(other + claims) < _ENOUGH:
        quoted = _quotations(page, context.first)
        own = [at for at in context.tail.at if not any(at in span for span in quoted)]
        pairs = page.once(Labels).pairs(Lines(context.blocks, own), AUTHOR)
        pairs += page.once(Labels).pairs_of(context.last_words, AUTHOR)
        tail = f"{context.tail.whole}\n{context.last_words}"
        claims += _label_claims(pairs, tail, 0.72, "text at the end")
        claims += _unlabelled_claims(page, context, declared)
    return claims


def _near_title(page: Page, context: BodyContext) -> tuple[Lines, Lines, Lines]:
    """The lines between title and body, the short lines of the body, and its paragraphs."""
    places: tuple[list[int], list[int], list[int]] = ([], [], [])
    quoted = _quotations(page, context.first)
    for at, text in zip(context.head.at, context.head.texts, strict=True):
        if at > context.first >= 0 and any(at in span for span in quoted):
            continue
        is_inside = 0 <= context.first <= at
        places[is_inside + (is_inside and len(text) > _SHORT_CHARS)].append(at)
    above_body, in_body, running = (Lines(context.blocks, place) for place in places)
    return above_body, in_body, running


def _quotations(page: Page, first: int) -> list[range]:
    """The blocks of the quotations that begin after block *first*; none as a rule."""
    return [
        range(element.first, element.end)
        for element in page.blocks.elements
        if element.tag == "blockquote" and element.first > first
    ]


def _label_claims(
    pairs: list[Pair], text: str, weight: float, origin: str, reporters: float = 0.0
) -> list[Claim]:
    """Claims of labels in *text*, a line a block, in which there are *pairs*.

    Args:
        reporters: the weight of 记者 and the like; 0 for nearly *weight*.
    """
    claims = _by_label(pairs, weight, origin)
    for match in _TEXT_BY.finditer(text):
        written = _PICTURES_BY.split(match[1])[0]
        names = [name for name in split_names(written, is_labelled=True) if is_person(name)]
        if names:
            claims.append(claim_of(names, weight - 0.04, f"{origin}: 文"))
            break
    for sign, pattern in _PLACES if _ANY_SIGN.search(text) else ():
        placed = pattern.search(text) if sign.search(text) else None
        if placed is None:
            continue
        names = split_names(_OTHER_WORK.split(placed[1], maxsplit=1)[0])
        if names and not all(map(is_organisation, names)):
            look_right = all(map(is_person, names))
            claims.append(
                claim_of(names, weight - (0.12 if look_right else 0.3), f"{origin}: by place")
            )
    names = _reporters(text)
    if names:
        claims.append(claim_of(names, reporters or weight - 0.06, f"{origin}: 记者"))
    return claims


def _by_label(pairs: list[Pair], weight: float, origin: str) -> list[Claim]:
    """The claim of the first label with a name; of one that says whose text it is before others."""
    for pair in sorted(pairs, key=lambda pair: not pair.before.endswith(_OF_THIS_TEXT)):
        if pair.label[0] == "作" and _OTHER_AUTHOR.search(pair.before):
            continue
        names = split_names(pair.whole, is_labelled=True)
        if not any(map(is_person, names)):
            names = _behind_bar(pair.whole) or names
        if _NEEDS_PERSON.search(pair.label):
            names = [name for name in names if is_person(name)]  # not the questions of a talk
        people = [name for name in names if not is_organisation(name)]
        if names:
            own = weight if people else min(0.5, weight)
            return [claim_of(people or names, own, f"{origin}: {pair.label}")]
    return []


def _behind_bar(written: str) -> list[str]:
    """The people in *written* behind a bar or a dash, before which a firm stands; or none."""
    before, _, behind = _BAR.sub("\n", written, count=1).partition("\n")
    if not behind or not HAN.search(before):
        return []
    return [name for name in split_names(behind, is_labelled=True) if is_surely_chinese_name(name)]


def _by(text: str, weight: float, origin: str) -> list[Claim]:
    """The claim of ``by`` in a short line, with a name that is no word of English after it."""
    for match in _BY.finditer(text) if "y" in text else ():
        begin = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        before = text[begin : match.start()]
        if (len(text) if end < 0 else end) - begin > _BY_LINE_CHARS or _NOT_WRITTEN.search(before):
            continue
        word = match[1]
        is_name = not word.isascii() or word[0].isupper() or _WRITTEN.search(before) is not None
        names = split_names(word) if is_name and not _NO_BY.fullmatch(word) else []
        if names:
            return [claim_of(names, weight, origin)]
    return []


def _reporters(text: str) -> list[str]:
    """The names behind 记者, 通讯员 and the like."""
    reporters: list[str] = []
    if not _REPORTER_SIGN.search(text):
        return reporters
    for match in _REPORTER.finditer(text):
        written = _OTHER_WORK.split(match[2], maxsplit=1)[0]
        names = [without_place(name) for name in split_names(written)]
        behind = text[match.end() : match.end() + _BEHIND_CHARS]
        is_report = _REPORT.search(f"{match[2][-2:]}{behind[:2]}") or _SENT_ON.match(behind)
        if len(names) > 1 and is_report and not is_person(names[-1]):
            names.pop()  # where the report comes from
        # In brackets, any two to four characters are a name; else a surname must begin one.
        look_right = 2 * sum(map(is_person, names)) >= len(names) and "/" not in match[2]
        if names and (match["open"] or look_right or is_person(names[0])):
            reporters += names
    reported: list[str] = []
    for match in _REPORTED.finditer(text):
        *others, last = re.split("[、 ]", match[1])
        names = [name for name in (*others, name_before_place(last)) if name]
        if all(map(is_chinese_name, names)):
            reported += names
    return max(reporters, reported, key=len)


def _unlabelled_claims(page: Page, context: BodyContext, declared: Declared) -> list[Claim]:
    """A name beside the date, alone in a line above the body, in brackets at the end; last of
    all the photographer: photo stories name nobody else."""
    claims = []
    beside = dateline_of(context, declared).author
    if beside:
        claims.append(claim_of([beside], 0.58, "text beside the date"))
    photographer = _PHOTOGRAPHER.search(context.head.whole)
    if photographer is not None and is_surely_chinese_name(photographer[1]):
        claims.append(claim_of([photographer[1]], 0.5, "text near the title: 摄影"))
    alone = _alone_in_a_line(page, context)
    if alone:
        claims.append(claim_of([alone], 0.55, "line near the title"))
    last, blocks = context.last, context.blocks
    signed = _SIGNED.search(blocks[last].text) if last >= 0 else None
    if signed is None and 0 <= last < len(blocks) - 1:
        signed = _SIGNED.fullmatch(blocks[last + 1].text)  # a line of its own
    if signed is not None and is_surely_chinese_name(signed[1]):
        claims.append(claim_of([signed[1]], 0.6, "signed at the end"))
    return claims


def _alone_in_a_line(page: Page, context: BodyContext) -> str:
    """The name that is a line by itself between title and body, next to one of them or a date.

    No heading, no label of a form or table, and no link but to a person's page.
    """
    blocks, elements = context.blocks, page.blocks.elements
    for at in range(context.title_at + 1, min(context.first, context.title_at + 8)):
        block = blocks[at]
        name = block.text
        if len(name) > _ROLE_AND_NAME_CHARS:
            continue
        if not is_surely_chinese_name(name):
            name = name_behind_profession(name) if "编" not in name else ""
        if not name:
            continue
        around = [elements[index] for index in page.blocks.path(block.element)[:_LEVELS]]
        if any(element.tag in _NO_LINE_TAGS for element in around) or (
            block.links and not any(_PERSON_CLASS.search(element.names) for element in around)
        ):
            continue
        near = blocks[max(0, at - _DATE_DISTANCE) : at + _DATE_DISTANCE + 1]
        has_date = any(_LINE_DATE.search(other.text[:_SHORT_CHARS]) for other in near)
        if has_date or at in (context.title_at + 1, context.first - 1):
            return name
    return ""
