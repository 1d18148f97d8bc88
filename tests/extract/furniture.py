"""What stands around an article on real pages: menus, rankings, notices, footers, comments.

Pages of ``hard_cases/`` ask for it as servers do, ``<!--#hot 20 今日热点-->``: the name of a
function here or of a file of ``hard_cases/furniture/``, then arguments. The same page gets the
same furniture every time.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

FOLDER = Path(__file__).parent / "hard_cases" / "furniture"
_INCLUDE = re.compile(r"<!--#(\w+)([^>]*?)-->")
_WORDS = tomllib.loads((FOLDER / "words.toml").read_text("utf-8"))


def furnished(markup: str, seed: str) -> str:
    """*markup* with its includes replaced; *seed* (a page's name) settles all chance."""
    random = Random(seed)

    def include(match: re.Match[str]) -> str:
        make = _MADE.get(match[1])
        return make(random, *match[2].split()) if make else _file(match[1])

    return _INCLUDE.sub(include, markup)


@cache
def _file(name: str) -> str:
    return (FOLDER / f"{name}.html").read_text("utf-8").strip()


def _one(random: Random, kind: str) -> str:
    return str(random.choice(_WORDS[kind]))


def _headline(random: Random) -> str:
    return _one(random, "who") + _one(random, "did") + _one(random, "tails")


def _headline_en(random: Random) -> str:
    return f"{_one(random, 'topics_en')} {_one(random, 'events_en')}"


def _href(random: Random) -> str:
    year, day = random.randint(2012, 2024), random.randint(101, 1228)
    return f"/{year}/{day:04}/{random.randrange(10**7)}.html"


def _day(random: Random) -> str:
    return f"{random.randint(1, 12):02}-{random.randint(1, 28):02}"


def _nav(random: Random, count: str = "40", form: str = "ul") -> str:
    names = (_WORDS["channels"] * 2)[: int(count)]
    links = [f'<a href="/{random.choice("abcdef")}{i}/">{name}</a>' for i, name in enumerate(names)]
    if form == "td":
        cells = "".join(f'<td align="center"><font size="2">{link}</font></td>' for link in links)
        return f'<table width="778" border="0" cellpadding="0"><tr>{cells}</tr></table>'
    if form == "line":
        return " | ".join(links)
    return '<div class="nav"><ul>' + "\n".join(f"<li>{link}</li>" for link in links) + "</ul></div>"


def _hot(random: Random, count: str = "10", heading: str = "热点排行") -> str:
    rows = [
        f'<li><em>{i + 1}</em><a href="{_href(random)}" title="">{_headline(random)}</a></li>'
        for i in range(int(count))
    ]
    return f"<h3>{heading}</h3>\n<ol>\n" + "\n".join(rows) + "\n</ol>"


def _related(random: Random, count: str = "8", heading: str = "相关阅读") -> str:
    rows = [
        f'<li>·<a href="{_href(random)}">{_headline(random)}</a> <span>({_day(random)})</span></li>'
        for _ in range(int(count))
    ]
    return f"<p><strong>{heading}</strong></p>\n<ul>\n" + "\n".join(rows) + "\n</ul>"


def _list(random: Random, count: str = "20") -> str:
    rows = [
        f'<li><a href="{_href(random)}">{_headline(random)}</a><i>2023-{_day(random)}</i></li>'
        for _ in range(int(count))
    ]
    return "<ul>\n" + "\n".join(rows) + "\n</ul>"


def _teasers(random: Random, count: str = "10") -> str:
    return "\n".join(
        f'<div class="item"><h3><a href="{_href(random)}">{_headline(random)}</a></h3>'
        f"<p>{_headline(random)}。{_one(random, 'notes')}{_headline(random)}……</p>"
        f"<span>2023-{_day(random)} 08:30</span></div>"
        for _ in range(int(count))
    )


def _comments(random: Random, count: str = "10") -> str:
    return "\n".join(
        f'<li class="c-item"><a href="/u/{random.randrange(99999)}">{_one(random, "members")}</a> '
        f"<span>2023-05-{random.randint(10, 28)} {random.randint(7, 23)}:{random.randint(10, 59)}"
        f"</span><p>{_one(random, 'notes')}{_one(random, 'notes')}</p>"
        f'<a href="#">顶({random.randrange(40)})</a> <a href="#">回复</a></li>'
        for _ in range(int(count))
    )


def _script(random: Random, lines: str = "30") -> str:
    calls = "\n".join(
        f'  _track.push(["event", "m{random.randrange(999)}", {{"p": {random.random():.6f}}}]);'
        for _ in range(int(lines))
    )
    return f"<script>\nvar _track = _track || [];\n(function(){{\n{calls}\n}})();\n</script>"


def _footer(_random: Random, kind: str = "news") -> str:
    return _file(f"footer_{kind}")


def _hot_en(random: Random, count: str = "8", *heading: str) -> str:
    rows = "\n".join(
        f'<li><a href="{_href(random)}"><h4>{_headline_en(random)}</h4></a></li>'
        for _ in range(int(count))
    )
    return f"<section><h3>{' '.join(heading) or 'Most read'}</h3><ul>\n{rows}\n</ul></section>"


_MADE: dict[str, Callable[..., str]] = {
    "nav": _nav, "hot": _hot, "related": _related, "list": _list, "teasers": _teasers,
    "comments": _comments, "script": _script, "footer": _footer, "hot_en": _hot_en,
}  # fmt: skip
