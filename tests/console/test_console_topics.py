"""Topics at the console: an Excel list with bad rows, edits, exports, words, the threshold."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import openpyxl
import pytest

from console_client import Desk, visible
from qiaocrawl.items import PageText
from qiaocrawl.relevance.scorer import make_scorer
from qiaocrawl.storage import audit_log
from qiaocrawl.storage.pages.articles import save_relevance
from qiaocrawl.storage.topics.judgements import judged_pack, save_judgement
from qiaocrawl.storage.topics.topics import load_pack, topic_id
from storage_samples import PACK, add_article, add_topic

EDITOR = "editor"


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "词表"
    for row in (["词", "类别", "权重"], ["侨胞", "群体", 2], ["侨乡", "地域", "很多"],
                ["华" * 50, "其他", 1], ["", "其他", 1], ["=1+1", "其他", 99],
                ["<img src=x onerror=alert(1)>", "其他", 1]):  # fmt: skip
        sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _send(desk: Desk, topic: str, data: bytes, name: str = "词.xlsx") -> str:
    answer = desk.client.post(
        "/topics/import", data={"csrf_token": desk.token, "topic": topic},
        files={"file": (name, data)},
    )  # fmt: skip
    assert answer.status_code == 303, visible(answer.text)
    return str(answer.headers["location"])


def _words(desk: Desk) -> list[str]:
    with desk.database.engine.connect() as c:
        return [term.text for term in load_pack(c, PACK.name).terms]


def test_a_list_is_looked_at_before_anything_is_written(desk: Desk) -> None:
    add_topic(desk.database)
    desk.log_in_as(EDITOR)
    before = _words(desk)
    where = _send(desk, PACK.name, _workbook(), "../../词.xlsx")
    preview = desk.get(where)
    assert preview.status_code == 200
    assert "<img src=x" not in preview.text
    assert preview.text.count('class="table-danger"') >= 3
    for bad in ("很多", "华" * 50, "99"):
        assert bad in visible(preview.text)
    marked = openpyxl.load_workbook(io.BytesIO(desk.get(f"{where}/marked.xlsx").content))
    assert "导入检查" in marked.sheetnames
    assert _words(desk) == before
    # Not without a word about the bad rows; not by somebody else.
    assert desk.post(where).status_code == 400
    assert _words(desk) == before
    desk.log_in_as("administrator")
    assert desk.get(where).status_code == 404
    desk.log_in_as(EDITOR)
    assert desk.post(where, skip_faulty="yes").status_code == 303
    assert {*before, "侨胞"} <= {*_words(desk)}
    with desk.database.engine.connect() as c:
        (entry,) = audit_log.entries(c, limit=1)
    assert (entry.action, entry.user_name, entry.target) == ("topic.import", EDITOR, PACK.name)


def test_a_new_topic_is_made_of_a_list_and_no_file_names_a_path(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as(EDITOR)
    assert "step by step" in visible(desk.get("/topics").text)
    where = _send(desk, "wenlv", "词,权重\n博物馆,2\n".encode(), "C:\\x\\文旅.csv")
    assert desk.post(where).headers["location"].endswith("/topics/wenlv")
    assert "博物馆" in desk.get("/topics/wenlv").text
    where = _send(desk, "No good", b"a,b\n")
    assert desk.get(where).status_code in (200, 400)


def test_terms_and_sites_are_changed_one_by_one(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as(EDITOR)
    path = f"/topics/{PACK.name}"
    term = {"text": "侨务", "old": "侨务", "kind": "policy", "weight": "3", "note": "改"}
    assert desk.post(f"{path}/terms", **term).status_code == 303
    assert desk.post(f"{path}/terms", **{**term, "weight": "30"}).status_code == 400
    assert desk.post(f"{path}/terms", old="唐人街", text="唐人街", remove="yes").status_code == 303
    site = {"host": "WWW.C.cn", "name": "丙", "role": "target", "tier": "2", "kind": "news"}
    assert desk.post(f"{path}/sites", **site).status_code == 303
    assert desk.post(f"{path}/sites", **{**site, "host": "a b"}).status_code == 400
    with desk.database.engine.connect() as c:
        pack = load_pack(c, PACK.name)
        actions = [entry.action for entry in audit_log.entries(c)]
    assert [(term.text, term.weight) for term in pack.terms] == [("华侨", 2.0), ("侨务", 3.0)]
    assert pack.sites[-1].host == "www.c.cn"
    assert pack.sites[1].start_url == PACK.sites[1].start_url
    assert actions[:3] == ["topic.sites", "topic.terms", "topic.terms"]
    exported = openpyxl.load_workbook(io.BytesIO(desk.get(f"{path}/terms.xlsx").content))
    assert [row[0].value for row in exported.active.iter_rows()] == ["term", "华侨", "侨务"]
    assert "www.c.cn" in desk.get(f"{path}/sites.csv").text
    assert "侨务" not in desk.get(f"{path}?find=华侨").text.split("<tbody>")[1].split("</tbody>")[0]


@pytest.mark.parametrize("path", ["", "?table=sites", "/words", "/threshold?percent=40"])
def test_readers_see_it_and_change_nothing(sqlite_desk: Desk, path: str) -> None:
    add_topic(sqlite_desk.database)
    sqlite_desk.log_in_as("reader")
    answer = sqlite_desk.get(f"/topics/{PACK.name}{path}")
    assert answer.status_code == 200
    assert 'action="/topics' not in answer.text


def test_words_are_looked_for_and_decided_about(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        for number in range(6):
            text = f"第{number}届华裔青年寻根夏令营开营，寻根夏令营的营员来自海外。" * 3
            add_article(c, f"{number}.html", title=f"寻根夏令营{number}", body=text)
    desk.log_in_as(EDITOR)
    path = f"/topics/{PACK.name}/words"
    assert desk.post(f"{path}/collect").status_code == 303
    page = desk.get(path).text
    word = page.split('name="word" value="')[1].split('"')[0]
    assert 'data-key="a"' in page
    assert desk.post(path, word=word, action="skip").status_code == 303
    assert desk.post(path, word=word, action="accept", weight="2").status_code == 303
    assert word in _words(desk)
    assert desk.post(f"{path}/undo").status_code == 303
    assert word not in _words(desk)


def test_the_threshold_is_moved_to_where_the_line_was_tried(desk: Desk) -> None:
    add_topic(desk.database)
    texts = {f"{n}": "华侨、侨务，" * n + "在当地参加会议，讨论天气和球赛。" * 2 for n in range(8)}
    scorer = make_scorer("blend", PACK)
    judged = {name: scorer.judge(PageText(f"第{name}次", text)) for name, text in texts.items()}
    line = round(100 * sorted(one.score for one in judged.values())[4])
    with desk.database.engine.begin() as c:
        topic_ids = {PACK.name: topic_id(c, PACK.name)}
        for name, text in texts.items():
            row = add_article(c, name, title=f"第{name}次", body=text)
            save_relevance(c, row, topic_ids, [judged[name]])
    path = f"/topics/{PACK.name}/threshold"
    desk.log_in_as("reader")
    assert '<form class="mt-2"' not in desk.get(f"{path}?percent={line}").text
    assert desk.post(path, percent=line).status_code == 403
    desk.log_in_as(EDITOR)
    assert desk.post(path, percent="x").status_code == 400
    assert f'name="percent" value="{line}"' in desk.get(f"{path}?percent={line}").text
    assert desk.post(path, percent=line).status_code == 303
    with desk.database.engine.connect() as c:
        moved = load_pack(c, PACK.name)
        (entry, *_others) = audit_log.entries(c)
    assert moved == replace(PACK, threshold=moved.threshold)
    assert json.loads(entry.before) == {"threshold": PACK.threshold}
    after = json.loads(entry.after)
    now = make_scorer("blend", moved)
    verdicts = [(judged[name].relevant, now.judge(PageText(f"第{name}次", text)).relevant)
                for name, text in texts.items()]  # fmt: skip
    turned = verdicts.count((False, True)), verdicts.count((True, False))
    assert (after["to_on"], after["to_off"]) == turned
    assert sum(turned) > 0
    page = desk.get(f"{path}?moved=1").text
    assert "has changed since" in visible(desk.get(path).text)
    assert '<form class="mt-2"' not in desk.get(f"{path}?percent=60").text
    assert desk.post(path, percent=60).status_code == 400
    assert f"{turned[0]} more would be on topic, {turned[1]} no longer" in visible(page)
    assert 'name="spider" value="judge"' in page
    assert desk.post("/jobs", spider="judge", topic=PACK.name, server="a:1").status_code == 400
    assert desk.post("/jobs", spider="judge", topic=PACK.name).status_code == 303
    assert "judge all stored articles anew" in visible(desk.get("/jobs").text)


def test_a_word_that_is_there_is_shown_beside_what_was_written(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as(EDITOR)
    path = f"/topics/{PACK.name}"
    given = {"text": "侨务", "kind": "culture", "weight": "9", "note": "我的"}
    answer = desk.post(f"{path}/terms", **given)
    with desk.database.engine.connect() as c:
        assert load_pack(c, PACK.name).terms == PACK.terms
        assert {entry.action for entry in audit_log.entries(c)} <= {"user.add"}
    assert answer.status_code == 409
    said = visible(answer.text)
    assert "侨务 is there already; nothing was changed." in said
    assert "policy, Weight 1" in said
    assert "culture, Weight 9, “我的”" in said
    # The row to add keeps what was written.
    row = answer.text.split('<tr class="table-active">')[1].split("</tr>")[0]
    assert all(f'value="{value}"' in row for value in ("侨务", "9", "我的"))
    # Confirmed: the form of the page names what it changes.
    assert 'name="old" value="侨务"' in answer.text
    assert desk.post(f"{path}/terms", old="侨务", **given).status_code == 303
    with desk.database.engine.connect() as c:
        changed = load_pack(c, PACK.name).terms[1]
        (entry, *_) = audit_log.entries(c)
    assert (changed.kind, changed.weight, changed.note) == ("culture", 9.0, "我的")
    assert json.loads(entry.before)["kind"] == "policy"
    # Full width and case make no other word; a row that is renamed overwrites no other one.
    assert desk.post(f"{path}/terms", text=" 侨务 ", kind="other", weight="1").status_code == 409
    renamed = {"old": "华侨", "text": "侨务", "kind": "other", "weight": "1"}
    assert desk.post(f"{path}/terms", **renamed).status_code == 409
    # The same again is there, and there is nothing to change.
    again = desk.post(f"{path}/terms", **given)
    assert again.status_code == 409
    assert "Change it to what I wrote" not in again.text
    assert desk.post(f"{path}/terms", text="没有", old="没有", remove="yes").status_code == 400


def test_a_site_that_is_there_is_shown_beside_what_was_written(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as(EDITOR)
    site = {"host": "WWW.B-news.cn", "name": "别的", "role": "authoritative", "tier": "5",
            "kind": "news"}  # fmt: skip
    answer = desk.post(f"/topics/{PACK.name}/sites", **site)
    assert answer.status_code == 409
    said = visible(answer.text)
    assert "乙新闻, target, Tier 3" in said
    assert "别的, authoritative, Tier 5" in said
    with desk.database.engine.connect() as c:
        assert load_pack(c, PACK.name).sites == PACK.sites
    confirmed = desk.post(f"/topics/{PACK.name}/sites", old="www.b-news.cn", **site)
    assert confirmed.status_code == 303
    with desk.database.engine.connect() as c:
        assert load_pack(c, PACK.name).sites[1].name == "别的"


def test_what_was_added_is_said_and_stands_on_top(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as(EDITOR)
    path = f"/topics/{PACK.name}"
    answer = desk.post(f"{path}/terms", text="侨批", kind="culture", weight="")
    page = desk.get(answer.headers["location"])
    assert "Added: 侨批" in visible(page.text)
    first = page.text.split('<tr class="table-success">')[1].split("</tr>")[0]
    assert 'value="侨批"' in first
    assert 'value="3"' in first
    assert "Added" not in desk.get(f"{path}?table=terms&done=added&row=没有").text
    gone = desk.post(f"{path}/terms", old="侨批", text="侨批", remove="yes")
    assert "Taken away: 侨批" in visible(desk.get(gone.headers["location"]).text)


def test_a_list_changes_what_is_there_only_where_that_is_ticked(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as(EDITOR)
    rows = "词,类别,权重\n侨务,文化,9\n侨批,文化,2\n".encode()
    where = _send(desk, PACK.name, rows, "词.csv")
    preview = desk.get(where).text
    assert 'name="change_known"' in preview
    assert "policy, 1" in visible(preview)
    assert "culture, 9" in visible(preview)
    assert desk.post(where).status_code == 303
    with desk.database.engine.connect() as c:
        terms = {term.text: term for term in load_pack(c, PACK.name).terms}
    assert (terms["侨务"].weight, terms["侨批"].weight) == (1.0, 2.0)
    where = _send(desk, PACK.name, rows, "词.csv")
    assert desk.post(where, change_known="yes").status_code == 303
    with desk.database.engine.connect() as c:
        assert {t.text: t.weight for t in load_pack(c, PACK.name).terms}["侨务"] == 9.0


def test_nothing_on_topic_is_said_with_the_click_that_changes_it(desk: Desk) -> None:
    pack = replace(PACK, samples=(), threshold=0.1)
    add_topic(desk.database, pack)
    scorer = make_scorer("blend", pack)
    with desk.database.engine.begin() as c:
        topic_ids = {PACK.name: topic_id(c, PACK.name)}
        for n in range(12):
            body = (
                f"第{n}次会议在当地召开，讨论天气、球赛和唐人街的工程，记者作了报道。"
                + "会后参观。" * 9
            )
            row = add_article(c, f"{n}", title=f"第{n}次会议", body=body)
            save_relevance(c, row, topic_ids, [scorer.judge(PageText(f"第{n}次会议", body))])
    desk.log_in_as("reader")
    for page in ("/", "/articles", f"/topics/{PACK.name}/threshold"):
        said = visible(desk.get(page).text)
        assert "0 of 12 articles are on topic" in said
        assert "12 articles more are on topic" in said
        assert 'name="judge" value="yes"' not in desk.get(page).text
        assert "3 words alone" in said
    desk.log_in_as(EDITOR)
    page = desk.get("/articles").text
    percent = page.split('name="percent" value="')[1].split('"')[0]
    answer = desk.post(f"/topics/{PACK.name}/threshold", percent=percent, judge="yes")
    assert (answer.status_code, "/jobs/" in answer.headers["location"]) == (303, True)
    with desk.database.engine.connect() as c:
        lower = load_pack(c, PACK.name)
        actions = [entry.action for entry in audit_log.entries(c)]
    assert actions[:2] == ["job.start", "topic.threshold"]
    assert lower.threshold < pack.threshold
    # What the job does: all twelve are on topic by the topic as it is now.
    now = make_scorer("blend", lower)
    assert now.judge(PageText("第0次会议", "讨论了唐人街的工程。" + "会后参观。" * 9)).relevant


def test_marks_do_not_make_the_threshold_stale(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        topic_ids = {PACK.name: topic_id(c, PACK.name)}
        for n in range(6):
            row = add_article(
                c, f"{n}", title=f"华侨第{n}次", body="侨胞回到家乡，参加会议。" * (n + 1)
            )
            save_judgement(
                c, PACK.name, f"http://a.example/{n}", relevant=n % 2 == 0, note="", now=1.0
            )
        scorer = make_scorer("blend", judged_pack(c, PACK.name))
        row = add_article(c, "x", title="华侨回乡", body="华侨回到家乡，侨务部门接待。")
        text = PageText("华侨回乡", "华侨回到家乡，侨务部门接待。")
        save_relevance(c, row, topic_ids, [scorer.judge(text)])
    desk.log_in_as(EDITOR)
    assert desk.post(f"/topics/{PACK.name}/threshold", percent=30).status_code == 303


def test_a_topic_is_called_in_chinese_and_its_name_is_made(desk: Desk) -> None:
    desk.log_in_as("editor")
    made = desk.post("/topics/new", title="养老服务", words="养老 助餐")
    assert (made.status_code, made.headers["location"]) == (303, "/topics/t1")
    page = visible(desk.get("/topics/t1").text)
    assert "养老服务" in page
    assert "The topic is made." in page
    assert "Collect now" in page
    assert desk.post("/topics/new", words="侨胞 侨乡").headers["location"] == "/topics/t2"
    assert desk.post("/topics/new", title="空的").status_code == 400
    # A list goes into the topic of that title, or makes one of it.
    for title, name in (("养老服务", "t1"), ("华文教育", "t3")):
        sent = desk.client.post(
            "/topics/import", data={"csrf_token": desk.token, "topic": title},
            files={"file": ("词.csv", "词,权重\n华校,4\n".encode())},
        )  # fmt: skip
        taken = desk.post(sent.headers["location"])
        assert taken.headers["location"] == f"/topics/{name}"
        words = visible(desk.get(f"/topics/{name}").text)
        assert title in words
        assert "1 terms and 0 sites were taken." in words
    assert desk.post("/topics/new", name="Not a name", words="x").status_code == 400
