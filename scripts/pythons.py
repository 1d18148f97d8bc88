"""`make test-versions`: a chosen part of the tests on each Python, with the newest of everything.

    python scripts/pythons.py [VERSION ...] [-- ARGUMENTS OF PYTEST]

For each Python an environment of its own in `.versions`: without the pins of constraints.txt, so
that Scrapy, Twisted, lxml, SQLAlchemy and all else are the newest that our bounds allow. A Python
is taken from the system, pyenv or uv; where it is nowhere, Debian's packages of it are unpacked
beside the system. Exit code 1: tests failed somewhere, an environment could not be made, or a
Python that was asked for is not to be had. Without names those that are nowhere are only told.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".versions"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""The classifiers of pyproject.toml name the same: they say what is really tried."""

# Which Debian has one as a package, where the system has none.
_DEBIAN = {"3.13": "trixie", "3.14": "sid"}
# What a release of Python or of a library breaks first; the rest says the same in more ways.
CHOSEN = (
    "tests/text", "tests/urls", "tests/page", "tests/vsm",  # characters, bytes, URLs, numpy
    "tests/kernels", "tests/dedup",  # machine code for a stable interface
    "tests/extract/methods",  # Lexbor and lxml
    "tests/test_options.py", "tests/cli/test_lazy_commands.py",  # Typer, pydantic
    "tests/storage/frontier",  # SQLAlchemy, threads
    "tests/test_other_systems.py", "tests/crawl/test_article_fields.py",  # crawls: Scrapy, Twisted
    "tests/test_packaging.py",  # a wheel, built and installed
)  # fmt: skip
# Servers and browsers are the same for all Pythons.
_MARKS = "not mariadb and not chromium"
_SHOWN = ("Scrapy", "Twisted", "lxml", "SQLAlchemy", "numpy", "pydantic")


class Verdict(NamedTuple):
    """What came of one Python."""

    version: str
    is_good: bool
    said: str


def candidates(version: str) -> Iterator[Path]:
    """Where a Python of *version* may be."""
    name = f"python{version}"
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        yield Path(sys.executable).resolve()
    for folder in os.get_exec_path():
        yield Path(folder) / name
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    uv = home / ".local/share/uv/python"
    for parent, pattern in ((pyenv, f"{version}.*"), (uv, f"cpython-{version}.*")):
        for found in sorted(parent.glob(pattern), reverse=True):
            yield found / "bin" / name
    yield ROOT / ".servers" / name / "usr" / "bin" / name


def is_python(path: Path, version: str) -> bool:
    """Whether *path* runs, is a *version* and can make environments.

    A shim of pyenv has the name of a Python that may not be chosen, and only says so.
    """
    code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [path, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def find_python(version: str) -> Path | str:
    """A Python of *version*, or why there is none."""
    for path in candidates(version):
        if is_python(path, version):
            return path
    if version not in _DEBIAN:
        return "neither in the system nor of pyenv or uv"
    return _unpack_python(version)


def _unpack_python(version: str) -> Path | str:
    """Debian's *version*, unpacked into `.servers` with its own C library, or why it cannot be."""
    name = f"python{version}"
    target = ROOT / ".servers" / name
    python = target / "usr" / "bin" / name
    packages = (name, f"{name}-venv")
    done = subprocess.run(
        [ROOT / "scripts/unpack-debian.sh", target, _DEBIAN[version], f"usr/bin/{name}", *packages],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return (done.stdout + done.stderr).strip()
    # Started by its own loader: the system's C library may be older. An environment links to this
    # script, which hands on by what name it was called; that is how Python finds the environment.
    libraries = next(path for path in (target / "usr/lib").glob("*-linux-gnu") if path.is_dir())
    loader = next(iter(sorted(libraries.glob("ld-linux-*.so.*"))))
    python.rename(python.with_name(f"{name}.elf"))
    python.write_text(
        f'#!/bin/sh\nexec {shlex.quote(str(loader))} --argv0 "$0" --library-path '
        f'{shlex.quote(str(libraries))} {shlex.quote(str(python))}.elf "$@"\n',
        "utf-8",
    )
    python.chmod(0o755)
    return python if is_python(python, version) else f"{python} does not run"


def make_environment(version: str, python: Path) -> Path:
    """The environment of *version* with the newest of what tests need; its Python."""
    home = FOLDER / version
    made = home / "bin" / "python"
    if not is_python(made, version):
        subprocess.run([python, "-m", "venv", "--clear", "--without-pip", home], check=True)
    # With our pip: not every Python has one, and its own may be too old for what is asked.
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", made, "install", "--quiet", "--upgrade",
         "--upgrade-strategy", "eager", "--disable-pip-version-check", "--no-input", "--editable",
         ".[test]", "pip"],
        cwd=ROOT, check=True,
    )  # fmt: skip
    return made


def _versions(python: Path) -> str:
    code = "import sys, importlib.metadata as m; print(*map(m.version, sys.argv[1:]))"
    done = subprocess.run([python, "-c", code, *_SHOWN], capture_output=True, text=True, check=True)
    return ", ".join(f"{name} {v}" for name, v in zip(_SHOWN, done.stdout.split(), strict=True))


def run_tests(python: Path, arguments: Sequence[str]) -> tuple[bool, str]:
    """Whether the tests pass on *python*, and their numbers."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = subprocess.run(
            [python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-p",
             "no:cacheprovider", "-m", _MARKS, f"--junitxml={report}", *arguments],
            cwd=ROOT, check=False,
        )  # fmt: skip
        if not report.is_file():
            return False, f"pytest ended with {done.returncode} and no report"
        counts = ElementTree.parse(report).getroot()[0].attrib
    bad = int(counts["failures"]) + int(counts["errors"])
    tried = int(counts["tests"]) - int(counts["skipped"])
    # A part that was chosen by a wrong name is no proof.
    is_good = done.returncode == 0 and not bad and tried > bad
    return is_good, f"{tried - bad} passed, {bad} failed, {counts['skipped']} skipped"


def try_python(version: str, arguments: Sequence[str]) -> Verdict | str:
    """What came of *version*, or why it cannot be tried here."""
    python = find_python(version)
    if isinstance(python, str):
        return python
    print(f"== Python {version}: {python}", flush=True)
    start = time.monotonic()
    try:
        made = make_environment(version, python)
        print(f"   {_versions(made)}", flush=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Verdict(version, False, f"no environment: {error}")
    installed = time.monotonic()
    is_good, said = run_tests(made, arguments)
    took = f"{installed - start:.0f} s to install, {time.monotonic() - installed:.0f} s of tests"
    return Verdict(version, is_good, f"{said} ({took}; {_versions(made)})")


def main(arguments: Sequence[str]) -> int:
    """Try the Pythons of *arguments*, or all, and say what came of each."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    named, passed = arguments[:cut], arguments[cut + 1 :]
    unknown = [one for one in named if one not in PYTHONS]
    if unknown:
        print(f"no such Python here: {', '.join(unknown)}; there are {', '.join(PYTHONS)}")
        return 1
    tried: list[Verdict] = []
    missing: dict[str, str] = {}
    for version in named or PYTHONS:
        result = try_python(version, passed or CHOSEN)
        if isinstance(result, str):
            missing[version] = result
        else:
            tried.append(result)
    print()
    for version, is_good, said in tried:
        print(f"Python {version}: {'ok' if is_good else 'FAILED'}: {said}")
    for version, why in missing.items():
        print(f"Python {version}: not at hand: {why}")
    is_whole = bool(tried) and not (named and missing)
    return 0 if is_whole and all(one.is_good for one in tried) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
