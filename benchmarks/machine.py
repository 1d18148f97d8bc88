"""Whether the machine did other work while something was measured: then times are no figures."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STAT = Path("/proc/stat")
_QUIET = 0.1
"""Share of the processors that others may have taken: the system itself takes some."""


class OtherWork:
    """How much others used of the processors; ``share`` is None until the block has ended.

    Of this program and of all processes that it has waited for, nothing counts: those it left
    running do, so a server of its own belongs to the block only where it is stopped within.
    """

    share: float | None = None

    def row(self, task: str) -> dict[str, object]:
        """The figure as a row beside the others of *task*."""
        return {"task": task, "set": "the machine", "method": "others",
                "metric": "share_of_processors", "value": self.share}  # fmt: skip

    def words(self) -> str:
        """What a reader of the figures has to know; "" where others did little."""
        if self.share is None or self.share < _QUIET:
            return ""
        return (
            f"others used {self.share:.0%} of the machine meanwhile: ratios of CPU time may hold,"
            " rates and times do not"
        )


@contextmanager
def other_work() -> Iterator[OtherWork]:
    """Watch the machine while the block runs."""
    found = OtherWork()
    began, busy, own = time.monotonic(), _busy_seconds(), _own_seconds()
    yield found
    room = (time.monotonic() - began) * (os.cpu_count() or 1)
    if busy is not None and room > 0:
        taken = (_busy_seconds() or 0.0) - busy - (_own_seconds() - own)
        # Both are counted in ticks of their own.
        found.share = min(max(taken / room, 0.0), 1.0)


def _busy_seconds() -> float | None:
    """Seconds that all processors have worked since the start; None where nobody tells."""
    try:
        names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
        ticks = dict(zip(names, map(int, _STAT.read_text("ascii").split()[1:]), strict=False))
    except OSError:
        return None
    return sum(ticks[name] for name in names if name not in ("idle", "iowait")) / os.sysconf(
        "SC_CLK_TCK"
    )


def _own_seconds() -> float:
    spent = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)
