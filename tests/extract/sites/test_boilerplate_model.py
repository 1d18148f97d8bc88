"""What is learnt of a site, what is not, and what is forgotten."""

from __future__ import annotations

import json
import logging
import os
import pickle
import random
from dataclasses import replace

import numpy as np
import pytest

from qiaocrawl.extract.page import extract_page
from qiaocrawl.extract.sites.boilerplate_model import (
    MAX_BLOCKS,
    MAX_KEPT_BLOCKS,
    MAX_NAMES,
    MAX_PLACES,
    REDESIGN_PAGES,
    BoilerplateModel,
    observation_of,
)
from qiaocrawl.extract.sites.site_template import MIN_PAGES, VERSION, SiteTemplate
from qiaocrawl.items import SiteObservation
from qiaocrawl.page.page import parse_page
from site_pages import DISCLAIMER, FOOTER, HOST, observed, page, paragraphs, read, taught, title


def template_of(model: BoilerplateModel, host: str = HOST) -> SiteTemplate:
    template = model.template(host)
    assert template is not None
    return template


def repeated_texts(model: BoilerplateModel) -> set[str]:
    """The texts on page 0 that are known to repeat."""
    shown = page(0)
    known = template_of(model).repeated_blocks[0].tolist()
    return {block.text for block, digest in zip(shown.blocks.blocks, shown.block_digests.tolist(),
                                                strict=True) if digest in known}  # fmt: skip


def test_what_repeats_is_known_after_some_articles() -> None:
    model = taught(MIN_PAGES - 1)
    assert model.template(HOST) is None
    model.observe(observed(MIN_PAGES))
    assert repeated_texts(model) == {"首页 社会", DISCLAIMER, FOOTER}
    template = template_of(model)
    assert template.body_places == ("div.article.c-0",)
    assert template.site_names == {"社会", "江北晚报"}
    assert model.template("other.test") is None


def test_a_page_fetched_again_teaches_nothing_new() -> None:
    model = taught(6)
    before = template_of(model)
    for number in (0, 3, 5, 0):
        model.observe(observed(number))
        model.observe(observed(number, heading=title(number) + "（更新）"))
    assert template_of(model) == before
    alone = BoilerplateModel()
    for turn in range(20):
        alone.observe(observed(1, heading=f"第{turn}版标题"))
    assert alone.template(HOST) is None


def test_a_reprint_on_its_own_site_is_no_boilerplate() -> None:
    model = taught(8)
    for channel in range(8):
        model.observe(observed(20, url=f"http://{HOST}/channel{channel}/20.html"))
    before = repeated_texts(model)
    template = template_of(model)
    again = page(20)
    digests = again.block_digests[[2, 3, 4]]  # its paragraphs
    assert "记者20日" in again.blocks.blocks[2].text
    assert not np.isin(digests, template.repeated_blocks[0]).any()
    assert before == {"首页 社会", DISCLAIMER, FOOTER}


def test_the_same_text_elsewhere_is_another_block() -> None:
    found = page(0)
    teaser = page(0, design="hot")
    assert found.blocks.blocks[2].text == teaser.blocks.blocks[2].text
    assert found.block_digests[2] != teaser.block_digests[2]
    assert found.block_digests[0] == teaser.block_digests[0]


def test_the_order_of_pages_does_not_change_what_is_known() -> None:
    numbers = list(range(12))
    random.Random(3).shuffle(numbers)
    mixed = BoilerplateModel()
    for number in numbers:
        mixed.observe(observed(number))
    one, other = template_of(mixed), template_of(taught(12))
    assert replace(one, seen=b"") == replace(other, seen=b"")


def test_what_a_site_stopped_doing_fades() -> None:
    model = taught(40)
    assert DISCLAIMER in repeated_texts(model)
    silent = [seen for number in range(40, 70) if (seen := observed(number))]
    gone = page(0).block_digests[5]
    assert page(0).blocks.blocks[5].text == DISCLAIMER
    for turn in range(10):
        for seen in silent:
            blocks = np.frombuffer(seen.blocks, "<u8")
            model.observe(replace(
                seen, url=seen.url ^ turn << 20, title=seen.title ^ turn << 20,
                blocks=blocks[blocks != gone].tobytes(),
            ))  # fmt: skip
    assert repeated_texts(model) == {"首页 社会", FOOTER}


def test_a_redesign_is_noticed_said_and_learnt(caplog: pytest.LogCaptureFixture) -> None:
    model = BoilerplateModel()
    for number in range(20):
        assert read(model, number).left_out == (number >= MIN_PAGES)
    with caplog.at_level(logging.INFO, "qiaocrawl.extract.sites.boilerplate_model"):
        for number in range(20, 20 + REDESIGN_PAGES):
            assert model.template(HOST) is not None
            assert read(model, number, design="story").place == ""
        assert model.template(HOST) is None
        for number in range(30, 40):
            read(model, number, design="story")
    assert model.redesigns == 1
    assert [record.getMessage() for record in caplog.records] == [
        f"{HOST} is built otherwise than before (8 articles in a row): learning it anew"
    ]
    template = template_of(model)
    assert (template.redesigns, template.body_places) == (1, ("div.story.c-0",))
    assert read(model, 50, design="story").left_out == 1


