"""The site templates of a run: learnt in memory, read from and written to the database.

A host's template is read when its first page of this run comes, and written now and then. What
is lost in a crash is learnt again from the next pages; a page counts once however often its
analysis is repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from qiaocrawl.extract.sites.boilerplate_model import BoilerplateModel
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.items import FetchedPage, PageAnalysis
from qiaocrawl.storage import Reader
from qiaocrawl.storage.pages.site_templates import load_site_template, save_site_templates
from qiaocrawl.storage.writer import in_loop
from qiaocrawl.urls import host_of

_ARTICLES_BETWEEN_SAVES = 50


class SiteTemplateStore:
    """The site templates of one run; not thread-safe: the event loop's.

    Attributes:
        model: learns the templates.
        left_out: blocks left out of bodies, since their sites repeat them.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.model = BoilerplateModel()
        self.left_out = 0
        self._unsaved = 0

    async def template(self, page: FetchedPage) -> SiteTemplate | None:
        """What is known of the host of *page*; None for little or nothing."""
        host = host_of(page.final_url or page.url)
        # Once a host and run: what is learnt here is newer than what others stored since.
        if host and host not in self.model:
            load = self._reader.submit(partial(load_site_template, host=host))
            self.model.restore(host, await in_loop(load))
        return self.model.template(host)

    def template_now(self, page: FetchedPage) -> SiteTemplate | None:
        """The same, without an event loop."""
        host = host_of(page.final_url or page.url)
        if host and host not in self.model:
            self.model.restore(host, self._reader.run(partial(load_site_template, host=host)))
        return self.model.template(host)

    def observe(self, analysis: PageAnalysis) -> None:
        """Learn from a page whose analysis was stored."""
        if analysis.observation is not None:
            self.model.observe(analysis.observation)
            self.left_out += analysis.observation.left_out
            self._unsaved += 1

    def due(self) -> Callable[[Connection], None] | None:
        """An operation that stores what is new, when there is enough of it."""
        return self.saving() if self._unsaved >= _ARTICLES_BETWEEN_SAVES else None

    def saving(self) -> Callable[[Connection], None]:
        """An operation that stores what is new; it may be played again."""
        self._unsaved = 0
        return partial(save_site_templates, templates=self.model.changed(), now=time.time())

    def numbers(self) -> dict[str, int]:
        """Figures for the run's record."""
        return {
            "qiaocrawl/sites/repeated_blocks": self.left_out,
            "qiaocrawl/sites/redesigns": self.model.redesigns,
            "qiaocrawl/sites/disagreements": self.model.disagreements,
        }
