"""Loading what former crawls have learnt, and keeping what this one learns."""

from __future__ import annotations

import logging
import time
from functools import partial

from qiaocrawl.errors import ModelError
from qiaocrawl.frontier import LearningStrategy, Trainable
from qiaocrawl.frontier.order_feed import Run, Store
from qiaocrawl.storage.frontier import orders as order_models
from qiaocrawl.storage.frontier.orders import ModelName, StoredModel

logger = logging.getLogger(__name__)


class ModelKeeping:
    """The models of one crawl's strategy; does nothing for one that cannot be trained.

    Args:
        strategy: what learns; touched in the thread of the order only.
        name: topic and site of the crawl.
        store: the database.
        pages_between: a version is stored after this many pages.
    """

    def __init__(
        self, strategy: LearningStrategy, name: ModelName, store: Store, pages_between: int
    ) -> None:
        self._strategy = strategy if isinstance(strategy, Trainable) else None
        self._name = name
        self._store = store
        self._pages_between = pages_between
        self._since_saved = 0
        self._pages = 0
        self.upto = 0
        """Place in the log up to which the loaded model has learnt."""
        self.saved = 0
        self.damaged = 0

    async def load(self, run: Run) -> None:
        """Load the newest version that can be read; says so of those that cannot."""
        if self._strategy is None:
            return
        models = await self._store.read(partial(order_models.stored_models, name=self._name))
        for model in models:
            try:
                await run(partial(self._load, model))
                return
            except ModelError as error:
                # The version before may still serve; the damaged row is left for whoever
                # looks into it.
                self.damaged += 1
                logger.warning(
                    "what %s has learnt of %s cannot be read, version %d (%s): left alone",
                    self._name.strategy,
                    self._name.host or self._name.topic,
                    model.version,
                    error,
                )

    def _load(self, model: StoredModel) -> None:
        assert self._strategy is not None
        self._strategy.load(model.unpacked())
        self._pages, self.upto = model.pages, model.upto

    def begin(self, *, known: bool) -> None:
        """A page arrives; *known* if the loaded model has learnt from it already."""
        # Pages already known are in the model's own count.
        if not known:
            self._since_saved += 1
            self._pages += 1
        if self._strategy is not None:
            self._strategy.replaying = known

    @property
    def is_due(self) -> bool:
        """Whether enough was learnt for another version."""
        return self._strategy is not None and self._since_saved >= self._pages_between

    async def save(self, run: Run, upto: int) -> None:
        """Store a version, if anything was learnt since the last one.

        Args:
            upto: place in the log up to which the strategy has learnt.
        """
        if self._strategy is None or not self._since_saved:
            return
        # Read before the model is packed: pages that come meanwhile count for the next version.
        pages, since = self._pages, self._since_saved
        # In the thread of the order, where nothing learns while the arrays are read.
        model = await run(self._strategy.save)
        operation = partial(
            order_models.save_model,
            name=self._name,
            model=model,
            pages=pages,
            upto=upto,
            now=time.time(),
        )
        try:
            await self._store.write(operation)
        # Too large to be stored: trying again would fail again, so it counts as saved
        # until more comes.
        except ModelError as error:
            logger.warning("what was learnt is not kept: %s", error)
        else:
            self.saved += 1
        # Not reached when the database is away: the next try then saves it all.
        self._since_saved -= since
