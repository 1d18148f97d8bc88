"""What makes a topic pack valid: every rule once, for tables, folders and packs in memory."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _, choice_name, ngettext
from qiaocrawl.topic.pack import (
    MAX_TIER,
    MAX_WEIGHT,
    MIN_TIER,
    ROLES,
    SITE_KINDS,
    TERM_KINDS,
    Sample,
    Site,
    Term,
    TopicPack,
    normalise_host,
    url_host,
)
from qiaocrawl.topic.workbook.findings import shown_lines

PACK_FILE = "topic.toml"
TERMS_FILE = "terms.csv"
SITES_FILE = "sites.csv"
SAMPLES_FOLDER = "samples"

# A term longer than a headline is a sentence, and no page repeats it.
MAX_TERM_CHARACTERS = 40
MAX_NAME_CHARACTERS = 100
MAX_TITLE_CHARACTERS = 200
MAX_REGION_CHARACTERS = 40
MAX_NOTE_CHARACTERS = 500
MAX_DESCRIPTION_CHARACTERS = 2_000
MAX_URL_CHARACTERS = 1_000
MAX_SAMPLE_CHARACTERS = 200_000
# 60 characters of four UTF-8 bytes and ".md" stay under the 255 bytes of a file name.
MAX_SAMPLE_NAME_CHARACTERS = 60

PACK_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
# A BCP 47 tag: language, then at most script or region.
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,4}){0,2}")
_SAMPLE_NAME = re.compile(r"\w[\w-]*")

Row = TypeVar("Row")


def fold(text: str) -> str:
    """*text* as duplicates are compared: compatibility forms, case and spaces made equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def pack_name_reason(name: str) -> str:
    """Why *name* cannot name a topic pack, or ""."""
    if PACK_NAME.fullmatch(name):
        return ""
    return _(
        "the name {name!r} must start with a to z and hold only a to z, 0 to 9 and _, at "
        "most 32 characters",
        name=name,
    )


def term_reasons(term: Term) -> list[str]:
    """Why *term* is not valid, all reasons; empty when it is."""
    return _reasons_given(
        _text_reason(_("the term"), term.text, 1, MAX_TERM_CHARACTERS),
        _invisible_reason(_("the term"), term.text),
        _choice_reason(_("kind"), term.kind, TERM_KINDS),
        _weight_reason(term.weight),
        _text_reason(_("the note"), term.note, 0, MAX_NOTE_CHARACTERS),
    )


def site_reasons(site: Site) -> list[str]:
    """Why *site* is not valid, all reasons; empty when it is."""
    return _reasons_given(
        _host_reason(site.host),
        _text_reason(_("the name"), site.name, 1, MAX_NAME_CHARACTERS),
        _choice_reason(_("role"), site.role, ROLES),
        _tier_reason(site.tier),
        _text_reason(_("the region"), site.region, 0, MAX_REGION_CHARACTERS),
        _choice_reason(_("kind"), site.kind, SITE_KINDS),
        _start_reason(site),
        _text_reason(_("the note"), site.note, 0, MAX_NOTE_CHARACTERS),
    )


def sample_reasons(sample: Sample) -> list[str]:
    """Why *sample* is not valid, all reasons; empty when it is."""
    return _reasons_given(
        _sample_name_reason(sample.name),
        _text_reason(_("the title"), sample.title, 1, MAX_TITLE_CHARACTERS),
        _text_reason(_("the text"), sample.text, 1, MAX_SAMPLE_CHARACTERS, lines=True),
    )


def pack_faults(pack: TopicPack) -> tuple[RowFault, ...]:
    """Everything wrong with *pack*, placed where :func:`save_pack` would write it."""
    faults = [RowFault(PACK_FILE, 1, reason) for reason in _pack_reasons(pack)]
    faults += list_faults(TERMS_FILE, _from_line_two(pack.terms), term_reasons, term_key)
    faults += list_faults(SITES_FILE, _from_line_two(pack.sites), site_reasons, site_key)
    faults += _sample_faults(pack.samples)
    if not pack.terms and not pack.sites:
        faults.append(RowFault(TERMS_FILE, 1, _("a topic needs at least one term or one site")))
    return tuple(faults)


