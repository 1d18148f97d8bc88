"""A payload is a record in the program and JSON in its row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.items import NO_PAYLOAD, Payload
from qiaocrawl.storage.frontier.enqueue import payload_keys, payload_of, payload_text

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@given(st.builds(
    Payload, hops=st.integers(0, 99), part_of=TEXTS, sitemap=st.none() | st.integers(0, 9),
    probe=st.booleans(), taken_up=st.none() | TEXTS, render=TEXTS, engine=TEXTS,
    page=st.integers(1, 9), also=st.lists(TEXTS, max_size=3).map(tuple),
    other=st.dictionaries(st.sampled_from(["a", "侨"]), st.integers()),
))  # fmt: skip
def test_what_is_written_is_read(payload: Payload) -> None:
    assert payload_of(payload_text(payload)) == payload


@pytest.mark.parametrize(("stored", "payload"), [
    ('{"probe":1}', Payload(probe=True)),
    ('{"sitemap":0}', Payload(sitemap=0)),
    ('{"taken_up":""}', Payload(taken_up="")),
    ('{"topic":"t","term":"侨","site":"","engine":"e","page":2,"period":"","also":["华"]}',
     Payload(topic="t", term="侨", engine="e", page=2, also=("华",))),
    ('{"watch":"page","as_is":"start page","channel":"要闻","again":false}',
     Payload(watch="page", as_is="start page", channel="要闻")),
])  # fmt: skip
def test_rows_of_older_versions_are_read(stored: str, payload: Payload) -> None:
    assert payload_of(stored) == payload
    assert payload


def test_keys_of_another_version_are_written_back_as_they_came() -> None:
    stored = {"hops": "two", "later": [1], "other": 3}
    payload = payload_of('{"hops":"two","later":[1],"other":3}')
    assert (payload.hops, payload_keys(payload)) == (0, stored)


@pytest.mark.parametrize("stored", [None, "", "{}", "[]", "no JSON", "{"])
def test_what_is_no_object_is_nothing(stored: str | None) -> None:
    assert payload_of(stored) == NO_PAYLOAD
    assert not payload_of(stored)
