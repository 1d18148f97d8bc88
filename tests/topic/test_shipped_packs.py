"""The packs in topics/: complete, valid, and of the promised size."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from qiaocrawl.topic.check import fold
from qiaocrawl.topic.folder import load_pack, save_pack
from qiaocrawl.topic.pack import TERM_KINDS, TopicPack

TOPICS = Path(__file__).parents[2] / "topics"

# (name, least terms, sites, samples)
PROMISED = [("qiaoqing", 220, 65, 10), ("education", 100, 20, 6)]


@pytest.mark.parametrize(("name", "terms", "sites", "samples"), PROMISED)
def test_pack_has_the_promised_size(name: str, terms: int, sites: int, samples: int) -> None:
    pack = load_pack(TOPICS / name)
    assert pack.name == name
    assert len(pack.terms) >= terms
    assert len(pack.sites) >= sites
    assert len(pack.samples) >= samples
    assert {site.role for site in pack.sites} == {"authoritative", "target"}
    assert {sample.relevant for sample in pack.samples} == {True, False}


@pytest.mark.parametrize("name", [row[0] for row in PROMISED])
def test_pack_is_written_as_the_program_writes_it(tmp_path: Path, name: str) -> None:
    save_pack(load_pack(TOPICS / name), tmp_path / name)
    for path in (tmp_path / name).rglob("*.*"):
        written = TOPICS / name / path.relative_to(tmp_path / name)
        assert path.read_bytes() == written.read_bytes(), written


def test_qiaoqing_uses_every_kind_but_other() -> None:
    kinds = Counter(term.kind for term in load_pack(TOPICS / "qiaoqing").terms)
    assert set(kinds) == set(TERM_KINDS) - {"other"}


@pytest.mark.parametrize("name", [row[0] for row in PROMISED])
def test_relevant_samples_hold_more_of_the_topic_than_counter_examples(name: str) -> None:
    pack = load_pack(TOPICS / name)
    shares = {True: [0.0], False: [0.0]}
    for sample in pack.samples:
        shares[sample.relevant].append(_weight(pack, f"{sample.title}\n{sample.text}"))
    assert min(shares[True][1:]) > max(shares[False])


def _weight(pack: TopicPack, text: str) -> float:
    """Summed weights of the different terms in *text*, for a thousand characters."""
    text = fold(text)
    return sum(t.weight for t in pack.terms if fold(t.text) in text) * 1000 / len(text)
