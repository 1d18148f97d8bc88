"""One interface to an answer's body: HTML, JSON, or JSON inside the scripts of a page.

It gives the hits, their parts, and what else tells what kind of an answer it is.
No bytes make anything here raise; a selector that cannot be evaluated raises ValueError.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from itertools import islice
from typing import Any

from lxml import etree
from parsel import Selector

from qiaocrawl.page.sanitize import sanitize_html
from qiaocrawl.text.normalise import collapse

# Result pages are a quarter of that; the rest of a longer one is not read.
_MAX_CHARS = 2 * 1024 * 1024

# Result pages have a tenth of that.
_MAX_TAGS = 100_000

# Engines give up to 50 results a page; a longer list is an attack or a fault.
_MAX_ENTRIES = 200

# Entries an entry may stand in: deeper ones would cost the square of their number.
_MAX_AROUND = 1

# Read of one element: longer than any title or snippet.
_MAX_TEXT_CHARS = 5000

_MAX_SCRIPTS = 200

# Elements of one selector that are read for a sign.
_MAX_SIGNS = 50

_VISIBLE_TEXT = (
    # A title is judged by itself; scripts and styles are not shown.
    "xpath://text()[not(parent::script or parent::style or parent::noscript or parent::title)]"
)


class HtmlDocument:
    """A result page. ``broken`` says why a body is not of its format: never, for HTML."""

    broken = ""

    def __init__(self, text: str) -> None:
        self.source = text
        # Cut before it is parsed, since the parser's time grows with the tags.
        if text.count("<") > _MAX_TAGS:
            cut = next(islice(re.finditer("<", text), _MAX_TAGS, None))
            text = text[: cut.start()]
        harmless, _ = sanitize_html(text)
        self._page = Selector(text=harmless, type="html")

    @cached_property
    def title(self) -> str:
        """Text of the title element."""
        return self.value(self._page, ("title",))

    @cached_property
    def visible_text(self) -> str:
        """Text outside scripts, styles and the title."""
        return "".join(str(node.root) for node in _select(self._page, _VISIBLE_TEXT))

    def items(self, paths: tuple[str, ...]) -> list[Any]:
        """Elements CSS or ``xpath:…`` finds, by the first of *paths* that finds any; the first 200.

        Of elements within one another only the outer two are taken.
        """
        for path in paths:
            nodes = [node for node in _select(self._page, path) if _is_element(node)]
            if nodes:
                roots = {node.root for node in nodes}
                return [
                    node
                    for node in nodes[:_MAX_ENTRIES]
                    if sum(around in roots for around in node.root.iterancestors()) <= _MAX_AROUND
                ]
        return []

    def texts(self, path: str) -> list[str]:
        """Texts of the elements that *path* finds, "" for one without text; the first 50."""
        nodes = [node for node in _select(self._page, path) if _is_element(node)]
        return [HtmlDocument.value(self, node, ("xpath:.",)) for node in nodes[:_MAX_SIGNS]]

    def data_texts(self, path: str) -> list[str]:
        """Texts below *path* in the answer's data: a page of words has none."""
        return []

    def has_place(self, paths: tuple[str, ...]) -> bool:
        """Whether a list of results stands there, be it empty: HTML cannot tell, so False."""
        return False

    def has_empty_list(self, path: str) -> bool:
        """Whether a list with nothing in it stands at *path* in the answer's data."""
        return False

    def whole(self, paths: tuple[str, ...]) -> str:
        """Text at the first of *paths* that gives one, anywhere in the answer."""
        return HtmlDocument.value(self, self._page, paths)

    def value(self, item: Selector, paths: tuple[str, ...]) -> str:
        """Text of an element with all inside it, or of an attribute, white space tidied."""
        for path in paths:
            # The first element counts, even where it has no text: the next path is for that.
            for node in _select(item, path)[:1]:
                text = _element_text(node.root) if _is_element(node) else str(node.root)
                if tidy := collapse(text[:_MAX_TEXT_CHARS]):
                    return tidy
        return ""

    def holds(self, item: Selector, path: str) -> bool:
        """Whether *path* finds anything in *item*."""
        return bool(_select(item, path))

    def attributes(self, path: str, *names: str) -> list[tuple[str, ...]]:
        """Attributes *names* of the elements *path* finds, "" for one that is not there."""
        nodes = [node for node in _select(self._page, path) if _is_element(node)]
        return [tuple(node.root.get(n, "") for n in names) for node in nodes[:_MAX_SIGNS]]

    def attribute(self, item: Selector, path: str, name: str) -> str:
        """Attribute *name* of the first element *path* finds in *item*; of *item* without path."""
        nodes = _select(item, path) if path else [item]
        values = (node.attrib.get(name, "") for node in nodes if _is_element(node))
        return next((value for value in values if value), "")


