"""What becomes of a link to a host that another collector has."""

from __future__ import annotations

from enum import StrEnum


class LinkMode(StrEnum):
    """The three modes of Cho and Garcia-Molina, *Parallel Crawlers* (WWW 2002), section 4.1.

    They exchange links over the network; here every link is a row of the shared frontier,
    written in the transaction that closes its page: that is the batch, and it is never lost.
    Since no row is leased to two workers, none of the modes fetches a page twice.
    """

    FIREWALL = "firewall"
    """It is dropped: a page that only other collectors' hosts link to is missed."""
    CROSSOVER = "crossover"
    """It waits for its collector, but one that has nothing left to do fetches it too."""
    EXCHANGE = "exchange"
    """It waits for its collector."""
