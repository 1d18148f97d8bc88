"""The folders of an account, one without a home too."""

from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from qiaocrawl.cli.setup import _install
from qiaocrawl.errors import ConfigError, OntologyError, ReplayError
from qiaocrawl.fetch.replay.web import default_folder
from qiaocrawl.ontology import sources as ontologies
from qiaocrawl.options.project import user_cache_folder, user_data_folder, user_units_folder


@pytest.fixture
def _no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)

    def unknown(_who: object) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(pwd, "getpwnam", unknown)


@pytest.mark.parametrize(("folder", "variable", "usual", "below"), [
    (user_cache_folder, "XDG_CACHE_HOME", ".cache", "qiaocrawl"),
    (user_data_folder, "XDG_DATA_HOME", ".local/share", "qiaocrawl"),
    (user_units_folder, "XDG_CONFIG_HOME", ".config", "systemd/user"),
])  # fmt: skip
def test_a_folder_is_the_named_one_unless_that_is_relative(
    folder: object, variable: str, usual: str, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(folder)
    monkeypatch.setenv("HOME", "/home/me")
    for named, base in (
        ("/else", "/else"),
        ("", f"/home/me/{usual}"),
        ("a/b", f"/home/me/{usual}"),
    ):
        monkeypatch.setenv(variable, named)
        assert folder() == Path(base) / below


@pytest.mark.usefixtures("_no_home")
def test_without_a_home_there_is_the_own_ontology(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ontologies, "_in_use", [""])
    assert [one.name for one in ontologies.current_ontology().wordnets] == [ontologies.OWN]
    monkeypatch.setattr(ontologies, "_in_use", ["~nosuch/wordnets"])
    with pytest.raises(OntologyError, match="'~nosuch/wordnets': there is no such home"):
        ontologies.current_ontology()


@pytest.mark.usefixtures("_no_home")
def test_what_needs_a_home_says_so() -> None:
    with pytest.raises(OntologyError, match="QIAO_ONTOLOGY_DIR '': there is no such home"):
        ontologies.folder_of("")
    with pytest.raises(ReplayError, match="set XDG_CACHE_HOME"):
        default_folder()
    with pytest.raises(ConfigError, match="use cron"):
        _install({})
