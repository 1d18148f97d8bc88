"""The everyday words of office tables: headers, kinds, importance, roles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from qiaocrawl.topic.pack import ROLES, SITE_KINDS, TERM_KINDS
from qiaocrawl.topic.tables import SITE_COLUMNS, TERM_COLUMNS

_BRACKETS = re.compile(r"[(（\[【〔].*?[)）\]】〕]")
_MARKS = re.compile(r"[\s*＊:：_\-—、。.,，/\\|]+|必填|选填|可选")


def plain(text: str) -> str:
    """*text* as headers and words are compared: no brackets, marks, spaces, width or case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _MARKS.sub("", _BRACKETS.sub("", folded)) or _MARKS.sub("", folded)


def _by_spelling(*lists: Mapping[str, str | tuple[str, ...]]) -> dict[str, str]:
    spellings: dict[str, str] = {}
    for table in lists:
        for name, words in table.items():
            for word in (name, *(words.split() if isinstance(words, str) else words)):
                spellings.setdefault(plain(word), name)
    return spellings


JUDGEMENT_HEADER = "判断（是/否）"
"""How exported tables head the column to fill in."""
URL_HEADER = "网址"
"""How they head the column of addresses; both are found again in a table that comes back."""

TERM_HEADERS = _by_spelling(
    TERM_COLUMNS,
    {
        "term": "关键字 检索词 搜索词 监测词 监测关键词 词汇 词组 短语 热词 敏感词 词目 词名 "
        "关键词语 主题关键词 检索关键词 名词",
        "also": "同义词 近义词 别称 别名 又称 相关词 简称 扩展词",
        "kind": "性质 属性 词类 类 归类 归属 所属类别 词类别 词性 方面 领域 板块 主题类别",
        "weight": "重要程度 重要性 重要度 关注程度 关注度 优先级 优先程度 程度 级别 等级 "
        "分值 分数 得分 星级 重要级别 权数 importance priority",
        "marked": "关注 特别关注 是否特别关注 是否重要 是否核心 是否关键 是否必看 重点标记 "
        "重点标识 重点与否 重点标注 标星 星标 加星 starred",
        "note": "释义 解释 出处 补充说明 附注 含义",
    },
)
"""How headers of tables of terms are written, to the name of the column."""

SITE_HEADERS = _by_spelling(
    SITE_COLUMNS,
    {
        "address": "官网 官方网站 地址 网站链接 网址链接 链接地址 主页 首页 网页 网站域名 网站网址 "
        "官网地址 官网网址 首页地址 主页地址 link homepage",
        "start_url": "栏目网址 栏目链接 栏目地址 频道网址 频道地址 列表页 起始地址",
        "name": "网站名 站名 单位 单位名称 媒体 媒体名称 机构 机构名称 平台 平台名称 信源 信源名称 "
        "来源 来源名称 栏目 栏目名称 全称 主办单位",
        "role": "采集方式 监测方式 抓取方式 采集类型",
        "tier": "权威性 权威程度 层级",
        "importance": "重要程度 重要性 重要度 关注程度 关注度 优先级 优先程度 程度 重要级别 "
        "importance priority",
        "kind": "性质 归类 归属 媒体类型 媒体性质 单位性质 网站类型 网站性质 网站类别 属性 "
        "媒体类别 信源类型",
        "region": "所在地 属地 归属地 所属地 所属地区 省份 省市 国别 所在国家 城市 "
        "地域 所属国家 所在地区 国家或地区",
        "render": "动态网页 需要浏览器",
        "note": "附注 补充说明 栏目说明",
    },
)
"""How headers of tables of sites are written, to the name of the column."""

_IGNORED = (
    "序号 编号 序 号 no # id 行号 日期 录入人 填报人 提供人 提供单位 提供部门 部门 科室 处室 "
    "联系人 联系电话 电话 手机 邮箱 负责人 更新时间 更新日期 录入时间 填报时间 时间"
)
IGNORED_HEADERS = frozenset(_IGNORED.split())
"""Columns of a list that say nothing of the topic."""

