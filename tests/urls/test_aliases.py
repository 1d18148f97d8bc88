"""Which addresses are other names of a page: what many articles agree on, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.urls import canonical_host, registrable_domain
from qiaocrawl.urls.aliases import (
    LEAST_AGREED,
    MAX_STEPS,
    WINDOW,
    AliasRules,
    HostVotes,
)
from qiaocrawl.urls.versions import HTTPS, Step, identity

WWW = "https://www.a.test"


def taught(pairs: Iterable[tuple[str, str]], rules: AliasRules | None = None) -> AliasRules:
    """Rules that saw articles, each with the address it declares."""
    rules = AliasRules() if rules is None else rules
    for url, declared in pairs:
        rules.observe(url, declared)
    return rules


def many(url: str, declared: str, count: int = LEAST_AGREED) -> list[tuple[str, str]]:
    """*count* articles; ``{}`` stands for their number."""
    return [(url.format(n), declared.format(n)) for n in range(count)]


@pytest.mark.parametrize(
    ("form", "new"),
    [
        ("http://www.a.test/n/{}.html", "http://www.a.test/n/99.html"),
        ("http://m.a.test/n/{}.html", "http://m.a.test/n/99.html"),
        ("https://wap.a.test/n/{}.html", "https://wap.a.test/n/99.html"),
        ("https://a.test/n/{}.html", "https://a.test/n/99.html"),
        ("https://www.a.test/print/n/{}.html", "https://www.a.test/print/n/99.html"),
        ("https://www.a.test/n/{}_print.html", "https://www.a.test/n/99_print.html"),
        ("https://www.a.test/n/{}.html?print=1", "https://www.a.test/n/99.html?print=1"),
        ("https://www.a.test/n/{}.html?from=app", "https://www.a.test/n/99.html?from=app"),
        ("http://m.a.test/amp/n/{}.html?view=mobile", "http://m.a.test/amp/n/99.html?view=mobile"),
    ],
)
def test_five_articles_make_a_rule(form: str, new: str) -> None:
    preferred = f"{WWW}/n/{{}}.html"
    rules = taught(many(form, preferred, LEAST_AGREED - 1))
    assert rules.apply(new) == new
    taught([(form.format(5), preferred.format(5))], rules)
    assert rules.apply(new) == preferred.format(99)
    assert rules.apply(preferred.format(99)) == preferred.format(99)


def test_rules_of_one_host_say_nothing_of_another() -> None:
    rules = taught(many("http://m.a.test/{}", WWW + "/{}"))
    for url in (
        "http://www.a.test/9",
        "http://wap.a.test/9",
        "http://m.b.test/9",
        "http://m.news.a.test/9",
    ):
        assert rules.apply(url) == url


def test_one_article_seen_many_times_makes_no_rule() -> None:
    rules = taught([("http://a.test/1?from=app", "http://a.test/1")] * 50)
    assert rules.apply("http://a.test/2?from=app") == "http://a.test/2?from=app"
    shown = [(f"http://a.test/show?ref={n}", "http://a.test/show") for n in range(50)]
    assert not any(rule.active for rule in taught(shown).rules())


@pytest.mark.parametrize(
    ("form", "declared"),
    [
        ("http://m.a.test/{}", "https://www.a.test/"),  # a template that names the front page
        ("http://www.a.test/print/{}", "https://www.a.test/list"),
        ("http://m.a.test/{}", "https://www.evil.example/{}"),
        ("http://m.a.test/{}", ""),
        ("https://www.a.test/show?id={}", "https://www.a.test/show"),
        ("https://www.a.test/{}?page=2", "https://www.a.test/{}"),
        ("https://www.a.test/{}_2.html", "https://www.a.test/{}.html"),
        ("https://www.a.test/{}", "http://www.a.test/{}"),
        ("https://www.a.test/{}", "https://m.a.test/{}"),
        ("http://m.com.cn/{}", "http://com.cn/{}"),
    ],
)
def test_what_never_becomes_a_rule(form: str, declared: str) -> None:
    rules = taught(many(form, declared, 60))
    assert not any(rule.active for rule in rules.rules())
    assert rules.apply(form.format(99)) == form.format(99)


def test_pages_that_name_themselves_or_another_speak_against() -> None:
    agreed = many("http://m.a.test/{}", WWW + "/{}", 19)
    for other in ("http://m.a.test/x", WWW + "/2026/x.html", WWW + "/"):
        rules = taught([*agreed, ("http://m.a.test/x", other)])
        assert rules.apply("http://m.a.test/9") == "http://m.a.test/9"
        # Hardly any: one in twenty does not matter.
        taught([("http://m.a.test/y", WWW + "/y")], rules)
        assert rules.apply("http://m.a.test/9") == WWW + "/9"


def test_foreign_canonical_links_speak_for_nothing() -> None:
    rules = taught(many("http://m.a.test/{}", WWW + "/{}"))
    taught(many("http://m.a.test/e{}", "https://evil.example/{}", 60), rules)
    assert rules.apply("http://m.a.test/9") == WWW + "/9"


def test_what_a_site_stopped_doing_is_forgotten() -> None:
    rules = taught(many("http://m.a.test/{}", WWW + "/{}"))
    taught(many("http://m.a.test/s{}", "http://m.a.test/s{}"), rules)
    assert rules.apply("http://m.a.test/9") == "http://m.a.test/9"
    taught(many("http://m.a.test/t{}", WWW + "/t{}", WINDOW), rules)
    assert rules.apply("http://m.a.test/9") == WWW + "/9"


def test_with_and_without_www_never_lead_to_each_other() -> None:
    bare, www = "https://a.test/{}", "https://www.a.test/{}"
    rules = AliasRules()
    both = [*many(bare, www, 40), *many(www, bare, 40), *many(bare, www, 40)]
    for number, (url, declared) in enumerate(both):
        rules.observe(
            url.replace(".test/", f".test/{number}-"),
            declared.replace(".test/", f".test/{number}-"),
        )
        for one in (bare, www):
            once = rules.apply(one.format(9))
            assert rules.apply(once) == once
    assert rules.apply(bare.format(9)) == www.format(9)
    # Even where a table says otherwise.
    made_up = tuple(range(1, 9))
    rules = AliasRules()
    rules.restore(HostVotes("a.test", ((Step("host", "www.a.test"), made_up),)))
    rules.restore(HostVotes("www.a.test", ((Step("host", "a.test"), made_up),)))
    assert rules.apply(bare.format(9)) == bare.format(9)
    assert rules.apply(www.format(9)) == www.format(9)


def test_rules_of_several_hosts_lead_on() -> None:
    rules = taught([
        *many("http://m.a.test/{}", "http://a.test/{}"),
        *many("http://a.test/{}", "https://a.test/{}"),
        *many("https://a.test/{}", WWW + "/{}"),
    ])  # fmt: skip
    assert rules.apply("http://m.a.test/9") == WWW + "/9"
    rules.doubt("http://m.a.test/9")
    assert rules.apply("http://m.a.test/8") == "http://m.a.test/8"
    rules.forgive("http://m.a.test/9")
    assert rules.apply("http://m.a.test/8") == WWW + "/8"


def test_redirects_teach_too() -> None:
    rules = AliasRules()
    for n in range(LEAST_AGREED):
        rules.note_redirect(f"http://a.test/{n}", f"https://a.test/{n}")
        rules.note_redirect(f"http://b.test/{n}", "https://b.test/login")
        rules.note_redirect(f"http://b.test/x{n}", f"http://b.test/moved/{n}")
    assert rules.apply("http://a.test/9") == "https://a.test/9"
    assert rules.apply("http://b.test/9") == "http://b.test/9"
    rules.note_redirect("https://a.test/7", "http://a.test/7")
    assert rules.apply("http://a.test/9") == "http://a.test/9"


def test_a_front_page_is_mapped_only_to_itself_under_another_name() -> None:
    rules = taught([*many("http://m.a.test/{}", WWW + "/{}"),
                    *many("http://a.test/{}", "https://a.test/{}")])  # fmt: skip
    assert rules.apply("http://m.a.test/") == "https://m.a.test/"
    assert rules.apply("http://a.test/") == "https://a.test/"
    taught(many("http://m.b.test/", "https://www.b.test/", 60), rules)
    assert rules.apply("http://m.b.test/1") == "http://m.b.test/1"


def test_an_address_made_of_steps_alone_is_left() -> None:
    rules = taught(many("http://a.test/m/{}", "http://a.test/{}"))
    assert rules.apply("http://a.test/m/m/9") == "http://a.test/9"
    endless = "http://a.test" + "/m" * 100 + "/9"
    assert rules.apply(endless) == endless


@pytest.mark.parametrize("tail", ["/m" * 2000 + "/9", "/9?" + "from=x&" * 500 + "m=1", "_m" * 2000])
def test_long_addresses_cost_nothing_and_stay(tail: str) -> None:
    rules = taught(many("http://m.a.test/{}", WWW + "/{}"))
    long = "http://m.a.test/" + tail
    # Would not end within the time-out of the test run if each step read it all.
    for n in range(2_000):
        rules.observe(f"{long}{n}", WWW + "/9")
    assert rules.apply(long) == long


def test_memory_is_bounded_and_made_up_steps_push_nothing_out() -> None:
    rules = taught(many("http://www.a.test/{}", WWW + "/{}"), AliasRules(max_hosts=3))
    taught(((f"http://www.a.test/{n}?from=x{n}", f"{WWW}/{n}") for n in range(300)), rules)
    assert len(rules.rules()) <= MAX_STEPS
    taught(((f"https://h{n}.test/1", f"https://h{n}.test/1") for n in range(300)), rules)
    assert len(rules) == 3
    assert rules.apply("http://www.a.test/9") == WWW + "/9"


def test_what_is_known_comes_back_as_it_was() -> None:
    rules = taught([*many("http://m.a.test/{}", WWW + "/{}", 40),
                    ("http://m.a.test/x", "http://m.a.test/x"),
                    *many("https://b.test/{}", "https://b.test/{}")])  # fmt: skip
    (stored,) = rules.take_changes()
    assert rules.take_changes() == []
    assert (stored.host, stored.rules) == ("m.a.test", 2)
    written = json.dumps(stored.to_dict())
    assert len(written) < 2_000
    again = AliasRules()
    read = HostVotes.from_dict(json.loads(written))
    assert read == stored
    again.restore(read)
    assert again.rules() == rules.rules()
    assert {rule.step for rule in again.rules()} == {HTTPS, Step("host", "www.a.test")}
    again.restore(HostVotes("m.a.test"))
    assert again.rules() == rules.rules(), "what is known already stays"
    # Both go on alike.
    for one in (rules, again):
        taught(many("http://m.a.test/z{}", "http://m.a.test/z{}", 2), one)
    assert again.take_changes() == rules.take_changes()


@pytest.mark.parametrize(
    "values",
    [
        {}, {"version": 99}, {"version": 1}, {"version": 1, "host": "m.a.test", "steps": 5},
        {"version": 1, "host": "m.a.test", "rules": 0, "steps": [["host", "evil.test", [1]]]},
        {"version": 1, "host": "m.a.test", "rules": 0, "steps": [["other", "", [1]]]},
        {"version": 1, "host": "m.a.test", "rules": 0, "steps": [["https", "", [0]]]},
        {"version": 1, "host": "m.a.test", "rules": 0, "steps": [["https", "", [1] * 99]]},
        {"version": 1, "host": "m.a.test", "rules": 0, "steps": [["https", "", ["x"]]]},
        {"version": 1, "host": "m.a.test", "rules": 0, "steps": [["https", "", []]] * 99},
    ],
)  # fmt: skip
def test_a_damaged_row_is_none(values: dict[str, object]) -> None:
    assert HostVotes.from_dict(values) is None


HOSTS = st.sampled_from(["m.a.test", "www.a.test", "a.test", "wap.m.a.test", "b.test"])
PATHS = st.sampled_from(["/1", "/print/1", "/1/amp/", "/1_print", "/m/print/2", "/2", "/"])
QUERIES = st.sampled_from(["", "?print=1", "?from=app&id=1", "?id=1", "?id=2&m=1"])
URLS = st.builds(
    lambda scheme, host, path, query: f"{scheme}://{host}{path}{query}",
    st.sampled_from(["http", "https"]), HOSTS, PATHS, QUERIES,
)  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> AliasRules:
    """Rules after any habits of sites, honest or not."""
    rules = AliasRules()
    for _ in range(draw(st.integers(1, 6))):
        url, declared = draw(URLS), draw(URLS)
        for n in range(draw(st.integers(1, 8))):
            rules.observe(
                f"{url.replace('.test/', f'.test/{n}/')}",
                f"{declared.replace('.test/', f'.test/{n}/')}",
            )
    return rules


@given(histories(), st.lists(URLS, min_size=2, max_size=6))
@settings(deadline=None)
def test_no_rules_merge_two_pages_or_leave_the_site(rules: AliasRules, urls: list[str]) -> None:
    found = {url: rules.apply(url) for url in urls}
    for url, preferred in found.items():
        assert rules.apply(preferred) == preferred
        assert identity(preferred) == identity(url)
        ours, theirs = canonical_host(url), canonical_host(preferred)
        assert registrable_domain(ours) == registrable_domain(theirs)
