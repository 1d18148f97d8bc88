"""What programs may ask the console for, and get, as an OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qiaocrawl import __version__

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
    ARTICLES: ("articles", "Article", {
        **_PAGING, **_TOPIC,
        "relevant": ("only those on topic", _FLAG),
        "group": ("only those of this group", {"type": "integer", "minimum": 1}),
        "since": ("stored or changed since", {"type": "string", "format": "date-time"}),
        "text": ("with the text", _FLAG),
    }),
    GROUPS: ("groups of reprints", "Group", {
        **_PAGING,
        "members": ("articles of a group, at least", _whole(1, MOST_MEMBERS, 2)),
    }),
    COVERAGE: ("queries of the ledger", "Query", {**_PAGING, **_TOPIC}),
}  # fmt: skip
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
                "basic": {"type": "http", "scheme": "basic",
                          "description": "any name; the token is the password"},
            },
            "schemas": {**schemas, "Error": error},
        },
    }  # fmt: skip


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
