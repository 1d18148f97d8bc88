"""Parses the hits of a document: unwraps links, drops advertisements, one hit a URL."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from qiaocrawl.items import FetchedPage
from qiaocrawl.page.page import refresh_target
from qiaocrawl.search.documents import Document, HtmlDocument
from qiaocrawl.search.query import Hit, Query
from qiaocrawl.search.records import EngineDefinition, Signal, Unwrap
from qiaocrawl.text.charset import decode_page
from qiaocrawl.text.normalise import collapse, fold
from qiaocrawl.urls import UrlJoiner, canonical_url, host_of

_MAX_TITLE_CHARS = 300
_MAX_SNIPPET_CHARS = 2000

# Pieces of HTML in an interface's texts: "<em>词</em>".
_TAG = re.compile(r"<[^<>]{0,500}>")


@dataclass(frozen=True, slots=True)
class PageHits:
    """What one result page lists.

    ``unreadable`` counts entries without title or web address, ``left_out`` advertisements
    and entries of dropped hosts; a URL listed twice is one hit.
    """

    hits: tuple[Hit, ...] = ()
    unreadable: int = 0
    left_out: int = 0


def parse_hits(
    definition: EngineDefinition, document: Document, query: Query, page_url: str
) -> PageHits:
    """The hits of *document* in their order, URLs canonical, positions over all pages."""
    fields = definition.hits
    place = (query.page - 1) * definition.paging.per_page
    hits: dict[str, Hit] = {}
    unreadable = left_out = 0
    for item in document.items(fields.each):
        url = _real_url(definition, document, item, page_url)
        # Cut: some pages put their whole text into the title.
        title = _words(definition, document.value(item, fields.title))[:_MAX_TITLE_CHARS]
        if _is_left_out(definition, document, item, url):
            left_out += 1
            continue
        if definition.format == "scripts" and not url and not title:
            # The scripts of such a page also hold data of its other parts.
            continue
        # Entries without a title count as well: positions are those a person sees.
        place += 1
        if not url or not title:
            unreadable += 1
        elif url not in hits:
            snippet = _words(definition, document.value(item, fields.snippet))
            hits[url] = Hit(
                url=url,
                title=title,
                snippet=snippet[:_MAX_SNIPPET_CHARS],
                position=place,
                published_at=_date(document.value(item, fields.date)),
            )
    return PageHits(tuple(hits.values()), unreadable, left_out)


def _date(text: str) -> datetime | None:
    # Its many patterns take a tenth of a second, and few crawls search.
    from qiaocrawl.text.dates import find_date

    return find_date(text)


def _words(definition: EngineDefinition, text: str) -> str:
    if not definition.hits.markup:
        return text
    return collapse(html.unescape(_TAG.sub("", text)))


def _is_left_out(definition: EngineDefinition, document: Document, item: Any, url: str) -> bool:
    exclude = definition.hits.exclude
    if exclude and document.holds(item, exclude):
        return True
    return bool(url) and host_of(url) in definition.hits.drop_hosts


def _real_url(definition: EngineDefinition, document: Document, item: Any, page_url: str) -> str:
    """The canonical address of a hit: by the first rule that gives one, else the link's own."""
    written = document.value(item, definition.hits.link)
    # An empty link, resolved against the page, would be the page itself.
    link = (canonical_url(written, page_url) or "") if written else ""
    for rule in definition.unwrap:
        if rule.by in ("header", "script"):
            continue  # only the engine can tell: see qiaocrawl.search.hits
        if rule.by == "attribute":
            wrapped = document.attribute(item, rule.of, rule.name)
        else:
            wrapped = _parameter(rule, link)
        # Without a base, so that only a complete http(s) URL counts as unwrapped.
        url = canonical_url(wrapped) if wrapped else None
        if url:
            return url
    return link


def _parameter(rule: Unwrap, link: str) -> str:
    try:
        parts = urlsplit(link)
        # max_num_fields: links of hostile pages may hold thousands.
        pairs = dict(parse_qsl(parts.query, max_num_fields=100))
    except ValueError:
        return ""
    host_fits = not rule.host or parts.hostname == rule.host
    if not host_fits or not parts.path.startswith(rule.path):
        return ""
    value = pairs.get(rule.name, "")
    return _from_base64(value, rule.prefix) if rule.by == "base64" else value


def _from_base64(value: str, prefix: str) -> str:
    if not value.startswith(prefix):
        return ""
    code = value.removeprefix(prefix)
    try:
        # Padding is left out in URLs; altchars are those of base64url.
        raw = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        return raw.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


