"""Installed ontologies: the compact files, the folder, damage, and the one that comes along."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qiaocrawl.errors import OntologyError
from qiaocrawl.ontology import sources as folders
from qiaocrawl.ontology.similarity import WordSimilarity
from qiaocrawl.ontology.sources import (
    current_ontology,
    folder_of,
    install,
    installed_files,
    open_ontology,
    own_wordnet,
    sources_of,
    use_folder,
)
from qiaocrawl.ontology.stored import read_wordnet, wordnet_of_arrays
from small_wordnets import LIGHTS


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (tmp_path / "few.xml").write_text(LIGHTS)
    install("few", tmp_path / "few.xml", tmp_path / "kept")
    return tmp_path / "kept"


def test_what_is_installed_is_read_back_the_same(kept: Path) -> None:
    one = read_wordnet(kept / "few.npz")
    assert (one.name, one.concepts, list(one.lemmas.places("lamp"))) == ("few", 7, [4])
    assert [one.lemmas[place] for place in range(3)] == ["beacon fire", "cook", "emigrant"]
    assert installed_files(kept) == [kept / "few.npz"]


def test_installing_again_replaces_and_leaves_nothing_beside(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "few.xml").write_text(LIGHTS.replace('"lamp"', '"lantern"'))
    opened = open_ontology(kept)
    install("few", tmp_path / "few.xml", kept)
    assert opened.knows("lamp")
    assert open_ontology(kept).knows("lantern")
    assert [file.name for file in kept.iterdir()] == ["few.npz"]


def test_a_damaged_file_is_named(kept: Path) -> None:
    file = kept / "few.npz"
    whole = file.read_bytes()
    for data in (b"", b"nonsense", whole[: len(whole) // 2], b"0" * len(whole)):
        file.write_bytes(data)
        with pytest.raises(OntologyError, match="few.npz"):
            read_wordnet(file)


def test_numbers_that_point_nowhere_are_refused(kept: Path) -> None:
    with np.load(kept / "few.npz") as opened:
        arrays = {name: opened[name] for name in opened.files}
    for name in ("edges", "sense_concept", "form_lemma", "keys"):
        with pytest.raises(OntologyError, match="points outside its table"):
            wordnet_of_arrays("few", arrays | {name: arrays[name] + 100})
    with pytest.raises(OntologyError, match="differ in number"):
        wordnet_of_arrays("few", arrays | {"sense_start": arrays["sense_start"][1:]})
    del arrays["edges"]
    with pytest.raises(OntologyError, match="is no installed ontology"):
        wordnet_of_arrays("few", arrays)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OntologyError, match="cannot write"):
        install("qiaoqing", None, tmp_path / "file" / "below")


def test_the_own_ontology_comes_along_unless_it_is_replaced(kept: Path, tmp_path: Path) -> None:
    assert [one.name for one in open_ontology(kept).wordnets] == ["few", "qiaoqing"]
    assert [one.name for one in open_ontology(tmp_path / "none").wordnets] == ["qiaoqing"]
    install("qiaoqing", tmp_path / "few.xml", kept)
    assert not open_ontology(kept).knows("侨批")


def test_the_folder_is_that_of_the_option_or_the_users(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert folder_of("") == tmp_path / "qiaocrawl" / "ontology"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert folder_of("").is_relative_to(Path.home())
    monkeypatch.setattr(folders, "_in_use", [])
    use_folder(str(kept))
    assert current_ontology().knows("cook")


# --- the ontology of overseas-Chinese affairs -------------------------------------------------


def test_the_own_ontology_hangs_together() -> None:
    one = own_wordnet()
    assert one.languages == ("en", "zh")
    assert one.concepts >= 60
    joined = folders.Ontology([one])
    assert (joined.size, int(joined.in_circles.sum())) == (one.concepts, 0)
    assert (joined.without_words, joined.without_relations) == (0, 0)
    roots = [concept for concept in range(joined.size) if not joined.hypernyms(concept)]
    assert [joined.names(root) for root in roots] == [["i35545", "00001740-n"]]
    for concept in range(joined.size):
        assert set(joined.lemmas(concept)) == {"en", "zh"}, joined.names(concept)


def test_its_words_meet_across_languages_scripts_and_pinyin() -> None:
    alike = WordSimilarity(folders.Ontology([own_wordnet()]))
    for one, other in (
        ("华侨华人", "overseas Chinese"), ("歸僑", "returned overseas Chinese"),
        ("唐人街", "Chinatowns"), ("领事保护", "consular protection"), ("侨汇", "qiaohui"),
        ("侨批", "qiaopi"), ("华文教育", "Chinese language education"), ("侨联", "ACFROC"),
    ):  # fmt: skip
        assert alike(one, other) == 1.0, one
    assert alike("华侨", "华人") > alike("华侨", "犯罪")
    assert {name for name, _ in sources_of("qiaoqing")} == {"qiaoqing"}


def test_other_tools_read_the_own_ontology(tmp_path: Path) -> None:
    wn = pytest.importorskip("wn", reason="the library wn, which checks WN-LMF, is not installed")
    from importlib import resources

    from wn import lmf
    from wn.validate import validate

    wn.config.data_directory = tmp_path
    file = resources.files("qiaocrawl.ontology") / "data" / "qiaoqing.xml"
    with resources.as_file(file) as path:
        read = lmf.load(path, progress_handler=None)
    base = read["lexicons"][0]
    faults = {code: found for code, found in validate(base, progress_handler=None).items()
              if found["items"]}  # fmt: skip
    assert faults == {}
