"""`make audit`: known vulnerabilities of the versions in constraints.txt, by pip-audit.

pip-audit runs in a virtual environment of its own (build/audit). Exit code 0: every pinned version
was looked up and none has a known vulnerability; 1: some have; 2: no verdict. A registry that
knows no advisories has pip-audit skip everything and say "none found": that is no verdict.

There are no hashes beside the pins: pip wants them for all packages or none, on all platforms,
and a list that nobody can renew with one command is soon not renewed at all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "constraints.txt"
FOLDER = ROOT / "build" / "audit"
NONE, SOME, NO_VERDICT = 0, 1, 2


def verdict(report: str) -> tuple[int, str]:
    """Exit code and what to say of pip-audit's JSON *report*."""
    try:
        entries = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return NO_VERDICT, f"no verdict: pip-audit gave no report: {report.strip()[:300]!r}"
    lines = [
        f"{one['name']} {one['version']}: {found['id']}, mended in "
        f"{', '.join(found['fix_versions']) or 'no version yet'}"
        for one in entries for found in one.get("vulns", ())
    ]  # fmt: skip
    skipped = [one["name"] for one in entries if "skip_reason" in one]
    if lines:
        return SOME, "\n".join(lines)
    if skipped or not entries:
        return NO_VERDICT, (
            f"no verdict: {len(skipped)} of {len(entries)} could not be looked up, such as "
            f"{', '.join(skipped[:3]) or 'none at all'}: does this registry know advisories?"
        )
    return NONE, f"no known vulnerability in {len(entries)} pinned versions"


def _report() -> str:
    python = FOLDER / "bin" / "python"
    if not (FOLDER / "bin" / "pip-audit").exists():
        venv.create(FOLDER, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "pip-audit"], check=True)
    # Every version is pinned: nothing has to be resolved, so nothing is installed or run.
    done = subprocess.run(
        [FOLDER / "bin" / "pip-audit", "-r", PINS, "--no-deps", "--disable-pip", "--format",
         "json", "--progress-spinner", "off"],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    return done.stdout or done.stderr


def main() -> int:
    """Look the pins up and say what came of it."""
    try:
        code, said = verdict(_report())
    except (OSError, subprocess.SubprocessError) as error:
        code, said = NO_VERDICT, f"no verdict: pip-audit cannot be run: {error}"
    print(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
