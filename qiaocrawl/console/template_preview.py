"""What a template takes of a stored page. Called in a process whose time is bounded: an
expression of XPath that is short can take hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qiaocrawl.console import keepers
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.pages import sandbox_page
from qiaocrawl.extract.field_words import FIELD_LABELS, field_text
from qiaocrawl.extract.methods.template import TemplateExtractor, body_places, marked_page
from qiaocrawl.extract.methods.template_file import Template, Templates
from qiaocrawl.items import FetchedPage, Link
from qiaocrawl.language import _
from qiaocrawl.page.page import Page as ParsedPage
from qiaocrawl.page.page import parse_page
from qiaocrawl.urls import host_of

_LINKS_READ = 2_000
_TEXT_CHARS = 3_000


@dataclass(frozen=True, slots=True)
class Taken:
    """What a template takes of a page; ``remark`` tells where its body is not the template's."""

    fields: list[tuple[str, str]]
    text: str
    remark: str
    links: tuple[Link, ...]
    all_links: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The form beside a page.

    Attributes:
        places: where the body may stand, as selectors.
        trouble: what is wrong with the form; ``taken`` is None then.
    """

    form: dict[str, str]
    places: list[str]
    trouble: str
    taken: Taken | None


def preview_of(fetched: FetchedPage, given: Mapping[str, str], place: str) -> Preview:
    """What the form that was sent (*given*) takes of *fetched*, or the form to begin with.

    Args:
        place: folder of templates.
    """
    page = _parse(fetched)
    places = body_places(page)
    form = _form(given, page, place, places)
    try:
        taken = _apply_template(page, keepers.check_template(keepers.table_of(form)))
    except ConfigError as error:
        return Preview(form, places, str(error), None)
    return Preview(form, places, "", taken)


def sent_form(given: Mapping[str, str]) -> dict[str, str]:
    """The fields of the form as they were sent."""
    form = {name: given.get(name, "") for name in keepers.FIELDS}
    return {**form, "path": form["path"] or "*"}


def marked_copy(fetched: FetchedPage, given: Mapping[str, str]) -> bytes:
    """The stored page with what the template takes marked; it can do nothing by itself."""
    page = _parse(fetched)
    try:
        template = keepers.check_template(keepers.table_of(given))
        markup = marked_page(page, template)
    except ConfigError:
        markup = page.source
    return sandbox_page(fetched, page.title, markup).encode("utf-8", "replace")


def plain_copy(fetched: FetchedPage) -> bytes:
    """The same without marks."""
    page = _parse(fetched)
    return sandbox_page(fetched, page.title, page.source).encode("utf-8", "replace")


def _parse(fetched: FetchedPage) -> ParsedPage:
    return parse_page(fetched.body, fetched.header("content-type"), fetched.final_url)


def _form(
    given: Mapping[str, str], page: ParsedPage, place: str, places: list[str]
) -> dict[str, str]:
    """What was written; at first the template there is, or where the body seems to stand."""
    if "hosts" in given:
        return sent_form(given)
    present = keepers.present_templates(place).find_for(page.url)
    if present is not None:
        return keepers.form_of(present)
    first = {"hosts": host_of(page.url), "path": "*", "body": places[0] if places else ""}
    return {**dict.fromkeys(keepers.FIELDS, ""), **first}


def _apply_template(page: ParsedPage, template: Template) -> Taken:
    reader = TemplateExtractor(Templates([template]))
    if reader.template_of(page) is None:
        raise ConfigError(_("hosts and path do not fit this page: {url}", url=page.url))
    body, links = reader.body(page), page.links(_LINKS_READ)
    fields = [
        (_(FIELD_LABELS.get(name, name)), field_text(one.value))
        for name, one in reader.fields(page).items()
    ]
    followed = reader.links(page, links) if template.links else ()
    remark = ""
    if not template.body:
        remark = _("No region is named, so the general method reads the body.")
    elif not body.reason.startswith("template"):
        remark = _("The region is not on this page, so the general method reads the body.")
    return Taken(fields, body.text[:_TEXT_CHARS], remark, tuple(followed), len(links))
