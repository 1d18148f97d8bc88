"""The crawl order of a real crawl: a strategy in a thread of its own, fed by the log of visits.

``keeper`` holds the order in memory and knows neither threads nor tables; ``reader`` says which
rows of the log are new; ``crawl_ordering`` is what a crawl talks to; ``learned`` adds what only
strategies need whose scores change; ``supply`` takes leases by the order; ``asked`` makes an
order again to answer questions. Fetches never wait for any of it: as long as the order has no
answer, the scores stored in the database decide.
"""

from __future__ import annotations

from qiaocrawl.ordering.crawl_ordering import CrawlOrdering, FollowedPage
from qiaocrawl.ordering.learned import LearnedOrdering

__all__ = ["CrawlOrdering", "FollowedPage", "LearnedOrdering"]
