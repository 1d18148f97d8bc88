"""What the tagger sees of a character: letters, words and lists around it, as 64-bit numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

REACH = 3
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石"
    "金韦贾夏付傅方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤康易乔赖文庞樊兰殷施洪翟安颜倪牛温芦章鲁葛"
    "伍申尤毕聂柴焦俞辛詹关岳齐柯梅庄管祝左涂凌霍阮包裴柳欧阎宁华饶骆曲苗戚单娄应游费桂穆卜屈冀项甘宫"
)
_FOREIGN = frozenset(
    "阿埃艾爱安昂奥巴芭白拜班邦保鲍贝本比彼毕宾滨波伯博勃布蔡查茨次达戴丹当道德登邓迪底地蒂丁东都杜顿多厄恩尔法凡范菲费芬丰冯弗夫福芙"
    "盖甘冈高戈格葛根贡古瓜圭哈海汉豪赫黑亨胡华怀惠霍基吉加贾简杰金卡凯坎康考柯科克肯孔库夸奎拉莱赖兰朗劳勒雷蕾黎李里理丽利莉立连良"
    "列林琳龙隆卢鲁路露伦罗洛吕马玛迈麦曼芒茅梅门蒙米密敏明摩莫默姆穆拿娜纳乃南内妮尼涅宁牛纽农努诺欧帕潘庞佩彭皮平珀普奇齐契强乔切"
    "琴丘让热荣茹儒瑞若撒萨塞赛桑瑟森沙珊绍舍圣施什思斯丝苏索塔泰坦汤唐陶特滕提铁廷通图土托瓦万旺威韦维卫魏温文翁沃乌武西希锡夏香"
    "肖辛欣兴雄休许逊雅亚延扬耶叶伊依易因英尤于约泽曾扎詹珍芝治智朱卓兹子宗祖佐"
)
_PLACE_ENDS = frozenset("省市县区州岛洋湖河江山村镇乡街路国京湾港海城道")
_BODY_ENDS = frozenset("部局院会社团队厂司校所党委署厅组行店军署馆台报联盟系办")
_TITLE_LETTERS = frozenset("长员士师任理记席")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = "零一二三四五六七八九十百千万亿〇两"


def character_codes(text: str) -> NDArray[np.uint64]:
    """*text* as numbers, wide forms and digits made alike; as long as *text*."""
    return np.array([_code(letter) for letter in text], np.uint64)


@cache
def _code(letter: str) -> int:
    plain = unicodedata.normalize("NFKC", letter).lower()
    plain = plain if len(plain) == 1 else letter
    return ord("0") if plain.isdigit() and plain.isascii() else ord(plain)


@cache
def _class(letter: str) -> int:
    """A number for what a letter by itself suggests."""
    plain = unicodedata.normalize("NFKC", letter)[0]
    if plain.isascii():
        return 1 if plain.isdigit() else 2 if plain.isalpha() else 3
    if plain in _DIGITS:
        return 4
    if not plain.isalnum():
        return 5
    sets = (SURNAMES, _FOREIGN, _PLACE_ENDS, _BODY_ENDS, _TITLE_LETTERS)
    return 8 + sum((plain in letters) << bit for bit, letters in enumerate(sets))


def feature_hashes(text: str, lists: Sequence[NDArray[np.uint64]] = ()) -> Hashes:
    """One row a character, one column a template.

    Args:
        lists: per list of names, what each character is within a name of it (0: nothing).
    """
    codes = character_codes(text)
    classes = np.array([_class(letter) for letter in text], np.uint64)
    templates: list[tuple[Hashes, ...]] = []
    letters = _shift_values(codes)
    kinds = _shift_values(classes)

    def add(*values: Hashes) -> None:
        templates.append(values)

    for offset in range(-REACH, REACH + 1):
        add(letters[offset])
    for pair in ((-2, -1), (-1, 0), (0, 1), (1, 2), (-1, 1)):
        add(*(letters[offset] for offset in pair))
    for triple in ((-2, -1, 0), (-1, 0, 1), (0, 1, 2)):
        add(*(letters[offset] for offset in triple))
    for offset in (-1, 0, 1, 2):
        add(kinds[offset])
    for group in ((-1, 0), (0, 1), (-1, 0, 1), (0, 1, 2), (-2, -1, 0)):
        add(*(kinds[offset] for offset in group))
    _add_words(text, add, letters)
    for place in lists:
        around = _shift_values(place)
        add(around[0])
        add(around[-1], around[0], around[1])
        add(around[0], letters[0])
        add(around[1])
    if len(lists) > 1:
        add(*lists)
    return _mix(templates)


def _add_words(text: str, add: Any, letters: dict[int, Hashes]) -> None:
    words, tags, places = word_columns(text)
    inside = _shift_values(places)
    tag = _shift_values(tags)
    before, after = _neighbours(places, words, tags)
    add(inside[0], tags)
    add(inside[0], words)
    add(inside[-1], inside[0], inside[1])
    add(inside[0], tag[-1], tag[0])
    add(inside[0], tag[0], tag[1])
    add(inside[0], letters[0])
    add(inside[0], before[0], words)
    add(inside[0], words, after[0])
    add(inside[0], before[0])
    add(inside[0], after[0])
    add(inside[0], before[1], tags)
    add(inside[0], tags, after[1])
    add(inside[0], before[1], tags, after[1])


def word_columns(text: str) -> tuple[Hashes, Hashes, Hashes]:
    """Of every character its word, the word's part of speech, and where in it it stands."""
    words = np.zeros(len(text), np.uint64)
    tags = np.zeros(len(text), np.uint64)
    places = np.zeros(len(text), np.uint64)
    at = 0
    for word, tag in tag_words(text):
        end = at + len(word)
        words[at:end] = text_hash(word)
        tags[at:end] = text_hash(tag)
        places[at:end] = 2
        places[end - 1] = 3
        places[at] = 4 if len(word) == 1 else 1
        at = end
    return words, tags, places