_PARTS = {
    "terms": (("是否重点", "marked"), ("是否重要", "marked"), ("是否关注", "marked"),
              ("重点关注", "marked"), ("关键词", "term"), ("关键字", "term"), ("检索词", "term"),
              ("权重", "weight"), ("重要", "weight"), ("类别", "kind"), ("分类", "kind"),
              ("性质", "kind"), ("类型", "kind"), ("备注", "note")),
    "sites": (("网址", "address"), ("链接", "address"), ("url", "address"), ("域名", "host"),
              ("名称", "name"), ("重要", "importance"), ("权威", "tier"), ("类型", "kind"),
              ("类别", "kind"), ("性质", "kind"), ("地区", "region"), ("国家", "region"),
              ("备注", "note")),
}  # fmt: skip
"""Words that tell a column's meaning when they stand anywhere in its header."""
_MAX_HEADER_CHARACTERS = 12
_EXCLUDED = re.compile(r"排除|剔除|屏蔽|过滤|否定|停用|不含|不包含|黑名单|exclu|stop ?word", re.I)
_ALTERNATIVES = re.compile(r"[/／、]|或(?!者)|或者")


def is_excluded(text: str) -> bool:
    """Whether a header, a kind or a sheet's name is of what is not wanted: no term of a topic."""
    return _EXCLUDED.search(text) is not None


def column_of(header: str, table: str) -> str:
    """What the column under *header* holds in a table of ``terms`` or ``sites``; "" if unclear."""
    word = plain(header)
    if word in IGNORED_HEADERS or is_excluded(header):
        return ""
    spellings = TERM_HEADERS if table == "terms" else SITE_HEADERS
    name = spellings.get(word) or spellings.get(word.rstrip("0123456789一二三四五"), "")
    # "同义词/别名" is either.
    either = (spellings.get(plain(part), "") for part in _ALTERNATIVES.split(header))
    name = name or next(filter(None, either), "")
    if name or not word or len(word) > _MAX_HEADER_CHARACTERS:
        return name
    return next((meaning for part, meaning in _PARTS[table] if part in word), "")


_TERM_KIND_WORDS = _by_spelling(
    {kind: (chinese,) for kind, chinese in TERM_KINDS.items()},
    {
        "core": "核心词 主词 主题 主题词 重点 重点词 关键 关键词 最核心",
        "group": "人群 人员 群体",
        "person": "人名 姓名 领导 专家 名人 领导人",
        "organisation": "组织 单位 部门 社团 侨团 团体 协会 机构名 组织机构",
        "policy": "法规 法律 政策法规 文件 法律法规 制度",
        "event": "事件 会议 节庆 赛事 活动",
        "place": "地名 地区 地点 国家 城市 区域 地理",
        "education": "学校 华文教育 教学 培训 院校",
        "business": "经济 商务 企业 投资 产业 贸易 财经 商业 金融",
        "culture": "历史 民俗 文艺 文旅 艺术 非遗 传统文化",
        "safety": "维权 犯罪 治安 诈骗 保护 领事保护 领保 突发",
        "media": "新闻 报刊 网站 媒体名",
        "other": "其它 一般 普通 通用 无 杂 一般词 普通词 扩展词 未分类 综合",
    },
)
_SITE_KIND_WORDS = _by_spelling(
    {kind: (chinese,) for kind, chinese in SITE_KINDS.items()},
    {
        "government": "官方 政府网站 部委 党政 机关 政务 统战 政府部门 政府机构 使领馆 使馆 领馆",
        "association": "协会 侨团 侨联 组织 社会团体 商会 社会组织 民间团体",
        "agency": "新华社 中新社",
        "newspaper": "报刊 纸媒 党报 日报 华文报纸 报社",
        "broadcaster": "电视 广播 电视台 广电 广播电视台 电台",
        "news": "新闻 新闻网 媒体 网媒 网络媒体 资讯 华文媒体 侨媒 主流媒体 新闻媒体",
        "portal": "门户网站 综合 商业网站 综合门户",
        "education": "学校 高校 教育 大学 院校",
        "business": "公司 商业",
        "forum": "社区 贴吧",
        "blog": "自媒体 公众号 微博 个人网站",
        "other": "其它 一般 普通 无 未分类",
    },
)
_SUFFIXES = ("类", "词", "类词", "性", "类型", "方面", "网站", "网")


