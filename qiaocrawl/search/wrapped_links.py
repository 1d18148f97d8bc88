"""Resolves links of a result page that only the engine can resolve (``/link?url=…``).

Such a hit goes to the frontier as the engine's own link, with the site that was asked. Where
it leads is known when it is fetched: by a redirect, or by a page whose script or meta refresh
goes on. The target must leave the engine and be on the asked site; each step is one row of the
frontier, so a chain is bounded as every chain of redirects is, and every address on it is
checked like any other before it is fetched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from qiaocrawl.items import FetchedPage
from qiaocrawl.page.page import refresh_target
from qiaocrawl.search.documents import HtmlDocument
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.search.signals import (
    COMMON_BLOCK_WORDS,
    COMMON_CHECK_PATHS,
    is_on_site,
    matching_word,
)
from qiaocrawl.text.charset import decode_page
from qiaocrawl.urls import UrlJoiner, canonical_url

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
        return _unresolved(page)
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
        target = canonical_url(_ESCAPE.sub(_unescaped, match[2]), page.url) or ""
        if target and target != page.url:
            return target
    return ""


def _unresolved(page: FetchedPage) -> ResolvedLink:
    document = HtmlDocument(_text(page))
    if word := matching_word(COMMON_BLOCK_WORDS, f"{document.title} {document.visible_text}"):
        return ResolvedLink(why=f"check page: {word}", is_blocked=True)
    if not page.body.strip():
        return ResolvedLink(why="empty body", is_blocked=True)
    return ResolvedLink(why="the engine's link shows no way on")


def _text(page: FetchedPage) -> str:
    return decode_page(page.body[:_MAX_BODY_BYTES], page.header("content-type")).text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else match[3]
