"""All pages of the console, in the order of the menu: the one place to add some.

A page here is behind the gate (``security/gate.py``), in the menu, and in the test that walks
every page in every role.
"""

from __future__ import annotations

from qiaocrawl.console.page import Area
from qiaocrawl.console.pages import (
    account,
    api,
    articles,
    coverage,
    jobs,
    overview,
    people,
    sites,
    stories,
    topics,
    warnings,
)

AREAS: tuple[Area, ...] = (
    overview.AREA,
    articles.AREA,
    stories.AREA,
    warnings.AREA,
    coverage.AREA,
    topics.AREA,
    sites.AREA,
    jobs.AREA,
    people.AREA,
    account.AREA,
    api.AREA,
)
