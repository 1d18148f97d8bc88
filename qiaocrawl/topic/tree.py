"""The topic tree (T1): two levels of the Chinese Library Classification, with sample documents.

A class of the first level is a TOML file in ``classes/``, with its divisions as ``[[nodes]]``.
Names and codes follow the classification's fifth edition; the samples are the project's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import ConfigDict

from qiaocrawl.errors import ConfigError, RowFault, TopicError
from qiaocrawl.language import N_, _
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.toml_file import Text, Texts, check_table, load_records, toml_files
from qiaocrawl.topic.check import MAX_NOTE_CHARACTERS, MAX_TITLE_CHARACTERS, closest, list_faults
from qiaocrawl.topic.tables import (
    DIGEST_COLUMNS,
    GOLDEN_COLUMNS,
    Cells,
    Reasons,
    as_flag,
    read_rows,
    valid_rows,
)

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
            )
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


# --- Golden sets: titles with the right answer, by which a topic pack is measured -----------------
# ``golden.csv`` of a pack holds the titles themselves. ``golden_digests.csv`` holds digests of
# titles that may not be copied: who has the titles finds their labels by :func:`title_digest`.

GOLDEN_FILE = "golden.csv"
DIGESTS_FILE = "golden_digests.csv"
MAX_GROUP_CHARACTERS = 40

_SHA1 = re.compile("[0-9a-f]{40}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class GoldenTitle:
    """A title, whether it is on topic, and the group it stands for, such as a class of trap."""

    title: str
    relevant: bool
    group: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class GoldenDigest:
    """The label of a title that is known by its :func:`title_digest` only."""

    digest: str
    relevant: bool
    group: str = ""


Golden = TypeVar("Golden", GoldenTitle, GoldenDigest)


def title_digest(title: str) -> str:
    """The SHA-1 of the folded *title* in hexadecimal: equal for all its spellings."""
    return hashlib.sha1(fold(title).encode(), usedforsecurity=False).hexdigest()


def is_held_out(title: str) -> bool:
    """Whether *title* is of the half by which no word, weight or threshold may be chosen.

    The half is that of odd digests, so a title stays where it is when others come and go.
    """
    return int(title_digest(title)[-1], 16) % 2 == 1


def read_golden(path: Path) -> tuple[GoldenTitle, ...]:
    """The titles of a golden set: columns ``title`` and ``label``; ``group`` and ``note`` may be.

    Raises:
        TopicError: the file or any row is bad, a title comes twice, or one label is missing;
            ``faults`` lists all bad rows by line.
    """
    rows, faults = read_rows(path, GOLDEN_COLUMNS, (("title",), ("label",)), _title)
    return _check_golden(path, rows, faults)


def read_golden_digests(path: Path) -> tuple[GoldenDigest, ...]:
    """The labels of a table of digests: columns ``digest`` and ``label``; ``group`` may be.

    Raises:
        TopicError: as of :func:`read_golden`.
    """
    rows, faults = read_rows(path, DIGEST_COLUMNS, (("digest",), ("label",)), _digest)
    return _check_golden(path, rows, faults)


def golden_faults(folder: Path) -> tuple[RowFault, ...]:
    """Everything wrong with the golden sets in the *folder* of a pack; they may be missing."""
    faults: list[RowFault] = []
    for name, read in ((GOLDEN_FILE, read_golden), (DIGESTS_FILE, read_golden_digests)):
        path = folder / name
        if path.exists():
            try:
                read(path)
            except TopicError as error:
                faults += error.faults or [RowFault(name, 1, str(error))]
    return tuple(faults)


def _title(cells: Cells, bad: Reasons) -> GoldenTitle:
    return GoldenTitle(
        _text("title", cells["title"], 1, MAX_TITLE_CHARACTERS, bad),
        _label(cells["label"], bad),
        _text("group", cells.get("group", ""), 0, MAX_GROUP_CHARACTERS, bad),
        _text("note", cells.get("note", ""), 0, MAX_NOTE_CHARACTERS, bad),
    )


def _digest(cells: Cells, bad: Reasons) -> GoldenDigest:
    digest = cells["digest"].lower()
    if not _SHA1.fullmatch(digest):
        bad.append(
            _(
                "digest must be a SHA-1 of 40 hexadecimal digits, got {digest!r}",
                digest=cells["digest"],
            )
        )
    group = _text("group", cells.get("group", ""), 0, MAX_GROUP_CHARACTERS, bad)
    return GoldenDigest(digest, _label(cells["label"], bad), group)


def _label(text: str, bad: Reasons) -> bool:
    label = as_flag(text) if text else None
    if label is None:
        bad.append(_("label must be yes or no, got {text!r}", text=text))
    return bool(label)


def _text(what: str, text: str, low: int, high: int, bad: Reasons) -> str:
    if not low <= len(text) <= high:
        bad.append(
            _(
                "the {what} must have {low} to {high} characters, got {count}",
                what=what,
                low=low,
                high=high,
                count=len(text),
            )
        )
    if control := _CONTROL.search(text):
        bad.append(
            _(
                "the {what} holds the control character U+{code:04X}",
                what=what,
                code=ord(control[0]),
            )
        )
    return text


def _check_golden(
    path: Path, rows: Sequence[tuple[int, Golden]], faults: list[RowFault]
) -> tuple[Golden, ...]:
    faults = [*faults, *list_faults(path.name, rows, lambda row: [], _key)]
    missing = {True, False} - {row.relevant for _, row in rows}
    if missing and not faults:
        word = "yes" if True in missing else "no"
        faults.append(
            RowFault(
                path.name, 1, _("no row is labelled {word}; both labels are needed", word=word)
            )
        )
    return valid_rows(path.name, rows, faults)


def _key(row: GoldenTitle | GoldenDigest) -> str:
    return fold(row.title) if isinstance(row, GoldenTitle) else row.digest
