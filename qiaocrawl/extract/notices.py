"""Lines that are no text of an article, excerpts of others, and bodies without sentences.

What else to read, whom to write to, what the site sells or asks leave for, and labels that a page
repeats. They look like text to any judge of looks: they stand between its paragraphs, in the same
elements, in sentences. So they are told by their words; too few of them are in any collection to
be learnt. But words alone never take a sentence out from among others: news tells of 主办 and 承办,
laws of 许可证 and 备案, reports of 侵权 and cookies. What goes has the form of a notice as well: it
begins like one, has labels (主办单位：…), a number (ICP备…) or speaks of the page it stands on
(本站, 与我们联系). **(ours)**
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_texts import BlockTexts, enclosing
from qiaocrawl.extract.methods.block_features import IMPRINT_CHARS, is_paid_for
from qiaocrawl.extract.methods.block_vocabulary import telling_words
from qiaocrawl.extract.structure.kept import inside, is_data_table
from qiaocrawl.page.blocks import Block, PageBlocks
from qiaocrawl.page.page import Page

_READ_ON = re.compile(
    r"^\W*(?:(?:read|see|view) (?:more|also|next)|(?:also|must|more to) read|don[’']t miss|"
    r"(?:you )?(?:may|might) (?:also )?like|(?:what to )?(?:read|watch) next|trending(?: now)?|"
    r"(?:related|recommended|more|other|similar|popular|latest)"
    r"(?: (?:articles?|stor(?:y|ies)|posts?|news|links?|reading|coverage|content|topics?))|"
    r"related|recommended|more on this(?: story| topic)?|"
    r"(?:相关|相關|延伸|推荐|推薦|更多|热门|熱門|精彩|编辑|編輯|其[他它]|近期)"
    r"(?:阅读|閱讀|新闻|新聞|报道|報導|報道|链接|連結|鏈接|文章|推荐|推薦|专题|專題|图片|內容|内容)|"
    r"猜你喜欢|您可能感兴趣)(?P<end>\W*$|\s*[:：>»|])",
    re.IGNORECASE,
)
_LEAST_LABEL_CHARS, _LABEL_CHARS = 4, 40
_MOST_LINKED = 0.5
_MAX_TITLES = 12
"""Lines of links that a label announces, at most."""
_TITLE_CHARS = 160
_SAID = re.compile(
    r"^[\W①-⑩]*(?:"
    # whom to write to, who worked on it
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+\W*$|(?:https?://)?(?:www\.)?(?:twitter|facebook)\.com/\S+$|@\w+$|"
    r"to contact the (?:reporter|author|editor|writer)s?\b|editors?: .{0,60}$|"
    r"(?:additional )?(?:reporting|editing|writing) by (?P<names>.{1,200})$|"
    r"(?<=\()updates? (?:with|to add) .{0,90}$|"
    # what the site offers
    r"follow (?:me|us|him|her)(?:\W*$|\s?[:@]|\b.{0,60}(?:@\w|\b(?:twitter|facebook|instagram|"
    r"linkedin|youtube|google)\b).{0,80}$)|"
    r"(?:follow|like|join|find) .{2,60}\b(?:on|at) (?:twitter|facebook|instagram|google news|"
    r"whatsapp|telegram|youtube)\b.{0,120}$|"
    r"(?:sign up|subscribe|register) (?:now |here |today )?(?:for|to) (?:our\b|(?:the|free)\b"
    r".{0,60}\b(?:newsletter|e-?mail|alert|bulletin|briefing|podcast|channel|update)).{0,120}$|"
    r"for more (?:stories|news) like this\b|click here (?:to|for)\b.{0,120}$|"
    r"(?:this|the) (?:slideshow|video|gallery|page|site) requires javascript|"
    r"please (?:enable|turn on) javascript|"
    r"(?:您|你|當前|当前)的?(?:浏览器|瀏覽器).{0,6}(?:不支持|版本|不支援).{0,40}$|"
    r"[欢歡]迎(?:[您你]的?)?(?:光[临臨]|[访訪][问問]|[来來]到|[进進]入|[浏瀏][览覽])[^。！，]{2,40}"
    r"[!！。]?(?:\s?今天是\s?[:：].{0,24})?$|"
    # the address of the page itself
    r"本文(?:网址|網址|地址|链接|連結|固定链接)\s?[：:]|"
    # the head and the foot of a post on a bulletin board
    r"(?:发信人|發信人|寄信人)\s?[：:].*(?:信区|信區|看板)|(?:发信站|發信站)\s?[：:]|"
    r"[标標]\s{1,3}[题題]\s?[：:]|"
    r"※\s?(?:来源|來源|修改|发信站|發信站)\s?[：:]|"
    # what it asks leave for
    r"if you are a california (?:consumer|resident)\b.{0,200}\b(?:opt[- ]out|do not sell|privacy|"
    r"personal information)\b|please note that opting[- ]out\b|"
    # whose text may be copied
    r"凡(?:本[网網站刊报報]|注明|標明).{0,12}(?:注明|[来來]源)"
    r")",
    re.IGNORECASE,
)
_SMALL_WORDS = frozenset(
    (
        "and",
        "in",
        "at",
        "of",
        "for",
        "with",
        "by",
        "from",
        "to",
        "de",
        "van",
        "von",
        "bin",
        "al",
        "the",
        "reporting",
        "editing",
        "writing",
        "additional",
        "graphics",
        "compiled",
    )
)
"""What stands between the names of those who made a text."""
_WORD = re.compile(r"\w+")
_SOLD = re.compile(r".{0,40}(?:移[动動]|[联聯]通|[电電]信).{0,4}[发發].{0,12}到\s?1\d{4,}")
"""Newspapers sold by text message."""
_OFFERED = (
    ("cookies", re.compile(r".{0,60}\b(?:we|websites?|sites?) (?:uses?|stores?) cookies\b")),
    (
        "to your ",
        re.compile(
            r".{0,120}\b(?:delivered|sent|straight) (?:\w+ ){0,2}to your "
            r"(?:inbox|email|door|letterbox)\b"
        ),
    ),
)
"""(What stands in it, the pattern): only where the first is found the second is tried."""
_OFFER = re.compile(
    r"\W*(?:get|have|receive|enjoy|want|like|we|our|this (?:web)?site|sign up|subscribe|join|start|"
    r"stay|keep|free|the (?:best|latest|top|day))\b",
    re.IGNORECASE,
)
"""How a line begins that offers something to the reader, or asks for leave."""
_TO_READER = re.compile(r"\b(?:we|our|your?)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[。！？；…]|[.!?;](?=[\s”’\"')\]）]|$)")
_CLAUSE = re.compile(r"[，,、]|由.{2,40}(?:主[办辦管]|承[办辦])")
_LABELLED = re.compile(
    r"[\W①-⑩]*(?:"
    r"(?:免[责責]|版[权權]|侵[权權]|[转轉][载載]|特[别別]|法律|本[站网網刊报報社])?[声聲]明\s?[】\])）:：]|"
    r"免[责責](?:[声聲]明|[条條]款)(?:$|\s)|"
    r"凡(?:本[网網站刊报報]|注明|註明|[标標]明|未注明|[来來]源|[转轉][载載]|署名)|"
    r"[转轉][载載](?:[请請须須务務](?!柬)|[时時][请請须須])|"
    r"(?:[关關][于於](?:我[们們]|本站)|[联聯聯][系絡繫]我[们們])(?:\W|$)|"
    r"版[权權](?:所有|均?[归歸][^，。]{0,6}(?:作者|本|所有)|均)|©|\(c\)|copyright\s?(?:©|\(c\)|\d|by\b|[:：])|"
    r"[欢歡]迎(?:投稿|[来來]稿)\s?[:：]|(?:征|徵|投)稿(?:启事|啟事|须知|須知)\s?[:：]|"
    r"all rights reserved|disclaimer\b|(?:terms of (?:use|service)|privacy policy)\W"
    r")",
    re.IGNORECASE,
)
"""How nothing but a notice begins."""
_BEGIN = re.compile(
    r"[\W①-⑩]*(?:"
    r"本(?:文|[网網]站?|站|平台|公[众眾][号號]|篇|稿|[号號])[^。！？，]{0,20}"
    r"(?:[转轉][载載]|[来來]源|代表|刊[载載]|登[载載]|版[权權]|[声聲]明|原[创創]|主[办辦]|承[办辦])|"
    r"如[^。，]{0,16}(?:侵[权權犯]|版[权權])[^。]{0,40}(?:[联聯][系繫絡络]|告知|通知|[删刪]除|[处處]理)|"
    r"(?:the )?(?:views|opinions) [^.]{0,60}(?:expressed|author)|no part of\b|"
    r"this (?:material|article|story|content|report|document|work|publication)\b[^.]{0,40}"
    r"\b(?:may not|copyright|reproduced)|by (?:using|continuing)\b|we use\b|"
    r"this (?:web)?site uses\b"
    r")",
    re.IGNORECASE,
)
"""How a notice may begin."""
_SELF = re.compile(
    r"(?<![日基资資样樣成版根剧劇课課原文书書])本(?:[网網][站页頁]?|站|刊|社|平台|公[众眾]?[号號]|[号號]|文)"
    r"(?![上讯訊友民]|[记記]者)|"
    r"本[报報](?:所有|版[权權]|授[权權]|刊登|[转轉][载載]|享有|[联聯]|同意)|"
    r"(?:[与與和跟]|致[电電]|[联聯][系繫絡络]|通知|告知)(?:我[们們]|本[网網站报報刊])|"
    r"(?:[归歸属屬]|代表)[^，。]{0,6}作者|"
    r"(?:[图圖]片|[内內]容|文章|文字|素材|部分)[^，。]{0,10}(?:[来來]自|[来來]源|源于|[转轉]自|摘自|取自)[^，。]{0,4}"
    r"(?:[网網][络絡路]|互[联聯][网網])|"
    r"[联聯][系繫絡络](?:版主|管理[员員]|站[长長])|"
    r"[转轉][载載](?:[请請须須]|[时時][请請须須])|均(?:为|為)?[转轉][载載]|均[来來]源|凡注明|凡註明|凡本|"
    r"不代表(?:本|[^，。]{0,8}(?:[观觀][点點]|立[场場]))|[声聲]明[:：]|"
    r"未[经經][^，。]{2,10}[，,]?\s?(?:[严嚴]禁|[请請]勿|[谢謝][绝絕])[^。]{0,12}"
    r"(?:[转轉][载載]|使用|[复複]制|複製|翻[拍摄攝])|"
    r"(?:^|[。；！\s])未[经經][^，。]{2,10}[，,]?\s?(?:不得|禁止|[严嚴]禁|[请請]勿|[谢謝][绝絕]|任何)[^。]{0,20}"
    r"(?:[转轉][载載]|使用|[复複]制|複製|摘[编編])|"
    r"\bwe (?:may )?(?:use|store)\b|\baccept (?:all |our )?cookies|"
    r"\b(?:our|this) (?:(?:web ?)?site|service|page|terms|privacy|content|material)\b|"
    r"\bthis (?:article|story)\b|"
    r"\bcontact us\b|\ball rights reserved\b|©|\bcopyright (?:©|\(c\)|\d)",
    re.IGNORECASE,
)
"""How a notice speaks of the page it stands on."""
_CLAIM = re.compile(
    r"版[权權][^，。]{0,4}(?:均|[归歸]|[属屬])[^，。]{0,12}所有[^。]{0,40}(?:不得|禁止|[严嚴]禁|[请請]勿|必究)|"
    r"[违違]者必究。?\W*$"
)
"""How a notice claims a text for its publisher."""
_HARD = re.compile(
    r"icp\s?[备備证證]|公[网網]安[备備]|[备備]案[编編]?[号號]|"
    r"[许許]可[证證](?:[编編]?[号號]|\s?[:：])\s?[:：]?\s?[(（〔]?[a-z\d]|©|"
    r"\bcopyright\s?(?:\(c\)|\d|by\b|[:：])|all rights reserved|"
    r"privacy policy|terms of|powered by|版[权權]所有|"
    r"[举舉][报報](?:[电電][话話]|[邮郵]箱)\s?[:：\d]|技[术術]支持\s?[:：]|[网網]站地[图圖]|友情[链連鏈][接結结]|"
    r"(?:[关關][于於](?:我[们們]|本站)|[联聯](?:系|繫|絡|络)我[们們])(?:\W|$)",
    re.IGNORECASE,
)
"""What only an imprint says."""
_LABEL = re.compile(
    r"(地址|[电電][话話]|[邮郵][编編]|[传傳]真|[邮郵]箱|[联聯]系方式|主[办辦管]|承[办辦]|技[术術]支持|[备備]案|[许許]可[证證])"
    r"(?:[单單]位|[机機]构|部[门門]|方|[编編]?[号號])?\s?[:：]"
)
_CLAUSES_CHARS = 20
_AMID_LEVELS, _NEAR_LEVELS = 8, 3
"""Elements around a block in which text before and after it, or beside it, is looked for."""
_MAX_CHARS = 1200
_CONSENT_NAMES = ("onetrust", "cookie", "consent", "gdpr", "ccpa", "didomi", "truste")
_CONSENT = re.compile(r"cookie|privacy|隐私|隱私|consent", re.IGNORECASE)
_MOST_OF_PAGE = 0.3
_REPEATED = 6
_MOST_LABELS = 2
"""Of more lines that stand so often each, the page is a timetable or a list of goods."""
_REPEATED_CHARS = 40
_STOPS = "。！？.!?”"
_CELLS = frozenset(("td", "th", "li", "dd", "dt", "pre"))


def told_by_words(page: Page, likely: Sequence[int], worded: Sequence[int]) -> list[int]:
    """Those of *worded* that are notices by their form and place too.

    Args:
        likely: indexes of the blocks that would be taken for text.
        worded: indexes of blocks with two telling words or more, see
            :attr:`~qiaocrawl.extract.methods.block_features.BlockFeatures.notices`.
    """
    found, blocks = page.blocks, page.blocks.blocks
    worded_set = set(worded)
    told = [
        index
        for index in likely
        if has_sentence(blocks[index].text)
        and not (index in worded_set and is_notice_by_form(blocks[index].text))
    ]
    taken = []
    for index in worded:
        span = range(index, index + 1)
        amid = is_amid(found, span, told)
        near = amid or _is_near(found, index, told)
        if _is_notice(blocks[index].text, amid=amid, near=near):
            taken.append(index)
    return taken


def has_sentence(text: str) -> bool:
    """Whether a sentence, or a clause of a law, ends in *text*."""
    return _SENTENCE_END.search(text) is not None


def has_clauses(text: str) -> bool:
    """Whether *text* tells something: in a sentence, or in clauses whose last has no end."""
    return has_sentence(text) or (len(text) >= _CLAUSES_CHARS and "，" in text)


def is_notice_by_form(text: str) -> bool:
    """Whether *text*, which holds a word of notices, also has the form of one."""
    return is_paid_for(text) or any(
        form is not None
        for form in (
            _LABELLED.match(text),
            _BEGIN.match(text),
            _SELF.search(text),
            _CLAIM.search(text),
            _HARD.search(text),
        )
    )


def _is_notice(text: str, *, amid: bool, near: bool) -> bool:
    if is_paid_for(text):
        return True
    words = telling_words(text.lower())
    if _LABELLED.match(text) and (words["notice"] or len(text) <= 2 * IMPRINT_CHARS):
        return True
    if not amid and words["notice"]:
        if _BEGIN.match(text) or _CLAIM.search(text):
            return True
        if len(words["notice"]) > 1 and (_SELF.search(text) or not has_sentence(text)):
            return True
    return _is_imprint(text, words["legal"], amid=amid, near=near)


def _is_imprint(text: str, words: set[str], *, amid: bool, near: bool) -> bool:
    """Whether *text* says who runs a site: 主办单位：… 备案号：…, © …, or names alone in a row."""
    if len(text) > 2 * IMPRINT_CHARS or len(words) < 2:
        return False
    if "all rights reserved" in words:
        return True
    hard = len({match[0].lower() for match in _HARD.finditer(text)})
    labels = len({match[1] for match in _LABEL.finditer(text)})
    if has_clauses(text):
        return not amid and hard > 0 and hard + labels > 1
    if hard:
        return True
    if labels > 1:
        return not near  # in the text of a notice it tells whom to ask
    return not amid and not _CLAUSE.search(text)


def is_amid(found: PageBlocks, span: range, told: Sequence[int]) -> bool:
    """Whether *span* stands between blocks of *told* in one run of text.

    They stand in the innermost element around *span* that holds any of them, or on one side of it
    in the next part of the text: a paragraph, or an element of the same look.

    Args:
        told: in order.
    """
    place, behind = bisect_left(told, span.start), bisect_left(told, span.stop)
    if not place or behind == len(told):
        return False
    before, after = told[place - 1], told[behind]
    other = below = -1
    for at in enclosing(found, found.blocks[span.start].element, _AMID_LEVELS):
        element = found.elements[at]
        has_before, has_after = element.first <= before, after < element.end
        if has_before and has_after:
            return other < 0 or _goes_on(found, at, below, other)
        if has_before or has_after:
            other = after if has_before else before
        below = at
    return False


def _goes_on(found: PageBlocks, at: int, part: int, block: int) -> bool:
    """Whether *block* stands in the element *at* as another part of the text in its *part*."""
    elements, own = found.elements, found.blocks[block].element
    around = enclosing(found, own, _AMID_LEVELS)
    beside = next((i for i in around if elements[i].parent == at), -1)
    if beside < 0 or beside == own:
        return elements[at].tag != "body"
    return (elements[beside].tag, elements[beside].names) == (
        elements[part].tag,
        elements[part].names,
    )


def is_of_text(found: PageBlocks, index: int, told: Sequence[int]) -> bool:
    """Whether block *index* stands between blocks of *told* or beside one, as paragraphs do."""
    return is_amid(found, range(index, index + 1), told) or _is_near(found, index, told)


def _is_near(found: PageBlocks, index: int, told: Sequence[int]) -> bool:
    """Whether one of *told* stands beside block *index*, as paragraphs do."""
    around = enclosing(found, found.blocks[index].element, _NEAR_LEVELS)
    return any(
        bisect_left(told, found.elements[at].first) < bisect_right(told, found.elements[at].end - 1)
        for at in around
    )


def notice_blocks(page: Page, likely: Sequence[int]) -> frozenset[int]:
    """Indexes of the blocks that are such lines; often none.

    Args:
        likely: indexes of the blocks that would be taken for text; only they are read.
    """
    blocks = page.blocks.blocks
    taken = set(_related_labels(blocks))
    taken.update([index for index in likely if _is_said(blocks[index].text)])
    taken.update(_offers(page, likely))
    texts = page.once(BlockTexts)
    for span in _asking_leave(page.blocks, texts):
        taken.update(span)
    taken.update(_repeated_lines(page.blocks, texts.texts, likely))
    return frozenset(taken)


def _is_said(text: str) -> bool:
    if len(text) > _MAX_CHARS:
        return False
    said = _SAID.match(text)
    if said is None:
        return "到" in text and _SOLD.match(text) is not None
    names = said["names"]
    # "Reporting by Reuters showed that ..." is no line of names.
    return names is None or all(
        word[0].isupper() or word in _SMALL_WORDS for word in _WORD.findall(names)
    )


def _offers(page: Page, likely: Sequence[int]) -> Iterator[int]:
    """Lines that offer something to the reader; not a sentence amid the text that tells of it."""
    blocks = page.blocks.blocks
    offered = [index for index in likely if _is_offered(blocks[index].text)]
    told = [
        index
        for index in (likely if offered else ())
        if index not in offered and has_sentence(blocks[index].text)
    ]
    for index in offered:
        text = blocks[index].text
        if _OFFER.match(text) or (
            _TO_READER.search(text) and not is_amid(page.blocks, range(index, index + 1), told)
        ):
            yield index


def _is_offered(text: str) -> bool:
    if len(text) > _MAX_CHARS:
        return False
    return any(hint in text and pattern.match(text) for hint, pattern in _OFFERED)


def _related_labels(blocks: Sequence[Block]) -> Iterator[int]:
    """Labels such as "Related articles" with the lines of links below, and lines with both."""
    for index, (block, following) in enumerate(pairwise(blocks)):
        linked = block.linked
        if linked:
            if linked + _LEAST_LABEL_CHARS > len(block.text):
                continue  # nearly every link of a menu
            label = _READ_ON.match(block.text) if len(block.text) <= _TITLE_CHARS else None
            if label and label.end() < len(block.text) and _is_link(block, label.end()):
                yield index
        elif following.linked and len(block.text) <= _LABEL_CHARS and _is_link(following):
            label = _READ_ON.match(block.text)
            if label and label.end() == len(block.text):
                links = takewhile(_is_link, blocks[index + 1 : index + 1 + _MAX_TITLES])
                yield from range(index, index + 1 + sum(1 for _ in links))


def _is_link(block: Block, label_chars: int = 0) -> bool:
    """Whether most of a short line behind its label leads away."""
    chars = len(block.text) - label_chars
    return block.linked > _MOST_LINKED * chars and len(block.text) <= _TITLE_CHARS


def _asking_leave(found: PageBlocks, texts: BlockTexts) -> Iterator[range]:
    """Boxes that ask for leave to store cookies, unless most of the page is in them."""
    for at in texts.elements_named(*_CONSENT_NAMES):
        element = found.elements[at]
        inside = texts.texts[element.first : element.end]
        most = _MOST_OF_PAGE * sum(map(len, texts.texts))
        if sum(map(len, inside)) < most and any(map(_CONSENT.search, inside)):
            yield range(element.first, element.end)


def _repeated_lines(
    found: PageBlocks, texts: Sequence[str], likely: Sequence[int]
) -> Iterator[int]:
    """A short line again and again between paragraphs; cells and items of lists may repeat."""
    counts = Counter([texts[i] for i in likely if len(texts[i]) <= _REPEATED_CHARS])
    labels = [t for t, count in counts.items() if count >= _REPEATED and t[-1] not in _STOPS]
    if not 0 < len(labels) <= _MOST_LABELS:
        return
    for index in likely:
        if texts[index] in labels:
            around = enclosing(found, found.blocks[index].element, 3)
            if not any(found.elements[at].tag in _CELLS for at in around):
                yield index


# --- Excerpts of other articles before or after a body: items of a list, each led by a link -------
# They are sentences, and beside a short item there are more of them than of its own, so no judge of
# single blocks can leave them out. What tells them is that they stand in like elements, in a list
# that has nothing to do with the element that holds the paragraphs. **(ours)**

_LEAST_ITEMS = 3
_LEAST_TITLE_CHARS = 6
_LEAST_OWN_CHARS = 30
_TEXT_CHARS = 20
_MAX_BLOCKS = 100
_LEVELS = 3
"""Elements around a block among which the item of a list is looked for."""


def without_teasers(page: Page, body: Body) -> Body:
    """*body* less lists of excerpts at either end of it; all of it where that is the text."""
    found = page.blocks
    lists = {at for end in {*body.blocks[:1], *body.blocks[-1:]} for at in _lists(found, end)}
    within = {i for at in lists for i in range(found.elements[at].first, found.elements[at].end)}
    rest = [index for index in body.blocks if index not in within]
    if not lists or not all(_is_apart(found, at, rest) for at in lists):
        return body
    text = "\n".join(found.blocks[index].text for index in rest)
    reason = f"{body.reason}; {len(body.blocks) - len(rest)} blocks of excerpts left out"
    return replace(body, text=text, blocks=tuple(rest), reason=reason)


def _lists(found: PageBlocks, block: int) -> list[int]:
    """The innermost list of excerpts that *block* stands in; none as a rule."""
    around = found.path(found.blocks[block].element)[1 : _LEVELS + 1]
    return [at for at in around if _is_list_of_excerpts(found, at)][:1]


def _is_apart(found: PageBlocks, at: int, rest: Sequence[int]) -> bool:
    """Whether the other blocks *rest* hold text, all on one side of the element *at* and in an
    element of their own."""
    element = found.elements[at]
    if not rest or rest[0] < element.first < rest[-1]:
        return False
    if max(len(found.blocks[i].text) - found.blocks[i].linked for i in rest) < _LEAST_OWN_CHARS:
        return False
    around = found.path(found.blocks[rest[0]].element)[1:]
    shared = next((e for e in around if found.elements[e].end > rest[-1]), 0)
    holder = found.elements[shared]
    return not holder.first <= element.first < holder.end


def _is_list_of_excerpts(found: PageBlocks, at: int) -> bool:
    """Whether the element *at* holds like items that begin with a link and go on with text."""
    elements, blocks = found.elements, found.blocks
    first = elements[at].first
    if elements[at].end - first > _MAX_BLOCKS:
        return False
    if blocks[first].linked < _LEAST_TITLE_CHARS and blocks[first].element != at:
        return False  # nearly always: the first item begins without a link
    items = [elements[i] for i in inside(elements, at) if elements[i].parent == at]
    items = [item for item in items if item.end > item.first]
    if len(items) < _LEAST_ITEMS or len({(item.tag, item.names) for item in items}) > 1:
        return False
    return all(
        blocks[item.first].linked >= _LEAST_TITLE_CHARS
        and any(len(b.text) - b.linked >= _TEXT_CHARS for b in blocks[item.first : item.end])
        for item in items
    )


# --- Bodies without sentences, which any other rule takes for lists: poems, songs, a table of
# data

_LINE_CHARS = 40
_LEAST_LINES = 8
_MOST_BESIDE = 4
_HEADED_WITHIN = 6
_MOST_FACTS = 0.2
_FACT = re.compile(r"[0-9０-９:：@]")
"""What timetables, addresses and lists of goods have in nearly every line."""


def is_verse(lines: Sequence[Block]) -> bool:
    """Whether *lines*, all of one element, are short lines of text without links."""
    return all(
        line.element == lines[0].element and not line.linked and len(line.text) <= _LINE_CHARS
        for line in lines
    )


def is_verse_body(page: Page, body: Body) -> bool:
    """Whether *body* is nothing but stanzas: elements of lines with ``<br>`` between."""
    blocks = [page.blocks.blocks[index] for index in body.blocks]
    if len(blocks) < _LEAST_LINES:
        return False
    stanzas: dict[int, list[Block]] = {}
    for block in blocks:
        stanzas.setdefault(block.element, []).append(block)
    if not all(len(lines) > 1 and is_verse(lines) for lines in stanzas.values()):
        return False
    if not _is_headed(page, body.blocks[0]):
        return False
    facts = sum(_FACT.search(block.text) is not None for block in blocks)
    return facts <= _MOST_FACTS * len(blocks)


def is_table_body(page: Page, body: Body) -> bool:
    """Whether *body* is a table of data without links, and little beside it."""
    found = page.blocks
    lines = [found.blocks[index] for index in body.blocks]
    if len(lines) < _LEAST_LINES or any(b.linked or len(b.text) > _LINE_CHARS for b in lines):
        return False
    middle = body.blocks[len(lines) // 2]
    around = found.path(found.blocks[middle].element)
    table = next((at for at in around if found.elements[at].tag == "table"), -1)
    if table < 0:
        return False
    span = range(found.elements[table].first, found.elements[table].end)
    beside = sum(index not in span for index in body.blocks)
    return beside <= _MOST_BESIDE and is_data_table(found, table)


def _is_headed(page: Page, first: int) -> bool:
    """Whether a heading stands just above block *first*."""
    blocks, elements = page.blocks.blocks, page.blocks.elements
    above = blocks[max(0, first - _HEADED_WITHIN) : first]
    return any(elements[block.element].tag in ("h1", "h2", "h3") for block in above)
