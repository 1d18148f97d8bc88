"""The topic tree (T1): two levels of the Chinese Library Classification, with sample documents.

A class of the first level is a TOML file in ``classes/``, with its divisions as ``[[nodes]]``.
Names and codes follow the classification's fifth edition; the samples are the project's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, ClassVar

from pydantic import ConfigDict

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.text.toml_file import Text, Texts, check_table, load_records, toml_files
from qiaocrawl.topic.check import closest

ROOT = "/"
"""The code of the root, which is above all classes."""
THRESHOLDS = (0.05, 0.08, 0.12)
"""By level, root first: broad topics take low thresholds, narrow ones high **(ours)**."""


@dataclass(frozen=True, slots=True)
class NodeSample:
    """A sample document of a node."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    title: Text
    text: Text


@dataclass(frozen=True, slots=True)
class _Division:
    """A node of the second level as its file has it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    code: Text
    name: Text
    also_under: Texts = ()
    words: Texts = ()
    samples: tuple[NodeSample, ...] = ()


@dataclass(frozen=True, slots=True)
class _Class:
    """A file: a node of the first level and what is below it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    code: Text
    name: Text
    nodes: tuple[_Division, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicNode:
    """A node of the tree.

    Args:
        parents: codes of the nodes above, the one whose path it bears first; () of the root.
        level: 0 of the root, 1 of a class, 2 of a division.
        words: a few that name the topic, where the node's own name does not do.
        samples: of this node alone; see :meth:`TopicTree.samples`.
    """

    code: str
    name: str
    parents: tuple[str, ...]
    level: int
    words: tuple[str, ...] = ()
    samples: tuple[NodeSample, ...] = ()


class TopicTree:
    """The nodes by code, in the order of their files."""

    def __init__(self, nodes: tuple[TopicNode, ...]) -> None:
        self.nodes = {node.code: node for node in nodes}

    def find(self, wanted: str) -> TopicNode:
        """The node of a code, a name or a path such as ``D/D6`` or ``政治、法律/中国政治``.

        Raises:
            ConfigError: there is none; the message names the nearest.
        """
        if wanted.strip() in (ROOT, ""):
            return self.nodes[ROOT]
        steps = [step.strip() for step in wanted.strip(ROOT).split(ROOT)]
        # Bodies of several countries have a stroke in their code: D33/37.
        for own in (steps[-1], ROOT.join(steps[-2:])):
            for node in self.nodes.values():
                if own in (node.code, node.name, f"{node.code} {node.name}"):
                    return node
        names = [name for node in self.nodes.values() for name in (node.code, node.name)]
        raise ConfigError(
            _(
                "no node {wanted!r} in the topic tree{closest}; `qiaocrawl topic tree` lists them",
                wanted=wanted,
                closest=closest(steps[-1], names),
            )  # fmt: skip
        )

    def path(self, node: TopicNode) -> str:
        """The full name: ``D 政治、法律/D6 中国政治``."""
        own = f"{node.code} {node.name}"
        if node.level < 2:
            return own
        return f"{self.path(self.nodes[node.parents[0]])}{ROOT}{own}"

    def children(self, node: TopicNode) -> list[TopicNode]:
        """The nodes right below *node*, those that also stand elsewhere among them."""
        return [one for one in self.nodes.values() if node.code in one.parents]

    def below(self, node: TopicNode) -> Iterator[TopicNode]:
        """*node* and all below it, each once."""
        seen = {node.code}
        waiting = [node]
        while waiting:
            one = waiting.pop(0)
            yield one
            new = [child for child in self.children(one) if child.code not in seen]
            seen.update(child.code for child in new)
            waiting += new

    def samples(self, node: TopicNode) -> list[NodeSample]:
        """The samples of *node* and of all below it."""
        return [sample for one in self.below(node) for sample in one.samples]

    def words(self, node: TopicNode) -> list[str]:
        """The words of *node* and of all below it, each once."""
        return list(dict.fromkeys(word for one in self.below(node) for word in one.words))

    def other_samples(self, node: TopicNode | None) -> list[NodeSample]:
        """Those of the rest of the tree, which are counter-examples; all for None."""
        own = {one.code for one in self.below(node)} if node is not None else set()
        return [
            sample for one in self.nodes.values() if one.code not in own for sample in one.samples
        ]


@cache
def topic_tree() -> TopicTree:
    """The shipped tree.

    Raises:
        ConfigError: a file has faults; all are named.
    """
    folder = resources.files("qiaocrawl.topic").joinpath("classes")
    files = toml_files(folder, None, "classes")
    classes = load_records(files, N_("classes of the topic tree"), _read)
    root = TopicNode(ROOT, "全部", (), 0)
    return TopicTree((root, *(node for one in classes for node in _nodes(one))))


def _read(table: dict[str, Any], _: str) -> tuple[list[_Class], list[str]]:
    record, faults = check_table(_Class, table)
    return ([record] if record is not None else []), faults


def _nodes(one: _Class) -> Iterator[TopicNode]:
    yield TopicNode(one.code, one.name, (ROOT,), 1)
    for node in one.nodes:
        parents = (one.code, *node.also_under)
        yield TopicNode(node.code, node.name, parents, 2, node.words, node.samples)
