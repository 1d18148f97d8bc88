"""How lines look that have no sentences: labels of a page, and the lines a notice ends with.

Used where a line's place says that it may be text, and its words have to say whether it is.
**(ours)**
"""

from __future__ import annotations

import re

from qiaocrawl.extract.methods.block_vocabulary import telling_words
from qiaocrawl.extract.notices import has_clauses, is_notice_by_form

_LEAST_SENTENCE_CHARS = 20
_LABEL_CHARS, _LABEL_LINE_CHARS = 14, 80
OF_PAGE = re.compile(
    r"\W*(?:(?:more|also|see also|read (?:more|also|next)|don[’']t miss|tags?|topics?|share|latest|"
    r"editor[’']?s? picks?|advertisement|comments?|font size|reporter|recommended|previous|next|"
    r"photo(?:graph)?s?(?: by)?|image|picture)\b|上一[篇条條页頁则則]|下一[篇条條页頁则則]|"
    r"[您你](?:也许|也許|可能|或许|或許|[还還])[^。，]{0,8}(?:看|[读讀]|喜[欢歡]|感[兴興]趣)|"
    r"(?:图|圖)(?:为|為|[：:]|片来源)|(?:[热熱][榜搜]|排行榜|[热熱]文)\W*$)",
    re.IGNORECASE,
)
"""How a line begins that is of the page, not of its text."""
CONTACT = re.compile(
    r"[\W_\d一二三四五六七八九十]{0,6}(?:[\u4e00-\u9fff（）()/、]{0,8}"
    r"(?:电\s*话|電\s*話|手\s*机|手機|传\s*真|傳\s*真|热线|熱線|邮\s*箱|郵箱|信\s*箱|邮\s*件|郵件|邮\s*编|"
    r"郵編|邮政编码|郵遞區號|联\s*系\s*人|聯\s*[系繫絡]\s*人|联系方式|聯[系繫絡]方式|联系单位|地\s*址|"
    r"网\s*址|網址|qq群?|开户行|开户银行|[账帐]\s*号|户\s*名|公示时间|公示期限?|公示時間|报名时间|"
    r"报名地点|截止时间|受理单位|承办单位联系人)"
    r"|tel(?:ephone)?|phone|fax|contact|attachments?|enclosures?)\s?(?:[(（][^)）]{1,20}[)）])?\s?[:：]",
    re.IGNORECASE,
)
ATTACHED = re.compile(
    r"[\W_]{0,4}(?:附\s*件|附\s*表|附\s*图|附\s*圖|附\s*录|附)(?:下载|下載|列表|清单)?\s?"
    r"[(（]?[\d一二三四五六七八九十]{0,3}[)）]?\s?(?:[:：.．、]|《|$)|attachments?\s?:",
    re.IGNORECASE,
)
SEE_FILES = re.compile(
    r"\W{0,4}(?:具[体體])?(?:内容|內容|名单|名單)?[详詳]?(?:情|[细細])?[请請]?(?:[见見]|查看|下[载載])附件[^，。]{0,12}[。]?$"
)
NUMBERED = re.compile(r"[\W_]{0,4}[\d一二三四五六七八九十]{1,3}\s?[.．、)）]")
DAY = re.compile(
    r"[\W_]{0,4}(?:(?:19|20)\d\d|[二一][〇○零oＯ一二三四五六七八九\d]{3})\s?年\s?[\d一二三四五六七八九十]{1,3}\s?月"
    r"(?:\s?[\d一二三四五六七八九十]{1,3}\s?日)?[\W_]{0,4}$",
    re.IGNORECASE,
)
CLOSING = re.compile(
    r"[\W_]{0,4}(?:特此(?:通知|公告|公示|通告|函[告复達达]|说明|證明|证明|报告|批复)|此致|敬礼|敬禮|"
    r"[(（]此件[^)）]{2,12}[)）]|抄送\s?[:：])[^。]{0,20}。?$"
)
SIGNED = re.compile(
    r"[\W_]{0,4}[\u4e00-\u9fff（）()·\s、]{2,40}"
    r"(?:局|厅|廳|部|办公室|辦公室|委员会|委員會|人民政府|公室|院|所|中心|协会|協會|学会|學會|联合会|聯合會|"
    r"总会|總會|基金会|基金會|公司|学校|學校|大学|大學|学院|學院|侨联|侨办|商会|商會|领事馆|領事館|大使馆|"
    r"大使館)[\W_]{0,4}$"
)
_SIGN_OFF = re.compile(
    r"\W*(?:(?:by|provided by|with files|with reporting|updated?|source|via|"
    r"for (?:more|updates|the)|follow|like|join|get|check|sign|subscribe|click|listen|"
    r"download|watch|related|editing|contact)\b|"
    r"(?:the )?end\W*$|fin\W*$|(?:全文)?[完终終]\W*$)|"
    r"[（(【\[][^）)】\]]{1,16}(?:[编編][辑輯]?|撰稿|[报報][道導]|[摄攝]影?|[图圖文]|整理|供稿|通[讯訊][员員]?)\W{1,3}$|"
    r".{0,30}(?:facebook|twitter|newsletter|google\+|点击查看|點擊查看|[评評][论論])",
    re.IGNORECASE,
)
_LEAST_LINE_LETTERS = 6
SALUTATION = re.compile(r"[^。！？；|>《]{2,80}[:：]$")


def is_telling(text: str) -> bool:
    """Whether *text* is a sentence of its own, and no notice or label."""
    return (
        len(text) >= _LEAST_SENTENCE_CHARS
        and has_clauses(text)
        and not is_notice_by_form(text)
        and not is_label(text)
    )


def is_label(text: str) -> bool:
    """Whether *text* is a label, a button or a line about the page."""
    if len(text) > _LABEL_LINE_CHARS or text[-1] in "。！？；，":
        return False
    if OF_PAGE.match(text):
        return True
    words = telling_words(text.lower())
    if words["byline"]:
        return True
    return bool(words["related"] or words["action"]) and len(text) <= _LABEL_CHARS


def is_sign_off(text: str) -> bool:
    """Whether *text* ends an article for its medium: a name, (完), whom to follow."""
    letters = sum(map(str.isalnum, text[:40]))
    return letters < _LEAST_LINE_LETTERS or _SIGN_OFF.match(text) is not None
