"""The proxy pool: chooses a proxy for each host and learns how well each works.

A proxy proves itself on the sites that are to be asked, by use; no third party is asked whether
it lives. Pure: time comes in as an argument, seconds on one clock that never goes back.
"""

from __future__ import annotations

import json
import random
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from qiaocrawl.fetch.addresses import DEFAULT_PORTS
from qiaocrawl.fetch.failure_policy import backoff_seconds
from qiaocrawl.language import _

# --- Proxies as records: read from a list, as vendors give them out, shown without their
# password
# Supported are http and https proxies as HTTP knows them (absolute URLs for http, CONNECT for
# https); a site over https cannot be asked through a proxy that speaks https itself, and SOCKS
# is not spoken at all: its lines are refused by name.

# A name, or an IPv6 address without its brackets.
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MOST_LINES = 100_000
_LONGEST_PART = 255
_BLANK = re.compile(r"\s")
_FORM = "must be http://[USER:PASSWORD@]HOST:PORT"

# host:port:user:password; a name without a dot has a letter that no IPv6 address has.
_HOST_FIRST = re.compile(
    r"\A(\[[0-9a-f:.]+\]|(?=[^:@]*[.g-z])[a-z0-9.-]+):([0-9]{1,5}):([^:@\s]+):([^\s,;|]+)",
    re.IGNORECASE,
)
_LOGIN_FIRST = re.compile(r"\A([^:@\s]+):([^:@\s]+):([a-z0-9.-]*\.[a-z0-9.-]+):([0-9]{1,5})", re.I)
# host:port@user:password
_PLACE_FIRST = re.compile(r"\A([a-z0-9-]+(?:\.[a-z0-9-]+)+:[0-9]{1,5})@([^:@\s]+:[^@\s,;|]+)", re.I)
_PLACE = re.compile(r"(?<![a-z0-9.-])(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+):[0-9]{1,5}", re.IGNORECASE)
_MAY_BE_PROXY = re.compile(
    r"@|[A-Za-z0-9]:[A-Za-z0-9]|^\s*[A-Za-z0-9-]*\.|(?<![0-9.])[0-9]{1,3}\.[0-9.]{1,12}[\s,;|]+[0-9]{2,5}(?![0-9])"
)
_BREAKS = re.compile(r"<[^<>]{0,200}>|\\r\\n|\\n")
_BETWEEN = re.compile(r"[\s,;|，；、]+")
_IP = re.compile(r"\A(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[a-z0-9-]+(?:\.[a-z0-9-]+)+)", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)(?:#|//).*")
# The names of columns and keys, as far as vendors agree.
_KEYS = {
    "host": (
        "host",
        "ip",
        "addr",
        "address",
        "proxy_host",
        "proxy_address",
        "ip_address",
        "server",
    ),
    "port": ("port", "proxy_port"),
    "user": ("user", "username", "user_name", "login", "account", "proxy_user"),
    "password": ("password", "pass", "passwd", "pwd", "proxy_pass", "proxy_password"),
    "scheme": ("scheme", "protocol", "protocols", "proxy_type", "type"),
    "whole": ("proxy", "ipport", "ip_port", "proxy_url", "url"),
}
_NO_SCHEMES = frozenset({"elite", "anonymous", "transparent", "high", "dc", "residential"})
_SCHEMES = frozenset({"http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"})
_WORDS = (
    "msg",
    "message",
    "errmsg",
    "error_msg",
    "error",
    "detail",
    "info",
    "reason",
    "description",
    "result",
)
_CODES = ("code", "errcode", "errorcode", "error_code", "status", "ret")
_MOST_DEEP = 6
_SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. ``str()`` and ``repr()`` show no password.

    Attributes:
        user: the user name to log in with; "" where it needs no login.
        password: never shown.
    """

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.origin

    @property
    def origin(self) -> str:
        """Scheme, host and port: all of it that may be logged."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def secret_url(self) -> str:
        """The URL with user and password; for nobody but Scrapy's proxy middleware."""
        if not self.user:
            return self.origin
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return self.origin.replace("://", f"://{login}@", 1)

    def serves(self, scheme: str) -> bool:
        """Whether sites of *scheme* can be asked through it."""
        return self.scheme == "http" or scheme == "http"


def parse_proxy(text: str, environment: Mapping[str, str]) -> Proxy:
    """Read ``[http://][USER:PASSWORD@]HOST:PORT``, or what vendors write for it.

    That is HOST:PORT:USER:PASSWORD, USER:PASSWORD:HOST:PORT or HOST:PORT@USER:PASSWORD.

    Args:
        environment: fills ``${NAME}``, so that a file need not hold passwords.

    Raises:
        ValueError: says what is wrong, without showing user or password.
    """
    filled = _VARIABLE.sub(lambda match: _variable(match[1], environment), text.strip())
    # rpartition: a password may hold "://".
    scheme, _sign, rest = filled.rpartition("://")
    scheme = scheme.lower() or "http"
    if scheme not in DEFAULT_PORTS:
        if not _SCHEME.fullmatch(scheme):
            # Whatever stands there, such as USER:PASSWORD before the scheme, is not shown.
            raise ValueError(_FORM)
        raise ValueError(f"{scheme} proxies are not supported, http and https ones are")
    # rpartition: a user name may be a mail address with an "@".
    login, _sign, place = _usual(rest.rstrip("/")).rpartition("@")
    try:
        parts = urlsplit(f"//{place}")
        host, port = (parts.hostname or ""), parts.port
    except ValueError:
        host, port = "", None
    # A blank is a column's end; urlsplit() would join what stands around a tab.
    if not _HOST.fullmatch(host) or parts.path.strip("/") or parts.query or _BLANK.search(place):
        raise ValueError(_FORM)
    user, _sign, password = login.partition(":")
    user, password = unquote(user), unquote(password)
    if max(len(user), len(password), len(host)) > _LONGEST_PART:
        raise ValueError("host, user or password is too long")
    return Proxy(scheme, host, port or DEFAULT_PORTS[scheme], user, password)


def _usual(rest: str) -> str:
    """*rest* of a line behind the scheme as USER:PASSWORD@HOST:PORT, whatever its order."""
    if match := _HOST_FIRST.fullmatch(rest):
        host, port, user, password = match.groups()
    elif match := _LOGIN_FIRST.fullmatch(rest):
        user, password, host, port = match.groups()
    elif match := _PLACE_FIRST.fullmatch(rest):
        place, login = match.groups()
        # Both may look like a host: the usual order counts then.
        return rest if "." in login and _PLACE.fullmatch(login) else f"{login}@{place}"
    else:
        return rest
    return f"{user}:{password}@{host}:{port}"


def _variable(name: str, environment: Mapping[str, str]) -> str:
    if name not in environment:
        raise ValueError(f"there is no environment variable {name}")
    # Quoted: the environment holds the password as it is, and the URL is unquoted below.
    return quote(environment[name], safe="")


@dataclass(frozen=True, slots=True)
class ProxyList:
    """What a list held; ``faults`` say line and reason of what could not be used."""

    proxies: tuple[Proxy, ...]
    faults: tuple[str, ...] = ()


def list_text(body: bytes) -> str:
    """The text of a list; files and answers of Windows may be in GBK or UTF-16."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("gb18030", "replace")


def parse_list(text: str, environment: Mapping[str, str]) -> ProxyList:
    """Read a list: a proxy a line (``#`` begins a comment), a table, or JSON.

    Further columns of a line are left out, but not what may be a login. JSON is a list of strings,
    or of objects with ``host`` or ``ip``, ``port`` and perhaps ``scheme``, ``user``, ``password``,
    however deep it stands. Where there is no proxy, the fault is what the vendor says instead.
    The same proxy counts once. Never raises.
    """
    parsed: dict[Proxy, None] = {}
    faults = []
    entries, said = _entries(text)
    for number, entry in entries:
        try:
            for proxy in _proxies_of(entry, environment):
                parsed.setdefault(proxy)
        except ValueError as error:
            faults.append(f"line {number}: {error}")
    if not parsed and said:
        faults.insert(0, said)
    return ProxyList(tuple(parsed), tuple(faults))


# parsed is a dict: the order of the list is kept, doubles count once.


_Entry = str | Mapping[str, object]


def _entries(text: str) -> tuple[list[tuple[int, _Entry]], str]:
    """The entries of a list with their numbers, and what else it says."""
    # A byte order mark stands at the beginning of files written on Windows.
    bare = text.replace("\ufeff", "").replace("\xa0", " ").strip("\0 \t\r\n")
    if bare[:1] in ("{", "["):
        try:
            return _json_entries(json.loads(bare))
        except (ValueError, RecursionError):
            # Else a line of an IPv6 address, or an object a line.
            if not re.match(r"\[[0-9a-fA-F:.]+\]:|\{.*\},?[ \t]*\r?\n", bare):
                return [], _("it begins like JSON but is none")
    is_page = bool(re.match(r"(?i)<(?:!doctype|html|head|body|\?xml)\b", bare))
    # Not splitlines() alone: <br> and a written \\n stand for a line's end too.
    lines = [
        _COMMENT.sub("", line).strip(" \t\"',;") for line in _BREAKS.sub("\n", bare).splitlines()
    ]
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line][:_MOST_LINES]
    if is_page:
        # Its words are none of a list's.
        numbered = [(number, line) for number, line in numbered if _PLACE.fullmatch(line)]
        return list(numbered), "" if numbered else _("it is a web page, no list")
    if numbered and (names := _names_of_columns(numbered[0][1])):
        return [
            (number, dict(zip(names, _cells(line), strict=False))) for number, line in numbered[1:]
        ], ""
    entries: list[tuple[int, _Entry]] = [(number, _object(line)) for number, line in numbered]
    return entries, _sentence(lines) if entries else _("the list is empty")


def _names_of_columns(line: str) -> list[str]:
    names = [name.lower() for name in _cells(line)]
    has = {kind for kind, known in _KEYS.items() if any(name in known for name in names)}
    return names if {"host", "port"} <= has else []


def _cells(line: str) -> list[str]:
    return [cell.strip("\"'") for cell in re.split(r"[,;|，；\t]| +", line)]


def _object(line: str) -> _Entry:
    """*line*, as an object where each line is one in JSON."""
    if line.startswith("{"):
        try:
            value = json.loads(line.rstrip(","))
        except (ValueError, RecursionError):
            return line
        return value if isinstance(value, dict) else line
    return line


def _json_entries(value: object) -> tuple[list[tuple[int, _Entry]], str]:
    found = _list_in(value, 0)
    entries: list[tuple[int, _Entry]] = []
    for number, entry in enumerate(found[:_MOST_LINES], 1):
        entries.append((number, entry if isinstance(entry, dict) else str(entry)))
    return entries, _refusal(value) or ("" if entries else _("the list is empty"))


def _list_in(value: object, deep: int) -> list[object]:
    """The first list of proxies in *value*; [] for none."""
    if deep > _MOST_DEEP:
        return []
    if isinstance(value, dict):
        if _place_of(value):
            return [value]
        for one in value.values():
            if isinstance(one, str) and _PLACE.search(one) and "://" not in one[:8]:
                # All of a list in one text.
                return [line for line in _BREAKS.sub("\n", one).splitlines() if line.strip()]
            if isinstance(one, dict | list) and (found := _list_in(one, deep + 1)):
                return found
        return []
    if not isinstance(value, list):
        return []
    if value and all(isinstance(one, dict) and not _place_of(one) for one in value):
        return next((found for one in value if (found := _list_in(one, deep + 1))), value)
    return value


def _values(entry: Mapping[str, object], kind: str) -> Iterator[str]:
    """What *entry* says under the names of *kind*, the usual name first."""
    lowered = {str(key).lower(): value for key, value in entry.items()}
    for name in _KEYS[kind]:
        value = lowered.get(name)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            yield str(value).strip()


def _first_value(entry: Mapping[str, object], kind: str) -> str:
    return next(_values(entry, kind), "")


def _place_of(entry: Mapping[str, object]) -> str:
    """HOST:PORT of an object; "" where it has none."""
    host, port = _first_value(entry, "host"), _first_value(entry, "port")
    if host and port and (":" not in host or "://" in host):
        return f"{host.rstrip('/')}:{port}"
    if host and port and "." not in host:
        return f"[{host.strip('[]')}]:{port}"
    whole = _first_value(entry, "whole") or host
    return whole if _PLACE.search(whole) else ""


def _proxies_of(entry: _Entry, environment: Mapping[str, str]) -> Iterator[Proxy]:
    if not isinstance(entry, str):
        yield _of_object(entry, environment)
        return
    try:
        yield parse_proxy(entry, environment)
        return
    except ValueError as error:
        fields = [text for field in _BETWEEN.split(entry) if (text := field.strip("\"'"))]
        at = next((n for n, field in enumerate(fields) if _is_place(fields, n)), None)
        if len(fields) < 2 or at is None:
            raise ValueError(str(error)) from None
    first, rest = fields[at], [*fields[:at], *fields[at + 1 :]]
    if not _PLACE.search(first):
        first, rest = f"{first}:{rest[at]}", [*rest[:at], *rest[at + 1 :]]
    proxies = [field for field in rest if _PLACE.fullmatch(field) and "." in field]
    _refuse_login(first, [field for field in rest if field not in proxies])
    scheme = next((field.lower() for field in rest if field.lower() in _SCHEMES), "")
    if scheme and "://" not in first:
        first = f"{scheme}://{first}"
    for one in (first, *proxies):
        yield parse_proxy(one, environment)


def _is_place(fields: list[str], at: int) -> bool:
    """Whether a proxy begins with field *at*: HOST:PORT with or without a login, or HOST, PORT."""
    if _PLACE.search(fields[at]):
        return True
    following = fields[at + 1] if at + 1 < len(fields) else ""
    return bool(_IP.fullmatch(fields[at])) and following.isdigit()


def _refuse_login(first: str, columns: list[str]) -> None:
    """Refuse columns that may be user and password: without them the proxy answers nothing."""
    unclear = [column for column in columns if _may_be_login(column)]
    has_login = "@" in first or first.count(":") > 2
    # Behind a login, what may be the rest of a password that has a comma in it.
    if (has_login and unclear) or (len(columns) == len(unclear) == 2):
        raise ValueError(
            _(
                "whether the two last columns are user and password is not clear: write "
                "HOST:PORT:USER:PASSWORD, or ip,port,user,password as the first line"
            )
        )


def _may_be_login(column: str) -> bool:
    is_known = column.lower() in _SCHEMES | _NO_SCHEMES or re.fullmatch(r"[A-Z]{2}", column)
    return column.isascii() and not is_known and not re.fullmatch(r"[\d.:/-]+", column)


def _of_object(entry: Mapping[str, object], environment: Mapping[str, str]) -> Proxy:
    place = _place_of(entry)
    # "type" may also say how much is hidden.
    schemes = [one.lower() for one in _values(entry, "scheme") if one.lower() in _SCHEMES]
    user, password = (quote(_first_value(entry, kind), safe="") for kind in ("user", "password"))
    if not place:
        raise ValueError("host and port must be given")
    login = f"{user}:{password}@" if user and "@" not in place else ""
    if "://" in place:
        return parse_proxy(place.replace("://", f"://{login}", 1), environment)
    return parse_proxy(f"{schemes[0] if schemes else 'http'}://{login}{place}", environment)


# --- what a vendor says instead of a list ---------------------------------------------------------


def refusal_in(text: str) -> str:
    """What a vendor's answer without proxies says, in its own words; "" for nothing."""
    found = parse_list(text, {})
    return "" if found.proxies or not found.faults else found.faults[0]


def _refusal(value: object) -> str:
    words = dict(_texts(value, _WORDS, 0))
    codes = dict(_texts(value, _CODES, 0))
    said = next((words[name] for name in _WORDS if name in words), "")
    code = next((codes[name] for name in _CODES if name in codes), "")
    if not said:
        return _("the vendor gives no proxy: code {code}", code=code) if code else ""
    shown = _cut_line(said)
    if code:
        return _("the vendor says: {words} (code {code})", words=shown, code=code)
    return _("the vendor says: {words}", words=shown)


def _texts(value: object, names: Iterable[str], deep: int) -> Iterator[tuple[str, str]]:
    """Texts of *value* under *names*; the outer ones win in a dictionary made of it."""
    if not isinstance(value, dict) or deep > _MOST_DEEP:
        return
    for one in value.values():
        yield from _texts(one, names, deep + 1)
    for key, one in value.items():
        if str(key).lower() in names and isinstance(one, str | int) and str(one).strip():
            yield str(key).lower(), str(one)


def _sentence(lines: Iterable[str]) -> str:
    """The first line that is words and no proxy: nothing of it can be a login."""
    for line in lines:
        is_words = not line.isascii() or " " in line
        # An address in front, or with a port anywhere: a proxy, whose login may stand there too.
        if is_words and not _MAY_BE_PROXY.search(line):
            return _("the vendor says: {words}", words=_cut_line(line))
    return ""


def _cut_line(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"


# --- The proxy pool: chooses a proxy for each host and learns how well each works -----------------

# What a result still weighs after the next one **(ours)**: about the last twenty count.
_DECAY = 0.9
LONGEST_PAUSE_SECONDS = 3600.0
_BUSY_SECONDS = 0.2
_MINUTE = 60.0
# Hosts remembered of one proxy, and of the pool; the oldest are forgotten first.
_MOST_HOSTS = 10_000
# Latency that halves a proxy's score **(ours)**: the proxy answers, but costs time.
_SLOW_SECONDS = 5.0
# Hosts without an answer through a proxy before the proxy is at fault, not the hosts.
_DOUBTS = 3


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """What one proxy is asked for at most.

    Attributes:
        at_once: requests under way.
        per_minute: requests begun within any minute; 0 = no limit.
        first_pause_seconds: rest after a failure; four times as long after each further one in
            a row, at most an hour.
    """

    at_once: int = 4
    per_minute: int = 0
    first_pause_seconds: float = 60.0


@dataclass(slots=True)
class ProxyState:
    """What is known of one proxy.

    Attributes:
        successes, failures: decayed counts.
        latency_seconds: decayed mean of answers that came; 0 before the first.
        failures_in_row: since the last success.
        resting_until: it is not used before.
        blocked_until: hosts that cannot be asked through it, and until when it keeps off them.
        blocks_in_row: by host.
        doubts: hosts that could not be asked through it since its last success.
    """

    successes: float = 0.0
    failures: float = 0.0
    latency_seconds: float = 0.0
    failures_in_row: int = 0
    resting_until: float = 0.0
    blocked_until: dict[str, float] = field(default_factory=dict)
    blocks_in_row: dict[str, int] = field(default_factory=dict)
    doubts: set[str] = field(default_factory=set)
    under_way: int = 0
    begun: deque[float] = field(default_factory=deque)

    @property
    def score(self) -> float:
        """Success share with a prior of one success in two, halved by slow answers; in (0, 1).

        **(ours)**: (successes + 1) / (successes + failures + 2) / (1 + latency / 5 s).
        """
        share = (self.successes + 1) / (self.successes + self.failures + 2)
        return share / (1 + self.latency_seconds / _SLOW_SECONDS)

    def note(self, *, good: bool) -> None:
        """Count a result; earlier ones weigh less now."""
        self.successes = self.successes * _DECAY + good
        self.failures = self.failures * _DECAY + (not good)


class ProxyPool:
    """Proxies with their scores, and the one each host keeps (sticky).

    Args:
        draw: chooses among the usable ones, better scores more often; seeded in tests.
    """

    def __init__(self, limits: ProxyLimits, draw: random.Random) -> None:
        self._limits = limits
        self._draw = draw
        self.states: dict[Proxy, ProxyState] = {}
        self._kept: dict[str, Proxy] = {}

    def replace(
        self, proxies: Iterable[Proxy], known: Mapping[Proxy, ProxyState] | None = None
    ) -> None:
        """The pool is *proxies* now; those that stay keep what is known of them.

        Args:
            known: what an earlier run knew of new ones.
        """
        earlier = {**(known or {}), **self.states}
        # What was seen in this run beats what an earlier run stored.
        self.states = {proxy: earlier.get(proxy) or ProxyState() for proxy in proxies}
        # A host whose proxy is gone gets another one.
        self._kept = {host: proxy for host, proxy in self._kept.items() if proxy in self.states}

    def alive(self, now: float) -> int:
        """How many are not resting."""
        return sum(state.resting_until <= now for state in self.states.values())

    def take(
        self, host: str, scheme: str, now: float, avoid: Collection[Proxy] = ()
    ) -> Proxy | None:
        """The proxy for a request of *host*, in use until :meth:`release`.

        A host keeps its proxy as long as it is usable, even while it is at its limits: a
        session must not change its address only to save a short wait.

        Args:
            scheme: of the site.
            avoid: proxies this request has been through already; used again only where there
                is no other one.

        Returns:
            None when none may be used now; :meth:`wait_seconds` says for how long.
        """
        proxy = self._kept.get(host)
        # Also where the kept one must be avoided: this request has failed through it.
        if proxy is None or proxy in avoid or not self._serves(proxy, host, scheme, now):
            proxy = self._choose(host, scheme, now, avoid)
            if proxy is None:
                return None
            self._keep(host, proxy)
        if self._full(proxy, now):
            return None
        state = self.states[proxy]
        state.under_way += 1
        # Only with a limit: without one the deque would grow for ever.
        if self._limits.per_minute:
            state.begun.append(now)
        return proxy

    def release(self, proxy: Proxy) -> None:
        """The request that took *proxy* is over, whatever came of it."""
        state = self.states.get(proxy)
        if state is not None and state.under_way:
            state.under_way -= 1

    def wait_seconds(self, host: str, scheme: str, now: float) -> tuple[float, bool]:
        """How long until a proxy may be used for *host*, and whether all of them rest.

        Returns:
            Seconds, and False where it is only a limit that has to be waited for. An empty
            pool, or none that serves *scheme*, is an hour's wait.
        """
        ends = [
            max(state.resting_until, state.blocked_until.get(host, 0.0))
            for proxy, state in self.states.items()
            if proxy.serves(scheme)
        ]
        if not ends:
            return LONGEST_PAUSE_SECONDS, True
        left = min(ends) - now
        return (left, True) if left > 0 else (_BUSY_SECONDS, False)

    # --- what became of it -----------------------------------------------------------------

    def note_answer(self, proxy: Proxy, host: str, latency_seconds: float) -> None:
        """*host* answered through *proxy* as it should."""
        state = self.states.get(proxy)
        if state is None:
            return
        state.note(good=True)
        # The first latency counts whole.
        old = state.latency_seconds or latency_seconds
        state.latency_seconds = old * _DECAY + latency_seconds * (1 - _DECAY)
        state.failures_in_row = 0
        state.blocks_in_row.pop(host, None)
        # It works: what did not answer was the host.
        state.doubts.clear()

    def note_failure(self, proxy: Proxy, now: float) -> None:
        """*proxy* could not be reached, refused us or broke off: it rests."""
        state = self.states.get(proxy)
        if state is None:
            return
        state.note(good=False)
        if state.resting_until > now:
            # Requests that were under way together fail together and count once.
            return
        state.failures_in_row += 1
        state.doubts.clear()
        state.resting_until = now + self._pause(state.failures_in_row)

    def note_block(self, proxy: Proxy, host: str, now: float) -> None:
        """*host* blocks us through *proxy*, which keeps off that host and serves others."""
        state = self.states.get(proxy)
        if state is None:
            return
        state.note(good=False)
        row = state.blocks_in_row[host] = state.blocks_in_row.get(host, 0) + 1
        state.blocked_until[host] = now + self._pause(row)
        # The oldest goes: a host that is forgotten is tried through it again.
        for table in (state.blocked_until, state.blocks_in_row):
            while len(table) > _MOST_HOSTS:
                del table[next(iter(table))]

    def note_no_answer(self, proxy: Proxy, host: str, now: float) -> None:
        """*host* did not answer through *proxy*; which of them is at fault cannot be seen.

        A dead host must not wear out all proxies, so the proxy keeps off this host only, until
        other hosts do not answer through it either.
        """
        state = self.states.get(proxy)
        if state is None:
            return
        state.doubts.add(host)
        if len(state.doubts) >= _DOUBTS:
            self.note_failure(proxy, now)
        else:
            self.note_block(proxy, host, now)

    def _pause(self, row: int) -> float:
        # Capped: 4^30 exceeds the hour for any first pause, and a float holds it.
        pause = backoff_seconds(min(row, 30), self._limits.first_pause_seconds)
        return min(pause, LONGEST_PAUSE_SECONDS)

    # --- choosing ---------------------------------------------------------------------------

    def _choose(self, host: str, scheme: str, now: float, avoid: Collection[Proxy]) -> Proxy | None:
        usable = [proxy for proxy in self.states if self._serves(proxy, host, scheme, now)]
        # Those this request has not tried, unless it has tried all; then those not busy,
        # unless all are.
        fresh = [proxy for proxy in usable if proxy not in avoid] or usable
        free = [proxy for proxy in fresh if not self._full(proxy, now)] or fresh
        if not free:
            return None
        # Squared: a proxy twice as good is drawn four times as often (ours).
        weights = [self.states[proxy].score ** 2 for proxy in free]
        return self._draw.choices(free, weights)[0]

    def _serves(self, proxy: Proxy, host: str, scheme: str, now: float) -> bool:
        state = self.states.get(proxy)
        if state is None or not proxy.serves(scheme):
            return False
        return max(state.resting_until, state.blocked_until.get(host, 0.0)) <= now

    def _full(self, proxy: Proxy, now: float) -> bool:
        state, limit = self.states[proxy], self._limits.per_minute
        # Only the last minute counts.
        while state.begun and state.begun[0] <= now - _MINUTE:
            state.begun.popleft()
        return state.under_way >= self._limits.at_once or bool(limit and len(state.begun) >= limit)

    def _keep(self, host: str, proxy: Proxy) -> None:
        # Re-inserted: the host that was asked longest ago is forgotten first.
        self._kept.pop(host, None)
        self._kept[host] = proxy
        while len(self._kept) > _MOST_HOSTS:
            del self._kept[next(iter(self._kept))]