def require_valid(pack: TopicPack) -> None:
    """Raise TopicError with all faults of *pack*, if it has any."""
    raise_faults(_("topic pack {name!r}", name=pack.name), pack_faults(pack))


def raise_faults(what: str, faults: Sequence[RowFault]) -> None:
    """Raise TopicError about *what* when there are *faults*."""
    if faults:
        count = ngettext("{count} fault", "{count} faults", len(faults))
        raise TopicError(
            _("{what}: {count}, the first {fault}", what=what, count=count, fault=faults[0]), faults
        )


def list_faults(
    table: str,
    rows: Iterable[tuple[int, Row]],
    reasons: Callable[[Row], list[str]],
    key: Callable[[Row], str],
) -> list[RowFault]:
    """Faults of numbered *rows*: each row's own *reasons*, and rows whose *key* came before."""
    faults: list[RowFault] = []
    first_line: dict[str, int] = {}
    for line, row in rows:
        faults += [RowFault(table, line, reason) for reason in reasons(row)]
        name = key(row)
        first = first_line.setdefault(name, line)
        if name and first != line:
            faults.append(
                RowFault(table, line, _("{name!r} repeats line {first}", name=name, first=first))
            )
    return faults


def term_key(term: Term) -> str:
    """What two equal terms share."""
    return fold(term.text)


def site_key(site: Site) -> str:
    """What two equal sites share."""
    return site.host.lower()


