"""Plug-ins of other packages: the example of CONTRIBUTING.md installed and run, and bad ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qiaocrawl.dedup.methods import methods
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.base import exporters
from qiaocrawl.extract.base import extractors
from qiaocrawl.frontier import strategies
from qiaocrawl.registry import Registry
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.revisit import estimators, policies

ROOT = Path(__file__).resolve().parents[1]
DOCS = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
KINDS: tuple[Registry[object], ...] = (
    extractors,
    page_scorers,
    strategies,
    methods,
    exporters,
    estimators,
    policies,
)  # type: ignore[assignment]
PARAGRAPH = "侨乡华文学校今日开学，来自十二个国家的两百名学生参加了典礼，校长介绍了新课程。"


def example(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)
    assert found is not None
    return found[1]


def installed(folder: Path, name: str, group: str, entries: str, code: str) -> None:
    """A package as pip leaves it: a module, and the metadata with its entry points."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code)
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{entries}\n")


def a_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[object]:
    """A registry of its own over an empty package, looking for the group ``qiao_test``."""
    package = tmp_path / "own" / "empty_plugins"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "builtin.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "empty_plugins", raising=False)
    registry: Registry[object] = Registry("thing", "qiao_test", "empty_plugins")
    registry.register("ours")(object())
    return registry


def test_the_documented_example_installs_and_runs(tmp_path: Path) -> None:
    source, target = tmp_path / "longest-text", tmp_path / "site"
    source.mkdir()
    (source / "longest_text.py").write_text(example("python"))
    (source / "pyproject.toml").write_text(example("toml"))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--target", target, source],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    page = tmp_path / "page.html"
    page.write_text(f"<title>开学</title><h1>开学</h1><p>{PARAGRAPH}</p><p>短</p>", "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(target), str(ROOT)))}

    def qiaocrawl(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "qiaocrawl", *arguments],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "longest" in qiaocrawl("extractors", "list")
    assert PARAGRAPH[:20] in qiaocrawl("extract", str(page), "--method", "longest")


def test_every_group_of_the_docs_is_looked_for() -> None:
    documented = set(re.findall(r"\| `(qiaocrawl\.\w+)` \|", DOCS))
    assert documented == {registry.group for registry in KINDS}


def test_a_plug_in_of_another_package_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "site", "qt_good", "qiao_test", "theirs = qt_good:thing", "thing = 7")
    registry = a_registry(tmp_path, monkeypatch)
    assert registry.names() == ["ours", "theirs"]
    assert registry.get("theirs") == 7


def test_a_broken_package_costs_only_who_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "site", "qt_broken", "qiao_test", "theirs = qt_broken:thing", "1 / 0")
    registry = a_registry(tmp_path, monkeypatch)
    assert registry.get("ours") is not None
    with pytest.raises(ConfigError, match=r"thing 'theirs' of qt_broken:thing \(package qt_broken"):
        registry.get("theirs")


@pytest.mark.parametrize("name", ["ours", "theirs"])
def test_a_name_that_is_taken_is_an_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "site", "qt_one", "qiao_test", "theirs = qt_one:thing", "thing = 1")
    installed(tmp_path / "site", "qt_two", "qiao_test", f"{name} = qt_two:thing", "thing = 2")
    with pytest.raises(ConfigError, match=f"two things are called '{name}'"):
        a_registry(tmp_path, monkeypatch).names()


def test_an_unknown_name_lists_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "site", "qt_near", "qiao_test", "theirs = qt_near:thing", "thing = 1")
    with pytest.raises(ConfigError, match=r"'their'; did you mean 'theirs'\? \(there are: ours"):
        a_registry(tmp_path, monkeypatch).get("their")
