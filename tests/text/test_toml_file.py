"""TOML files of operators: what is read, and each fault in words an operator understands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, ValidationInfo, field_validator

from qiaocrawl.errors import ConfigError
from qiaocrawl.text.toml_file import (
    Text,
    Texts,
    check_table,
    list_or_one,
    load_records,
    number,
    parse_toml,
    raise_faults,
    toml_files,
)


@dataclass(frozen=True)
class Inner:
    """A table within the table."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    by: Text


@dataclass(frozen=True)
class Recipe:
    """What an operator may write."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    name: Text
    words: Texts = ()
    pages: Annotated[int, number(1, 10)] = 1
    share: Annotated[float, number(0.0, 1.0)] = 0.5
    is_on: bool = False
    steps: Annotated[tuple[Inner, ...], list_or_one(dict, "a table or a list of tables")] = ()

    @field_validator("name")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        if name in (info.context or {}).get("forbidden", ()):
            raise ValueError(f"{name!r} is taken")
        return name


def faults(text: str, **context: object) -> list[str]:
    recipe, told = check_table(Recipe, parse_toml(text.encode()), context)
    assert (recipe is None) is bool(told)
    return told


def test_a_table_becomes_the_record_it_describes() -> None:
    recipe, told = check_table(Recipe, parse_toml(
        b"\xef\xbb\xbf" + 'name = "甲"\nwords = "侨"\npages = 3\nsteps = {by = "x"}'.encode()
    ))  # fmt: skip
    assert told == []
    assert recipe == Recipe("甲", ("侨",), 3, steps=(Inner("x"),))


def test_one_entry_may_be_written_without_its_list() -> None:
    one, _ = check_table(Recipe, {"name": "a", "words": "x", "steps": {"by": "y"}})
    several, _ = check_table(Recipe, {"name": "a", "words": ["x"], "steps": [{"by": "y"}]})
    assert one == several


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "name: must be given"),
        ('name = ""', "name: must be given"),
        ("name = 3", "name: must be a text, got 3"),
        ('name = "a"\nwords = 3', "words: must be a text or a list of texts, got 3"),
        ('name = "a"\nwords = ["x", 3]', "words: must be a text, got 3"),
        ('name = "a"\npages = 0', "pages: must be a whole number from 1 to 10, got 0"),
        ('name = "a"\npages = 1.5', "pages: must be a whole number from 1 to 10, got 1.5"),
        ('name = "a"\npages = true', "pages: must be a whole number from 1 to 10, got True"),
        ('name = "a"\nshare = 2', "share: must be a number from 0 to 1, got 2"),
        ('name = "a"\nis_on = "x"', "is_on: "),
        ('name = "a"\nsteps = [{by = "x"}, {}]', "steps[2].by: must be given"),
        ('name = "a"\npage = 2', "page: unknown key; did you mean 'pages'? (allowed: is_on, name"),
        ('name = "a"\nsteps = {bye = "x", by = "x"}', "steps[1].bye: unknown key; did you mean"),
    ],
)
def test_a_fault_names_the_key_what_is_allowed_and_what_stands_there(text: str, fault: str) -> None:
    (told,) = faults(text)
    assert told.startswith(fault)


def test_all_faults_of_a_table_are_told_at_once() -> None:
    assert len(faults("pages = 0\nshare = 2\nwords = 3")) == 4


def test_a_validator_may_look_at_what_the_caller_tells_it() -> None:
    assert faults('name = "甲"', forbidden=("甲",)) == ["name: '甲' is taken"]
    assert faults('name = "甲"', forbidden=("乙",)) == []


def test_what_is_no_table_is_said_without_a_key() -> None:
    assert check_table(Recipe, 3) == (None, ["must be a table, got 3"])


@dataclass(frozen=True)
class Pair:
    """Two keys that exclude each other."""

    this: int = 0
    that: int = 0

    def __post_init__(self) -> None:
        raise_faults([("this", "not with that"), ("", "too many")] if self.that else [])


@dataclass(frozen=True)
class Holder:
    """A table with one inside."""

    pair: Pair


def test_faults_of_a_whole_table_are_told_by_their_keys() -> None:
    assert check_table(Pair, {"that": 1})[1] == ["this: not with that", "too many"]
    assert check_table(Holder, {"pair": {"that": 1}})[1] == [
        "pair.this: not with that", "pair: too many",
    ]  # fmt: skip
    assert check_table(Pair, {}) == (Pair(), [])


def test_a_file_nested_without_end_is_a_fault_and_no_crash() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        parse_toml(b"a = " + b"[" * 100_000)


def read(table: dict[str, Any], name: str) -> tuple[list[Recipe], list[str]]:
    recipe, told = check_table(Recipe, table)
    return ([recipe] if recipe is not None else []), told


def test_files_are_read_by_name_and_those_of_the_operator_last(tmp_path: Path) -> None:
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    for folder, names in ((shipped, "ba"), (own, "a")):
        folder.mkdir()
        for name in names:
            (folder / f"{name}.toml").write_text(f'name = "{folder.name} {name}"')
    (own / "notes.txt").write_text("no TOML")
    recipes = load_records(toml_files(shipped, own, "QIAO_X"), "recipes", read)
    assert [recipe.name for recipe in recipes] == ["shipped a", "shipped b", "own a"]
    assert len(list(toml_files(shipped, None, "QIAO_X"))) == 2


def test_every_fault_of_every_file_is_in_one_error(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("pages = 0")
    (tmp_path / "b.toml").write_text("no = toml = at all")
    (tmp_path / "c.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(ConfigError) as error:
        load_records(toml_files(tmp_path, None, "QIAO_X"), "recipes", read)
    assert str(error.value).startswith("recipes have faults:\n  a.toml: ")
    assert str(error.value).count("a.toml: ") == 2
    assert "b.toml: cannot be read as TOML in UTF-8: " in str(error.value)
    assert "c.toml: cannot be read as TOML in UTF-8: " in str(error.value)


def test_a_folder_that_is_none_is_named_with_its_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="QIAO_X must be a folder, got '.*/none'"):
        list(toml_files(tmp_path, tmp_path / "none", "QIAO_X"))


toml_values = st.recursive(
    st.booleans() | st.integers(-99, 99) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(st.dictionaries(
    st.sampled_from(["name", "words", "pages", "share", "is_on", "steps", "other"]), toml_values
))  # fmt: skip
def test_any_table_gives_a_record_or_says_why_not(table: dict[str, object]) -> None:
    recipe, told = check_table(Recipe, table)
    assert (recipe is None) is bool(told)
    assert all(fault.partition(": ")[2] for fault in told)
