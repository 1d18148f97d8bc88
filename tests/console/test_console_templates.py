"""Templates of sites at the console: shown by clicking, tried on stored pages, with versions."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console import template_form
from qiaocrawl.console.template_choice import choose, numbered
from qiaocrawl.extract.methods.template import body_places
from qiaocrawl.page.page import Page, parse_page
from qiaocrawl.storage import audit_log
from qiaocrawl.storage.sites.templates import templates_in_force
from shown_site import FORM, HOST, SHARE, TITLES, add_site, markup

URL = f"http://{HOST}/0"
MARK = "data-0123456789abcdef"
_WRONG: tuple[dict[str, str], ...] = (
    {"body": "p["}, {"hosts": "../../etc/passwd"}, {"hosts": ""}, {"path": "art"},
    {"hosts": "www.other.cn"}, {"body": "xpath://p"}, {"exclude": "p::attr(x)"},
    {"hosts": f"{HOST}\nwww.b.cn"}, {"links": "xpath://a"},
)  # fmt: skip


def _parsed(number: int) -> Page:
    url = f"http://{HOST}/{number}"
    return parse_page(markup(number).encode(), "text/html; charset=utf-8", url)


def _number_of(page: Page, selector: str) -> int:
    """What the browser would send for a click on *selector*."""
    tree, nodes = numbered(page.source)
    (wanted,) = tree.css(selector)[:1]
    return next(at for at, node in enumerate(nodes) if node.mem_id == wanted.mem_id)


@pytest.mark.parametrize(
    ("what", "clicked", "selector"),
    [("title", ".biaoti", "div.biaoti"), ("date", ".riqi", "span.riqi"),
     ("body", ".neirong p", "div.neirong"), ("source", ".xinxi", "div.xinxi"),
     ("exclude", ".fenxiang", "p.fenxiang")],
)  # fmt: skip
def test_a_click_finds_the_same_place_on_other_pages(
    what: str, clicked: str, selector: str
) -> None:
    page, others = _parsed(0), [_parsed(number) for number in range(1, 5)]
    choice = choose(page, what, _number_of(page, clicked), others)
    assert choice.selector == selector
    assert "4 of 4" in choice.words


def test_a_number_that_changes_with_the_page_is_no_place() -> None:
    page, others = _parsed(0), [_parsed(1)]
    choice = choose(page, "source", _number_of(page, ".main"), others)
    assert choice.selector == "div.main"
    for nowhere in (-1, 10**6, _number_of(page, "body")):
        assert not choose(page, "title", nowhere, others).selector


def test_a_place_without_a_name_is_told_by_its_way() -> None:
    source = "<body><div><p>甲</p></div><div><p>乙</p><p>丙</p></div></body>"
    page = parse_page(source.encode(), "text/html; charset=utf-8", URL)
    selector = choose(page, "author", _number_of(page, "div + div p + p"), []).selector
    (found,) = page.tree.css(selector)
    assert found.text() == "丙"


def test_a_template_is_tried_kept_and_taken_back(desk: Desk) -> None:
    add_site(desk.database)
    desk.log_in_as("editor")
    opened = desk.get("/sites/template", params={"host": HOST})
    assert opened.status_code == 200
    assert 'role="alert"' not in opened.text, "nobody has done anything wrong yet"
    assert "found automatically" in visible(opened.text)
    number = _number_of(_parsed(0), ".biaoti")
    asked = {"url": URL, "hosts": HOST, "path": "*", "what": "title", "number": str(number)}
    answer = desk.get("/sites/template/choose", params=asked).json()
    assert answer["selector"] == "div.biaoti"
    assert TITLES[0] in visible(answer["html"])
    trial = desk.get("/sites/template/trial", params={"url": URL, **FORM, "exclude": ".fenxiang"})
    words = visible(trial.text)
    assert "Tried on 5 stored pages" in words
    assert "侨乡报" in words
    assert 'method="post"' in trial.text
    assert not _in_force(desk), "a trial changes nothing"
    assert desk.post("/sites/template", url=URL, **FORM).status_code == 303
    assert _in_force(desk)[0].content["title"] == ["div.biaoti"]  # type: ignore[index]
    shown = visible(desk.get("/sites/template", params={"url": URL}).text)
    assert "Version 1" in shown
    assert "tried on 5 pages" in shown
    assert desk.post("/sites/template", url=URL, **{**FORM, "body": ""}).status_code == 303
    assert "body" not in _in_force(desk)[0].content  # type: ignore[operator]
    assert desk.post("/sites/template/restore", url=URL, version="1").status_code == 303
    assert _in_force(desk)[0].id == 3
    assert _in_force(desk)[0].content["body"] == ["div.neirong"]  # type: ignore[index]
    assert desk.post("/sites/template", url=URL, **FORM, remove="yes").status_code == 303
    assert not _in_force(desk)
    with desk.database.engine.connect() as c:
        entries = audit_log.entries(c)
    actions = [entry.action for entry in entries]
    assert actions[:4] == ["template.drop", "template.restore", "template.save", "template.save"]
    assert json.loads(entries[1].before).get("body") is None
    assert json.loads(entries[1].after)["body"] == ["div.neirong"]


def _in_force(desk: Desk):  # type: ignore[no-untyped-def]
    with desk.database.reading() as c:
        return templates_in_force(c)


def test_stored_pages_are_read_anew_as_a_job(desk: Desk) -> None:
    add_site(desk.database)
    desk.log_in_as("editor")
    assert desk.post("/sites/template/reread", host="www.nothing.cn").status_code == 400
    assert desk.post("/sites/template/reread", host=HOST).status_code == 303
    with desk.database.engine.connect() as c:
        (row,) = c.execute(text("SELECT spider, arguments FROM job")).all()
    assert row.spider == "reread"
    assert json.loads(row.arguments) == {"host": HOST}
    assert "Read stored pages anew" in visible(desk.get("/jobs/1").text)
    assert 'value="reread"' not in desk.get("/jobs").text, "it needs a site"
    assert desk.post("/jobs", spider="reread", topic="qiaoqing").status_code == 400


def test_the_page_that_is_clicked_on_can_do_nothing(sqlite_desk: Desk) -> None:
    add_site(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    page = sqlite_desk.get("/sites/template/page", params={"url": URL, "mark": MARK})
    policy = page.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-same-origin; default-src 'none'")
    assert "allow-scripts" not in policy
    for sign in ("<script", "http-equiv", "<link", "elsewhere.test/a.png", "onerror", "href"):
        assert sign not in page.text, sign
    assert f'class="biaoti" {MARK}=' in page.text
    # What it names anywhere else is forbidden by the policy: @import of a style.
    assert sqlite_desk.get("/sites/template/page", params={"url": URL}).status_code == 404
    wrong = {"url": URL, "mark": 'x" onload="'}
    assert sqlite_desk.get("/sites/template/page", params=wrong).status_code == 404


def test_what_has_faults_is_told_and_not_kept(sqlite_desk: Desk) -> None:
    add_site(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    for wrong in _WRONG:
        shown = sqlite_desk.get("/sites/template", params={"url": URL, **FORM, **wrong})
        assert shown.status_code == 200, wrong
        assert 'role="alert"' in shown.text, wrong
        tried = sqlite_desk.get("/sites/template/trial", params={"url": URL, **FORM, **wrong})
        assert tried.status_code == 303, wrong
        answer = sqlite_desk.post("/sites/template", url=URL, **{**FORM, **wrong})
        assert answer.status_code == 400, wrong
    empty = {**dict.fromkeys(template_form.FIELDS, ""), "hosts": HOST, "path": "*"}
    assert sqlite_desk.post("/sites/template", url=URL, **empty).status_code == 400
    nothing = {**empty, "body": "div.nowhere"}
    assert sqlite_desk.post("/sites/template", url=URL, **nothing).status_code == 400
    assert not _in_force(sqlite_desk)


def test_a_trial_says_what_is_lost(sqlite_desk: Desk) -> None:
    add_site(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    bad = {"url": URL, "hosts": HOST, "path": "*", "title": ".top", "body": "p.fenxiang"}
    words = visible(sqlite_desk.get("/sites/template/trial", params=bad).text)
    assert "lose more than half of their words" in words
    assert "Title would be the same on all pages: “甲侨网首页”." in words
    gone = {**bad, "title": "", "body": "div.nowhere, div.neirong:has(h1)"}
    words = visible(sqlite_desk.get("/sites/template/trial", params=gone).text)
    assert "5 pages have no text at the chosen place" in words
    assert SHARE in html.unescape(sqlite_desk.get("/sites/template/trial", params=bad).text)


def test_the_operators_file_goes_before(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_site(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    (tmp_path / "a.toml").write_text(f'[[template]]\nhosts = ["{HOST}"]\nbody = "h1"\n')
    monkeypatch.setenv("QIAO_TEMPLATES", str(tmp_path))
    # Bodies are read by files only with that method.
    assert sqlite_desk.post("/sites/template", url=URL, **FORM).status_code == 303
    monkeypatch.setenv("QIAO_EXTRACT_METHOD", "template")
    words = visible(sqlite_desk.get("/sites/template", params={"url": URL}).text)
    assert "goes before what is saved here" in words
    answer = sqlite_desk.post("/sites/template", url=URL, **{**FORM, "author": ""})
    assert answer.status_code == 400
    assert [one.id for one in _in_force(sqlite_desk)] == [1]
    (tmp_path / "a.toml").write_text("[[template]]\nhosts = 3\n")
    assert sqlite_desk.get("/sites/template", params={"url": URL}).status_code == 200


def test_without_a_stored_page_there_is_nothing_to_click_on(sqlite_desk: Desk) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    for nowhere in ({"host": "nothing.test"}, {}):
        assert "Start a crawl" in sqlite_desk.get("/sites/template", params=nowhere).text
    for page in ("template", "template/page", "template/choose", "template/trial"):
        gone = {"url": "http://nothing.test/", "mark": MARK}
        assert sqlite_desk.get(f"/sites/{page}", params=gone).status_code == 404
    assert sqlite_desk.post("/sites/template/restore", url=URL, version="9").status_code == 404


def test_places_of_bodies_are_proposed_and_forms_become_files() -> None:
    assert body_places(_parsed(0))[0] == "div.neirong"
    form = {"hosts": HOST, "body": "#text", "links_list": "a\nb", "title": 'q\\"\x7f[a="é"]'}
    table = template_form.table_of(form)
    assert "\x7f" not in template_form.template_text(table)
    assert re.search(r'links = \{"list" = \["a", "b"\]\}', template_form.template_text(table))
