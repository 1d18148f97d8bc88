"""`make release`: what it refuses, and a whole one in a clone of this tree."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "release.py"
_CHANGELOG = (
    "# Changelog\n\n## [Unreleased]\n\n- **More.**\n\n## [0.1.0] - 2026-01-02\n\n- First.\n"
)


@pytest.fixture
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_changelog_says_what_is_in_the_version_and_has_room_for_the_next(
    release: ModuleType,
) -> None:
    written = release.with_heading(_CHANGELOG, "0.2.0", "2026-03-04")
    assert "## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n- **More.**\n\n## [0.1.0]" in written
    with pytest.raises(release.ReleaseError, match="nothing under"):
        release.with_heading(written, "0.3.0", "2026-03-05")
    with pytest.raises(release.ReleaseError, match=r"0\.1\.0 already"):
        release.with_heading(_CHANGELOG, "0.1.0", "2026-03-05")


@pytest.mark.parametrize(
    "version", ["", "none", "1.2", "v1.2.3", "1.2.3-beta", "0.9.0", "1.0.0rc1"]
)
def test_a_version_is_newer_than_all(release: ModuleType, version: str) -> None:
    release.require_newer("1.0.1", ["v1.0.0", "v0.9.9", "vnext"])
    release.require_newer("0.1.0", [])
    with pytest.raises(release.ReleaseError, match="VERSION must be|is not above"):
        release.require_newer(version, ["v1.0.0"])


def test_the_version_of_the_package_is_the_one_line(release: ModuleType) -> None:
    text = (ROOT / "qiaocrawl" / "__init__.py").read_text("utf-8")
    assert '\n__version__ = "7.8.9"\n' in release.with_version(text, "7.8.9")
    with pytest.raises(release.ReleaseError, match="no line"):
        release.with_version("", "7.8.9")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with what is in this tree now, committed or not, and no history."""
    target = tmp_path / "clone"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a clone: a release is made of one")
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        _git(target, *command)
    return target


def _git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True,
                          check=True)  # fmt: skip
    return done.stdout


def _release(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/release.py", *arguments],
        cwd=clone, capture_output=True, text=True, timeout=1_500, check=False,
    )  # fmt: skip


def test_changes_that_are_not_committed_and_failing_checks_are_refused(clone: Path) -> None:
    done = _release(clone, "9.0.0", "--check", "exit 3")
    assert (done.returncode, done.stderr) == (1, "no release: the check failed: exit 3\n")
    (clone / "new.txt").write_text("new")
    done = _release(clone, "9.0.0", "--check", "true")
    assert done.returncode == 1
    assert "not committed (1):\n  ?? new.txt" in done.stderr
    assert not (clone / "dist").exists()


@pytest.mark.thorough
@pytest.mark.timeout(1_800)
def test_a_release_is_whole_and_installs_by_hashes(clone: Path, tmp_path: Path) -> None:
    _git(clone, "config", "user.name", "t")
    _git(clone, "config", "user.email", "t@example.org")
    done = _release(clone, "9.0.0", "--check", "true", "--out", str(tmp_path / "out"))
    if "No matching distribution" in done.stderr or "error sending request" in done.stderr:
        pytest.skip("no package index is reached")
    assert done.returncode == 0, done.stderr
    # On trial nothing changes; the same for real is committed and tagged.
    assert _git(clone, "status", "--porcelain") + _git(clone, "tag") == ""
    out = tmp_path / "out"
    (wheel,) = out.glob("qiaocrawl-9.0.0-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert b'__version__ = "9.0.0"' in archive.read("qiaocrawl/__init__.py")
    with tarfile.open(out / "qiaocrawl-9.0.0.tar.gz") as archive:
        changelog = archive.extractfile("qiaocrawl-9.0.0/CHANGELOG.md")
        assert changelog is not None
        assert "## [9.0.0] - 20" in changelog.read().decode()
    requirements = (out / "requirements.txt").read_text("utf-8")
    assert requirements.count("==") == requirements.count("\n    # via") > 90
    bill = json.loads((out / "sbom.cdx.json").read_text("utf-8"))
    parts = bill["components"]
    assert bill["metadata"]["component"]["name"] == "qiaocrawl"
    assert {"Scrapy", "numpy"} <= {part["name"] for part in parts}
    page = (out / "LICENCES.md").read_text("utf-8")
    assert page.count("\n| ") == len(parts) + 1
    sums = (out / "SHA256SUMS").read_text("utf-8").splitlines()
    assert {line.split()[1] for line in sums} == {path.name for path in out.iterdir()} - {
        "SHA256SUMS"
    }
