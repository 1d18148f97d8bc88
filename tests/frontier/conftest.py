"""Strategies are tested with the ontology that comes with the program, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiaocrawl.ontology import sources as folder


@pytest.fixture(autouse=True)
def _own_ontology_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_in_use", [str(tmp_path / "none installed")])
