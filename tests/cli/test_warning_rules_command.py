"""``qiaocrawl warnings rules``, ``check`` without a file of them, ``unmute``."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_runs import Run
from qiaocrawl.news.warnings.rules import read_rules
from qiaocrawl.storage import Database, audit_log
from told_stories import make_stories

RULES = (
    '[[rule]]\nname = "火情"\nseverity = "urgent"\nany_of = ["失火"]\nchannels = "desk"\n'
    '[[rule]]\nname = "多家"\nleast_outlets = 9\nenabled = false\n'
    '[quiet]\nbegin = "22:00"\nend = "07:00"\npasses = ""\n'
)


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with stories, and no option that names a file."""
    monkeypatch.setenv("QIAO_LANG", "en")
    for name in ("QIAO_WARNING_RULES", "QIAO_WARNING_CHANNELS"):
        monkeypatch.delenv(name, raising=False)
    make_stories(database_url)
    return database_url


def test_rules_are_taken_from_a_file_listed_and_written(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, error = run("warnings", "rules", "--database", url)
    assert (code, error) == (0, "")
    assert "there is no rule yet" in out
    code, _out, error = run("warnings", "check", "--database", url)
    assert code != 0
    assert "there are no rules" in error
    file, written = tmp_path / "in.toml", tmp_path / "out.toml"
    file.write_text(RULES, "utf-8")
    code, out, error = run("warnings", "rules", "--from", str(file), "--database", url)
    assert (code, error) == (0, "")
    assert "rules: 2 added, 0 changed" in out
    assert "0 added" in run("warnings", "rules", "--from", str(file), "--database", url)[1]
    code, out, _error = run("warnings", "rules", "--database", url)
    for words in ("火情", "any of: 失火", "database, switched off", "22:00 to 07:00"):
        assert words in out, words
    code, out, error = run("warnings", "rules", "--out", str(written), "--database", url)
    assert code == 0, error
    there, back = read_rules(file), read_rules(written)
    assert (sorted(back.rules, key=str), back.quiet) == (sorted(there.rules, key=str), there.quiet)
    with Database.open(url) as database, database.engine.connect() as c:
        assert [entry.action for entry in audit_log.entries(c)] == ["rule.import"] * 2
    # The file's word counts.
    file.write_text('[[rule]]\nname = "火情"\nleast_outlets = 50\n', "utf-8")
    monkeypatch.setenv("QIAO_WARNING_RULES", str(file))
    assert "but the file's counts" in run("warnings", "rules", "--database", url)[1]
    code, out, _error = run("warnings", "rules", "--from", str(file), "--database", url)
    assert "has rules of these names" in out


def test_rules_of_the_database_are_checked(run: Run, url: str, tmp_path: Path) -> None:
    file = tmp_path / "in.toml"
    file.write_text('[[rule]]\nname = "火情"\nany_of = ["失火"]\n', "utf-8")
    run("warnings", "rules", "--from", str(file), "--database", url)
    code, out, error = run("warnings", "check", "--database", url)
    assert (code, error) == (0, "")
    assert "1 open" in out
    assert "马德里" in run("warnings", "list", "--database", url)[1]
    for command, words in (("mute", "no warning is open"), ("unmute", "马德里")):
        code, _out, error = run("warnings", command, "1", "--database", url)
        assert (code, error) == (0, "")
        assert words in run("warnings", "list", "--database", url)[1]
    code, _out, error = run("warnings", "unmute", "99", "--database", url)
    assert code != 0
    assert "99" in error


def test_what_is_wrong_with_a_file_is_said_and_nothing_is_taken(
    run: Run, url: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.toml"
    file.write_text('[[rule]]\nname = "a"\n[[rule]]\nname = "b"\nmost_tier = 9\n', "utf-8")
    code, _out, error = run("warnings", "rules", "--from", str(file), "--database", url)
    assert code != 0
    assert "rule[2].most_tier" in error
    assert "there is no rule yet" in run("warnings", "rules", "--database", url)[1]
