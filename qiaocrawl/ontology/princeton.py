"""Reads the files of WordNet 3.0 (``data.noun`` and its neighbours), as Debian ships them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from qiaocrawl.errors import OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology.draft import Draft, Notice
from qiaocrawl.ontology.keys import wn30_key

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
    draft: Draft, fields: list[str], pos: str, canonical: Callable[[int], int],
    ranks: dict[tuple[str, int], int],
) -> None:  # fmt: skip
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
