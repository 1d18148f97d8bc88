"""The tone of an article, and towards what it names, without or with a model of an office."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import numpy as np

from qiaocrawl.analysis.tone.features import judgement_features
from qiaocrawl.analysis.tone.model import SURE_FROM, Document, ToneModel
from qiaocrawl.analysis.tone.tone import LABELS, Tone

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]*")
# Set by hand, not learnt: docs/analysis.md tells how right it is. Of the sum of judging words in
# proportion (-1 to 1), and of the sign of the last one.
_LEANING, _LAST_WORD = 2.2, 0.3
_NEUTRAL = 1.2


def tone_of(title: str, text: str, model: ToneModel | None = None,
            sure_from: float = SURE_FROM) -> Tone:  # fmt: skip
    """The tone of an article.

    Args:
        model: an office's own; None: the one that comes along, which knows judging words only.
        sure_from: below this probability the tone is ``unsure``.
    """
    document = Document(f"{title}\n{text}".strip("\n"))
    return (model or default_tone_model()).tone(document, sure_from)


def tone_towards(
    names: Iterable[str],
    title: str,
    text: str,
    model: ToneModel | None = None,
    sure_from: float = SURE_FROM,
) -> Tone:
    """The tone of an article towards a body, person or topic, judged by what names it.

    Without a model towards targets these are the sentences with one of *names*; where none stands
    in the article, the tone is ``unsure``.

    Args:
        names: what it is called, the full name first.
    """
    names = list(names)
    if model is not None and model.towards_target:
        return model.tone(Document(f"{title}\n{text}", names[0]), sure_from)
    sentences = [
        match[0]
        for match in _SENTENCE.finditer(f"{title}\n{text}")
        if any(name in match[0] for name in names)
    ]
    if not sentences:
        return Tone("unsure", (0.0, 0.0, 0.0))
    return tone_of("", "".join(sentences), model, sure_from)


@cache
def default_tone_model() -> ToneModel:
    """The one that comes along: it reads the judging words, and nothing was learnt."""
    dense = np.zeros((len(judgement_features([])), len(LABELS)))
    positive, negative = LABELS.index("positive"), LABELS.index("negative")
    for row, weight in ((2, _LEANING), (5, _LAST_WORD)):
        dense[row, positive], dense[row, negative] = weight, -weight
    bias = np.zeros(len(LABELS))
    bias[LABELS.index("neutral")] = _NEUTRAL
    return ToneModel(np.zeros(0, np.uint64), np.zeros(0), dense, bias)
