"""What strangers wrote can do nothing in the console: their payloads, in a real browser."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode

import openpyxl
import pytest
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from playwright.sync_api import Browser, Request
from sqlalchemy import text

from console_articles import add_stories
from console_browser import chromium, new_context, served
from console_client import BASE, Desk, desk_at
from fresh_schema import make_tables
from qiaocrawl.console.render import shown_html
from qiaocrawl.console.security import credentials
from qiaocrawl.fetch.sessions.accounts import AccountState
from qiaocrawl.news.trends.usual import HolidayCalendar
from qiaocrawl.news.warnings.machine import Moment, step, take_note
from qiaocrawl.news.warnings.office_rules import add_rule
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.signals import First, SignalArticle, StorySignal
from qiaocrawl.news.warnings.stored import keep_step, note_failed, take_due
from qiaocrawl.reading import marks
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database, jobs, schedules
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.jobs import JobRequest, JobState
from qiaocrawl.storage.packed_text import compress, pack_html, pack_text, unpack_text
from qiaocrawl.storage.schedules import Timing
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sites.accounts import add_account, save_state
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.pack import Sample, Term
from storage_samples import PACK, add_article, url_key

pytestmark = pytest.mark.chromium

EXTERNAL = Path(__file__).parents[3] / "shared" / "data" / "external"
OURS = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'\"><svg onload=alert(1)>",
    "</textarea></title></style><img src=x onerror=alert(1)>", "{{7*7}}${alert(1)}",
    "<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>", "]]><script>alert(1)</script>",
    "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
]  # fmt: skip
_ROWS = 30
_SITE = "http://www.a-qiao.cn/0"
_CELL = urlencode({"topic": "qiaoqing", "engine": "demo", "term": OURS[0][:25], "site": ""})
_WORK = (
    "/topics",
    "/topics/qiaoqing",
    "/topics/qiaoqing?table=sites&find=%22%3E",
    "/sites",
    "/topics/qiaoqing/words",
    "/topics/qiaoqing/about",
    "/topics/qiaoqing/samples",
    "/topics/qiaoqing/samples?name=s0",
    "/schedules/1",
    "/topics/qiaoqing/threshold",
    "/coverage?engine=demo",
    f"/coverage/cell?{_CELL}",
    "/jobs",
    "/jobs/1",
    "/sites/accounts/1",
    "/warnings",
    "/warnings/rules",
    "/warnings/rules/1",
    "/warnings/channels",
)
_STORED = (
    "/articles/1/evidence",
    f"/sites/template?url={_SITE}&hosts=www.a-qiao.cn&path=*&body=body",
    f"/sites/template/page?url={_SITE}&mark=data-0123456789abcdef",
)
"""Pages that show a stored page in a frame, and such a page by itself."""
_API = (
    "/api/v1/articles?text=true&limit=1000",
    "/api/v1/groups?members=1&limit=1000",
    "/api/v1/coverage?limit=1000",
)
_ACTIVE = "a[href^='javascript' i], [onerror], [onload]"
_IN_ADDRESS = "%3Cscript%3Ealert(1)%3C/script%3E"
_SCHEMES = (
    "javascript:", "data:text/html,", "vbscript:", "file:///", "ftp://", "JaVaScRiPt:",
    " javascript:", "\tjavascript:", "//evil.test/", "about:", "blob:", "filesystem:", "intent:",
    "mailto:",
)  # fmt: skip


def payloads() -> list[str]:
    """Ours, and those of the public collections where they are."""
    found = list(OURS)
    if EXTERNAL.is_dir():
        cases = json.loads((EXTERNAL / "dompurify" / "expect.json").read_text("utf-8"))
        found += [case["payload"] for case in cases]
        found += json.loads((EXTERNAL / "blns" / "blns.json").read_text("utf-8"))
    return [text.replace("\0", " ") for text in found]


def _fill(database: Database, wanted: list[str]) -> None:
    """One article for each payload, and one made of all of them in every place."""
    (whole, *_rest) = add_stories(database)
    joined = "\n".join(wanted)
    with database.engine.begin() as c:
        for number, payload in enumerate(wanted):
            add_article(c, f"p{number}", title=payload, body=payload, author=payload[:100],
                        source=payload[:100])  # fmt: skip
        actor = Actor("tester")
        for number, payload in enumerate(wanted[:20]):
            marks.set_note(c, actor, number + 5, payload)
            marks.set_tags(c, actor, number + 5, [payload[:50]])
        clean = joined.encode("utf-8", "replace").decode()
        c.execute(
            text("UPDATE article SET text = :text, html = :html, author = :short WHERE id = :id"),
            {
                "text": pack_text(clean),
                "html": pack_html(clean, clean),
                "short": clean[:150],
                "id": whole,
            },
        )
        headers = json.dumps([["content-type", "text/html; charset=utf-8"], ["x-evil", clean]])
        c.execute(
            text("UPDATE page_source SET body = :body, headers = :headers WHERE url_id = 1"),
            {"body": compress(clean.encode()), "headers": headers},
        )


def _fill_work(database: Database, wanted: list[str]) -> None:
    """The same in topics, sites, jobs, answers of engines, accounts and watched pages."""
    parts = wanted[: len(OURS)]
    terms = tuple(Term(part[:25], "other", 1.0, part) for part in parts)
    site = replace(PACK.sites[0], name=parts[1], region=parts[0][:20], note=parts[2])
    now, request = time.time(), JobRequest("site", PACK.name, parts[1], {"start": parts[0]})
    with database.engine.begin() as c:
        samples = tuple(Sample(f"s{number}", part, part, True) for number, part in enumerate(parts))
        pack = replace(PACK, title=parts[0], description=parts[1], terms=terms, sites=(site,),
                       samples=samples)  # fmt: skip
        save_pack(c, pack, now=now)
        schedules.add_schedule(c, request, Timing(parts[2], "UTC", now), by=parts[3],
                               now=datetime.now(UTC))  # fmt: skip
        for part in parts:
            job_id = jobs.add_job(c, request, by=part, machine=part, now=datetime.now(UTC))
            jobs.change(c, job_id, JobState.FAILED, {JobState.WAITING}, message=part)
            query = Query(PACK.name, part[:25], "", "demo", 1)
            ledger.record_answer(c, query, ledger.Answered(AnswerState.BLOCKED, message=part), now)
        row = add_account(c, "weibo.com", parts[0], b"", now=datetime.now(UTC))
        save_state(c, row, AccountState.RESTING, parts[1], now=datetime.now(UTC))
        watched.enter_page(
            c, PACK.name, url_key(_SITE), kind="list", name=parts[2], weight=1.0, now=now
        )


def _fill_warnings(database: Database, wanted: list[str]) -> None:
    """The same in rules, in a warning, and in what channels answered."""
    parts, now = wanted[: len(OURS)], datetime.now(UTC)
    articles = (SignalArticle(parts[0], parts[1], parts[2], parts[3], now),)
    rules = [Rule(part, any_of=(part,), channels=(part[:50],)) for part in parts]
    warning = Rule(parts[4], first=("place",), channels=(parts[5][:50],))
    signal = StorySignal("1", "\n".join(parts), articles, firsts=(First("place", parts[6], ""),))
    after, messages = step({}, [warning], [signal], Moment(now, HolidayCalendar()))
    with database.engine.begin() as c:
        for rule in rules:
            add_rule(c, rule, rule.name, now)
        keep_step(c, {}, take_note(after, "1", parts[7], now), messages, now)
        for message in take_due(c, now.timestamp() + 1):
            note_failed(c, message, parts[0], now.timestamp())


def _workbook(wanted: list[str]) -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["词", "类别", "权重"])
    for payload in wanted[:100]:
        book.active.append([ILLEGAL_CHARACTERS_RE.sub("", payload)[:200], "其他", "<b>"])
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def _check_records(desk: Desk, least: int) -> None:
    """Programs get what is stored, letter for letter, as JSON that no browser takes for a page."""
    records = {}
    for path in _API:
        answer = desk.get(path)
        assert answer.headers["content-type"] == "application/json", path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.json()["next_cursor"] is None
        records[path] = answer.json()["items"]
    articles, _groups, queries = records.values()
    with desk.database.engine.connect() as c:
        rows = c.execute(text("SELECT title, author, source, text FROM article ORDER BY id"))
        stored = [(*row[:3], unpack_text(row[3])) for row in rows]
        fields = ("title", "author", "source", "text")
        assert [tuple(item[name] for name in fields) for item in articles] == stored
    assert len(articles) >= least
    assert {item["term"] for item in queries} == {part[:25] for part in OURS}


def test_payloads_do_nothing_in_any_page(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    wanted = payloads()
    with Database.open(url) as database:
        make_tables(database)
        _fill(database, wanted)
        _fill_work(database, wanted)
        _fill_warnings(database, wanted)
    with desk_at(url) as desk:
        desk.log_in_as("administrator")
        session = desk.client.cookies[credentials.SESSION]
        files = {"file": ("<img src=x onerror=alert(1)>.xlsx", _workbook(wanted))}
        fields = {"topic": PACK.name, "csrf_token": desk.token}
        preview = desk.client.post("/topics/import", data=fields, files=files).headers["location"]
        _check_records(desk, len(wanted))
    lists = -(-(len(wanted) + 4) // _ROWS)
    paths = [f"/articles?relevance=any&copies=1&page={page + 1}" for page in range(lists)]
    paths += ["/articles/1", "/articles/1/fields", "/articles/1/reasons", "/people/changes",
              f"/articles/facets?relevance=any&site={_IN_ADDRESS}&region=%22%3E{_IN_ADDRESS}",
              f"/articles?q={_IN_ADDRESS}&tag=%22%3E{_IN_ADDRESS}"]  # fmt: skip
    paths += [preview, *_WORK, *_API]
    with served(url) as base, chromium() as browser:
        # Without the policy: what is not escaped would run.
        assert _look_at(browser, base, session, paths, bypass_csp=True) >= len(wanted) + 4
        # A stored page is shown as it came: there the policy is what protects.
        _look_at(browser, base, session, _STORED, bypass_csp=False)
    if EXTERNAL.is_dir():
        assert len(wanted) > 700


def _look_at(
    browser: Browser, base: str, session: str, paths: Sequence[str], *, bypass_csp: bool
) -> int:
    """How many rows the pages have, none of which runs anything or loads it from elsewhere."""
    acts: list[str] = []

    def note_request(request: Request) -> None:
        refused = request.failure in ("csp", "net::ERR_BLOCKED_BY_CSP")
        if not refused and not request.url.startswith((base, "data:", "about:")):
            acts.append(f"{request.url} {request.failure}")

    with new_context(browser, bypass_csp=bypass_csp) as context:
        context.add_cookies([{"name": credentials.SESSION, "value": session, "url": base}])
        context.add_init_script(
            "for (const name of ['alert', 'confirm', 'prompt', 'print', 'eval'])"
            " window[name] = () => console.error('PAYLOAD RAN');"
        )
        page = context.new_page()
        page.on("console", lambda line: acts.append(line.text) if "PAYLOAD" in line.text else None)
        page.on("dialog", lambda dialog: (acts.append(dialog.message), dialog.dismiss()))
        page.on("requestfailed", note_request)
        page.on("requestfinished", note_request)
        rows = 0
        for path in paths:
            answer = page.goto(base + path)
            assert answer is not None
            assert answer.status == 200, path
            assert page.url == base + path
            rows += page.locator(".console-row").count()
            if path not in _STORED[-1:]:
                assert page.locator("a[href^='javascript' i], [onerror], [onload]").count() == 0, (
                    path
                )
            assert acts == [], path
    return rows


def test_stored_markup_is_written_anew() -> None:
    for payload in payloads():
        written = shown_html(payload, ["x"])
        assert "<script" not in written
        assert (
            "javascript:" not in written.lower()
            or "href=" not in written.lower().split("javascript:")[0].rsplit("<", 1)[-1]
        )
    deep = shown_html("<div><blockquote>" * 3000 + "tief", ())
    assert "tief" in deep
    assert len(deep) < 10_000


@pytest.mark.parametrize("scheme", _SCHEMES)
def test_only_web_addresses_are_links(scheme: str) -> None:
    written = shown_html(f'<a href="{scheme}x">y</a><img src="{scheme}x">', ())
    assert "href" not in written
    assert "<img" not in written
    assert BASE not in written
