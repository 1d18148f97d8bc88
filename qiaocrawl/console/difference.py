"""What differs between two texts, in bounded time: the texts are strangers'.

Sentences are compared first, and characters only within the few that were replaced.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

_SENTENCE = re.compile(r"[^。！？\n]*[。！？\n]+|[^。！？\n]+")
_MOST_CHARS = 60_000
_MOST_SENTENCES = 2_000
_MOST_WITHIN = 600
# A sentence that stands more often marks no place, and each time it stands costs a look.
_MOST_ALIKE = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """Both texts in one, what went in ``<del>``, what came in ``<ins>``; "" for equal ones.

    ``is_cut``: they are too long; ``text`` ends before they do.
    """

    text: Markup
    is_cut: bool = False


class Comparison:
    """Compares the texts of one page, which together may cost so much and no more.

    Args:
        sentences, characters: as many are compared, of all texts; the rest is shown as it is.
    """

    def __init__(self, sentences: int = 6_000, characters: int = 20_000) -> None:
        self._sentences, self._characters = sentences, characters

    def difference(self, before: str, after: str) -> Difference:
        """What differs between the two."""
        if before == after:
            return Difference(Markup(""))
        old, new = _sentences(before), _sentences(after)
        head = _same(old, new)
        tail = _same(old[head:][::-1], new[head:][::-1])
        end_old, end_new = len(old) - tail, len(new) - tail
        most = min(_MOST_SENTENCES, self._sentences)
        cut_old, cut_new = old[head:end_old][:most], new[head:end_new][:most]
        self._sentences -= max(len(cut_old), len(cut_new))
        pieces = [_plain(old[:head]), *self._changed(cut_old, cut_new)]
        if is_whole := max(end_old, end_new) - head <= most:
            pieces.append(_plain(old[end_old:]))
        is_cut = not is_whole or max(len(before), len(after)) > _MOST_CHARS
        return Difference(Markup("").join(pieces), is_cut)

    def _changed(self, old: Sequence[str], new: Sequence[str]) -> list[Markup]:
        often = {sentence for sentence, count in Counter(new).items() if count > _MOST_ALIKE}
        matcher = difflib.SequenceMatcher(often.__contains__, old, new, autojunk=False)
        return [
            _plain(old[a:b]) if tag == "equal" else self._within("".join(old[a:b]),
                                                                 "".join(new[x:y]))
            for tag, a, b, x, y in matcher.get_opcodes()
        ]  # fmt: skip

    def _within(self, before: str, after: str) -> Markup:
        """The same of two pieces, by characters where they are short."""
        longer = max(len(before), len(after))
        if not (before and after) or longer > min(_MOST_WITHIN, self._characters):
            return _gone(before) + _come(after)
        self._characters -= longer
        matcher = difflib.SequenceMatcher(None, before, after)
        return Markup("").join(
            escape(before[a:b]) if tag == "equal" else _gone(before[a:b]) + _come(after[x:y])
            for tag, a, b, x, y in matcher.get_opcodes()
        )


def _sentences(text: str) -> list[str]:
    return _SENTENCE.findall(text[:_MOST_CHARS])


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many sentences are the same in both, from the first on."""
    count = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        count += 1
    return count


def _plain(sentences: Sequence[str]) -> Markup:
    return escape("".join(sentences))


def _gone(text: str) -> Markup:
    return Markup("<del>{}</del>").format(text) if text else Markup("")


def _come(text: str) -> Markup:
    return Markup("<ins>{}</ins>").format(text) if text else Markup("")
