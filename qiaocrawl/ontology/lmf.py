"""Reads WN-LMF 1.x, the XML form wordnets are exchanged in, as a stream.

Documents are not trusted: entities may not be declared, the DTD they name is not
fetched, and they may not unpack to more than :data:`MAX_BYTES`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO
from xml.parsers import expat

from qiaocrawl.errors import OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology.draft import Draft
from qiaocrawl.ontology.keys import ili_key, own_key, wn30_key

MAX_BYTES = 4 << 30
_CHUNK = 1 << 20

_UP = {"hypernym": 0, "instance_hypernym": 1}
_DOWN = {"hyponym": 0, "instance_hyponym": 1}
# Synsets of the Open Multilingual Wordnet are called by their offsets in WordNet 3.0; those of
# omw-en31 are not, and other wordnets number their own.
_OMW_ID = re.compile(r"omw-[a-z-]+?-([0-9]{8}-[nvars])")
# What stands before the WordNet 3.0 synset in ``dc:identifier``, in wordnets of ours.
_WN30_IDENTIFIER = "pwn30:"
_PINYIN = "pinyin"
_ATTRIBUTES = Mapping[str, str]


def read_lmf(stream: IO[bytes], source: str) -> Draft:
    """All lexicons of a WN-LMF document as one wordnet.

    Args:
        stream: the XML, unpacked.
        source: what messages call it.

    Raises:
        OntologyError: no WN-LMF, XML with faults, or larger than is read.
    """
    reader = _Reader(source)
    read = 0
    try:
        while chunk := stream.read(_CHUNK):
            read += len(chunk)
            if read > MAX_BYTES:
                raise OntologyError(
                    _(
                        "{source}: unpacks to more than {max_bytes:,} bytes",
                        source=source,
                        max_bytes=MAX_BYTES,
                    )
                )
            reader.parser.Parse(chunk, False)
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise OntologyError(
            _("{source}: no well-formed XML: {error}", source=source, error=error)
        ) from None
    return reader.draft


class _Reader:
    """Follows the elements of one document."""

    def __init__(self, source: str) -> None:
        self.draft = Draft()
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        self.parser.CharacterDataHandler = self._characters
        self.parser.buffer_text = True
        self._source = source
        self._root = ""
        self._language = ""
        self._lemma = ""
        self._forms: list[str] = []
        self._senses = 0
        self._synset = 0
        self._text: list[str] | None = None

    def _entity(self, name: str, *_rest: object) -> None:
        raise OntologyError(
            _(
                "{source}: declares an entity {name!r}; none is allowed",
                source=self._source,
                name=name,
            )
        )

    def _start(self, name: str, given: dict[str, str]) -> None:
        if not self._root:
            self._root = name
            if name != "LexicalResource":
                raise OntologyError(
                    _(
                        "{source}: is no WN-LMF: it begins with <{name}>, not <LexicalResource>",
                        source=self._source,
                        name=name,
                    )
                )
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(self, given)

    def _end(self, name: str) -> None:
        if name == "LexicalEntry" or name == "ExternalLexicalEntry":
            for form in self._forms:
                self.draft.form(self._language, form, self._lemma)
            self._lemma, self._forms = "", []
        elif name == "Pronunciation" and self._text is not None:
            self._forms.append("".join(self._text).strip())
            self._text = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _lexicon(self, given: _ATTRIBUTES) -> None:
        self._language = given.get("language", "")
        if not self._language:
            raise OntologyError(_("{source}: a lexicon without a language", source=self._source))
        notice = self.draft.notice
        notice.title = notice.title or given.get("label", given.get("id", ""))
        notice.version = notice.version or given.get("version", "")
        notice.licence = notice.licence or given.get("license", "")
        notice.url = notice.url or given.get("url", "")

    def _entry(self, _given: _ATTRIBUTES) -> None:
        self._lemma, self._forms, self._senses = "", [], 0

    def _lemma_of(self, given: _ATTRIBUTES) -> None:
        self._lemma = given.get("writtenForm", "")

    def _form(self, given: _ATTRIBUTES) -> None:
        self._forms.append(given.get("writtenForm", ""))

    def _pronunciation(self, given: _ATTRIBUTES) -> None:
        self._text = [] if given.get("notation", "").lower() == _PINYIN else None

    def _sense(self, given: _ATTRIBUTES) -> None:
        synset = given.get("synset", "")
        if not synset:
            raise OntologyError(
                _(
                    "{source}: a sense of {lemma!r} names no synset",
                    source=self._source,
                    lemma=self._lemma,
                )
            )
        rank = given.get("n", "")
        # Without ``n`` the order of the senses is their rank.
        place = int(rank) - 1 if rank.isascii() and rank.isdigit() else self._senses
        self.draft.sense(self._language, self._lemma, self._concept(synset), max(0, place))
        self._senses += 1

    def _synset_of(self, given: _ATTRIBUTES) -> None:
        name = given.get("id", "")
        if not name:
            raise OntologyError(_("{source}: a synset without id", source=self._source))
        self._synset = self._concept(name)
        identifier = given.get("dc:identifier", "")
        omw = _OMW_ID.fullmatch(name)
        for key in (
            ili_key(given.get("ili", "")),
            wn30_key(identifier.removeprefix(_WN30_IDENTIFIER)),
            wn30_key(omw[1]) if omw else None,
        ):
            if key is not None:
                self.draft.keys.append((self._synset, key))

    def _relation(self, given: _ATTRIBUTES) -> None:
        kind, target = given.get("relType", ""), given.get("target", "")
        if kind in _UP and target:
            self.draft.edges.add((self._synset, self._concept(target), _UP[kind]))
        elif kind in _DOWN and target:
            self.draft.edges.add((self._concept(target), self._synset, _DOWN[kind]))

    def _concept(self, name: str) -> int:
        """The place of a synset; one only named here may be defined by another wordnet."""
        number = len(self.draft.ids)
        place = self.draft.concept(name)
        # New: its own id is a key, by which another wordnet may define it.
        if place == number:
            self.draft.keys.append((place, own_key(name)))
        return place


_HANDLERS = {
    "Lexicon": _Reader._lexicon,
    "LexiconExtension": _Reader._lexicon,
    "LexicalEntry": _Reader._entry,
    "ExternalLexicalEntry": _Reader._entry,
    "Lemma": _Reader._lemma_of,
    "ExternalLemma": _Reader._lemma_of,
    "Form": _Reader._form,
    "Pronunciation": _Reader._pronunciation,
    "Sense": _Reader._sense,
    "Synset": _Reader._synset_of,
    "ExternalSynset": _Reader._synset_of,
    "SynsetRelation": _Reader._relation,
}
