"""Fingerprints of a body, to recognise it later: a digest, a SimHash and a sketch.

All three are made of the folded text, so that script, width and case make no difference.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels import ints, is_compiled
from qiaocrawl.text.normalise import fold, without_blanks
from qiaocrawl.vsm import text_grams
from qiaocrawl.vsm.grams import PLANE, gram_hashes

# --- The SimHash of a text (Charikar, 2002), of its character 4-grams -----------------------------

LETTER = 1
"""What a letter or digit is among the kinds of characters."""
_GRAM = 4
_CHUNK = 1 << 16


def simhash(points: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> int:
    """64-bit SimHash of a text of n characters; 0 without letters.

    Args:
        points: (n,) code points.
        kinds: (n,) what each is; only those that are ``LETTER`` count.
    """
    if is_compiled(text_grams.simhash_of):
        return text_grams.simhash_of(ints(points), ints(kinds), text_grams.GramCounts())
    return numpy_simhash(points, kinds)


def numpy_simhash(points: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> int:
    """What :func:`simhash` gives, with NumPy."""
    letters = points[kinds == LETTER].astype(np.uint64)
    if not len(letters):
        return 0
    if len(letters) < _GRAM:
        # Shorter than one gram: padded, so that a text of three letters has a SimHash.
        letters = np.pad(letters, (0, _GRAM - len(letters)))
    grams = len(letters) - _GRAM + 1
    counts = np.zeros(64, np.int64)
    for at in range(0, grams, _CHUNK):
        # In chunks that overlap by a gram: the bits of a whole book would take gigabytes.
        counts += _bit_counts(letters[at : at + _CHUNK + _GRAM - 1])
    # Bit i is 1 where more than half of all grams have it.
    bits = np.packbits(2 * counts > grams)
    # 0 stands for "unknown", so a hash of 0 becomes 1.
    return int.from_bytes(bits.tobytes(), "big") or 1


def _bit_counts(codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many of the 4-grams of *codes* have each of 64 bits in their hash."""
    hashes = gram_hashes(codes, _GRAM)
    bits = np.unpackbits(hashes.astype("<u8").view(np.uint8)).reshape(-1, 64)
    counts: NDArray[np.int64] = np.add.reduce(bits, axis=0, dtype=np.uint32).astype(np.int64)
    return counts


# --- Fingerprints of a body, to recognise it later: a digest, a SimHash and a sketch --------------

SKETCH_VERSION = 1
KEPT_SENTENCES = 64
"""As many sentences a sketch holds, those with the smallest digests (bottom-k)."""
LEAD_SENTENCES = 6
"""Sentences that count as a body's beginning; a sketch holds them always."""
MAX_SKETCH_BYTES = 3 + 4 * (KEPT_SENTENCES + LEAD_SENTENCES)

