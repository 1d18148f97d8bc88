"""A wordnet in the compact form it is installed in: one .npz file of arrays, quick to open."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology.draft import Draft, Notice, fold_texts, is_own

FORMAT = 1
ENDING = ".npz"

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


class SortedTexts:
    """Texts in the order of their UTF-8 bytes, found by bisection; no objects until asked for.

    Args:
        blob: the texts, each ended by a line end.
    """

    def __init__(self, blob: Bytes) -> None:
        # One blob instead of a list: a quarter of a million str objects would take 20 MB a process.
        self._blob = blob.tobytes()
        ends = np.flatnonzero(blob == ord("\n"))
        self._starts: list[int] = [0, *(ends + 1).tolist()]

    @classmethod
    def of(cls, texts: Sequence[str]) -> SortedTexts:
        """From *texts*, which are sorted and hold no line end."""
        return cls(_blob(texts))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, place: int) -> str:
        return self._bytes(place).decode("utf-8", "replace")

    def _bytes(self, place: int) -> bytes:
        return self._blob[self._starts[place] : self._starts[place + 1] - 1]

    def places(self, text: str) -> range:
        """The places of *text*, which may be there several times."""
        sought = text.encode("utf-8", "replace")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < sought:
                low = middle + 1
            else:
                high = middle
        while high < len(self) and self._bytes(high) == sought:
            high += 1
        return range(low, high)


@dataclass(frozen=True, eq=False)
class StoredWordnet:
    """The arrays of one wordnet.

    Attributes:
        name: what it was installed as.
        languages: language codes; ``lemma_language`` gives places in it.
        concepts: how many concepts it names.
        keys: (concept, key) rows, see :mod:`qiaocrawl.ontology.draft`.
        names: of concepts that have an own id only, with ``named`` the concepts.
        lemmas: folded, sorted; one entry for each language and lemma.
        sense_start: entry e of lemmas has the senses from sense_start[e] to sense_start[e + 1].
        sense_concept, sense_rank: concept and rank of each sense.
        forms: folded, sorted; ``form_lemma`` is the entry of lemmas each belongs to.
        edges: (concept, hypernym, 1 for an instance) rows.
    """

    name: str
    notice: Notice
    languages: tuple[str, ...]
    concepts: int
    keys: Ints
    names: SortedTexts
    named: Ints
    lemmas: SortedTexts
    lemma_language: Ints
    sense_start: Ints
    sense_concept: Ints
    sense_rank: Ints
    forms: SortedTexts
    form_lemma: Ints
    edges: Ints


def arrays_of(draft: Draft) -> dict[str, NDArray[Any]]:
    """*draft* as the arrays that are stored: lemmas folded, equal ones joined, all sorted."""
    senses = _folded_senses(draft)
    # By bytes, not by code points: look-ups compare the blob's bytes.
    entries = sorted({(lemma.encode(), language) for language, lemma, _ in senses})
    place = {entry: number for number, entry in enumerate(entries)}
    rows = sorted(
        (place[lemma.encode(), language], rank, concept)
        for (language, lemma, concept), rank in senses.items()
    )
    table = np.array(rows, np.int64).reshape(-1, 3)
    languages = sorted({language for _, language in entries})
    forms = _folded_forms(draft, place)
    own, named = _own_names(draft)
    meta = {
        "format": FORMAT,
        "languages": languages,
        "concepts": len(draft.ids),
        "notice": asdict(draft.notice),
    }
    return {
        "meta": np.frombuffer(json.dumps(meta).encode(), np.uint8),
        "keys": np.array(draft.keys, np.int64).reshape(-1, 2),
        "names": _blob(own),
        "named": np.array(named, np.int32),
        "lemmas": _blob([lemma.decode() for lemma, _ in entries]),
        "lemma_language": np.array([languages.index(code) for _, code in entries], np.uint8),
        "sense_start": np.searchsorted(table[:, 0], np.arange(len(entries) + 1)).astype(np.int32),
        "sense_concept": table[:, 2].astype(np.int32),
        "sense_rank": table[:, 1].astype(np.uint8),
        "forms": _blob([form for form, _ in forms]),
        "form_lemma": np.array([entry for _, entry in forms], np.int32),
        "edges": np.array(sorted(draft.edges), np.int32).reshape(-1, 3),
    }


def _folded_senses(draft: Draft) -> dict[tuple[str, str, int], int]:
    lemmas = fold_texts([lemma for _, lemma, _ in draft.senses])
    ranks: dict[tuple[str, str, int], int] = {}
    for ((language, _word, concept), rank), lemma in zip(draft.senses.items(), lemmas, strict=True):
        # A lemma with a line end would be read back from the blob as two.
        if lemma and "\n" not in lemma:
            key = (language, lemma, concept)
            ranks[key] = min(rank, ranks.get(key, rank))
    return ranks


def _folded_forms(draft: Draft, place: dict[tuple[bytes, str], int]) -> list[tuple[str, int]]:
    """Forms with the entry of their lemma, sorted; those that are lemmas themselves go."""
    given = sorted(draft.forms)
    forms = fold_texts([form for _, form, _ in given])
    lemmas = fold_texts([lemma for _, _, lemma in given])
    unique = set()
    for (language, *_rest), form, lemma in zip(given, forms, lemmas, strict=True):
        entry = place.get((lemma.encode(), language))
        if entry is not None and form and "\n" not in form and form != lemma:
            unique.add((form.encode(), entry))
    return [(form.decode(), entry) for form, entry in sorted(unique)]


def _own_names(draft: Draft) -> tuple[list[str], list[int]]:
    """The ids of the concepts that no index knows, sorted, and the concepts."""
    indexed = {concept for concept, key in draft.keys if not is_own(key)}
    own = sorted(
        (name.replace("\n", " ").encode("utf-8", "replace"), concept)
        for name, concept in draft.ids.items()
        if concept not in indexed
    )
    return [name.decode() for name, _ in own], [concept for _, concept in own]


def _blob(texts: Sequence[str]) -> Bytes:
    return np.frombuffer("".join(f"{text}\n" for text in texts).encode(), np.uint8)


def wordnet_of_arrays(name: str, arrays: dict[str, NDArray[Any]]) -> StoredWordnet:
    """The wordnet that *arrays* are.

    Raises:
        OntologyError: they do not fit together, or are of another format.
    """
    try:
        meta = json.loads(arrays["meta"].tobytes())
        if meta["format"] != FORMAT:
            raise OntologyError(
                _(
                    "{name}: is of format {given!r}, not {wanted}",
                    name=name,
                    given=meta["format"],
                    wanted=FORMAT,
                )
            )
        wordnet = StoredWordnet(
            name=name,
            notice=Notice(**meta["notice"]),
            languages=tuple(meta["languages"]),
            concepts=int(meta["concepts"]),
            names=SortedTexts(arrays["names"]),
            lemmas=SortedTexts(arrays["lemmas"]),
            forms=SortedTexts(arrays["forms"]),
            **{key: arrays[key].astype(np.int64) for key in _NUMBERS},
        )
        # Checked once here: every later look-up indexes these arrays without a test.
        _check(wordnet)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise OntologyError(
            _("{name}: is no installed ontology: {error}", name=name, error=error)
        ) from None
    return wordnet


_NUMBERS = (
    "keys",
    "named",
    "lemma_language",
    "sense_start",
    "sense_concept",
    "sense_rank",
    "form_lemma",
    "edges",
)


def _check(wordnet: StoredWordnet) -> None:
    """Raise ValueError unless every index is within its table."""
    lemmas = len(wordnet.lemmas)
    if len(wordnet.lemma_language) != lemmas or len(wordnet.sense_start) != lemmas + 1:
        raise ValueError("lemmas and senses differ in number")
    if len(wordnet.names) != len(wordnet.named) or len(wordnet.forms) != len(wordnet.form_lemma):
        raise ValueError("names or forms differ in number")
    if (
        wordnet.keys.ndim != 2
        or wordnet.edges.ndim != 2
        or len(wordnet.sense_concept) != len(wordnet.sense_rank)
    ):
        raise ValueError("a table has the wrong form")
    for values, size in (
        (wordnet.keys[:, 0], wordnet.concepts),
        (wordnet.edges[:, :2], wordnet.concepts),
        (wordnet.sense_concept, wordnet.concepts),
        (wordnet.named, wordnet.concepts),
        (wordnet.form_lemma, lemmas),
        (wordnet.lemma_language, len(wordnet.languages)),
        (wordnet.sense_start, len(wordnet.sense_concept) + 1),
    ):
        if values.size and not 0 <= values.min() <= values.max() < size:
            raise ValueError("a number points outside its table")


def write_wordnet(arrays: dict[str, NDArray[Any]], file: Path) -> None:
    """Write *arrays* beside *file* and rename them into place.

    Raises:
        OntologyError: the folder cannot be written.
    """
    # By process: two installations at once must not write the same draft.
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as target:
                np.savez_compressed(target, allow_pickle=False, **arrays)
                # On disk before the rename, so that a power cut leaves the old file or
                # the new one.
                target.flush()
                os.fsync(target.fileno())
            os.replace(part, file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OntologyError(
            _("cannot write {file!r}: {error}", file=str(file), error=error.strerror or error)
        ) from None


def read_wordnet(file: Path) -> StoredWordnet:
    """The wordnet installed as *file*.

    Raises:
        OntologyError: it cannot be read, or is none.
    """
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise OntologyError(
            _("{file!r} cannot be read: {error}", file=str(file), error=error)
        ) from None
    try:
        return wordnet_of_arrays(file.stem, arrays)
    except OntologyError as error:
        raise OntologyError(f"{str(file)!r}: {error}") from None
