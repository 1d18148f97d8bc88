"""Wordnets as they come: WN-LMF, tab files, WordNet's own files; and what none of them may do."""

from __future__ import annotations

import gzip
import lzma
from io import BytesIO
from pathlib import Path

import pytest

from qiaocrawl.errors import ConfigError, OntologyError
from qiaocrawl.ontology import readers as princeton
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.ontology.draft import (
    fold_texts,
    ili_key,
    is_own,
    key_name,
    language_code,
    own_key,
    wn30_key,
)
from qiaocrawl.ontology.readers import read_lmf, read_tab
from qiaocrawl.ontology.sources import install, size_of, sources_of
from small_wordnets import LIGHTS, TAB, english, kept


def test_keys_of_the_indexes_are_told_apart_and_read_back() -> None:
    for text in ("i35545", "00001740-n", "00001740-a", "02772310-v", "00001740-r"):
        key = ili_key(text) or wn30_key(text)
        assert key is not None
        assert key_name(key) == text
        assert not is_own(key)
    assert wn30_key("00001740-s") == wn30_key("00001740-a")
    assert ili_key("in") is ili_key("") is wn30_key("1740-n") is None
    assert is_own(own_key("few-person"))
    assert key_name(own_key("few-person")) == ""


def test_languages_and_words_are_folded_together() -> None:
    codes = [language_code(one) for one in ("cmn-Hant", "qcn", "zh_TW", "ENG", "ja")]
    assert codes == ["zh", "zh", "zh", "en", "ja"]
    assert fold_texts(["僑_批", " Overseas  Chinese "]) == ["侨 批", "overseas chinese"]


def test_lmf_gives_words_forms_relations_and_keys() -> None:
    one = english()
    assert (one.notice.title, one.notice.version, one.notice.licence) == ("A few", "2.1", "none")
    assert (one.languages, one.concepts, len(one.lemmas)) == (("en",), 7, 7)
    assert len(one.edges) == 6
    joined = Ontology([one])
    assert joined.names(joined.senses("person")[0]) == ["00007846-n"]
    assert joined.names(joined.senses("entity")[0]) == ["i35545"]
    assert joined.senses("people") == joined.senses("persons") == joined.senses("person")
    thing = joined.hypernyms(joined.senses("lamp")[0])
    assert [joined.names(one) for one in thing] == [["few-thing"]]


def test_words_of_an_extension_stand_on_the_synsets_of_its_base() -> None:
    text = """<LexicalResource>
      <LexiconExtension id="x" language="de"><Extends id="few" version="2.1"/>
        <LexicalEntry id="x1"><Lemma writtenForm="Lampe" partOfSpeech="n">
          <Pronunciation notation="pinyin">lanpu</Pronunciation>
          <Pronunciation>l&#230;</Pronunciation>
          </Lemma><Sense id="x2" synset="few-lamp"/></LexicalEntry>
        <ExternalSynset id="few-lamp"/></LexiconExtension></LexicalResource>"""
    joined = Ontology([english(), kept("x", read_lmf(BytesIO(text.encode()), "x"))])
    assert joined.senses("lampe") == joined.senses("lamp") == joined.senses("lanpu")
    assert joined.lemmas(joined.senses("lamp")[0]) == {
        "de": ["lampe"], "en": ["beacon fire", "lamp"]
    }  # fmt: skip


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><LexicalResource>&b;</LexicalResource>'
FILE = (
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><LexicalResource>&a;</LexicalResource>'
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "declares an entity 'a'"),
        (FILE, "declares an entity 'a'"),
        ("<html></html>", "begins with <html>, not <LexicalResource>"),
        ("", "no well-formed XML"),
        ("<LexicalResource>", "no well-formed XML"),
        ('<LexicalResource><Lexicon id="x"/></LexicalResource>', "without a language"),
        ('<LexicalResource><Lexicon language="en"><Synset/></Lexicon></LexicalResource>',
         "a synset without id"),
        ('<LexicalResource><Lexicon language="en"><Sense id="a"/></Lexicon></LexicalResource>',
         "names no synset"),
    ],
)  # fmt: skip
def test_xml_that_is_none_or_wants_more_is_refused(text: str, words: str) -> None:
    with pytest.raises(OntologyError, match=words):
        read_lmf(BytesIO(text.encode()), "given.xml")


def test_a_tab_file_gives_words_on_wordnet_offsets() -> None:
    one = kept("tab", read_tab(TAB.encode().splitlines(keepends=True), "a.tab"))
    assert (one.notice.title, one.notice.licence, one.languages) == ("几个词", "none", ("zh",))
    joined = Ontology([english(), one])
    assert joined.senses("人") == joined.senses("person")
    assert joined.senses("温暖") == joined.senses("温暖的") != ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("00001740-n\tcmn:lemma\t人\n", "a.tab:1: is no head"),
        ("# x\tcmn\n1740-n\tcmn:lemma\t人\n", "a.tab:2: '1740-n' is no synset of WordNet 3.0"),
        ("# x\tcmn\n00001740-n\n", "a.tab:2: needs three cells"),
    ],
)
def test_a_tab_file_with_faults_is_named_with_the_line(text: str, words: str) -> None:
    with pytest.raises(OntologyError, match=words):
        read_tab(text.encode().splitlines(keepends=True), "a.tab")
    with pytest.raises(OntologyError, match="a.tab:2: is not UTF-8"):
        read_tab([b"# x\tcmn\n", b"\xff\n"], "a.tab")


