"""Which account is used, which logs in, which rests: the pool by itself."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from typing import Any

import pytest

from qiaocrawl.errors import LoginError, LoginPageError, SessionRestError
from qiaocrawl.fetch.sessions.accounts import (
    AccountPool,
    AccountUse,
    JarKey,
    LiveAccount,
    LoginActions,
)
from qiaocrawl.fetch.sessions.recipe import Recipe


class World:
    """Logins that end as *fails* says; the clock stands still unless it is set."""

    def __init__(self, accounts: int = 1, pause: float = 0.0, *, can_log_in: bool = True) -> None:
        self.fails: list[LoginError | None] = []
        self.still: bool | None = None
        self.jars: list[JarKey] = []
        self.on_rest: dict[int, str] = {}
        self.now = 0.0
        self.accounts = [LiveAccount(n + 1, can_log_in) for n in range(accounts)]
        recipe = Recipe("a.test", "form", ("a.test",), pause_seconds=pause)
        actions = LoginActions(self._log_in, self._still_in, self._rest)
        self.pool = AccountPool(recipe, self.accounts, actions, lambda: self.now)

    async def _log_in(self, account: LiveAccount, jar: JarKey) -> None:
        await asyncio.sleep(0)
        error = self.fails.pop(0) if self.fails else None
        if error is not None:
            raise error
        self.jars.append(jar)

    async def _still_in(self, account: LiveAccount) -> bool | None:
        await asyncio.sleep(0)
        return self.still

    async def _rest(self, account: LiveAccount, why: str) -> None:
        self.on_rest[account.id] = why


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_accounts_take_turns_by_host_and_keep_their_pause() -> None:
    world = World(3, pause=2.0)

    async def work() -> None:
        uses = [await world.pool.acquire("a") for _ in range(6)]
        assert [use.account.id for use in uses] == [1, 2, 3, 1, 2, 3]
        assert [use.wait_seconds for use in uses] == [0, 0, 0, 2, 2, 2]
        world.now = 3.0
        use = await world.pool.acquire("b")
        assert (use.account.id, use.wait_seconds) == (1, 1.0)

    run(work())
    assert world.pool.logins == 3


def test_requests_that_see_one_end_share_one_login() -> None:
    world = World()

    async def work() -> None:
        uses = await asyncio.gather(*(world.pool.acquire("a") for _ in range(10)))
        assert world.pool.logins == 1
        for use in uses:
            world.pool.note_served(use)
        await asyncio.gather(*(world.pool.renew(use, "login form") for use in uses))
        assert world.pool.logins == 2
        # A late answer to the first session changes nothing of the second.
        await world.pool.renew(uses[0], "login form")
        assert world.pool.logins == 2

    run(work())
    assert world.jars == [("account", 1, 1), ("account", 1, 2)]


def test_three_logins_in_vain_and_the_account_rests() -> None:
    world = World()
    world.fails = [LoginError("HTTP 500")] * 9

    async def work() -> None:
        for seconds in (5.0, 5.0, 0.0, math.inf):
            with pytest.raises(SessionRestError) as caught:
                await world.pool.acquire("a")
            assert caught.value.retry_seconds == seconds

    run(work())
    assert world.pool.logins == 3
    assert world.on_rest == {1: "HTTP 500"}


def test_a_refused_password_is_not_tried_again_but_others_go_on() -> None:
    world = World(2)
    world.fails = [LoginError("wrong", is_final=True)]

    async def work() -> list[AccountUse]:
        with pytest.raises(SessionRestError):
            await world.pool.acquire("a")
        return [await world.pool.acquire("a") for _ in range(3)]

    assert {use.account.id for use in run(work())} == {2}
    assert world.pool.logins == 2


def test_a_login_that_does_not_help_counts_as_one_in_vain() -> None:
    world = World()

    async def work() -> None:
        for seconds in (5.0, 5.0, 0.0):
            use = await world.pool.acquire("a")
            with pytest.raises(SessionRestError) as caught:
                await world.pool.renew(use, "login form")
            assert caught.value.retry_seconds == seconds

    run(work())
    assert world.pool.logins == 3
    assert "did not help" in world.on_rest[1]


def test_a_page_behind_a_wall_costs_no_login() -> None:
    world = World()
    world.still = True

    async def work() -> None:
        use = await world.pool.acquire("a")
        with pytest.raises(LoginPageError, match="although one is there"):
            await world.pool.renew(use, "login form")

    run(work())
    assert world.pool.logins == 1


def test_pasted_cookies_that_ran_out_want_a_person() -> None:
    world = World(can_log_in=False)
    world.accounts[0].is_open = True

    async def work() -> None:
        use = await world.pool.acquire("a")
        with pytest.raises(SessionRestError, match="takes a person"):
            await world.pool.renew(use, "HTTP 401")
        with pytest.raises(SessionRestError, match="no account of a.test may be used"):
            await world.pool.acquire("a")

    run(work())
    assert world.pool.logins == 0


def test_without_accounts_the_message_says_how_to_make_one() -> None:
    with pytest.raises(SessionRestError, match="session add"):
        run(World(0).pool.acquire("a"))
