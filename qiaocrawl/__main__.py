"""``python -m qiaocrawl``."""

from __future__ import annotations

from qiaocrawl.cli import main

if __name__ == "__main__":
    main()
