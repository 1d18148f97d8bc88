"""The project as an egg, as scrapyd takes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from qiaocrawl.errors import ConfigError, JobError
from qiaocrawl.language import _

_BUILD_SECONDS = 300.0


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
