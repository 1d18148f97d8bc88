"""Page templates: one HTML file a theme, in named sections with ``$slots``.

A file begins with options between ``+++`` lines (TOML): ``byline`` (the author is shown),
``links`` (words of the body are linked), ``minify`` (one source line), ``wrap`` (characters
after which the body's source breaks), ``join`` (what stands between paragraphs), ``absolute``
(links name the host) and ``date``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib import resources
from string import Template

_SECTION = re.compile(r"^<!--# (\w+) -->\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Theme:
    """The templates of one theme by section, and its options."""

    sections: Mapping[str, Template]
    date: str
    byline: bool = False
    links: bool = False
    minify: bool = False
    wrap: int = 0
    join: str = "\n"
    absolute: bool = False

    def fill(self, section: str, values: Mapping[str, str]) -> str:
        """The *section* with its slots filled, without the line end of the file; "" if none.

        Raises:
            KeyError: *values* lacks a slot.
        """
        template = self.sections.get(section)
        return "" if template is None else template.substitute(values)

    def shows(self, slot: str) -> bool:
        """Whether articles show *slot*, as "srcline"."""
        return slot in self.sections and f"${slot}" in self.sections["article"].template

    def show_date(self, day: datetime) -> str:
        """*day* as articles of this theme write it."""
        return self.date.format(
            y=day.year,
            m=f"{day.month:02}",
            d=f"{day.day:02}",
            H=f"{day.hour:02}",
            M=f"{day.minute:02}",
        )


@lru_cache(maxsize=32)
def load_theme(name: str) -> Theme:
    """The theme of ``templates/NAME.html``."""
    file = resources.files("qiaocrawl.demo") / "templates" / f"{name}.html"
    _, head, rest = file.read_text(encoding="utf-8").split("+++\n", 2)
    parts = _SECTION.split(rest)
    sections = {
        part: Template(text.removesuffix("\n"))
        for part, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return Theme(sections=sections, **tomllib.loads(head))
