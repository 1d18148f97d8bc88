"""Every ``QIAO_*`` option: name, default, unit, help and check, in one table.

Options are read once at the start, with the precedence of the operator's hands:
``-s QIAO_X=…`` over the environment over ``settings.py`` over the default here.
A wrong value or a misspelt name raises :class:`~qiaocrawl.errors.ConfigError`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from qiaocrawl.errors import ConfigError

PREFIX = "QIAO_"

Converter = Callable[[object], Any]


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the table. ``convert`` raises ValueError with what is allowed."""

    name: str
    default: object
    unit: str
    help: str
    convert: Converter
    secret: bool = False


def _text(value: object) -> str:
    return str(value).strip()


def _number(low: float, high: float, *, open_low: bool = False) -> Converter:
    bounds = f"{'(' if open_low else '['}{low:g}, {high:g}]"

    def convert(value: object) -> float:
        try:
            number = float(str(value))
        except ValueError:
            number = float("nan")
        inside = low < number <= high if open_low else low <= number <= high
        if not inside:
            raise ValueError(f"must be a number in {bounds}")
        return number

    return convert


def _own_or(convert: Converter) -> Converter:
    """None for "" and 0, which leave the choice to who asks; else what *convert* makes of it."""

    def converted(value: object) -> Any:
        return None if str(value).strip() in ("", "0", "0.0", "None") else convert(value)

    return converted


def _count(low: int, high: int) -> Converter:
    def convert(value: object) -> int:
        try:
            number = int(str(value))
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return number

    return convert