class JsonDocument:
    """The answer of an interface for programs; paths are dotted keys, numbers index lists.

    Only a body that is no JSON has title and visible text: check pages come as HTML.
    """

    def __init__(self, text: str) -> None:
        self.broken = ""
        self.title = ""
        self.visible_text = ""
        self.source = text
        self._data: object = None
        # RecursionError: "[" a million times.
        try:
            self._data = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.broken = f"no JSON: {error}"
            page = HtmlDocument(text)
            self.title, self.visible_text = page.title, page.visible_text

    def items(self, paths: tuple[str, ...]) -> list[Any]:
        """Entries of the list at the first of *paths* that has any; [] when there is none."""
        return next((entries for path in paths if (entries := _entries(self._data, path))), [])

    def texts(self, path: str) -> list[str]:
        """Texts of elements: data have none."""
        return []

    def data_texts(self, path: str) -> list[str]:
        """All texts and numbers anywhere below *path* as one; [] when nothing is there."""
        return _joined_leaves(_at(self._data, path))

    def has_place(self, paths: tuple[str, ...]) -> bool:
        """Whether a list stands at one of *paths*."""
        return any(isinstance(_at(self._data, path), list) for path in paths)

    def has_empty_list(self, path: str) -> bool:
        """Whether a list with nothing in it stands at *path*."""
        return _at(self._data, path) == []

    def whole(self, paths: tuple[str, ...]) -> str:
        """Text or number at the first of *paths* that holds one."""
        return self.value(self._data, paths)

    def value(self, item: object, paths: tuple[str, ...]) -> str:
        """Text or number at the first of *paths* that holds one."""
        for path in paths:
            value = _at(item, path)
            # True and false are no text, though Python counts them as numbers.
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                continue
            if tidy := collapse(str(value)):
                return tidy
        return ""

    def objects(self, paths: tuple[str, ...]) -> list[Any]:
        """The object, or the entries of the list, at the first of *paths* that has any."""
        for path in paths:
            value = _at(self._data, path)
            entries = [value] if isinstance(value, dict) else value
            if isinstance(entries, list) and entries:
                return entries
        return []

    def holds(self, item: object, path: str) -> bool:
        """Whether something other than null, false, 0 or empty stands at *path* in *item*."""
        return bool(_at(item, path))

    def attribute(self, item: object, path: str, name: str) -> str:
        """Value of key *name* of the object at *path* in *item*; of *item* without path."""
        return self.value(item, (f"{path}.{name}" if path else name,))


class ScriptsDocument(HtmlDocument):
    """A page whose hits stand as JSON in its scripts, as pages made by programs keep them.

    Each script is an answer of its own: ``items`` takes from each what the first fitting path
    finds there, an object or the entries of a list.
    """

    def __init__(self, text: str, scripts: str) -> None:
        super().__init__(text)
        nodes = super().items((scripts,))[:_MAX_SCRIPTS]
        read = [JsonDocument(node.xpath("string()").get() or "") for node in nodes]
        self._parts = [part for part in read if not part.broken]

    def items(self, paths: tuple[str, ...]) -> list[Any]:
        """Objects of all scripts, in document order."""
        return [item for part in self._parts for item in part.objects(paths)][:_MAX_ENTRIES]

    def data_texts(self, path: str) -> list[str]:
        """Texts below *path*, one entry a script that has any."""
        return [text for part in self._parts for text in part.data_texts(path)]

    def has_empty_list(self, path: str) -> bool:
        """Whether a list with nothing in it stands at *path* in one of the scripts."""
        return any(part.has_empty_list(path) for part in self._parts)

    def whole(self, paths: tuple[str, ...]) -> str:
        """Text or number at *paths* in the first script that holds one."""
        return next((text for part in self._parts if (text := part.whole(paths))), "")

    def value(self, item: object, paths: tuple[str, ...]) -> str:
        """Text or number of an object of :meth:`items`."""
        return _NO_DATA.value(item, paths)

    def holds(self, item: object, path: str) -> bool:
        """Whether something stands at *path* in an object of :meth:`items`."""
        return _NO_DATA.holds(item, path)

    def attribute(self, item: object, path: str, name: str) -> str:
        """Value of key *name* at *path* in an object of :meth:`items`."""
        return _NO_DATA.attribute(item, path, name)


Document = HtmlDocument | JsonDocument

# An object to call; its data are never looked at.
_NO_DATA = JsonDocument("null")


def parse_document(text: str, page_format: str, scripts: str = "") -> Document:
    """*text* as ``html``, ``json`` or ``scripts``; what is not JSON says so in ``broken``.

    *scripts* is the selector of the scripts that hold the data.
    """
    text = text[:_MAX_CHARS]
    if page_format == "json":
        return JsonDocument(text)
    return ScriptsDocument(text, scripts) if page_format == "scripts" else HtmlDocument(text)


def _is_element(node: Selector) -> bool:
    return isinstance(node.root, etree._Element)


def _element_text(element: Any) -> str:
    texts: list[str] = []
    length = 0
    # Elements only: comments and processing instructions have texts as well.
    # itertext() with a tag filter, since comments have text for lxml.
    for text in element.itertext(etree.Element, with_tail=True):
        texts.append(text)
        length += len(text)
        if length > _MAX_TEXT_CHARS:
            break
    return "".join(texts)


def _select(node: Selector, path: str) -> Any:
    if path.startswith("xpath:"):
        return node.xpath(path.removeprefix("xpath:"))
    return node.css(path)


def _at(data: object, path: str) -> object:
    for key in path.split("."):
        if isinstance(data, dict):
            data = data.get(key)
        # A key that is a number is the place in a list: "results.0.url".
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data


def _entries(data: object, path: str) -> list[Any]:
    value = _at(data, path)
    return value[:_MAX_ENTRIES] if isinstance(value, list) else []


def _joined_leaves(data: object) -> list[str]:
    leaves = _leaves(data)
    return [", ".join(leaves)] if leaves else []


def _leaves(data: object) -> list[str]:
    # A loop, not recursion: answers may be nested as deep as the parser allows.
    leaves: list[str] = []
    rest = [data]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            # Reversed: pop() takes from the end, and the order of the document is to be kept.
            rest.extend(reversed(value.values()))
        elif isinstance(value, list):
            rest.extend(reversed(value))
        # 0 is a value; "", None and {} are not.
        elif value or isinstance(value, int):
            # As JSON writes them: true and false in small letters.
            text = str(value).lower() if isinstance(value, bool) else str(value)
            leaves.append(collapse(text))
    return leaves
