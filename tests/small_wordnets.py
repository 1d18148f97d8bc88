"""Small wordnets the tests write themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO

from qiaocrawl.ontology import Ontology
from qiaocrawl.ontology.draft import Draft
from qiaocrawl.ontology.lmf import read_lmf
from qiaocrawl.ontology.stored import StoredWordnet, arrays_of, stored

#         entity
#        /      \
#     person    thing
#     /    \       \
#  migrant  cook   lamp
#    |
#  emigrant
LIGHTS = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
  <Lexicon id="few" label="A few" language="en" email="a@b.invalid" license="none" version="2.1">
    <LexicalEntry id="e1"><Lemma writtenForm="entity" partOfSpeech="n"/>
      <Sense id="s1" synset="few-entity"/></LexicalEntry>
    <LexicalEntry id="e2"><Lemma writtenForm="person" partOfSpeech="n"/>
      <Form writtenForm="people"/>
      <Sense id="s2" synset="few-person"/></LexicalEntry>
    <LexicalEntry id="e3"><Lemma writtenForm="migrant" partOfSpeech="n"/>
      <Sense id="s3" synset="few-migrant"/></LexicalEntry>
    <LexicalEntry id="e4"><Lemma writtenForm="Emigrant" partOfSpeech="n"/>
      <Sense id="s4" synset="few-emigrant"/></LexicalEntry>
    <LexicalEntry id="e5"><Lemma writtenForm="cook" partOfSpeech="n"/>
      <Sense id="s5" synset="few-cook"/></LexicalEntry>
    <LexicalEntry id="e6"><Lemma writtenForm="lamp" partOfSpeech="n"/>
      <Sense id="s6" synset="few-lamp"/></LexicalEntry>
    <LexicalEntry id="e7"><Lemma writtenForm="beacon fire" partOfSpeech="n"/>
      <Sense id="s7" synset="few-lamp"/></LexicalEntry>
    <Synset id="few-entity" ili="i35545" partOfSpeech="n"/>
    <Synset id="few-person" ili="" partOfSpeech="n" dc:identifier="pwn30:00007846-n">
      <SynsetRelation relType="hypernym" target="few-entity"/></Synset>
    <Synset id="few-thing" ili="in" partOfSpeech="n">
      <SynsetRelation relType="hypernym" target="few-entity"/></Synset>
    <Synset id="few-migrant" ili="i9001" partOfSpeech="n">
      <SynsetRelation relType="hypernym" target="few-person"/>
      <SynsetRelation relType="hyponym" target="few-emigrant"/></Synset>
    <Synset id="few-emigrant" ili="i9002" partOfSpeech="n"/>
    <Synset id="few-cook" ili="i9003" partOfSpeech="n">
      <SynsetRelation relType="hypernym" target="few-person"/></Synset>
    <Synset id="few-lamp" ili="i9004" partOfSpeech="n">
      <SynsetRelation relType="hypernym" target="few-thing"/></Synset>
  </Lexicon>
</LexicalResource>
"""

TAB = (
    "# 几个词\tcmn\thttps://example.invalid/\tnone\n"
    "00007846-n\tcmn:lemma\t人\n"
    "00007846-n\tcmn:def\t0\t一个定义\n"
    "\n"
    "09000001-a\tcmn:lemma\t溫暖+的\n"
)


def english() -> StoredWordnet:
    """The wordnet above."""
    return kept("few", read_lmf(BytesIO(LIGHTS.encode()), "few.xml"))


def words(
    name: str, language: str, lemmas: Mapping[str, Sequence[str]],
    hypernyms: Sequence[tuple[str, str]] = (),
) -> StoredWordnet:  # fmt: skip
    """A wordnet of *lemmas* on concepts given by their ILI, or by any name of their own."""
    synsets = {one for concepts in lemmas.values() for one in concepts}
    synsets |= {one for pair in hypernyms for one in pair}
    entries = "".join(
        f'<LexicalEntry id="{name}-e{number}"><Lemma writtenForm="{lemma}" partOfSpeech="n"/>'
        + "".join(f'<Sense id="{name}-{number}-{c}" synset="{name}-{c}"/>' for c in concepts)
        + "</LexicalEntry>"
        for number, (lemma, concepts) in enumerate(lemmas.items())
    )
    rows = "".join(
        f'<Synset id="{name}-{one}" ili="{one if one[1:].isdigit() else ""}" partOfSpeech="n">'
        + "".join(
            f'<SynsetRelation relType="hypernym" target="{name}-{above}"/>'
            for below, above in hypernyms
            if below == one
        )
        + "</Synset>"
        for one in sorted(synsets)
    )
    text = (
        f'<LexicalResource><Lexicon id="{name}" language="{language}">{entries}{rows}</Lexicon>'
        "</LexicalResource>"
    )
    return kept(name, read_lmf(BytesIO(text.encode()), name))


def kept(name: str, draft: Draft) -> StoredWordnet:
    """*draft* as it is when installed and opened again."""
    return stored(name, arrays_of(draft))


def two_languages() -> Ontology:
    """The English wordnet, with Chinese words on some of its concepts."""
    lemmas = {"移民": ["i9001", "i9002"], "厨师": ["i9003"], "燈": ["i9004"]}
    chinese = words("zhfew", "cmn", lemmas)
    return Ontology([english(), chinese])
