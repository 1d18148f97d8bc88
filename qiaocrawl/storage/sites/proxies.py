"""Proxies an operator added, and how they have done. No password is stored, only where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.proxies import Proxy, ProxyState
from qiaocrawl.language import _
from qiaocrawl.storage.converters import clean_word
from qiaocrawl.storage.schema import proxy as table

_MAX_LOGIN_CHARS = 100
_MAX_NOTE_CHARS = 200


@dataclass(frozen=True, slots=True)
class StoredProxy:
    """One row: the proxy without its password, where that is, and how it has done.

    Attributes:
        password_env: name of an environment variable; "" where no password is needed.
        state: with times as epoch seconds; what is known of single hosts is not kept.
    """

    id: int
    proxy: Proxy
    password_env: str
    note: str
    state: ProxyState

    def with_password(self, environment: Mapping[str, str]) -> Proxy:
        """The proxy as it is used.

        Raises:
            ValueError: the environment lacks the variable.
        """
        if not self.password_env:
            return self.proxy
        if self.password_env not in environment:
            raise ValueError(f"there is no environment variable {self.password_env}")
        proxy = self.proxy
        password = environment[self.password_env]
        return Proxy(proxy.scheme, proxy.host, proxy.port, proxy.user, password)


def add_proxy(c: Connection, proxy: Proxy, *, password_env: str, note: str, now: float) -> None:
    """Add *proxy*; its password is not stored.

    Raises:
        ConfigError: it is there already, or its user name is too long.
    """
    # Refused, not cut: a proxy would answer a cut name with 407 for ever.
    if len(proxy.user) > _MAX_LOGIN_CHARS:
        raise ConfigError(
            _(
                "the user name of {proxy} is longer than {max_login_chars} characters",
                proxy=proxy,
                max_login_chars=_MAX_LOGIN_CHARS,
            )
        )
    try:
        c.execute(insert(table).values(
            scheme=proxy.scheme, host=proxy.host, port=proxy.port, login=proxy.user,
            password_env=password_env, note=clean_word(note, _MAX_NOTE_CHARS),
            added_at=datetime.fromtimestamp(now, UTC).replace(tzinfo=None),
            successes=0.0, failures=0.0, latency_seconds=0.0, failures_in_row=0,
            resting_until=0.0,
        ))  # fmt: skip
    # from None: the driver's error would show the whole statement with its values.
    except IntegrityError:
        raise ConfigError(_("proxy {proxy} is in the database already", proxy=proxy)) from None


def remove_proxy(c: Connection, proxy: Proxy) -> bool:
    """Remove *proxy* (of all user names when it has none); says whether it was there."""
    same = (table.c.scheme == proxy.scheme) & (table.c.host == proxy.host)
    same &= table.c.port == proxy.port
    if proxy.user:
        same &= table.c.login == proxy.user
    return c.execute(delete(table).where(same)).rowcount > 0


def list_proxies(c: Connection) -> list[StoredProxy]:
    """All proxies in the order they were added."""
    return [
        StoredProxy(
            row.id, Proxy(row.scheme, row.host, row.port, row.login), row.password_env, row.note,
            ProxyState(
                successes=row.successes, failures=row.failures,
                latency_seconds=row.latency_seconds, failures_in_row=row.failures_in_row,
                resting_until=row.resting_until,
            ),
        )
        for row in c.execute(select(table).order_by(table.c.id))
    ]  # fmt: skip


def save_states(c: Connection, states: Sequence[tuple[Proxy, ProxyState]]) -> None:
    """Write how proxies have done; ``resting_until`` is epoch seconds. Unknown ones are left."""
    for proxy, state in states:
        # Without an upsert: a proxy that was removed while the crawl ran must not come back.
        c.execute(
            update(table)
            .where(table.c.scheme == proxy.scheme, table.c.host == proxy.host)
            .where(table.c.port == proxy.port, table.c.login == proxy.user)
            .values(
                successes=state.successes, failures=state.failures,
                latency_seconds=state.latency_seconds, failures_in_row=state.failures_in_row,
                resting_until=state.resting_until,
            )
        )  # fmt: skip
