"""The expert's desk in the terminal: a word at a time, a key a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from qiaocrawl.errors import ConfigError
from qiaocrawl.lexicon.candidates import Candidate
from qiaocrawl.lexicon.decisions import Decision, kind_of
from qiaocrawl.text import fold
from qiaocrawl.topic.pack import TERM_KINDS

KEYS = (
    ("a", "收 accept"), ("r", "弃 reject"), ("m", "同义 merge"), ("w", "权重 weight"),
    ("k", "类别 kind"), ("n", "备注 note"), ("空格 space", "跳过 skip"), ("u", "撤销 undo"),
    ("q", "结束 quit"),
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
    taken: int = field(default=0, init=False)
    rejected: int = field(default=0, init=False)
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
            f"收 accepted {self.taken}，弃 rejected {self.rejected}，"
            f"未看 left {len(self.words) - self._place}",
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
            main = self.ask(f"同义于 synonym of [{word.of_term}]: ").strip() or word.of_term
            self._take(replace(draft, action="merge", synonym_of=main))
        elif key == "w":
            self._draft = replace(draft, weight=_number(self.ask("权重 weight (0–10]: ")))
        elif key == "k":
            kinds = "、".join(TERM_KINDS.values())
            self._draft = replace(draft, kind=kind_of(self.ask(f"类别 kind（{kinds}）: ")))
        elif key == "n":
            self._draft = replace(draft, note=self.ask("备注 note: ").strip())
        elif key == "u":
            self._undo()
        elif key in (" ", "\r", "\n"):
            self._next()
        else:
            self._notice = f"没有这个键 no such key: {key!r}"

    def _take(self, decision: Decision) -> None:
        self.book.take(decision)
        if decision.action == "reject":
            self.rejected += 1
        else:
            self.taken += 1
        self._next()

    def _undo(self) -> None:
        text = self.book.undo_last()
        self._notice = f"已撤销 undone: {text}" if text else "没有可撤销的 nothing to undo"
        if text and self._place and fold(self.words[self._place - 1].text) == fold(text):
            self._place -= 1
            self._draft = None

    def _next(self) -> None:
        self._place += 1
        self._draft = None

    def _show(self) -> None:
        word = self.words[self._place]
        lines = [
            Text.assemble((word.text, "bold"), f"　{word.origin}"),
            Text(word.facts),
            *(Text(f"· {sentence}") for sentence in self.examples.get(fold(word.text), ())),
        ]
        if self.cost:
            lines.append(Text(f"收下后 if accepted: {self.cost}", style="dim"))
        if self._draft is not None:
            lines.append(Text(f"已填 so far: {_shown(self._draft)}", style="green"))
        if self._notice:
            lines.append(Text(self._notice, style="yellow"))
        title = f"{self._place + 1}/{len(self.words)}　收 {self.taken}　弃 {self.rejected}"
        self.console.clear()
        self.console.print(Panel(Group(*lines), title=title, title_align="left"))
        keys = Text("  ").join(Text.assemble((key, "bold"), f" {meaning}") for key, meaning in KEYS)
        self.console.print(keys)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"weight {text.strip()!r} must be a number above 0, up to 10") from None


def _shown(draft: Decision) -> str:
    parts = (
        "" if draft.weight is None else f"权重 {draft.weight:g}",
        "" if draft.kind is None else f"类别 {TERM_KINDS[draft.kind]}",
        draft.note,
    )
    return "，".join(part for part in parts if part)
