"""``qiaocrawl compile`` makes every compiled loop a crawl or an analysis calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from qiaocrawl.kernels.compiled import CompiledFunction, has_compiler

ROOT = Path(__file__).resolve().parents[2]

# Loops that learn the models we ship; they are run where models are made.
OF_TRAINING = {
    "qiaocrawl.news.tone_model.learn_rows",
    "qiaocrawl.dedup.pair_model.batch_features",
    "qiaocrawl.dedup.pair_model.score_all",
}

# In a process of its own: what other tests have called is compiled already.
LOOK = """
import importlib, json, sys
from qiaocrawl.cli.compile import compile_all
from qiaocrawl.kernels.compiled import CompiledFunction

compile_all()
found = {}
for module in sys.argv[1:]:
    for name, value in vars(importlib.import_module(module)).items():
        if isinstance(value, CompiledFunction) and value.__module__ == module:
            # Made when it, or a compiled loop that calls it, was called first.
            found[f"{module}.{name}"] = "_code" in vars(value)
        elif hasattr(value, "py_func") and value.py_func.__module__ == module:
            found[f"{module}.{name}"] = True
print(json.dumps(found))
"""


def _modules() -> dict[str, int]:
    """Modules with compiled loops, and how many they have."""
    found: dict[str, int] = {}
    for file in sorted((ROOT / "qiaocrawl").rglob("*.py")):
        if count := file.read_text("utf-8").count("\n@compiled\n"):
            found[".".join(file.relative_to(ROOT).with_suffix("").parts)] = count
    return found


def test_every_loop_is_compiled() -> None:
    modules = _modules()
    said = subprocess.run(
        [sys.executable, "-c", LOOK, *modules], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout  # fmt: skip
    found: dict[str, bool] = json.loads(said)
    assert len(found) == sum(modules.values()) > 70
    assert {name for name, is_made in found.items() if not is_made} == OF_TRAINING


def test_a_loop_is_made_at_its_first_call() -> None:
    loop = CompiledFunction(lambda number: number + 1)
    assert "_code" not in vars(loop)
    assert loop(1) == 2
    assert "_code" in vars(loop)
    assert has_compiler()
