"""What a template takes of stored pages. Called in a process whose time is bounded: what somebody
wrote, or a page of theirs, may take hours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from qiaocrawl.console import template_form
from qiaocrawl.console.template_choice import Choice, choose, numbered
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import extractor_for
from qiaocrawl.extract.field_words import field_text
from qiaocrawl.extract.methods.template import TemplateExtractor, body_places
from qiaocrawl.extract.methods.template_file import Template, Templates
from qiaocrawl.extract.page import ExtractedPage, extract_page
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.language import _, ngettext
from qiaocrawl.page.page import Page as ParsedPage
from qiaocrawl.page.page import parse_page
from qiaocrawl.text.visible import visible
from qiaocrawl.text.zones import china_time
from qiaocrawl.urls import host_of

_TEXT_CHARS = 600
_MOST_MARKED = 300
_FIELDS = {"title": "title", "date": "published_at", "author": "authors", "source": "source"}
# What could load, run or lead somewhere; the frame and its policy forbid it, too.
_GONE = "script, noscript, meta, link, base, iframe, frame, frameset, object, embed, applet, portal"
_KEPT = frozenset(
    [
        *("class", "id", "style", "align", "valign", "dir", "lang", "width", "height"),
        *("colspan", "rowspan", "border", "color", "size", "bgcolor"),
    ]
)
# Where the pointer is, and what is taken: our script sets the attributes.
_STYLE = """<style>
[{mark}-at] {{ outline: 3px solid #f59f00 !important; cursor: pointer !important; }}
[{mark}-as] {{ outline: 3px dashed #1e7b34 !important; outline-offset: 1px; }}
[{mark}-as=body] {{ outline: 3px solid #1565c0 !important; background: #e3f2fd !important; }}
[{mark}-as=exclude] {{ outline: 3px solid #b3261e !important; opacity: .5 !important;
  text-decoration: line-through !important; }}
</style>"""
_DATA_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TakenField:
    """What a template takes of a page for one field.

    Attributes:
        value: as it would be stored; "" where its place is not on the page.
        is_chosen: whether the template says where it stands.
        numbers: of the elements it is taken from.
    """

    name: str
    value: str
    is_chosen: bool
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """A form beside a page.

    Attributes:
        trouble: what is wrong with the form; "" also where nothing was chosen yet.
        remark: where the body is not the template's.
        places: where the body may stand, as selectors.
        links, all_links: those followed, and those of the page.
    """

    form: dict[str, str]
    fields: tuple[TakenField, ...]
    trouble: str = ""
    remark: str = ""
    places: tuple[str, ...] = ()
    links: int = 0
    all_links: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """How pages are read without the template that is tried.

    Attributes:
        method, options: of the body extractor.
        learnt: what is known of the site.
    """

    method: str
    options: Mapping[str, Any]
    learnt: SiteTemplate | None = None


def look_at(fetched: FetchedPage, form: dict[str, str]) -> Look:
    """What *form* takes of *fetched*."""
    return _look(_parse(fetched), form)


def choose_place(
    fetched: FetchedPage,
    form: dict[str, str],
    what: str,
    number: int,
    others: Sequence[FetchedPage],
) -> tuple[Choice, Look]:
    """The form with the element *number* of the page chosen for *what*, and what it takes then."""
    page = _parse(fetched)
    choice = choose(page, what, number, [_parse(other) for other in others])
    if choice.selector:
        before = form.get(what, "") if what == "exclude" else ""
        lines = [*before.splitlines(), choice.selector]
        form = {**form, what: "\n".join(dict.fromkeys(line for line in lines if line.strip()))}
    return choice, _look(page, form)


def _look(page: ParsedPage, form: dict[str, str]) -> Look:
    places = tuple(body_places(page))
    if template_form.is_empty(form):
        return Look(form, _untaken(form), places=places)
    try:
        template = template_form.check_template(template_form.table_of(form))
        reader = TemplateExtractor(Templates([template]))
        if reader.template_of(page) is None:
            raise ConfigError(_("hosts and path do not fit this page: {url}", url=page.url))
    except ConfigError as error:
        return Look(form, _untaken(form), trouble=str(error), places=places)
    body, remark = reader.own_body(page), ""
    if template.body and body is None:
        remark = _("The region is not on this page, so the general method reads the body.")
    found = reader.fields(page)
    values = {name: field_text(found[key].value) for name, key in _FIELDS.items() if key in found}
    values["body"] = (body.text if body is not None else "")[:_TEXT_CHARS]
    numbers = _numbers(page, template)
    values["exclude"] = "…" if numbers.get("exclude") else ""
    fields = tuple(
        TakenField(
            name, visible(values.get(name, "")), bool(getattr(template, name)), numbers[name]
        )
        for name in template_form.FIELD_NAMES
    )
    links = page.links(2_000)
    followed = reader.links(page, links) if template.links else links
    return Look(form, fields, "", remark, places, len(followed), len(links))


def _untaken(form: Mapping[str, str]) -> tuple[TakenField, ...]:
    return tuple(
        TakenField(name, "", bool(form.get(name, "").strip()), ())
        for name in template_form.FIELD_NAMES
    )


def _numbers(page: ParsedPage, template: Template) -> dict[str, tuple[int, ...]]:
    """The elements each field is taken from, by their numbers."""
    tree, nodes = numbered(page.source)
    by_id = {node.mem_id: number for number, node in enumerate(nodes)}
    found: dict[str, tuple[int, ...]] = {}
    for name in template_form.FIELD_NAMES:
        matches = [node for one in getattr(template, name) for node in tree.css(one.path)]
        if name not in ("body", "exclude"):
            matches = matches[:1]
        found[name] = tuple(by_id[node.mem_id] for node in matches[:_MOST_MARKED])
    return found


def numbered_copy(fetched: FetchedPage, mark: str) -> bytes:
    """The stored page with its elements numbered in the attribute *mark*, and nothing that acts.

    Without scripts, styles of others, addresses: it shows words and pictures that are in it.
    """
    page = _parse(fetched)
    tree, nodes = numbered(page.source)
    for number, node in enumerate(nodes):
        for name, value in list(node.attributes.items()):
            is_picture = name == "src" and _DATA_PICTURE.match(value or "")
            if name.lower() not in _KEPT and not is_picture:
                del node.attrs[name]
        node.attrs[mark] = str(number)
    for node in tree.css(_GONE):
        node.decompose()
    head = '<!doctype html><html lang="zh-CN"><head><meta charset="utf-8">'
    title = f"<title>{escape(visible(page.title) or fetched.url)}</title>"
    own = tree.css("head style")
    styles = "".join([*(node.html or "" for node in own), _STYLE.format(mark=mark)])
    body = tree.body.html if tree.body is not None else "<body></body>"
    return f"{head}{title}{styles}</head>{body}</html>".encode("utf-8", "replace")


def _parse(fetched: FetchedPage) -> ParsedPage:
    return parse_page(fetched.body, fetched.header("content-type"), fetched.final_url)


def first_form(url: str) -> dict[str, str]:
    """The form for the pages of the host of *url*, nothing chosen."""
    return {**dict.fromkeys(template_form.FIELDS, ""), "hosts": host_of(url), "path": "*"}


# --- The trial: stored pages read as they are now, and as they would be ---------------------------

SAME, CHANGED, EMPTIED, FILLED = "same", "changed", "emptied", "filled"
_HALF = 0.5
_MANY = 3


@dataclass(frozen=True, slots=True)
class TriedField:
    """One field of one page, before and after."""

    name: str
    before: str
    after: str

    @property
    def state(self) -> str:
        """What becomes of it."""
        if self.before == self.after:
            return SAME
        if not self.after:
            return EMPTIED
        return CHANGED if self.before else FILLED


@dataclass(frozen=True, slots=True)
class TriedPage:
    """One page in the trial: its fields, and the lengths of its body in characters.

    Attributes:
        is_lost: it is no article any more.
        is_too_slow: the template takes longer on it than a page may take.
        trouble: why it could not be tried; "" if it was.
        missing: fields of the form that are not where it says.
    """

    url: str
    fields: tuple[TriedField, ...] = ()
    before_chars: int = 0
    after_chars: int = 0
    after_text: str = ""
    is_body_found: bool = True
    is_lost: bool = False
    is_too_slow: bool = False
    trouble: str = ""
    missing: frozenset[str] = frozenset()

    @property
    def body_state(self) -> str:
        """What becomes of the body."""
        return TriedField("body", "x" * self.before_chars, "x" * self.after_chars).state

    @property
    def changes(self) -> bool:
        """Whether the template changes anything on it."""
        return any(field.state != SAME for field in self.fields) or self.body_state != SAME


def try_page(fetched: FetchedPage, form: Mapping[str, str], reading: Reading) -> TriedPage:
    """*fetched* as it is read now, and as it would be by the template in *form*.

    Raises:
        ConfigError: the form has faults.
    """
    template = template_form.check_template(template_form.table_of(form))
    drawn = TemplateExtractor(Templates([template]))
    page = _parse(fetched)
    extractor = extractor_for(reading.method, reading.options)
    before, after = (
        extract_page(page, reading.method, fetched.fetched_at, extractor, reading.learnt, one)
        for one in (None, drawn)
    )
    is_article = before.judgement.outcome is Outcome.ARTICLE
    return TriedPage(
        fetched.url,
        tuple(
            TriedField(name, was, will)
            for (name, was), (_name, will) in zip(_values(before), _values(after), strict=True)
        ),
        len(before.text),
        len(after.text),
        visible(after.text[:_TEXT_CHARS]),
        not template.body or drawn.own_body(page) is not None,
        is_article and after.judgement.outcome is not Outcome.ARTICLE,
        missing=_missing(form, drawn.fields(page, fetched.fetched_at)),
    )


def _missing(form: Mapping[str, str], found: Mapping[str, object]) -> frozenset[str]:
    asked = {name for name in _FIELDS if form.get(name, "").strip()}
    return frozenset(name for name in asked if _FIELDS[name] not in found)


def _values(read: ExtractedPage) -> Iterator[tuple[str, str]]:
    metadata = read.metadata
    published = metadata.published_at
    yield "title", visible(metadata.title)
    yield "date", china_time(published, "%Y-%m-%d %H:%M") if published is not None else ""
    yield "author", visible(metadata.author)
    yield "source", visible(metadata.source)


def warnings_of(tried: Sequence[TriedPage], form: Mapping[str, str]) -> list[str]:
    """What speaks against the template, in sentences; [] where nothing does."""
    pages = [page for page in tried if not page.trouble]
    return list(_warnings(pages, form))


def _warnings(pages: Sequence[TriedPage], form: Mapping[str, str]) -> Iterator[str]:
    if without := sum(not page.is_body_found for page in pages):
        yield ngettext(
            "{count} page has no text at the chosen place; its body is still found automatically.",
            "{count} pages have no text at the chosen place; their bodies are still found "
            "automatically.",
            without,
        )
    if short := sum(_lost_half(page) for page in pages):
        yield ngettext(
            "The body of {count} page loses more than half of its words.",
            "The bodies of {count} pages lose more than half of their words.",
            short,
        )
    if lost := sum(page.is_lost for page in pages):
        yield ngettext(
            "{count} page would be no article any more.",
            "{count} pages would be no articles any more.",
            lost,
        )
    for name in _FIELDS:
        fields = [field for page in pages for field in page.fields if field.name == name]
        shown = _(template_form.FIELD_NAMES[name])
        if emptied := sum(field.state == EMPTIED for field in fields):
            yield ngettext(
                "{field} gets empty on {count} page.",
                "{field} gets empty on {count} pages.",
                emptied,
                field=shown,
            )
        if missing := sum(name in page.missing for page in pages):
            yield ngettext(
                "{field} is not at the chosen place on {count} page.",
                "{field} is not at the chosen place on {count} pages.",
                missing,
                field=shown,
            )
        values = Counter(field.after for field in fields if field.after)
        is_one = len(values) == 1 and sum(values.values()) >= _MANY
        if name in ("title", "date") and form.get(name, "").strip() and is_one:
            yield _(
                "{field} would be the same on all pages: “{value}”.",
                field=shown,
                value=next(iter(values)),
            )


def _lost_half(page: TriedPage) -> bool:
    return page.is_body_found and page.after_chars < _HALF * page.before_chars
