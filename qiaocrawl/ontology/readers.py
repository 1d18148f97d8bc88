"""Reads WN-LMF 1.x, the XML form wordnets are exchanged in, as a stream.

Documents are not trusted: entities may not be declared, the DTD they name is not
fetched, and they may not unpack to more than :data:`MAX_BYTES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO
from xml.parsers import expat

from qiaocrawl.errors import OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology.draft import Draft, Notice, ili_key, own_key, wn30_key

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


# --- Reads the files of WordNet 3.0 (``data.noun`` and its neighbours), as Debian ships them ------

DEBIAN = Path("/usr/share/wordnet")
"""Where Debian's package wordnet-base puts them."""

# In the order in which the interlingual index counts the synsets of WordNet 3.0.
PARTS = {"adj": "a", "adv": "r", "verb": "v", "noun": "n"}
_SYNSETS = {"a": 18_156, "r": 3_621, "v": 13_767, "n": 82_115}
_MARK = b"WordNet 3.0 "
_POINTERS = {"@": 0, "@i": 1}

_LICENCE = "WordNet 3.0 licence (free with its notice)"
_URL = "https://wordnet.princeton.edu/"

# Debian corrected a few entries, which moved what stands behind them: verbs from the first
# offset up to the second, where they fall into step again, lie 18 bytes further on, adjectives
# from the given offset one byte.
_VERBS, _VERB_SHIFT = (613_018, 2_422_967), 18
_ADJECTIVES, _ADJECTIVE_SHIFT = 1_681_607, 1


def is_wordnet(folder: Path) -> bool:
    """Whether *folder* holds WordNet's files."""
    return (folder / "data.noun").is_file()


def read_wordnet(folder: Path, advance: Callable[[int], None] = lambda _: None) -> Draft:
    """All of WordNet 3.0, each concept with its offset and its interlingual index.

    The interlingual index began as a count of WordNet 3.0's synsets, adjectives, adverbs,
    verbs, nouns, each by offset; so the whole of WordNet gives the index without a table.

    Args:
        folder: with data.noun, index.noun and so on.
        advance: told how many bytes more were read.

    Raises:
        OntologyError: a file is missing, or is not of version 3.0.
    """
    draft = Draft(Notice("Princeton WordNet", "3.0", _LICENCE, _URL))
    for name in PARTS:
        try:
            _read_part(draft, folder, name)
        except (ValueError, IndexError) as error:
            message = _(
                "{folder!r}: a line of *.{name} is damaged: {error}",
                folder=str(folder),
                name=name,
                error=error,
            )
            raise OntologyError(message) from None
        advance(sum((folder / f"{kind}.{name}").stat().st_size for kind in ("data", "index")))
    _count(draft)
    return draft


def _read_part(draft: Draft, folder: Path, name: str) -> None:
    pos, data = PARTS[name], folder / f"data.{name}"
    canonical = _canonical(data, pos)
    ranks = _ranks(folder / f"index.{name}")
    for fields in _entries(data):
        _enter(draft, fields, pos, canonical, ranks)
    _exceptions(draft, folder / f"{name}.exc")


def _lines(file: Path) -> Iterator[str]:
    """The lines of *file* behind its licence.

    Raises:
        OntologyError: it cannot be read.
    """
    try:
        with file.open("rb") as lines:
            for line in lines:
                # The lines of the licence begin with a space.
                if not line.startswith(b" "):
                    yield line.decode("latin-1")
    except OSError as error:
        raise OntologyError(f"{str(file)!r}: {error.strerror or error}") from None


def _entries(file: Path) -> Iterator[list[str]]:
    # Definition and examples follow the bar.
    return (line.partition(" | ")[0].split() for line in _lines(file))


def _canonical(file: Path, pos: str) -> Callable[[int], int]:
    """What makes the offsets of *file* those of WordNet 3.0 as Princeton published it.

    Raises:
        OntologyError: it is not of version 3.0.
    """
    offsets = {int(fields[0]) for fields in _entries(file)}
    with file.open("rb") as start:
        head = start.read(4096)
    if _MARK not in head or len(offsets) != _SYNSETS[pos]:
        raise OntologyError(
            _(
                "{file!r}: is not WordNet 3.0 with its {synsets:,} synsets, got {count:,}; other "
                "versions can be installed as WN-LMF",
                file=str(file),
                synsets=_SYNSETS[pos],
                count=len(offsets),
            )
        )
    low, high = _VERBS[0] + _VERB_SHIFT, _VERBS[1]
    if pos == "v" and _VERBS[0] not in offsets:
        return lambda offset: offset - _VERB_SHIFT if low <= offset < high else offset
    if pos == "a" and _ADJECTIVES not in offsets:
        return lambda offset: offset - _ADJECTIVE_SHIFT if offset > _ADJECTIVES else offset
    return lambda offset: offset


