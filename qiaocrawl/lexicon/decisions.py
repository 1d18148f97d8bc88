"""What an expert decides of a word, and what becomes of the topic's terms by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.check import term_reasons
from qiaocrawl.topic.pack import TERM_KINDS, Term

Action = Literal["accept", "reject", "merge"]

ACTIONS: dict[str, str] = {"accept": "收", "reject": "弃", "merge": "同义"}
"""What can be decided, with the Chinese word that tables use."""
_DEFAULT_KIND = "other"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided of a word.

    Args:
        text: the word, as the topic is to have it.
        action: ``accept`` makes or changes the term; ``reject`` takes it away, and no proposal
            brings it back; ``merge`` makes it a term of the kind and weight of *synonym_of*.
        weight, kind: of the term; None leaves them as they are, 3 and ``other`` for a new one.
        note: why.
    """

    text: str
    action: Action
    weight: float | None = None
    kind: str | None = None
    synonym_of: str = ""
    note: str = ""


def decided_terms(terms: Sequence[Term], decision: Decision) -> tuple[Term, ...]:
    """*terms* after *decision*; a changed term keeps its place, a new one comes last.

    Raises:
        ConfigError: a wrong action, kind or weight, or no such term to be a synonym of.
    """
    if decision.action not in get_args(Action):
        known = ", ".join(f"{action} ({word})" for action, word in ACTIONS.items())
        raise ConfigError(
            _("{action!r} must be one of {known}", action=decision.action, known=known)
        )
    key = fold(decision.text)
    place = next((n for n, term in enumerate(terms) if fold(term.text) == key), None)
    if decision.action == "reject":
        return tuple(term for term in terms if fold(term.text) != key)
    term = _change_term(None if place is None else terms[place], _merge_decision(terms, decision))
    if reasons := term_reasons(term):
        raise ConfigError(f"{decision.text!r}: {'; '.join(reasons)}")
    if place is None:
        return (*terms, term)
    return (*terms[:place], term, *terms[place + 1 :])


def action_of(word: str) -> Action:
    """The action that *word* names, in English or Chinese.

    Raises:
        ConfigError: none; the message says which there are.
    """
    wanted = word.strip().lower()
    for action in get_args(Action):
        if wanted in (action, ACTIONS[action]):
            chosen: Action = action
            return chosen
    raise ConfigError(
        _(
            "{word!r} must be {names} ({names2})",
            word=word,
            names=" or ".join(ACTIONS.values()),
            names2=", ".join(ACTIONS),
        )
    )


def kind_of(word: str) -> str:
    """The kind of a term that *word* names, in English or Chinese.

    Raises:
        ConfigError: none; the message says which there are.
    """
    wanted = word.strip().lower()
    for kind, chinese in TERM_KINDS.items():
        if wanted in (kind, chinese):
            return kind
    raise ConfigError(
        _("kind {word!r} must be one of {names}", word=word, names="、".join(TERM_KINDS.values()))
    )


def _merge_decision(terms: Sequence[Term], decision: Decision) -> Decision:
    """A merge as the acceptance it comes to."""
    if decision.action != "merge":
        return decision
    key = fold(decision.synonym_of)
    main = next((term for term in terms if fold(term.text) == key), None)
    if main is None:
        raise ConfigError(
            _(
                "{text!r} cannot be a synonym of {synonym_of!r}, which is no term of the topic",
                text=decision.text,
                synonym_of=decision.synonym_of,
            )
        )
    return replace(
        decision,
        weight=main.weight if decision.weight is None else decision.weight,
        kind=main.kind if decision.kind is None else decision.kind,
        note=decision.note or f"同义于{main.text}",
    )


def _change_term(term: Term | None, decision: Decision) -> Term:
    old = term or Term(decision.text, _DEFAULT_KIND)
    return Term(
        old.text,
        old.kind if decision.kind is None else decision.kind,
        old.weight if decision.weight is None else decision.weight,
        decision.note or old.note,
    )


# --- What each term of a topic brings, and the fewest terms that bring nearly all -----------------


@dataclass(frozen=True, slots=True)
class TermYield:
    """What the queries with one term brought so far.

    Args:
        requests: queries asked, each time counted.
        hits: different URLs its answers had; None where they were asked for before hits were
            kept.
        articles: of the stored articles at them, the ids.
        on_topic: of those the topic's.
        waiting: keys of hits that were not fetched yet.
    """

    term: str
    requests: int
    hits: int | None
    articles: frozenset[int] = field(default=frozenset())
    on_topic: frozenset[int] = field(default=frozenset())
    waiting: frozenset[bytes] = field(default=frozenset())

    @property
    def is_useless(self) -> bool:
        """Whether all that it found was looked at, and nothing of it is on topic."""
        return self.hits is not None and not self.on_topic and not self.waiting

    @property
    def share_on_topic(self) -> float:
        """Of its articles those on topic, in [0, 1]; 0 for none."""
        return len(self.on_topic) / len(self.articles) if self.articles else 0.0


@dataclass(frozen=True, slots=True)
class CoverStep:
    """One term more in a cover: what it adds to those before it.

    Args:
        gained: articles on topic that none before it finds.
        share: of all that any term finds, what is found so far, in [0, 1].
        requests: asked by the terms so far.
    """

    term: str
    gained: int
    share: float
    requests: int


def found_only_by(yields: Sequence[TermYield]) -> dict[str, int]:
    """For each term how many articles on topic no other term found."""
    finders = Counter(article for own in yields for article in own.on_topic)
    return {own.term: sum(finders[article] == 1 for article in own.on_topic) for own in yields}


def cover(yields: Sequence[TermYield], share: float = 1.0) -> list[CoverStep]:
    """Terms in the order in which each adds most for its requests, until *share* is found.

    The greedy algorithm for weighted set cover (Chvátal 1979): at most ln n + 1 times the
    requests of the best choice.

    Args:
        share: of the articles on topic that all terms together find, in (0, 1].
    """
    all_found = frozenset().union(*(own.on_topic for own in yields))
    left: Mapping[str, TermYield] = {own.term: own for own in yields if own.on_topic}
    found: frozenset[int] = frozenset()
    steps: list[CoverStep] = []
    requests = 0
    while left and len(found) < share * len(all_found):
        best = min(left.values(), key=lambda own: (_cost(own, found), own.term))
        gained = len(best.on_topic - found)
        if not gained:
            break
        found |= best.on_topic
        requests += best.requests
        steps.append(CoverStep(best.term, gained, len(found) / len(all_found), requests))
        left = {term: own for term, own in left.items() if term != best.term}
    return steps


def _cost(own: TermYield, found: frozenset[int]) -> float:
    """Requests for each article that would be new."""
    gained = len(own.on_topic - found)
    return max(own.requests, 1) / gained if gained else float("inf")
