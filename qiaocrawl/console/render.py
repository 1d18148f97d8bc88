"""Pages out of templates: escaped, in the language of who reads, in our one look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from email.utils import format_datetime
from functools import cache
from typing import Any

import starlette_admin
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from qiaocrawl import __version__
from qiaocrawl.console.page import Area
from qiaocrawl.console.security import cookies
from qiaocrawl.console.state import link, visit_of
from qiaocrawl.console.stored_words import shown_method, shown_note
from qiaocrawl.export.readable import shown_time, xml_text
from qiaocrawl.language import ENGLISH, _, language, ngettext
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.storage.topics.classes import class_label
from qiaocrawl.text.zones import SHANGHAI

THEMES = ("light", "dark")
VENDOR_VERSION: str = starlette_admin.__version__
"""Of the package whose styles and scripts are served: a new one is a new address."""


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """The page of *template*.

    Templates know besides *values*: ``link(name, **parameters)``, ``user``, ``csrf_token``,
    ``nonce``, ``theme``, ``language``, ``menu``, ``page_name``.
    """
    values.setdefault("status", status)
    return HTMLResponse(_environment().get_template(template).render(
        **_common(request), **values), status)  # fmt: skip


def _common(request: Request) -> dict[str, Any]:
    visit = visit_of(request)
    page = getattr(request.state, "page", None)
    theme = request.cookies.get(cookies.THEME, "")
    areas: Sequence[Area] = request.app.state.areas
    return {
        "link": lambda name, **parameters: link(request, name, **parameters),
        "user": visit.user,
        "csrf_token": visit.token,
        "nonce": request.state.nonce,
        "theme": theme if theme in THEMES else THEMES[0],
        "language": language(),
        "html_language": "en" if language() == ENGLISH else "zh-CN",
        "menu": [
            area for area in areas
            if area.title and visit.user is not None and visit.user.may(area.pages[0].role)
        ],
        "page_name": page.name if page is not None else "",
        "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
    }  # fmt: skip


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("qiaocrawl.console"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.globals |= {
        "_": _,
        "ngettext": ngettext,
        "vendor_version": VENDOR_VERSION,
        "version": __version__,
    }
    environment.filters |= {
        "moment": _moment,
        "day": _day,
        "published": shown_time,
        "number": _number,
        "web": _web,
        "xml": xml_text,
        "mail_date": format_datetime,
        "reason": shown_reason,
        "note": shown_note,
        "method": shown_method,
        "class_label": class_label,
    }
    return environment


def _moment(value: datetime | None) -> str:
    """A time by the clocks of China, to the minute; "" for none."""
    return "" if value is None else value.astimezone(SHANGHAI).strftime("%Y-%m-%d %H:%M")


def _day(value: datetime | None) -> str:
    return "" if value is None else value.astimezone(SHANGHAI).strftime("%Y-%m-%d")


def _number(value: float) -> str:
    return f"{value:,}"


def _web(url: str) -> str:
    """*url* if a browser may be led to it; "" for ``javascript:`` and the like."""
    return url if url.lower().startswith(("http://", "https://")) else ""
