"""Who the crawler says it is."""

from __future__ import annotations

import os
import socket

from qiaocrawl import __version__


def default_user_agent() -> str:
    """Product, version and a contact: ``QIAO_CONTACT``, else this machine's postmaster.

    RFC 2142 reserves ``postmaster`` at every mail domain for exactly such questions.
    """
    contact = os.environ.get("QIAO_CONTACT", "").strip()
    contact = contact or f"postmaster@{socket.getfqdn()}"
    # A header holds printable ASCII; brackets would end the comment of the user agent.
    printable = "".join(c for c in contact if c.isprintable() and c.isascii() and c not in "()")
    return f"qiaocrawl/{__version__} (+{printable})"
