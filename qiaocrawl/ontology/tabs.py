"""Reads the tab files of the Open Multilingual Wordnet: words on the synsets of WordNet 3.0.

A line is ``02131777-v<TAB>cmn:lemma<TAB>word``; the first one says ``# title, language, URL,
licence``. They have no relations: those come from WordNet, or a wordnet joined to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from qiaocrawl.errors import OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology.draft import Draft, Notice
from qiaocrawl.ontology.keys import wn30_key

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
            _enter(draft, text.split("\t"), language, f"{source}:{number}")
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


def _enter(draft: Draft, cells: list[str], language: str, place: str) -> None:
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
