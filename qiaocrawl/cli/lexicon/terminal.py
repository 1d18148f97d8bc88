"""Single keys from a terminal, with lines typed in between."""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager


class KeyTerminal:
    """A terminal that gives each key at once, also those typed ahead.

    Switching for every key, as the usual ``getchar`` does, throws away what was typed meanwhile.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._usual = termios.tcgetattr(self._input)

    @contextmanager
    def keys(self) -> Iterator[None]:
        """Give keys within the block; Ctrl-C interrupts as usual."""
        tty.setcbreak(self._input, termios.TCSADRAIN)
        try:
            yield
        finally:
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._usual)

    def read_key(self) -> str:
        """The next key; "q" where the terminal is gone."""
        first = os.read(self._input, 1)
        if not first:
            return "q"
        # The further bytes of a letter that UTF-8 writes with two to four.
        further = max(0, sum(first[0] >= limit for limit in (0xC0, 0xE0, 0xF0)))
        return (first + os.read(self._input, further) if further else first).decode(
            "utf-8", "replace"
        )

    def ask(self, prompt: str) -> str:
        """A line, edited as usual."""
        termios.tcsetattr(self._input, termios.TCSADRAIN, self._usual)
        try:
            return input(prompt)
        finally:
            tty.setcbreak(self._input, termios.TCSADRAIN)
