"""Rows of a sheet to terms and sites, with what was noticed on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from qiaocrawl.language import _
from qiaocrawl.topic.check import (
    MAX_NAME_CHARACTERS,
    MAX_NOTE_CHARACTERS,
    MAX_REGION_CHARACTERS,
    MAX_TERM_CHARACTERS,
    site_key,
    site_reasons,
    term_key,
    term_reasons,
)
from qiaocrawl.topic.pack import (
    DEFAULT_WEIGHT,
    MARKED_WEIGHT,
    MAX_TIER,
    MAX_WEIGHT,
    MIN_TIER,
    SITE_KINDS,
    TERM_KINDS,
    Role,
    Site,
    Term,
)
from qiaocrawl.topic.tables import as_flag, as_mark
from qiaocrawl.topic.workbook.findings import Finding, Level
from qiaocrawl.topic.workbook.layout import (
    Question,
    SheetLayout,
    TableLayout,
    addresses_in,
    host_and_start,
)
from qiaocrawl.topic.workbook.sheets import SheetRow
from qiaocrawl.topic.workbook.vocabulary import (
    PLAIN_MARKS,
    ROLE_WORDS,
    is_excluded,
    kind_of,
    number_of,
    plain,
    tier_word,
    weight_word,
)

# --- Rows of a table that are no entries: remarks at the bottom, sums, headings of sections -------

EXAMPLE = "示例"
"""The note of a row that only shows how a form is filled in begins with this."""

_LABEL = re.compile(
    r"^[（(\[【]?\s*(?:注|备注|附注|说明|填表说明|填报说明|提示|来源|数据来源|资料来源|联系方式|"
    r"填[表报](?:人|单位|日期|时间|部门)?|制表(?:人|单位|日期|时间)?|审核(?:人)?|审批(?:人)?|"
    r"联系(?:人|电话)|负责人|电话|日期|时间|更新(?:时间|日期)|截[至止](?:时间|日期)?|统计(?:时间|日期)?|"
    r"单位|部门)\s*\d*\s*[)）\]】]?\s*[：:]"
)
_SUM = re.compile(r"^(?:合\s*计|共\s*计|总\s*计|小\s*计|总数|共\s*\d+\s*[个条项家])")
_OPENING = re.compile(r"^(?:[※*＊]|以上|注[：:\d]|备注|截至\s*\d)")
_SECTION = re.compile(r"^[（(]?[一二三四五六七八九十]+[)）、.．]\s*(.+)$")
_LONG_CHARACTERS = 40


def is_remark(row: SheetRow, *, has_key: bool) -> bool:
    """Whether *row* says something about the list instead of adding to it.

    Args:
        has_key: the cell of the term or address is written.
    """
    texts = row.texts
    if not texts:
        return False
    first = " ".join(texts[0].split())
    if _LABEL.match(first) or _SUM.match(first) or (row.is_wide and len(texts) <= 2):
        return True
    if len(texts) > 2:
        return False
    is_alone = len(texts) == 1
    is_prose = len(first) > _LONG_CHARACTERS or first.endswith("。")
    return is_alone and bool(
        (is_prose and not re.search(r"[、，,；;]\S{1,8}[、，,；;]", first))
        or (_OPENING.match(first) and len(first) > 2)
        or (_SECTION.match(first) and (not has_key or len(first) <= 12))
    )


def section_name(row: SheetRow) -> str:
    """What a heading between rows names (``一、核心词`` → ``核心词``), or ""."""
    texts = row.texts
    if len(texts) != 1 or len(texts[0]) > 20 or _LABEL.match(texts[0]) or _SUM.match(texts[0]):
        return ""
    match = _SECTION.match(texts[0])
    return match[1] if match else texts[0]


# --- Rows of a sheet to terms and sites, with what was noticed on the way -------------------------

Record = TypeVar("Record", Term, Site)
DEFAULT_TIER = 3
_NUMBERING = re.compile(r"^[（(]?\d{1,3}(?:[)）、.．]\s*)(?=[^\d\s])")
_SEPARATORS = re.compile(r"[、，,；;\n/／|｜]+")
_QUOTES = "“”\"'‘’「」『』*·• "


@dataclass(frozen=True, slots=True)
class Taken(Generic[Record]):
    """A record and the row it comes from."""

    sheet: str
    line: int
    record: Record


@dataclass(slots=True)
class Collected:
    """What all sheets of a workbook gave, by what names a record.

    Attributes:
        faults: how many of *findings* about rows keep one from being taken.
    """

    answers: Mapping[str, str]
    terms: dict[str, Taken[Term]] = field(default_factory=dict)
    sites: dict[str, Taken[Site]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    faults: int = 0
    questions: dict[str, Question] = field(default_factory=dict)

    def answer(self, question: Question) -> str:
        """What the operator answered, or what counts when nobody is asked."""
        if question.name not in self.answers:
            self.questions.setdefault(question.name, question)
        return self.answers.get(question.name, question.default)


class TableReader:
    """Reads the rows of one table of a sheet into *collected*."""

    def __init__(self, layout: SheetLayout, table: TableLayout, collected: Collected) -> None:
        self._layout = layout
        self._table = table
        self._collected = collected
        self._sheet = layout.sheet.name
        self._section = ""
        self._weights_are_marks = self._find_marks()
        self._weight_divisor = self._find_weight_divisor()
        self._has_roles = any(self._cell(row, "role")[0] for row in layout.rows)
        self._highest_is_one = self._find_tier_direction()

    def read(self) -> None:
        """Take every row, or note why not."""
        of_row = self._read_terms if self._table.table == "terms" else self._read_sites
        header = self._layout.header.texts if self._layout.header else []
        for row in self._layout.rows:
            if row.texts == header or self._is_left_out(row) or not self._says_anything(row):
                continue
            faults = self._collected.faults
            if not list(of_row(row)) and self._collected.faults == faults:
                self._note("no_key", row, self._table.keys[0])
        gave_sites = any(taken.sheet == self._sheet for taken in self._collected.sites.values())
        if gave_sites and self._table.table == "sites" and not self._has_roles:
            self._collected.findings.append(Finding("no_roles", self._sheet))

    def _is_left_out(self, row: SheetRow) -> bool:
        keys = [row.cell(column) for column in self._table.keys]
        if is_remark(row, has_key=any(cell.text for cell in keys)):
            self._section = section_name(row) or self._section
            self._note("remark", row, -1, row.texts[0])
            return True
        if self._table.table == "terms" and is_excluded(
            self._cell(row, "kind")[0] or self._section
        ):
            self._note("excluded", row, self._table.keys[0], keys[0].text)
            return True
        if self._cell(row, "note")[0].startswith(EXAMPLE):
            self._note("example", row, -1)
            return True
        return False

    def _says_anything(self, row: SheetRow) -> bool:
        """Rows that only hold a number, or cells of the table beside, are blank here."""
        columns = [c for named in self._table.columns.values() for c in named]
        return any(row.cell(column).text or row.cell(column).problem for column in columns)

    def _note(self, kind: str, row: SheetRow, column: int, value: str = "") -> None:
        finding = Finding(kind, self._sheet, row.line, column, value)
        self._collected.findings.append(finding)
        self._collected.faults += finding.level is Level.FAULT

    def _cell(self, row: SheetRow, name: str) -> tuple[str, int]:
        """The first written cell of the column *name*, and where it stands (-1: nowhere)."""
        columns = self._table.columns.get(name, ())
        written = (column for column in columns if row.cell(column).text)
        column = next(written, columns[0] if columns else -1)
        return (row.cell(column).text if column >= 0 else ""), column

    def _has_problem(self, row: SheetRow, names: tuple[str, ...]) -> bool:
        """Note cells whose value is lost, where it matters."""
        problems = [
            (row.cell(column), column)
            for name in names
            for column in self._table.columns.get(name, ())
            if row.cell(column).problem
        ]
        for cell, column in problems:
            self._note(cell.problem, row, column, cell.text)
        return bool(problems)

    def _read_terms(self, row: SheetRow) -> Iterator[Term]:
        if self._has_problem(row, ("term", "also", "weight")):
            return
        weight = self._weight(row)
        kind, unknown = self._kind(row)
        note = self._line(row, "note", MAX_NOTE_CHARACTERS)
        if weight is None:
            return
        if unknown:
            note = f"{unknown}；{note}".strip("；")[:MAX_NOTE_CHARACTERS]
        for column in (*self._table.columns["term"], *self._table.columns.get("also", ())):
            words = [word for word in map(_term_text, self._pieces(row.cell(column).text)) if word]
            if len(words) > 1:
                self._note("split", row, column, row.cell(column).text)
            for word in words:
                term = Term(word, self._table.kinds.get(column, kind), weight, note)
                yield from self._take(
                    row, column, term, term_reasons, (term_key, self._collected.terms)
                )

    def _pieces(self, text: str) -> list[str]:
        if len(text) > MAX_TERM_CHARACTERS and not _SEPARATORS.search(text):
            return [text]
        return _SEPARATORS.split(_NUMBERING.sub("", text))

    def _take(
        self,
        row: SheetRow,
        column: int,
        record: Record,
        reasons_of: Callable[[Record], list[str]],
        into: tuple[Callable[[Record], str], dict[str, Taken[Record]]],
    ) -> Iterator[Record]:
        """Collect *record* unless it is at fault or there already."""
        key_of, records = into
        if isinstance(record, Term) and len(record.text) > MAX_TERM_CHARACTERS:
            self._note("long_term", row, column, record.text)
            return
        reasons = reasons_of(record)
        for reason in reasons:
            self._note("invalid", row, column, reason)
        if reasons:
            return
        key = key_of(record)
        if key in records:
            self._note("repeated", row, column, key)
        else:
            records[key] = Taken(self._sheet, row.line, record)
        yield record

    def _line(self, row: SheetRow, name: str, limit: int) -> str:
        """A cell as one line of at most *limit* characters."""
        text, column = self._cell(row, name)
        text = " ".join(text.split())
        if len(text) > limit:
            self._note("cut", row, column, text)
        return text[:limit].strip()

    def _kind(self, row: SheetRow) -> tuple[str, str]:
        """The kind of a row, and the word for it where nobody knows it."""
        table = self._table.table
        text, column = self._cell(row, "kind")
        text = " ".join(text.split()) or self._section
        if not text:
            weight_text = self._cell(row, "weight")[0]
            return ("core" if plain(weight_text).startswith("核心") else "other"), ""
        kind, is_certain = kind_of(text, table)
        if kind:
            if not is_certain and column >= 0:
                self._note("guessed_kind", row, column, f"{text}→{_chinese_kind(kind, table)}")
            return kind, ""
        if weight_word(text) is not None:
            return "other", ""
        question = _kind_question(table, text)
        answer = self._collected.answer(question)
        if question.name in self._collected.answers:
            return answer, ""
        self._note("unknown_kind", row, column, text)
        return answer, text

    def _weight(self, row: SheetRow) -> float | None:
        """The weight of a row; None, with a finding, where it cannot be told."""
        text, column = self._cell(row, "weight")
        if not text or self._weights_are_marks:
            return self._unsaid_weight(row)
        number = number_of(text)
        if number is None:
            number = weight_word(text)
        elif not _is_per_cent(text):
            number /= self._weight_divisor
        if number is None:
            self._note("bad_weight", row, column, text)
            return None
        if not 0 < number <= MAX_WEIGHT:
            self._note("weight_range", row, column, text)
            return None
        return round(number, 6)

    def _unsaid_weight(self, row: SheetRow) -> float:
        """The weight of a row without one: by its mark, or the word for its kind."""
        text, column = self._cell(row, "weight" if self._weights_are_marks else "marked")
        # A single star is a mark; numbers and other words of importance are weights there too.
        is_marked = as_mark(text)
        if is_marked is None:
            number = number_of(text) or weight_word(text)
            if number is not None and 0 < number <= MAX_WEIGHT:
                return number
            self._note("unknown_mark", row, column, text)
        if is_marked:
            return MARKED_WEIGHT
        kind = plain(self._cell(row, "kind")[0]).removesuffix("词")
        has_weights = self._table.columns.keys() & {"weight", "marked"}
        of_kind = None if has_weights else weight_word(kind)
        return DEFAULT_WEIGHT if of_kind is None else of_kind

    def _find_marks(self) -> bool:
        """Whether a column of weights only says 是, 否 or a star: marks, not numbers."""
        if self._table.table != "terms" or "weight" not in self._table.columns:
            return False
        texts = {plain(self._cell(row, "weight")[0]) for row in self._layout.rows} - {""}
        return bool(texts) and texts <= PLAIN_MARKS

    def _find_weight_divisor(self) -> float:
        """10 where weights go up to 100: as the operator says, or if nobody is asked as most do."""
        if self._table.table != "terms" or "weight" not in self._table.columns:
            return 1.0
        texts = [self._cell(row, "weight")[0] for row in self._layout.rows]
        numbers = [number_of(text) for text in texts if not _is_per_cent(text)]
        # What is above 100 is a mistake on either scale.
        weights = [number for number in numbers if number is not None and number <= 100]
        above = [weight for weight in weights if weight > MAX_WEIGHT]
        if not above:
            return 1.0
        usual = "yes" if 2 * len(above) >= len(weights) else "no"
        answer = self._collected.answer(_scale_question(self._sheet, max(above), usual))
        if answer == "yes":
            self._collected.findings.append(Finding("scaled", self._sheet))
        return 10.0 if answer == "yes" else 1.0

    def _find_tier_direction(self) -> bool:
        """Whether 1 is the most important, where importance of sites is told in numbers."""
        columns = self._table.columns
        if self._table.table != "sites" or "tier" in columns or "importance" not in columns:
            return True
        texts = [self._cell(row, "importance")[0] for row in self._layout.rows]
        if not any(number_of(text) is not None and "★" not in text for text in texts):
            return "★" not in "".join(texts)
        question = _direction_question(self._sheet)
        if question.name not in self._collected.answers:
            self._collected.findings.append(Finding("one_is_highest", self._sheet))
        return self._collected.answer(question) == "1"

    def _read_sites(self, row: SheetRow) -> Iterator[Site]:
        if self._has_problem(row, ("address", "host", "start_url", "tier", "importance")):
            return
        tier = self._tier(row)
        urls, column = self._addresses(row)
        if tier is None or not urls:
            return
        kind, unknown = self._kind(row)
        note = self._line(row, "note", MAX_NOTE_CHARACTERS)
        if unknown:
            note = f"{unknown}；{note}".strip("；")[:MAX_NOTE_CHARACTERS]
        name = _NUMBERING.sub("", self._line(row, "name", MAX_NAME_CHARACTERS)).strip(_QUOTES)
        start_url = next(iter(addresses_in(self._cell(row, "start_url")[0])), "")
        if len(urls) > 1:
            self._note("split", row, column, row.cell(column).text)
        for url in urls:
            host, own_start = host_and_start(url)
            given_start = start_url if start_url and host_and_start(start_url)[0] == host else ""
            site = Site(
                host=host,
                name=name if name and not addresses_in(name) else host,
                role=self._role(row),
                tier=tier,
                region=self._line(row, "region", MAX_REGION_CHARACTERS),
                kind=kind,
                start_url=given_start or own_start,
                render=bool(as_flag(self._cell(row, "render")[0])),
                note=note,
            )
            yield from self._take(
                row, column, site, site_reasons, (_site_key, self._collected.sites)
            )

    def _addresses(self, row: SheetRow) -> tuple[list[str], int]:
        """The addresses of a row's sites and their column; none, with a finding, if bad."""
        written = [column for column in self._table.keys if row.cell(column).text]
        for column in written:
            cell = row.cell(column)
            urls = addresses_in(cell.text) or addresses_in(cell.link)
            if urls:
                return list(dict.fromkeys(urls)), column
        names = self._table.columns.get("name", ())
        for column in written:
            if column not in names:
                self._note("bad_address", row, column, row.cell(column).text)
        return [], -1

    def _tier(self, row: SheetRow) -> int | None:
        name = "tier" if "tier" in self._table.columns else "importance"
        text, column = self._cell(row, name)
        if not text:
            return DEFAULT_TIER
        number, word = number_of(text), tier_word(text)
        if word is not None:
            return word
        if number is None or number not in range(MIN_TIER, MAX_TIER + 1):
            self._note("bad_tier", row, column, text)
            return None
        return int(number) if self._highest_is_one else MIN_TIER + MAX_TIER - int(number)

    def _role(self, row: SheetRow) -> Role:
        if not self._has_roles:
            return "authoritative"
        text, column = self._cell(row, "role")
        role = ROLE_WORDS.get(plain(text))
        if text and role is None:
            self._note("unknown_role", row, column, text)
        return cast(Role, role or "target")


