"""Names of people and media as bylines write them: splitting, tidying, telling them apart."""

from __future__ import annotations

import re
from functools import lru_cache

from qiaocrawl.extract.fields.chinese_names import is_chinese_name, is_foreign_name

_LATIN_NAME = re.compile(
    r"(?:[A-ZÀ-ÞŁŚŽČ][\w'’.\-]*|de|del|della|di|da|dos|du|la|le|van|der|den|von|bin|binti|al|el|ul|ibn|y|ter|O'[A-Z]\w+)"
    r"(?:\s(?:[A-ZÀ-ÞŁŚŽČ0-9][\w'’.\-]*|de|del|della|di|da|dos|du|la|le|van|der|den|von|bin|binti|al|el|ul|ibn|y|ter))"
    r"{1,5}"
)
_HAN = re.compile("[\u3400-\u9fff]")
_HAN_NAME = re.compile(
    r"[\u3400-\u9fff]{2,4}|[\u3400-\u9fff]{1,8}[·•．.][\u3400-\u9fff·•．.]{1,12}"
)
_FOREIGN_HAN = re.compile(r"[·•．]")
_SPLIT = re.compile(
    r"\s*(?:[,，、;；|/／+\n\t]|(?<=\s)[&＆](?=\s)|(?<=[A-Za-z])&(?=[A-Z])|"
    r"(?<![A-Za-z])(?:and|with)(?![A-Za-z])|\sy\s)\s*",
    re.IGNORECASE,
)
_GLUED = re.compile(
    r"(?<=[a-zà-ÿ])(?<!\bMc)(?<!\bMac)(?<!\bDe)(?<!\bLa)(?<!\bLe)(?<!\bDu)(?<!\bVan)[A-Z].*$"
)
"""What follows a name without a space: markup put it beside, not the writer."""
_LABEL = re.compile(
    r"^(?:(?:(?:written|posted|published|words|story|reported|text|review(?:ed)?)\s)?by\b|authors?\b|"
    r"(?:文章|本文|图文|圖文)?作\s*者|撰稿人?|撰文|本[报報网網刊台社][讯訊]?|记者|記者|通讯员|通訊員|文(?=\s*[：:/])|特约|实习|见习|"
    r"原创|楼主|编辑|編輯|责任编辑|責任編輯|责编)\s*[：:/]?\s*",
    re.IGNORECASE,
)
# What ends a name in a line that goes on.
_CUT = re.compile(
    r"(?:作者|(?:编辑|編輯)(?!部)|责编|責編|记者|記者|通讯员|责任|責任|发布|發布|发表|時間|时间|点击|點擊|"
    r"浏览|瀏覽|阅读|閱讀|字号|字體|打印|分享|来源|來源|稿源|日期|评论|評論|我要|摄影|攝影|校对|校對|"
    r"出处|出處|审核|审校|人气|关注|收藏|回复|发表于|于\s?\d|更新|文章|查看|收听|"
    r"译者|譯者|翻译|选题|題图|题图|配图|监制|策划|出品|设计|制作|排版|主编|统筹|美编|值班|"
    r"(?<=\s)[\u3400-\u9fff]{1,5}\s?[：:]|[链鏈]接|連結|地址|版[权權]|声明|聲明|转载|轉載|标[签籤]|標籤|分[类類]|[上下]一?[篇页頁]|本文|目[录錄]|"
    r"返回|首[页頁]|字[数數]|举报|点赞|[私来來][信自]|粉[丝絲]|[订訂][阅閱]|[简簡]介|[专專][栏欄]|[位次]置|"
    r"\d[\d.,]*\s?(?:万|k)?\s?(?:次|条|條|字|分[钟鐘]|人|篇|个|views?\b|comments?\b|min\b)|"
    r"\s(?:on|at|in|for|from|published|updated|posted|is|has|was|who|reports?|follow|email|contact|last)\s|"
    r"\s[-–—|•·]\s|[（(](?![A-Z][\w .]{2,30}[）)]\s*$)|[\[【\]】>《》「|｜丨•]|"
    r"\d{1,4}[-/.年月:]|\d{4}|https?:|www\.|@|。|\.\s[A-Z][a-z]+\s[a-z]).*",
    re.IGNORECASE | re.DOTALL,
)
_NO_NAME = re.compile(
    r"^(?:admin\w*|root|editors?|staff|unknown|author|none|null|user|guest|anonymous|by|and|"
    r"佚名|未知|不详|不詳|网络|網絡|匿名|管理员|管理員|小编|本站|本网|本報|本报|原创|转载|轉載|"
    r"网友|網友|编辑|編輯|综合|互联网|无|暂无|系统管理员|webmaster|system|view|all posts|follow|"
    r"share|subscribe|theme|wordpress|wp|more|read more|about|comments?|advertisement|see more|"
    r"bio|profile|n/?a|default|hexo|hugo|jekyll|typecho|z-?blog\w*|dede\w*|织梦\w*|帝国\w*|phpcms|ecms|"
    r"vuepress|gitbook|ghost|drupal|blogger|discuz!?.*|comsenz.*|phpwind.*|joomla.*|microsoft.*|"
    r"站长|站長|博主|作者|编者|編者|记者|記者|游客|遊客|用户|用戶|匿名用户|默认|未命名|公众号|微信|登录|登錄|"
    r"bootstrap|colorlib|your name|author name|name|company|test|demo|首次|最后|最近|"
    r"最初|最新|上次|置顶|精华|沙发|板凳|只看该作者|电梯直达|匿名|原文|已|"
    r"点击|目录|目錄|互动|互動|文库|文庫|本刊|我们|关于|關於)$|"
    r"^[\W\d_]*$|[{}=<>]|\((?-i:[a-z])|\.(?:com|cn|net|org)\b|\S@\S",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^(?:(?:senior|staff|chief|political|health|science|deputy|associate|assistant|managing|special|"
    r"news|online|digital|foreign|national|local|contributing|royal|crime|sports?|business|web|us|uk|"
    r"education|environment|technology|city|world|audience|features?|investigative|consumer|"
    r"breaking|live|multimedia|content|social|media|freelance|medical|executive|guest)[\s-]+)*"
    r"(?:editors?|reporters?|writers?|correspondents?|journalists?|columnists?|contributors?|"
    r"staff|producers?|director|photographer|chief|m\.?d\.?|ph\.?d\.?|rd|cnn|bbc|jr\.?|"
    r"(?-i:M\.?S|M\.?A|RDN|RN|MPH|BSc|MSc|MBA|CPA|J\.?D|Esq|DDS|LCSW|CFP)$|"
    r"associate professor|professor|analyst|author|blogger|fellow|"
    r"partner|critic|team)\b.*$",
    re.IGNORECASE,
)
_NO_LATIN_NAME = re.compile(
    r"\b(?:Correspondent|Reporter|Date|Updated|Published|Staff|Desk|News|Posted|Comments?|Share|"
    r"Read|View|Editorial|Team|Press|Agency|Today|January|February|March|April|June|July|August|"
    r"September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|"
    r"Sunday|Getty|Images|Photo)\b"
)
_COUNTRY = re.compile("[\\[［（(【〔][美英法德日韩韓俄加澳意西荷印苏蘇]国?[\\]］）)】〕]")
"""Before the name of a foreign author."""
_SENTENCE_MARK = re.compile("[。！？!?…：；~～]")
"""What stands in mottos and questions, and in no name."""
_MAX_HAN_CHARS = 8
"""A longer text of Chinese characters is a sentence, or the name of an office."""
_ORGANISATION = re.compile(
    r"[\u4e00-\u9fff]{2}(?:网|網|报|報|社|台|臺|站|公司|中心|局|办|部|委|会|会议|频道|编辑部|杂志|周刊|"
    r"日报|晚报|政府|学院|大学|医院|协会|客户端|平台|在线|论坛|工作室)$"
)
_MAX_NAME_CHARS = 40
_MAX_WORDS = 5
_MAX_REMEMBERED_CHARS = 200


def split_names(written: str, is_labelled: bool = False) -> list[str]:
    """The names in *written*, tidied, in order; without roles, labels and fillers.

    Args:
        is_labelled: a label stands before *written*, and other words of the line may follow;
            the first name that is none ends the list.
    """
    if len(written) > _MAX_REMEMBERED_CHARS:
        return _split(written, is_labelled)
    return list(_remembered(written, is_labelled))


# A page names its author several times, and a site's pages have the same authors.
@lru_cache(maxsize=4096)
def _remembered(written: str, is_labelled: bool) -> tuple[str, ...]:
    return tuple(_split(written, is_labelled))


def _split(written: str, is_labelled: bool) -> list[str]:
    if is_labelled:
        written = _LABEL.sub("", written.strip())
        written = _CUT.sub("", _COUNTRY.sub("", written))
    names: list[str] = []
    for part in _SPLIT.split(" ".join(written.split())):
        if not part or _ROLE.match(part):
            continue
        pieces = part.split() if _is_han_list(part) else [part]
        for piece in pieces:
            name = tidy_name(piece)
            if name:
                names.append(name)
            elif is_labelled and (names or _is_sentence(piece)):
                return names
    return names


def _is_han_list(part: str) -> bool:
    """Whether *part* is several Chinese names with spaces between (and no name in two parts)."""
    pieces = part.split()
    return len(pieces) > 1 and all(_HAN_NAME.fullmatch(piece) for piece in pieces)


def tidy_name(written: str) -> str:
    """*written* without labels, brackets and what follows a name; "" if it is no name."""
    if "@" in written.strip()[1:]:
        return ""  # an address
    name = _LABEL.sub("", written.strip())
    if _HAN.search(name):
        name = _LABEL.sub("", name)
        name = re.sub(
            r"(?:记者|記者|编辑|編輯|摄影|攝影|摄|攝|撰|报道|報導|報道|整理|编制)$",
            "",
            name.strip(),
        )
    name = _CUT.sub("", name)
    name = name.strip(" \t-—_·.、:：\"'“”‘’*]】[【�")
    if name.endswith(("）", ")")) and "(" not in name and "（" not in name:
        name = name[:-1].rstrip()
    elif not name.isascii() or " " in name:
        name = _GLUED.sub("", name)
    if not name or len(name) > _MAX_NAME_CHARS or len(name.split()) > _MAX_WORDS:
        return ""
    return "" if len(name) < 2 or _NO_NAME.search(name) or _is_sentence(name) else name


def _is_sentence(name: str) -> bool:
    """Whether *name*, with Chinese characters, is a motto or another sentence."""
    if name.isascii() or not _HAN.search(name):
        return False
    if _SENTENCE_MARK.search(name):
        return True
    return len(_HAN.findall(name)) > _MAX_HAN_CHARS and not is_organisation(name)


def is_person(name: str) -> bool:
    """Whether *name* looks like a person's: a Chinese surname first, or capitalised words."""
    if _HAN.search(name):
        if _FOREIGN_HAN.search(name):
            return _HAN_NAME.fullmatch(name) is not None and is_foreign_name(name)
        return is_chinese_name(name)
    return _LATIN_NAME.fullmatch(name) is not None and not _NO_LATIN_NAME.search(name)


def is_organisation(name: str) -> bool:
    """Whether *name* is a medium's or an office's by its last characters."""
    return _ORGANISATION.search(name) is not None
