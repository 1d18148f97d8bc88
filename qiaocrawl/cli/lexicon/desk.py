"""The expert's desk in the terminal: a word at a time, a key a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from qiaocrawl.cli.output import choice_name, joined
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.lexicon.build import Candidate
from qiaocrawl.lexicon.decisions import Decision, kind_of
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TERM_KINDS

KEYS = (
    ("a", N_("accept")), ("r", N_("reject")), ("m", N_("merge")), ("w", N_("weight")),
    ("k", N_("kind")), ("n", N_("note")), (N_("space"), N_("skip")), ("u", N_("undo")),
    ("q", N_("quit")),
)  # fmt: skip
_EXIT = ("q", "\x03", "\x04")


class Book(Protocol):
    """Where decisions are kept."""

    def take(self, decision: Decision) -> None:
        """Keep *decision*.

        Raises:
            ConfigError: it is wrong.
        """

    def undo_last(self) -> str:
        """Take the last decision of this topic back; returns its word, "" if there is none."""


@dataclass
class Desk:
    """Goes through *words*; every decision is kept before the next word is shown.

    Args:
        examples: sentences by folded word.
        cost: what a term more costs, in words.
        key: reads one key.
        ask: reads a line after a prompt.
    """

    words: Sequence[Candidate]
    examples: Mapping[str, Sequence[str]]
    book: Book
    console: Console
    key: Callable[[], str]
    ask: Callable[[str], str]
    cost: str = ""
    _decided: list[Decision] = field(default_factory=list, init=False)
    _place: int = field(default=0, init=False)
    _draft: Decision | None = field(default=None, init=False)
    _notice: str = field(default="", init=False)

    def run(self) -> None:
        """Show word after word until all are through or the expert leaves."""
        while self._place < len(self.words):
            self._show()
            key = self.key()
            if key in _EXIT:
                break
            self._notice = ""
            try:
                self._press(key.lower())
            except ConfigError as error:
                self._notice = str(error)
        self.console.print(
            _(
                "accepted {taken}, rejected {rejected}, left {left}",
                taken=self.taken,
                rejected=self.rejected,
                left=len(self.words) - self._place,
            ),
            markup=False,
        )

    def _press(self, key: str) -> None:
        word = self.words[self._place]
        draft = self._draft or Decision(word.text, "accept")
        if key == "a":
            self._take(draft)
        elif key == "r":
            self._take(replace(draft, action="reject"))
        elif key == "m":
            self._merge(draft, word.of_term)
        elif key == "w":
            self._draft = replace(draft, weight=_number(self.ask(_("weight (0–10]: "))))
        elif key == "k":
            kinds = joined(choice_name(kind, TERM_KINDS) for kind in TERM_KINDS)
            self._draft = replace(draft, kind=kind_of(self.ask(_("kind ({kinds}): ", kinds=kinds))))
        elif key == "n":
            self._draft = replace(draft, note=self.ask(_("note: ")).strip())
        elif key == "u":
            self._undo()
        elif key in (" ", "\r", "\n"):
            self._next()
        else:
            self._notice = _("no such key: {key!r}", key=key)

    @property
    def rejected(self) -> int:
        """Words that were rejected here, and not taken back."""
        return sum(one.action == "reject" for one in self._decided)

    @property
    def taken(self) -> int:
        """Words that were accepted or merged here, and not taken back."""
        return len(self._decided) - self.rejected

    def _merge(self, draft: Decision, proposed: str) -> None:
        shown = f" [{proposed}]" if proposed else ""
        main = self.ask(_("synonym of{shown}: ", shown=shown)).strip() or proposed
        if main:
            self._take(replace(draft, action="merge", synonym_of=main))
        else:
            self._notice = _("not merged: no term was named")

    def _take(self, decision: Decision) -> None:
        self.book.take(decision)
        self._decided.append(decision)
        self._next()

    def _undo(self) -> None:
        text = self.book.undo_last()
        self._notice = _("undone: {text}", text=text) if text else _("nothing to undo")
        if self._decided and self._decided[-1].text == text:
            self._decided.pop()
        if text and self._place and fold(self.words[self._place - 1].text) == fold(text):
            self._place -= 1
            self._draft = None

    def _next(self) -> None:
        self._place += 1
        self._draft = None

    def _show(self) -> None:
        word = self.words[self._place]
        lines = [
            Text.assemble((word.text, "bold"), f"  {word.origin}"),
            Text(word.facts),
            *(Text(f"· {sentence}") for sentence in self.examples.get(fold(word.text), ())),
        ]
        if self.cost:
            lines.append(Text(_("if accepted: {cost}", cost=self.cost), style="dim"))
        if self._draft is not None:
            lines.append(Text(_("so far: {shown}", shown=_shown(self._draft)), style="green"))
        if self._notice:
            lines.append(Text(self._notice, style="yellow"))
        title = _(
            "{number}/{count}  accepted {taken}  rejected {rejected}",
            number=self._place + 1,
            count=len(self.words),
            taken=self.taken,
            rejected=self.rejected,
        )
        self.console.clear()
        self.console.print(Panel(Group(*lines), title=title, title_align="left"))
        keys = Text("  ").join(
            Text.assemble((key, "bold"), f" {_(meaning)}") for key, meaning in KEYS
        )
        self.console.print(keys)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            _("weight {text!r} must be a number above 0, up to 10", text=text.strip())
        ) from None


def _shown(draft: Decision) -> str:
    parts = (
        "" if draft.weight is None else _("weight {weight:g}", weight=draft.weight),
        "" if draft.kind is None else _("kind {kind}", kind=choice_name(draft.kind, TERM_KINDS)),
        draft.note,
    )
    return joined(part for part in parts if part)
