"""Templates of sites as data (E2): which region of a site's pages holds what, in TOML files.

A file holds any number of tables ``[[template]]``::

    [[template]]
    hosts = ["www.example.com", "*.news.example.com"]   # "*." stands for any subdomain or none
    path = "/art/*"                # of path and query, * for anything; not given: every page
    body = "div.article"           # one selector or a list; the regions in document order
    exclude = ["div.share", ".ad"] # what of the body stays out
    title = "h1"                   # one selector or a list; the first that gives something
    date = "meta[name=pubdate]::attr(content)"
    author = "xpath://span[@class='author']/text()"
    source = ".source a"
    links = ["ul.list"]            # the regions whose links are followed

or, with what the links of a region lead to, in place of the last line::

    links = {channel = "nav.main", list = ["div.pager"], article = ["ul.list", "xpath://h3"]}

Regions of links count whatever method reads the body; no other link of the page is followed.

A selector is CSS, with ``::attr(NAME)`` at its end for an attribute, or XPath after ``xpath:``.
``hosts`` and one of ``body``, ``links`` and the fields must be given. ``body`` and ``exclude``
must be both CSS or both XPath. The first template counts whose host fits exactly, else the one
with the longest ``*.`` host, and of those with one host the first whose path fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from parsel import Selector as Document
from pydantic import AfterValidator, BeforeValidator, ConfigDict, InstanceOf, model_validator
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.text.toml_file import check_table, list_or_one, load_records, raise_faults
from qiaocrawl.urls import host_of

LINK_KINDS = ("channel", "list", "article")
_XPATH = "xpath:"
_ATTRIBUTE = re.compile(r"::attr\(\s*([\w:-]+)\s*\)$")
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_NODE_TESTS = "text|node|comment|processing-instruction|and|or|div|mod"
_FUNCTION = re.compile(rf"(?<![\w:-])(?!(?:{_NODE_TESTS})\s*\()([A-Za-z][\w:.-]*?)\s*\(")
_HOST = re.compile(r"(?:\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?(?::\d{1,5})?")


@dataclass(frozen=True, slots=True)
class Selector:
    """Where something stands: ``path`` in CSS or XPath; with CSS perhaps one ``attribute``."""

    written: str
    path: str
    is_xpath: bool
    attribute: str = ""


def _selector(written: object) -> Selector:
    """What *written* says.

    Raises:
        ValueError: it is neither CSS nor XPath.
    """
    if not isinstance(written, str) or not (text := written.strip()):
        raise ValueError(f"must be a text or a list of texts, got {written!r}")
    if text.startswith(_XPATH):
        selector = Selector(text, text[len(_XPATH) :].strip(), is_xpath=True)
    else:
        attribute = _ATTRIBUTE.search(text)
        path = text[: attribute.start()] if attribute else text
        name = attribute[1] if attribute else ""
        selector = Selector(text, path.strip(), is_xpath=False, attribute=name)
    try:
        if selector.is_xpath:
            _check_xpath(selector.path)
        else:
            LexborHTMLParser("").css(selector.path)
    except (ValueError, re.error) as error:
        raise ValueError(f"must be XPath after 'xpath:' ({error}), got {text!r}") from None
    except SelectolaxError:
        raise ValueError(
            _("must be a CSS selector, or XPath after 'xpath:', got {text!r}", text=text)
        ) from None
    return selector


def _check_xpath(path: str) -> None:
    """Refuse what cannot be worked out on any page.

    On a page without a match libxml2 never looks at what stands within ``[…]``.

    Raises:
        ValueError: it says why.
    """
    document = Document(text="<html></html>", type="html")
    document.xpath(path)
    bare = _LITERAL.sub("''", path)
    if "$" in bare:
        raise ValueError("variables such as $x have no value here")
    for name in _FUNCTION.findall(bare):
        if name.startswith("re:"):
            # Python's expressions, which may take longer than the page is worth, and hold up
            # every other thread meanwhile.
            raise ValueError(f"{name}() is not allowed: write contains() or starts-with()")
        try:
            document.xpath(f"{name}()")
        except (ValueError, TypeError) as error:  # without arguments most refuse
            if "nregistered function" in str(error):
                raise ValueError(f"there is no function {name}()") from None


def _element(written: object) -> Selector:
    selector = _selector(written)
    if selector.attribute:
        raise ValueError(f"must find elements, not an attribute, got {written!r}")
    return selector


def _host(written: object) -> str:
    host = written.strip() if isinstance(written, str) else ""
    if not _HOST.fullmatch(host):
        raise ValueError(
            _(
                "must be host names in lower case such as 'www.example.com' or "
                "'*.example.com', got {written!r}",
                written=written,
            )
        )
    return host


def _path(path: str) -> str:
    if not path.startswith(("/", "*")):
        raise ValueError(_("must be a text that begins with / or *, got {path!r}", path=path))
    return path


def _some(values: object) -> object:
    if not values:
        raise ValueError(f"must be a text or a list of texts, got {values!r}")
    return values


_LIST = list_or_one(str, "a text or a list of texts")
_Hosts = Annotated[
    tuple[Annotated[str, BeforeValidator(_host)], ...], _LIST, BeforeValidator(_some)
]
_Texts = Annotated[
    tuple[Annotated[InstanceOf[Selector], BeforeValidator(_selector)], ...],
    _LIST,
    BeforeValidator(_some),
]
_Regions = Annotated[
    tuple[Annotated[InstanceOf[Selector], BeforeValidator(_element)], ...],
    _LIST,
    BeforeValidator(_some),
]


def _by_kind(links: object) -> object:
    """Regions of links without a kind are of the kind ""."""
    if not isinstance(links, Mapping):
        return {"": links}
    kinds = (*LINK_KINDS, *links)  # where a link is in two regions, the first counts
    return _some({kind: links[kind] for kind in kinds if kind in links})


@dataclass(frozen=True, slots=True)
class Template:
    """The regions of the pages of some hosts; see the module. () where nothing is given.

    ``links`` are the regions of links by what they lead to, "" where nobody said.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    hosts: _Hosts
    path: Annotated[str, AfterValidator(_path)] = "*"
    body: _Regions = ()
    exclude: _Regions = ()
    title: _Texts = ()
    date: _Texts = ()
    author: _Texts = ()
    source: _Texts = ()
    links: Annotated[
        Mapping[Literal["", "channel", "list", "article"], _Regions], BeforeValidator(_by_kind)
    ] = field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Template:
        raise_faults(self._faults())
        return self

    def _faults(self) -> Iterator[tuple[str, str]]:
        fields = self.title, self.date, self.author, self.source
        if not self.body and not self.links and not any(fields):
            yield "", "body, links or a field (title, date, author, source) must be given"
        if len({selector.is_xpath for selector in (*self.body, *self.exclude)}) > 1:
            yield "", "body and exclude must be both CSS or both XPath"


