"""The contract of body extractors, their registry, and how they get options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeGuard, runtime_checkable

from qiaocrawl.extract.extraction import Field
from qiaocrawl.items import Link
from qiaocrawl.language import N_
from qiaocrawl.page.page import Page
from qiaocrawl.registry import Registry


@dataclass(frozen=True, slots=True)
class Body:
    """The main text of a page, a paragraph a line.

    Attributes:
        text: "" when nothing was found.
        score: how sure the method is, in [0, 1].
        reason: in words, why this text or why none.
        blocks: indexes into ``page.blocks.blocks`` of what was taken, in order; empty for a
            method that does not choose blocks.
        judged: how much each block of the page looks like body text, in [0, 1]; empty for a
            method that does not judge blocks.
    """

    text: str
    score: float
    reason: str
    blocks: tuple[int, ...] = ()
    judged: tuple[float, ...] = ()


class Extractor(Protocol):
    """Finds the body of a page. One object serves many pages and keeps nothing between them."""

    def body(self, page: Page) -> Body:
        """The body of *page*; ``Body("", 0.0, why)`` when there is none. Never raises."""
        ...


@runtime_checkable
class TemplateReader(Protocol):
    """An extractor that people tell, site by site, where a page has what."""

    def template_of(self, page: Page) -> object | None:
        """What it was told of *page*; None for nothing."""
        ...


@runtime_checkable
class Configurable(Protocol):
    """An extractor that takes options; as registered it works with the defaults."""

    option_names: ClassVar[tuple[str, ...]]
    """The ``QIAO_*`` options it reads."""

    def with_options(self, options: Mapping[str, Any]) -> Extractor:
        """The same method with the checked values of *options*.

        Raises:
            ConfigError: a file that an option names cannot be used.
        """
        ...


@runtime_checkable
class SiteReader(Protocol):
    """An extractor that knows of some sites where their fields and main links stand."""

    def fields(self, page: Page, now: datetime | None = None) -> dict[str, Field]:
        """The fields it knows the place of, by name; they go before those found otherwise."""
        ...

    def links(self, page: Page, links: Sequence[Link]) -> tuple[Link, ...]:
        """Those of *links* (all of *page*) that stand in the site's regions of links."""
        ...


@runtime_checkable
class Learner(Protocol):
    """An extractor that may go on learning from the pages of a crawl."""

    @property
    def learns(self) -> bool:
        """Whether it is to."""
        ...

    def samples(self, page: Page) -> bytes:
        """What *page* teaches."""
        ...

    def with_learnt(self, learnt: str) -> Extractor:
        """The same method with what was learnt so far, as text."""
        ...


def learner(extractor: Extractor) -> Learner | None:
    """*extractor* where it is to learn from pages; None where it is not."""
    return extractor if isinstance(extractor, Learner) and extractor.learns else None


_ARE_SITE_READERS: dict[type, bool] = {}


def is_site_reader(extractor: object) -> TypeGuard[SiteReader]:
    """Whether *extractor* is a :class:`SiteReader`.

    Asked for every page: looking through a protocol takes as long as a regular expression, so it
    is done once a class.
    """
    kind = type(extractor)
    if kind not in _ARE_SITE_READERS:
        _ARE_SITE_READERS[kind] = issubclass(kind, SiteReader)
    return _ARE_SITE_READERS[kind]


extractors: Registry[Extractor] = Registry(
    N_("extractor"),
    "qiaocrawl.extractors",
    "qiaocrawl.extract.methods",
    "qiaocrawl.extract.published",
)
"""Body extractors by name; each module of these packages may register one object."""


def extractor_for(name: str, options: Mapping[str, Any]) -> Extractor:
    """The extractor called *name*, with *options* if it takes any.

    Args:
        options: checked values by name; may hold others than the extractor's own. Empty: the
            extractor as it is registered.

    Raises:
        ConfigError: no such extractor, or a file that an option names cannot be used.
    """
    extractor = extractors.get(name)
    if options and isinstance(extractor, Configurable):
        return extractor.with_options(options)
    return extractor


NO_LINK_REGION = "no link region of the template is on the page"
"""Said of a page whose template names regions of links that it has not: its layout changed."""

LOST_BODY = "the body region of the template is not on the page"
"""Said of a page that a template has a body for, which was read by the general method."""


def link_reader(options: Mapping[str, Any]) -> SiteReader | None:
    """What knows the link regions of sites by the operator's templates; None without any.

    Raises:
        ConfigError: the templates cannot be read or have faults.
    """
    if not options.get("QIAO_TEMPLATES"):
        return None
    extractor = extractor_for("template", options)
    return extractor if is_site_reader(extractor) else None


OWN_OPTIONS = (
    "QIAO_BLEND_NETWORK",
    "QIAO_CLUSTER_LEARNING",
    "QIAO_CLUSTER_MODEL",
    "QIAO_DENSITY_MINIMUM_BYTES",
    "QIAO_DENSITY_RUN",
    "QIAO_DENSITY_THRESHOLD",
    "QIAO_DENSITY_TOLERANCE_LINES",
    "QIAO_TEMPLATES",
    "QIAO_VISUAL_OPTIONS",
)
"""All that this project's extractors read, known without importing them; a test compares."""


def extractor_options(method: str, options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """What of *options* the extractor called *method*, those it may fall back on and the reader of
    links read, for another process: (name, value).

    Raises:
        ConfigError: no such extractor.
    """
    extractor = extractors.get(method)
    own = extractor.option_names if isinstance(extractor, Configurable) else ()
    names = {*OWN_OPTIONS, *own}
    return tuple((name, options[name]) for name in sorted(names))
