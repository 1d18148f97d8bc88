"""Who wrote and who edited an article: bylines, labels, what the page declares.

Each kind of witness has a weight **(ours)**; the heaviest names the authors. On a Chinese page
the visible label (作者, 记者) is worth more than the meta tag, which often names the editor or
the system's user.
"""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborNode

from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext
from qiaocrawl.extract.fields.bylines import Claim, best_claim, chinese_claims, claim_of, heaviest
from qiaocrawl.extract.fields.declared import Declared, people_declared
from qiaocrawl.extract.fields.labels import EDITOR, Labels
from qiaocrawl.extract.fields.names import is_organisation, is_person, split_names, tidy_name
from qiaocrawl.extract.fields.others import Others
from qiaocrawl.extract.thread import opening_of
from qiaocrawl.page.blocks import names_of
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import HAN, collapse

_META_AUTHOR = re.compile(
    r"(?:^|(?<!smartbanner)[.:_-])(?:authors?|creator|byl|byline|author[_.-]?names?|writer)$|^article:author"
)
_EN_SIGN = re.compile(r"[BbAaWw](?:[Yy](?![a-z])|[Uu][Tt][Hh][Oo][Rr]|[Rr][Ii][Tt][Ee][Rr])")
_EN_BY_SIGN = re.compile(r"[Bb][Yy](?:[A-Z][a-z]|:?\s)")
_EN_BY = re.compile(
    r"^by(?-i:(?=[A-Z][a-z]))(.{2,160})|"
    r"^(?:[a-z]{3,9}\.?\s\d\d?,?|\d\d?\s[a-z]{3,9}\.?,?|[\d/.-]{3,6})\s?(?:19|20)\d\d,?\sby:?\s(.{2,160})|"
    r"(?:^|(?<=[.|:•·–—])\s|\b(?:written|posted|published|words|story|reported|reviewed|text|"
    r"submitted|report)\s)by:?\s+(.{2,160})|"
    r"\b(?:posted|published|written|filed) (?:on|in|at) [^\n]{3,40}?\sby:?\s+(.{2,160})",
    re.IGNORECASE,
)
_EN_LABEL = re.compile(r"^(?:by|author|authors|written by|posted by|words by)\s?:?$", re.IGNORECASE)
_EN_AUTHOR = re.compile(r"\b(?:author|writer)s?\s?:\s?(.{2,80})", re.IGNORECASE)
_EDITOR_END = re.compile("[，。；|｜]")
_BYLINE = (
    '[rel~="author"],[itemprop~="author"],[class*="byline" i],[class*="author" i],'
    '[id*="author_name"]'
)
_NAME_IN_CARD = (
    '[class~="name"],[class*="author-name" i],[class*="author_name" i],[itemprop="name"]'
)
"""What a card about an author, with a life in it, calls the name."""
_NAME_CHARS = 24
_SHOWN_CARD = 0.75
"""The weight of a card whose name stands in the lines around the article as well."""
_PAGE_OF_AUTHOR = '[href*="/author/"],[rel~="author"]'
_MAX_BYLINES = 16
_MAX_BYLINE_CHARS = 120
_NO_AUTHOR_CLASS = re.compile(
    r"comment|reply|sidebar|relat|recommend|motto|desc|intro|signature|count|avatar|"
    r"topic|stats?(?:$|[\s_-])"
)
_AUTHOR_CLASS = re.compile(r"(?:^|[\s_-])(?:author|byline)s?(?:[_-]+name)?(?:$|\s)")
_UNSURE = 0.6
"""Below this weight, elements marked as the author's are looked at."""


def people_of(
    page: Page, context: BodyContext, declared: Declared, others: Others, is_chinese: bool
) -> dict[str, Field]:
    """``authors`` and ``editor``, as far as the page tells them.

    Args:
        others: tells whose an element marked as the author's is.
        is_chinese: whether Chinese labels are looked for.
    """
    fields = {}
    claims = _declared_people(page, declared)
    opening = page.once(opening_of)
    if opening is not None and opening.author:
        claims.append(claim_of([opening.author], 0.94, "first post", "thread"))
    head, above = context.head, context.above
    tail = f"{context.tail.whole}\n{context.last_words}"
    if is_chinese:
        claims += chinese_claims(page, context, declared, claims)
    if _EN_SIGN.search(above.whole) or _EN_SIGN.search(head.whole):
        claims += _english(above.texts[::-1] + head.texts)
    if heaviest(claims) < _SHOWN_CARD:
        claims += _marked_people(page, "\n".join((above.whole, head.whole, tail)), declared, others)
    best = best_claim(claims)
    if best is not None:
        fields["authors"] = Field(best.names, best.origin, round(best.weight, 3))
    editor = _editor(page, declared, context)
    if editor is not None:
        fields["editor"] = editor
    return fields