# Shorter sentences are joined with the next one: "他说。" stands in every second article.
_MIN_LETTERS = 8
# Stored in two bytes of the sketch.
_MAX_TOTAL = 0xFFFF
_FOUR_BYTES = struct.Struct("<I")
_NUMBER = re.compile(r"\d")
# After folding: 。and the ASCII signs ! ? ; are what 。！？； become.
_SENTENCE_ENDS = "。!?;\n"
# Of a character: a letter or digit, the end of a sentence, or one of spaces, commas, quotes, "_".
_BETWEEN, _LETTER, _END = 0, LETTER, 2
# A note of who tells it before the first words of a line: (转自:…), 【本报讯】, (马尼拉11月10日讯).
# Each site writes its own, so with it the sentence, mostly the one with the figures, is another.
_CREDIT = re.compile(
    r"^[^\S\n]*(?:[(\[【〔][^()\[\]【】〔〕\n]{0,28}"
    r"(?:转自|转载|转发|来源|原标题|记者|通讯员|讯|电|报道|source|via)"
    r"[^()\[\]【】〔〕\n]{0,28}[)\]】〕][^\S\n]*)+(?=[^\s)])",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class BodyFingerprints:
    """The fingerprints of one body: see the functions of the same names."""

    digest: bytes = b""
    simhash: int = 0
    sketch: bytes = b""


def body_fingerprints(text: str) -> BodyFingerprints:
    """Digest, SimHash and sketch of *text*, which is folded once: 0.3 ms for 2,000 characters."""
    folded = fold(text)
    codes, told = _codes(folded), _CREDIT.sub("", folded)
    sentences = _sentences(codes if told == folded else _codes(told))
    return BodyFingerprints(_digest(folded), simhash(*codes), _sketch(sentences))


def body_digest(text: str) -> bytes:
    """16 bytes (BLAKE2b) of *text* folded, without white space; b"" for an empty one."""
    return _digest(fold(text))


def body_simhash(text: str) -> int:
    """64-bit SimHash (Charikar, 2002) of *text*'s character 4-grams; 0 without letters.

    4-grams of letters and digits, each as often as it stands there. Characters, since words
    would cost a segmentation; four of them are a word with its neighbourhood, and two texts
    on one matter share far fewer of those than of 2-grams. Unrelated texts differ in 32
    bits, give or take 4.
    """
    return simhash(*_codes(fold(text)))


def body_sketch(text: str) -> bytes:
    """Digests of the sentences of *text*, at most 283 bytes; b"" without letters.

    Version (1 byte), number of distinct sentences (2 bytes, 65,535 for more), then
    little-endian 32-bit entries, ascending: those of the 64 smallest digests, then those of
    the first six sentences that are not among them. Notes before the first words of a line of who
    tells it, such as （转自：…）, are left out. Bit 0 of an entry: the sentence is one of
    the first six. Bit 1: it holds a digit. Above: 30 bits of BLAKE2b.
    """
    return _sketch(_sentences(_codes(_CREDIT.sub("", fold(text)))))


def hamming(a: int, b: int) -> int:
    """In how many of 64 bits two SimHashes differ."""
    return (a ^ b).bit_count()


def _digest(folded: str) -> bytes:
    # Without white space: line breaks differ from one site's layout to another's.
    tight = without_blanks(folded)
    return blake2b(tight.encode(), digest_size=16).digest() if tight else b""


@cache
def _kinds_of_plane() -> NDArray[np.uint8]:
    """What each character of the basic plane is."""
    letters = map(str.isalnum, map(chr, range(PLANE)))
    kinds = np.fromiter(letters, np.bool_, PLANE).astype(np.uint8)
    kinds[list(map(ord, _SENTENCE_ENDS))] = _END
    return kinds


class _Codes(NamedTuple):
    """Code points of a text, and what each is."""

    points: NDArray[np.uint32]
    kinds: NDArray[np.uint8]


def _codes(folded: str) -> _Codes:
    points = np.frombuffer(folded.encode("utf-32-le", "replace"), dtype="<u4")
    beyond = np.flatnonzero(points >= PLANE)
    if not len(beyond):
        return _Codes(points, _kinds_of_plane()[points])
    kinds = _kinds_of_plane()[np.minimum(points, PLANE - 1)]
    kinds[beyond] = [chr(point).isalnum() for point in points[beyond]]
    return _Codes(points, kinds)


def _sentences(codes: _Codes) -> list[str]:
    """The letters and digits of a folded text, all of them in order, sentence by sentence.

    A line end ends a sentence too. Only the last sentence may be short.
    """
    kept = np.where(codes.kinds == _END, np.uint32(ord("\n")), codes.points)
    told = kept[codes.kinds != _BETWEEN].tobytes().decode("utf-32-le")
    sentences, waiting = [], ""
    for piece in told.split("\n"):
        waiting += piece
        if len(waiting) >= _MIN_LETTERS:
            sentences.append(waiting)
            waiting = ""
    if waiting:
        sentences.append(waiting)
    return sentences


def _sketch(sentences: list[str]) -> bytes:
    if not sentences:
        return b""
    # Without numpy, whose calls take longer than the few dozen sentences of a page.
    entries: dict[int, int] = {}
    # In text order, which the mark of the first six needs.
    for place, sentence in enumerate(dict.fromkeys(sentences)):
        (digest,) = _FOUR_BYTES.unpack(blake2b(sentence.encode(), digest_size=4).digest())
        # The two lowest bits are free for the marks.
        entry = digest & ~3 | (_NUMBER.search(sentence) is not None) << 1
        # Sentences with one digest count as one, which is a lead if one of them is.
        entries[entry] = entries.get(entry, entry) | (place < LEAD_SENTENCES)
    ascending = sorted(entries.values())
    kept = ascending[:KEPT_SENTENCES]
    kept += [entry for entry in ascending[KEPT_SENTENCES:] if entry & 1]
    total = min(len(ascending), _MAX_TOTAL)
    return struct.pack(f"<BH{len(kept)}I", SKETCH_VERSION, total, *kept)
