"""Which outlet a name or a host stands for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from qiaocrawl.text import fold

_ENDS = re.compile(
    r"(?:官方)?(?:客户端|公众号|微信|微博|网站|app|号)+$|(?:中文|新闻)?网$|(?:通讯)?社$|编辑部$"
)
_AROUND = re.compile(r"^[\s《〈“\"'【\[(]+|[\s》〉”\"'】\]):：]+$")
_OWN = re.compile(r"(?:本[站网報报刊台]|原创|原創|本公众号)(?:原创|讯|记者|编辑|综合|首发)*")
_NOBODY = re.compile(
    r"(?:网络|互联网|网上|网友|综合|转载|整理|未知|佚名|不详|其他|其它|无|暂无|admin|internet|unknown)"
    r"(?:媒体|综合|转载|整理|收集|报道|摘录|资料)*"
)
_SHORTEST = 2


def is_own(name: str) -> bool:
    """Whether a source line names the outlet itself (本网讯, 原创)."""
    return _OWN.fullmatch(_bare(name)) is not None


def is_nobody(name: str) -> bool:
    """Whether a source line names nobody (网络, 综合)."""
    bare = _bare(name)
    return not bare or _NOBODY.fullmatch(bare) is not None


def outlet_of(name: str, host: str = "") -> str:
    """The name by which an outlet is compared with others; "" for nobody.

    >>> outlet_of("新华网") == outlet_of("新华社客户端") == outlet_of("", "www.news.cn")
    True
    """
    listed = _listed()
    bare = _bare(name)
    while bare:
        if outlet := listed.get(bare):
            return outlet
        shorter = _ENDS.sub("", bare)
        if shorter == bare or len(shorter) < _SHORTEST:
            break
        bare = shorter
    parts = host.lower().split(".")
    domains = (".".join(parts[at:]) for at in range(len(parts) - 1))
    # A name that is no outlet's tells more than the host of a portal that many publish on.
    return bare or next((listed[domain] for domain in domains if domain in listed), host.lower())


def known_outlets() -> Mapping[str, str]:
    """Every listed name that is no host, folded, with its outlet."""
    return {name: outlet for name, outlet in _listed().items() if "." not in name}


def _bare(name: str) -> str:
    return _AROUND.sub("", fold(name)).strip()


@cache
def _listed() -> Mapping[str, str]:
    file = resources.files(__package__).joinpath("data", "outlets.toml")
    table: dict[str, list[str]] = tomllib.loads(file.read_text(encoding="utf-8"))["outlets"]
    return {fold(alias): name for name, aliases in table.items() for alias in (name, *aliases)}
