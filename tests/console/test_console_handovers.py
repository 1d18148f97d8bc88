"""What colleagues hand to each other, and what strangers read by a link for a while."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta

import pytest

from console_client import Desk, visible
from qiaocrawl.console.pages.event_links import MOST_LOOKS
from qiaocrawl.console.security import credentials
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.storage import people
from qiaocrawl.text.zones import SHANGHAI
from told_stories import make_stories, warn_of_stories


@pytest.fixture
def office(desk: Desk, database_url: str) -> Desk:
    """An editor at a console over two stories, with a reader and an administrator."""
    make_stories(database_url)
    for role in people.ROLES:
        desk.log_in_as(role)
    desk.log_in_as("editor")
    return desk


def user_row(desk: Desk, name: str) -> int:
    """The row of a user."""
    with desk.database.reading() as c:
        user = people.find_user(c, name)
    assert user is not None
    return user.id


def day(days: int) -> str:
    """A day from today on, in China."""
    return (datetime.now(SHANGHAI) + timedelta(days=days)).date().isoformat()


def things(desk: Desk) -> dict[str, str]:
    """The number of an event and of an article of it."""
    story = re.findall(r'/stories/(\d+)"><strong>[^<]*马德里', desk.get("/stories").text)[0]
    article = re.findall(r'href="/articles/(\d+)"', desk.get(f"/stories/{story}").text)[0]
    return {"event": story, "article": article}


def give(desk: Desk, kind: str, number: str, **fields: object) -> object:
    """Hand a thing to the reader."""
    values = {"receiver": user_row(desk, "reader"), "due": "", "note": "请核实。", **fields}
    return desk.post("/handovers", kind=kind, number=number, **values)


def waiting(office: Desk) -> int:
    """How many things the menu says were handed to whoever looks."""
    (entry,) = set(re.findall(r'<a href="/handovers"[^>]*>(.*?)</a>', office.get("/").text, re.S))
    number = re.search(r'class="desk-count"[^>]*>(\d+)<', entry)
    return int(number[1]) if number else 0


def test_things_are_handed_over_answered_and_done(office: Desk, database_url: str) -> None:
    warn_of_stories(database_url, Rule("安全", "urgent", any_of=("失火",), least_outlets=1))
    (warning,) = set(re.findall(r'id="w-([\w-]+)"', office.get("/warnings").text))
    own = {**things(office), "warning": warning}
    for kind, page in (("event", f"/stories/{own['event']}"), ("warning", "/warnings"),
                       ("article", f"/articles/{own['article']}")):  # fmt: skip
        (form,) = set(
            re.findall(rf'href="(/handovers/new\?kind={kind}[^"]*)"', office.get(page).text)
        )
        assert office.get(html.unescape(form)).status_code == 200
        assert give(office, kind, own[kind], due=day(1)).status_code == 303, kind
    assert waiting(office) == 0, "nothing was handed to the editor"
    office.log_in_as("reader")
    page = office.get("/handovers").text
    assert waiting(office) == 3
    assert page.count("请核实。") == 3
    for link in (f"/stories/{own['event']}", f"/articles/{own['article']}", f"#w-{warning}"):
        assert link in page
    first, second, third = re.findall(r'id="h-(\d+)"', page)
    assert office.post(f"/handovers/{first}/answer", action="answer", text="").status_code == 400
    assert office.post(f"/handovers/{first}/answer", action="x", text="").status_code == 400
    assert (
        office.post(f"/handovers/{first}/answer", action="answer", text="正在核实。").status_code
        == 303
    )
    assert (
        office.post(f"/handovers/{second}/answer", action="done", text="已核实。").status_code
        == 303
    )
    assert waiting(office) == 2
    assert office.post(f"/handovers/{second}/answer", action="open").status_code == 303
    assert office.post(f"/handovers/{second}/answer", action="open").status_code == 400
    office.post(f"/handovers/{second}/answer", action="done")
    assert (
        office.post(
            f"/handovers/{third}/pass", receiver=user_row(office, "administrator")
        ).status_code
        == 303
    )
    assert office.post("/handovers/99999/answer", action="done").status_code == 404
    office.log_in_as("editor")
    words = visible(office.get("/handovers").text)
    for said in ("正在核实。", "已核实。", "to administrator"):
        assert said in words
    office.log_in_as("administrator")
    assert waiting(office) == 1
    changes = visible(office.get("/people/changes").text)
    for said in ("handed something over", "answered a hand-over", "another colleague"):
        assert said in changes


def test_a_wrong_hand_over_stays_in_its_form_with_the_reason(office: Desk) -> None:
    number = things(office)["event"]
    for wrong, said in (({"receiver": ""}, "choose a colleague"), ({"receiver": "x"}, "must be"),
                        ({"receiver": "99999"}, "choose a colleague"), ({"due": "soon"}, "'soon'"),
                        ({"due": "2020-01-01"}, "over already")):  # fmt: skip
        answer = give(office, "event", number, **wrong)
        assert answer.status_code == 400, wrong
        assert said in visible(html.unescape(answer.text)), wrong
        assert "请核实。" in answer.text, "what was typed stays"
    for kind, row in (("event", "99999"), ("event", "x"), ("article", "99999"), ("warning", "x"),
                      ("person", "1")):  # fmt: skip
        assert give(office, kind, row).status_code == 404, (kind, row)
        assert office.get(f"/handovers/new?kind={kind}&number={row}").status_code == 404
    assert office.get("/handovers/new").status_code == 404


def test_others_have_no_say_and_what_is_late_is_told(office: Desk) -> None:
    number = things(office)["event"]
    give(office, "event", number, receiver=user_row(office, "administrator"), due=day(0))
    (row,) = re.findall(r'id="h-(\d+)"', office.get("/handovers").text)
    office.log_in_as("reader")
    assert office.post(f"/handovers/{row}/answer", action="done").status_code == 403
    assert office.post(f"/handovers/{row}/pass", receiver="1").status_code == 403
    assert "请核实。" not in office.get("/handovers").text
    office.log_in_as("administrator")
    assert "overdue" not in visible(office.get("/handovers").text), "today is not over"
    with office.database.engine.begin() as c:
        c.exec_driver_sql("UPDATE handover SET due = '2025-01-02'")
    assert "1 thing handed to you is overdue." in visible(office.get("/handovers").text)


def test_what_a_disabled_colleague_had_is_told_and_given_to_another(office: Desk) -> None:
    give(office, "event", things(office)["event"])
    office.log_in_as("administrator")
    reader = user_row(office, "reader")
    office.post(f"/people/{reader}", disabled="yes")
    told = visible(office.get("/people").text)
    assert "1 thing handed to them is not done." in told
    page = office.get("/handovers").text
    assert "Nobody does these any more" in visible(page)
    (at,) = set(re.findall(r'action="(/handovers/\d+/pass)"', page))
    assert office.post(at, receiver=reader).status_code == 400, "they cannot log in"
    assert office.post(at, receiver=user_row(office, "editor")).status_code == 303
    assert "Nobody does these" not in visible(office.get("/handovers").text)
    office.log_in_as("editor")
    assert waiting(office) == 1


def make_link(desk: Desk, story: str, **fields: object) -> str:
    """Make a link for an event; its path."""
    answer = desk.post(f"/stories/{story}/links", **{"receiver": "市台办", "days": "7", **fields})
    assert answer.status_code == 200, visible(answer.text)
    (path,) = re.findall(r"http://console\.test(/shared/[\w-]+)", answer.text)
    return str(path)


def test_a_link_opens_one_event_to_anybody_until_it_is_revoked(office: Desk) -> None:
    story = things(office)["event"]
    assert "/links" in office.get(f"/stories/{story}").text
    path = make_link(office, story)
    assert path not in office.get(f"/stories/{story}/links").text, "shown once"
    for wrong in ({"days": "8"}, {"days": "x"}, {"receiver": ""}):
        sent = {"receiver": "市台办", "days": "7", **wrong}
        assert office.post(f"/stories/{story}/links", **sent).status_code == 400, wrong
    assert office.post("/stories/99999/links", receiver="x", days="7").status_code == 404
    office.log_in_as("")
    opened = office.get(path)
    assert opened.status_code == 200
    words = visible(opened.text)
    assert "马德里" in words
    assert "市台办" in words
    assert "槟城" not in words, "that event alone"
    for inside in ("/stories/", "/articles/", "<nav", "<form"):
        assert inside not in opened.text
    assert "noindex" in opened.headers["x-robots-tag"]
    assert opened.headers["cache-control"] == "no-store"
    assert 'content="noindex' in opened.text
    assert office.get("/shared/guess").status_code == 404
    assert office.get(f"/stories/{story}").status_code == 303, "all else asks for a log-in"
    office.log_in_as("editor")
    listed = office.get(f"/stories/{story}/links").text
    assert "last looked at" in visible(listed)
    (revoke,) = re.findall(r'action="(/links/\d+/revoke)"', listed)
    assert office.post(revoke, story=story).status_code == 303
    assert office.post(revoke, story=story).status_code == 404
    office.log_in_as("administrator")
    changes = visible(office.get("/people/changes").text)
    assert "made a link for others" in changes
    assert "revoked a link for others" in changes
    office.log_in_as("")
    gone = office.get(path)
    assert (gone.status_code, "马德里" in gone.text) == (404, False)
    assert visible(gone.text) == visible(office.get("/shared/guess").text)


def test_a_link_ends_by_itself_and_with_who_made_it(office: Desk) -> None:
    story = things(office)["event"]
    first, second = make_link(office, story, days="1"), make_link(office, story)
    with office.database.engine.begin() as c:
        old = datetime(2025, 1, 1, tzinfo=UTC).strftime("%Y-%m-%d %H:%M:%S.000000")
        c.exec_driver_sql(f"UPDATE event_link SET ends_at = '{old}' WHERE id = 1")
    office.log_in_as("")
    assert (office.get(first).status_code, office.get(second).status_code) == (404, 200)
    office.log_in_as("administrator")
    office.post(f"/people/{user_row(office, 'editor')}", disabled="yes")
    office.log_in_as("")
    assert office.get(second).status_code == 404


def test_who_guesses_links_is_held_up(sqlite_desk: Desk) -> None:
    codes = [sqlite_desk.get(f"/shared/guess{at}").status_code for at in range(MOST_LOOKS + 1)]
    assert codes == [404] * MOST_LOOKS + [429]
    held = sqlite_desk.get("/shared/guess")
    assert held.headers["retry-after"] == "60"
    sqlite_desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    assert "请等一分钟" in visible(sqlite_desk.get("/shared/guess").text)
