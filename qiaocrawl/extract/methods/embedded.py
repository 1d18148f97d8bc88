"""Articles that stand in a script: JSON-LD, the state of a script-made page, a variable.

Nothing is executed. Strings that look like a body are found in JSON where a script holds JSON,
and by the names they are assigned to where it holds JavaScript, whose strings are read in step.
What reads like the source of a script is refused. Everything is capped and linear in the length of
the scripts. All rules are **(ours)**.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from qiaocrawl.extract.kind_features import count_prose_bytes
from qiaocrawl.extract.methods.script_strings import named_strings, repair_surrogates, unescape
from qiaocrawl.extract.wechat import is_post, summary_of
from qiaocrawl.page.blocks import blocks_of
from qiaocrawl.page.page import Page
from qiaocrawl.page.sanitize import sanitize_html
from qiaocrawl.text.normalise import collapse, without_blanks

MAX_SCRIPT_CHARS = 3_000_000
MAX_VALUES = 50_000
"""Values of one JSON document that are looked at."""
MAX_STRINGS = 40
"""Strings of one page that are turned to paragraphs."""
MAX_STARTS = 6
"""Places of one script where JSON is tried."""
MIN_BODY_BYTES = 90
"""Thirty Han letters in sentences: the shortest news."""
_MIN_SCRIPT_CHARS = 100

_BODY_NAMES = (
    "articlebody",
    "content",
    "body",
    "text",
    "html",
    "contenthtml",
    "articlecontent",
    "maintext",
    "newscontent",
    "artcontent",
    "detail",
    "article",
    "paragraphs",
    "contents",
    "htmlcontent",
    "contenttext",
    "contentnoencode",
    "articletext",
    "rawcontent",
    "fulltext",
    "bodyhtml",
    "story",
)
_POST_NAMES = ("desc",)
"""A post of pictures has its text there; elsewhere it is a summary."""
_PART_NAMES = ("text", "content", "html", "value", "data", "paragraph", "body")
_TITLE_NAMES = ("headline", "title", "articletitle", "newstitle", "subject", "arttitle", "name")
_DATE_NAMES = (
    "datepublished",
    "publishtime",
    "publishedat",
    "pubtime",
    "pubdate",
    "publishdate",
    "createtime",
    "createdat",
    "ctime",
    "releasetime",
    "publisheddate",
    "time",
    "date",
    "datetime",
)
_AUTHOR_NAMES = ("author", "authorname", "authors", "writer", "byline", "nickname", "username")
_BESIDE_NAMES = frozenset((*_TITLE_NAMES, *_DATE_NAMES, *_AUTHOR_NAMES))
_BESIDE_CHARS, _MARKUP_CHARS = 300, 200
# What a script with an article in it has; most scripts of other pages are passed over by it.
_HINTS = ("articleBody", "ontent", "ext", "ody", "aragraph", "tml", "etail", "tory")
# Sentences or paragraphs as scripts write them: plain, escaped, percent-encoded.
_SENTENCE_HINTS = (
    "。",
    "\\u3002",
    "%E3%80%82",
    "&#12290;",
    "<p",
    "\\u003cp",
    "\\u003Cp",
    "&lt;p",
    "%3Cp",
    "\\x3cp",
    "\\x3Cp",
)
_MIN_STOPS = 4
_NO_BODY = re.compile(
    "comment|relat|recommend|list|item|menu|link|nav|tag|consent|vendor|purpose|biograph|label|"
    "excerpt|intro|message|brand|cookie|privacy"
)
_SCRIPT_TYPE = re.compile("script|module")
_MIN_UNNAMED_BYTES = 600
_JSON_START = re.compile(r"(?:^|=|\(|return|:)\s*([{\[])\s*(?=[\"'{\[])")
_TAG = re.compile(r"<(?:p|br|div|span|strong|img|section|h\d|li|ul|table|blockquote)\b", re.I)
_PARAGRAPH_TAG = re.compile(r"<(?:p|br|div|section|h\d|li|ul|table|blockquote)\b", re.IGNORECASE)
_CUT_ESCAPE = re.compile(r"\\[ux{]{0,2}[0-9a-fA-F]{0,5}$")
_CODE = re.compile(r"[{}]\s*[;,)]|function\s*\(|=>|\bvar\s|\bconst\s|\breturn\b")
_MOST_CODE, _CHARS_A_MARK = 2, 400
_CODE_LINE = re.compile(
    r"[{};]\s*$|\w\.\w+\(|\)\s*[.;{]|[=!]==?\s|&&|\|\||=>|\bfunction\b|^\s*(?:var|let|const|return)\s"
)
_PROBE = re.compile(r"[\u3400-\u9fff]{8,16}|[A-Za-z][A-Za-z ]{18,30}")
_SENTENCE_ENDS = re.compile(r"。|\\u3002|[a-z]\. ")
_BEHIND_CHARS, _MAX_PLACES = 800, 6
_KEY_CHARS = 12
_TOLD_SHARE = 0.6
"""This share of a teaser stands in the article it is the beginning of."""
_SUMMARY_FACTOR = 3
_SURE_ORIGIN = "json-ld articleBody"
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Embedded:
    """An article found in a script.

    Attributes:
        text: a paragraph a line.
        title, date, author: as written beside the body, "" where they are not.
        origin: where it stood, such as ``json-ld articleBody`` or ``script content``.
    """

    text: str
    title: str = ""
    date: str = ""
    author: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    value: str
    name: str
    beside: dict[str, Any]
    origin: str


def embedded_article(page: Page) -> Embedded | None:
    """The article that the scripts of *page* hold, or None. Never raises.

    Of several, the one with most text in sentences, where a title that ``<title>`` confirms
    counts double. Meant for pages whose visible body is missing or clearly shorter.
    """
    return _largest(page, lambda found: True)


def _largest(page: Page, fits: Callable[[Embedded], bool]) -> Embedded | None:
    best: Embedded | None = None
    largest = 0.0
    left = MAX_SCRIPT_CHARS
    for candidate in islice(_candidates(page), MAX_STRINGS):
        left -= len(candidate.value)
        if left < 0:
            continue  # too much to read; a shorter one may follow
        text = paragraphs_of(candidate.value)
        size = float(count_prose_bytes(text.split("\n")))
        if size < MIN_BODY_BYTES or is_code(text):
            continue
        title = _first(candidate.beside, _TITLE_NAMES)
        if title and title in page.title:
            size *= 2
        if size <= largest:
            continue
        found = Embedded(
            text,
            title,
            _first(candidate.beside, _DATE_NAMES),
            _first(candidate.beside, _AUTHOR_NAMES),
            f"{candidate.origin} {candidate.name}",
        )
        if fits(found):
            largest, best = size, found
    return best


def whole_article(page: Page, teaser: str) -> Embedded | None:
    """The article in a script of *page* that goes on where *teaser* ends, or None. Never raises.

    For pages that show the beginning, to be read on after payment or a click. Where scripts hold
    what is shown and no more, which is the rule, they are hardly looked at.
    """
    lines = teaser.split("\n")
    if not any(_may_be_longer(item, teaser) for item in page.json_ld) and not _goes_on_in_script(
        page.source, lines
    ):
        return None
    keys = [(without_blanks(line)[:_KEY_CHARS], len(line)) for line in lines]

    def is_whole(found: Embedded) -> bool:
        text = without_blanks(found.text)
        if sum(size for key, size in keys if key in text) >= _TOLD_SHARE * len(teaser):
            return True
        # The teaser may be a summary in other words.
        is_called_so = len(found.title) >= _KEY_CHARS // 2 and found.title in page.title
        is_summary = _SUMMARY_FACTOR * len(teaser) < len(found.text)
        return is_called_so and is_summary and found.origin == _SURE_ORIGIN

    return _largest(page, is_whole)


def _may_be_longer(item: dict[str, Any], teaser: str) -> bool:
    body = item.get("articleBody")
    return isinstance(body, str) and len(body) > len(teaser) + MIN_BODY_BYTES


def _goes_on_in_script(source: str, lines: list[str]) -> bool:
    """Whether what the last long line of a teaser says stands in a script with more behind it."""
    probe = next((found for line in reversed(lines) if (found := _PROBE.search(line))), None)
    if probe is None:
        return False
    escaped = json.dumps(probe[0])[1:-1]
    for written in {probe[0], escaped, json.dumps(escaped)[1:-1]}:
        at, behind_chars = source.find(written), _BEHIND_CHARS * len(written) // len(probe[0])
        for _ in range(_MAX_PLACES):
            if at < 0:
                break
            behind = source[at : at + behind_chars]
            if source.rfind("<script", 0, at) > source.rfind("</script", 0, at):
                behind = behind.partition("</script")[0]
                if len(_SENTENCE_ENDS.findall(behind)) >= _MIN_STOPS:
                    return True
            at = source.find(written, at + len(written))
    return False


def _candidates(page: Page) -> Iterator[_Candidate]:
    """Strings that may be a body, the likeliest places first."""
    for item in page.json_ld:
        for name in ("articleBody", "text"):
            value = item.get(name)
            if isinstance(value, str) and len(value) >= MIN_BODY_BYTES // 3:
                yield _Candidate(value, name, _lower(item), "json-ld")
    is_of_post = is_post(page)
    body_names: tuple[str, ...] = (*_BODY_NAMES, *_POST_NAMES) if is_of_post else _BODY_NAMES
    if is_of_post:
        yield _Candidate(summary_of(page), "description", {}, "meta")
    candidates: list[_Candidate] = []
    for script in page.nodes("script"):
        if script.first_child is None:
            continue
        source = script.text()
        if not _MIN_SCRIPT_CHARS <= len(source) <= MAX_SCRIPT_CHARS:
            continue
        kind = (script.attributes.get("type") or "").lower()
        if "ld+json" not in kind and (is_of_post or _may_tell(source)):
            is_javascript = not kind or _SCRIPT_TYPE.search(kind) is not None
            candidates += _of_script(source, body_names if is_javascript else ())
    # The longest hold the body if any does; sorting keeps the caps from hiding it.
    yield from sorted(candidates, key=lambda candidate: -len(candidate.value))


def _may_tell(source: str) -> bool:
    if not any(hint in source for hint in _HINTS):
        return False
    return any(hint in source for hint in _SENTENCE_HINTS) or source.count(". ") >= _MIN_STOPS


def _of_script(source: str, body_names: tuple[str, ...]) -> list[_Candidate]:
    """Bodies in *source*: in JSON, or else in strings of JavaScript that have one of the names."""
    candidates: list[_Candidate] = []
    position = tries = 0
    while tries < MAX_STARTS and (start := _JSON_START.search(source, position)) is not None:
        tries += 1
        try:
            data, position = _DECODER.raw_decode(source, start.start(1))
        except (ValueError, RecursionError):
            position = start.end()
            continue
        candidates += _of_json(data)
    return candidates if candidates or not body_names else _of_object(source, body_names)


def _of_json(data: Any) -> list[_Candidate]:
    """Bodies anywhere in *data*, with the object they belong to."""
    candidates: list[_Candidate] = []
    waiting: list[Any] = [data]
    for _ in range(MAX_VALUES):
        if not waiting:
            break
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(reversed(item[:5000]))
        elif isinstance(item, dict):
            candidates += _of_dict(item)
            waiting.extend(v for v in reversed(list(item.values())) if isinstance(v, dict | list))
    return candidates


def _of_dict(item: dict[str, Any]) -> Iterator[_Candidate]:
    beside = _lower(item)
    for name, value in beside.items():
        if isinstance(value, list) and len(value) > 1 and not _NO_BODY.search(name):
            value = _join_paragraphs(value)
            size = len(value.encode("utf-8", "replace"))
            if name not in _BODY_NAMES and size < _MIN_UNNAMED_BYTES:
                continue
            yield _Candidate(value, name, beside, "script")
            continue
        if isinstance(value, str) and _is_long(value):
            if value[:1] in '{["' and (inner := _decode_json(value)) is not None:
                yield from _of_json(inner)
            elif name in _BODY_NAMES or (
                len(value) >= _MIN_UNNAMED_BYTES // 3
                and not _NO_BODY.search(name)
                and _TAG.search(value)
            ):
                yield _Candidate(value, name, beside, "script")


def _decode_json(value: str) -> Any:
    """JSON written inside a string of JSON, or None."""
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return None


def _join_paragraphs(parts: list[Any]) -> str:
    """The text of a list of paragraphs, be they strings or objects with a text each."""
    texts = []
    for part in parts[:2000]:
        if isinstance(part, dict):
            own = _lower(part)
            part = next((own[n] for n in _PART_NAMES if isinstance(own.get(n), str)), "")
        if isinstance(part, str) and part.strip():
            texts.append(part)
    return "\n".join(texts)


def _of_object(source: str, body_names: tuple[str, ...]) -> list[_Candidate]:
    """Bodies in a JavaScript object that is no JSON, by the names of its long strings."""
    beside: dict[str, Any] = {}
    bodies: list[tuple[str, str]] = []
    for written_name, written in named_strings(source):
        name = written_name.lower().replace("_", "")
        if len(written) >= MIN_BODY_BYTES // 3 and (
            name in body_names
            or _has_object(written)
            or (not _NO_BODY.search(name) and _has_markup(written))
        ):
            bodies.append((name, unescape(written)))
        elif len(written) < _BESIDE_CHARS and name in _BESIDE_NAMES and written:
            beside.setdefault(name, unescape(written))
        if len(bodies) >= MAX_STRINGS:
            break
    candidates: list[_Candidate] = []
    for name, value in bodies:
        if value[:3].upper() in ("%7B", "%5B", "%3C") or "%E3%80%82" in value:
            value = unquote(value)
        inner = _decode_json(value) if value[:1] in "{[" else None
        if inner is not None:
            candidates += _of_json(inner)
        elif _is_long(value):
            candidates.append(_Candidate(value, name, beside, "script"))
    return candidates


def _has_object(written: str) -> bool:
    is_object = written[0] in "{[" or written[:3].upper() in ("%7B", "%5B")
    return is_object and len(written) > _MARKUP_CHARS


def _has_markup(written: str) -> bool:
    """Whether a long string begins with markup of text: a ``<`` alone may compare two numbers."""
    if len(written) <= _MARKUP_CHARS:
        return False
    head = written[:_MARKUP_CHARS]
    if head[:3].upper() == "%3C":
        return True
    return _TAG.search(html.unescape(unescape(_CUT_ESCAPE.sub("", head)))) is not None


def _is_long(value: str) -> bool:
    return len(value) >= MIN_BODY_BYTES // 3 and not value.startswith(("http:", "https:", "data:"))


def _lower(item: dict[str, Any]) -> dict[str, Any]:
    return {str(name).lower().replace("_", "").replace("-", ""): v for name, v in item.items()}


def _first(beside: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first short text under one of *names*, markup removed."""
    for name in names:
        value = beside.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            value = value.get("name")
        if isinstance(value, int | float) and not isinstance(value, bool) and 1e8 < value < 1e18:
            return str(int(value))
        if isinstance(value, str) and 0 < len(value) <= 2000:
            text = collapse(html.unescape(re.sub("<[^>]*>", "", value)))
            if text:
                return text
    return ""


def is_code(text: str) -> bool:
    """Whether *text* is the source of a script, and no article that shows some."""
    if len(_CODE.findall(text)) > _MOST_CODE + len(text) // _CHARS_A_MARK:
        return True
    code = sum(len(line) for line in text.split("\n") if _CODE_LINE.search(line))
    return 2 * code > len(text)


def paragraphs_of(value: str) -> str:
    """The text of a body as scripts hold it: plain, with markup, or with escaped markup."""
    value = repair_surrogates(value)
    if "&lt;" in value and "<" not in value:
        value = html.unescape(value)
    if "\\u003" in value or "\\n" in value or '\\"' in value:
        value = unescape(value)
    if "<" in value or "&" in value:
        safe, _ = sanitize_html(
            value if _PARAGRAPH_TAG.search(value) else value.replace("\n", "<br>")
        )
        page_blocks = blocks_of(LexborHTMLParser(f"<body>{safe}").body)
        lines = [block.text for block in page_blocks.blocks]
    else:
        lines = [collapse(line) for line in re.split(r"[\r\n]+", value)]
    return "\n".join(line for line in lines if line)