def closest(word: str, allowed: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the allowed word nearest to *word*, or ""."""
    close = get_close_matches(word, list(allowed), n=1, cutoff=0.5)
    return _("; did you mean {close!r}?", close=close[0]) if close else ""


def choices(allowed: Mapping[str, str]) -> str:
    """The allowed words with their Chinese, for a message."""
    return ", ".join(f"{word} {chinese}" for word, chinese in allowed.items())


def _from_line_two(rows: Sequence[Row]) -> Iterable[tuple[int, Row]]:
    return enumerate(rows, start=2)  # line 1 is the header


def _sample_faults(samples: Iterable[Sample]) -> list[RowFault]:
    faults: list[RowFault] = []
    seen: dict[str, str] = {}
    for sample in samples:
        where = f"{SAMPLES_FOLDER}/{sample.name}"
        faults += [RowFault(where, 1, reason) for reason in sample_reasons(sample)]
        key = fold(sample.name)  # file names differing in case collide on some disks
        if key in seen:
            faults.append(RowFault(where, 1, _("the sample name repeats {seen!r}", seen=seen[key])))
        seen.setdefault(key, sample.name)
    return faults


def _reasons_given(*reasons: str) -> list[str]:
    return [reason for reason in reasons if reason]


def _pack_reasons(pack: TopicPack) -> list[str]:
    reasons = _reasons_given(
        pack_name_reason(pack.name),
        _text_reason(_("the title"), pack.title, 1, MAX_TITLE_CHARACTERS),
        _text_reason(
            _("the description"), pack.description, 0, MAX_DESCRIPTION_CHARACTERS, lines=True
        ),
    )
    if not _is_number(pack.threshold) or not 0 <= pack.threshold <= 1:
        reasons.append(
            _("threshold must be a number in [0, 1], got {threshold!r}", threshold=pack.threshold)
        )
    if not _LANGUAGE.fullmatch(pack.language):
        reasons.append(
            _(
                "language must be a tag such as 'zh' or 'zh-Hant', got {language!r}",
                language=pack.language,
            )
        )
    return reasons


def _text_reason(what: str, text: str, low: int, high: int, *, lines: bool = False) -> str:
    if not low <= len(text) <= high:
        return _(
            "{what} must have {low} to {high} characters, got {count}",
            what=what,
            low=low,
            high=high,
            count=len(text),
        )
    if text != text.strip():
        return _("{what} starts or ends with white space: {text!r}", what=what, text=text)
    bad = next((char for char in text if _is_control(char) and not (lines and char in "\n\t")), "")
    return (
        _("{what} holds the control character U+{code:04X}", what=what, code=ord(bad))
        if bad
        else ""
    )


def _invisible_reason(what: str, text: str) -> str:
    # Zero-width and direction marks: the term would look right and match no page.
    bad = next((char for char in text if unicodedata.category(char) == "Cf"), "")
    return (
        _("{what} holds the invisible character U+{code:04X}", what=what, code=ord(bad))
        if bad
        else ""
    )


def _is_control(char: str) -> bool:
    if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp"):
        return True
    code = ord(char)  # the rest: Unicode's noncharacters, which XML cannot carry
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _choice_reason(what: str, word: str, allowed: Mapping[str, str]) -> str:
    if word in allowed:
        return ""
    if not word:
        return _("{what} is empty (one of {choices})", what=what, choices=choices(allowed))
    hint = closest(word, [*allowed, *allowed.values()])
    return _("unknown {what} {word!r}", what=what, word=word) + (
        hint or _(" (one of {choices})", choices=choices(allowed))
    )


def _weight_reason(weight: float) -> str:
    if _is_number(weight) and 0 < weight <= MAX_WEIGHT:
        return ""
    return _(
        "weight must be a number in (0, {most:g}], got {weight!r}", most=MAX_WEIGHT, weight=weight
    )


def _tier_reason(tier: int) -> str:
    if isinstance(tier, int) and not isinstance(tier, bool) and MIN_TIER <= tier <= MAX_TIER:
        return ""
    return _(
        "tier must be a whole number from {low} to {high}, got {tier!r}",
        low=MIN_TIER,
        high=MAX_TIER,
        tier=tier,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _host_reason(host: str) -> str:
    try:
        normal = normalise_host(host)
    except ValueError as error:
        return str(error)
    return (
        ""
        if normal == host
        else _("the host {host!r} must be written {normal!r}", host=host, normal=normal)
    )


def _start_reason(site: Site) -> str:
    if not site.start_url:
        return ""
    reason = _text_reason(_("start_url"), site.start_url, 0, MAX_URL_CHARACTERS)
    if reason or any(char.isspace() for char in site.start_url):
        return reason or _("start_url holds white space: {start_url!r}", start_url=site.start_url)
    try:
        host = url_host(site.start_url)
    except ValueError as error:
        return _("start_url: {error}", error=error)
    if host != site.host:
        return _(
            "start_url is on {host!r}, not on the site's host {site_host!r}",
            host=host,
            site_host=site.host,
        )
    return ""


def _sample_name_reason(name: str) -> str:
    short_enough = len(name) <= MAX_SAMPLE_NAME_CHARACTERS
    if short_enough and _SAMPLE_NAME.fullmatch(name) and unicodedata.is_normalized("NFC", name):
        return ""
    return _(
        "the sample name {name!r} must be letters, digits, _ and inner hyphens, at most {most}",
        name=name,
        most=MAX_SAMPLE_NAME_CHARACTERS,
    )


# --- Faults of packs and tables for who has to mend them: once a kind -----------------------------

_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|U\+[0-9A-F]+|\d[\d.]*")
_SHOWN_VALUES = 6


def fault_lines(faults: Iterable[RowFault]) -> list[str]:
    """One line for each kind of fault in each table, with all its rows and some of its values."""
    groups: dict[tuple[str, str], list[RowFault]] = {}
    for fault in faults:
        groups.setdefault((fault.table, _VALUE.sub("", fault.reason)), []).append(fault)
    return [_line(table, group) for (table, _), group in groups.items()]


def _line(table: str, group: list[RowFault]) -> str:
    reasons = list(dict.fromkeys(fault.reason for fault in group))
    also = [value for reason in reasons[1:_SHOWN_VALUES] for value in _last_value(reason)]
    reason = _(", ").join([reasons[0], *also]) + ("…" if len(reasons) > _SHOWN_VALUES else "")
    where = shown_lines(sorted({fault.line for fault in group}))
    return _("{table} {lines}: {reason}", table=table, lines=where, reason=reason)


def _last_value(reason: str) -> list[str]:
    return _VALUE.findall(reason)[-1:]


# --- What an import changes: two versions of a pack joined, and compared row by row ---------------


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows of one table (``terms``, ``sites``, ``samples``) that differ, by what names them."""

    table: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def merge_packs(old: TopicPack, new: TopicPack) -> TopicPack:
    """*old* with the rows and settings of *new* over it; rows only in *old* stay."""
    return replace(
        new,
        terms=merge_terms(old.terms, new.terms),
        sites=merge_sites(old.sites, new.sites),
        samples=_merge_rows(old.samples, new.samples, _sample_key),
    )


def merge_terms(old: Iterable[Term], new: Iterable[Term]) -> tuple[Term, ...]:
    """*old* in its order, each replaced by its namesake in *new*; then what is only in *new*."""
    return _merge_rows(old, new, term_key)


def merge_sites(old: Iterable[Site], new: Iterable[Site]) -> tuple[Site, ...]:
    """As :func:`merge_terms`, for sites by host."""
    return _merge_rows(old, new, site_key)


def compare_packs(old: TopicPack | None, new: TopicPack) -> tuple[Changes, ...]:
    """The changes from *old* (None: there was none) to *new*: terms, sites, samples."""
    return (
        _compare_rows("terms", old.terms if old else (), new.terms, term_key),
        _compare_rows("sites", old.sites if old else (), new.sites, site_key),
        _compare_rows("samples", old.samples if old else (), new.samples, _sample_key),
    )


def changed_rows(
    old: TopicPack | None, new: TopicPack
) -> tuple[tuple[Term | Site, Term | Site], ...]:
    """Each term and site that an import changes, as it is and as it would be."""
    if old is None:
        return ()
    return (
        *_changed_rows(old.terms, new.terms, term_key),
        *_changed_rows(old.sites, new.sites, site_key),
    )


def kept_as_it_is(old: TopicPack | None, new: TopicPack) -> TopicPack:
    """*new* with the terms and sites that *old* has too as they stand there."""
    if old is None:
        return new
    return replace(
        new,
        terms=_standing(old.terms, new.terms, term_key),
        sites=_standing(old.sites, new.sites, site_key),
    )


def row_values(row: Term | Site) -> str:
    """What a row says besides its name, in one line."""
    if isinstance(row, Term):
        given = [choice_name(row.kind, TERM_KINDS), f"{row.weight:g}", row.note]
    else:
        given = [
            row.name,
            choice_name(row.role, ROLES),
            str(row.tier),
            row.region,
            choice_name(row.kind, SITE_KINDS),
            row.start_url,
            _("in a browser") if row.render else "",
            row.note,
        ]
    return _(", ").join(filter(None, given))


def changed_settings(old: TopicPack, new: TopicPack) -> tuple[tuple[str, object, object], ...]:
    """(name, old value, new value) of every setting of the pack that differs."""
    names = ("title", "description", "language", "threshold")
    pairs = ((name, getattr(old, name), getattr(new, name)) for name in names)
    return tuple((name, before, after) for name, before, after in pairs if before != after)


def _sample_key(sample: Sample) -> str:
    return fold(sample.name)


def _merge_rows(
    old: Iterable[Row], new: Iterable[Row], key: Callable[[Row], str]
) -> tuple[Row, ...]:
    rows = {key(row): row for row in old}
    rows.update({key(row): row for row in new})
    return tuple(rows.values())


def _compare_rows(
    table: str, old: Iterable[Row], new: Iterable[Row], key: Callable[[Row], str]
) -> Changes:
    before = {key(row): row for row in old}
    after = {key(row): row for row in new}
    both = before.keys() & after.keys()
    changed = tuple(name for name in after if name in both and before[name] != after[name])
    return Changes(
        table=table,
        added=tuple(name for name in after if name not in before),
        changed=changed,
        removed=tuple(name for name in before if name not in after),
        unchanged=len(both) - len(changed),
    )


def _changed_rows(
    old: Iterable[Row], new: Iterable[Row], key: Callable[[Row], str]
) -> Iterator[tuple[Row, Row]]:
    before = {key(row): row for row in old}
    for row in new:
        was = before.get(key(row))
        if was is not None and was != row:
            yield was, row


def _standing(old: Iterable[Row], new: Iterable[Row], key: Callable[[Row], str]) -> tuple[Row, ...]:
    before = {key(row): row for row in old}
    return tuple(before.get(key(row), row) for row in new)
