"""``qiaocrawl topic …`` against a real SQLite database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qiaocrawl.cli.topic import app
from qiaocrawl.errors import ConfigError, QiaoError, SchemaError, StorageError, TopicError
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import load_pack as load_stored
from qiaocrawl.topic.folder import load_pack, save_pack
from qiaocrawl.topic.pack import Sample, Site, Term, TopicPack
from qiaocrawl.topic.tables import read_sites, read_terms, write_terms

PACK = TopicPack(
    name="qiao", title="侨[red]情", description="说明", threshold=0.2,
    terms=(Term("侨批", "culture", 1.5), Term("华商", "business", note="n")),
    sites=(Site("www.chinaqw.com", "侨网", "authoritative", 1, "中国", "news",
                "http://www.chinaqw.com/a", True),),
    samples=(Sample("a", "题", "文", True),), language="zh-Hant",
)  # fmt: skip

Run = Callable[..., str]


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("QIAO_TOPICS_DIR", str(tmp_path / "topics"))
    found = f"sqlite:///{tmp_path / 'q.db'}"
    monkeypatch.setenv("QIAO_DATABASE_URL", found)
    monkeypatch.setenv("COLUMNS", "200")
    save_pack(PACK, tmp_path / "topics" / "qiao")
    return found


@pytest.fixture
def run(url: str) -> Run:
    def invoke(*arguments: object) -> str:
        result: Result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output

    return invoke


def _stored(url: str, name: str = "qiao") -> TopicPack:
    with Database.open(url) as database, database.engine.connect() as c:
        return load_stored(c, name)


def _table(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_import_makes_the_database_hold_the_pack(run: Run, url: str) -> None:
    told = run("import", "qiao")
    assert ": new topic\n" in told
    assert "qiaocrawl crawl site -a topic=qiao" in told
    assert _stored(url) == PACK
    assert ": updated" in run("import", "qiao")
    assert _stored(url) == PACK


def test_import_from_a_folder_and_export_give_the_same_files(run: Run, tmp_path: Path) -> None:
    run("import", tmp_path / "topics" / "qiao")
    run("export", "qiao", tmp_path / "out")
    assert load_pack(tmp_path / "out") == PACK
    for path in (tmp_path / "out").rglob("*.*"):
        source = tmp_path / "topics" / "qiao" / path.relative_to(tmp_path / "out")
        assert path.read_bytes() == source.read_bytes()


def test_export_writes_the_pack_folder_again(run: Run, tmp_path: Path) -> None:
    run("import", "qiao")
    run("import", "--terms", _table(tmp_path / "t.csv", "词\n归侨\n"), "--into", "qiao")
    with pytest.raises(ConfigError, match="exists already; --force"):
        run("export", "qiao")
    run("export", "qiao", "--force")
    assert [t.text for t in load_pack(tmp_path / "topics" / "qiao").terms][-1] == "归侨"


def test_tables_merge_and_tell_what_changed(run: Run, url: str, tmp_path: Path) -> None:
    run("import", "qiao")
    terms = _table(tmp_path / "t.csv", "词,类别,权重\n侨批,文化,3\n归侨,群体,1\n")
    sites = _table(tmp_path / "s.csv", "网址\nhttp://www.moe.gov.cn/x\n")
    told = run("import", "--terms", terms, "--sites", sites, "--into", "qiao")
    assert "+ terms: 归侨" in told
    assert "~ terms: 侨批" in told
    assert "+ sites: www.moe.gov.cn" in told
    stored = _stored(url)
    assert [(t.text, t.weight) for t in stored.terms] == [
        ("侨批", 3.0), ("华商", 3.0), ("归侨", 1.0),
    ]  # fmt: skip
    assert [site.host for site in stored.sites] == ["www.chinaqw.com", "www.moe.gov.cn"]
    assert replace(stored, terms=PACK.terms, sites=PACK.sites) == PACK


def test_replace_removes_only_in_the_tables_given(run: Run, url: str, tmp_path: Path) -> None:
    run("import", "qiao")
    terms = _table(tmp_path / "t.csv", "词\n归侨\n")
    told = run("import", "--terms", terms, "--into", "qiao", "--replace")
    assert "- terms: 侨批, 华商" in told
    assert _stored(url) == replace(PACK, terms=(Term("归侨", "other"),))


def test_importing_a_pack_keeps_what_was_added_since(run: Run, url: str, tmp_path: Path) -> None:
    run("import", "qiao")
    run("import", "--terms", _table(tmp_path / "t.csv", "词\n归侨\n"), "--into", "qiao")
    run("import", "qiao")
    assert [term.text for term in _stored(url).terms] == ["侨批", "华商", "归侨"]
    run("import", "qiao", "--replace")
    assert _stored(url) == PACK


def test_tables_make_a_new_topic_but_not_by_a_slip(run: Run, url: str, tmp_path: Path) -> None:
    terms = _table(tmp_path / "t.csv", "词\n归侨\n")
    run("import", "qiao")
    with pytest.raises(ConfigError, match="did you mean 'qiao'"):
        run("import", "--terms", terms, "--into", "qiaoo")
    run("import", "--terms", terms, "--into", "wenlv")
    assert _stored(url, "wenlv").terms == (Term("归侨", "other"),)


def test_a_dry_run_writes_nothing(run: Run, url: str, tmp_path: Path) -> None:
    told = run("import", "qiao", "--dry-run")
    assert "nothing written" in told
    with pytest.raises(SchemaError):
        run("show", "qiao")
    run("import", "qiao")
    terms = _table(tmp_path / "t.csv", "词\n归侨\n")
    told = run("import", "--terms", terms, "--into", "qiao", "--replace", "--dry-run")
    assert "- terms: 侨批, 华商" in told
    assert _stored(url) == PACK


def test_one_bad_row_stops_the_whole_import(run: Run, url: str, tmp_path: Path) -> None:
    run("import", "qiao")
    terms = _table(tmp_path / "t.csv", "词,权重\n归侨,1\n侨眷,x\n")
    sites = _table(tmp_path / "s.csv", "主机\nwww.moe.gov.cn\nnodot\n")
    with pytest.raises(TopicError) as caught:
        run("import", "--terms", terms, "--sites", sites, "--into", "qiao")
    assert [str(fault)[:8] for fault in caught.value.faults] == ["t.csv:3:", "s.csv:3:"]
    assert _stored(url) == PACK


def test_a_table_without_rows_is_no_import(run: Run, tmp_path: Path) -> None:
    run("import", "qiao")
    terms = _table(tmp_path / "t.csv", "词\n")
    with pytest.raises(TopicError, match="nothing imported") as caught:
        run("import", "--terms", terms, "--into", "qiao", "--replace")
    assert "no rows" in caught.value.faults[0].reason


WRONG: list[tuple[list[str], type[QiaoError], str]] = [
    (["import"], ConfigError, "give a pack, or tables"),
    (["import", "qiao", "--into", "x"], ConfigError, "give a pack, or tables"),
    (["import", "--terms", "t.csv"], ConfigError, "need --into"),
    (["import", "qiao", "--terms", "t.csv", "--into", "x"], ConfigError, "need --into"),
    (["import", "--terms", "t.csv", "--into", "X y"], ConfigError, "the name 'X y'"),
    (["import", "qia"], ConfigError, "did you mean 'qiao'"),
    (["import", "/nowhere"], ConfigError, "no pack '/nowhere'"),
    (["import", "qiao", "--database", "oracle:x"], ConfigError, "QIAO_DATABASE_URL"),
    (["export", "qiao"], StorageError, "db upgrade"),
    (["export", "qiao", "x", "--terms", "t.csv"], ConfigError, "not both"),
]


@pytest.mark.parametrize(("arguments", "kind", "word"), WRONG)
def test_wrong_commands_are_told_what_is_right(
    run: Run, arguments: list[str], kind: type[QiaoError], word: str
) -> None:
    with pytest.raises(kind, match=word):
        run(*arguments)


def test_unknown_topics_are_told(run: Run) -> None:
    run("import", "qiao")
    for command in ("show", "export"):
        with pytest.raises(StorageError, match="'none'"):
            run(command, "none")


def test_export_of_tables(run: Run, tmp_path: Path) -> None:
    run("import", "qiao")
    run("export", "qiao", "--terms", tmp_path / "t.xlsx", "--sites", tmp_path / "s.csv")
    assert read_terms(tmp_path / "t.xlsx") == PACK.terms
    assert read_sites(tmp_path / "s.csv") == PACK.sites


def test_export_leaves_foreign_folders_alone(run: Run, tmp_path: Path) -> None:
    run("import", "qiao")
    (tmp_path / "mine").mkdir()
    _table(tmp_path / "mine" / "notes.txt", "x")
    with pytest.raises(TopicError, match="not empty"):
        run("export", "qiao", tmp_path / "mine")


def test_list_tells_imported_from_not_imported(run: Run, tmp_path: Path) -> None:
    save_pack(replace(PACK, name="other"), tmp_path / "topics" / "other")
    save_pack(replace(PACK, name="broken"), tmp_path / "topics" / "broken")
    _table(tmp_path / "topics" / "broken" / "terms.csv", "x\n")
    assert "folder, not imported" in run("list")
    run("import", "qiao")
    lines = {line.split()[1]: line for line in run("list").splitlines() if "│" in line}
    assert "database" in lines["qiao"]
    assert "侨[red]情" in lines["qiao"]
    assert "folder, not imported" in lines["other"]
    assert "has faults" in lines["broken"]


def test_show_tells_all_of_a_topic(run: Run, tmp_path: Path) -> None:
    run("import", "qiao")
    many = [Term(f"词{number}", "other") for number in range(30)]
    write_terms(many, tmp_path / "t.csv")
    run("import", "--terms", tmp_path / "t.csv", "--into", "qiao")
    told = run("show", "qiao")
    for word in ("侨[red]情", "侨批", "www.chinaqw.com", "a: 题", "12 more"):
        assert word in told
    assert "词29" not in told
    assert "词29" in run("show", "qiao", "--all")


def test_check_reads_packs_and_tables_without_a_database(run: Run, tmp_path: Path) -> None:
    assert "all is well" in run("check")
    assert "all is well" in run("check", "qiao", "--terms", _table(tmp_path / "t.csv", "词\n侨\n"))
    assert not (tmp_path / "q.db").exists()
    _table(tmp_path / "topics" / "qiao" / "terms.csv", "词,权重\n侨,0\n")
    _table(tmp_path / "t.csv", "词,权重\n侨,x\n")
    with pytest.raises(TopicError, match="2 faults") as caught:
        run("check", "qiao", "--terms", tmp_path / "t.csv")
    told = [str(fault) for fault in caught.value.faults]
    assert told[0].startswith(str(tmp_path / "topics" / "qiao" / "terms.csv") + ":2:")
    assert told[1].startswith("t.csv:2:")


def test_shipped_packs_are_there_without_any_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_TOPICS_DIR", str(tmp_path / "nowhere"))
    assert "qiaoqing" in run("check")
    assert "qiaoqing 侨情: new topic" in run("import", "qiaoqing")
