"""Wrong input is named with what is allowed; no number and no file name is a fault of ours."""

from __future__ import annotations

import html

import pytest

from console_client import BASE, Desk, visible
from qiaocrawl.console.app import AREAS
from storage_samples import PACK, add_topic

BEYOND = (str(2**63), "9" * 19, "9" * 20, "9" * 5000)
NUMBERED = [page for area in AREAS for page in area.pages if ":int}" in page.path]
FILE_NAMES = (
    "侨" * 85 + ".csv", "侨" * 300 + ".csv", "..", "/", "\\", ".", "...", "a[1]*?.csv", "x" * 2000,
    "a\0b.csv", "../../../etc/passwd", "名单.csv", " ", "CON", "\N{PILE OF POO}" * 90,
)  # fmt: skip


@pytest.fixture
def editing(sqlite_desk: Desk) -> Desk:
    """An editor at a console with a topic."""
    add_topic(sqlite_desk.database)
    sqlite_desk.log_in_as("administrator")
    return sqlite_desk


def test_a_tier_is_a_whole_number(editing: Desk) -> None:
    site = {"host": "www.c.cn", "name": "丙", "role": "target", "kind": "news"}
    for tier in ("inf", "nan", "1.7", "-1", "0", "6", "1e3", "一", "９", ""):
        answer = editing.post(f"/topics/{PACK.name}/sites", **site, tier=tier)
        assert answer.status_code == 400, tier
        words = visible(html.unescape(answer.text))
        assert f"{tier!r} must be a whole number from 1 to 5" in words


def test_weights_are_numbers_within_bounds(editing: Desk) -> None:
    for weight in ("inf", "nan", "-1", "0", "101", "abc", ""):
        term = {"text": "侨务", "old": "侨务", "kind": "policy", "weight": weight}
        answer = editing.post(f"/topics/{PACK.name}/terms", **term)
        assert answer.status_code == 400, weight
        answer = editing.post("/sites/weight", url="http://a.test/", weight=weight)
        assert answer.status_code == 400, weight
        words = visible(html.unescape(answer.text))
        assert f"weight {weight!r} must be a number above 0 and at most 100" in words


def test_a_refusal_names_what_was_sent(editing: Desk) -> None:
    job = {"spider": "site", "topic": PACK.name, "times": "6:00", "zone": "UTC"}
    page = {"url": "http://a.test/", "weight": "2"}
    for path, fields, named in (
        ("/sites/weight", page, "'http://a.test/' is no"),
        ("/jobs", {**job, "when_missed": "soon"}, "'soon' must be one of run, skip"),
    ):
        answer = editing.post(path, **fields)
        assert answer.status_code == 400
        assert named in visible(html.unescape(answer.text))
        assert "qiaocrawl watch" not in answer.text


def _sent(desk: Desk, name: str, data: bytes) -> str:
    answer = desk.client.post(
        "/topics/import", data={"csrf_token": desk.token, "topic": PACK.name},
        files={"file": (name, data)},
    )  # fmt: skip
    assert answer.status_code == 303, visible(answer.text)
    return str(answer.headers["location"])


def test_any_name_of_a_file_will_do(editing: Desk) -> None:
    for name in FILE_NAMES:
        where = _sent(editing, name, "词,权重\n博物馆,2\n城市,很多\n".encode())
        assert "博物馆" in editing.get(where).text, name
        assert editing.get(f"{where}/marked.xlsx").status_code == 200, name
        assert editing.post(where, skip_faulty="yes").status_code == 303, name


def test_a_file_that_cannot_be_read_is_named_as_it_was_sent(editing: Desk) -> None:
    answer = editing.get(_sent(editing, "空表.csv", b"\n"))
    assert answer.status_code == 400
    assert "空表.csv" in visible(answer.text)


def test_no_number_of_a_row_is_too_large(editing: Desk) -> None:
    assert len(NUMBERED) > 15
    for number in BEYOND:
        for page in NUMBERED:
            path = "/".join(number if ":int}" in part else part for part in page.path.split("/"))
            send = editing.get if page.method == "GET" else editing.post
            assert send(path).status_code == 404, (page.path, len(number))


REFERERS = (
    (f"{BASE}/jobs?before=3", "/jobs?before=3"),
    (f"{BASE}/topics/{PACK.name}?table=sites", f"/topics/{PACK.name}?table=sites"),
    ("http://evil.test/jobs", ""), (f"{BASE}.evil.test/jobs", ""), (f"{BASE}:81/jobs", ""),
    ("https://console.test/jobs", ""), ("http://evil@console.test/jobs", ""),
    (f"{BASE}//evil.test", ""), (f"{BASE}/\\evil.test", ""), ("javascript:alert(1)", ""),
    ("http://[bad", ""), ("", ""),
)  # fmt: skip


def test_an_error_leads_back_to_our_page_only(editing: Desk) -> None:
    fields = {"csrf_token": editing.token, "url": "http://a.test/", "weight": "none"}
    for referer, back in REFERERS:
        answer = editing.client.post("/sites/weight", data=fields, headers={"referer": referer})
        assert answer.status_code == 400
        assert "evil" not in answer.text, referer
        assert ("Go back" in answer.text) == bool(back), referer
        assert not back or f'href="{html.escape(back)}"' in answer.text
    # A page that fails does not lead to itself.
    own = editing.get("/jobs/999", headers={"referer": f"{BASE}/jobs/999"})
    assert (own.status_code, "Go back" in own.text) == (404, False)
