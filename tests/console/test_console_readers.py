"""Feeds and records for programs: under a proxy's path, by HTTP Basic, as long as a token holds."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from console_articles import add_stories
from console_client import Desk, desk_at
from fresh_schema import make_tables
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from storage_samples import PACK

BAD_VALUES = (
    "cursor=x", "cursor=-1", "cursor=9223372036854775808", "cursor=1.5", "limit=0", "limit=1001",
    "limit=ten", "relevant=1", "relevant=yes", "text=on", "group=0", "group=x", "since=soon",
    "since=0001-01-01T00:00%2B14:00", "topics=qiaoqing",
)  # fmt: skip


def basic(name: str, password: str) -> dict[str, str]:
    """The header a news reader sends."""
    text = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"Authorization": f"Basic {text}"}


def token_of(desk: Desk, role: str = "reader") -> str:
    """A token of the user of *role*; nobody is logged in afterwards."""
    desk.log_in_as(role)
    token = credentials.new_secret()
    with desk.database.engine.begin() as c:
        user = people.find_user(c, role)
        assert user is not None
        people.add_token(c, Actor(role), user, "test", token)
    desk.log_in_as("")
    return token


@pytest.fixture
def reader(sqlite_desk: Desk) -> tuple[Desk, dict[str, str]]:
    """A console with articles, and the header of a program that may read them."""
    add_stories(sqlite_desk.database)
    return sqlite_desk, {"Authorization": f"Bearer {token_of(sqlite_desk)}"}


def test_a_feed_leads_back_through_the_proxy(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        add_stories(database)
    with desk_at(url, root_path="/desk") as desk:
        token = token_of(desk)
        feed = desk.get("/desk/articles/feed.xml", headers=basic("me", token))
        links = re.findall("<link>(.*?)</link>", feed.text)
        assert len(links) > 2
        assert {link.split("?")[0].rstrip("0123456789") for link in links} == {
            "http://console.test/desk/articles", "http://console.test/desk/articles/",
        }  # fmt: skip
        desk.log_in_as("reader")
        for link in links:
            assert desk.get(link.removeprefix("http://console.test")).status_code == 200


def test_news_readers_send_the_token_as_a_password(sqlite_desk: Desk) -> None:
    add_stories(sqlite_desk.database)
    token = token_of(sqlite_desk)
    feed = "/articles/feed.xml"
    assert sqlite_desk.get(feed, headers=basic("侨", token)).status_code == 200
    for wrong in (basic("me", "x"), basic("me", ""), {"Authorization": "Basic !"},
                  {"Authorization": "Basic /w=="}, {"Authorization": "Basic"}):  # fmt: skip
        refused = sqlite_desk.get(feed, headers=wrong)
        assert refused.status_code == 401, wrong
        # A reader asks for name and password only where it is told to.
        assert "Basic" in refused.headers["www-authenticate"]
    # Pages for people take no token, and their scripts make no browser ask.
    assert sqlite_desk.get("/articles", headers=basic("me", token)).status_code == 303
    scripts = sqlite_desk.get("/jobs", headers={"accept": "application/json"})
    assert (scripts.status_code, "Basic" in scripts.headers["www-authenticate"]) == (401, False)


def test_a_wrong_choice_is_named(reader: tuple[Desk, dict[str, str]]) -> None:
    desk, headers = reader
    for query in BAD_VALUES:
        answer = desk.get(f"/api/v1/articles?{query}", headers=headers)
        assert answer.status_code == 400, query
        name, value = query.split("=")
        error = answer.json()["error"]
        assert name in error
        assert value.replace("%2B", "+") in error or name == "topics"
        assert any(
            allowed in error
            for allowed in ("true or false", " to ", "cursor, ", "such as", "whole")
        )


def test_members_of_a_group_are_read(reader: tuple[Desk, dict[str, str]]) -> None:
    desk, headers = reader
    (group,) = desk.get("/api/v1/groups", headers=headers).json()["items"]
    members = desk.get(f"/api/v1/articles?group={group['id']}", headers=headers).json()["items"]
    assert len(members) == group["articles"] == 2
    assert {member["group_id"] for member in members} == {group["id"]}
    assert desk.get("/api/v1/articles?group=999", headers=headers).json()["items"] == []
    # On topic for any, where no topic is named; off topic is one of the four.
    on_topic = desk.get("/api/v1/articles?relevant=true", headers=headers).json()["items"]
    named = f"/api/v1/articles?relevant=true&topic={PACK.name}"
    assert len(on_topic) == len(desk.get(named, headers=headers).json()["items"]) == 3
    assert len(desk.get("/api/v1/articles?relevant=false", headers=headers).json()["items"]) == 4


def test_the_document_tells_errors_and_is_linked(reader: tuple[Desk, dict[str, str]]) -> None:
    desk, headers = reader
    document = desk.get("/api/openapi.json", headers=headers).json()
    for path in document["paths"].values():
        for operation in path.values():
            assert {"200", "400", "401", "403", "404"} <= operation["responses"].keys()
    names = [entry["name"] for entry in document["paths"]["/api/v1/articles"]["get"]["parameters"]]
    assert {*names} == {
        "group", "relevant", "cursor", "limit", "since", "text", "topic", "word_group", "medium",
    }  # fmt: skip
    desk.log_in_as("reader")
    assert 'href="/api"' in desk.get("/tokens").text
    assert 'href="/api/openapi.json"' in desk.get("/api").text
    assert desk.get("/api/openapi.json").status_code == 200


def test_a_new_password_takes_tokens_away(desk: Desk) -> None:
    token = {"Authorization": f"Bearer {token_of(desk)}"}
    assert desk.get("/api/v1/groups", headers=token).status_code == 200
    with desk.database.engine.connect() as c:
        user = people.find_user(c, "reader")
    assert user is not None
    desk.log_in_as("administrator")
    assert desk.post(f"/people/{user.id}/password").status_code == 200
    desk.log_in_as("")
    assert desk.get("/api/v1/groups", headers=token).status_code == 401
    # A token of one who has to choose a password says so, in no page but in words.
    with desk.database.engine.begin() as c:
        people.add_token(c, Actor("reader"), user, "again", "secret")
    answer = desk.get("/api/v1/groups", headers={"Authorization": "Bearer secret"})
    assert (answer.status_code, "password" in answer.json()["error"]) == (403, True)
