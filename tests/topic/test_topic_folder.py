"""Packs as folders: exact round trips, all faults at once, nothing half-written."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qiaocrawl.errors import TopicError
from qiaocrawl.topic.check import sample_reasons
from qiaocrawl.topic.files import replace_folder
from qiaocrawl.topic.folder import format_sample, load_pack, parse_sample, save_pack
from qiaocrawl.topic.pack import Sample, Site, Term, TopicPack

PACK = TopicPack(
    name="qiao_1",
    title='侨"情\\',
    description="第一行\n第二行\t=1",
    threshold=0.1 + 0.2,
    terms=(Term("=侨", "core", 1 / 3, "a,b"), Term("985", "other")),
    sites=(Site("www.chinaqw.com", "侨网", "authoritative", 1, "中国", "news", render=True),),
    samples=(
        Sample("a", "题：一", "title: x\n\n\n=文\n\n末段", True),
        Sample("a-b", "relevant: no", "文", False),
    ),
    language="zh-Hant",
)


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_pack_comes_back_as_saved(tmp_path: Path) -> None:
    save_pack(PACK, tmp_path / "any-name")
    assert load_pack(tmp_path / "any-name") == PACK
    assert [path.name for path in tmp_path.iterdir()] == ["any-name"]


def test_saving_twice_changes_no_byte(tmp_path: Path) -> None:
    save_pack(PACK, tmp_path / "p")
    before = _tree(tmp_path)
    save_pack(load_pack(tmp_path / "p"), tmp_path / "p")
    assert _tree(tmp_path) == before


def test_saving_replaces_a_pack_and_keeps_what_is_not_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    save_pack(PACK, folder)
    (folder / "golden").mkdir()
    (folder / "golden" / "set.jsonl").write_text("{}")
    (folder / "README").symlink_to("golden/set.jsonl")
    save_pack(replace(PACK, samples=PACK.samples[1:], terms=PACK.terms[:1]), folder)
    assert sorted(_tree(folder)) == [
        "README", "golden/set.jsonl", "samples/a-b.md", "sites.csv", "terms.csv", "topic.toml",
    ]  # fmt: skip
    assert (folder / "README").is_symlink()


def test_saving_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    save_pack(PACK, tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    save_pack(replace(PACK, title="新"), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load_pack(tmp_path / "real").title == "新"


def test_foreign_folders_and_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.doc").write_text("x")
    (tmp_path / "file").write_text("x")
    before = _tree(tmp_path)
    with pytest.raises(TopicError, match="not empty and holds no topic.toml"):
        save_pack(PACK, tmp_path / "home")
    with pytest.raises(TopicError, match="is no folder"):
        save_pack(PACK, tmp_path / "file")
    with pytest.raises(TopicError, match="cannot write"):
        save_pack(PACK, tmp_path / "file" / "p")
    assert _tree(tmp_path) == before
    (tmp_path / "empty").mkdir()
    save_pack(PACK, tmp_path / "empty")
    assert load_pack(tmp_path / "empty") == PACK


def test_a_faulty_pack_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="2 faults"):
        save_pack(replace(PACK, title="", threshold=2.0), tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_writing_leaves_the_old_folder(tmp_path: Path) -> None:
    save_pack(PACK, tmp_path / "p")
    before = _tree(tmp_path)

    def fill(new: Path) -> None:
        (new / "topic.toml").write_text("half")
        raise OSError("disk full")

    with pytest.raises(TopicError, match="disk full"):
        replace_folder(tmp_path / "p", fill)
    assert _tree(tmp_path) == before


def test_a_failed_last_rename_puts_the_old_folder_back(tmp_path: Path) -> None:
    save_pack(PACK, tmp_path / "p")
    before = _tree(tmp_path)
    with pytest.raises(TopicError, match="cannot write"):
        replace_folder(tmp_path / "p", os.rmdir)  # nothing is left to rename
    assert _tree(tmp_path) == before


def test_files_may_be_missing_or_written_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "hand"
    (folder / "samples").mkdir(parents=True)
    (folder / "topic.toml").write_bytes("\ufefftitle = '手写'\r\n".encode())
    (folder / "terms.csv").write_text("词\n侨批\n")
    (folder / "samples" / "x.txt").write_bytes("标题： 题\r\n相关：是\r\n\r\n\r\n文\r\n".encode())
    (folder / "samples" / ".DS_Store").write_bytes(b"\0")
    assert load_pack(folder) == TopicPack(
        "hand", "手写", "", 0.1, (Term("侨批", "other"),), (), (Sample("x", "题", "文", True),)
    )


def _spoil(folder: Path, name: str, data: bytes) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)


SPOILT = [
    ("topic.toml", b"title = ", "topic.toml:1: is no TOML"),
    ("topic.toml", b"\xff", "topic.toml:1: is no TOML"),
    ("topic.toml", b"a = " + b"[" * 100_000, "topic.toml:1: is no TOML"),
    ("topic.toml", b"a = " + b"1" * 5000, "topic.toml:1: is no TOML"),
    ("topic.toml", b"titel = 'x'", "unknown key 'titel'; did you mean 'title'?"),
    ("topic.toml", b"title = 3", "title must be a text"),
    ("topic.toml", b"title = 'x'\nthreshold = 'much'", "threshold must be a number"),
    ("topic.toml", b"title = 'x'\nname = 'X'", "the name 'X'"),
    ("terms.csv", b"", "terms.csv:1: terms.csv is empty"),
    ("terms.csv", "词,权重\n侨,x\n".encode(), "terms.csv:2: weight must be a number"),
    ("sites.csv", b"host\nhttp://a.cn\n", "sites.csv:2: 'http://a.cn' is more than"),
    ("samples/b.md", b"no header", "samples/b.md:1: the header line 'no header'"),
    ("samples/b.md", b"title: x\n\ntext", "the header lacks relevant"),
    ("samples/b.md", b"titel: x\n\ntext", "did you mean 'title'?"),
    ("samples/b.md", b"title: x\nrelevant: maybe\n\nt", "relevant must be yes or no"),
    ("samples/b.md", b"title: x\nrelevant:\n\nt", "relevant must be yes or no"),
    ("samples/b.md", b"title: x\ntitle: y\nrelevant: no\n\nt", "title twice"),
    ("samples/b.md", b"title: x\nrelevant: no\n\n", "samples/b:1: the text must have"),
    ("samples/b.md", b"\xff", "is no UTF-8"),
    ("samples/b.pdf", b"x", "a sample ends in .md or .txt"),
    ("samples/a.txt", b"title: x\nrelevant: no\n\nt", "the sample name repeats 'a'"),
    ("samples/x y.md", b"title: x\nrelevant: no\n\nt", "the sample name 'x y'"),
    ("samples/b.md", b"x" * 1_100_000, "larger than"),
]


@pytest.mark.parametrize(("name", "data", "message"), SPOILT)
def test_a_spoilt_file_is_told_by_its_place(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    save_pack(PACK, tmp_path / "p")
    _spoil(tmp_path / "p", name, data)
    with pytest.raises(TopicError) as caught:
        load_pack(tmp_path / "p")
    assert message in "\n".join(map(str, caught.value.faults))


def test_faults_of_all_files_come_together(tmp_path: Path) -> None:
    save_pack(PACK, tmp_path / "p")
    _spoil(tmp_path / "p", "topic.toml", b"title = ''")
    _spoil(tmp_path / "p", "terms.csv", b"term,weight\na,0\na,1\n")
    _spoil(tmp_path / "p", "samples/a.md", b"x")
    with pytest.raises(TopicError) as caught:
        load_pack(tmp_path / "p")
    places = [(fault.table, fault.line) for fault in caught.value.faults]
    assert sorted(places) == [("samples/a.md", 1), ("terms.csv", 2), ("terms.csv", 3),
                              ("topic.toml", 1)]  # fmt: skip


def test_no_folder_and_no_settings_are_told(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="is no folder of a topic pack"):
        load_pack(tmp_path / "none")
    with pytest.raises(TopicError) as caught:
        load_pack(tmp_path)
    assert "does not exist" in caught.value.faults[0].reason


texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=60)


@given(title=texts.map(str.strip), text=texts.map(str.strip), relevant=st.booleans())
def test_samples_come_back_as_written(title: str, text: str, relevant: bool) -> None:
    sample = Sample("s", title, text, relevant)
    if not sample_reasons(sample):
        assert parse_sample("s", format_sample(sample)) == sample


@settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    name=st.sampled_from(["topic.toml", "samples/a.md", "sites.csv"]),
    data=st.one_of(st.binary(max_size=80), texts.map(str.encode)),
)
def test_any_bytes_in_a_pack_give_a_pack_or_a_topic_error(
    tmp_path: Path, name: str, data: bytes
) -> None:
    if not (tmp_path / "p").exists():
        save_pack(PACK, tmp_path / "p")
    kept = (tmp_path / "p" / name).read_bytes()
    _spoil(tmp_path / "p", name, data)
    with contextlib.suppress(TopicError):
        load_pack(tmp_path / "p")
    _spoil(tmp_path / "p", name, kept)
