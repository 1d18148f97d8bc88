"""Who wrote and who edited an article: bylines, labels, what the page declares.

Each kind of witness has a weight **(ours)**; the heaviest names the authors. On a Chinese page
the visible label (作者, 记者) is worth more than the meta tag, which often names the editor or
the system's user.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import methodcaller
from typing import NamedTuple

from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext
from qiaocrawl.extract.fields.dateline import dateline_of
from qiaocrawl.extract.fields.declared import Declared, people_declared
from qiaocrawl.extract.fields.names import is_organisation, is_person, split_names, tidy_name
from qiaocrawl.extract.thread import thread_of
from qiaocrawl.page import Page
from qiaocrawl.text import collapse

_META_AUTHOR = re.compile(
    r"(?:^|(?<!smartbanner)[.:_-])(?:authors?|creator|byl|byline|author[_.-]?names?|writer)$|^article:author"
)
# Here and below each branch begins with a letter, so that a search leaps to the few places
# where one may begin.
_ZH_LABEL = re.compile(
    r"(?:作\s{0,2}者|撰稿人?|撰文|供稿|执笔|執筆|原作|楼主|樓主|发帖人|博主|記者|记者|"
    r"发布者|發佈者|发布人|发表人|投稿人|发贴人|发信人|主笔|编译|文字)"
    r"\s{0,2}[：:】\]][：: ]{0,3}"
)
_ZH_LABEL_ONLY = re.compile(r"作者 (?<=^作者 )(?=[\u4e00-\u9fff]{2,4}(?:\s|$))", re.MULTILINE)
_HAN_NAMES = r"([\u4e00-\u9fff·]{2,4}(?:[ 、][\u4e00-\u9fff·]{2,4}){0,4})"
# A name without a label, by its place: (what the text must hold, form with the name as its first
# group), such as 陈小桥/文, 陈小桥 著, ■本报记者 陈小桥, posted on … 陈小桥 阅读.
_ZH_BY_PLACE = (
    ("[/／] ?图?文", rf"(?:^|[\s（(]){_HAN_NAMES} ?[/／] ?[图]?文(?=[\s）)]|$)"),
    ("著", r"^([\u4e00-\u9fff·]{2,8}) ?著$"),
    ("记者", rf"^[□■◎●○◆▲] ?(?:[\u4e00-\u9fff]{{2,6}}记者 ?)?{_HAN_NAMES}$"),
    (
        "osted",
        r"[Pp]osted (?:on|@) [\d :：/.年月日-]{8,24}(?:[AP]M )?(\S{2,16}) (?:阅读|閱讀|评论)",
    ),
    ("发[表布]于", r"(?:^|[\s:：])([^\s:：]{2,16}) ?(?:发表于|发布于) ?\d{4}"),
    ("發[表佈]於", r"(?:^|[\s:：])([^\s:：]{2,16}) ?(?:發表於|發佈於) ?\d{4}"),
)
_ZH_PLACES = tuple(
    (re.compile(sign), re.compile(form, re.MULTILINE)) for sign, form in _ZH_BY_PLACE
)
_NEEDS_PERSON = re.compile("[记記]者|文字|编译")
_ZH_PHOTOGRAPHER = re.compile(
    r"(?:摄影|攝影)(?:报道|報導|师)?\s?[：:/／]\s?([\u4e00-\u9fff]{2,4})(?=\s|$)"
)
_ZH_SIGNED = re.compile(r"[（(]([\u4e00-\u9fff·]{2,4})[）)]$")
_ZH_REPORTER = re.compile(
    r"(?P<open>[（(][^（()）\n]{0,14})?(?:记者|記者|实习生|通讯员|通訊員|特派员|撰稿|撰文|评论员)"
    r"[ /：:]{0,2}"
    r"((?:[\u4e00-\u9fff·]{2,4}[ 、/]{1,2}){0,5}[\u4e00-\u9fff·]{2,4})"
    r"(?=[\s）)/／╱、|】\]摄攝]|$|[一二三四五六七八九十\d]+月|文并|报道|報道|報導)",
    re.MULTILINE,
)
_ZH_REPORTER_SIGN = re.compile("记者|記者|实习生|通讯员|通訊員|特派员|撰稿|撰文|评论员")
_ZH_TEXT_BY = re.compile(
    r"[图文](?:(?<=[\s（(【\[].)|(?<=^.))(?:(?<=图)/?文|(?<=文))"
    r"\s?[：:/／|｜丨]\s?([^\n，。；|（(]{2,30})",
    re.MULTILINE,
)
_EN_SIGN = re.compile(r"[BbAaWw](?:[Yy](?![a-z])|[Uu][Tt][Hh][Oo][Rr]|[Rr][Ii][Tt][Ee][Rr])")
_EN_BY_SIGN = re.compile(r"[Bb][Yy](?:[A-Z][a-z]|:?\s)")
_EN_BY = re.compile(
    r"^by(?-i:(?=[A-Z][a-z]))(.{2,160})|(?:^|(?<=[.|:•·–—])\s|\b(?:written|posted|published|words|story|reported|reviewed|text|"
    r"submitted|report)\s)by:?\s+(.{2,160})|"
    r"\b(?:posted|published|written|filed) (?:on|in|at) [^\n]{3,40}?\sby:?\s+(.{2,160})",
    re.IGNORECASE,
)
_ZH_BY = re.compile(r"(?:^|\s)[Bb]y[：:\s]\s?([^\s，。；|]{2,16})(?=\s|$)", re.MULTILINE)
_EN_LABEL = re.compile(r"^(?:by|author|authors|written by|posted by|words by)\s?:?$", re.IGNORECASE)
_EN_AUTHOR = re.compile(r"\b(?:author|writer)s?\s?:\s?(.{2,80})", re.IGNORECASE)
_EDITOR = re.compile(
    r"(?:责任编辑|責任編輯|责编|責編|本文编辑|执行编辑|编\s{0,2}辑|編\s{0,2}輯|Editors?)\s{0,2}[：:]\s*"
    r"([^\n，。；|]{2,30})"
)
_LABEL_VALUE_CHARS = 60
_BYLINE = '[rel~="author"],[itemprop~="author"],[class*="byline" i],[class*="author" i]'
_MAX_BYLINES = 16
_MAX_BYLINE_CHARS = 120
_MAX_AUTHORS = 12
_START = methodcaller("start")


class _Claim(NamedTuple):
    """Authors as one witness names them; ``weight`` in [0, 1]."""

    names: tuple[str, ...]
    weight: float
    origin: str


def people_of(
    page: Page, context: BodyContext, declared: Declared, is_chinese: bool
) -> dict[str, Field]:
    """``authors`` and ``editor``, as far as the page tells them.

    Args:
        is_chinese: whether Chinese labels are looked for.
    """
    fields = {}
    claims = _declared(page, declared)
    thread = page.once(thread_of)
    if thread is not None and thread.first.author:
        claims.append(_claim([thread.first.author], 0.94, "first post"))
    head, above = context.head, context.above
    tail = context.tail.whole
    if context.last >= 0:
        tail = f"{tail}\n{context.blocks[context.last].text[-_LABEL_VALUE_CHARS:]}"
    if is_chinese:
        claims += _labelled(head.whole, 0.92, "text near the title")
        claims += _labelled("\n".join(above.texts[:4]), 0.8, "text above the title")
        if max((claim.weight for claim in claims), default=0.0) < 0.85:
            claims += _labelled(tail, 0.72, "text at the end")
            claims += _unlabelled(context, declared)
    if _EN_SIGN.search(above.whole) or _EN_SIGN.search(head.whole):
        claims += _english(above.texts[::-1] + head.texts)
    if max((claim.weight for claim in claims), default=0.0) < 0.6:
        claims += _marked(page, "\n".join((above.whole, head.whole, tail)), declared)
    best = _best(claims)
    if best is not None:
        fields["authors"] = Field(best.names, best.origin, round(best.weight, 3))
    editor = _editor(page, declared, tail, head.whole)
    if editor is not None:
        fields["editor"] = editor
    return fields


def _best(claims: list[_Claim]) -> _Claim | None:
    """The heaviest claim; one that names all its people and more is taken instead."""
    if not claims:
        return None
    best = max(claims, key=lambda claim: claim.weight)
    if len(best.names) == 1 and " " not in best.names[0]:  # a first name alone: "Todd"
        begin = best.names[0] + " "
        longer = [claim for claim in claims if claim.names[0].startswith(begin)]
        best = longer[0]._replace(weight=best.weight) if longer else best
    best_names = {name.lower() for name in best.names}
    for claim in claims:
        if claim.weight >= 0.6 and best_names < {name.lower() for name in claim.names}:
            best = claim._replace(weight=max(best.weight, claim.weight))
            best_names = {name.lower() for name in best.names}
    agreeing = sum(
        {name.lower() for name in claim.names} == best_names and claim.origin != best.origin
        for claim in claims
    )
    return best._replace(weight=min(0.98, best.weight + 0.04 * agreeing))


def _declared(page: Page, site: Declared) -> list[_Claim]:
    claims = []
    for item in site.articles[:4]:
        people = people_declared(page, item, "author") or people_declared(page, item, "creator")
        persons: list[str] = []
        organisations: list[str] = []
        for written, is_body in people:
            for name in split_names(written[:200]):
                is_other = is_body or site.is_site(name) or is_organisation(name)
                (organisations if is_other else persons).append(name)
        if persons:
            claims.append(_claim(persons, 0.9, "json-ld author"))
        elif organisations:
            claims.append(_claim(organisations, 0.55, "json-ld author"))
    for key, value in page.meta.items():
        if _names_author(key) and not value.startswith(("http", "/", "@")):
            names = split_names(value[:200])
            own = [n for n in names if not site.is_site(n) and not is_organisation(n)]
            if own:
                weight = 0.75 if all(map(is_person, own)) else 0.6
                claims.append(_claim(own, weight, f"meta {key}"))
            elif names:
                claims.append(_claim(names, 0.45, f"meta {key}"))
    return claims


# Most pages name their meta tags alike; bounded, so that a hostile one cannot fill the memory.
@lru_cache(maxsize=2048)
def _names_author(key: str) -> bool:
    return _META_AUTHOR.search(key) is not None


def _claim(names: list[str], weight: float, origin: str) -> _Claim:
    return _Claim(tuple(dict.fromkeys(names))[:_MAX_AUTHORS], weight, origin)


def _labelled(text: str, weight: float, origin: str) -> list[_Claim]:
    """Claims of Chinese labels in *text*, a line a block: 作者：, 记者, 文/."""
    claims = []
    labels = [*_ZH_LABEL.finditer(text), *_ZH_LABEL_ONLY.finditer(text)]
    for match in sorted(labels, key=_START):
        value = text[match.end() : match.end() + _LABEL_VALUE_CHARS].partition("\n")[0]
        names = split_names(value, is_labelled=True)
        if _NEEDS_PERSON.search(match[0]):
            names = [name for name in names if is_person(name)]  # not the questions of a talk
        if names:
            own = weight if not all(map(is_organisation, names)) else 0.5
            claims.append(_claim(names, own, f"{origin}: {match[0].strip(' ：:')}"))
            break
    for match in _ZH_TEXT_BY.finditer(text):
        names = [name for name in split_names(match[1]) if is_person(name)]
        if names:
            claims.append(_claim(names, weight - 0.04, f"{origin}: 文"))
            break
    for sign, pattern in _ZH_PLACES:
        placed = pattern.search(text) if sign.search(text) else None
        names = split_names(placed[1]) if placed is not None else []
        if names and not all(map(is_organisation, names)):
            look_right = all(map(is_person, names))
            claims.append(
                _claim(names, weight - (0.12 if look_right else 0.3), f"{origin}: by place")
            )
    match_by = None if claims or "y" not in text else _ZH_BY.search(text)
    if match_by is not None:
        names = split_names(match_by[1])
        if names:
            claims.append(_claim(names, weight - 0.2, f"{origin}: by"))
    reporters: list[str] = []
    for match in _ZH_REPORTER.finditer(text) if _ZH_REPORTER_SIGN.search(text) else ():
        names = split_names(match[2])
        # In brackets, any two to four characters are a name; else a surname must begin one.
        look_right = any(map(is_person, names)) and "/" not in match[2]
        if names and (match["open"] or look_right or is_person(names[0])):
            reporters += names
    if reporters:
        claims.append(_claim(reporters, weight - 0.06, f"{origin}: 记者"))
    return claims


def _unlabelled(context: BodyContext, declared: Declared) -> list[_Claim]:
    """A name beside the date, alone in a line above the body, in brackets at the end; last of
    all the photographer: photo stories name nobody else."""
    claims = []
    beside = dateline_of(context, declared).author
    if beside:
        claims.append(_claim([beside], 0.58, "text beside the date"))
    photographer = _ZH_PHOTOGRAPHER.search(context.head.whole)
    if photographer is not None and is_person(photographer[1]):
        claims.append(_claim([photographer[1]], 0.5, "text near the title: 摄影"))
    for at in range(context.title_at + 1, min(context.first, context.title_at + 8)):
        text = context.blocks[at].text
        if len(text) <= 4 and is_person(text) and _ZH_SIGNED.search(f"({text})"):
            claims.append(_claim([text], 0.55, "line near the title"))
    signed = _ZH_SIGNED.search(context.blocks[context.last].text) if context.last >= 0 else None
    if signed is not None and is_person(signed[1]):
        claims.append(_claim([signed[1]], 0.6, "signed at the end"))
    return claims


def _english(lines: list[str]) -> list[_Claim]:
    """Claims of lines such as ``By A. Writer and B. Second``."""
    claims: list[_Claim] = []
    for at, line in enumerate(lines):
        if not _EN_SIGN.search(line):
            continue
        if _EN_LABEL.match(line) and at + 1 < len(lines):
            value = lines[at + 1]
        else:
            match = _EN_BY.search(line) if _EN_BY_SIGN.search(line) else None
            if match is None and ":" in line:
                match = _EN_AUTHOR.search(line)
            value = match[match.lastindex or 1] if match is not None else ""
        if not value:
            continue
        names = [name for name in split_names(value, is_labelled=True) if is_person(name)]
        if names:
            weight = 0.84 if line[:3].lower() == "by " or len(line) < 80 else 0.6
            claims.append(_claim(names, weight, "text By"))
    return claims[:2]


def _marked(page: Page, near: str, site: Declared) -> list[_Claim]:
    """Claims of elements marked as the author's by rel, itemprop, class or address."""
    claims: list[_Claim] = []
    source = page.source
    if "author" not in source and "Author" not in source and "yline" not in source:
        return claims
    for node in page.tree.css(_BYLINE)[:_MAX_BYLINES]:
        text = collapse(node.text()[: 4 * _MAX_BYLINE_CHARS])
        if not 2 <= len(text) <= _MAX_BYLINE_CHARS:
            continue
        names = [n for n in split_names(text) if not site.is_site(n)]
        persons = [name for name in names if is_person(name)]
        shown = [name for name in persons if name in near]
        if shown:
            claims.append(_claim(shown, 0.7, "marked as author"))
        elif persons:
            claims.append(_claim(persons, 0.5, "marked as author"))
        elif names and len(names) == 1:
            claims.append(_claim(names, 0.4, "marked as author"))
    return claims


def _editor(page: Page, site: Declared, tail: str, head: str) -> Field | None:
    text = ""
    if _EDITOR.search(tail) or _EDITOR.search(head):
        text = "\n".join((*tail.split("\n")[::-1], head))  # the last line of all comes first
    for match in _EDITOR.finditer(text):
        names = split_names(match[1], is_labelled=True)
        if names:
            return Field("、".join(names[:4]), "text 编辑", 0.85)
    for item in site.articles[:2]:
        people = [name for name, _ in people_declared(page, item, "editor")]
        if people:
            return Field(", ".join(people[:4]), "json-ld editor", 0.8)
    written = page.meta.get("editor", "")
    name = tidy_name(written)
    return Field(name, "meta editor", 0.6) if name else None