def _neighbours(places: Hashes, words: Hashes, tags: Hashes) -> tuple[list[Hashes], list[Hashes]]:
    """Word and tag of the word before each character's, and of the word behind it."""
    starts = (places == 1) | (places == 4)
    number = np.cumsum(starts) - 1
    runs = [
        np.concatenate([[0], column[starts], [0]]).astype(np.uint64) for column in (words, tags)
    ]
    return [run[number] for run in runs], [run[number + 2] for run in runs]


def tag_words(text: str) -> list[tuple[str, str]]:
    """The words of *text* with jieba's parts of speech."""
    # rjieba takes no lone surrogates; each becomes one other letter, so that places stay.
    pairs: list[tuple[str, str]] = _tagger().tag(_SURROGATE.sub("\ufffd", text))
    return pairs


@cache
def _tagger() -> Any:
    import rjieba

    return rjieba.Jieba()


@cache
def text_hash(text: str) -> int:
    """A 64-bit number for *text*, the same in every process (FNV-1a)."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def _shift_values(values: Hashes) -> dict[int, Hashes]:
    """*values* seen from each character, from three before it to three behind it."""
    padded = np.concatenate([np.full(REACH, 1, np.uint64), values, np.full(REACH, 2, np.uint64)])
    return {
        offset: padded[REACH + offset : REACH + offset + len(values)]
        for offset in range(-REACH, REACH + 1)
    }


def _mix(templates: Sequence[tuple[Hashes, ...]]) -> Hashes:
    """A column a template: its number and its values, one after the other.

    All templates at once: a sentence is short, and each call of numpy costs more than its work.
    """
    numbers = np.arange(1, len(templates) + 1, dtype=np.uint64) * _FACTOR
    mixed: Hashes = np.repeat(numbers, len(templates[0][0])).reshape(len(templates), -1)
    for place in range(max(map(len, templates))):
        rows = [row for row, values in enumerate(templates) if len(values) > place]
        part: Hashes = (mixed[rows] ^ np.stack([templates[row][place] for row in rows])) * _FACTOR
        mixed[rows] = part ^ (part >> _SHIFT)
    return np.ascontiguousarray(mixed.T)
