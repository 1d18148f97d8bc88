"""``qiaocrawl topic judge`` and ``topic judgements``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import Term, TopicPack

Run = Callable[..., tuple[int, str, str]]


def test_pages_are_judged_and_listed(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            save_pack(c, TopicPack("t", "题", "", 0.1, (Term("侨", "core"),), (), ()), now=1.0)
    given = ("--database", url)
    code, out, _ = run("topic", "judge", "t", "HTTP://A.test:80/x#y", "是", "--note", "乡情",
                       *given)  # fmt: skip
    assert code == 0
    assert out == ("http://a.test/x: 是 yes\nthere is no article at this address yet;"
                   " the judgement counts once there is\n")  # fmt: skip
    assert run("topic", "judge", "t", "http://a.test/x", "no", *given)[0] == 0
    code, out, _ = run("topic", "judgements", "t", *given)
    assert code == 0
    (row,) = [line for line in out.splitlines() if "a.test" in line]
    assert [cell.strip() for cell in row.split("│")[2:-1]] == [
        "否 no", "http://a.test/x", "(无 none yet)", "",
    ]  # fmt: skip
    assert run("topic", "export", "t", str(tmp_path / "t"), "--judgements", *given)[0] == 0
    assert load_pack(tmp_path / "t").samples == ()


def test_what_is_no_answer_no_address_and_no_topic_is_named(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        database.upgrade()
    for arguments, said in (
        (("t", "http://a.test/", "maybe"), "yes or no (是 or 否), got 'maybe'"),
        (("t", "mailto:a@a.test", "yes"), "'mailto:a@a.test' is not the http(s) address"),
        (("t", "http://a.test/", "yes"), "topic 't' is not in the database"),
        (("\udcff", "http://a.test/", "yes"), "is not in the database"),
    ):
        code, _, err = run("topic", "judge", *arguments, "--database", url)
        assert code == 1
        assert said in err
