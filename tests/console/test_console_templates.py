"""Templates of sites at the console: tried on a stored page, seen on it, kept as files."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console import keepers
from qiaocrawl.extract.methods.template import body_places, marked_page
from qiaocrawl.extract.methods.template_file import load_templates
from qiaocrawl.page.page import parse_page
from qiaocrawl.storage import audit_log

URL = "http://www.a-qiao.cn/0"
FORM = {"url": URL, "hosts": "www.a-qiao.cn", "path": "*", "body": "p", "exclude": "b",
        "title": "xpath://h1"}  # fmt: skip
SHARED = (
    '<html><body><div class="nav"><a href="/1">{word}</a></div>'
    '<div id="text" class="a b"><div class="x:y">'
    + "<p>{word}在侨乡讨论侨务工作，各地代表发言。</p>" * 8 + "</div></div></body></html>"
)  # fmt: skip
_WRONG: tuple[dict[str, str], ...] = (
    {"body": "p["}, {"body": ""}, {"hosts": "../../etc/passwd"}, {"hosts": ""}, {"path": "art"},
    {"hosts": "www.other.cn"}, {"body": "xpath://p[nothing()]"}, {"exclude": "p::attr(x)"},
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that QIAO_TEMPLATES names."""
    (tmp_path / "templates").mkdir()
    monkeypatch.setenv("QIAO_TEMPLATES", str(tmp_path / "templates"))
    return tmp_path / "templates"


def test_a_template_is_tried_on_a_stored_page_and_kept(desk: Desk, folder: Path) -> None:
    add_stories(desk.database)
    desk.log_in_as("editor")
    assert "host=www.a-qiao.cn" in html.unescape(desk.get("/sites").text)
    assert desk.get("/sites/template", params={"host": "www.a-qiao.cn"}).status_code == 200
    words = visible(desk.get("/sites/template", params=FORM).text)
    assert "侨务工作会议召开" in words
    assert "各地 讨论华侨农场。" in words, "without what is excluded"
    page = desk.get("/sites/template/page", params=FORM)
    assert "sandbox" in page.headers["content-security-policy"]
    mark = re.search(r"data-\w{16}-body", page.text)
    assert mark is not None
    inner = html.unescape(re.search(r'srcdoc="(.*?)"></iframe>', page.text, re.S)[1])  # type: ignore[index]
    assert f'<p {mark[0]}=""' in inner
    assert re.search(r"<b data-\w+-exclude", inner)
    assert re.search(r"<h1 data-\w+-title", inner)
    assert desk.post("/sites/template", **FORM).status_code == 303
    (file,) = folder.iterdir()
    template = load_templates(str(folder)).find_for(URL)
    assert template is not None
    assert keepers.form_of(template)["exclude"] == "b"
    assert "xpath://h1" in desk.get("/sites/template", params={"url": URL}).text
    assert desk.post("/sites/template", **FORM, remove="yes").status_code == 303
    assert not file.exists()
    with desk.database.engine.connect() as c:
        actions = [entry.action for entry in audit_log.entries(c)]
    assert actions[:2] == ["template.drop", "template.save"]


def test_what_has_faults_is_told_and_not_kept(sqlite_desk: Desk, folder: Path) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    # One console for all: each starts a process that tries templates.
    for wrong in _WRONG:
        shown = sqlite_desk.get("/sites/template", params={**FORM, **wrong})
        assert shown.status_code == 200, wrong
        assert "alert-danger" in shown.text, wrong
        assert sqlite_desk.post("/sites/template", **{**FORM, **wrong}).status_code == 400, wrong
        assert list(folder.iterdir()) == [], wrong


def test_a_template_that_another_file_hides_is_not_kept(sqlite_desk: Desk, folder: Path) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    (folder / "a.toml").write_text('[[template]]\nhosts = ["www.a-qiao.cn"]\nbody = "h1"\n')
    assert sqlite_desk.post("/sites/template", **FORM).status_code == 400
    assert [file.name for file in folder.iterdir()] == ["a.toml"]


def test_without_a_folder_the_file_is_shown_only(sqlite_desk: Desk) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    page = sqlite_desk.get("/sites/template", params=FORM).text
    assert "[[template]]" in page
    assert 'formmethod="post"' not in page
    assert sqlite_desk.post("/sites/template", **FORM).status_code == 400
    for nowhere in ({"host": "nothing.test"}, {}):
        assert "Start a crawl" in sqlite_desk.get("/sites/template", params=nowhere).text
    gone = {"url": "http://nothing.test/"}
    assert sqlite_desk.get("/sites/template", params=gone).status_code == 404


def test_places_of_bodies_are_proposed_and_marks_cannot_be_foreseen() -> None:
    page = parse_page(SHARED.format(word="侨务").encode(), "text/html; charset=utf-8", URL)
    assert body_places(page) == ["div#text"]
    form = {"hosts": "www.a-qiao.cn", "body": "#text", "links": "xpath://div[@class='nav']"}
    template = keepers.check_template(keepers.table_of(form))
    first, second = (marked_page(page, template) for _ in range(2))
    assert first != second
    assert len(re.findall(r"data-\w{16}-body=", first)) == 1
    assert len(re.findall(r"data-\w{16}-links=", first)) == 1
    for values in (form, {**form, "links": "", "links_list": "a\nb", "title": 'q\\"\x7f[a="é"]'}):
        table = keepers.table_of(values)
        assert "\x7f" not in keepers.template_text(table)