def kind_of(word: str, table: str) -> tuple[str, bool]:
    """The kind that *word* means in a table of ``terms`` or ``sites``, and whether it is certain.

    ``("", False)`` where nothing is like it.
    """
    spellings = _TERM_KIND_WORDS if table == "terms" else _SITE_KIND_WORDS
    text = plain(word)
    for variant in (text, *(text.removesuffix(suffix) for suffix in _SUFFIXES)):
        if variant in spellings:
            return spellings[variant], True
    inside = [part for part in spellings if len(part) > 1 and part in text]
    return (spellings[max(inside, key=len)], False) if inside else ("", False)


_WEIGHTS = {
    3.0: "核心 非常重要 特别重要 最重要 最高 极高 必须 重点 a 甲 一级 ⅰ i 非常高 首要",
    2.0: "很重要 重要 高 主要 较高 b 乙 二级 ⅱ ii 较重要 比较重要",
    1.0: "一般 中 普通 中等 常规 c 丙 三级 ⅲ iii 一般重要 正常",
    0.5: "低 次要 不重要 较低 参考 d 丁 四级 最低 备用 很低",
}
_WEIGHT_WORDS = {word: weight for weight, words in _WEIGHTS.items() for word in words.split()}
_TIERS = {
    1: "最高 核心 权威 最权威 国家级 中央 中央级 部委 一级 a 甲 非常重要 特别重要 国家",
    2: "高 重要 重点 很重要 省 省级 省部级 二级 b 乙 主要 较高",
    3: "中 一般 普通 中等 市 市级 地市 地市级 地级市 三级 c 丙 主流 常规 正常",
    4: "低 次要 较低 县 县级 区县 区县级 四级 d 丁 行业 参考",
    5: "最低 不重要 五级 e 论坛 自媒体 个人",
}
_TIER_WORDS = {word: tier for tier, words in _TIERS.items() for word in words.split()}
ROLE_WORDS = _by_spelling(
    {role: (chinese,) for role, chinese in ROLES.items()},
    {
        "authoritative": "权威站点 权威网站 重点 整站 整站采集 全站 全站采集 采集 全采 抓取 "
        "直接采集 深度采集 是",
        "target": "目标站点 目标网站 检索 搜索 一般 普通 监测 搜索引擎 站内检索 经搜索 否",
    },
)
"""How the role of a site is written."""
_PLAIN_MARKS = "是 否 √ ✓ ✔ × ✗ ★ ⭐ y n yes no 重点 非重点 关注 不关注"
PLAIN_MARKS = frozenset(_PLAIN_MARKS.split())
"""What a column of weights holds that only marks words; ★ beside ★★★ is a weight."""
_UNITS = re.compile(r"(?<=\d)(分|级|星|倍|星级)$")


def number_of(text: str) -> float | None:
    """The number that *text* shows (2, ２．５, 2分, ★★★); per cent as tenths; None for none."""
    folded = unicodedata.normalize("NFKC", text).strip()
    if folded and not folded.strip("★☆⭐"):
        return float(len(folded) - folded.count("☆"))
    folded = _UNITS.sub("", folded)
    try:
        number = float(folded.removesuffix("%").replace("_", "?"))
    except ValueError:
        return None
    return number / 10 if folded.endswith("%") else number


def weight_word(text: str) -> float | None:
    """The weight that a word of importance stands for; None for other words."""
    return _WEIGHT_WORDS.get(plain(text))


def tier_word(text: str) -> int | None:
    """The tier that a word of authority or importance stands for; None for other words."""
    word = plain(text)
    return _TIER_WORDS.get(word) or _TIER_WORDS.get(word.removesuffix("媒体"))


PURPOSE_HINTS = (
    (
        "skip",
        re.compile(r"说明|须知|示例|导入检查|字典|目录|封面|选项|帮助|readme|help|lists?$", re.I),
    ),
    ("sites", re.compile(r"站|网址|网站|媒体|信源|来源|site|source|url", re.I)),
    ("terms", re.compile(r"词|term|keyword|word", re.I)),
)
"""What the name of a sheet says of it."""


def hint_of(sheet_name: str) -> str:
    """``terms``, ``sites`` or ``skip`` by the name of a sheet, or ""."""
    if is_excluded(sheet_name):
        return "skip"
    return next((name for name, words in PURPOSE_HINTS if words.search(sheet_name)), "")
