"""Inventions planted in true sentences: how many the checker catches, and what it drops wrongly.

    python benchmarks/checked_sentences.py [--data DIR] [--json FILE] [--texts N] [--show KIND]

True sentences are those of texts, shortened ones, two made one, and headlines that people wrote;
each kind of invention is planted in them by rules that know nothing of the checker. Texts are those
written for this (``benchmarks/invented/stories.toml``, where sentences and inventions are by hand)
and, with --data, DIR/summaries/*.jsonl.gz. Half of the texts is to choose by (--choosing shows it);
what is printed is of the other. ``trusts`` takes all; ``words`` takes what has as many of its words
in what it cites as keeps its wrong drops at 5 % on the choosing half.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parents[1])]

from rich.console import Console
from rich.table import Table

from benchmarks.analysis_data import files_of, is_choosing, read_lines
from benchmarks.rows import write_rows
from qiaocrawl.news.summary_sentences import rarity, sentences_of, tag_words, words_of
from qiaocrawl.news.writing.checking import Checker, Numbered
from qiaocrawl.news.writing.facts import plain_text

_FOLDER = Path(__file__).resolve().parent / "invented"
_SHORTEST, _LONGEST = 14, 110
_LEAST_SCORE = 4
_WRONG_DROPS = 0.05
_TRUE = "true"


class Case(NamedTuple):
    """A sentence beside all that may be cited; *kind* is ``true …`` or the invention planted."""

    set: str
    kind: str
    text: str
    cites: tuple[int, ...]
    given: tuple[Numbered, ...]
    chooses: bool

    @property
    def is_true(self) -> bool:
        """Whether nothing is invented in it."""
        return self.kind.startswith(_TRUE)


# --- Inventions planted by rule -------------------------------------------------------------------

_PLANTED: dict[str, list[str]] = {
    name: words.split()
    for name, words in tomllib.loads((_FOLDER / "plants.toml").read_text("utf-8")).items()
}
_UNITS = [pair.split("/") for pair in _PLANTED["units"]]
_DIGITS = re.compile(r"(?<![\d.])\d+(?:\.\d+)?(?![\d.]*[月日号年时点])")
_DAY = re.compile(r"(\d{1,2})([日号])|(\d{1,2})(月)|((?:19|20)\d\d)(年)")

Words = list[tuple[str, str]]


def _number(text: str, dice: random.Random) -> str | None:
    found = list(_DIGITS.finditer(text))
    if not found:
        return None
    match = dice.choice(found)
    digits = list(match[0])
    at = dice.choice([at for at, digit in enumerate(digits) if digit.isdigit()])
    digits[at] = dice.choice([digit for digit in "123456789" if digit != digits[at]])
    return text[: match.start()] + "".join(digits) + text[match.end() :]


def _unit(text: str, dice: random.Random) -> str | None:
    found = [
        (match.end(1), old, new)
        for old, new in _UNITS
        for match in re.finditer(rf"(\d[多余]?){re.escape(old)}", text)
        if not (old == "年" and re.search(r"(?:19|20)\d\d$", text[: match.end(1)]))
    ]
    if not found:
        return None
    at, old, new = dice.choice(found)
    return text[:at] + new + text[at + len(old) :]


def _day(text: str, dice: random.Random) -> str | None:
    found = list(_DAY.finditer(text))
    if not found:
        return None
    match = dice.choice(found)
    written = next(filter(None, (match[1], match[3], match[5])))
    most = 28 if match[1] else 12
    value = int(written)
    others = (
        [value - 1, value + 1] if match[5] else [one for one in range(1, most + 1) if one != value]
    )
    return text[: match.start()] + str(dice.choice(others)) + text[match.start() + len(written) :]


def _name_by(tags: tuple[str, ...], others: Sequence[str]) -> Callable[..., str | None]:
    def plant(text: str, dice: random.Random) -> str | None:
        names = [word for word, tag in _tagged(text) if tag in tags and len(word) > 1]
        if not names:
            return None
        name = dice.choice(names)
        return text.replace(name, dice.choice([own for own in others if own != name]))

    return plant


_BODY = re.compile(
    r"(?<![\w])[\w]{2,8}(?:大学|公司|集团|银行|使馆|法院|公安局|委员会|协会|联合会|政府|研究院|医院|部门|警方|总局)"
)


def _body(text: str, dice: random.Random) -> str | None:
    found = list(_BODY.finditer(text))
    if not found:
        return None
    match = dice.choice(found)
    return text[: match.start()] + dice.choice(_PLANTED["bodies"]) + text[match.end() :]


def _negation(text: str, dice: random.Random) -> str | None:
    words = _tagged(text)
    negators = [at for at, (word, _tag) in enumerate(words) if word in _PLANTED["negators"]]
    verbs = [
        at
        for at, (word, tag) in enumerate(words)
        if tag == "v" and len(word) > 1 and word not in _PLANTED["no_verbs"] and at
    ]
    if negators:
        at = dice.choice(negators)
        return "".join(word for place, (word, _tag) in enumerate(words) if place != at)
    if not verbs:
        return None
    at = dice.choice(verbs)
    words.insert(at, (dice.choice(_PLANTED["negators"][:5]), "d"))
    return "".join(word for word, _tag in words)


def _swapped(text: str, dice: random.Random) -> str | None:
    """Two names of one clause, with a verb between, change places."""
    pairs = []
    for clause in re.split("[，。；：]", text):
        words = _tagged(clause)
        names = [
            at
            for at, (word, tag) in enumerate(words)
            if tag in ("nr", "ns", "nt", "nz") and len(word) > 1
        ]
        for one, other in zip(names, names[1:], strict=False):
            between = words[one + 1 : other]
            verbs = [
                word for word, tag in between if tag == "v" and word not in _PLANTED["no_verbs"]
            ]
            if verbs and words[one][0] != words[other][0] and words[one][1] == words[other][1]:
                pairs.append((words[one][0], words[other][0]))
    if not pairs:
        return None
    first, second = dice.choice(pairs)
    mark = "\0"
    return text.replace(first, mark).replace(second, first).replace(mark, second)


def _cause(text: str, dice: random.Random) -> str | None:
    if dice.random() < 0.5 or "，" not in text:
        return f"{dice.choice(_PLANTED['reasons'])}，{text}"
    commas = [match.end() for match in re.finditer("，", text)]
    at = dice.choice(commas)
    return text[:at] + dice.choice(_PLANTED["causes"]) + text[at:]


def _hedge(text: str, dice: random.Random) -> str | None:
    words = _tagged(text)
    found = [
        at
        for at, (word, tag) in enumerate(words[:-1])
        if word in _PLANTED["hedges"]
        and tag[0] in "dvc"
        # 将 may be 把, and of two the other stays.
        and words[at + 1][1][0] in "vd"
        and not {words[at - 1][0], words[at + 1][0]} & {*_PLANTED["hedges"], "或"}
    ]
    if not found:
        return None
    at = dice.choice(found)
    return "".join(word for place, (word, _tag) in enumerate(words) if place != at)


def _word_by(tag: str, others: Sequence[str]) -> Callable[..., str | None]:
    """Another word of that kind: somebody did something else, or to something else."""

    def plant(text: str, dice: random.Random) -> str | None:
        words = _tagged(text)
        found = [
            at
            for at, (word, own) in enumerate(words)
            if own == tag and len(word) > 1 and word not in _PLANTED["no_verbs"] and at
        ]
        if not found:
            return None
        at = dice.choice(found)
        words[at] = (dice.choice([word for word in others if word != words[at][0]]), tag)
        return "".join(word for word, _tag in words)

    return plant


def _detail(text: str, dice: random.Random) -> str | None:
    """A clause that nothing says, at the end or behind the first one."""
    clause = dice.choice(_PLANTED["details"])
    first, comma, rest = text.partition("，")
    if comma and dice.random() < 0.5:
        return f"{first}，{clause}，{rest}"
    return f"{text.rstrip('。！；')}，{clause}。"


_PLANTS: dict[str, Callable[[str, random.Random], str | None]] = {
    "number": _number,
    "unit": _unit,
    "day": _day,
    "person": _name_by(("nr", "nrt", "nrfg"), _PLANTED["persons"]),
    "place": _name_by(("ns",), _PLANTED["places"]),
    "body": _body,
    "negation": _negation,
    "swapped": _swapped,
    "cause": _cause,
    "hedge": _hedge,
    "detail": _detail,
    "verb": _word_by("v", _PLANTED["verbs"]),
    "noun": _word_by("n", _PLANTED["nouns"]),
}


def _tagged(text: str) -> Words:
    return [(word, tag) for word, tag in tag_words(text)]


def _merged(one: str, other: str) -> str | None:
    """What the first is about, said to have done what the second tells."""
    subject = _cut(one)[0]
    rest = _cut(other)[1]
    return subject + rest if len(subject) > 1 and len(rest) > 6 else None


def _cut(text: str) -> tuple[str, str]:
    words = _tagged(text)
    for at, (word, tag) in enumerate(words):
        if tag == "v" and len(word) > 1 and at:
            before = "".join(own for own, _tag in words[:at])
            about = any(tag[0] == "n" and len(word) > 1 for word, tag in words[:at])
            if not about or re.search("[，。：；]", before):
                break
            return before, "".join(own for own, _tag in words[at:])
    return "", ""


# --- True sentences -------------------------------------------------------------------------------


def _shortened(text: str, dice: random.Random) -> str | None:
    """Without one of its clauses behind the first, and without brackets."""
    clauses = re.findall("[^，；]+[，；。]?", re.sub("[（(][^）)]*[）)]", "", text))
    if len(clauses) < 3:
        return None
    del clauses[dice.randrange(1, len(clauses))]
    return "".join(clauses).rstrip("，；。") + "。"


def _text_cases(
    name: str, text: str, headline: str, other: Numbered | None, dice: random.Random
) -> Iterator[Case]:
    """True sentences of *text*, and what is planted in them."""
    pieces = sentences_of(text)
    given = tuple(Numbered(at, 1, at, piece.text) for at, piece in enumerate(pieces, start=1))
    own = [one for one in given if _SHORTEST <= len(one.text) <= _LONGEST and "？" not in one.text]
    if not own:
        return
    chooses = is_choosing(text)

    def case(kind: str, said: str, *cites: int, more: tuple[Numbered, ...] = ()) -> Case:
        return Case(name, kind, said, cites, (*given, *more), chooses)

    one = dice.choice(own)
    said: list[tuple[str, str, tuple[int, ...]]] = [("true verbatim", one.text, (one.number,))]
    if short := _shortened(one.text, dice):
        said.append(("true shortened", short, (one.number,)))
    if one.number < len(given):
        following = given[one.number]
        both = f"{one.text.rstrip('。！')}，{following.text}"
        if len(both) <= 2 * _LONGEST:
            said.append(("true two in one", both, (one.number, following.number)))
    if headline:
        said.append(("true headline", headline, tuple(piece.number for piece in given)))
    for kind, true, cites in said:
        yield case(kind, true, *cites)
        if kind == "true headline":
            continue
        for planted, plant in _PLANTS.items():
            invented = plant(true, dice)
            if invented is not None and plain_text(invented) != plain_text(true):
                yield case(planted, invented, *cites)
    if other is not None:
        stranger = other._replace(number=len(given) + 1, source=2)
        if merged := _merged(one.text, stranger.text):
            yield case("merged", merged, one.number, stranger.number, more=(stranger,))
        yield case("wrong citation", one.text, stranger.number, more=(stranger,))


def _set_cases(name: str, rows: Sequence[tuple[str, str]], dice: random.Random) -> Iterator[Case]:
    other: Numbered | None = None
    for text, headline in rows:
        yield from _text_cases(name, text, headline, other, dice)
        for piece in sentences_of(text):
            if _SHORTEST <= len(piece.text) <= _LONGEST:
                other = Numbered(1, 1, 1, piece.text)
                break


def written_cases() -> Iterator[Case]:
    """Stories that were written for this, with true sentences and inventions by hand."""
    stories = tomllib.loads((_FOLDER / "stories.toml").read_text("utf-8"))["story"]
    for number, story in enumerate(stories):
        given: list[Numbered] = []
        for source, told in enumerate(story["sources"], start=1):
            for place, text in enumerate(told["sentences"]):
                given.append(Numbered(len(given) + 1, source, place, text, told["published"]))
        told_so = {"true by hand": story["true"], "true freely told": story["freely"]}
        for kind, rows in {**told_so, **story["invented"]}.items():
            for text, *cites in rows:
                yield Case("written", kind, text, tuple(cites), tuple(given), number % 2 == 0)


def summary_cases(data: Path, texts: int) -> Iterator[Case]:
    """The sets of a folder; of each the first *texts* texts."""
    for name, path in files_of(data, "summaries").items():
        rows = [
            (row["text"], row["reference"] if row.get("human_score", 0) >= _LEAST_SCORE else "")
            for row in read_lines(path)
        ]
        yield from _set_cases(name, rows[:texts], random.Random(name))


# --- Who catches what -----------------------------------------------------------------------------

_checkers: dict[tuple[Numbered, ...], Checker] = {}


def passes_ours(case: Case) -> bool:
    """Whether the checker lets it through."""
    if case.given not in _checkers:
        _checkers.clear()
        _checkers[case.given] = Checker(case.given)
    return not _checkers[case.given].faults(case.text, case.cites)


def word_share(case: Case) -> float:
    """The share of its words, by weight, that what it cites has."""
    cited = " ".join(one.text for one in case.given if one.number in case.cites)
    known = set(words_of(cited))
    own = set(words_of(case.text))
    whole = sum(rarity(word) for word in own)
    return sum(rarity(word) for word in own & known) / whole if whole else 1.0


def _threshold(cases: Iterable[Case]) -> float:
    """The share of words that drops at most 5 % of the true sentences of *cases*."""
    shares = sorted(word_share(case) for case in cases if case.is_true)
    return shares[int(len(shares) * _WRONG_DROPS)] if shares else 0.0


def measure(cases: Sequence[Case], least: float) -> list[dict[str, object]]:
    """A row a method, set and kind: the share that was dropped."""
    methods: dict[str, Callable[[Case], bool]] = {
        "ours": passes_ours,
        "words": lambda case: word_share(case) >= least,
        "trusts": lambda _case: True,
    }
    rows: list[dict[str, object]] = []
    for method, passes in methods.items():
        count: Counter[tuple[str, str]] = Counter()
        dropped: Counter[tuple[str, str]] = Counter()
        for case in cases:
            every = _TRUE if case.is_true else "invented"
            is_dropped = not passes(case)
            for key in ((name, kind) for name in (case.set, "all") for kind in (case.kind, every)):
                count[key] += 1
                dropped[key] += is_dropped
        rows += [
            {
                "method": method,
                "set": key[0],
                "kind": key[1],
                "sentences": count[key],
                "dropped": round(dropped[key] / count[key], 4),
            }
            for key in count
        ]
    return rows


def _print(console: Console, rows: Sequence[dict[str, object]]) -> None:
    table = Table("set", "kind", "sentences", "ours", "words", "trusts", box=None)
    shares = {(row["method"], row["set"], row["kind"]): row["dropped"] for row in rows}
    ours = [row for row in rows if row["method"] == "ours"]
    ours.sort(key=lambda row: (row["set"] != "all", str(row["set"]), str(row["kind"])))
    for row in ours:
        values = [
            f"{shares[method, row['set'], row['kind']]:.3f}"
            for method in ("ours", "words", "trusts")
        ]
        table.add_row(str(row["set"]), str(row["kind"]), str(row["sentences"]), *values)
    console.print(table)


def main() -> None:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder with summaries/*.jsonl.gz")
    parser.add_argument("--texts", type=int, default=200, help="texts of each of its files")
    parser.add_argument("--choosing", action="store_true", help="the half to choose by")
    parser.add_argument(
        "--show", default="", metavar="KIND", help="print what went wrong of a kind"
    )
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console()
    cases = list(written_cases())
    if arguments.data is None or not files_of(arguments.data, "summaries"):
        console.print("no labelled summaries (--data): the written stories alone")
    else:
        cases += summary_cases(arguments.data, arguments.texts)
    own = [case for case in cases if case.chooses == arguments.choosing]
    least = _threshold(case for case in cases if case.chooses)
    if arguments.show:
        for case in own:
            if case.kind == arguments.show and passes_ours(case) != case.is_true:
                faults = _checkers[case.given].faults(case.text, case.cites)
                cited = [one.text for one in case.given if one.number in case.cites]
                console.print(case.set, case.text, "\n   ", *cited[:4], "\n   ", *faults)
        return
    console.print(f"share dropped; words: from {least:.2f} on")
    rows = measure(own, least)
    _print(console, rows)
    if arguments.json is not None:
        write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
