"""The topic tree: its files, its paths, and what a node holds."""

from __future__ import annotations

import re

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.topic.tree import ROOT, THRESHOLDS, topic_tree


def test_two_levels_with_samples_and_thresholds_that_fall_with_breadth() -> None:
    tree = topic_tree()
    assert len(tree.nodes) == len(set(tree.nodes)) == 1 + 22 + 225
    assert {node.level for node in tree.nodes.values()} == {0, 1, 2}
    assert sum(bool(node.samples) for node in tree.nodes.values()) >= 30
    assert list(THRESHOLDS) == sorted(THRESHOLDS)
    titles = [sample.title for sample in tree.samples(tree.nodes[ROOT])]
    assert len(titles) == len(set(titles)) > 100
    for node in tree.nodes.values():
        assert all(parent in tree.nodes for parent in node.parents)
        assert all(4 <= len(re.findall("。", sample.text)) <= 9 for sample in node.samples)


@pytest.mark.parametrize(
    "wanted", ["D6", "中国政治", "D/D6", "政治、法律/中国政治", "D 政治、法律/D6 中国政治"]
)
def test_a_node_is_found_by_code_name_and_path(wanted: str) -> None:
    tree = topic_tree()
    node = tree.find(wanted)
    assert (node.code, tree.path(node)) == ("D6", "D 政治、法律/D6 中国政治")


def test_a_code_may_have_a_stroke_and_a_wrong_name_gets_a_hint() -> None:
    assert topic_tree().find("D/D33/37").name == "各国共产党"
    assert topic_tree().find("/").level == 0
    with pytest.raises(ConfigError, match="中国政治"):
        topic_tree().find("中国政冶")


def test_a_node_under_two_parents_is_of_both_and_no_counter_example_of_either() -> None:
    tree = topic_tree()
    node = tree.find("J9")
    assert node.parents == ("J", "G")
    assert tree.path(node) == "J 艺术/J9 电影、电视艺术"
    for parent in ("J", "G"):
        assert node in tree.children(tree.find(parent))
        assert node.samples[0] in tree.samples(tree.find(parent))
        assert node.samples[0] not in tree.other_samples(tree.find(parent))
    assert node.samples[0] in tree.other_samples(tree.find("S"))
