"""An answer's body behind one face, HTML or JSON: hits, their parts, and what else it holds.

No bytes make anything here raise; a selector that cannot be evaluated raises ValueError.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from lxml import etree
from parsel import Selector

from qiaocrawl.text import collapse

# Words in scripts and styles are not said to anybody.
_VISIBLE_TEXT = (
    "xpath://text()[not(parent::script or parent::style or parent::noscript or parent::title)]"
)


class HtmlDocument:
    """A result page. ``broken`` says why a body is not of its format: never, for HTML."""

    broken = ""

    def __init__(self, text: str) -> None:
        self.source = text
        self._page = Selector(text=text, type="html")

    @cached_property
    def title(self) -> str:
        """Text of the title element."""
        return self.value(self._page, ("title",))

    @cached_property
    def visible_text(self) -> str:
        """Text outside scripts, styles and the title."""
        return "".join(str(node.root) for node in _select(self._page, _VISIBLE_TEXT))

    def items(self, path: str) -> list[Any]:
        """Elements that CSS or ``xpath:…`` finds."""
        return [node for node in _select(self._page, path) if _is_element(node)]

    def texts(self, path: str) -> list[str]:
        """Texts of all elements that *path* finds, "" for one without text."""
        return [self.value(node, ("xpath:.",)) for node in self.items(path)]

    def has_place(self, path: str) -> bool:
        """Whether a list of results stands there, be it empty: HTML cannot tell, so False."""
        return False

    def value(self, item: Selector, paths: tuple[str, ...]) -> str:
        """Text of an element with all inside it, or of an attribute, white space tidied."""
        for path in paths:
            for node in _select(item, path)[:1]:
                text = node.xpath("string()").get() if _is_element(node) else str(node.root)
                if tidy := collapse(text or ""):
                    return tidy
        return ""

    def holds(self, item: Selector, path: str) -> bool:
        """Whether *path* finds anything in *item*."""
        return bool(_select(item, path))

    def attribute(self, item: Selector, path: str, name: str) -> str:
        """Attribute *name* of the first element *path* finds in *item*; of *item* without path."""
        nodes = _select(item, path) if path else [item]
        values = (node.attrib.get(name, "") for node in nodes if _is_element(node))
        return next((value for value in values if value), "")


class JsonDocument:
    """The answer of an interface for programs; paths are dotted keys, numbers index lists.

    Only a body that is no JSON has visible text: check pages come as HTML.
    """

    title = ""

    def __init__(self, text: str) -> None:
        self.broken = ""
        self.visible_text = ""
        self.source = text
        self._data: object = None
        try:
            self._data = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.broken = f"no JSON: {error}"
            self.visible_text = text

    def items(self, path: str) -> list[Any]:
        """Entries of the list at *path*; [] when there is none."""
        found = _at(self._data, path)
        return found if isinstance(found, list) else []

    def texts(self, path: str) -> list[str]:
        """All texts and numbers anywhere below *path* as one; [] when nothing is there."""
        leaves = _leaves(_at(self._data, path))
        return [", ".join(leaves)] if leaves else []

    def has_place(self, path: str) -> bool:
        """Whether a list stands at *path*."""
        return isinstance(_at(self._data, path), list)

    def value(self, item: object, paths: tuple[str, ...]) -> str:
        """Text or number at the first of *paths* that holds one."""
        for path in paths:
            found = _at(item, path)
            if isinstance(found, bool) or not isinstance(found, (str, int, float)):
                continue
            if tidy := collapse(str(found)):
                return tidy
        return ""

    def holds(self, item: object, path: str) -> bool:
        """Whether something other than null, false, 0 or empty stands at *path* in *item*."""
        return bool(_at(item, path))

    def attribute(self, item: object, path: str, name: str) -> str:
        """Value of key *name* of the object at *path* in *item*; of *item* without path."""
        return self.value(item, (f"{path}.{name}" if path else name,))


def parse_document(text: str, page_format: str) -> HtmlDocument | JsonDocument:
    """*text* as ``html`` or ``json``; a body that is not JSON says so in ``broken``."""
    return JsonDocument(text) if page_format == "json" else HtmlDocument(text)


def _is_element(node: Selector) -> bool:
    return isinstance(node.root, etree._Element)


def _select(node: Selector, path: str) -> Any:
    if path.startswith("xpath:"):
        return node.xpath(path.removeprefix("xpath:"))
    return node.css(path)


def _at(data: object, path: str) -> object:
    for key in path.split("."):
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data


def _leaves(data: object) -> list[str]:
    # A loop, not recursion: answers may be nested as deep as the parser allows.
    leaves: list[str] = []
    rest = [data]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest.extend(reversed(value.values()))
        elif isinstance(value, list):
            rest.extend(reversed(value))
        elif value or isinstance(value, int):
            leaves.append(collapse(str(value)))
    return leaves
