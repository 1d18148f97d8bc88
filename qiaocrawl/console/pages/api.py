"""Reading by programs: JSON, by a token, a page at a time, described by an OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from qiaocrawl import __version__
from qiaocrawl.console.forms import known_topic, wanted_number
from qiaocrawl.console.page import READER, Area, Page, link, read
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.reading import records as api_rows
from qiaocrawl.storage.sites.media import known_media
from qiaocrawl.storage.topics.word_groups import require_groups

# --- What programs may ask the console for, and get, as an OpenAPI document -----------------------

ARTICLES, GROUPS, COVERAGE = "/api/v1/articles", "/api/v1/groups", "/api/v1/coverage"
USUAL_LIMIT, MOST_LIMIT, MOST_MEMBERS = 100, 1_000, 1_000_000

FIELDS: Mapping[str, Mapping[str, str]] = {
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
"""Of the records."""
_TYPES: Mapping[str, Any] = {
    "time": {"type": ["string", "null"], "format": "date-time"},
    "integer or null": {"type": ["integer", "null"]},
    "array": {"type": "array", "items": {"type": "object"}},
}


def _whole(least: int, most: int, usual: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": usual}


_TEXT = {"type": "string"}
_FLAG = {"type": "boolean", "default": False}
_Choice = tuple[str, Mapping[str, Any]]
_PAGING: Mapping[str, _Choice] = {
    "cursor": ("next_cursor of the page before", {"type": "string", "pattern": "^[0-9]{1,19}$"}),
    "limit": ("records a page", _whole(1, MOST_LIMIT, USUAL_LIMIT)),
}
_TOPIC: Mapping[str, _Choice] = {"topic": ("name of a topic", _TEXT)}
_PATHS: Mapping[str, tuple[str, str, Mapping[str, _Choice]]] = {
    ARTICLES: (
        "articles",
        "Article",
        {
            **_PAGING,
            **_TOPIC,
            "relevant": ("only those on topic", _FLAG),
            "group": ("only those of this group", {"type": "integer", "minimum": 1}),
            "word_group": ("only what this group of words of the topic touches", _TEXT),
            "medium": ("only this kind of medium, as central", {"type": "string"}),
            "since": ("stored or changed since", {"type": "string", "format": "date-time"}),
            "text": ("with the text", _FLAG),
        },
    ),
    GROUPS: (
        "groups of reprints",
        "Group",
        {**_PAGING, "members": ("articles of a group, at least", _whole(1, MOST_MEMBERS, 2))},
    ),
    COVERAGE: ("queries of the ledger", "Query", {**_PAGING, **_TOPIC}),
}
_ERRORS = {
    "400": "a choice that is none, or a value that is not allowed; it is named",
    "401": "no token, or one that is none",
    "403": "the user of the token has to choose a password first",
    "404": "no such topic",
}


def choices_of(path: str) -> tuple[str, ...]:
    """What may stand behind the ``?``."""
    return tuple(_PATHS[path][2])


def document(root: str) -> dict[str, Any]:
    """The document of a console at the path *root*."""
    error = {"type": "object", "properties": {"error": _TEXT}}
    schemas = {name: _schema(fields) for name, fields in FIELDS.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "qiaocrawl", "version": __version__},
        "servers": [{"url": root or "/"}],
        "security": [{"bearer": []}, {"basic": []}],
        "paths": {path: _path(*parts) for path, parts in _PATHS.items()},
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "any name; the token is the password",
                },
            },
            "schemas": {**schemas, "Error": error},
        },
    }


def _schema(fields: Mapping[str, str]) -> dict[str, Any]:
    properties = {name: _TYPES.get(kind, {"type": kind}) for name, kind in fields.items()}
    return {"type": "object", "properties": properties}


def _path(what: str, schema: str, choices: Mapping[str, _Choice]) -> dict[str, Any]:
    items = {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}
    page = {
        "type": "object",
        "properties": {"items": items, "next_cursor": {"type": ["string", "null"]}},
    }
    listed = [
        {"name": name, "in": "query", "description": text, "schema": kind}
        for name, (text, kind) in choices.items()
    ]
    answers = {"200": _answer(what, page)} | {
        status: _answer(text, {"$ref": "#/components/schemas/Error"})
        for status, text in _ERRORS.items()
    }
    return {"get": {"summary": f"Read {what}", "parameters": listed, "responses": answers}}


def _answer(what: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": what, "content": {"application/json": {"schema": schema}}}


_MOST_ROW = 2**63 - 1
_FLAGS = {"true": True, "false": False}


async def articles(request: Request) -> Response:
    """Articles, oldest number first."""
    _require_known(request, ARTICLES)
    group = request.query_params.get("group", "")
    topic = await _topic(request)
    choice = api_rows.ArticleChoice(
        topic,
        _flag(request, "relevant"),
        _moment(request),
        wanted_number("group", group, 1, _MOST_ROW) if group else None,
        _flag(request, "text"),
        await _word_group(request, topic),
        known_media(filter(None, [request.query_params.get("medium", "")])),
    )
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
                _(
                    "{name!r} is no choice here; there are {names}",
                    name=name,
                    names=", ".join(names),
                )
            )


async def _topic(request: Request) -> str:
    name = request.query_params.get("topic", "")
    return await known_topic(request, name) if name else ""


async def _word_group(request: Request, topic: str) -> tuple[str, ...]:
    name = request.query_params.get("word_group", "")
    if not name:
        return ()
    await read(request, require_groups, topic or None, [name])
    return (name,)


def _flag(request: Request, name: str) -> bool:
    given = request.query_params.get(name, "")
    if given and given not in _FLAGS:
        names = ", ".join(_FLAGS)
        raise ConfigError(
            _("{name} {value!r} must be one of {names}", name=name, value=given, names=names)
        )
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
        raise ConfigError(
            _("since {text!r} must be a time such as 2026-03-05T08:00Z", text=text)
        ) from None


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
    return JSONResponse(document(link(request, "today.show").rstrip("/")))


AREA = Area(
    "",
    "code",
    (
        Page(ARTICLES, "api.articles", articles, READER, for_programs=True),
        Page(GROUPS, "api.groups", groups, READER, for_programs=True),
        Page(COVERAGE, "api.coverage", coverage, READER, for_programs=True),
        Page("/api/v1/openapi.json", "api.openapi", openapi, READER, for_programs=True),
    ),
)
