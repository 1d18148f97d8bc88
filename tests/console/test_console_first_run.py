"""From an empty console to its first articles: password, office, topic, what it finds, a run."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console.app import first_administrator
from qiaocrawl.console.security import credentials
from qiaocrawl.storage.topics.topics import list_topics, load_pack

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def _begin(desk: Desk) -> str:
    """Log in with the first password and choose another; where that leads to."""
    password = first_administrator(desk.database)
    desk.get("/log-in")
    answer = desk.post("/log-in", name="admin", password=password, next="/articles?q=侨")
    assert answer.status_code == 303
    own = desk.client.cookies[credentials.SESSION]
    assert desk.get("/articles?q=侨").headers["location"] == "/password"
    assert "Somebody else knows your password" in visible(desk.get("/password").text)
    fields = {"old": password, "new": "a-new-pass-word", "again": "a-new-pass-word"}
    fields["csrf_token"] = credentials.form_token(own)
    answer = desk.client.post("/password", data=fields)
    assert answer.status_code == 303
    return answer.headers["location"]


def test_a_newcomer_comes_to_a_run_without_another_page(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    assert _begin(desk) == "/start"
    desk.log_in_as("administrator")
    page = visible(desk.get("/start").text)
    assert "What is your office called?" in page
    assert desk.post("/start", name="某市侨办").headers["location"] == "/start/topic"
    assert "某市侨办" in visible(desk.get("/start/topic").text)
    made = desk.post("/topics/new", flow="first", title="养老与华教", words="养老 中文学校")
    assert made.headers["location"] == "/start/topic/t1"
    page = desk.get("/start/topic/t1").text
    words = visible(page)
    assert "养老与华教" in words
    assert "Nothing has been collected yet" in words
    assert "t1" not in words, "the name that the program made is shown to nobody"
    started = desk.post("/start/topic/t1/collect", line="medium")
    assert started.headers["location"] == "/jobs/1"
    # Twice pressed: one run.
    assert desk.post("/start/topic/t1/collect").headers["location"] == "/jobs"
    with desk.database.engine.connect() as c:
        assert c.execute(text("SELECT spider, topic FROM job")).all() == [("round", "t1")]


def test_where_somebody_wanted_to_is_kept_over_log_in_and_password(sqlite_desk: Desk) -> None:
    add_stories(sqlite_desk.database)
    assert _begin(sqlite_desk) == "/articles?q=%E4%BE%A8"


def test_the_preview_counts_stored_articles_and_its_line_is_kept(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = sqlite_desk
    monkeypatch.setattr("qiaocrawl.console.pages.first_run.LEAST_ARTICLES", 3)
    add_stories(desk.database)
    desk.log_in_as("editor")
    with desk.database.reading() as c:
        (known,) = list_topics(c)
        title = c.execute(text("SELECT title FROM article ORDER BY id")).scalars().first()
    word = re.findall("[\u4e00-\u9fff]{2}", str(title))[0]
    made = desk.post("/topics/new", flow="first", words=word)
    place = made.headers["location"]
    words = visible(desk.get(place).text)
    found = re.search(r"Of the newest (\d+) articles, (\d+) would be on topic", words)
    assert found
    assert 0 < int(found[2]) <= int(found[1])
    assert f"<mark>{word}</mark>" in desk.get(place).text
    counts = [int(number) for number in re.findall(r"(?:wide|medium|strict) \((\d+)\)", words)]
    assert len(counts) == 3
    assert counts == sorted(counts, reverse=True)
    name = place.rpartition("/")[2]
    with desk.database.reading() as c:
        before = load_pack(c, name).threshold
    assert desk.post(f"{place}/collect", line="wide").status_code == 303
    with desk.database.reading() as c:
        assert load_pack(c, name).threshold < before
    assert known.name != name


def test_a_workbook_and_a_ready_topic_lead_to_the_preview(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as("editor")
    assert desk.get("/start").status_code == 403
    file = ("词表.csv", "关键词,类别\n华侨农场,机构\n".encode(), "text/csv")
    fields = {"topic": "农场", "flow": "first", "csrf_token": desk.token}
    sent = desk.client.post("/topics/import", data=fields, files={"file": file})
    assert sent.status_code == 303, visible(sent.text)
    taken = desk.post(sent.headers["location"])
    assert taken.headers["location"] == "/start/topic/t1"
    assert "农场" in visible(desk.get("/start/topic/t1").text)
    taken = desk.post("/topics/shipped", name="qiaoqing", flow="first")
    assert taken.headers["location"] == "/start/topic/qiaoqing"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "PNG, JPEG or WebP"),
        (b"RIFF\0\0\0\0WAVE", "PNG, JPEG or WebP"),
        (PNG + b"\0" * 300_000, "too large"),
    ],
)
def test_what_is_no_small_picture_is_no_mark(sqlite_desk: Desk, data: bytes, said: str) -> None:
    desk = sqlite_desk
    desk.log_in_as("administrator")
    for path in ("/office", "/start"):
        fields = {"name": "某市侨办", "csrf_token": desk.token}
        answer = desk.client.post(path, data=fields, files={"mark": ("a.png", data, "image/png")})
        assert answer.status_code == 400
        assert said in visible(answer.text)
        assert 'value="某市侨办"' in answer.text
    assert desk.get("/office/mark").status_code == 404


def test_name_and_mark_stand_where_nobody_is_logged_in_yet(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as("administrator")
    fields = {"name": "某市侨办<b>", "csrf_token": desk.token}
    desk.client.post("/office", data=fields, files={"mark": ("a.png", PNG, "image/png")})
    desk.log_in_as("")
    page = desk.get("/log-in").text
    assert "某市侨办&lt;b&gt;" in page
    (address,) = set(re.findall(r'src="(/office/mark\?[0-9a-f]+)"', page))
    mark = desk.get(address)
    assert (mark.content, mark.headers["content-type"]) == (PNG, "image/png")
    assert mark.headers["x-content-type-options"] == "nosniff"
    told = desk.get("/manifest.webmanifest").json()
    assert told["name"].endswith("某市侨办<b>")
    for icon in told["icons"]:
        assert desk.get(icon["src"]).headers["content-type"] == "image/png"
    desk.log_in_as("administrator")
    desk.post("/office", name="", drop_mark="yes")
    assert desk.get("/office/mark").status_code == 404
    with desk.database.engine.connect() as c:
        actions = c.execute(text("SELECT action FROM audit_entry WHERE action LIKE 'office%'"))
        assert actions.scalars().all() == ["office.change"] * 2


def test_open_warnings_are_counted_in_the_menu(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as("reader")
    assert "desk-count" not in desk.get("/").text
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.000000")
    with desk.database.engine.begin() as c:
        for number, status in enumerate(("open", "open", "closed")):
            c.execute(text("INSERT INTO story_warning (opened_for, story, severity, status, "
                           "changed_at, record) VALUES (:n, :n, 'urgent', :s, :at, '{}')"),
                      {"n": f"s{number}", "s": status, "at": now})  # fmt: skip
    desk.post("/preferences", theme="light")
    page = desk.get("/people/changes").text
    assert re.search(r'class="desk-count"[^>]*>2<', page)


def test_typed_words_are_tried_before_there_is_a_topic(desk: Desk) -> None:
    desk.log_in_as("editor")
    form = {"flow": "first", "title": "侨", "words": "侨务，球赛 没有的词"}
    empty = desk.post("/start/preview", **form)
    assert "Nothing has been collected yet" in visible(empty.text)
    add_stories(desk.database)
    page = desk.post("/start/preview", **form)
    words = visible(page.text)
    assert "Of the newest 4 articles, 3 would be on topic." in words
    assert "That is about 21 a week." in words
    assert "昨晚的 球赛" in words
    assert "In none of them: 没有的词" in words
    assert 'value="侨务，球赛 没有的词"' in page.text, "the form keeps what was typed"
    with desk.database.reading() as c:
        assert [topic.name for topic in list_topics(c)] == ["qiaoqing"]
    # Half written, nothing is said; too long, the fault stands there.
    assert "newest" not in visible(desk.post("/start/preview", flow="first", words=" ").text)
    wrong = desk.post("/start/preview", flow="first", words="侨" * 500)
    assert wrong.status_code == 200
    assert 'role="alert"' in wrong.text
