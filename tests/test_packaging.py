"""What an installation brings: every file, every dependency, and pins for all of them."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from wheel_fixtures import PACKAGES, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# Part of the interface of a declared dependency, which also decides their versions.
COME_ALONG = {"twisted": "scrapy", "playwright": "scrapy-playwright", "zope": "scrapy",
              "itemadapter": "scrapy",
              "pydantic_core": "pydantic", "markupsafe": "jinja2", "requests": "apprise",
              "anyio": "starlette", "joserfc": "authlib", "httpcore": "httpx",
              "urllib3": "apprise"}  # fmt: skip
# Imported by a dependency when it needs it, never by us.
LOADED_BY_OTHERS = {"python-multipart": "starlette, for forms"}


def _requirements(text: str) -> dict[str, Requirement]:
    lines = [line.strip() for line in text.splitlines()]
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


def _extra(name: str) -> dict[str, Requirement]:
    found = map(Requirement, PROJECT["optional-dependencies"][name])
    return {canonicalize_name(requirement.name): requirement for requirement in found}


# What a wheel asks for, and what it leaves to extras.
CORE, EXTRAS = map(
    _requirements, re.split("# --- extras.*", (ROOT / "requirements.txt").read_text("utf-8"))
)
PINS = _requirements((ROOT / "constraints.txt").read_text("utf-8"))
RENDER, DASK, DATA, MCP, STAMP, OIDC = map(
    _extra, ("render", "dask", "data", "mcp", "stamp", "oidc")
)
TESTS, BENCHMARK = _extra("test"), _extra("benchmark")
# Below this line of constraints.txt stands what only the benchmark extra brings, which need
# not be installed here.
_, _, _tail = (ROOT / "constraints.txt").read_text("utf-8").partition("extra `benchmark`")
ONLY_BENCHMARK = {
    canonicalize_name(line.partition("==")[0]) for line in _tail.split("\n")[1:] if line
}


def test_every_requirement_has_a_lower_bound_and_a_reason() -> None:
    reason = False
    for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            assert reason, f"{line}: say why above it"
            assert [s.operator for s in Requirement(line).specifier] == [">="], line
        # The head of the file ends with an empty line; it is no reason.
        reason = line.startswith("#")


def test_an_upper_bound_says_why() -> None:
    lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
    bounded = [n for n, line in enumerate(lines) if re.match(r'\s*"[\w.-]+[^"]*<[^"]*",$', line)]
    assert bounded, "setuptools has one"
    assert [lines[n] for n in bounded if not lines[n - 1].strip().startswith("#")] == []


def test_everything_needed_is_pinned_exactly_and_within_the_bounds() -> None:
    for name, pin in PINS.items():
        assert re.fullmatch(r"==[\w.+!]+", str(pin.specifier)), name
    assert RENDER == EXTRAS
    assert {**EXTRAS, **DASK}.items() <= TESTS.items(), "what is optional is tested"
    for name, requirement in {**CORE, **TESTS, **BENCHMARK}.items():
        assert name in PINS, f"{name} is not pinned in constraints.txt"
        version = str(PINS[name].specifier).removeprefix("==")
        assert requirement.specifier.contains(version), f"{requirement} against {version}"


def test_whatever_the_dependencies_need_is_pinned_too() -> None:
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the pins are those of Python 3.11; later ones need fewer")
    missing, waiting, seen = [], [*CORE, *TESTS], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{name} is not installed here")
        for text in needs:
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                if canonicalize_name(need.name) not in PINS:
                    missing.append(f"{need.name}, needed by {name}")
                waiting.append(canonicalize_name(need.name))
    assert missing == []
    # pip, setuptools and Cython are pinned for the installation itself.
    unneeded = set(PINS) - seen - {"pip", "setuptools", "cython"} - ONLY_BENCHMARK
    assert unneeded == set(), "pinned, but nothing needs them"
    assert set(BENCHMARK) <= ONLY_BENCHMARK
    assert not seen & ONLY_BENCHMARK, "needed by more than the benchmarks: move the pin up"


def test_every_import_is_a_declared_dependency_and_the_other_way_round() -> None:
    imported: dict[str, str] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for name in _imported(ast.parse(path.read_text("utf-8"))):
                imported.setdefault(name, str(path.relative_to(ROOT)))
    declared = {**CORE, **EXTRAS, **DASK, **DATA, **MCP, **STAMP, **OIDC}
    ours = {*PACKAGES, *sys.stdlib_module_names, "compression"}
    if sys.version_info >= (3, 14):
        # It has what is asked for before: `compression.zstd`.
        ours.add("backports")
        del declared["backports-zstd"]
    by_module = importlib.metadata.packages_distributions()
    undeclared = {
        f"{module} ({path})"
        for module, path in imported.items()
        if module not in ours
        and COME_ALONG.get(module) not in declared
        and not {canonicalize_name(d) for d in by_module.get(module, [])} & set(declared)
    }
    assert undeclared == set()
    used = {canonicalize_name(d) for module in imported for d in by_module.get(module, [])}
    unused = set(declared) - used - set(LOADED_BY_OTHERS)
    assert unused == set(), "required, but nothing imports it"


def _imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").split(".")[0])
    return names


def _is_cache(path: Path) -> bool:
    inside = path.relative_to(ROOT).parts
    return any(part == "__pycache__" or part.startswith(".") for part in inside)


def test_the_wheel_carries_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        carried = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in carried} == {"qiaocrawl"}, "one name in all"
    # What stands beside the package in a clone is in it when installed.
    tree = {
        str(Path("qiaocrawl") / path.relative_to(ROOT)).replace("qiaocrawl/qiaocrawl", "qiaocrawl")
        for package in (*PACKAGES, "docs")
        for path in (ROOT / package).rglob("*.md" if package == "docs" else "*")
        if path.is_file() and not _is_cache(path)
    }
    assert tree - carried == set(), "add the pattern to package-data in pyproject.toml"
    assert carried - tree == set()


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = {n.rpartition("/")[2]: archive.read(n).decode() for n in archive.namelist()
                if ".dist-info/" in n}  # fmt: skip
    metadata = text["METADATA"]
    assert re.search(r"^License-Expression: Apache-2\.0$", metadata, re.M)
    required = re.findall(r"^Requires-Dist: (.*)$", metadata, re.M)
    plain = {canonicalize_name(Requirement(r).name) for r in required if "extra ==" not in r}
    assert plain == set(CORE)
    assert "qiaocrawl = qiaocrawl.__main__:main" in text["entry_points.txt"]
    assert "settings = qiaocrawl.settings" in text["entry_points.txt"]
    assert "Apache License" in text["LICENSE"]
    assert Version(re.search(r"^Version: (.*)$", metadata, re.M)[1])  # type: ignore[index]


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_an_installed_wheel_works_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    def said(*command: str, folder: Path = tmp_path) -> str:
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("QIAO_", "PYTHON", "SCRAPY_"))}  # fmt: skip
        done = subprocess.run([installed / command[0], *command[1:]], cwd=folder, timeout=300,
                              capture_output=True, text=True, env=environment)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    # Names of everybody's where one works are in nobody's way.
    for name in ("spiders", "pipelines", "middlewares"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('the wrong package')")
    where = "import qiaocrawl.settings as s, qiaocrawl.spiders as p; print(s.__file__, p.__file__)"
    for path in said("python", "-c", where).split():
        assert Path(path).is_relative_to(installed.parent), "the wheel is tested, not this tree"
    assert "侨情" in said("qiaocrawl", "topic", "check", "qiaoqing")
    assert "# " in said("qiaocrawl", "docs", "running"), "the manual travels"
    said("qiaocrawl", "init", "--yes", "--topic", "qiaoqing")
    assert "qiaoqing" in said("qiaocrawl", "topic", "list")
    assert (tmp_path / "data" / "qiaocrawl.db").is_file()
    work = tmp_path / "work"
    said("qiaocrawl", "startproject", str(work), "--name", "news")
    spiders = said("python", "-m", "scrapy", "list", folder=work).split()
    assert {"search", "site", "pages", "watch"} <= set(spiders)
