"""The forms a page's other addresses take: http, mobile, print, with or without ``www.``.

A :class:`Step` leads from such an address one step nearer to the page's plain one. Which steps
hold for a host has to be learnt (:mod:`qiaocrawl.urls.aliases`); here is only what a step
may be at all. All steps keep the registrable domain. They end https, with fewer labels in the
host, fewer segments, a shorter file name or fewer parameters; only a host with and without
``www.`` can stand for each other. **(ours)**

URLs are canonical ones here, going in and coming out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from qiaocrawl.urls.canonical import canonical_url
from qiaocrawl.urls.hosts import registrable_domain

_WWW = "www"
# "m.a.com", "wap.a.com"
_MOBILE_LABELS = frozenset(("m", "wap", "mobile", "3g", "touch", "h5", "amp", "print"))
_PRINT = ("print", "printer", "printable", "printpage", "printview", "printfriendly")
_MOBILE = ("mobile", "wap", "amp", "touch", "h5", "3g")
_SEGMENTS = frozenset((*_PRINT, *_MOBILE, "m"))
# "1_print.html", "story-amp"
_SUFFIX = re.compile(
    rf"(?P<stem>.+)(?P<suffix>[_.-](?:{'|'.join(sorted(_SEGMENTS))}))(?P<ending>\.\w{{1,5}})?",
    re.ASCII | re.IGNORECASE,
)
_PIECE = re.compile("[/._-]")
# "?print=1", "?ismobile=true", "?is_amp"
_SWITCHES = frozenset(
    (*_SEGMENTS, *(f"is{word}" for word in _MOBILE), *(f"is_{word}" for word in _MOBILE))
)
_SWITCHED_ON = frozenset(("", "1", "true", "yes", "on", "y"))
# "?view=print", "?format=amp"
_VALUES = frozenset((*_PRINT, *_MOBILE))
# Where the reader came from: the canonical form keeps it, since it might choose a page.
_CAME_FROM = frozenset(("from", "ref", "refer", "referer", "referrer", "source", "src"))
_MAX_PIECE_CHARS = 64
# Longer addresses, and more marks in one query, are left as they are: hostile ones would cost
# seconds, since every step reads the whole address.
_MAX_URL_CHARS = 512
_MAX_PIECES = 8
# Two path forms at once (/amp/1_print.html) are seen at times, more are not.
_MAX_PATH_STEPS = 3


class Step(NamedTuple):
    """One step: ``kind`` says what changes, ``word`` which.

    ``https`` (http becomes https), ``host`` (*word* becomes the host), ``first`` and ``last``
    (the first or last segment of the path, *word*, goes), ``suffix`` (*word* at the end of a
    file's name goes), ``parameter`` (*word*, a ``name=value`` of the query, goes).
    """

    kind: str
    word: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.word}".rstrip()


HTTPS = Step("https")


class _Parts(NamedTuple):
    scheme: str
    host: str
    path: str
    query: str


def _split(url: str) -> _Parts:
    scheme, _, rest = url.partition("://")
    host, _, tail = rest.partition("/")
    path, _, query = tail.partition("?")
    return _Parts(scheme, host, f"/{path}", query)


def _join_parts(parts: _Parts) -> str:
    scheme, host, path, query = parts
    return f"{scheme}://{host}{path}{'?' if query else ''}{query}"


def is_front(url: str) -> bool:
    """Whether *url* is the front page of its host."""
    _, _, path, query = _split(url)
    return path == "/" and not query


def take(step: Step, url: str) -> str | None:
    """Where *step* leads from *url*; None when it does not apply.

    Never from another page to a front page, and never from a mobile host's front page to
    another host: that is an index of its own.
    """
    without = _take_step(step, _split(url))
    if without is None:
        return None
    new = _join_parts(without)
    if step.kind == "host":
        leads_home = is_front(url) and _is_mobile(_split(url).host)
    else:
        leads_home = is_front(new) and not is_front(url)
    # What is left of a path may be a dot segment: such an address is none.
    return None if leads_home or canonical_url(new) != new else new


def possible_steps(url: str) -> tuple[Step, ...]:
    """All steps that apply to *url*, those of scheme, path and query before those of the host."""
    if len(url) > _MAX_URL_CHARS:
        return ()
    parts = _split(url)
    steps = [HTTPS, *_path_steps(parts.path)]
    pieces = dict.fromkeys(_version_pieces(parts.query))
    steps += [Step("parameter", piece) for piece in islice(pieces, _MAX_PIECES)]
    steps += [Step("host", host) for host in other_hosts(parts.host)]
    return tuple(step for step in steps if take(step, url) is not None)


def steps_between(url: str, preferred: str) -> tuple[Step, ...] | None:
    """The steps from *url* to *preferred*; () for the same, None when no steps lead there."""
    if is_front(preferred) != is_front(url) or len(url) > _MAX_URL_CHARS:
        return None
    ours, theirs = _split(url), _split(preferred)
    steps: list[Step] = []
    if ours.scheme != theirs.scheme:
        if theirs.scheme != "https":
            return None
        steps.append(HTTPS)
    path = _path_between(ours.path, theirs.path, _MAX_PATH_STEPS)
    query = _query_between(ours.query, theirs.query)
    if path is None or query is None:
        return None
    steps += [*path, *query]
    if ours.host != theirs.host:
        if theirs.host not in other_hosts(ours.host):
            return None
        steps.append(Step("host", theirs.host))
    return tuple(steps)


def identity(url: str) -> str:
    """What all versions of a page have in common; to be compared, not fetched.

    The same for *url* and for wherever any step leads from it.
    """
    if len(url) > 2 * _MAX_URL_CHARS:  # a step may add "www."
        return url
    _, host, path, query = _split(url)
    while shorter := next(filter(None, (_path_taken(s, path) for s in _path_steps(path))), ""):
        path = shorter
    pieces = [piece for piece in query.split("&") if not _is_version(piece)]
    return f"{_bare_host(host)}{path}?{'&'.join(pieces)}"


def plainness(url: str) -> tuple[int, int, int, str]:
    """Sorts the addresses of one page: the plainest, which a reader would be given, comes first.

    >>> min(["http://a.cn/print/1.html", "http://a.cn/1.html?from=hot", "http://a.cn/1.html"],
    ...     key=plainness)
    'http://a.cn/1.html'
    """
    _, host, path, query = _split(url)
    words = _PIECE.split(path.lower())
    marks = _is_mobile(host) + sum(word in _SEGMENTS for word in words)
    return marks + len(_version_pieces(query)), len(query), len(url), url


# --- hosts ----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def other_hosts(host: str) -> tuple[str, ...]:
    """Hosts that *host* may be another name of, all of the same registrable domain.

    For a mobile host: the host without its first label, and with ``www.`` instead of it. For
    any other: the host with ``www.`` added or removed.
    """
    label, _, rest = host.partition(".")
    if _is_mobile(host):
        # m.www.a.com can only be www.a.com.
        hosts = (rest,) if rest.startswith(f"{_WWW}.") else (rest, f"{_WWW}.{rest}")
    else:
        hosts = (rest,) if label == _WWW else (f"{_WWW}.{host}",)
    domain = registrable_domain(host)
    # "www.com" is registered itself: "com" is not another name of it.
    return tuple(other for other in hosts if other and registrable_domain(other) == domain)


def _is_mobile(host: str) -> bool:
    return host.partition(".")[0] in _MOBILE_LABELS


@lru_cache(maxsize=4096)
def _bare_host(host: str) -> str:
    domain = registrable_domain(host)
    while True:
        label, _, rest = host.partition(".")
        if label not in _MOBILE_LABELS and label != _WWW:
            return host
        # wap.cn is a registered domain of its own, not the mobile host of "cn".
        if registrable_domain(rest) != domain:
            return host
        host = rest


# --- paths and queries ----------------------------------------------------------------------


def _path_steps(path: str) -> Iterator[Step]:
    segments = path[1:].split("/")
    if segments[0].lower() in _SEGMENTS:
        yield Step("first", segments[0])
    # "/a/print/" is "/a/print".
    last = segments[-2] if len(segments) > 1 and not segments[-1] else segments[-1]
    if last.lower() in _SEGMENTS:
        yield Step("last", last)
    if name := _SUFFIX.fullmatch(segments[-1]):
        yield Step("suffix", name["suffix"])


def _path_taken(step: Step, path: str) -> str | None:
    kind, word = step
    if kind == "first":
        return path[len(word) + 1 :] if path.startswith(f"/{word}/") else None
    if kind == "last":
        slash = "/" if path.endswith(f"/{word}/") else ""
        if not path.endswith(f"/{word}{slash}"):
            return None
        return path[: -len(word) - 1] or "/"
    folder, _, file = path.rpartition("/")
    name = _SUFFIX.fullmatch(file)
    if name is None or name["suffix"] != word:
        return None
    return f"{folder}/{name['stem']}{name['ending'] or ''}"


def _path_between(path: str, target: str, steps_left: int) -> tuple[Step, ...] | None:
    if path == target:
        return ()
    if not steps_left or len(path) <= len(target):
        return None
    # Few branches: at most three forms apply to a path, at most _MAX_PATH_STEPS times.
    for step in _path_steps(path):
        shorter = _path_taken(step, path)
        rest = _path_between(shorter, target, steps_left - 1) if shorter is not None else None
        if rest is not None:
            return (step, *rest)
    return None


def _version_pieces(query: str) -> list[str]:
    return [piece for piece in query.split("&") if piece and _is_version(piece)]


def _is_version(piece: str) -> bool:
    """Whether ``name=value`` may say how a page is shown, or where its reader came from."""
    if len(piece) > _MAX_PIECE_CHARS:
        return False
    name, _, value = piece.lower().partition("=")
    if name in _SWITCHES and value in _SWITCHED_ON:
        return True
    return value in _VALUES or name in _CAME_FROM


def _query_between(query: str, target: str) -> tuple[Step, ...] | None:
    target_pieces = target.split("&") if target else []
    dropped = dict.fromkeys(piece for piece in _version_pieces(query) if piece not in target_pieces)
    rest = [piece for piece in query.split("&") if piece and piece not in dropped]
    return tuple(Step("parameter", piece) for piece in dropped) if rest == target_pieces else None


def _take_step(step: Step, parts: _Parts) -> _Parts | None:
    kind, word = step
    if kind == "https":
        return parts._replace(scheme="https") if parts.scheme == "http" else None
    if kind == "host":
        return parts._replace(host=word) if word in other_hosts(parts.host) else None
    if kind == "parameter":
        pieces = parts.query.split("&")
        if word not in pieces or not _is_version(word):
            return None
        return parts._replace(query="&".join(piece for piece in pieces if piece != word))
    path = _path_taken(step, parts.path)
    return None if path is None else parts._replace(path=path)
