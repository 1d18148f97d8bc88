"""Inner loops: machine code where they were compiled, the same Python elsewhere, and never old."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from qiaocrawl import kernels
from qiaocrawl.kernels import loop_modules, stale_loops, use_archive

ROOT = Path(__file__).resolve().parents[2]
DECLARED = sorted(ROOT.glob("qiaocrawl/**/*.pxd"))
needs_machine_code = pytest.mark.skipif(
    not any(loop_modules().values()), reason="no C compiler, or no Python.h: loops run as Python"
)


@needs_machine_code
def test_all_or_none_is_machine_code_and_of_the_present_sources() -> None:
    modules = loop_modules()
    assert len(modules) == len(DECLARED) > 0
    assert all(modules.values()), "make install"
    assert stale_loops() == [], "make install"


@pytest.mark.parametrize("declared", DECLARED, ids=lambda path: path.stem)
def test_the_compiler_refuses_what_has_no_type(declared: Path) -> None:
    # A function with nogil may hold no Python object: an untyped variable, which is as slow as
    # Python, does not compile.
    text = declared.read_text("utf-8")
    functions = re.findall(r"^cp?def [^()\n]*\([^()]*\)(.*)$", text, re.MULTILINE)
    assert functions
    assert set(functions) == {" noexcept nogil"}


def test_a_source_that_is_newer_than_its_machine_code_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "qiaocrawl"
    (package / "x").mkdir(parents=True)
    monkeypatch.setattr(kernels, "_PACKAGE", package)
    for at, name in enumerate(("loop.py", "loop.pxd", "loop.abi3.so")):
        (package / "x" / name).write_text("")
        os.utime(package / "x" / name, (at, at))
    assert stale_loops() == [], "an installed package is not edited"
    (tmp_path / "setup.py").write_text("")
    assert stale_loops() == []
    os.utime(package / "x" / "loop.pxd", (9, 9))
    assert stale_loops() == ["qiaocrawl/x/loop.pxd"]
    (package / "x" / "loop.py").unlink()
    assert stale_loops() == ["qiaocrawl/x/loop.pxd", "qiaocrawl/x/loop.py"]


def test_without_a_compiler_the_package_builds_and_loops_stay_python(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--force",
         "--build-lib", str(tmp_path / "lib"), "--build-temp", str(tmp_path / "temp")],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "CC": str(tmp_path / "nothing")},
    )  # fmt: skip
    assert not [*tmp_path.rglob("*.so")]
    assert "failed" in made.stdout + made.stderr


# --- in an egg ----------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    return tmp_path / "cache" / "qiaocrawl" / "loops"


def _egg(folder: Path, machine_code: dict[str, bytes]) -> Path:
    egg = folder / "project.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for name, data in machine_code.items():
            archive.writestr(name, data)
    return egg


@needs_machine_code
def test_an_egg_s_machine_code_is_copied_out_once_and_imported(tmp_path: Path, cache: Path) -> None:
    name = "qiaocrawl.news.logistic"
    code = (ROOT / "qiaocrawl/news/logistic.abi3.so").read_bytes()
    egg = _egg(tmp_path, {"qiaocrawl/news/logistic.abi3.so": code})
    use_archive(egg)
    (kept,) = cache.rglob("*.so")
    found = importlib.util.find_spec(name) if name not in sys.modules else None
    spec = found or sys.meta_path[0].find_spec(name, None)  # type: ignore[union-attr]
    assert spec is not None
    assert spec.origin == str(kept)
    assert kept.read_bytes() == code
    written = kept.stat().st_mtime_ns
    use_archive(egg)
    assert kept.stat().st_mtime_ns == written
    assert [*cache.rglob("*.so")] == [kept]


@pytest.mark.parametrize("code", [b"", b"\x7fELF of another processor"])
def test_machine_code_that_cannot_run_here_is_said_and_left(
    tmp_path: Path, cache: Path, caplog: pytest.LogCaptureFixture, code: bytes
) -> None:
    finders = [*sys.meta_path]
    use_archive(_egg(tmp_path, {"qiaocrawl/news/logistic.abi3.so": code}))
    assert sys.meta_path == finders
    assert "inner loops of project.egg run as Python" in caplog.text


def test_an_egg_without_machine_code_is_left_as_it_is(
    tmp_path: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    finders = [*sys.meta_path]
    use_archive(_egg(tmp_path, {"qiaocrawl/news/logistic.py": b""}))
    assert sys.meta_path == finders
    assert not caplog.text