def _declared_people(page: Page, site: Declared) -> list[Claim]:
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
            claims.append(claim_of(persons, 0.9, "json-ld author", "declared"))
        elif organisations:
            claims.append(claim_of(organisations, 0.55, "json-ld author", "declared"))
    for key, value in page.meta.items():
        if _names_author(key) and not value.startswith(("http", "/", "@")):
            names = split_names(value[:200])
            own = [n for n in names if not site.is_site(n) and not is_organisation(n)]
            if own:
                weight = 0.75 if all(map(is_person, own)) else 0.6
                claims.append(claim_of(own, weight, f"meta {key}", "declared"))
            elif names and not all(_is_name_of_site(page, site, name) for name in names):
                claims.append(claim_of(names, 0.45, f"meta {key}", "declared"))
    return claims


def _is_name_of_site(page: Page, site: Declared, name: str) -> bool:
    """Whether *name* is the site's, and no person writes under it."""
    return is_organisation(name) and (site.is_site(name) or page.title.endswith(name))


# Most pages name their meta tags alike; bounded, so that a hostile one cannot fill the memory.
@lru_cache(maxsize=2048)
def _names_author(key: str) -> bool:
    return _META_AUTHOR.search(key) is not None


def _english(lines: list[str]) -> list[Claim]:
    """Claims of lines such as ``By A. Writer and B. Second``."""
    claims: list[Claim] = []
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
            claims.append(claim_of(names, weight, "text By"))
    return claims[:2]


def _marked_people(page: Page, near: str, site: Declared, others: Others) -> list[Claim]:
    """Claims of elements marked as the author's by rel, itemprop, class or address."""
    claims: list[Claim] = []
    source = page.source
    if "author" not in source and "Author" not in source and "yline" not in source:
        return claims
    for node in page.tree.css(_BYLINE)[:_MAX_BYLINES]:
        attributes = node.attributes
        element_names = names_of(attributes)
        if _NO_AUTHOR_CLASS.search(element_names) or others.hold(node):
            continue
        pen_name = _name_on_card(node) if _AUTHOR_CLASS.search(element_names) else ""
        if pen_name and not site.is_site(pen_name):
            weight = _SHOWN_CARD if pen_name in near else _UNSURE
            claims.append(claim_of([pen_name], weight, "marked as author", "marked"))
            continue
        # A word in Chinese may be the heading of a card about the author.
        is_name_element = (
            _AUTHOR_CLASS.search(element_names) and len(node.text().strip()) <= _NAME_CHARS
        ) or "rel" in attributes
        names = [n for n in _names_marked(node) if not site.is_site(n)]
        persons = [name for name in names if is_person(name)]
        shown = [name for name in persons if name in near]
        if shown:
            claims.append(claim_of(shown, 0.7, "marked as author", "marked"))
        elif persons:
            claims.append(claim_of(persons, 0.5, "marked as author", "marked"))
        elif len(names) == 1 and (names[0].isascii() or is_name_element):
            claims.append(claim_of(names, 0.4, "marked as author", "marked"))
    return claims


def _name_on_card(node: LexborNode) -> str:
    """The name that leads to the author's own page, as written, in *node*, a card; "" for none."""
    linked = node.css_first(_PAGE_OF_AUTHOR)
    name = collapse(linked.text()) if linked is not None and linked.mem_id != node.mem_id else ""
    is_han = HAN.search(name) is not None
    if not (is_han and 2 <= len(name) <= _NAME_CHARS // 2):
        return ""  # others are read by their capitals
    return tidy_name(name) or name


def _names_marked(node: LexborNode) -> list[str]:
    """The names in an element. In Chinese its parts are read apart: what stands beside a name (a
    role, a motto, counts) is not set off by a space or a capital letter."""
    whole = collapse(node.text()[: 4 * _MAX_BYLINE_CHARS])
    if len(whole) > _MAX_BYLINE_CHARS:
        inner = node.css_first(_NAME_IN_CARD)
        return _names_marked(inner) if inner is not None and inner.mem_id != node.mem_id else []
    if len(whole) < 2:
        return []
    if not HAN.search(whole):
        return split_names(whole)
    for line in node.text(separator="\n").split("\n"):
        names = split_names(line, is_labelled=True)
        if names:
            return names
    return []


def _editor(page: Page, site: Declared, context: BodyContext) -> Field | None:
    labels = page.once(Labels)
    last_lines = labels.pairs(context.tail, EDITOR) + labels.pairs_of(context.last_words, EDITOR)
    last_lines.sort(key=lambda pair: -pair.rank)  # the last line of all comes first
    for pair in (*last_lines, *labels.pairs(context.head, EDITOR)):
        names = split_names(_EDITOR_END.split(pair.whole)[0], is_labelled=True)
        if names and (pair.is_sure or is_person(names[0])):
            return Field("、".join(names[:4]), "text 编辑", 0.85)
    for item in site.articles[:2]:
        people = [name for name, _ in people_declared(page, item, "editor")]
        if people:
            return Field(", ".join(people[:4]), "json-ld editor", 0.8)
    written = page.meta.get("editor", "")
    name = tidy_name(written)
    return Field(name, "meta editor", 0.6) if name else None
