"""What a crawl has loaded is not looked through for garbage again and again."""

from __future__ import annotations

import json
import subprocess
import sys

_LOOK = """
import gc, json
import qiaocrawl.crawl.addon
from qiaocrawl.runtime.garbage import spare_what_is_loaded
before = len(gc.get_objects())
spare_what_is_loaded()
after = len(gc.get_objects())
class Ring: pass
def ring():
    one = Ring(); one.me = one
for _ in range(200_000): ring()
held = sum(isinstance(one, Ring) for one in gc.get_objects())
print(json.dumps([before, after, held]))
"""


def test_what_is_loaded_is_spared_and_new_garbage_is_not() -> None:
    done = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, check=True)
    before, after, held = json.loads(done.stdout)
    assert after < before / 10
    assert held < 50_000
