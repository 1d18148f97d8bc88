"""Ctrl-C before there is anything to end in order.

Python shows a traceback of whatever it imports at that moment, and importing takes a crawl over a
second.
"""

from __future__ import annotations

import signal

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended, as shells have it: 128 + SIGINT."""


def end_on_interrupt() -> None:
    """Let Ctrl-C end this process at once and without a word, as it ends any other program.

    Where it is ignored (nohup, a shell's ``&``) or somebody's own matter it stays so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def raise_on_interrupt() -> None:
    """Let Ctrl-C be a ``KeyboardInterrupt`` again, which a command may end in order upon."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
