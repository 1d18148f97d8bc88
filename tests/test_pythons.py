"""`make test-versions`: what it tries is there, and it takes nothing for a Python that is none."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
_HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("pythons")


def test_the_classifiers_name_what_is_tried(script: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"]
             if line.startswith("Programming Language :: Python :: 3.")]  # fmt: skip
    assert tuple(named) == script.PYTHONS
    assert project["requires-python"] == f">={script.PYTHONS[0]}"


def test_the_chosen_tests_are_there(script: ModuleType) -> None:
    assert [name for name in script.CHOSEN if not (ROOT / name).exists()] == []


def test_only_a_python_of_that_version_is_taken(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "python3.99"
    # A shim of pyenv whose version nobody chose says so and ends with 127.
    other.write_text("#!/bin/sh\necho 'pyenv: python3.99: command not found' >&2\nexit 127\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert list(script.candidates("3.99"))[0] == other
    assert script.find_python("3.99") == "neither in the system nor of pyenv or uv"
    assert not script.is_python(Path(sys.executable), "3.99")
    found = script.find_python(_HERE)
    assert script.is_python(found, _HERE)


def test_a_part_that_runs_no_test_is_no_proof(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one():\n    assert 1 + 1 == 2\n")
    (tmp_path / "test_two.py").write_text("def test_two():\n    assert 1 + 1 == 3\n")
    plain = ["-p", "no:randomly", "--rootdir", str(tmp_path)]
    python = Path(sys.executable)
    assert script.run_tests(python, [*plain, str(tmp_path / "test_one.py")])[0]
    is_good, said = script.run_tests(python, [*plain, str(tmp_path)])
    assert (is_good, said) == (False, "1 passed, 1 failed, 0 skipped")
    assert not script.run_tests(python, [*plain, "-k", "nothing", str(tmp_path)])[0]


def test_an_unknown_version_is_refused(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["3.2"]) == 1
    assert "no such Python here: 3.2; there are 3.11, 3.12" in capsys.readouterr().out
