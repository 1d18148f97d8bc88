"""Pages out of templates, escaped; stored words, strangers' HTML and differences for them."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from functools import cache, partial
from typing import Any

import starlette_admin
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from selectolax.lexbor import LexborHTMLParser, LexborNode
from starlette.requests import Request
from starlette.responses import HTMLResponse

from qiaocrawl import __version__
from qiaocrawl.console.page import Area, Frame, Page, Visit, link, take_told, visit_of
from qiaocrawl.console.security import credentials
from qiaocrawl.language import ENGLISH, N_, _, language, ngettext
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.storage.office import Office
from qiaocrawl.storage.topics.classes import class_label
from qiaocrawl.storage.topics.judgements import OPERATOR
from qiaocrawl.text.visible import marked_pieces, xml_text
from qiaocrawl.text.zones import DAY, SHANGHAI, china_time, china_time_or_day

# --- What the database has in English words, in the words of who reads: notes, names of methods

_NOTES = {
    "title": N_("title"),
    "body": N_("body"),
    "title and body": N_("title and body"),
    "soft 404": N_("an error page that does not say so"),
    "redirects to a first page": N_("leads to a first page now"),
}
_METHODS = {
    OPERATOR: N_("by an operator"),
    "best_words": N_("by the best words of its samples"),
    "blend": N_("by its terms and samples together"),
    "bm25": N_("by BM25"),
    "boolean": N_("by a Boolean expression"),
    "full_text": N_("by how often its terms occur"),
    "important_tags": N_("by title, headings and meta data"),
    "important_tags_share": N_("by its share in title, headings and meta data"),
    "inference_network": N_("by an inference network"),
    "nearest_word": N_("by the nearest word"),
    "ontology": N_("by the ontology"),
    "p_norm": N_("by extended Boolean logic"),
    "svm": N_("by a support vector machine"),
    "tfidf": N_("by TF-IDF"),
    "vsm": N_("by the vector space model"),
    "vsm_breadth": N_("by the vector space model with breadth"),
}


def shown_note(note: str) -> str:
    """The note of a revision."""
    return _(_NOTES[note]) if note in _NOTES else shown_reason(note)


def shown_method(method: str) -> str:
    """What judged an article; one of a plug-in shows its name."""
    return _(_METHODS.get(method, method))


def shown_when(moment: datetime | None) -> str:
    """A moment as people say it: today 07:20, yesterday, 4 March; "" for none.

    The hour is left out where none was written, which is midnight, and of days gone by.
    """
    if moment is None:
        return ""
    now, local = datetime.now(SHANGHAI), moment.astimezone(SHANGHAI)
    days = (now.date() - local.date()).days
    if days in (0, 1):
        day = _("today") if days == 0 else _("yesterday")
        return f"{day} {local:%H:%M}" if local.hour or local.minute else day
    if local.year == now.year:
        return _("{month}/{day}", month=local.month, day=local.day)
    return _("{year}/{month}/{day}", year=local.year, month=local.month, day=local.day)


_USUAL_CHANNEL = "default"


def shown_channel(name: str) -> str:
    """A channel of warnings; that of rules which name none has no name of its own."""
    return _("(usual channel)") if name == _USUAL_CHANNEL else name


THEMES = ("light", "dark")
VENDOR_VERSION: str = starlette_admin.__version__
"""Of the package whose styles and scripts are served: a new one is a new address."""


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """The page of *template*.

    Templates know besides *values*: ``link(name, **parameters)``, ``user``, ``csrf_token``,
    ``nonce``, ``desk_office``, ``desk_mark``, ``theme``, ``language``, ``menu``,
    ``page_name``, ``take_told()``.
    """
    values.setdefault("status", status)
    shown = {**_common(request), **values}
    return HTMLResponse(_environment().get_template(template).render(**shown), status)


def _common(request: Request) -> dict[str, Any]:
    visit = visit_of(request)
    page = getattr(request.state, "page", None)
    theme = request.cookies.get(credentials.THEME, "")
    areas: Sequence[Area] = request.app.state.areas
    frame: Frame = request.app.state.console.frame
    version = mark_version(frame.office)
    return {
        "desk_office": frame.office,
        "desk_mark": f"{link(request, 'office.mark')}?{version}"
        if version
        else link(request, "static", path="icon.svg"),
        "is_alone": False,
        "link": lambda name, **parameters: link(request, name, **parameters),
        "user": visit.user,
        "csrf_token": visit.token,
        "nonce": request.state.nonce,
        "theme": theme if theme in THEMES else THEMES[0],
        "language": language(),
        "html_language": "en" if language() == ENGLISH else "zh-CN",
        "menu": _menu(areas, visit, page, {"warnings.show": frame.open_warnings}),
        "page_name": page.name if page is not None else "",
        "take_told": lambda: take_told(request),
        "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
    }


@dataclass(frozen=True, slots=True)
class Chip:
    """A choice that is one link: what it says, the list it leads to, whether it is made."""

    text: str
    query: str
    is_made: bool


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """An entry of the menu: where it leads, whether the page is in it, its tabs, and how many of
    what it holds wait; 0 for none."""

    title: str
    icon: str
    page: str
    is_here: bool
    tabs: tuple[MenuEntry, ...] = ()
    count: int = 0


def mark_version(office: Office) -> str:
    """What tells one mark from another; "" for none."""
    return hashlib.blake2b(office.mark, digest_size=6).hexdigest() if office.mark else ""


def _menu(
    areas: Sequence[Area], visit: Visit, page: Page | None, counts: Mapping[str, int]
) -> list[MenuEntry]:
    """The entries that who asks may open, in the order of the areas; *counts* by their pages."""
    user, waiting = visit.user, {**counts, "handovers.show": visit.handed}
    tabs: dict[str, list[MenuEntry]] = {}
    for area in areas:
        if area.title and user is not None and user.may(area.pages[0].role):
            own = MenuEntry(area.title, area.icon, area.pages[0].name, page in area.pages)
            tabs.setdefault(area.entry or area.title, []).append(own)
    return [
        MenuEntry(
            title,
            own[0].icon,
            own[0].page,
            any(tab.is_here for tab in own),
            tuple(own) if len(own) > 1 else (),
            waiting.get(own[0].page, 0),
        )
        for title, own in tabs.items()
    ]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("qiaocrawl.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "_": _,
        "ngettext": ngettext,
        "vendor_version": VENDOR_VERSION,
        "version": __version__,
    }
    environment.filters |= {
        "moment": china_time,
        "when": shown_when,
        "day": partial(china_time, form=DAY),
        "published": china_time_or_day,
        "number": _number,
        "web": _web,
        "xml": xml_text,
        "mail_date": format_datetime,
        "reason": shown_reason,
        "note": shown_note,
        "method": shown_method,
        "channel": shown_channel,
        "class_label": class_label,
    }
    return environment


def _number(value: float) -> str:
    return f"{value:,}"


def is_web_address(url: str) -> bool:
    """Whether a browser may be led there: not to ``javascript:`` and the like."""
    return url.lower().startswith(("http://", "https://"))


def _web(url: str) -> str:
    return url if is_web_address(url) else ""


# --- An article's stored HTML for our pages: known elements only, topic words marked --------------
# The extractor writes nothing active. What stands in a database may have come there otherwise, so
# all is written anew here. Pictures are links: to load them would tell their sites who reads.

_ELEMENTS = """
    p ul ol li dl dt dd table tr td th caption blockquote figure figcaption pre code
    strong b em i u s sub sup