def test_two_kinds_of_pages_in_turn_are_no_redesign() -> None:
    model = BoilerplateModel()
    for number in range(60):
        read(model, number, design=("article", "gallery")[number % 2])
    assert model.redesigns == 0
    assert set(template_of(model).body_places) == {"div.article.c-0", "div.gallery.c-0"}


def test_pages_of_one_title_are_no_sign_of_a_redesign() -> None:
    model = taught(20)
    for number in range(20, 50):
        model.observe(observed(number, design="photo", heading="一些好看的图片"))
    assert model.redesigns == 0


def test_a_template_survives_json_and_pickle() -> None:
    template = template_of(taught(30))
    written = json.dumps(template.to_dict())
    assert SiteTemplate.from_dict(json.loads(written)) == template
    assert pickle.loads(pickle.dumps(template)) == template
    model = BoilerplateModel()
    model.restore(HOST, template)
    assert model.template(HOST) == template
    model.observe(observed(3))  # seen before
    assert model.template(HOST) == template
    for number in range(30, 60):
        model.observe(observed(number))
    assert repeated_texts(model) == {"首页 社会", DISCLAIMER, FOOTER}
    assert template_of(model).pages == 60


@pytest.mark.parametrize(
    "changes",
    [{"version": VERSION + 1}, {"blocks": "AAA"}, {"blocks": "!"}, {"counts": ""}, {"pages": "x"},
     {"names": [["a"]]}, {"places": 3}, {"seen": "AAAA"}, {"blocks": "AAAAAAAAAAAAAAAAAAAAAA=="}],
)  # fmt: skip
def test_what_cannot_be_read_is_nothing(changes: dict[str, object]) -> None:
    values = template_of(taught(6)).to_dict()
    assert SiteTemplate.from_dict({**values, **changes}) is None
    assert SiteTemplate.from_dict({}) is None


def hostile(number: int, host: str = HOST, blocks: int = 2000) -> SiteObservation:
    digests = np.unique(np.frombuffer(os.urandom(8 * blocks), "<u8"))
    return SiteObservation(
        host=host, url=number, title=number, blocks=digests.tobytes(), place=f"div.x{number}",
        names=tuple(f"{number} {n}" for n in range(5)),
    )  # fmt: skip


def test_a_site_on_which_nothing_repeats_takes_bounded_memory() -> None:
    model = BoilerplateModel()
    for number in range(300):
        model.observe(hostile(number))
    (counts,) = model._hosts.values()
    assert len(counts._rows) <= MAX_BLOCKS
    assert len(counts._places) <= 2 * MAX_PLACES
    assert len(counts._names) <= 2 * MAX_NAMES
    template = template_of(model)
    assert len(template.repeated_blocks[0]) == 0
    assert template.body_places == ()
    assert model.redesigns == 0


def test_a_template_is_small_whatever_repeats() -> None:
    model = BoilerplateModel()
    same = hostile(0)
    for number in range(100):
        model.observe(replace(
            same, url=number, title=number, names=("站" * 40,), place="的" * 200
        ))  # fmt: skip
    template = template_of(model)
    assert len(template.blocks) == 8 * MAX_KEPT_BLOCKS
    assert len(json.dumps(template.to_dict())) < 30_000


def test_a_site_of_one_page_under_many_urls_teaches_nothing() -> None:
    model = BoilerplateModel()
    for number in range(50):
        model.observe(observed(1, url=f"http://{HOST}/?{number}"))
    assert len(template_of(model).repeated_blocks[0]) == 0


def test_a_hundred_thousand_hosts_leave_those_met_last() -> None:
    model = BoilerplateModel()
    seen = observed(1)
    for number in range(100_000):
        model.restore(f"h{number}.test", None)
        if number % 10 == 0:
            model.observe(replace(seen, host=f"h{number}.test"))
    assert len(model) == 1024
    assert "h99999.test" in model
    assert "h0.test" not in model
    assert model.take_changes() == []


def test_a_host_that_makes_room_is_still_stored() -> None:
    model = BoilerplateModel(max_hosts=3)
    for number in range(6):
        model.observe(observed(number))
    for number in range(5):
        model.observe(replace(observed(1), host=f"h{number}.test"))
    assert HOST not in model
    model.restore(HOST, None)
    assert template_of(model).pages == 6
    (stored,) = model.take_changes()
    assert (stored.host, stored.pages) == (HOST, 6)
    assert model.take_changes() == []


@pytest.mark.parametrize("mark", ["<h3>{}</h3>", "<p align=center><b>{}</b></p>", "<h1>{}</h1>"])
def test_one_title_of_many_articles_is_learnt_to_be_the_sites(mark: str) -> None:
    model, titles = BoilerplateModel(), []
    for number in range(12):
        told = "".join(f"<p>{text}</p>" for text in paragraphs(number))
        heading = mark.format(title(number))
        found = parse_page(
            f"<title>西山往事录</title><div>西山往事录</div>{heading}"
            f"<div>2024-03-0{number % 9 + 1}</div><div class=text>{told}</div>".encode(),
            "text/html; charset=utf-8",
            f"http://{HOST}/w/{number}.html",
        )
        extracted = extract_page(found, "blend", template=model.template(HOST))
        titles.append(extracted.metadata.title)
        seen = observation_of(found, extracted.metadata.title, extracted.site)
        assert seen is not None
        model.observe(seen)
    assert titles[MIN_PAGES:] == [title(number) for number in range(MIN_PAGES, 12)]