# --- Checks which signals of a definition hold in a document, and whether hits answer the query

COMMON_BLOCK_WORDS = (
    "请输入验证码",
    "安全验证",
    "人机验证",
    "访问过于频繁",
    "操作过于频繁",
    "访问异常",
    "异常流量",
    "captcha",
    "unusual traffic",
    "are you a robot",
    "verify you are human",
)
"""Said by check pages of many engines; asked of every answer that has no hits."""

COMMON_CHECK_PATHS = ("captcha", "antispider", "/verify", "/challenge", "/sorry", "wappass")
"""Parts of addresses that engines redirect to when they want a human."""

# ASCII words count whole, everything else by bigrams: Latin bigrams are in every text.
# "gpt" as a word, "华人" by its bigrams.
_RUNS = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]+")
_MAX_SHOWN_CHARS = 120


def matching_signal(signals: Iterable[Signal], document: Document, terms: Sequence[str]) -> str:
    """The first of *signals* that holds, in words for the ledger; "" when none does.

    The engine's page repeats the *terms*, which are no signs: a search for "验证码" is not
    blocked. A sign in an interface's data is shown with all that stands
    there, such as the names of engines that failed.
    """
    for signal in signals:
        if signal.place == "location":
            continue
        for text in _texts(signal, document):
            # The whole text, where words inside a sentence would prove nothing.
            if signal.equals and text not in signal.equals:
                continue
            word = matching_word(signal.words, text, terms)
            if word or not signal.words:
                shown = text if signal.place == "json" or not word else word
                return _place_text(signal.place, signal.path, shown)
    return ""


def matching_word(words: Iterable[str], text: str, terms: Sequence[str] = ()) -> str:
    """The first of *words* in *text*, letter case aside; "" when none is.

    A word that is part of one of *terms* must stand elsewhere than in them.
    """
    lowered, folded_terms = text.casefold(), [term.casefold() for term in terms]
    for word in words:
        folded = word.casefold()
        rest = lowered
        for term in folded_terms:
            if folded in term:
                # Without the terms themselves: the page repeats what was asked.
                rest = rest.replace(term, " ")
        if folded in rest:
            return word
    return ""


def shares_words(terms: Sequence[str], hits: Sequence[Hit]) -> bool:
    """Whether any hit shows a character bigram (or a Latin word) of one of *terms*.

    Traditional and simplified characters are the same here. Terms of marks only say
    nothing: True.
    """
    units = {unit for term in terms for unit in _units(term)}
    if not units:
        return True
    texts = (fold(f"{hit.title} {hit.snippet}") for hit in hits)
    return any(unit in text for text in texts for unit in units)


def is_on_site(url: str, site: str) -> bool:
    """Whether *url* is on the host *site* or below it; a leading ``www.`` makes no difference."""
    host, site_host = host_of(url).partition(":")[0], site.lower().rstrip(".")
    if host == site_host or host.endswith("." + site_host):
        return True
    # www.a.cn and a.cn are one site, whichever was asked for.
    return host.removeprefix("www.") == site_host.removeprefix("www.")


def _texts(signal: Signal, document: Document) -> list[str]:
    if signal.place == "select":
        return document.texts(signal.path)
    if signal.place == "json":
        return document.data_texts(signal.path)
    if signal.place == "empty_list":
        # [""]: present, with nothing to show.
        return [""] if document.has_empty_list(signal.path) else []
    texts = {"title": document.title, "text": document.visible_text, "raw": document.source}
    return [texts[signal.place]]


def _place_text(place: str, path: str, text: str) -> str:
    where = f"{place} {path}" if path else place
    return f"{where}: {text}"[:_MAX_SHOWN_CHARS].rstrip(": ")


def _units(term: str) -> set[str]:
    units: set[str] = set()
    for run in _RUNS.findall(fold(term)):
        whole = run.isascii() or len(run) == 1
        units |= {run} if whole else {run[i : i + 2] for i in range(len(run) - 1)}
    return units


# --- Resolves links of a result page that only the engine can resolve (``/link?url=…``) -----------
# Such a hit goes to the frontier as the engine's own link, with the site that was asked. Where
# it leads is known when it is fetched: by a redirect, or by a page whose script or meta refresh
# goes on. The target must leave the engine and be on the asked site; each step is one row of the
# frontier, so a chain is bounded as every chain of redirects is, and every address on it is
# checked like any other before it is fetched.

# Pages that only redirect have a tenth of that.
_MAX_BODY_BYTES = 65_536

