"""`make audit` (F-X6): what it says of pip-audit's report; a report of nothing is no verdict."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _report(*entries: dict[str, object]) -> str:
    return json.dumps({"dependencies": list(entries), "fixes": []})


WHOLE = {"name": "lxml", "version": "6.1.3", "vulns": []}
BAD = {"name": "scrapy", "version": "2.11.1",
       "vulns": [{"id": "GHSA-1", "fix_versions": ["2.11.2"], "aliases": []}]}  # fmt: skip
SKIPPED = {"name": "ada-url", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("report", "code", "said"),
    [
        (_report(WHOLE), 0, "no known vulnerability in 1 pinned"),
        (_report(WHOLE, BAD), 1, "scrapy 2.11.1: GHSA-1, mended in 2.11.2"),
        (_report(SKIPPED, BAD), 1, "GHSA-1"),
        # pip-audit itself says "No known vulnerabilities found" and 0 of this.
        (_report(SKIPPED, WHOLE), 2, "1 of 2 could not be looked up, such as ada-url"),
        (_report(), 2, "no verdict"),
        ("ERROR: no network", 2, "no verdict: pip-audit gave no report: 'ERROR"),
        ("[]", 2, "no verdict"),
    ],
)
def test_verdict(audit: ModuleType, report: str, code: int, said: str) -> None:
    found, text = audit.verdict(report)
    assert found == code
    assert said in text


def test_every_pin_is_one_version() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(line.count("==") == 1 and "*" not in line for line in pins)