"""
_KEPT = frozenset(_ELEMENTS.split())
# The page has headings of its own above these.
_RENAMED = {f"h{level}": f"h{min(level + 2, 6)}" for level in range(1, 7)}
_DROPPED = frozenset(("script", "style", "template", "noscript", "svg", "math", "iframe", "object"))
_MOST_DEPTH = 40


def shown_html(html: str, words: Sequence[str]) -> Markup:
    """*html* as it may stand in a page of ours, with *words* in ``<mark>``."""
    body = LexborHTMLParser(html).body
    return Markup("").join(_inside(body, words, 0)) if body is not None else Markup("")


def marked_text(text: str, words: Sequence[str]) -> Markup:
    """Plain *text* with *words* in ``<mark>``."""
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if is_word else escape(piece)
        for piece, is_word in marked_pieces(text, words)
    )


def _inside(parent: LexborNode, words: Sequence[str], depth: int) -> Iterator[Markup]:
    node = parent.child
    while node is not None:
        if node.tag == "-text":
            yield marked_text(node.text(deep=False), words)
        elif node.tag and node.tag not in _DROPPED and not node.tag.startswith(("-", "_")):
            yield _element(node, words, depth)
        node = node.next


def _element(node: LexborNode, words: Sequence[str], depth: int) -> Markup:
    tag = node.tag or ""
    if depth > _MOST_DEPTH:
        return marked_text(node.text(), words)
    if tag == "br":
        return Markup("<br>")
    attributes = {name: value or "" for name, value in node.attributes.items()}
    if tag == "img":
        return _picture(attributes)
    inside = Markup("").join(_inside(node, words, depth + 1))
    if tag == "a" and is_web_address(attributes.get("href", "")):
        return _link(attributes["href"], inside)
    tag = _RENAMED.get(tag, tag)
    if tag not in _KEPT and tag not in _RENAMED.values():
        return inside
    return Markup("<{0}{1}>{2}</{0}>").format(tag, _spans(attributes), inside)


def _spans(attributes: dict[str, str]) -> Markup:
    """How many rows and columns a cell spans."""
    return Markup("").join(
        Markup(' {}="{}"').format(name, attributes[name])
        for name in ("colspan", "rowspan")
        if attributes.get(name, "").isascii() and attributes.get(name, "").isdigit()
    )


def _picture(attributes: dict[str, str]) -> Markup:
    text = attributes.get("alt") or _("picture")
    address = attributes.get("src", "")
    shown = Markup('<i class="fa-regular fa-image" aria-hidden="true"></i> {}').format(text)
    return _link(address, shown) if is_web_address(address) else shown


def _link(address: str, inside: Markup) -> Markup:
    return Markup('<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>').format(
        address, inside
    )


# --- What differs between two texts, in bounded time: the texts are strangers' --------------------
# Sentences are compared first, and characters only within the few that were replaced.

_SENTENCE = re.compile(r"[^。！？\n]*[。！？\n]+|[^。！？\n]+")
_MOST_CHARS = 60_000
_MOST_SENTENCES = 2_000
_MOST_WITHIN = 600
# A sentence that stands more often marks no place, and each time it stands costs a look.
_MOST_ALIKE = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """Both texts in one, what went in ``<del>``, what came in ``<ins>``; "" for equal ones.

    ``is_cut``: they are too long; ``text`` ends before they do.
    """

    text: Markup
    is_cut: bool = False


class Comparison:
    """Compares the texts of one page, which together may cost so much and no more.

    Args:
        sentences, characters: as many are compared, of all texts; the rest is shown as it is.
    """

    def __init__(self, sentences: int = 6_000, characters: int = 20_000) -> None:
        self._sentences, self._characters = sentences, characters

    def difference(self, before: str, after: str) -> Difference:
        """What differs between the two."""
        if before == after:
            return Difference(Markup(""))
        old, new = _sentences(before), _sentences(after)
        head = _same(old, new)
        tail = _same(old[head:][::-1], new[head:][::-1])
        end_old, end_new = len(old) - tail, len(new) - tail
        most = min(_MOST_SENTENCES, self._sentences)
        cut_old, cut_new = old[head:end_old][:most], new[head:end_new][:most]
        self._sentences -= max(len(cut_old), len(cut_new))
        pieces = [_plain(old[:head]), *self._mark_changes(cut_old, cut_new)]
        if is_whole := max(end_old, end_new) - head <= most:
            pieces.append(_plain(old[end_old:]))
        is_cut = not is_whole or max(len(before), len(after)) > _MOST_CHARS
        return Difference(Markup("").join(pieces), is_cut)

    def _mark_changes(self, old: Sequence[str], new: Sequence[str]) -> list[Markup]:
        often = {sentence for sentence, count in Counter(new).items() if count > _MOST_ALIKE}
        matcher = difflib.SequenceMatcher(often.__contains__, old, new, autojunk=False)
        return [
            _plain(old[a:b])
            if tag == "equal"
            else self._within("".join(old[a:b]), "".join(new[x:y]))
            for tag, a, b, x, y in matcher.get_opcodes()
        ]

    def _within(self, before: str, after: str) -> Markup:
        """The same of two pieces, by characters where they are short."""
        longer = max(len(before), len(after))
        if not (before and after) or longer > min(_MOST_WITHIN, self._characters):
            return _deletion(before) + _come(after)
        self._characters -= longer
        matcher = difflib.SequenceMatcher(None, before, after)
        return Markup("").join(
            escape(before[a:b]) if tag == "equal" else _deletion(before[a:b]) + _come(after[x:y])
            for tag, a, b, x, y in matcher.get_opcodes()
        )


def _sentences(text: str) -> list[str]:
    return _SENTENCE.findall(text[:_MOST_CHARS])


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many sentences are the same in both, from the first on."""
    count = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        count += 1
    return count


def _plain(sentences: Sequence[str]) -> Markup:
    return escape("".join(sentences))


def _deletion(text: str) -> Markup:
    return Markup("<del>{}</del>").format(text) if text else Markup("")


def _come(text: str) -> Markup:
    return Markup("<ins>{}</ins>").format(text) if text else Markup("")