# location.href = "…", location.replace('…'), location="…"
_LOCATION = re.compile(
    r"""\blocation(?:\.(?:href|replace|assign))?\s{0,9}[=(]\s{0,9}(["'])(.{1,4000}?)\1""", re.DOTALL
)
# \u002f, \x2F, \/ in a script's string.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """Where an engine's link leads: ``target`` is canonical, or "" with the reason in ``why``.

    ``is_blocked`` says that the engine wants a human first, so the link is worth another try.
    """

    target: str = ""
    why: str = ""
    is_blocked: bool = False


def resolve_link(
    definition: EngineDefinition, page: FetchedPage, location: str, asked_site: str
) -> ResolvedLink:
    """Where *page*, the answer to a link of *definition*, leads. Never raises on any bytes.

    Args:
        page: what came back for the link.
        location: canonical target of its Location header, "" where there is none.
        asked_site: the host the query was restricted to, or "".
    """
    # The header is what a browser follows; a page beside it is for people without one.
    target = location or _target_in_page(page)
    if not target:
        return _why_unresolved(page)
    if matching_word(_check_paths(definition), target):
        return ResolvedLink(why=f"redirect to check page {target}", is_blocked=True)
    # A link that leads to another wrapped link is resolved at the next step.
    if asked_site and not definition.wraps(target) and not is_on_site(target, asked_site):
        return ResolvedLink(why=f"leads off the asked site {asked_site}: {target}")
    return ResolvedLink(target)


def _check_paths(definition: EngineDefinition) -> list[str]:
    signals = (signal for signal in definition.signals.blocked if signal.place == "location")
    return [*(word for signal in signals for word in signal.words), *COMMON_CHECK_PATHS]


def _target_in_page(page: FetchedPage) -> str:
    text = _text(page)
    refreshes = HtmlDocument(text).attributes("meta[http-equiv]", "http-equiv", "content")
    joiner = UrlJoiner(page.url)
    for kind, content in refreshes:
        target = refresh_target(content, joiner) if kind.strip().lower() == "refresh" else ""
        # A refresh to the page itself only reloads it.
        if target and target != page.url:
            return target
    for match in _LOCATION.finditer(text):
        target = canonical_url(_ESCAPE.sub(_unescape_match, match[2]), page.url) or ""
        if target and target != page.url:
            return target
    return ""


def _why_unresolved(page: FetchedPage) -> ResolvedLink:
    document = HtmlDocument(_text(page))
    if word := matching_word(COMMON_BLOCK_WORDS, f"{document.title} {document.visible_text}"):
        return ResolvedLink(why=f"check page: {word}", is_blocked=True)
    if not page.body.strip():
        return ResolvedLink(why="empty body", is_blocked=True)
    return ResolvedLink(why="the engine's link shows no way on")


def _text(page: FetchedPage) -> str:
    return decode_page(page.body[:_MAX_BODY_BYTES], page.header("content-type")).text


def _unescape_match(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else match[3]


# --- The upstreams of a metasearch engine: which answered, which failed and why -------------------

# Of one answer; SearXNG asks about a dozen (ours).
_MOST_NAMES = 50
_MAX_CHARS = 100


def answering_upstreams(definition: EngineDefinition, document: Document) -> tuple[str, ...]:
    """Names of the engines that the hits of *document* are from."""
    where = definition.upstreams
    if where is None or not where.answered:
        return ()
    names: dict[str, None] = {}
    for hit in document.items(definition.hits.each):
        for name in _upstream_texts(document, hit, where.answered):
            # A dict keeps the order in which the hits name them.
            names[name] = None
            if len(names) == _MOST_NAMES:
                return tuple(names)
    return tuple(names)


def failed_upstreams(
    definition: EngineDefinition, document: Document
) -> tuple[tuple[str, str], ...]:
    """Names and reasons of the engines that did not answer."""
    where = definition.upstreams
    if where is None:
        return ()
    failures: dict[str, str] = {}
    for entry in document.items((where.failed,))[:_MOST_NAMES]:
        name = document.value(entry, ("0",))[:_MAX_CHARS]
        if name:
            failures[name] = document.value(entry, ("1",))[:_MAX_CHARS]
    return tuple(failures.items())


def describe_failures(failed: tuple[tuple[str, str], ...]) -> str:
    """*failed* in words for the ledger, all of them; each can be counted by itself."""
    return "; ".join(f"no answer of {name} ({reason})" for name, reason in failed)


def _upstream_texts(document: Document, item: Any, path: str) -> list[str]:
    texts = []
    for number in range(_MOST_NAMES):
        text = document.value(item, (f"{path}.{number}",))[:_MAX_CHARS]
        if not text:
            break
        texts.append(text)
    return texts
