"""Records that travel between processes: packed and unpacked whole, and copied as ever."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from datetime import UTC, datetime

import pytest

from qiaocrawl import items
from qiaocrawl.items import FetchedPage, Outcome, PageAnalysis, Relevance, article
from qiaocrawl.items.article import travelling
from qiaocrawl.runtime.follow_links import link_to

_LINK = replace(link_to("http://a.example/1"), anchor="侨务\ud800", context="一")
_RECORDS = [
    _LINK,
    FetchedPage("u", "v", 200, (("a", "b"),), b"<p>", datetime(2026, 1, 2, tzinfo=UTC)),
    PageAnalysis(Outcome.LIST, None, (_LINK, _LINK), "utf-8"),
]


@pytest.mark.parametrize("record", _RECORDS, ids=lambda record: type(record).__name__)
@pytest.mark.parametrize("copied", [
    copy.copy, copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record)),
])  # fmt: skip
def test_they_come_whole(record: object, copied: object) -> None:
    arrived = copied(record)  # type: ignore[operator]
    assert arrived == record
    assert arrived is not record
    with pytest.raises(FrozenInstanceError):
        setattr(arrived, fields(arrived)[0].name, "other")


def test_all_fields_of_all_of_them_travel() -> None:
    classes = [
        cls for module in (items, article) for _, cls in inspect.getmembers(module, inspect.isclass)
        if "travelling" in getattr(cls.__dict__.get("__setstate__"), "__qualname__", "")
    ]  # fmt: skip
    assert {items.Link, PageAnalysis, Relevance, article.Article} <= set(classes)
    for cls in classes:
        filled = object.__new__(cls)
        values = [f"of {field.name}" for field in fields(cls)]
        filled.__setstate__(values)
        assert list(filled.__getstate__()) == values


def test_a_record_of_one_field_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Single:
        name: str

    with pytest.raises(AssertionError, match="Single"):
        travelling(Single)