def _flag(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    word = str(value).strip().lower()
    if word not in words:
        raise ValueError("must be one of 1, 0, true, false, yes, no, on, off")
    return words[word]


def _names(value: object) -> tuple[str, ...]:
    parts: Iterable[object] = value.split(",") if isinstance(value, str) else value  # type: ignore[assignment]
    return tuple(name for name in (str(part).strip() for part in parts) if name)


def _amounts(low: int, high: int) -> Converter:
    """``name=number`` pairs, comma separated; each as it was given, without white space."""

    def convert(value: object) -> tuple[str, ...]:
        given: list[str] = []
        for part in _names(value):
            name, _, number = (piece.strip() for piece in part.partition("="))
            if not name or not number.isdecimal() or not low <= int(number) <= high:
                raise ValueError(f"must be name=number pairs, each from {low} to {high}")
            given.append(f"{name}={number}")
        return tuple(given)

    return convert


def _choice(*allowed: str) -> Converter:
    def convert(value: object) -> str:
        word = str(value).strip()
        if word not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return word

    return convert


def _database_url(value: object) -> str:
    url = str(value).strip()
    if not url.startswith(("sqlite:", "mysql+pymysql:")):
        raise ValueError(
            "must be a SQLAlchemy URL that starts with sqlite: or mysql+pymysql:"
        )
    # An egg (scrapyd) runs wherever its server does: a relative file would land there.
    in_egg = not Path(__file__).is_file()
    if in_egg and url.startswith("sqlite:") and not url.startswith("sqlite:////"):
        raise ValueError("must be absolute (sqlite:////FOLDER/FILE) in an egg")
    return url


OPTIONS: tuple[Option, ...] = (
    # storage
    Option("QIAO_DATABASE_URL", "sqlite:///data/qiaocrawl.db", "URL",
           "Where everything is stored: sqlite:///FILE or mysql+pymysql://USER:PASSWORD@HOST/DB.",
           _database_url, secret=True),
    Option("QIAO_STORAGE_OUTAGE_SECONDS", 300.0, "s",
           "How long a database that does not answer is waited for before a crawl gives up.",
           _number(0, 86400)),
    # topic
    Option("QIAO_TOPICS_DIR", "topics", "folder",
           "Folder of topic packs that `qiaocrawl topic import NAME` reads.", _text),
    Option("QIAO_ONTOLOGY_DIR", "", "folder",
           "Where `qiaocrawl ontology install` keeps wordnets; empty = qiaocrawl/ontology in the "
           "user's data folder (XDG_DATA_HOME).", _text),
    # search
    Option("QIAO_ENGINES", "", "names, comma separated",
           "Search engines the operator has chosen to ask; none is asked unless named here.",
           _names),
    Option("QIAO_ENGINES_DIR", "", "folder",
           "Folder of engine definitions that add to or override the shipped ones.", _text),
    Option("QIAO_SEARXNG_URL", "", "URL",
           "Base address of the operator's own SearXNG, for the engine `searxng`.", _text),
    Option("QIAO_SEARCH_MAX_PAGES", 3, "pages",
           "Result pages asked for one keyword x site x engine.", _count(1, 50)),
    Option("QIAO_SEARCH_REPEAT_HOURS", 20.0, "hours",
           "A query answered less than this ago is not asked again.", _number(0, 8760)),
    Option("QIAO_SEARCH_RETRY_HOURS", 1.0, "hours",
           "A query that got no answer (blocked, decoy, layout changed, error) waits this long; "
           "each further time four times as long, at most a week.", _number(0, 168)),
    Option("QIAO_SEARCH_DAILY_BUDGET", "", "engine=requests, comma separated",
           "Most requests a day (Beijing time) of an engine, such as baidu=200,searxng=5000; "
           "scraped=, service= and keyed= (interfaces with a key) stand for all engines of a kind "
           "(200, 5000 and 100 where nothing is said); 0 = no limit.", _amounts(0, 10**9)),
    Option("QIAO_SEARCH_PARK_AFTER", 3, "answers",
           "An engine that refuses this often in a row (captcha, decoys, changed layout, no "
           "answer) is asked nothing more in this run; 0 = never.", _count(0, 1000)),
    Option("QIAO_SEARCH_FOLD_SYNONYMS", True, "on/off",
           "Ask synonyms of a topic in one question where the engine has OR-groups.", _flag),
    # frontier
    Option("QIAO_FRONTIER_LEASE_SECONDS", 120.0, "s",
           "A worker that shows no sign of life for this long loses its leased URLs.",
           _number(2, 86400)),
    Option("QIAO_FRONTIER_BATCH", 64, "URLs", "URLs leased at a time.", _count(1, 1000)),
    Option("QIAO_FRONTIER_MAX_FAILURES", 3, "tries",
           "A URL that failed this often is given up; a page that killed its worker this "
           "often is set aside.", _count(1, 20)),
    Option("QIAO_FRONTIER_RETRY_SECONDS", 2.0, "s",
           "First pause after a failed fetch; each further one is four times as long.",
           _number(0, 86400)),
    Option("QIAO_REVISIT_HOURS", 20.0, "hours",
           "Start and list pages older than this are fetched again by a new run.",
           _number(0, 8760)),
    Option("QIAO_URL_ALIASES", True, "on/off",
           "Learn from canonical links and redirects which addresses of a host (http, mobile, "
           "print, with or without www) are other names of its pages, and fetch each page once.",
           _flag),
    # crawl order
    Option("QIAO_STRATEGY", "adaptive", "name",
           "Crawl order of `scrapy crawl site`; -a strategy=NAME wins over it.", _text),
    Option("QIAO_ORDER_MEMORY", 20_000, "pages",
           "Fetched pages, the newest of the log, that an order which learns begins with.",
           _count(100, 10**6)),
    Option("QIAO_ORDER_MODEL_PAGES", 200, "pages",
           "What an order has learnt is stored after this many pages, and at the end of a run.",
           _count(1, 10**6)),
    Option("QIAO_STOP_BELOW_THRESHOLD", False, "on/off",
           "End a run of `scrapy crawl site` when all that waits scores below the moving "
           "threshold; what waits goes on waiting. Only for orders whose scores are "
           "probabilities.", _flag),
    # politeness
    Option("QIAO_CONTACT", "", "URL or e-mail address",
           "Whom a site's owner can ask; part of the default user agent. Empty: postmaster at "
           "this machine's name.", _text),
    Option("QIAO_MAX_CRAWL_DELAY_SECONDS", 30.0, "s",
           "Longest Crawl-delay of a robots.txt that is kept as asked.", _number(0, 3600)),
    Option("QIAO_MAX_RETRY_AFTER_SECONDS", 3600.0, "s",
           "Longest Retry-After that is waited for.", _number(1, 86400)),
    Option("QIAO_ALLOW_ADDRESSES", "", "host or address[:port], comma separated",
           "Origins inside private networks that may be fetched; everything else private is "
           "refused.", _names),
    # limits
    Option("QIAO_MAX_PAGES", 0, "pages", "Stop a crawl after this many pages; 0 = no limit.",
           _count(0, 10**9)),
    Option("QIAO_MAX_PAGES_PER_HOST", 0, "pages",
           "Pages of one host and run; 0 = no limit.", _count(0, 10**9)),
    Option("QIAO_MAX_SECONDS", 0.0, "s", "Stop a crawl after this long; 0 = no limit.",
           _number(0, 10**9)),
    Option("QIAO_MAX_DEPTH", 20, "links", "Links followed from a start page.", _count(0, 10**6)),
    Option("QIAO_MAX_LINKS_PER_PAGE", 1000, "links",
           "Links of one page that enter the frontier; more are counted and left.",
           _count(1, 10**6)),
    # stages
    Option("QIAO_EXTRACT_METHOD", "blend", "name", "Body extractor.", _text),
    Option("QIAO_DENSITY_THRESHOLD", 0.5, "share in [0, 1]",
           "Method density: least share of text in the bytes of a content line.", _number(0, 1)),
    Option("QIAO_DENSITY_TOLERANCE_LINES", 20, "lines",
           "Method density: lines without content in a row that do not end an article; 0 = off.",
           _count(0, 10**6)),
    Option("QIAO_DENSITY_MINIMUM_BYTES", 200, "bytes",
           "Method density: an article with less text does not end and is none; 0 = off.",
           _count(0, 10**9)),
    Option("QIAO_BLEND_NETWORK", "", "file",
           "Method blend: network trained by `qiaocrawl extractors train blend`; empty = shipped.",
           _text),
    Option("QIAO_CLUSTER_MODEL", "", "file",
           "Method cluster: a model of `qiaocrawl extractors train cluster`; empty = the one "
           "that comes with the program.", _text),
    Option("QIAO_TEMPLATES", "", "folder or TOML file",
           "Method template: where the regions of sites stand.", _text),
    Option("QIAO_SITE_LEARNING", True, "on/off",
           "Learn what the pages of a site repeat and where its articles stand, and use it on "
           "later pages.", _flag),
    Option("QIAO_EXTRACT_WORKERS", 1, "processes",
           "Worker processes that analyse pages.", _count(1, 64)),
    Option("QIAO_EXTRACT_SECONDS", 5.0, "s",
           "A page that takes longer to analyse is given up.", _number(0.1, 600)),
    Option("QIAO_RELEVANCE_METHOD", "blend", "name", "Page scorer.", _text),
    Option("QIAO_RELEVANCE_THRESHOLD", 0.0, "score in [0, 1]",
           "An article scoring this or more is on topic, on the scale of the page scorer; 0 = "
           "what the scorer takes by itself (vsm: the topic pack's threshold).",
           _number(0, 1)),
    Option("QIAO_DEDUP_METHOD", "reprint", "name",
           "Title deduplication: reprint, or the published vsm.", _text),
    Option("QIAO_DEDUP_THRESHOLD", "", "number in [0.5, 1]",
           "How similar titles of one story are at least; empty or 0 = the method's own.",
           _own_or(_number(0.5, 1))),
    # rendering
    Option("QIAO_RENDER", False, "on/off",
           "Open pages of sites marked render=yes in a browser (Chromium).", _flag),
    Option("QIAO_RENDER_LAYOUT", False, "on/off",
           "Write boxes and colours of its elements into the source of a rendered page, for the "
           "extractor `visual`.", _flag),
    Option("QIAO_CHROMIUM", "/usr/bin/chromium", "file", "The browser for QIAO_RENDER.", _text),
    # recorded and demo webs
    Option("QIAO_REPLAY", "", "folder or .warc(.gz) file",
           "Crawl this recorded web instead of the network.", _text),
    Option("QIAO_DEMO", "", "host:port",
           "Resolve the demo web's host names to this address.", _text),
)

_BY_NAME = {option.name: option for option in OPTIONS}


def given_in_environment() -> dict[str, str]:
    """The ``QIAO_*`` variables of this process."""
    return {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}


class Options(Mapping[str, Any]):
    """The checked options of one run; ``options["QIAO_MAX_DEPTH"]`` gives the typed value."""

    def __init__(self, given: Mapping[str, object]) -> None:
        unknown = [name for name in given if name.startswith(PREFIX) and name not in _BY_NAME]
        if unknown:
            raise ConfigError(_unknown_message(sorted(unknown)[0]))
        self._values = {
            option.name: _converted(option, given.get(option.name, option.default))
            for option in OPTIONS
        }

    @classmethod
    def from_environment(cls, given: Mapping[str, object] | None = None) -> Options:
        """Options from the environment, *given* (command line) winning over it."""
        return cls({**given_in_environment(), **(given or {})})

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _converted(option: Option, value: object) -> Any:
    try:
        return option.convert(value)
    except ValueError as error:
        shown = "(not shown)" if option.secret else repr(value)
        raise ConfigError(f"{option.name} {error}, got {shown}") from None


def _unknown_message(name: str) -> str:
    close = get_close_matches(name, _BY_NAME, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"unknown option {name}{hint}"
