"""``qiaocrawl topic tree``: the nodes a topic may begin with, and their samples."""

from __future__ import annotations

import re
from typing import Annotated

import typer
from rich.text import Text

from qiaocrawl.cli.output import folding_table, joined, print_hanging, table_console
from qiaocrawl.language import _
from qiaocrawl.topic.tree import ROOT, THRESHOLDS, TopicNode, TopicTree, topic_tree


def tree(
    node: Annotated[str, typer.Option(help="Code, name or path, as D6 or D/D6.")] = ROOT,
    full: Annotated[bool, typer.Option("--all", help="All levels below it.")] = False,
) -> None:
    """List the topic tree: classes, what is below a node, its words and samples."""
    nodes = topic_tree()
    chosen = nodes.find(node)
    console = table_console()
    below = list(nodes.below(chosen))[1:] if full else nodes.children(chosen)
    if chosen.code != ROOT:
        _print_node(nodes, chosen)
    if below:
        table = folding_table(_("node"), _("also under"), _("threshold"), _("samples"))
        for column in (2, 3):
            table.columns[column].justify = "right"
        for one in below:
            table.add_row(
                Text(nodes.path(one) if full else f"{one.code} {one.name}"),
                " ".join(parent for parent in one.parents[1:]),
                f"{THRESHOLDS[one.level]:g}", str(len(nodes.samples(one))),
            )  # fmt: skip
        console.print(table)
    example = chosen.code if chosen.level else "D6"
    name = re.sub("[^a-z0-9]", "_", example.lower())
    command = f"qiaocrawl topic new {name} --node {example}"
    console.print(_("next:  {command}", command=command), markup=False)


def _print_node(nodes: TopicTree, node: TopicNode) -> None:
    console = table_console()
    threshold = _("threshold {threshold:g}", threshold=THRESHOLDS[node.level])
    console.print(f"{nodes.path(node)}  {threshold}", markup=False)
    if node.words:
        print_hanging(console, _("words: {words}", words=joined(node.words)))
    for number, sample in enumerate(nodes.samples(node), 1):
        print_hanging(console, f"{number:4}  {sample.title}")
