"""The project as an egg, as scrapyd takes it."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from qiaocrawl.errors import ConfigError, JobError
from qiaocrawl.language import _

_BUILD_SECONDS = 300.0
_DIGEST_DIGITS = 10


def egg_digest(egg: bytes) -> str:
    """What tells the code of two eggs apart: nothing of when and where they were built.

    Raises:
        ConfigError: it is no egg.
    """
    digest = sha256()
    try:
        with ZipFile(BytesIO(egg)) as files:
            for name in sorted(files.namelist()):
                # Compiled modules have the time of their sources in them.
                if not name.startswith("EGG-INFO/") and not name.endswith(".pyc"):
                    digest.update(f"{name}\0".encode() + sha256(files.read(name)).digest())
    except BadZipFile:
        raise ConfigError(_("this is no egg")) from None
    return digest.hexdigest()[:_DIGEST_DIGITS]


def version_of(egg: bytes, now: float) -> str:
    """What scrapyd calls *egg*: the time, since it runs the greatest, and what is in it."""
    return f"{now:.0f}-{egg_digest(egg)}"


def code_of(version: str) -> str:
    """What two versions have in common that are the same code; a name of another make as it is."""
    seconds, _dash, digest = version.partition("-")
    return digest if seconds.isdigit() and len(digest) == _DIGEST_DIGITS else version


def build_egg(project: Path) -> bytes:
    """Build the egg of the clone in the folder *project*, which stays as it is.

    Raises:
        ConfigError: there is no project.
        JobError: it cannot be built.
    """
    if not (project / "setup.py").is_file():
        raise ConfigError(
            _("{folder}: no setup.py; go to a clone of the project, or give --egg", folder=project)
        )
    with TemporaryDirectory(prefix="qiao-egg-") as name:
        out = Path(name)
        # Everything it writes goes there: a build folder in the clone would carry deleted files
        # into the next egg.
        words = [
            sys.executable, "setup.py", "-q", "egg_info", "--egg-base", name,
            "build", "--build-base", str(out / "build"),
            "bdist_egg", "--bdist-dir", str(out / "bdist"), "--dist-dir", str(out / "dist"),
        ]  # fmt: skip
        built = subprocess.run(
            words, cwd=project, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
        )
        eggs = list((out / "dist").glob("*.egg"))
        if built.returncode or len(eggs) != 1:
            last = (built.stderr.strip().splitlines() or [f"exit code {built.returncode}"])[-1]
            raise JobError(_("the egg cannot be built: {error}", error=last))
        return eggs[0].read_bytes()
