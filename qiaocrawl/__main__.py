"""The ``qiaocrawl`` command, also as ``python -m qiaocrawl``."""

from __future__ import annotations

import sys

from qiaocrawl.interrupts import INTERRUPTED, end_on_interrupt, raise_on_interrupt


def main() -> None:
    """Run the command; Ctrl-C while it is imported ends it without a word."""
    end_on_interrupt()
    from qiaocrawl.cli import main as run_command

    raise_on_interrupt()
    try:
        run_command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
