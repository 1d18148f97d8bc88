"""Addresses and cells that strangers make up: no other site, no file, no formula comes of them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import openpyxl
import pytest

from console_articles import add_stories
from console_client import Desk
from qiaocrawl.console.render import VENDOR_VERSION
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.pack import Term
from storage_samples import NOW, PACK, add_topic

ELSEWHERE = (
    "http://evil.test/", "https://evil.test", "//evil.test", "///evil.test", "/\\evil.test",
    "\\\\evil.test", "/\tevil.test//", "/%09/evil.test\n", "javascript:alert(1)", "http:evil.test",
    "/\r\nSet-Cookie: a=b", "//console.test@evil.test/", "/../../evil", "evil.test",
)  # fmt: skip
FORMS = ("/articles/1/mark", "/articles/searches", "/preferences", "/jobs/999999/stop")
"""Those that take ``next``."""
UPWARDS = (
    "../" * 8 + "etc/passwd", "..%2f" * 8 + "etc%2fpasswd", "%2e%2e/" * 8 + "etc/passwd",
    "..%5c" * 8 + "etc%5cpasswd", "/etc/passwd", "%2fetc%2fpasswd", "....//" * 8 + "etc/passwd",
    "..%252f" * 8 + "etc%252fpasswd", "%00/etc/passwd", "..;/" * 8 + "etc/passwd",
)  # fmt: skip
FOLDERS = (
    "/static/", f"/vendor/{VENDOR_VERSION}/", "/articles/export/", "/topics/", "/topics/import/",
    "/topics/qiaoqing/", "/topics/qiaoqing/terms.", "/sites/template/page?url=file://",
    "/sites/template?url=", "/sites/template?host=",
)  # fmt: skip
FORMULAS = ("=1+1", "+1", "-1+2", "@SUM(A1)", "＝1+1", "=cmd|' /C calc'!A0", '=HYPERLINK("x")')


def test_no_form_leads_to_another_site(sqlite_desk: Desk) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("administrator")
    tried = 0
    for form in FORMS:
        for target in ELSEWHERE:
            answer = sqlite_desk.post(form, next=target, action="star", name="n", query="q=x")
            location = answer.headers.get("location", "/")
            assert answer.status_code in (303, 404), (form, target)
            assert location.startswith("/"), (form, target)
            assert not location.startswith(("//", "/\\", "/\t")), (form, target)
            assert "a=b" not in answer.headers.get("set-cookie", "")
            tried += 1
    assert tried == len(FORMS) * len(ELSEWHERE) == 56


def test_no_address_reaches_a_file_of_the_machine(sqlite_desk: Desk) -> None:
    add_topic(sqlite_desk.database)
    sqlite_desk.log_in_as("administrator")
    tried = 0
    for folder in FOLDERS:
        for upwards in UPWARDS:
            answer = sqlite_desk.get(folder + upwards)
            assert answer.status_code < 500, (folder, upwards)
            assert "root:" not in answer.text, (folder, upwards)
            tried += 1
    assert tried == len(FOLDERS) * len(UPWARDS) == 100


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_no_table_of_a_topic_holds_a_formula(sqlite_desk: Desk, ending: str) -> None:
    terms = tuple(Term(f"词{n}", "other", 1.0, text) for n, text in enumerate(FORMULAS))
    sites = tuple(replace(PACK.sites[0], host=f"s{n}.test", name=text, note=text)
                  for n, text in enumerate(FORMULAS))  # fmt: skip
    with sqlite_desk.database.engine.begin() as c:
        save_pack(c, replace(PACK, terms=terms, sites=sites), now=NOW)
    sqlite_desk.log_in_as("reader")
    held = 0
    for table in ("terms", "sites"):
        data = sqlite_desk.get(f"/topics/{PACK.name}/{table}.{ending}").content
        if ending == "xlsx":
            cells = [
                cell for row in openpyxl.load_workbook(io.BytesIO(data)).active for cell in row
            ]
            assert "f" not in {cell.data_type for cell in cells}
            texts = [str(cell.value) for cell in cells]
        else:
            rows = csv.reader(io.StringIO(data.decode("utf-8-sig")))
            texts = [cell for row in rows for cell in row]
            assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "＝"))]
        held += sum(text.lstrip("'") in FORMULAS for text in texts)
    assert held == 3 * len(FORMULAS)
