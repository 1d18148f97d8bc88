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
``hosts`` and one of ``body`` and ``links`` must be given. ``body`` and ``exclude`` must be both
CSS or both XPath. The first template counts whose host fits exactly, else the one with the
longest ``*.`` host, and of those with one host the first whose path fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from parsel import Selector as Document
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from qiaocrawl.errors import ConfigError
from qiaocrawl.text.toml_table import parse_toml

KEYS = ("hosts", "path", "body", "exclude", "title", "date", "author", "source", "links")
LINK_KINDS = ("channel", "list", "article")
_XPATH = "xpath:"
_ATTRIBUTE = re.compile(r"::attr\(\s*([\w:-]+)\s*\)$")
_HOST = re.compile(r"(?:\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?(?::\d{1,5})?")


@dataclass(frozen=True, slots=True)
class Selector:
    """Where something stands: ``path`` in CSS or XPath; with CSS perhaps one ``attribute``."""

    written: str
    path: str
    is_xpath: bool
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """The regions of the pages of some hosts; see the module. () where nothing is given.

    ``link_kinds`` says of every region in ``links`` what it leads to, "" where nobody said.
    """

    hosts: tuple[str, ...]
    path: str = "*"
    body: tuple[Selector, ...] = ()
    exclude: tuple[Selector, ...] = ()
    title: tuple[Selector, ...] = ()
    date: tuple[Selector, ...] = ()
    author: tuple[Selector, ...] = ()
    source: tuple[Selector, ...] = ()
    links: tuple[Selector, ...] = ()
    link_kinds: tuple[str, ...] = ()


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
        raise ConfigError(f"QIAO_TEMPLATES must be a folder or a TOML file, got {place!r}")
    faults: list[str] = []
    found = [template for file in files for template in _load_file(file, faults)]
    if faults:
        raise ConfigError("templates have faults:\n  " + "\n  ".join(faults))
    if not found:
        raise ConfigError(f"QIAO_TEMPLATES: no [[template]] in {place!r} (files end in .toml)")
    return Templates(found)


def _load_file(file: Path, faults: list[str]) -> list[Template]:
    try:
        content = parse_toml(file.read_bytes())
    except (OSError, ValueError) as error:
        faults.append(f"{file.name}: cannot be read as TOML in UTF-8: {error}")
        return []
    for name in content.keys() - {"template"}:
        faults.append(f"{file.name}: unknown key {name!r}; a file holds tables [[template]]")
    tables = content.get("template", [])
    if not isinstance(tables, list):
        faults.append(f"{file.name}: 'template' must be written [[template]]")
        return []
    found = []
    for number, table in enumerate(tables, start=1):
        template, wrong = read_template(table)
        hosts = table.get("hosts") if isinstance(table, dict) else None
        faults += [f"{file.name}: template {number} (hosts {hosts!r}): {fault}" for fault in wrong]
        if template is not None:
            found.append(template)
    return found


def read_template(table: object) -> tuple[Template | None, list[str]]:
    """The template in one table and no faults, or None and every fault in words."""
    if not isinstance(table, Mapping):
        return None, [f"must be a table, got {table!r}"]
    allowed = ", ".join(KEYS)
    faults = [f"unknown key {key!r} (allowed: {allowed})" for key in table if key not in KEYS]
    hosts = _texts(table, "hosts", faults)
    for host in hosts:
        if not _HOST.fullmatch(host):
            faults.append(
                f"hosts: must be host names in lower case such as 'www.example.com' or "
                f"'*.example.com', got {host!r}"
            )
    path = table.get("path", "*")
    if not isinstance(path, str) or not path.startswith(("/", "*")):
        faults.append(f"path: must be a text that begins with / or *, got {path!r}")
    regions = {key: _selectors(table, key, faults) for key in KEYS[2:-1]}
    links = _links(table, faults)
    if not hosts and "hosts" not in table:
        faults.append("hosts: must be given")
    if not {"body", "links"} & table.keys():
        faults.append("body or links must be given")
    if len({selector.is_xpath for key in ("body", "exclude") for selector in regions[key]}) > 1:
        faults.append("body and exclude must be both CSS or both XPath")
    if faults:
        return None, faults
    regions["links"] = tuple(selector for _, selector in links)
    kinds = tuple(kind for kind, _ in links)
    return Template(hosts, str(path), **regions, link_kinds=kinds), []


def _selectors(
    table: Mapping[str, object], key: str, faults: list[str]
) -> tuple[Selector, ...]:
    found = (_selector(key, text, faults) for text in _texts(table, key, faults))
    return tuple(one for one in found if one is not None)


def _links(table: Mapping[str, object], faults: list[str]) -> list[tuple[str, Selector]]:
    """The regions of links, each with what it leads to."""
    written = table.get("links")
    if not isinstance(written, Mapping):
        return [("", one) for one in _selectors(table, "links", faults)]
    allowed = ", ".join(LINK_KINDS)
    faults += [f"links: unknown kind {kind!r} (allowed: {allowed})"
               for kind in written if kind not in LINK_KINDS]
    if not written:
        faults.append("links: must name regions")
    inner: list[str] = []
    found = [(kind, one) for kind in LINK_KINDS for one in _selectors(written, kind, inner)]
    faults += [f"links: {fault}" for fault in inner]
    return found


def _texts(table: Mapping[str, object], key: str, faults: list[str]) -> tuple[str, ...]:
    """A text or a list of texts; () when not given."""
    if key not in table:
        return ()
    value = table[key]
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not values or not all(
        isinstance(text, str) and text.strip() for text in values
    ):
        faults.append(f"{key}: must be a text or a list of texts, got {value!r}")
        return ()
    return tuple(text.strip() for text in values)


def _selector(key: str, written: str, faults: list[str]) -> Selector | None:
    if written.startswith(_XPATH):
        selector = Selector(written, written[len(_XPATH) :].strip(), is_xpath=True)
    else:
        attribute = _ATTRIBUTE.search(written)
        path = written[: attribute.start()] if attribute else written
        name = attribute[1] if attribute else ""
        selector = Selector(written, path.strip(), is_xpath=False, attribute=name)
    fault = _fault(selector)
    if not fault and selector.attribute and key in ("body", "exclude", "links", *LINK_KINDS):
        fault = "must find elements, not an attribute"
    if fault:
        faults.append(f"{key}: {fault}, got {written!r}")
        return None
    return selector


def _fault(selector: Selector) -> str:
    """Why *selector* cannot be used; "" when it can."""
    try:
        if selector.is_xpath:
            Document(text="<html></html>", type="html").xpath(selector.path)
        else:
            LexborHTMLParser("").css(selector.path)
    except (ValueError, re.error) as error:
        return f"must be XPath after 'xpath:' ({error})"
    except SelectolaxError:
        return "must be a CSS selector, or XPath after 'xpath:'"
    return ""
