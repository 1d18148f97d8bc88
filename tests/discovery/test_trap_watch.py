"""Groups of URLs, their scores, and which of them are cut."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from qiaocrawl.discovery.static_traps import UrlLimits, section_of, url_forms
from qiaocrawl.discovery.trap_scores import PageEffects, PageValue, PatternScore, record_page
from qiaocrawl.discovery.trap_watch import PageEvidence, TrapWatch, text_digest

_A = "http://a.test"


def watch(*allowed: str, learns: bool = True) -> TrapWatch:
    return TrapWatch(UrlLimits(), allowed, learns=learns)


class Site:
    """Feeds a watch with pages as a crawl would; knows what was seen."""

    def __init__(self, traps: TrapWatch) -> None:
        self.traps = traps
        self.seen: set[str] = set()

    def read(self, path: str, value: PageValue, links: list[str], digest: bytes = b"") -> list[str]:
        urls = [_A + link for link in links]
        kept = [url for url in urls if not self.traps.reason(url)[0]]
        fresh = frozenset(url for url in kept if url not in self.seen)
        self.seen.update(kept)
        return self.traps.learn(PageEvidence(_A + path, value, digest, kept, fresh))


def test_forms_from_narrow_to_broad() -> None:
    assert url_forms(f"{_A}/news/2026/03/c_123.html") == (
        "a.test/news/0/0/_0.html",
        "a.test/news/0/0/…",
        "a.test/news/0/…",
        "a.test/news/…",
    )
    assert url_forms(f"{_A}/list.php?b=1&a=2") == ("a.test/list.php?a&b", "a.test/list.php?…")
    assert url_forms(f"{_A}/") == ("a.test/",)
    assert url_forms(f"{_A}/s/ab12cd34ef56ab78cd/1.html")[0] == "a.test/s/*/0.html"
    assert url_forms(f"{_A}/news/one-story/") == ("a.test/news/-/", "a.test/news/…")
    assert section_of(url_forms(f"{_A}/news/1.html")) == "a.test/news/…"
    assert section_of(url_forms(f"{_A}/1.html")) == ""


def test_a_calendar_is_cut_and_an_archive_is_not() -> None:
    for value, pages in ((PageValue.NOTHING, 6), (PageValue.STORY, 60)):
        site = Site(watch())
        cut = []
        for month in range(60):
            steps = [f"/cal/{month // 12}/{month % 12 + 1}/{n}" for n in (month, month + 1)]
            cut += site.read(f"/cal/0/0/{month}", value, steps)
            if cut:
                break
        assert month + 1 == pages
    assert site.traps.reason(f"{_A}/cal/9/9/999") == ("", "")


def test_lists_that_lead_to_stories_are_worth_it() -> None:
    site = Site(watch())
    for number in range(50):
        stories = [f"/news/{20 * number + n}.html" for n in range(20)]
        site.read(f"/list?page={number}", PageValue.LIST, [*stories, f"/list?page={number + 1}"])
        for story in stories[:3]:
            assert site.read(story, PageValue.STORY, []) == []
    assert site.traps.reason(f"{_A}/list?page=99") == ("", "")


def test_facets_over_the_same_stories_are_cut() -> None:
    site = Site(watch())
    seed = random.Random(1)
    for n in range(20):
        site.read(f"/news/{n}.html", PageValue.STORY, [])
    for read in range(1, 100):
        links = [f"/shop?c={seed.random()}&s={n}" for n in range(30)]
        cut = site.read(
            f"/shop?c={read}&s=1", PageValue.LIST, [*links, "/news/1.html", "/news/2.html"]
        )
        if cut:
            break
    assert read <= 10
    word, why = site.traps.reason(f"{_A}/shop?c=777&s=7")
    assert word == "barren"
    assert "a.test/shop?" in why
    assert site.traps.reason(f"{_A}/news/777.html") == ("", "")


@pytest.mark.parametrize(("back", "most"), [(False, 20), (True, 20)])
def test_a_maze_of_texts_is_cut(back: bool, most: int) -> None:
    site = Site(watch())
    seed = random.Random(2)
    before = "/maze/in"
    for read in range(1, 200):
        links = [f"/maze/{seed.getrandbits(40):x}/{n}" for n in range(5)]
        cut = site.read(before, PageValue.WEAK, [*links, before, "/"], bytes([read]))
        before = links[0] if back else links[-1]
        if cut:
            break
    assert read <= most
    assert site.traps.reason(f"{_A}/maze/new/1")[0] == "barren"


def test_a_section_of_undated_texts_that_lead_to_each_other_is_read() -> None:
    site = Site(watch())
    seed = random.Random(3)
    pages = [f"/t/{n}.html" for n in range(300)]
    waiting, done = ["/t/0.html"], 0
    known = set(waiting)
    while waiting:
        path = waiting.pop(0)
        links = seed.sample(pages, 8)
        site.read(path, PageValue.WEAK, links, path.encode())
        done += 1
        waiting += [link for link in links if link not in known]
        known.update(links)
        assert site.traps.reason(_A + path) == ("", "")
    assert done >= 297


def test_session_ids_are_cut_and_the_plain_addresses_are_not() -> None:
    site = Site(watch())
    seed = random.Random(4)
    cut: list[str] = []
    for n in range(40):
        digest = text_digest(f"t{n}", b"body%d" % n)
        links = [f"/news/{seed.randrange(40)}.html?u={seed.getrandbits(20):x}" for _ in range(5)]
        first, second = (f"/news/{n}.html?u={n:x}", f"/news/{n}.html")[:: 1 if n % 2 else -1]
        for path in (first, second):
            if not site.traps.reason(_A + path)[0]:
                cut += site.read(path, PageValue.STORY, links if "?" in path else [], digest)
    assert "a.test/news/0.html?u" in cut
    assert site.traps.reason(f"{_A}/news/99.html") == ("", "")
    assert site.traps.reason(f"{_A}/news/99.html?u=1")[0] == "barren"


@pytest.mark.parametrize("plain_first", [True, False])
def test_a_parameter_of_the_place_of_a_link_hides_no_stories(plain_first: bool) -> None:
    site = Site(watch())
    for n in range(100):
        plain, placed = f"/show.asp?id={n}", f"/show.asp?c=2&id={n}"
        # The newest stand on the home page too, without the parameter.
        paths = [plain, placed] if n < 10 else [placed]
        for path in paths if plain_first else reversed(paths):
            site.read(path, PageValue.STORY, [], text_digest(f"t{n}", b"body%d" % n))
    assert site.traps.reason(f"{_A}/show.asp?c=2&id=999") == ("", "")


def test_articles_that_stand_in_two_columns_cut_neither() -> None:
    site = Site(watch())
    for folder, most in (("news", 30), ("top", 20), ("headlines", 20)):
        for n in range(most):
            digest = text_digest(f"t{n}", b"body%d" % n)
            assert site.read(f"/{folder}/{n}.html", PageValue.STORY, [], digest) == []
    for folder in ("news", "top", "headlines"):
        assert site.traps.reason(f"{_A}/{folder}/99.html") == ("", "")


def test_a_maze_at_the_root_is_cut_by_its_new_branches() -> None:
    site = Site(watch())
    seed = random.Random(5)
    site.read("/news/1.html", PageValue.STORY, ["/news/2.html"])
    for read in range(1, 100):
        links = [f"/{seed.getrandbits(30):x}/{seed.getrandbits(30):x}" for _ in range(5)]
        if site.read(f"/w{read}/x", PageValue.NOTHING, links):
            break
    assert read <= 20
    assert site.traps.reason(f"{_A}/never/seen")[0] == "barren"
    assert site.traps.reason(f"{_A}/news/9.html") == ("", "")


def test_what_is_allowed_or_not_learnt_is_never_cut() -> None:
    for traps in (watch("b.test/*", "a.test/cal/*"), watch(learns=False)):
        site = Site(traps)
        for month in range(30):
            site.read(f"/cal/{month}", PageValue.NOTHING, [f"/cal/{month + 1}"])
        assert traps.reason(f"{_A}/cal/99") == ("", "")


def test_every_allowed_pattern_counts_from_end_to_end() -> None:
    traps = watch("b.test/*", "a.test/cal/?")
    allowed = ["a.test/cal/9", "b.test/", "b.test/cal/99"]
    others = ["a.test/cal/99", "a.test/ca", "xb.test/", "b.test"]
    assert [one for one in (*allowed, *others) if traps.is_allowed(f"http://{one}")] == allowed
    assert not watch().is_allowed("http://a.test/")


def test_scores_survive_and_what_is_cut_stays_cut() -> None:
    site = Site(watch())
    for month in range(9):
        site.read(f"/cal/{month}", PageValue.NOTHING, [f"/cal/{month + 1}"])
    stored = site.traps.take_changes()
    assert {one.form for one in stored} >= {"a.test/cal/0", "a.test/cal/…"}
    assert site.traps.take_changes() == []
    other = watch()
    other.restore(stored)
    assert other.reason(f"{_A}/cal/99")[0] == "barren"
    assert other.numbers()["qiaocrawl/traps/groups_cut"] >= 2
    account = PatternScore(points=0.0, fetched=6)
    record_page(account, PageEffects(PageValue.STORY))
    assert account == PatternScore(points=0.0, fetched=6)


def test_a_long_tree_of_stories_without_crossings_ends() -> None:
    site = Site(watch())
    for read in range(1, 400):
        links = [f"/fake/{read}/{n}.html" for n in range(3)]
        if site.read(f"/fake/0/{read}.html", PageValue.STORY, links, read.to_bytes(2, "big")):
            break
    assert 100 < read <= 200


def test_reprints_on_other_hosts_are_no_doubles() -> None:
    traps = watch()
    for n in range(40):
        digest = text_digest(f"t{n}", b"body%d" % n)
        for url in (f"{_A}/gn/2026/11-22/{n}.shtml", f"http://b.test/{n}.html"):
            assert traps.learn(PageEvidence(url, PageValue.STORY, digest)) == []
    assert traps.reason(f"{_A}/gn/2026/11-22/99.shtml") == ("", "")
    assert traps.counts["doubles"] == 0


def test_ten_thousand_addresses_that_redirect_to_one_page_are_not_all_asked() -> None:
    """One in a hundred at most; those that redirect each to its own page are (faults F-T4)."""
    one, own = watch(), watch()
    asked = 0
    for number in range(10_000):
        url = f"{_A}/go?id={number}"
        if not one.reason(url)[0]:
            asked += 1
            one.note_redirect(url, f"{_A}/")
        assert own.note_redirect(url, f"{_A}/news/{number}.html") == []
    assert 6 <= asked <= 100
    assert one.reason(f"{_A}/news/1.html") == ("", "")


def test_a_long_maze_takes_little_memory() -> None:
    """1 MB a thousand pages at most, each of a new folder and with a new text (faults F-T7)."""
    traps, seed = watch(), random.Random(6)

    def read(pages: int) -> None:
        for _ in range(pages):
            name = f"{seed.getrandbits(48):x}"
            links = [f"{_A}/news/{name}{n}.html" for n in range(4)]
            own = ["/news/0.html" if seed.random() < 0.5 else f"/{name}/1.html"]
            traps.learn(PageEvidence(
                f"{_A}{own[0]}?x={name}", PageValue.STORY, seed.randbytes(8), links,
                frozenset(links[::2]), seed.randbytes(2400),
            ))  # fmt: skip
        traps.take_changes()
        url_forms.cache_clear()  # of a fixed size

    tracemalloc.start()
    read(500)
    before = tracemalloc.get_traced_memory()[0]
    read(1_000)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert traps.numbers()["qiaocrawl/traps/groups"] > 1_000
    assert grown <= 1_000_000, grown
