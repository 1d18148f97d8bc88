"""Variant letters that OpenCC's ``t2s`` keeps, since simplified text has them as well.

Taiwan and Hong Kong write 看著, 屋簷, 衞生, 砲彈 where simplified text has 看着, 屋檐, 卫生, 炮弹.
OpenCC's ``tw2s`` would know of some, at three times the cost; but it knows nothing of Hong Kong,
turns 土著 into 土着 and 么 into 幺, and with it text that is simplified already.
"""

from __future__ import annotations

import re

# Other shapes of one letter: whichever is written, the word is the same.
_SHAPES = dict(zip(
    "妳牠衞姪砲粧痺簷甦敍枱糭衹揹啣搾毬勦痲瞇嬝倣傚籐鎗燄餽賸繙伕穽糢欵鬦鬭",
    "你它卫侄炮妆痹檐苏叙台粽只背衔榨球剿麻眯袅仿效藤枪焰馈剩翻夫阱模款斗斗",
    strict=True,
))  # fmt: skip
# Letters with a second reading that simplified text keeps: 看著 and 著作, 藉由 and 慰藉.
_TWO_READINGS = {"著": "着", "藉": "借", "瞭": "了", "彷": "仿", "祇": "只"}
_PLAIN = _SHAPES | _TWO_READINGS
_ANY = re.compile(f"[{''.join(_PLAIN)}]")

# Where the second reading is meant (ours): in the usual words, but not where two words meet
# that look like them (谈论着, 凸显着, 翻译着, 有着作用).
_KEPT = re.compile(
    "(?<=[名原专專土昭卓巨遗遺拙所撰编編])著|(?<=[显顯])(?<![彰凸突浮].)著"
    "|(?<=[论論])(?<![谈談议議讨討评評争爭].)著|(?<=[译譯])(?<![翻繙].)著"
    "|著(?=[名述称稱者]|作(?![用业業])|[书書]立)"
    "|(?<=[慰狼蕴蘊枕])藉|瞭(?=[望哨])|彷(?=[徨徉])|(?<=[神地灵靈])祇"
)


def plain_variants(text: str) -> str:
    """*text*, of either script, with the usual simplified letter for each variant.

    As long as before; twice is once. For matching only: 妳 and 你 are not the same to a reader.

    >>> plain_variants("屋簷下讀著書，著名的慰藉")
    '屋檐下讀着書，著名的慰藉'
    """
    return text if _ANY.search(text) is None else _ANY.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _TWO_READINGS and _KEPT.match(match.string, match.start()):
        return letter
    return _PLAIN[letter]