class Templates:
    """Templates by host."""

    def __init__(self, templates: Iterable[Template] = ()) -> None:
        self._by_host: dict[str, list[Template]] = {}
        for template in templates:
            for host in template.hosts:
                self._by_host.setdefault(host, []).append(template)

    def __len__(self) -> int:
        return sum(map(len, self._by_host.values()))

    def find(self, host: str, path: str) -> Template | None:
        """The template for *path* (and query) of *host* (lower case, a port may follow)."""
        if not self._by_host:
            return None
        for known in _patterns(host):
            for template in self._by_host.get(known, ()):
                if fnmatchcase(path, template.path):
                    return template
        return None

    def find_for(self, url: str) -> Template | None:
        """The template for the page *url*."""
        parts = urlsplit(url)
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        return self.find(host_of(url), path)


def _patterns(host: str) -> Iterable[str]:
    """What may be written for *host*, the most exact first."""
    name = host.partition(":")[0]
    yield from (host, name)
    while name:
        yield f"*.{name}"
        name = name.partition(".")[2]


def load_templates(place: str) -> Templates:
    """The templates in the file *place* or in all ``*.toml`` files of the folder *place*.

    Raises:
        ConfigError: nothing can be read there, or there are faults; the message lists every
            fault of every file with file, host, key and bad value.
    """
    path = Path(place)
    if path.is_dir():
        files = sorted(path.glob("*.toml"))
    elif path.is_file():
        files = [path]
    else:
        raise ConfigError(
            _("QIAO_TEMPLATES must be a folder or a TOML file, got {place!r}", place=place)
        )
    templates = load_records(files, N_("templates"), _read_file)
    if not templates:
        raise ConfigError(
            _("QIAO_TEMPLATES: no [[template]] in {place!r} (files end in .toml)", place=place)
        )
    return Templates(templates)


def _read_file(content: Mapping[str, Any], _: str) -> tuple[list[Template], list[str]]:
    faults = [
        f"unknown key {key!r}; a file holds tables [[template]]"
        for key in content
        if key != "template"
    ]
    tables = content.get("template", [])
    if not isinstance(tables, list):
        return [], [*faults, "'template' must be written [[template]]"]
    templates = []
    for number, table in enumerate(tables, start=1):
        template, wrong = read_template(table)
        hosts = table.get("hosts") if isinstance(table, dict) else None
        faults += [f"template {number} (hosts {hosts!r}): {fault}" for fault in wrong]
        templates += [template] if template else []
    return templates, faults


def read_template(table: object) -> tuple[Template | None, list[str]]:
    """The template in one table and no faults, or None and every fault in words."""
    return check_table(Template, table)