# --- WordNet's own files ---------------------------------------------------------------------

_HEAD = "  1 WordNet 3.0 Copyright of somebody  \n"
_NOUNS = [
    "00001740 03 n 01 entity 0 000 | all there is",
    "00007846 03 n 02 person 0 soul 0 001 @ 00001740 n 0000 | one of us",
    "09000001 15 n 01 Ann 0 001 @i 00007846 n 0000 | a woman",
]
_VERBS = ["00613036 31 v 01 think 0 000 01 + 08 00 | use the mind"]


def wordnet_files(folder: Path) -> Path:
    folder.mkdir()
    for part, lines in (("noun", _NOUNS), ("verb", _VERBS), ("adj", []), ("adv", [])):
        (folder / f"data.{part}").write_text(_HEAD + "".join(f"{line}  \n" for line in lines))
        (folder / f"index.{part}").write_text(_HEAD)
    index = "person n 1 1 @ 1 1 00007846  \nsoul n 2 1 @ 2 1 00001740 00007846  \n"
    (folder / "index.noun").write_text(_HEAD + index)
    (folder / "noun.exc").write_text("people person\n")
    return folder


@pytest.fixture
def wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five synsets in WordNet's form, with the one verb where Debian has it."""
    for pos, number in {"n": 3, "v": 1, "a": 0, "r": 0}.items():
        monkeypatch.setitem(princeton._SYNSETS, pos, number)
    return wordnet_files(tmp_path / "wn")


def test_wordnet_files_give_offsets_the_index_and_instances(wordnet: Path) -> None:
    told: list[int] = []
    joined = Ontology([kept("wordnet", princeton.read_wordnet(wordnet, told.append))])
    assert sum(told) == size_of(wordnet)
    # The index counts adjectives, adverbs, verbs, nouns; here there is one verb before them.
    assert joined.names(joined.senses("person")[0]) == ["i3", "00007846-n"]
    assert joined.senses("people") == joined.senses("person")
    # Debian's verbs stand 18 bytes further on.
    assert joined.names(joined.senses("think")[0]) == ["i1", "00613018-v"]
    assert joined.hypernyms(joined.senses("ann")[0]) == [joined.senses("person")[0]]


def test_another_wordnet_than_3_0_is_refused(wordnet: Path) -> None:
    noun = wordnet / "data.noun"
    whole = noun.read_text()
    noun.write_text(whole.replace("WordNet 3.0", "WordNet 3.1"))
    with pytest.raises(OntologyError, match="is not WordNet 3.0"):
        princeton.read_wordnet(wordnet)
    noun.write_text(whole.replace(" 02 person", " zz person"))
    with pytest.raises(OntologyError, match=r"a line of \*.noun is damaged"):
        princeton.read_wordnet(wordnet)
    noun.unlink()
    with pytest.raises(OntologyError, match="data.noun"):
        princeton.read_wordnet(wordnet)


# --- sources ---------------------------------------------------------------------------------


def test_files_are_unpacked_by_their_ending(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(LIGHTS)
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(LIGHTS.encode()))
    (tmp_path / "c.xml.xz").write_bytes(lzma.compress(LIGHTS.encode()))
    (tmp_path / "d.tab.gz").write_bytes(gzip.compress(TAB.encode()))
    (tmp_path / "readme.txt").write_text("no wordnet")
    sources = sources_of(str(tmp_path))
    assert [name for name, _ in sources] == ["a", "b", "c", "d"]
    for name, file in sources:
        told: list[int] = []
        one = install(name, file, tmp_path / "kept", told.append)
        assert one.concepts == (2 if name == "d" else 7)
        assert sum(told) == size_of(file)


def test_a_damaged_packed_file_is_named(tmp_path: Path) -> None:
    for name, data in (("a.xml.gz", gzip.compress(LIGHTS.encode())[:-20]),
                       ("b.xml.xz", lzma.compress(LIGHTS.encode())[:-20]),
                       ("c.tab.gz", b"no gzip")):  # fmt: skip
        file = tmp_path / name
        file.write_bytes(data)
        with pytest.raises(OntologyError, match=name):
            install("x", file, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_what_is_neither_name_nor_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("")
    (tmp_path / "empty").mkdir()
    for given, words in (
        ("nonsense", r"no name \(there are: qiaoqing, wordnet\)"),
        (str(tmp_path / "words.csv"), "ends in none of"),
        (str(tmp_path / "empty"), "holds no WN-LMF"),
    ):
        with pytest.raises(ConfigError, match=words):
            sources_of(given)
    if not princeton.is_wordnet(princeton.DEBIAN):
        with pytest.raises(ConfigError, match="apt-get install wordnet-base"):
            sources_of("wordnet")