def _site_key(site: Site) -> str:
    # One site, whichever of the two an office wrote.
    return site_key(site).removeprefix("www.")


def _term_text(text: str) -> str:
    return " ".join(_NUMBERING.sub("", text).strip(_QUOTES).split())


def _chinese_kind(kind: str, table: str) -> str:
    return (TERM_KINDS if table == "terms" else SITE_KINDS)[kind]


def _kind_question(table: str, word: str) -> Question:
    kinds = TERM_KINDS if table == "terms" else SITE_KINDS
    return Question(
        f"kind:{table}:{plain(word)}", _("Which kind is “{word}”?", word=word), kinds, "other"
    )


def _is_per_cent(text: str) -> bool:
    return "%" in text or "％" in text


def _scale_question(sheet: str, highest: float, usual: str) -> Question:
    return Question(
        f"weights:{sheet}",
        _(
            "“{sheet}”: weights go up to {highest:g}; divide them by 10?",
            sheet=sheet,
            highest=highest,
        ),
        {"yes": "是", "no": "否"},
        usual,
    )


def _direction_question(sheet: str) -> Question:
    return Question(
        f"tiers:{sheet}",
        _("“{sheet}”: which number is the most important?", sheet=sheet),
        {"1": "1 最重要", "5": "5 最重要"},
        "1",
    )
