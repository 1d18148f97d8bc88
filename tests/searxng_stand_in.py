"""Answers as SearXNG's JSON interface does: ``GET /search?q=&format=json&pageno=&language=``.

Keys, statuses and media types are those of the documented interface (docs.searxng.org, Search
API, 2026): an instance without ``json`` in ``search.formats`` says 403, its limiter 429, a search
without words 400; a page behind the last is an empty list. It knows no number of results, names
the engines each result is from, and all that did not answer, in order of their names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from crawling import Answer

HOST = "searx.test"
PER_PAGE = 10
JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html; charset=utf-8"}

Trouble = Callable[[], Answer]


def json_off() -> Answer:
    """``search.formats`` holds html only."""
    return Answer(b"<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1>", 403, HTML)


def limited() -> Answer:
    """The limiter took us for a bot and does not say for how long."""
    return Answer(b"<!doctype html><title>429 Too Many Requests</title>", 429, HTML)


def html_page() -> Answer:
    """Something in front of the instance answers in its place."""
    return Answer("<!doctype html><title>欢迎</title><p>请登录</p>".encode(), 200, HTML)


def hung() -> Answer:
    """An engine behind the instance holds the answer back."""
    return Answer(b"{}", 200, JSON, before_seconds=30)


@dataclass
class Found:
    """What the instance finds for some words."""

    urls: Sequence[str] = ()
    repeats: bool = False
    """Every page shows the first one again, as some engines do past their end."""
    suggestions: Sequence[str] = ()
    unresponsive: Sequence[tuple[str, str]] = ()
    engines: Sequence[str] = ("bing",)
    """Whose results these are."""
    title: str = ""
    """Of every result; default: with the words in it."""


@dataclass
class Searxng:
    """An instance; ``trouble`` answers in place of it, by number of the request.

    ``found`` is by words, and by words and period (``侨胞 week``) for the last day to year.
    ``unresponsive`` are engines that never answer.
    """

    found: dict[str, Found] = field(default_factory=dict)
    trouble: Callable[[int], Answer | None] = lambda number: None
    unresponsive: Sequence[tuple[str, str]] = ()
    asked: list[tuple[str, int]] = field(default_factory=list)

    def respond(self, host: str, path: str) -> Answer | None:
        """See :data:`crawling.Respond`."""
        parts = urlsplit(path)
        if host != HOST or parts.path != "/search":
            return None
        fields = {name: values[0] for name, values in parse_qs(parts.query).items()}
        words, page = fields.get("q", ""), fields.get("pageno", "1")
        if not words or not page.isdigit() or int(page) < 1:
            return Answer(b'{"error": "No query"}', 400, JSON)
        self.asked.append((words, int(page)))
        answer = self.trouble(len(self.asked))
        if answer is None and fields.get("format") == "json":
            return self._results(words, int(page), fields.get("time_range", ""))
        return answer or html_page()

    def _results(self, words: str, page: int, period: str) -> Answer:
        found = self.found.get(f"{words} {period}".strip(), Found())
        failed = dict([*self.unresponsive, *found.unresponsive])
        first = 0 if found.repeats else (page - 1) * PER_PAGE
        body = {
            "query": words,
            "number_of_results": 0,
            "results": [
                {
                    "template": "default.html", "url": url,
                    "title": found.title or f"{words}新闻 {number}",
                    "content": "" if found.title else f"{words}的消息",
                    "publishedDate": None, "thumbnail": "", "engine": found.engines[0],
                    "engines": list(found.engines), "positions": [number],
                    "score": 1.0 / number, "category": "general", "priority": "",
                    "parsed_url": list(urlsplit(url)) + [""],
                }
                for number, url in enumerate(found.urls[first : first + PER_PAGE], first + 1)
            ],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": list(found.suggestions),
            "unresponsive_engines": [list(pair) for pair in sorted(failed.items())],
        }  # fmt: skip
        return Answer(json.dumps(body, ensure_ascii=False).encode(), 200, JSON)
