"""Reading by programs: JSON, by a token, a page at a time, described by an OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from qiaocrawl.console.api_document import (
    ARTICLES,
    COVERAGE,
    GROUPS,
    MOST_LIMIT,
    MOST_MEMBERS,
    USUAL_LIMIT,
    choices_of,
    document,
)
from qiaocrawl.console.forms import wanted_number
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import READER, Area, Page
from qiaocrawl.console.state import link
from qiaocrawl.console.work import read
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.reading import records as api_rows

_MOST_ROW = 2**63 - 1
_FLAGS = {"true": True, "false": False}


async def articles(request: Request) -> Response:
    """Articles, oldest number first."""
    _require_known(request, ARTICLES)
    group = request.query_params.get("group", "")
    choice = api_rows.ArticleChoice(
        await _topic(request), _flag(request, "relevant"), _moment(request),
        wanted_number("group", group, 1, _MOST_ROW) if group else None, _flag(request, "text"),
    )  # fmt: skip
    return await _page(request, api_rows.article_records, choice=choice)


async def groups(request: Request) -> Response:
    """Groups of reprints."""
    _require_known(request, GROUPS)
    least = _number(request, "members", 2, 1, MOST_MEMBERS)
    return await _page(request, api_rows.group_records, least_members=least)


async def coverage(request: Request) -> Response:
    """Queries of the coverage ledger with their last answers."""
    _require_known(request, COVERAGE)
    return await _page(request, api_rows.query_records, topic_name=await _topic(request))


def _require_known(request: Request, path: str) -> None:
    """What is misspelt must not count as not said: it would give all there is."""
    names = choices_of(path)
    for name in request.query_params:
        if name not in names:
            raise ConfigError(
                _("{name!r} is no choice here; there are {names}", name=name,
                  names=", ".join(names))
            )  # fmt: skip


async def _topic(request: Request) -> str:
    name = request.query_params.get("topic", "")
    return await known_topic(request, name) if name else ""


def _flag(request: Request, name: str) -> bool:
    given = request.query_params.get(name, "")
    if given and given not in _FLAGS:
        names = ", ".join(_FLAGS)
        raise ConfigError(_("{name} {value!r} must be one of {names}", name=name, value=given,
                            names=names))  # fmt: skip
    return _FLAGS.get(given, False)


def _number(request: Request, name: str, otherwise: int, least: int, most: int) -> int:
    given = request.query_params.get(name, "")
    return wanted_number(name, given, least, most) if given else otherwise


def _moment(request: Request) -> datetime | None:
    text = request.query_params.get("since", "")
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        # In the first or last year there may be no such time in UTC.
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ConfigError(_("since {text!r} must be a time such as 2026-03-05T08:00Z", text=text)) \
            from None  # fmt: skip


async def _page(
    request: Request, records: Callable[..., list[api_rows.Record]], **choice: Any
) -> Response:
    """One page: the records, and the cursor that brings the next (null at the end)."""
    limit = _number(request, "limit", USUAL_LIMIT, 1, MOST_LIMIT)
    after = _number(request, "cursor", 0, 0, _MOST_ROW)
    # One more tells whether there is another page.
    items = await read(request, records, after=after, limit=limit + 1, **choice)
    following = str(items[limit - 1]["id"]) if len(items) > limit else None
    return JSONResponse({"items": items[:limit], "next_cursor": following})


async def openapi(request: Request) -> Response:
    """The description of all this, for programs and the tools that make them."""
    return JSONResponse(document(link(request, "overview.show").rstrip("/")))


AREA = Area("", "code", (
    Page(ARTICLES, "api.articles", articles, READER, for_programs=True),
    Page(GROUPS, "api.groups", groups, READER, for_programs=True),
    Page(COVERAGE, "api.coverage", coverage, READER, for_programs=True),
    Page("/api/v1/openapi.json", "api.openapi", openapi, READER, for_programs=True),
))  # fmt: skip
