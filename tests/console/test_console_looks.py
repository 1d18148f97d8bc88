"""How every page looks in Chromium: in both languages, light and dark, wide and narrow."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, Page

from console_articles import FOREIGN, add_foreign, add_stories
from console_browser import chromium, new_context, served
from fresh_schema import make_tables
from model_server import write_drafts
from qiaocrawl.console.security import credentials
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.items import PagePicture
from qiaocrawl.news.warnings.channels import PROGRAM, keep_channel, seal_address
from qiaocrawl.news.warnings.delivery import deliver_due
from qiaocrawl.news.warnings.hooks import Hook, keep_hook, stop_hook
from qiaocrawl.news.warnings.office_rules import add_rule
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.signed import new_secret, signed_address
from qiaocrawl.news.writing.checking import Fault
from qiaocrawl.news.writing.kept_translations import keep_translation
from qiaocrawl.news.writing.translation import lines_of
from qiaocrawl.news.writing.translator import TranslatedLine
from qiaocrawl.search.boards import Board, BoardEntry
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.jobs import JobRequest, add_job
from qiaocrawl.storage.pages.revisions import save_picture
from qiaocrawl.storage.schedules import Timing, add_schedule
from qiaocrawl.storage.schema import url as url_table
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.sites.accounts import add_account
from qiaocrawl.storage.sites.boards import add_boards, note_entries
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.urls import url_key
from told_stories import (
    hand_over_stories,
    keep_a_briefing,
    tell_stories,
    warn_of_stories,
    write_briefings,
)

pytestmark = pytest.mark.chromium

PICTURES = Path(__file__).parents[2] / "var" / "console"
_PAGES = {
    "today": "/", "figures": "/figures", "articles": "/articles?q=侨务", "article": "/articles/1",
    "evidence": "/articles/1/evidence", "fields": "/articles/1/fields", "people": "/people",
    "changes": "/people/changes", "tokens": "/tokens", "dead": "/dead", "api": "/api",
    "own-pushes": "/account/pushes",
    "nothing": "/articles?q=没有的词", "facets": "/articles/facets?site=www.a-qiao.cn",
    "chosen": "/articles?site=www.a-qiao.cn&site=www.b-news.cn&tier=1",
    "abroad": "/articles/8",
    "reasons": "/articles/1/reasons", "samples": "/topics/qiaoqing/samples?name=s1",
    "about": "/topics/qiaoqing/about", "schedule": "/schedules/1",
    "jobs": "/jobs", "job": "/jobs/1", "coverage": "/coverage", "topics": "/topics",
    "terms": "/topics/qiaoqing", "sites": "/topics/qiaoqing?table=sites",
    "words": "/topics/qiaoqing/words", "threshold": "/topics/qiaoqing/threshold?percent=30",
    "trends": "/trends?against=~", "trend-words": "/trends/words?days=7",
    "trend-names": "/trends/names", "trend-outlets": "/trends/outlets",
    "trend-spread": "/trends/spread", "trend-hits": "/trends/hits",
    "media": "/sites/media",
    "stories": "/stories?least=1", "story": "/stories/1", "briefings": "/briefings",
    "briefing": "/briefings/1", "desk": "/briefings/drafts/1",
    "item": "/briefings/drafts/1/items/1", "approved": "/briefings/drafts/2", "office": "/office",
    "paper": "/office/paper",
    "handovers": "/handovers", "hand-over": "/handovers/new?kind=event&number=1",
    "links": "/stories/1/links", "shared": "/shared/look", "feeds": "/sites/feeds",
    "boards": "/boards?all=1", "board-sources": "/sites/boards",
    "missed": "/coverage/missed", "why": "/coverage/url?url=http://www.a-qiao.cn/0",
    "warnings": "/warnings", "warning-rules": "/warnings/rules",
    "warning-rule": "/warnings/rules/1",
    "new-rule": "/warnings/rules/new", "warning-channels": "/warnings/channels",
    "new-channel": "/warnings/channels/new?kind=mail",
    "pushes": "/warnings/channels/pushes?name=值班群",
    "program": "/warnings/channels/program?name=平台程序",
    "rule-of-event": "/warnings/rules/new?story=1",
    "first-office": "/start", "first-topic": "/start/topic",
    "first-look": "/start/topic/qiaoqing", "password": "/password",
    "sources": "/sources", "refused": "/refused",
    "watched": "/sites", "account": "/sites/accounts/1", "new-account": "/sites/accounts/new",
    "template": "/sites/template?host=www.a-qiao.cn&hosts=www.a-qiao.cn&body=p&title=h1",
    "trial": "/sites/template/trial?url=http://www.a-qiao.cn/0&hosts=www.a-qiao.cn&body=h1",
    "engines": "/engines", "machines": "/machines", "backups": "/backups",
    "cell": "/coverage/cell?topic=qiaoqing&engine=demo&term=侨务&site=www.a.test",
}  # fmt: skip
# A page is loaded in the first dress of its language, and changes into the second as it stands.
_DRESSES = {"zh_CN": (("light", 1280), ("dark", 390)), "en": (("dark", 1280), ("light", 390))}
_HEIGHT = 844
# At once: half way between two themes axe-core would find colours that nobody sees.
_CHANGE = """theme => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* {transition: none !important}");
    document.adoptedStyleSheets = [sheet];
    document.documentElement.dataset.bsTheme = theme;
}"""


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with a few articles, two answers of an engine, an account and a job."""
    key = new_key()
    monkeypatch.setenv("QIAO_SECRET_KEY", key)
    address = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(address) as database:
        make_tables(database)
        add_stories(database)
        queries = [Query("qiaoqing", "侨务", site, "demo", 1) for site in ("", "www.a.test")]
        now = time.time()
        with database.engine.begin() as c:
            ledger.plan_queries(c, topic_id(c, "qiaoqing"), queries, now)
            ledger.record_answer(c, queries[0], ledger.Answered(AnswerState.HIT, hits=12), now)
            ledger.record_answer(c, queries[1], ledger.Answered(AnswerState.BLOCKED), now)
            add_account(c, "weibo.com", "编辑部", b"", now=datetime.now(UTC))
            add_job(c, JobRequest("site", "qiaoqing"), by="editor", machine="elsewhere",
                    now=datetime.now(UTC))  # fmt: skip
            timing = Timing("6:00, 18:30", "Asia/Shanghai", now)
            add_schedule(c, JobRequest("site", "qiaoqing"), timing, by="chief",
                         now=datetime.now(UTC))  # fmt: skip
            lists = [Board("http://boards.test/api/s?id=weibo", "微博"),
                     Board("http://boards.test/hot.html", "报社热榜")]  # fmt: skip
            add_boards(c, "qiaoqing", lists, now=now)
            number = c.execute(url_table.select().where(
                url_table.c.key == url_key(lists[0].url))).one().id  # fmt: skip
            for place, at in ((3, now - 7_200), (1, now - 3_600), (2, now)):
                shown = [BoardEntry(place, "马德里华人仓库失火"), BoardEntry(9, "侨务工作会议")]
                note_entries(c, number, shown, at)
            picture = PagePicture("image/webp", 1280, 720, True, datetime.now(UTC), b"RIFF")
            save_picture(c, 1, picture)
    tell_stories(address)
    keep_a_briefing(address)
    write_briefings(address)
    hand_over_stories(address)
    rules = (Rule("涉侨安全", "urgent", any_of=("失火", "抢劫"), least_outlets=2, within_hours=24,
                  channels=("desk",)), Rule("新地", "notice", first=("place",)))  # fmt: skip
    warn_of_stories(address, *rules)
    with Database.open(address) as database:
        with database.engine.begin() as c:
            for rule in rules:
                add_rule(c, rule, "editor", datetime.now(UTC))
            sealed = seal_address(Vault.from_option(key), "值班群", "json://127.0.0.1:9")
            keep_channel(c, "值班群", "webhook", sealed, "chief", datetime.now(UTC))
            sealed = seal_address(Vault.from_option(key), "平台程序", signed_address(
                "https://hooks.example/a", new_secret()))  # fmt: skip
            keep_channel(c, "平台程序", PROGRAM, sealed, "chief", datetime.now(UTC))
            keep_hook(c, Hook("平台程序", with_articles=True, event_outlets=2))
            stop_hook(c, "平台程序", "refused: HTTP 403")
        deliver_due(database, {}, time.time())
        write_drafts(database, 1, 1)
        abroad = add_foreign(database)
        assert _PAGES["abroad"].endswith(f"/{abroad}")
        title, *others = lines_of(*FOREIGN).lines
        lines = [TranslatedLine(title, "马尼拉火灾")]
        lines += [TranslatedLine(own, "", (Fault("number", "五"),)) for own in others]
        with database.engine.begin() as c:
            keep_translation(c, Actor("chief"), abroad, lines, "klein", left=90, trouble="迟")
    monkeypatch.setenv("QIAO_MODEL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("QIAO_MODEL_NAME", "klein")
    return address


def _log_in(context: BrowserContext, base: str, url: str) -> None:
    """Become an administrator without the time a password takes."""
    secret = credentials.new_secret()
    with Database.open(url) as database, database.engine.begin() as c:
        user = people.find_user(c, "chief")
        assert user is not None
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
        people.open_session(c, user.id, secret, "")
    context.add_cookies([{"name": credentials.SESSION, "value": secret, "url": base}])


@pytest.mark.parametrize("language", ["zh_CN", pytest.param("en", marks=pytest.mark.thorough)])
def test_every_page_looks_right_in_every_dress(
    url: str, language: str, pytestconfig: pytest.Config
) -> None:
    """No page is wider than its window, and axe-core has nothing against it.

    With ``--all`` there are pictures of all in var/.
    """
    with_pictures = bool(pytestconfig.getoption("--all"))
    wrong: list[str] = []
    with served(url) as base, chromium() as browser:
        context = new_context(browser)
        _log_in(context, base, url)
        page = context.new_page()
        theme = _DRESSES[language][0][0]
        chosen = {credentials.LANGUAGE: language, credentials.THEME: theme}
        context.add_cookies([
            {"name": name, "value": value, "url": base} for name, value in chosen.items()
        ])  # fmt: skip
        for name, path in _PAGES.items():
            answer = page.goto(base + path)
            assert answer is not None
            assert answer.status == 200, path
            assert page.locator("html").get_attribute("data-bs-theme") == theme
            wrong += [
                f"{name} {language} {fault}"
                for fault in _faults(page, name, language, with_pictures)
            ]
    assert not wrong, "\n".join(wrong)


def _faults(page: Page, name: str, language: str, with_pictures: bool) -> list[str]:
    """What is wrong with an open page, in the dresses of its language."""
    wrong = []
    # Another language changes no colour and no name of a field.
    with_axe = language == "zh_CN"
    if with_axe:
        page.evaluate(AXE_SCRIPT)
    for theme, width in _DRESSES[language]:
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        page.evaluate(_CHANGE, theme)
        if not _is_narrow_enough(page):
            wrong.append(f"{theme} {width}: wider than the window")
        found = _violations(page) if with_axe else []
        wrong += [f"{theme} {width}: {violation}" for violation in found]
        if with_pictures:
            PICTURES.mkdir(parents=True, exist_ok=True)
            picture = PICTURES / f"{name}-{language}-{theme}-{width}.png"
            page.screenshot(path=picture, full_page=True)
    return wrong


def _is_narrow_enough(page: Page) -> bool:
    """Whether the page fits its window, once it has been laid out anew."""
    root = "document.documentElement"
    # The page's policy forbids wait_for_function(), which is an eval().
    for _try in range(100):
        if page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"):
            return True
        page.wait_for_timeout(100)
    return False


def _violations(page: Page) -> list[str]:
    """What axe-core has against it, as far as it keeps somebody from using it."""
    result: dict[str, Any] = page.evaluate(
        'axe.run({exclude: [["iframe"]]}, {resultTypes: ["violations"]})'
    )
    return [
        f"{violation['id']} {[node['target'] for node in violation['nodes'][:3]]}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
