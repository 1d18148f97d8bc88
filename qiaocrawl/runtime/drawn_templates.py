"""The templates officers make at the console, as a running crawl sees them.

They travel with the page, as what is learnt of its site does: no worker has to start anew. Whether
one was changed is asked again every few seconds, so the next pages are read by it.
"""

from __future__ import annotations

import json
import logging
import math
import time

from sqlalchemy import Connection

from qiaocrawl.extract.methods.template_file import Template, Templates, read_template
from qiaocrawl.items import FetchedPage
from qiaocrawl.storage import Reader
from qiaocrawl.storage.sites.templates import TemplateVersion, newest_version, templates_in_force
from qiaocrawl.storage.writer import in_loop

LOOK_SECONDS = 5.0
"""Pages are read by a changed template after that at the latest."""

logger = logging.getLogger(__name__)

_Readable = tuple[Template, TemplateVersion]


class DrawnTemplates:
    """The templates of one run; not thread-safe: the event loop's."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._looked_at = -math.inf
        self._version = 0
        self._templates = Templates()
        self._contents: dict[int, str] = {}

    async def content_for(self, page: FetchedPage) -> str:
        """The template for *page* as JSON; "" for none."""
        if self._starts_looking():
            self._take(*await in_loop(self._reader.submit(self._changed)))
        return self._content(page)

    def content_now(self, page: FetchedPage) -> str:
        """The same, without an event loop."""
        if self._starts_looking():
            self._take(*self._reader.run(self._changed))
        return self._content(page)

    def _starts_looking(self) -> bool:
        now = time.monotonic()
        if now < self._looked_at + LOOK_SECONDS:
            return False
        self._looked_at = now
        return True

    def _changed(self, c: Connection) -> tuple[int, list[_Readable] | None]:
        newest = newest_version(c)
        return newest, None if newest == self._version else readable_templates(c)

    def _take(self, version: int, found: list[_Readable] | None) -> None:
        if found is not None:
            self._version = version
            self._templates = Templates(template for template, _version in found)
            self._contents = {
                id(template): json.dumps(drawn.content, ensure_ascii=False)
                for template, drawn in found
            }

    def _content(self, page: FetchedPage) -> str:
        if not self._contents:
            return ""
        template = self._templates.find_for(page.final_url or page.url)
        return "" if template is None else self._contents[id(template)]


def readable_templates(c: Connection) -> list[_Readable]:
    """Those in force; one that this version of the program cannot read is left out, and logged."""
    found = []
    for version in templates_in_force(c):
        template, faults = read_template(dict(version.content or {}))
        if template is None:
            logger.warning("template of %s is not used: %s", version.host, "; ".join(faults))
        else:
            found.append((template, version))
    return found