def _ranks(file: Path) -> dict[tuple[str, int], int]:
    """Which sense of its word each is, the most frequent being 0, by lemma and offset."""
    ranks = {}
    for line in _lines(file):
        lemma, _, rest = line.partition(" ")
        fields = rest.split()
        # The last fields[1] fields are the offsets of the senses, the most frequent first.
        for rank, offset in enumerate(fields[len(fields) - int(fields[1]) :]):
            ranks[lemma, int(offset)] = rank
    return ranks


def _enter(
    draft: Draft,
    fields: list[str],
    pos: str,
    canonical: Callable[[int], int],
    ranks: dict[tuple[str, int], int],
) -> None:
    offset = int(fields[0])
    concept = draft.concept(f"{canonical(offset):08d}-{pos}")
    # The number of words is hexadecimal, that of pointers decimal.
    words = int(fields[3], 16)
    for word in fields[4 : 4 + 2 * words : 2]:
        # Adjectives carry a mark of their place: "galore(ip)".
        lemma = word.partition("(")[0]
        draft.sense("en", lemma, concept, ranks.get((lemma.lower(), offset), 0))
    pointers = fields[5 + 2 * words :]
    for kind, target, part in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=False):
        if kind in _POINTERS and part == pos:
            above = draft.concept(f"{canonical(int(target)):08d}-{pos}")
            draft.edges.add((concept, above, _POINTERS[kind]))


def _exceptions(draft: Draft, file: Path) -> None:
    """Irregular forms: ``men man``."""
    if file.is_file():
        for line in _lines(file):
            form, *lemmas = line.split()
            for lemma in lemmas:
                draft.form("en", form, lemma)


def _count(draft: Draft) -> None:
    """Give every synset its offset and its number in the interlingual index."""
    order = "".join(PARTS.values())
    names = sorted(draft.ids, key=lambda name: (order.index(name[-1]), name))
    for number, name in enumerate(names, start=1):
        key = wn30_key(name)
        if key is not None:
            draft.keys += [(draft.ids[name], key), (draft.ids[name], number)]


# --- Reads the tab files of the Open Multilingual Wordnet: words on the synsets of WordNet 3.0 ----
# A line is ``02131777-v<TAB>cmn:lemma<TAB>word``; the first one says ``# title, language, URL,
# licence``. They have no relations: those come from WordNet, or a wordnet joined to it.

# "cmn:lemma", "lemma", "lemma:root"
_KIND = re.compile(r"(?:([A-Za-z-]+):)?lemma(?::\w+)?")
_PARTICLE = re.compile(r"\+([的地])$")


def read_tab(lines: Iterable[bytes], source: str) -> Draft:
    """The lemmas of one tab file; other lines (definitions, examples) are passed over.

    Args:
        lines: of the file, UTF-8.
        source: what messages call it.

    Raises:
        OntologyError: no such file: the head or a synset is not as it should be.
    """
    draft = Draft()
    language = ""
    for number, line in enumerate(lines, start=1):
        try:
            # A byte order mark stands at the beginning of the first line only.
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise OntologyError(
                _("{source}:{number}: is not UTF-8", source=source, number=number)
            ) from None
        if number == 1:
            draft.notice, language = _head(text, source)
        elif text and not text.startswith("#"):
            _enter_tabs(draft, text.split("\t"), language, f"{source}:{number}")
    if not language:
        raise OntologyError(_("{source}: is empty", source=source))
    return draft


def _head(text: str, source: str) -> tuple[Notice, str]:
    cells = [cell.strip() for cell in text.lstrip("# ").split("\t")]
    if not text.startswith("#") or len(cells) < 2 or not cells[1]:
        raise OntologyError(
            _(
                "{source}:1: is no head of a wordnet's tab file (# title, language, URL, "
                "licence), got {text!r}",
                source=source,
                text=text[:80],
            )
        )
    title, language, url, licence = (*cells, "", "")[:4]
    return Notice(title=title, url=url, licence=licence), language


def _enter_tabs(draft: Draft, cells: list[str], language: str, place: str) -> None:
    if len(cells) < 3:
        raise OntologyError(
            _(
                "{place}: needs three cells (synset, kind, word), got {cells!r:.80}",
                place=place,
                cells=cells,
            )
        )
    kind = _KIND.fullmatch(cells[1])
    if kind is None:
        return
    key = wn30_key(cells[0])
    if key is None:
        raise OntologyError(
            _(
                "{place}: {cell!r:.40} is no synset of WordNet 3.0 such as 00001740-n",
                place=place,
                cell=cells[0],
            )
        )
    number = len(draft.ids)
    # Satellite adjectives are adjectives, as in wn30_key().
    concept = draft.concept(cells[0].replace("-s", "-a"))
    if concept == number:
        draft.keys.append((concept, key))
    word = cells[2].strip()
    # 温暖+的: the particle may be left out.
    particle = _PARTICLE.search(word)
    stem = word[: particle.start()] if particle else word
    for lemma in [stem, stem + particle[1]] if particle else [stem]:
        # A plus sign only marks where the parts of a word meet.
        draft.sense(kind[1] or language, lemma.replace("+", ""), concept)
