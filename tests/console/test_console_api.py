"""The API: by a token only, page by page, as its document and the client of the docs say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from console_client import Desk
from qiaocrawl.console.pages.api import FIELDS as _FIELDS
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import people
from qiaocrawl.storage.audit_log import Actor
from storage_samples import PACK, add_article, add_topic

ROOT = Path(__file__).resolve().parents[2]


def _token(desk: Desk) -> str:
    desk.log_in_as("reader")
    token = credentials.new_secret()
    with desk.database.engine.begin() as c:
        user = people.find_user(c, "reader")
        assert user is not None
        people.add_token(c, Actor("reader"), user, "test", token)
    desk.log_in_as("")
    return token


def test_records_come_page_by_page_to_who_has_a_token(desk: Desk) -> None:
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        ids = [add_article(c, f"{n}.html") for n in range(5)]
    headers = {"Authorization": f"Bearer {_token(desk)}"}
    for wrong in ({}, {"Authorization": "Bearer nothing"}):
        refused = desk.get("/api/v1/articles", headers=wrong)
        assert refused.status_code == 401
        assert "error" in refused.json()
    read: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = desk.get(f"/api/v1/articles?limit=2&text=true&cursor={cursor}", headers=headers)
        assert {*answer.json()["items"][0]} == {*_FIELDS["Article"]}
        read += [item["id"] for item in answer.json()["items"]]
        cursor = answer.json()["next_cursor"]
    assert read == ids
    with desk.database.engine.connect() as c:
        (token,) = people.list_tokens(c)
    assert token.last_used_at is not None, "the page of tokens shows when each was used"
    on_topic = desk.get(f"/api/v1/articles?topic={PACK.name}&relevant=true", headers=headers)
    assert on_topic.status_code == 200
    assert desk.get("/api/v1/articles?topic=none", headers=headers).status_code == 404
    assert desk.get("/api/v1/articles?since=soon", headers=headers).status_code == 400
    groups = desk.get("/api/v1/groups?members=1", headers=headers).json()
    assert all({*item} == {*_FIELDS["Group"]} for item in groups["items"])


def test_the_document_names_every_page_and_the_docs_client_runs(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        add_article(c, "1.html")
    token = _token(desk)
    headers = {"Authorization": f"Bearer {token}"}
    document = desk.get("/api/v1/openapi.json", headers=headers).json()
    for path in document["paths"]:
        assert desk.get(path, headers=headers).status_code == 200
        assert path in (ROOT / "docs/console.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs/console.md").read_text("utf-8"), re.S)
    assert code is not None
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 11
    monkeypatch.setenv("QIAOCRAWL_TOKEN", token)
    # The client of the docs over this console instead of a network.
    monkeypatch.setattr("httpx.Client", lambda base_url, headers: _Borrowed(desk, headers))
    exec(compile(code[1].replace('topic="qiaoqing", relevant="true"', ""), "docs", "exec"), {})
    assert capsys.readouterr().out.strip()


class _Borrowed:
    def __init__(self, desk: Desk, headers: dict[str, str]) -> None:
        self._desk, self._headers = desk, headers

    def __enter__(self) -> _Borrowed:
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def get(self, path: str, params: dict[str, str]):  # type: ignore[no-untyped-def]
        return self._desk.get(path, params=params, headers=self._headers)
