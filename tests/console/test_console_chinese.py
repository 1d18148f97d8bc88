"""What is stored in English, or said by a library, is Chinese on the Chinese page."""

from __future__ import annotations

import html
import re
import time
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console.render import shown_method
from qiaocrawl.fetch.sessions.accounts import AccountState
from qiaocrawl.relevance import page_scorers
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.sites.accounts import add_account, save_state
from storage_samples import PACK

pytestmark = pytest.mark.usefixtures("chinese")

CELL = {"topic": PACK.name, "term": "侨务", "site": "www.a-qiao.cn", "engine": "demo"}
# Words a Chinese reader has too: of the web, the sample's own, and names of keys.
KNOWN = {
    "http", "https", "cn", "www", "a", "b", "qiao", "news", "url", "com", "weibo", "demo", "json",
    "cookie", "netscape", "qr", "captcha", "qiaoqing", "esc", "j", "k", "o", "e", "r", "x", "s",
    "n", "t", "me", "html", "max", "pages", "search", "rss", "excel", "word", "csv", "lines",
    "c", "example", "searxng",
}  # fmt: skip


@pytest.fixture
def full(sqlite_desk: Desk) -> Desk:
    """A console whose rows all have reasons."""
    (first, *_rest) = add_stories(sqlite_desk.database)
    now = datetime.now(UTC)
    with sqlite_desk.database.engine.begin() as c:
        c.execute(text("UPDATE verdict SET why = 'no body to compare; title cosine 0.912'"))
        c.execute(text("UPDATE url SET outcome = 'dead', reason = 'asks for a login again and"
                       " again, with new sessions', done_at = :now WHERE id = 1"),
                  {"now": f"{now:%Y-%m-%d %H:%M:%S}"})  # fmt: skip
        for kind, note in (("revised", "title and body"), ("revised", "title"), ("revised", "body"),
                           ("deleted", "soft 404"), ("restored", ""),
                           ("deleted", "redirects to a first page"),
                           ("deleted", "no body: body has 7 characters")):  # fmt: skip
            c.execute(
                text(
                    "INSERT INTO revision (url_id, kind, at, page_source_id, note, title,"
                    " published_at, body_digest, text) SELECT url_id, :kind, '2026-03-05', NULL,"
                    " :note, '旧题', NULL, x'', '旧文' FROM article WHERE id = :id"
                ),
                {"kind": kind, "note": note, "id": first},
            )
        row = add_account(c, "weibo.com", "me", b"", now=now)
        save_state(c, row, AccountState.RESTING, "busy: no title", now=now)
        query = Query(PACK.name, CELL["term"], CELL["site"], "demo", 1)
        blocked = ledger.Answered(AnswerState.BLOCKED, message="check: the page shows no text")
        ledger.record_answer(c, query, blocked, time.time())
    sqlite_desk.log_in_as("administrator")
    return sqlite_desk


def _english(page: str) -> set[str]:
    main = page.split("<main", 1)[1].split("</main>")[0]
    shown = re.sub(r"QIAO_\w+", "", html.unescape(visible(f"<main{main}")))
    words = {word.lower() for word in re.findall("[A-Za-z]+", shown)}
    return words - KNOWN


def test_stored_reasons_are_shown_in_chinese(full: Desk) -> None:
    for path, *said in (
        ("/dead", "一再要求登录"), ("/articles/1", "标题余弦 0.912", "标题和正文"),
        ("/sites", "没有标题"), ("/sites/accounts/1", "没有标题"),
        ("/coverage/cell", "页面上没有文字"),
    ):  # fmt: skip
        page = full.get(path, params=CELL if path.startswith("/coverage") else {})
        assert page.status_code == 200
        assert _english(page.text) == set(), path
        assert [words for words in said if words not in visible(page.text)] == []


def test_every_method_has_a_name() -> None:
    names = [*page_scorers.names(), "operator"]
    assert len(names) > 10
    for name in names:
        assert re.search("[一-鿿]", shown_method(name)), name
    assert shown_method("of_a_plug_in") == "of_a_plug_in"


def test_what_libraries_say_is_not_shown(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as("editor")
    wrong = desk.client.post("/articles", data={"csrf_token": desk.token})
    assert (wrong.status_code, "GET" in wrong.headers["allow"]) == (405, True)
    boundary = {"content-type": "multipart/form-data"}
    unread = desk.client.post("/preferences", content=b"x", headers=boundary)
    many = desk.client.post("/preferences", data={f"f{n}": "" for n in range(2001)})
    for answer, status in ((wrong, 405), (unread, 400), (many, 400)):
        assert answer.status_code == status
        assert _english(answer.text) == set(), visible(answer.text)


@pytest.mark.parametrize("is_announced", [True, False])
def test_too_much_is_refused_in_chinese(sqlite_desk: Desk, is_announced: bool) -> None:
    sqlite_desk.log_in_as("editor")
    megabyte = b"x" * 1024**2
    kind = {"content-type": "multipart/form-data; boundary=b"}
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    body = head + megabyte * 21 if is_announced else iter([head, *[megabyte] * 21])
    answer = sqlite_desk.client.post("/topics/import", content=body, headers=kind)
    assert answer.status_code == 413
    assert "最多 20 MB" in visible(answer.text)
    assert "content-security-policy" in answer.headers
    odd = {**kind, "content-length": "9" * 5000}
    assert sqlite_desk.client.post("/preferences", content=b"", headers=odd).status_code == 413
