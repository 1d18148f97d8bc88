"""What an import changes: two versions of a pack joined, and compared row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from qiaocrawl.language import CHINESE, _, language
from qiaocrawl.topic.check import fold, site_key, term_key
from qiaocrawl.topic.pack import ROLES, SITE_KINDS, TERM_KINDS, Sample, Site, Term, TopicPack

Row = TypeVar("Row")


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
        samples=_merged(old.samples, new.samples, _sample_key),
    )


def merge_terms(old: Iterable[Term], new: Iterable[Term]) -> tuple[Term, ...]:
    """*old* in its order, each replaced by its namesake in *new*; then what is only in *new*."""
    return _merged(old, new, term_key)


def merge_sites(old: Iterable[Site], new: Iterable[Site]) -> tuple[Site, ...]:
    """As :func:`merge_terms`, for sites by host."""
    return _merged(old, new, site_key)


def compare_packs(old: TopicPack | None, new: TopicPack) -> tuple[Changes, ...]:
    """The changes from *old* (None: there was none) to *new*: terms, sites, samples."""
    return (
        _compared("terms", old.terms if old else (), new.terms, term_key),
        _compared("sites", old.sites if old else (), new.sites, site_key),
        _compared("samples", old.samples if old else (), new.samples, _sample_key),
    )


def changed_rows(
    old: TopicPack | None, new: TopicPack
) -> tuple[tuple[Term | Site, Term | Site], ...]:
    """Each term and site that an import changes, as it is and as it would be."""
    if old is None:
        return ()
    return (
        *_changed(old.terms, new.terms, term_key),
        *_changed(old.sites, new.sites, site_key),
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
        given = [_word(row.kind, TERM_KINDS), f"{row.weight:g}", row.note]
    else:
        given = [
            row.name, _word(row.role, ROLES), str(row.tier), row.region,
            _word(row.kind, SITE_KINDS), row.start_url,
            _("in a browser") if row.render else "", row.note,
        ]  # fmt: skip
    return _(", ").join(filter(None, given))


def changed_settings(old: TopicPack, new: TopicPack) -> tuple[tuple[str, object, object], ...]:
    """(name, old value, new value) of every setting of the pack that differs."""
    names = ("title", "description", "language", "threshold")
    pairs = ((name, getattr(old, name), getattr(new, name)) for name in names)
    return tuple((name, before, after) for name, before, after in pairs if before != after)


def _word(name: str, chinese: Mapping[str, str]) -> str:
    return chinese.get(name, name) if language() == CHINESE else name


def _sample_key(sample: Sample) -> str:
    return fold(sample.name)


def _merged(old: Iterable[Row], new: Iterable[Row], key: Callable[[Row], str]) -> tuple[Row, ...]:
    rows = {key(row): row for row in old}
    rows.update({key(row): row for row in new})
    return tuple(rows.values())


def _compared(
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


def _changed(
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
