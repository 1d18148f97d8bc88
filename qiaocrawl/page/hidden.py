"""What is hidden on a page and shown later by a script, and what is never meant to be read.

A page is read as its readers see it in the end. Markup hides more than that: the application until
it has started, the rest of an article behind "read on", the parts a server sends behind the page
(React puts ``<div hidden id="S:1">`` where ``<template id="B:1">`` stands). It also hides menus,
dialogues and tips, which nobody asked for. The two are told apart by what is prose and where it
stands. Words within a line are the other case: noise against copying is hidden there, and a word
of a sentence may stand in a button. All rules are **(ours)**.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from qiaocrawl.page.blocks import BLOCK, PLAIN_SIGHT, Sight, blocks_of, is_hidden, kind_of
from qiaocrawl.text.normalise import HAN_OR_KANA, without_blanks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# --- Parts that are sent behind the page and have a place in it -----------------------------------

_PLACE = "<template id="
_PART_ID = re.compile(r"(.{0,40})S:([0-9a-f]{1,8})")
# $RC("B:1","S:4") puts a part in the place of a boundary, $RS("S:4","P:4") in that of a segment.
_CALL = re.compile(
    r"""\$R[A-Z]\("([^"]{0,40}[BPS]:[0-9a-f]{1,8})","([^"]{0,40}[BPS]:[0-9a-f]{1,8})"""
)
_MAX_PARTS = 500
_MAX_WAITING_NODES = 200
_END_OF_PLACE, _BEGIN_OF_PLACE = "/$", "$"


def place_streamed_parts(tree: LexborHTMLParser, source: str) -> None:
    """Move the parts of a streamed page to their places, in the place of what waits there."""
    if _PLACE not in source:
        return
    parts = tree.css('div[hidden][id*="S:"]')[:_MAX_PARTS]
    if not parts:
        return
    places: dict[str, LexborNode] = {}
    for node in tree.css('template[id*="B:"],template[id*="P:"]'):
        places.setdefault(node.attributes.get("id") or "", node)
    called: dict[str, str] = {}
    for one, other in _CALL.findall(source):
        part, place = (one, other) if "S:" in one else (other, one)
        called.setdefault(part, place)
    for part in parts:
        name = part.attributes.get("id") or ""
        match = _PART_ID.fullmatch(name)
        if match is None:
            continue
        usual = (f"{match[1]}B:{match[2]}", f"{match[1]}P:{match[2]}")
        place = next(
            (places.pop(at) for at in (called.get(name, ""), *usual) if at in places), None
        )
        if place is None or _holds(part, place):
            continue
        _drop_waiting(place)
        del part.attrs["hidden"]
        place.replace_with(part, move=True)


def _holds(around: LexborNode, node: LexborNode) -> bool:
    above: LexborNode | None = node
    while above is not None and above.mem_id != around.mem_id:
        above = above.parent
    return above is not None


def _drop_waiting(place: LexborNode) -> None:
    """Remove what is shown until the part of a boundary is there: up to the comment ``/$``."""
    waiting: list[LexborNode] = []
    depth, node = 0, place.next
    while node is not None and len(waiting) < _MAX_WAITING_NODES:
        comment = node.comment_content if node.is_comment_node else None
        if comment is not None and comment.startswith(_BEGIN_OF_PLACE):
            depth += 1
        elif comment == _END_OF_PLACE:
            if not depth:
                for one in waiting:
                    one.remove()
                return
            depth -= 1
        waiting.append(node)
        node = node.next


# --- What is read of a page against its markup ----------------------------------------------------

# Noise against copying is hidden, of no size, or of the class that Discuz! gives it.
MARKED = (
    '[hidden],[style*="display" i],[style*="font-size:0"],[style*="font-size: 0"],'
    '[style*="visibility" i],[style*="opacity:0"],[style*="opacity: 0"],[style*="-9999"],'
    '.jammer,button,a [class*="sr-only"],a [class*="visually-"],a [class*="screen-reader"]'
)
_OF_NO_TEXT = frozenset(("meta", "link", "script", "title", "base"))
_UNSEEN = re.compile(
    r"font-size:\s*0(?:px|pt|em|rem|%)?\s*(?:;|!|$)|visibility:\s*hidden|"
    r"opacity:\s*0(?:\.0+)?\s*(?:;|!|$)|(?:left|top|text-indent):\s*-9999",
    re.IGNORECASE,
)
_OF_LINK = re.compile(
    r"\W*(?:link\s)?(?:\(?opens?|open)?\s?(?:in|a|is)?\s?(?:an?\s)?(?:new|external|another)\s?(?:window|tab|link|page|site)?\W*|"
    r"\W*(?:在|于|於|另)?(?:[开開][启啟]?)?(?:新|外部)[开開]?的?(?:窗口|視窗|视窗|分[页頁]|[标標][签籤][页頁]?|[链連鏈][接結结])(?:中)?(?:打[开開]|[开開][启啟])?\W*",
    re.IGNORECASE,
)
"""What a link says of itself to those who hear a page."""
_SENTENCE_PARENTS = frozenset(("p", "li", "dd", "td", "blockquote", "figcaption"))
_CLAUSE = re.compile("[，。；！？、]|[a-z,;:] [a-z]+ [a-z]")
_STOP = re.compile(r"[。！？；…]|[.!?][\"”’)]?(?:\s|$)")
_MAX_WORD_CHARS, _LEAST_SENTENCE_CHARS = 40, 12
_DEED = re.compile(
    r"展开|展開|收起|全文|更多|复制|複製|分享|打印|列印|收藏|点赞|點讚|关注|關注|听新闻|聽新聞|听全文|^[听聽]$|播放|下载|下載|举报|評論|评论|"
    r"订阅|訂閱|登录|登入|注册|提交|搜索|返回|关闭|關閉|字号|^繁[体體]$|^[简簡][体體]$|"
    r"\b(?:more|copy|share|print|save|like|follow|listen|play|download|close|submit|subscribe|sign|log|menu|reply)\b",
    re.IGNORECASE,
)
"""What a button does: no word of a sentence."""
_READ_ON = re.compile(
    r"展开|展開|(?:阅读|閱讀|查看|显示|顯示|浏览|點擊看|点击看|看)(?:全文|全部|更多|剩余|余下|完整)|余下全文|剩余全文|"
    r"继续阅读|繼續閱讀|加载全文|\bread\s(?:more|on|all|full)|\b(?:show|view|see)\s(?:more|all|full)|"
    r"\bcontinue\sreading|\bexpand|full\s(?:story|article|text)",
    re.IGNORECASE,
)
_MAX_CONTROL_CHARS = 30
_ASIDE = re.compile(
    r"modal|dialog|pop-?_?up|lightbox|overlay|tooltip|cookie|consent|gdpr|privacy|xieyi|agreement|"
    r"protocol|newsletter|(?<![a-z])(?:pop|mask|layer|toast|tips?|login\w*|register\w*|subscri\w*|"
    r"menu|nav(?:bar|igation)?|side-?bar|drawer|comment\w*|repl(?:y|ies)|pinglun|foot(?:er)?|banner|"
    r"advert\w*|ads?|promo\w*|related|recommend\w*|tuijian)(?![a-z])"
)
"""What nobody asked for, by its name or that of what is around it; _OWN_ASIDE by its own alone."""
_OWN_ASIDE = re.compile(
    r"(?<![a-z])(?:share|qr|qrcode|weixin|wechat|print\w*|tpl|template|clone|disclaim\w*|copyright|"
    r"vote|search|tabs?|translat\w*|english)(?![a-z])"
)
_ASIDE_TAGS = frozenset(("nav", "aside", "footer", "dialog"))
_TEXT_NAMES = re.compile(
    r"(?<![a-z])(?:app|root|main|content|article|detail|story|news|post|entry|page|wrap(?:per)?|"
    r"container|text|body|zhengwen)(?![a-z])"
)
_TEXT_TAGS = frozenset(("main", "article"))
_HEADINGS = "h1,h2,h3"
_TIP = re.compile(
    r"扫码|掃碼|扫一扫|掃一掃|二维码|二維碼|客户端|客戶端|公众号|公眾號|下载|下載|登录|登入|注册|註冊|订阅|訂閱|会员|會員|开通|付费|"
    r"\b(?:subscri|log in|sign (?:in|up)|register|download|newsletter|cookie)"
)
_MOST_TIP_BYTES = 900
_MAX_HIDDEN = 400
"""Hidden elements of a page that may be looked into, and _MAX_RUNS of them in earnest."""
_MAX_RUNS = 20
_MAX_SIBLINGS = 60
_LEVELS = 2
_LEAST_CHARS = 20
_LARGE_BYTES, _READ_ON_BYTES = 270, 120
_LEAST_SHARE = 0.15
"""What is hidden in an article's own element may be a tip where it has less than this share of the
prose before it."""
_LITTLE_CHARS, _LITTLE_BYTES = 3_000, 500
_HEAD_CHARS, _COPY_CHARS = 12, 24
_COPY_SHARE, _TEASER_SHARE = 0.3, 0.7
_LINKED = 0.3
_SWALLOWED = "script,style,noscript,template,textarea"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of hidden siblings with prose in them: its nodes, and the sentences."""

    nodes: tuple[LexborNode, ...]
    prose: tuple[str, ...]

    @property
    def size(self) -> int:
        """UTF-8 bytes, so that a sentence counts alike in Chinese and in English."""
        return sum(map(_size, self.prose))


def sight_of(root: LexborNode | None, marked: Iterable[LexborNode], title: str) -> Sight:
    """What of the elements under *root* is read against their markup.

    Args:
        marked: the elements that match :data:`MARKED`; others do no harm.
        title: the page's ``<title>``.
    """
    if root is None:
        return PLAIN_SIGHT
    passed: set[int] = set()
    shown: set[int] = set()
    hidden: list[LexborNode] = []
    for node in marked:
        tag, attributes = node.tag or "", node.attributes
        if tag in _OF_NO_TEXT:
            continue
        is_inline = kind_of(tag, BLOCK) > BLOCK
        if tag == "button":
            if not is_hidden(attributes) and _is_word(node):
                shown.add(node.mem_id)
        elif is_hidden(attributes):
            hidden.append(node)
            if is_inline:
                passed.add(node.mem_id)
        elif _is_noise(node, attributes, is_inline=is_inline):
            passed.add(node.mem_id)
    if hidden:
        for node in _shown_later(root, hidden, title, passed):
            passed.discard(node.mem_id)
            shown.add(node.mem_id)
    return Sight(frozenset(passed), frozenset(shown)) if passed or shown else PLAIN_SIGHT


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _is_noise(node: LexborNode, attributes: dict[str, str | None], *, is_inline: bool) -> bool:
    if "jammer" in (attributes.get("class") or "").split():
        return True
    if not is_inline:
        return False
    if "class" in attributes and _OF_LINK.fullmatch(node.text()[:_MAX_WORD_CHARS]):
        return True
    # What has no size may hold elements that have one again.
    child = node.first_child
    is_text = child is not None and child.is_text_node and child.next is None
    return is_text and _UNSEEN.search(attributes.get("style") or "") is not None


def _is_word(button: LexborNode) -> bool:
    """Whether a button is a word of the sentence it stands in."""
    parent = button.parent
    if parent is not None and kind_of(parent.tag or "", BLOCK) > BLOCK:
        parent = parent.parent
    if parent is None:
        return False
    if parent.tag not in _SENTENCE_PARENTS and not _is_between_words(button):
        return False
    word = button.text().strip()
    if not 0 < len(word) <= _MAX_WORD_CHARS or _DEED.search(word):
        return False
    whole = parent.text()
    before, _, after = whole.partition(word)
    return (
        len(whole) - len(word) >= _LEAST_SENTENCE_CHARS
        and _CLAUSE.search(before + after) is not None
        and after.strip() != ""
    )


def _is_between_words(button: LexborNode) -> bool:
    """Whether text stands on both sides of *button*, and none of it ends or begins there."""
    before, after = button.prev, button.next
    if before is None or after is None:
        return False
    head, tail = before.text_content or "", after.text_content or ""
    return head.strip()[-1:].isalpha() and tail.strip()[:1].isalpha()


def _shown_later(
    root: LexborNode, hidden: Sequence[LexborNode], title: str, passed: set[int]
) -> list[LexborNode]:
    """Those of the *hidden* elements that a script will show; teasers they repeat are *passed*."""
    pieces = sorted(_pieces(hidden), key=lambda piece: -piece.size)[:_MAX_RUNS]
    later: list[LexborNode] = []
    for piece in pieces:
        if piece.size >= _READ_ON_BYTES and _goes_on(piece, passed):
            later += piece.nodes
    if not later and pieces:
        application = _application(root, pieces, title)
        later += application.nodes if application is not None else ()
    return later


def _pieces(hidden: Sequence[LexborNode]) -> Iterator[_Piece]:
    """The outermost *hidden* elements with prose in them that stands in none before.

    Siblings without a gap are one piece.
    """
    ids = {node.mem_id for node in hidden}
    nodes: list[LexborNode] = []
    prose: list[str] = []
    seen: set[str] = set()
    for node in hidden[:_MAX_HIDDEN]:
        sentences = [text for text in _prose(node, ids) if text not in seen]
        if not sentences:
            continue
        seen.update(sentences)
        if nodes and _element_after(nodes[-1]) != node.mem_id:
            yield _Piece(tuple(nodes), tuple(prose))
            nodes, prose = [], []
        nodes.append(node)
        prose += sentences
    if nodes:
        yield _Piece(tuple(nodes), tuple(prose))


def _element_after(node: LexborNode) -> int:
    after = node.next
    while after is not None and not after.is_element_node:
        if after.is_text_node and not (after.text_content or "").isspace():
            return 0
        after = after.next
    return after.mem_id if after is not None else 0


def _prose(node: LexborNode, hidden: set[int]) -> list[str]:
    """The blocks with sentences in a hidden element that stands in no other."""
    text = node.text()
    if len(text) < _LEAST_CHARS or not _STOP.search(text) or _is_aside(node):
        return []
    above = node.parent
    while above is not None:
        if above.mem_id in hidden:
            return []
        above = above.parent
    if kind_of(node.tag or "", BLOCK) > BLOCK and node.css_first("p,div,br") is None:
        return [text]
    blocks = blocks_of(node).blocks
    return [b.text for b in blocks if b.linked <= _LINKED * len(b.text) and _STOP.search(b.text)]


def _names(node: LexborNode) -> str:
    attributes = node.attributes
    names = (attributes.get("class"), attributes.get("id"), attributes.get("role"))
    return " ".join(filter(None, names)).lower().replace("_", "-")


def _is_aside(node: LexborNode) -> bool:
    """Whether *node* or what is around it is called a thing that nobody asked for."""
    if node.tag == "form" or _OWN_ASIDE.search(_names(node)):
        return True
    around: LexborNode | None = node
    for _ in range(1 + _LEVELS):
        if around is None or around.tag in ("body", "html"):
            break
        if around.tag in _ASIDE_TAGS or _ASIDE.search(_names(around)):
            return True
        around = around.parent
    return False


# --- The rest of an article ---------------------------------------------------------------------


def _goes_on(piece: _Piece, passed: set[int]) -> bool:
    """Whether *piece* goes on with the prose before it in its own element."""
    before: list[tuple[LexborNode, str]] = []
    above: LexborNode | None = piece.nodes[0]
    for _ in range(_LEVELS):
        if above is None or above.tag == "body":
            break
        before = [(node, text) for node, text in _texts_before(above) if _STOP.search(text)]
        if before:
            break
        above = above.parent
    told = sum(_size(text) for _, text in before)
    if above is None or not before or not _is_alike(before, piece):
        return False
    if piece.nodes[0].css_first("h1") is not None or _is_tip(piece):
        return False
    enough = _READ_ON_BYTES if _is_offered(above) else max(_LARGE_BYTES, _LEAST_SHARE * told)
    if piece.size < enough:
        return False
    already = without_blanks("".join(text for _, text in before))
    copied = sum(
        _size(text) for text in piece.prose if without_blanks(text)[:_COPY_CHARS] in already
    )
    if told > _TEASER_SHARE * piece.size:
        # Else it is what is shown once more, for another device say.
        return copied <= _COPY_SHARE * piece.size
    whole = without_blanks("".join(piece.prose))
    if copied:
        passed.update(
            node.mem_id for node, text in before if without_blanks(text)[:_HEAD_CHARS] in whole
        )
    return True


def _is_tip(piece: _Piece) -> bool:
    """Whether *piece* asks the reader for something: to scan, to log in, to pay."""
    if piece.size > _MOST_TIP_BYTES:
        return False
    return len(set(_TIP.findall("".join(piece.prose).lower()))) > 1


def _texts_before(node: LexborNode) -> list[tuple[LexborNode, str]]:
    """The siblings before *node* with their texts, hidden ones and links left out."""
    found: list[tuple[LexborNode, str]] = []
    sibling = node.prev
    for _ in range(_MAX_SIBLINGS):
        if sibling is None:
            break
        if sibling.is_text_node:
            found.append((sibling, sibling.text_content or ""))
        elif _may_tell(sibling):
            found.append((sibling, sibling.text().strip()))
        sibling = sibling.prev
    return found


def _may_tell(node: LexborNode) -> bool:
    if not node.is_element_node or node.tag in ("script", "style", "a", "button"):
        return False
    return not is_hidden(node.attributes)


def _is_alike(before: Sequence[tuple[LexborNode, str]], piece: _Piece) -> bool:
    """Whether both are written in letters of one kind: a translation does not go on."""
    return _is_wide("".join(text for _, text in before)) == _is_wide("".join(piece.prose))


def _is_wide(text: str) -> bool:
    return 5 * len(HAN_OR_KANA.findall(text)) > len(text)


def _is_offered(node: LexborNode) -> bool:
    """Whether something beside *node* or its parent says "read on"."""
    parent = node.parent
    around = [parent.parent] if parent is not None and parent.tag != "body" else []
    for place in (parent, *around):
        child = place.first_child if place is not None else None
        for _ in range(_MAX_SIBLINGS):
            if child is None:
                break
            if child.is_element_node:
                text = child.text().strip()
                if 0 < len(text) <= _MAX_CONTROL_CHARS and _READ_ON.search(text):
                    return True
            child = child.next
    return False


# --- The application of a page that shows little before it has started ----------------------------


def _application(root: LexborNode, pieces: Iterable[_Piece], title: str) -> _Piece | None:
    """The hidden piece that is the article of a page which shows little else."""
    shown = _letters(root) - sum(map(_letters, root.css(_SWALLOWED)))
    shown -= sum(_letters(node) for piece in pieces for node in piece.nodes)
    if shown > _LITTLE_CHARS:
        return None
    blocks = blocks_of(root).blocks
    told = sum(
        _size(b.text) for b in blocks if _STOP.search(b.text) and b.linked <= _LINKED * len(b.text)
    )
    if told >= _LITTLE_BYTES:
        return None
    for piece in pieces:
        node, enough = piece.nodes[0], max(_LARGE_BYTES, 2 * told)
        if piece.size >= enough and _is_text(node, title):
            return piece
    return None


def _letters(node: LexborNode) -> int:
    return len(without_blanks(node.text()))


def _is_text(node: LexborNode, title: str) -> bool:
    """Whether a hidden element is by its name or its heading what the page is there for."""
    if node.tag in _TEXT_TAGS or node.css_first("main,article") is not None:
        return True
    if _TEXT_NAMES.search(_names(node)):
        return True
    tight = without_blanks(title)
    for heading in islice(node.css(_HEADINGS), 10):
        text = without_blanks(heading.text())
        if len(text) >= 4 and text in tight:
            return True
    return False
