"""The text grammar and the stories it tells."""

from __future__ import annotations

import random
import re
from datetime import datetime

import pytest

from qiaocrawl.demo.inventory import load_background, load_frames, load_names, load_sites
from qiaocrawl.demo.model import CHINA_TIME
from qiaocrawl.demo.publishing import Publisher, reprint_lines, reprint_title
from qiaocrawl.demo.stories import MIN_CHARACTERS, Bindings, StoryTeller

DAY = datetime(2026, 11, 3, 9, 30, tzinfo=CHINA_TIME)


def bindings(slots: dict[str, str | tuple[str, ...]] | None = None, seed: int = 1) -> Bindings:
    return Bindings(random.Random(seed), slots or {}, DAY)


def test_a_slot_keeps_its_value_within_a_story() -> None:
    first, second = bindings().fill("{person}说，{person}").split("说，")
    assert first == second


def test_numbered_slots_differ() -> None:
    for seed in range(40):
        one, other = bindings(seed=seed).fill("{person},{person2}").split(",")
        assert one != other


def test_a_city_abroad_lies_in_its_country() -> None:
    cities = {row["name"]: row["cities"] for row in load_names()["country"]}
    for seed in range(40):
        country, city = bindings(seed=seed).fill("{country},{abroad}").split(",")
        assert city in cities[country]


def test_choices_and_ranges() -> None:
    for seed in range(40):
        text = bindings({"n": "3-5"}, seed).fill("[甲|乙]{n}")
        assert re.fullmatch("[甲乙][345]", text)


def test_date_slots_follow_the_story() -> None:
    text = bindings().fill("{year}年{md}（{month}{day}），{lastyear}")
    assert text == "2026年11月3日（11月3日），2025"


def test_an_unknown_slot_is_an_error() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        bindings().fill("{nonsense}")


def test_there_are_many_frames_of_both_kinds() -> None:
    frames = load_frames()
    assert len({frame.name for frame in frames}) == len(frames)
    assert sum(frame.on_topic for frame in frames) >= 45
    assert sum(not frame.on_topic for frame in frames) >= 45


@pytest.mark.parametrize("frame", load_frames(), ids=lambda frame: frame.name)
def test_every_line_of_every_frame_can_be_filled(frame) -> None:  # type: ignore[no-untyped-def]
    background = load_background()["topic" if frame.on_topic else frame.domain]
    own = Bindings(random.Random(frame.name), frame.slots, DAY)
    for template in (*frame.titles, *frame.lines, *frame.pool, *background):
        assert not re.search(r"[{}\[\]|]", own.fill(template)), template


def test_every_domain_of_every_channel_has_frames() -> None:
    known = {frame.domain for frame in load_frames()}
    wanted = {one for site in load_sites() for channel in site.channels for one in channel.domains}
    assert wanted == known


def test_no_two_stories_share_a_title() -> None:
    teller = StoryTeller(7)
    domains = sorted({frame.domain for frame in load_frames()})
    stories = [teller.tell(domain) for domain in domains for _ in range(20)]
    titles = [story.titles[0] for story in stories]
    assert len(set(titles)) >= len(titles) * 0.99
    assert all(sum(map(len, story.lines)) >= MIN_CHARACTERS for story in stories)


def test_instalments_have_titles_that_differ_little() -> None:
    """The hard negatives of deduplication: same words but one, another story."""
    titles = [posting.title for posting in Publisher(3, 1.0).publish() if posting.original]
    masked = [re.sub(r"[\d一二三四五六七八九十]+", "#", title) for title in titles]
    assert len(titles) - len(set(masked)) >= 20


def test_reprints_change_titles_in_every_way() -> None:
    story = StoryTeller(5).tell("huajiao")
    shown = story.titles[0]
    rng = random.Random(1)
    found = {reprint_title(rng, story, shown) for _ in range(200)}
    assert shown in found
    assert found & set(story.titles[1:])
    assert any(title != shown and shown in title for title in found)
    assert any(title != shown and title in shown for title in found)


def test_reprints_lose_or_gain_paragraphs_but_keep_the_lead() -> None:
    lines = [f"第{number}段" for number in range(6)]
    rng = random.Random(1)
    copies = [reprint_lines(rng, lines, "编者按") for _ in range(200)]
    assert {len(copy) for copy in copies} == {5, 6, 7}
    assert all("第0段" in copy and "第1段" in copy for copy in copies)
