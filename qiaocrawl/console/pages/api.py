"""Reading by programs: JSON, by a token, a page at a time, described by an OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from qiaocrawl import __version__
from qiaocrawl.console.forms import whole_number
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import READER, Area, Page
from qiaocrawl.console.state import link
from qiaocrawl.console.work import read
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.console import api_rows

_USUAL_LIMIT, _MOST_LIMIT = 100, 1_000


async def articles(request: Request) -> Response:
    """Articles, oldest number first."""
    given = request.query_params
    return await _page(
        request, api_rows.article_records, topic_name=await _topic(request),
        only_relevant=given.get("relevant") == "true", since=_moment(given.get("since", "")),
        with_text=given.get("text") == "true",
    )  # fmt: skip


async def groups(request: Request) -> Response:
    """Groups of reprints."""
    least = whole_number(request, "members", 2, 1, 1_000_000)
    return await _page(request, api_rows.group_records, least_members=least)


async def coverage(request: Request) -> Response:
    """Queries of the coverage ledger with their last answers."""
    return await _page(request, api_rows.query_records, topic_name=await _topic(request))


async def _topic(request: Request) -> str:
    name = request.query_params.get("topic", "")
    return await known_topic(request, name) if name else ""


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(_("since {text!r} must be a time such as 2026-03-05T08:00Z", text=text)) \
            from None  # fmt: skip
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def _page(
    request: Request, records: Callable[..., list[api_rows.Record]], **choice: Any
) -> Response:
    """One page: the records, and the cursor that brings the next (null at the end)."""
    limit = whole_number(request, "limit", _USUAL_LIMIT, 1, _MOST_LIMIT)
    after = whole_number(request, "cursor", 0, 0, 2**62)
    # One more tells whether there is another page.
    items = await read(request, records, after=after, limit=limit + 1, **choice)
    following = str(items[limit - 1]["id"]) if len(items) > limit else None
    return JSONResponse({"items": items[:limit], "next_cursor": following})


async def openapi(request: Request) -> Response:
    """The description of all this, for programs and the tools that make them."""
    return JSONResponse(_document(link(request, "overview.show").rstrip("/")))


def _document(root: str) -> dict[str, Any]:
    paging = {
        "cursor": ("next_cursor of the page before", "string"),
        "limit": (f"records a page, at most {_MOST_LIMIT}", "integer"),
    }
    topic = {"topic": ("name of a topic", "string")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "qiaocrawl", "version": __version__},
        "servers": [{"url": root or "/"}],
        "security": [{"bearer": []}],
        "paths": {
            "/api/v1/articles": _path("articles", "Article", paging | topic | {
                "relevant": ("true: only those on topic", "boolean"),
                "since": ("stored or changed since, ISO 8601", "string"),
                "text": ("true: with the text", "boolean"),
            }),
            "/api/v1/groups": _path("groups of reprints", "Group", paging | {
                "members": ("articles of a group, at least", "integer"),
            }),
            "/api/v1/coverage": _path("queries of the ledger", "Query", paging | topic),
        },
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {name: _schema(fields) for name, fields in _FIELDS.items()},
        },
    }  # fmt: skip


_FIELDS: Mapping[str, Mapping[str, str]] = {
    "Article": {
        "id": "integer", "url": "string", "title": "string", "site": "string",
        "author": "string", "source": "string", "channel": "string", "language": "string",
        "published_at": "time", "fetched_at": "time", "updated_at": "time",
        "group_id": "integer or null", "topics": "array", "text": "string",
    },
    "Group": {
        "id": "integer", "title": "string", "site": "string", "url": "string",
        "articles": "integer", "sites": "integer", "first_published_at": "time",
    },
    "Query": {
        "id": "integer", "topic": "string", "term": "string", "site": "string",
        "engine": "string", "period": "string", "page": "integer", "state": "string",
        "hits": "integer", "new_urls": "integer", "tries": "integer", "message": "string",
        "asked_at": "time", "due_at": "time",
    },
}  # fmt: skip
_TYPES: Mapping[str, Any] = {
    "time": {"type": ["string", "null"], "format": "date-time"},
    "integer or null": {"type": ["integer", "null"]},
    "array": {"type": "array", "items": {"type": "object"}},
}


def _schema(fields: Mapping[str, str]) -> dict[str, Any]:
    properties = {name: _TYPES.get(kind, {"type": kind}) for name, kind in fields.items()}
    return {"type": "object", "properties": properties}


def _path(what: str, schema: str, parameters: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    items = {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}
    page = {
        "type": "object",
        "properties": {"items": items, "next_cursor": {"type": ["string", "null"]}},
    }
    listed = [
        {"name": name, "in": "query", "description": text, "schema": {"type": kind}}
        for name, (text, kind) in parameters.items()
    ]
    answers = {
        "200": {"description": what, "content": {"application/json": {"schema": page}}},
        "401": {"description": "no token, or one that is none"},
    }
    return {"get": {"summary": f"Read {what}", "parameters": listed, "responses": answers}}


AREA = Area("", "code", (
    Page("/api/v1/articles", "api.articles", articles, READER, for_programs=True),
    Page("/api/v1/groups", "api.groups", groups, READER, for_programs=True),
    Page("/api/v1/coverage", "api.coverage", coverage, READER, for_programs=True),
    Page("/api/v1/openapi.json", "api.openapi", openapi, READER, for_programs=True),
))  # fmt: skip
