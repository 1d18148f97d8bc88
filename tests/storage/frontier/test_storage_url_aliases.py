"""URLs that wait for their preferred version: none is fetched twice, none is lost."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from qiaocrawl.items import Lease, Outcome, Payload
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier.url_aliases import (
    Swap,
    alias,
    release_failed,
    save_host_votes,
    stored_host_votes,
)
from qiaocrawl.urls.aliases import HostVotes
from qiaocrawl.urls.versions import HTTPS, Step
from storage_samples import NOW, SITE, add_topic, candidate, close, enqueue, scalar, take


def leased(c: Connection, *paths: str) -> list[Lease]:
    """Leases of new URLs of the mobile host."""
    enqueue(c, [candidate(path, host="m.a.example") for path in paths])
    return take(c)


def swap(lease: Lease, path: str) -> Swap:
    return Swap(lease, candidate(path, payload=Payload(alias_of=lease.url), score=lease.score))


def aliased(c: Connection, swaps: Sequence[Swap]) -> list[str]:
    return [one.url for one in alias(c, swaps, run_id=None, now=NOW)]


def states(c: Connection) -> dict[str, tuple[int, str | None]]:
    found = c.execute(text("SELECT url, state, outcome FROM url"))
    return {str(url).removeprefix("http://"): (state, outcome) for url, state, outcome in found}


def test_the_preferred_version_waits_instead(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        one, two = leased(c, "1", "2")
        for _ in range(2):  # a transaction may be played again
            assert aliased(c, [swap(one, "1"), swap(two, "1")]) == [one.url, two.url]
        assert states(c) == {
            "m.a.example/1": (3, "alias"), "m.a.example/2": (3, "alias"), "a.example/1": (0, None),
        }  # fmt: skip
        assert scalar(c, "SELECT COUNT(*) FROM aliased_url") == 2
        reason, key = c.execute(
            text("SELECT reason, redirect_key FROM url WHERE outcome = 'alias' LIMIT 1")
        ).one()
        assert reason == "fetched as http://a.example/1"
        (preferred,) = take(c)
        assert (preferred.payload, bytes(key)) == (Payload(alias_of=one.url), preferred.key)
        close(c, preferred)
        assert release_failed(c) == 0
        assert scalar(c, "SELECT COUNT(*) FROM aliased_url") == 0
        assert not frontier.remaining(c, SITE, now=NOW).pending


def test_urls_wait_again_when_it_brings_nothing(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        one, two, other = leased(c, "1", "2", "3")
        aliased(c, [swap(one, "1"), swap(two, "1"), swap(other, "3")])
        preferred = {lease.url[-1]: lease for lease in take(c)}
        close(c, preferred["1"], Outcome.DEAD)
        assert release_failed(c, [preferred["3"].key]) == 0
        assert release_failed(c, [preferred["1"].key]) == 2
        assert release_failed(c) == 0
        again = take(c)
        assert sorted(lease.url for lease in again) == [one.url, two.url]
        assert all(lease.payload == Payload(as_is="dead") for lease in again)
        assert scalar(c, "SELECT COUNT(*) FROM aliased_url") == 1, "the third still waits"


def test_one_that_is_dead_already_is_noticed_at_once(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (preferred,) = take(c)
        close(c, preferred, Outcome.SOFT_404)
        (one,) = leased(c, "1")
        assert aliased(c, [swap(one, "1")]) == [one.url]
        (again,) = take(c)
        assert (again.url, again.payload) == (one.url, Payload(as_is="soft_404"))


def test_one_that_was_read_already_is_not_read_again(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        close(c, take(c)[0])
        (one,) = leased(c, "1")
        aliased(c, [swap(one, "1")])
        assert take(c) == []
        assert scalar(c, "SELECT COUNT(*) FROM aliased_url") == 0


def test_an_alias_of_an_alias_waits_for_the_last(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("2"), candidate("1", host="m.a.example")])
        leases = {lease.host: lease for lease in take(c)}
        aliased(c, [swap(leases["m.a.example"], "2")])
        aliased(c, [swap(leases["a.example"], "3")])
        assert release_failed(c) == 0, "the first waits for the second, that for the third"
        (third,) = take(c)
        close(c, third, Outcome.DEAD)
        assert release_failed(c) == 1
        (second,) = take(c)
        close(c, second, Outcome.UNREACHABLE)
        assert release_failed(c) == 1
        assert [lease.url for lease in take(c)] == ["http://m.a.example/1"]


def test_two_addresses_never_wait_for_each_other(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("1", host="m.a.example")])
        leases = {lease.host: lease for lease in take(c)}
        mobile, plain = leases["m.a.example"], leases["a.example"]
        assert aliased(c, [swap(mobile, "1")]) == [mobile.url]
        back = Swap(plain, candidate("1", host="m.a.example"))
        assert aliased(c, [back]) == [], "it is fetched"
        close(c, plain)
        assert release_failed(c) == 0
        assert states(c) == {"m.a.example/1": (3, "alias"), "a.example/1": (3, "article")}


def test_a_lost_lease_closes_nothing(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        (one,) = leased(c, "1")
        frontier.release(c, [one], now=NOW)
        (other,) = take(c, token=2)
        assert aliased(c, [swap(one, "1")]) == [one.url], "nothing is to be fetched for it here"
        assert frontier.is_mine(c, other)
        assert states(c) == {"m.a.example/1": (1, None)}


def test_what_was_learnt_comes_back(database: Database) -> None:
    one = HostVotes("m.a.test", ((HTTPS, (1, -2)), (Step("host", "a.test"), (5,))), rules=1)
    other = HostVotes("m.b.test", ((Step("parameter", "from=%E4%BE%A8"), (1 << 32,)),))
    with database.engine.begin() as c:
        save_host_votes(c, [other], now=NOW)
        for _ in range(2):
            save_host_votes(c, [one], now=NOW + 1)
        assert stored_host_votes(c, limit=9) == [other, one]
        assert stored_host_votes(c, limit=1) == [one]
        assert scalar(c, "SELECT rules FROM url_alias WHERE host = 'm.a.test'") == 1
        save_host_votes(c, [HostVotes(one.host)], now=NOW + 2)
        c.execute(text("UPDATE url_alias SET votes = '{' WHERE host = 'm.b.test'"))
        assert stored_host_votes(c, limit=9) == [HostVotes(one.host)]
