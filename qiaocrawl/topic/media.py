"""Kinds of media, as an office sorts outlets: what follows from what a topic says of a site.

Only what is certain follows; of others an operator says it
(:mod:`qiaocrawl.storage.sites.media`), and until then their kind is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from qiaocrawl.language import N_

UNKNOWN = "unknown"

MEDIA: Mapping[str, str] = {
    "central": N_("central media"),
    "local": N_("local media"),
    "government": N_("government bodies"),
    "association": N_("associations"),
    "portal": N_("portals"),
    "diaspora": N_("overseas Chinese media"),
    "overseas": N_("media outside the mainland"),
    "forum": N_("forums"),
    "blog": N_("blogs and self-media"),
    "other": N_("other outlets"),
    UNKNOWN: N_("kind of medium unknown"),
}
"""Kinds of media by key; the last is of outlets of which nobody said it."""

# Forms in which any of the first two, or of those abroad, may come out.
_PRESS = frozenset({"agency", "newspaper", "broadcaster", "news"})
_OTHERS = frozenset({"education", "business"})
_WHOLE_COUNTRY = frozenset({"中国", "全国", "国内", "中央"})
# Put as files of names are, apart by spaces.
_OUTSIDE_NAMES = """
海外 境外 国外 香港 澳门 台湾 港澳 港澳台 东南亚 欧洲 非洲 北美 南美 拉美 亚洲
日本 韩国 菲律宾 马来西亚 新加坡 印度尼西亚 印尼 泰国 越南 柬埔寨 老挝 缅甸 文莱
印度 巴基斯坦 阿联酋 英国 爱尔兰 法国 德国 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士
奥地利 瑞典 挪威 丹麦 芬兰 希腊 波兰 捷克 匈牙利 罗马尼亚 塞尔维亚 俄罗斯 乌克兰
美国 加拿大 墨西哥 古巴 巴拿马 巴西 阿根廷 智利 秘鲁 委内瑞拉 埃及 尼日利亚 肯尼亚
坦桑尼亚 赞比亚 安哥拉 南非 毛里求斯 澳大利亚 新西兰 斐济 巴布亚新几内亚
"""
_PROVINCE_NAMES = """
北京 天津 河北 山西 内蒙古 辽宁 吉林 黑龙江 上海 江苏 浙江 安徽 福建 江西 山东
河南 湖北 湖南 广东 广西 海南 重庆 四川 贵州 云南 西藏 陕西 甘肃 青海 宁夏
新疆
"""
_OUTSIDE = frozenset(_OUTSIDE_NAMES.split())
_PROVINCES = tuple(_PROVINCE_NAMES.split())
# The tiers of national media of rank; below are commercial and trade ones.
_CENTRAL_TIER = 2
# Names below it are given to public bodies of China only (CNNIC's rules).
_GOVERNMENT_HOSTS = (".gov.cn",)


def medium_of_site(kind: str, region: str, tier: int) -> str:
    """The kind of medium of a site with a topic's kind, region and tier; "" for not certain."""
    if kind in _PRESS:
        return _medium_of_press(region.strip(), tier)
    if kind in _OTHERS:
        return "other"
    return kind if kind in MEDIA and kind not in (UNKNOWN, "other") else ""


def _medium_of_press(region: str, tier: int) -> str:
    if region in _WHOLE_COUNTRY:
        return "central" if tier <= _CENTRAL_TIER else ""
    if region.startswith(_PROVINCES):
        return "local"
    return "overseas" if region in _OUTSIDE else ""


def medium_of_host(host: str) -> str:
    """The kind of medium that a host's name alone tells; "" for none."""
    return "government" if f".{host}".endswith(_GOVERNMENT_HOSTS) else ""
