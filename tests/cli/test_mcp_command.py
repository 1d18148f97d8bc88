"""`qiaocrawl mcp` asked by a client of the protocol's own SDK, over pipes and over HTTP."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from console_articles import add_stories
from crawl_starter import run_started
from forking_python import forking_python
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from told_stories import keep_a_briefing, make_stories

if TYPE_CHECKING:
    # Imported when a test asks: it takes a second of each process that collects tests.
    from mcp import Client

QUESTIONS = {
    "topics",
    "words",
    "search",
    "article",
    "events",
    "event",
    "spread",
    "coverage",
    "briefing",
}


Question = tuple[str, dict[str, Any]]


def server(database_url: str, *options: str) -> list[str]:
    return ["qiaocrawl", "mcp", "--database", database_url, *options]


def over_pipes(folder: Path, database_url: str, *options: str) -> Client:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    arguments = ["-m", *server(database_url, *options)]
    return Client(
        StdioServerParameters(command=forking_python(folder), args=arguments, env=dict(os.environ))
    )


def asked(client_of: Any, *questions: Question | Callable[[list[Any]], Question]) -> list[Any]:
    """The answers to *questions*, an error as its text; before them the names of all tools.

    A question may depend on what is answered before.
    """

    async def ask() -> list[Any]:
        async with client_of as client:
            answers: list[Any] = [{tool.name for tool in (await client.list_tools()).tools}]
            for question in questions:
                name, arguments = question(answers) if callable(question) else question
                result = await client.call_tool(name, arguments)
                text = "".join(getattr(part, "text", "") for part in result.content)
                answers.append(text if result.is_error else result.structured_content)
            return answers

    return asyncio.run(asyncio.wait_for(ask(), 120))


def test_an_assistant_searches_reads_and_can_cite(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    ids = add_stories(database)
    tools, topics, words, unknown, found, none, one, missing, bad, empty = asked(
        over_pipes(tmp_path, database_url, "--console", "http://desk.test"),
        ("topics", {}),
        ("words", {"topic": "qiaoqing"}),
        ("words", {"topic": "nothing"}),
        ("search", {"words": ["华侨农场"], "topic": "qiaoqing"}),
        ("search", {"words": ["没有的词"]}),
        ("article", {"article": ids[0]}),
        ("article", {"article": 4_000_000}),
        ("search", {"words": [], "since": "yesteryear"}),
        ("briefing", {}),
    )
    assert tools == QUESTIONS
    assert topics["result"][0]["topic"] == "qiaoqing"
    assert {"word", "kind", "weight", "note"} == set(words["words"][0])
    assert "nothing" in unknown
    assert len(found["articles"]) == 2, "reprints are one"
    for article in found["articles"]:
        assert article["address"].startswith("http://")
        assert article["stored_copy"] == f"http://desk.test/articles/{article['article']}/page"
        assert article["outlet"]
        assert article["day"]
    assert "has all these words" in none["why_empty"]
    assert "讨论华侨农场" in one["text"]
    assert "4000000" in missing
    assert "yesteryear" in bad
    assert "no briefing" in empty["why_empty"]


def test_events_their_sentences_and_their_spread_carry_their_sources(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'told.db'}"
    make_stories(url)
    keep_a_briefing(url)
    _, listed, missing, told, event, found, spread, coverage = asked(
        over_pipes(tmp_path, url),
        ("events", {}),
        ("event", {"event": 999_999}),
        ("briefing", {}),
        lambda told: ("event", {"event": told[1]["events"][0]["event"]}),
        lambda told: ("search", {"words": [told[1]["events"][0]["title"][:4]]}),
        lambda told: ("spread", {"article": told[5]["articles"][0]["article"]}),
        ("coverage", {"topic": "qiaoqing"}),
    )
    assert "999999" in missing
    assert told["text"].startswith("#")
    hottest = listed["events"][0]
    assert len(hottest["outlets"]) > 1
    assert event["outlets"] == hottest["outlets"]
    numbers = {source["number"] for source in event["sources"]}
    assert event["sentences"]
    for sentence in event["sentences"]:
        assert sentence["sources"]
        assert set(sentence["sources"]) <= numbers
    assert all(source["address"] and source["outlet"] for source in event["sources"])
    assert {one["address"] for one in spread["publications"]} >= {found["articles"][0]["address"]}
    assert "no engine was asked" in coverage["why_empty"]


@asynccontextmanager
async def with_token(address: str, token: str) -> AsyncIterator[Client]:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


@contextmanager
def served(folder: Path, database_url: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = server(database_url, "--http", f"127.0.0.1:{port}")
    process = subprocess.Popen([forking_python(folder), "-m", *arguments])
    try:
        while True:
            assert process.poll() is None
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(30)


def test_over_http_only_tokens_of_the_console_are_let_in(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    add_stories(database)
    with database.engine.begin() as c:
        people.add_user(c, Actor("test"), "reader", "-", "reader")
        user, token = people.find_user(c, "reader"), credentials.new_secret()
        assert user is not None
        people.add_token(c, Actor("test"), user, "assistant", token)
    with served(tmp_path, database_url) as address:
        for headers in ({}, {"Authorization": "Bearer nonsense"}):
            refused = httpx2.post(address, json={}, headers=headers)
            assert refused.status_code == 401
            assert "token of the console" in refused.text
        tools, found = asked(with_token(address, token), ("search", {"words": ["华侨农场"]}))
        assert tools == QUESTIONS
        assert len(found["articles"]) == 2


@pytest.mark.parametrize("place", ["8809", "127.0.0.1:", "127.0.0.1:99999"])
def test_a_wrong_place_is_refused(place: str) -> None:
    done = run_started(*server("sqlite:///none.db", "--http", place))
    assert done.returncode == 1
    assert place in done.stderr
