"""Samples of a topic at the console: pasted, sent as files, changed, taken away."""

from __future__ import annotations

import io
import json

import docx
import pytest

from console_client import Desk, visible
from qiaocrawl.storage import audit_log
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.topic.folder import free_name, split_texts
from qiaocrawl.topic.pack import Sample
from storage_samples import PACK, add_topic

PATH = f"/topics/{PACK.name}/samples"


@pytest.fixture
def editing(sqlite_desk: Desk) -> Desk:
    """An editor at a topic with two samples."""
    add_topic(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    return sqlite_desk


def samples(desk: Desk) -> dict[str, Sample]:
    with desk.database.engine.connect() as c:
        return {sample.name: sample for sample in load_pack(c, PACK.name).samples}


def last_change(desk: Desk) -> audit_log.AuditEntry:
    with desk.database.engine.connect() as c:
        (entry,) = audit_log.entries(c, limit=1)
    return entry


def send(desk: Desk, files: list[tuple[str, bytes]], **fields: str) -> int:
    return desk.client.post(
        f"{PATH}/import", data={"csrf_token": desk.token, **fields},
        files=[("files", file) for file in files],
    ).status_code  # fmt: skip


def test_several_texts_are_pasted_at_once(editing: Desk) -> None:
    texts = "# 侨联座谈会\r\n各地代表发言。\r\n第二段。\r\n---\r\n侨胞返乡\r\n---\r\n\r\n"
    assert editing.post(f"{PATH}/import", texts=texts, relevant="yes").status_code == 303
    now = samples(editing)
    assert list(now)[:2] == ["s1", "s2"]
    assert now["侨联座谈会"].text == "各地代表发言。\n第二段。"
    # A headline alone is its own text.
    assert (now["侨胞返乡"].title, now["侨胞返乡"].text) == ("侨胞返乡", "侨胞返乡")
    assert all(now[name].relevant for name in ("侨联座谈会", "侨胞返乡"))
    assert (
        editing.post(f"{PATH}/import", texts="侨胞返乡\n又一次。", relevant="no").status_code == 303
    )
    assert samples(editing)["侨胞返乡_2"].relevant is False
    entry = last_change(editing)
    assert (entry.action, json.loads(entry.before)) == ("topic.samples", {"samples": 4})
    assert json.loads(entry.after)["new"][0]["name"] == "侨胞返乡_2"
    assert "3 samples on topic, 2 not" in visible(editing.get(PATH).text)
    assert editing.post(f"{PATH}/import").status_code == 400


def test_files_of_several_kinds_are_samples(editing: Desk) -> None:
    word, file = docx.Document(), io.BytesIO()
    word.add_paragraph("侨务代表团来访")
    word.add_paragraph("代表团参观了华侨农场。")
    word.save(file)
    files = [
        ("../../某地 侨联（1）.md", "title: 球赛\nrelevant: no\n\n昨晚的球赛。".encode()),
        ("回乡.txt", "侨胞回乡\n一批侨胞回到家乡。".encode()),
        ("来访.docx", file.getvalue()),
    ]
    assert send(editing, files, relevant="yes") == 303
    now = samples(editing)
    assert list(now)[2:] == ["某地_侨联_1", "回乡", "来访"]
    # What a file says of itself counts.
    assert (now["某地_侨联_1"].title, now["某地_侨联_1"].relevant) == ("球赛", False)
    assert (now["回乡"].title, now["回乡"].text) == ("侨胞回乡", "一批侨胞回到家乡。")
    assert "华侨农场" in now["来访"].text
    before = samples(editing)
    for name, data in (("a.exe", b"MZ"), ("a.docx", b"PK\3\4no"), ("a.txt", b""), ("a", b"x")):
        assert send(editing, [(name, data), ("b.txt", b"x\ny")]) == 400, name
    assert samples(editing) == before


def test_a_sample_is_changed_and_taken_away(editing: Desk) -> None:
    page = editing.get(f"{PATH}?name=s2").text
    assert "昨晚的球赛很精彩。" in page
    changed = {"name": "s2", "title": "足球赛", "text": "一\r\n二", "relevant": "no"}
    assert editing.post(PATH, **changed).status_code == 303
    assert samples(editing)["s2"] == Sample("s2", "足球赛", "一\n二", False)
    entry = last_change(editing)
    assert json.loads(entry.before)["title"] == "球赛"
    assert json.loads(entry.after)["title"] == "足球赛"
    assert editing.post(PATH, **{**changed, "title": ""}).status_code == 400
    assert editing.post(PATH, name="s1", remove="yes").status_code == 303
    assert list(samples(editing)) == ["s2"]
    assert last_change(editing).after == ""
    for wrong in (editing.get(f"{PATH}?name=s1"), editing.post(PATH, name="s1", remove="yes")):
        assert wrong.status_code == 404
    editing.log_in_as("reader")
    page = editing.get(f"{PATH}?name=s2").text
    assert "足球赛" in page
    assert f'action="{PATH}' not in page


def test_names_of_samples_are_valid_whatever_they_come_from() -> None:
    assert free_name("../..", ()) == "sample"
    assert free_name("長" * 200, ()) == "長" * 54
    assert free_name("A", ("a", "a_2")) == "A_3"
    assert split_texts("---\n a \n----\n\n") == ["a"]
    assert split_texts("a -- b") == ["a -- b"]
