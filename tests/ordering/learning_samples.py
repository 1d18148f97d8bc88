"""A small strategy that learns, and pages for it to learn from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ModelError
from qiaocrawl.frontier import FoundLink, Visit, VisitedPage
from qiaocrawl.items import Link
from qiaocrawl.urls import host_of, url_key

SITE = "www.a.test"


class AnchorYield:
    """Scores a link by how relevant the pages were that links of its anchor led to; 0.5 at first.

    Links to pages whose anchor says "never" are left out.
    """

    name: ClassVar[str] = "anchor_yield"
    page_scorer: ClassVar[str] = ""
    calibrated: ClassVar[bool] = True

    def __init__(self, rescore_pages: int = 1) -> None:
        self.rescore_pages = rescore_pages
        self.replaying = False
        self.taught: dict[str, list[float]] = {}
        self.anchors: dict[int, str] = {}
        self.order_of_pages: list[str] = []

    def seen(self, node: int, url: str, host: str, depth: int) -> None:
        """Nothing is known of it."""
        self.anchors.setdefault(node, "")

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        self.order_of_pages.append(page.url)
        anchor = self.anchors.get(page.node, "")
        if anchor and not self.replaying:
            self.taught.setdefault(anchor, []).append(page.relevance)
        for found in links:
            self.anchors[found.node] = found.link.anchor
        return [self._of(found.node) for found in links]

    def rescored(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([self._of(int(node)) for node in nodes])

    def explain_node(self, node: int) -> Mapping[str, float]:
        return {"yield of anchor": self._of(node)}

    def _of(self, node: int) -> float:
        anchor = self.anchors.get(node, "")
        if anchor == "never":
            return -np.inf
        known = self.taught.get(anchor, [])
        return sum(known) / len(known) if known else 0.5

    def save(self) -> bytes:
        return json.dumps({"anchor_yield": 1, "taught": self.taught}).encode()

    def load(self, data: bytes) -> None:
        try:
            found = json.loads(data)
            self.taught = dict(found["taught"]) if found["anchor_yield"] == 1 else {}
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"no anchor yields: {error}") from error


def link(path: str, anchor: str = "", host: str = SITE) -> Link:
    url = f"http://{host}/{path}"
    return Link(url, url_key(url), host_of(url), anchor)


def visit(path: str, *links: Link, relevance: float = 0.0, host: str = SITE) -> Visit:
    page = link(path, host=host)
    return Visit(page.key, page.url, page.host, 1, relevance, relevance > 0.5, 1e9, links)
