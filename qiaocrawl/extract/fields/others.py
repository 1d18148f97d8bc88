"""Elements of a page that belong to something other than its article.

Lists of links, comments, quoted posts and the next stories name authors and days as the article
does. What stands between the title and the body is the article's own, and so is what lies
around both; of other elements the links, the names and the first words tell. **(ours)**
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from qiaocrawl.page.blocks import is_hidden, names_of
from qiaocrawl.text.normalise import collapse

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from qiaocrawl.extract.fields.body_context import BodyContext
    from qiaocrawl.page.page import Page

_NAMES = re.compile(
    r"comment|repl(?:y|ies)|pinglun|liuyan|disqus|relat|recommend|similar|side-?bar|tuijian|xiangguan|"
    r"paihang|remen|tweet|twitter|weibo|teaser|promo|trending|popular|"
    r"(?:^|[\s_-])(?:rel|hot|rank(?:ing)?|side|next|prev(?:ious)?|nav|menu|topics?|latest|more|quoted?)"
    r"(?:[_-]?(?:list|box|wrap|news|items?|posts?|articles?|area|section|bar))?(?:$|[\s_-])"
)
_TAGS = frozenset(("nav", "menu", "blockquote", "aside"))
_OF_ARTICLE = re.compile("author|byline|writer|profile|bio|meta|entry|article")
_HEADING = re.compile(
    r"\W*(?:(?:网友|網友|最新|热门|熱門|全部|精彩|读者|讀者|本文|更多|其他|其它|相关|相關|往期|今日|本周|猜你)\s?)*"
    r"(?:评论|評論|留言|跟帖|回复|回覆|阅读|閱讀|推荐|推薦|文章|新闻|新聞|报道|報道|報導|链接|連結|资讯|資訊|喜欢|喜歡|"
    r"排行|热门|熱門|热点|熱點|下一篇|上一篇|精选|精選|专题|專題|博客|部落格)(?:榜|板|区|區|列表)?|"
    r"\W*(?:comments?|(?:related|more|latest|popular|top|recent|trending|recommended)\b.{0,24}|"
    r"you (?:may|might) .{0,20}|read (?:more|next)|most read|up next|next (?:story|article))",
    re.IGNORECASE,
)
_HEADING_CHARS = 32
_LEVELS = 8
_ITEM_LEVELS = 3
_STEPS = 12
_ITEM_STEPS = 24
_OWN_CHARS = 40
_LINE_BLOCKS = 3
# A link with so many characters names a story; in Latin letters words are longer.
_LEAST_ANCHOR, _LEAST_LATIN_ANCHOR = 8, 20


class Others:
    """Tells the elements of *page* that are not of the article at *context*."""

    def __init__(self, page: Page, context: BodyContext) -> None:
        self._found = page.blocks
        self._context = context
        self._verdicts: dict[int, bool] = {}

    @cached_property
    def _around(self) -> frozenset[int]:
        """The elements in which the title or the beginning of the body stands."""
        blocks, elements = self._found.blocks, self._found.elements
        shown = [at for at in (self._context.title_at, self._context.first) if at >= 0]
        around = {index for at in shown for index in self._found.path(blocks[at].element)}
        return frozenset([elements[index].node.mem_id for index in around])

    @cached_property
    def _between(self) -> str:
        """The lines between title and body."""
        title, first = self._context.title_at, self._context.first
        between = self._context.blocks[title + 1 : first] if 0 <= title < first else []
        return "\n".join([block.text for block in between])

    def hold(self, node: LexborNode) -> bool:
        """Whether *node* is in an element of something else."""
        own = collapse(node.text()[: 4 * _OWN_CHARS])[:_OWN_CHARS]
        if own and own in self._between:
            return False
        current: LexborNode | None = node
        for level in range(_LEVELS):
            if current is None or current.mem_id in self._around or current.tag in ("body", "html"):
                return False
            if level < _ITEM_LEVELS:
                is_other = self._is_other(current, own, level)
            else:  # the same for all that is inside
                at = current.mem_id
                if at not in self._verdicts:
                    self._verdicts[at] = self._is_other(current, own, level)
                is_other = self._verdicts[at]
            if is_other:
                return True
            current = current.parent
        return False

    def hold_block(self, at: int) -> bool:
        """Whether block *at* is in an element of something else, or names another article."""
        block = self._context.blocks[at]
        element = self._found.elements[block.element]
        is_line = element.end - element.first <= _LINE_BLOCKS
        if is_line and block.links and self._names_story(element.node):
            return True
        return self.hold(element.node)

    def _is_other(self, node: LexborNode, own: str, level: int) -> bool:
        attributes = node.attributes
        names = names_of(attributes)
        if node.tag in _TAGS and not _OF_ARTICLE.search(names):
            return True
        if _NAMES.search(names) or is_hidden(attributes):
            return True
        if level and _HEADING.fullmatch(_first_words(node)):
            return True
        if node.tag == "a" and "href" in attributes:
            anchor = collapse(node.text()[: 8 * _OWN_CHARS])
            return len(anchor) - len(own) >= (_LEAST_LATIN_ANCHOR if anchor.isascii() else 4)
        return level < _ITEM_LEVELS and self._names_story(node, own)

    def _names_story(self, node: LexborNode, own: str = "") -> bool:
        """Whether a link in *node* is the headline of another article, and not *own* words."""
        for link in _links_in(node):
            anchor = collapse(link.text()[: 8 * _OWN_CHARS])
            least = _LEAST_LATIN_ANCHOR if anchor.isascii() else _LEAST_ANCHOR
            is_own = own and (own in anchor or anchor in own)
            is_own = is_own or anchor in self._context.title
            if len(anchor) >= least and not is_own:
                return True
        return False


def _links_in(node: LexborNode) -> Iterator[LexborNode]:
    """The links among the first elements in *node*."""
    stack = [node.first_child]
    for _ in range(_ITEM_STEPS):
        if not stack:
            return
        inner = stack.pop()
        if inner is None:
            continue
        stack.append(inner.next)
        if inner.tag == "a":
            href = inner.attributes.get("href") or ""
            if href and not href.startswith(("#", "javascript:")):
                yield inner
        elif inner.text_content is None:
            stack.append(inner.first_child)


def _first_words(node: LexborNode) -> str:
    """The first text in *node*, when it is short; "" otherwise."""
    inner = node.first_child
    for _ in range(_STEPS):
        if inner is None:
            return ""
        text = inner.text_content
        if text is None:
            inner = inner.first_child or inner.next
        elif text.isspace():
            inner = inner.next
        else:
            return text.strip() if len(text) <= 2 * _HEADING_CHARS else ""
    return ""
