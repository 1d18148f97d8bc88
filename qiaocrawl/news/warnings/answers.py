"""What the far side said to a message. Many services refuse with HTTP 200 and a code in the body.

apprise looks at the status only for most of them, so the bodies are read here. A message counts as
delivered where the service says that it took it, or, of a server nobody knows, where nothing it
says is a refusal.
"""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from qiaocrawl.language import N_
from qiaocrawl.news.warnings.guarded import guard_session

if TYPE_CHECKING:
    from requests import Response

REFUSED = N_("refused: {why}")
BUSY = N_("asks to wait: {why}")
UNCLEAR = N_("its answer does not say that it took the message: {why}")
REDIRECTED = N_("redirects elsewhere and drops the message: give the address it redirects to")


class Refusal(NamedTuple):
    """Why a message did not arrive.

    Attributes:
        reason: as it is stored, in English but for what the service says.
        is_final: the service has read the message and does not want it: nothing but an operator
            changes that. Else it is busy or cannot be reached, and takes it later.
        is_busy: it asks to be left alone for a while.
        is_gone: it asks for no more messages, ever.
    """

    reason: str
    is_final: bool = False
    is_busy: bool = False
    is_gone: bool = False


_YES = (0,)
# What the answer of a service says when it took the message: names of its code, and its values.
# Each of the names that is there must have one of the values, and one of them must be there.
_SAYS_YES: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "wecombot": (("errcode",), _YES), "wechat": (("errcode",), _YES),
    "dingtalk": (("errcode",), _YES),
    # StatusCode alone is how Feishu's first robots answered.
    "feishu": (("code", "statuscode"), _YES), "lark": (("code", "statuscode"), _YES),
    "bark": (("code",), (200,)), "pushplus": (("code",), (200,)),
    "schan": (("code", "errno"), _YES), "pushdeer": (("code",), _YES),
    "wpush": (("code",), _YES), "kook": (("code",), _YES),
    "wxpusher": (("code",), (1000,)),
}  # fmt: skip
# Codes of services that are busy or ask too often; a service says "too many" in words as well.
_BUSY_CODES: Mapping[str, frozenset[int]] = {
    "wecombot": frozenset({-1, 45009, 45033}),
    "wechat": frozenset({-1, 45009, 45033}),
    "dingtalk": frozenset({-1, 130101, 410100, 90002, 90018}),
    "feishu": frozenset({11232, 11233, 11247, 99991400}),
    "lark": frozenset({11232, 11233, 11247, 99991400}),
    "pushplus": frozenset({900, 903}),
    "wxpusher": frozenset({1004}),
}
_BUSY_STATUSES = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
_BUSY_WORDS = re.compile(
    r"too (?:many|fast|frequent)|freq(?:uency)?\b|rate.?limit|throttl|quota|system (?:is )?busy|"
    r"try again later|频率|频繁|过快|太快|限流|超限|繁忙|稍后",
    re.IGNORECASE,
)

_ERROR_CODES = frozenset({"errcode", "errno", "errorcode", "statuscode", "retcode", "resultcode"})
_CODES = _ERROR_CODES | {"code", "ret"}
_FLAGS = frozenset({"ok", "success", "succeeded", "issuccess", "accepted"})
_STATES = frozenset({"status", "result", "state", "type"})
_WORDS = ("errmsg", "msg", "message", "statusmessage", "reason", "description", "error", "info")
_YES_WORDS = frozenset(
    {
        "ok",
        "success",
        "successful",
        "succeed",
        "succeeded",
        "done",
        "accepted",
        "成功",
        "发送成功",
        "操作成功",
        "请求成功",
        "推送成功",
    }
)
_NOTHING = frozenset({"", "none", "null", "false", "no", "0"})
_NO_WORD = re.compile(
    r"\W{0,5}(?:err(?:or)?|fail(?:ed|ure)?|denied|forbidden|invalid|reject(?:ed)?|refused|"
    r"unauthori[sz]ed|not (?:ok|found|allowed))\b|.{0,20}(?:失败|错误|无效|未授权|拒绝)",
    re.IGNORECASE | re.DOTALL,
)
_DEEPEST = 3
_READ_CHARS, _TOLD_CHARS = 65_536, 150

_LOGGED_ERROR = re.compile(r"(?:Socket|SMTP) Exception: (.*)", re.DOTALL)


@dataclass(slots=True)
class Heard:
    """What came of what was asked: answers, and errors where there was none."""

    answers: list[Response] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)


_heard: ContextVar[Heard | None] = ContextVar("answers of a message", default=None)


@contextmanager
def heard_answers() -> Iterator[Heard]:
    """All that comes to this thread meanwhile by requests, which apprise sends with."""
    _listen()
    heard = Heard()
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


@cache
def _listen() -> None:
    """Let every session hand on its answers: requests has hooks for one session alone."""
    from requests import Session

    ask = Session.request

    def request(self: Session, *arguments: Any, **named: Any) -> Response:
        guard_session(self)
        heard = _heard.get()
        try:
            answer = ask(self, *arguments, **named)
        except Exception as error:
            if heard is not None:
                heard.errors.append(error)
            raise
        if heard is not None:
            heard.answers.append(answer)
        return answer

    Session.request = request  # type: ignore[method-assign]


class Log:
    """What apprise logs of one message: its first warning, and the error behind it."""

    def __init__(self) -> None:
        self.warning, self.error = "", ""

    @property
    def words(self) -> str:
        """Why the message did not leave; "" where nothing was said."""
        return " ".join(": ".join(filter(None, (self.warning, self.error))).split())

    def note(self, record: logging.LogRecord) -> None:
        """Keep what *record* says of a failure."""
        message = record.getMessage()
        if record.levelno >= logging.WARNING:
            self.warning = self.warning or message
        elif (found := _LOGGED_ERROR.match(message)) is not None:
            self.error = found[1]


_log: ContextVar[Log | None] = ContextVar("log of a message", default=None)


@contextmanager
def heard_log() -> Iterator[Log]:
    """What apprise logs in this thread meanwhile."""
    _listen_to_log()
    log = Log()
    token = _log.set(log)
    try:
        yield log
    finally:
        _log.reset(token)


@cache
def _listen_to_log() -> None:
    """Hear the log of apprise: an error stands there at the level DEBUG alone.

    No such line goes any further, into no log: addresses and whole messages stand there too.
    """
    logger = logging.getLogger("apprise")
    logger.setLevel(logging.DEBUG)

    def hear(record: logging.LogRecord) -> bool:
        if (log := _log.get()) is not None:
            log.note(record)
        return record.levelno >= logging.WARNING

    logger.addFilter(hear)


def refusal_in(answer: Response, service: str, hide: Callable[[str], str] = str) -> Refusal | None:
    """What *answer* says against the message; None where it says that it was taken.

    Args:
        service: the scheme of its address, as apprise has it.
        hide: takes secrets out of what the far side says.
    """
    sent = answer.history[0].request.method if answer.history else answer.request.method
    if answer.request.method != sent:
        return Refusal(REDIRECTED, is_final=True)
    text = answer.text[:_READ_CHARS].strip()
    body = _read(text)
    if not answer.ok:
        said = _words(body) or text if isinstance(body, dict | list) else ""
        return _of_status(
            answer.status_code, hide(_answer_line(f"HTTP {answer.status_code}", said)), said
        )
    known = _SAYS_YES.get(service)
    no = _no_of_service(body, *known) if known is not None else _no(body, text)
    if no is None:
        return None
    code, is_unclear = no
    why = hide(_answer_line(code, _words(body) or text))
    if code.lstrip("-").isdigit() and int(code) in _BUSY_CODES.get(service, ()):
        return Refusal(BUSY.format(why=why), is_busy=True)
    if _BUSY_WORDS.search(why):
        return Refusal(BUSY.format(why=why), is_busy=True)
    return Refusal((UNCLEAR if is_unclear else REFUSED).format(why=why), is_final=True)


def _of_status(status: int, why: str, said: str) -> Refusal:
    if status in _BUSY_STATUSES or _BUSY_WORDS.search(said):
        return Refusal(BUSY.format(why=why), is_busy=True)
    is_final = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return Refusal(REFUSED.format(why=why), is_final=is_final)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _no_of_service(
    body: Any, names: tuple[str, ...], values: tuple[int, ...]
) -> tuple[str, bool] | None:
    """The code of a service that is known where it is none of a yes; whether it is unclear."""
    codes = [value for key, value in _named_values(body) if key in names]
    for value in codes:
        number = _number(value)
        if number not in values:
            return str(value), False
    return None if codes else ("", True)


def _no(body: Any, text: str, depth: int = 0) -> tuple[str, bool] | None:
    """The same of an answer that may be anybody's."""
    if isinstance(body, str) or body is False:
        return ("", False) if body is False or _NO_WORD.match(text) else None
    if isinstance(body, list):
        parts = (_no(one, text, depth + 1) for one in body if isinstance(one, dict | list))
        return next((part for part in parts if part is not None), None)
    if depth > _DEEPEST or not isinstance(body, dict):
        return None
    # Further in, a code may be the code of anything.
    codes = _ERROR_CODES if depth else _CODES
    has_code = any(key in codes and value is not None for key, value in _named_values(body))
    for key, value in _named_values(body):
        if key in codes and not _is_good_code(key, value, body):
            return str(value), False
        if (key in _FLAGS and _is_no(value)) or (key in _STATES and _is_bad_state(value)):
            return ("" if isinstance(value, bool) else str(value)), False
        # Beside a code, errmsg has the words of a success as well.
        is_error = (
            key.startswith("err") and key not in codes and not (has_code and isinstance(value, str))
        )
        if is_error and not _is_no_error(value):
            return "", False
        if isinstance(value, dict | list) and (inner := _no(value, text, depth + 1)) is not None:
            return inner
    return None


def _named_values(body: Any) -> list[tuple[str, Any]]:
    """What an object has, by names in one spelling: errCode, err_code and errcode are one."""
    if not isinstance(body, dict):
        return []
    return [(re.sub("[^a-z]", "", str(key).lower()), value) for key, value in body.items()]


def _number(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,12}", value) else None


def _is_good_code(key: str, value: Any, body: Any) -> bool:
    """Whether a code is one of a yes: 0, or of HTTP; any other where the answer says so in words.

    Servers have 1, 1000 or 20000 for it as well, and others have these for what went wrong.
    """
    if value is None or isinstance(value, bool | dict | list):
        return True
    number = _number(value)
    if number is None:
        word = str(value).strip().replace("_", " ").lower()
        return word in _YES_WORDS if key in _ERROR_CODES else not _NO_WORD.match(word)
    is_good = number == 0 or HTTPStatus.OK <= number < HTTPStatus.MULTIPLE_CHOICES
    return is_good or any(
        (key in _WORDS and str(one).strip(" .!。！").lower() in _YES_WORDS)
        or (key in _FLAGS and one is True)
        for key, one in _named_values(body)
    )


def _is_no(value: Any) -> bool:
    """Whether a flag is down; a service may have a code in place of it."""
    if isinstance(value, str) and value.strip().lower() in ("false", "no"):
        return True
    number = _number(value)
    return value is False or (
        number is not None and (number == 0 or number >= HTTPStatus.BAD_REQUEST)
    )


def _is_bad_state(value: Any) -> bool:
    if isinstance(value, str) and not value.isdigit():
        return _NO_WORD.match(value) is not None
    number = _number(value)
    return number is not None and number >= HTTPStatus.BAD_REQUEST


def _is_no_error(value: Any) -> bool:
    """Whether what stands under "error" says that there is none."""
    if isinstance(value, dict):
        codes = [one for key, one in _named_values(value) if key in _CODES]
        return not value or bool(codes and all(_is_no_error(one) for one in codes))
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING | _YES_WORDS
    return not value


def _words(body: Any) -> str:
    """What an answer says in words, wherever it stands."""
    if isinstance(body, list):
        return next(filter(None, map(_words, body)), "")
    named = dict(_named_values(body))
    for name in _WORDS:
        value = named.get(name)
        if isinstance(value, str) and value.strip():
            return value
    inner = (value for value in named.values() if isinstance(value, dict | list))
    return next(filter(None, map(_words, inner)), "")


def _answer_line(code: str, words: str) -> str:
    """Code and words on one line, cut."""
    return " ".join(f"{code} {words}".split())[:_TOLD_CHARS] or "-"


# --- Long messages in parts that a channel takes: by its bytes, never within a character ----------


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _in_json(text: str) -> int:
    # apprise sends every character beyond ASCII as six bytes, \uXXXX.
    return len(json.dumps(text)) - 2


@dataclass(frozen=True, slots=True)
class Room:
    """How much a channel takes at once, title and text together.

    Attributes:
        measure: how much a text takes of it; what characters take adds up.
    """

    most: int
    measure: Callable[[str], int]


# Those whose services count bytes; all others count characters, as apprise knows.
_ROOMS: Mapping[str, Room] = {
    "wecombot": Room(2_048, _utf8),
    "wechat": Room(2_048, _utf8),
    # Of the whole request, of which some hundred are no text. Feishu says 20 KB in one place and
    # 30 in another.
    "dingtalk": Room(19_500, _in_json),
    "feishu": Room(19_500, _in_json),
    "lark": Room(19_500, _in_json),
    # Apple's, with the rest of the request; beyond it ntfy makes a file of a message.
    "bark": Room(3_500, _utf8),
    "ntfy": Room(4_000, _utf8),
    "schan": Room(32_000, _utf8),
}
# Of the characters a service takes: tags and entities that the text becomes take some.
_SHARE_OF_CHARACTERS = 0.9
# A title is said with each part, but leaves the text so much of the room.
_TITLE_SHARE = 0.25
# What belongs to the character before it.
_JOINED = "\u200d\ufe0e\ufe0f"
# Where to cut rather than anywhere, the best first.
# Full stops of other scripts stand in addresses, too.
_BREAKS = ("\n\n", "\n", "。！？；", "，、 ")


class Part(NamedTuple):
    """A part of a message; ``end`` is the place in the whole text that it goes to."""

    title: str
    text: str
    end: int


def room_of(service: str, most_characters: int, unknown: int) -> Room | None:
    """How much the channel of a service takes at once; None where nobody knows a limit.

    Args:
        most_characters: what apprise says of it.
        unknown: what apprise says where it knows nothing.
    """
    if (room := _ROOMS.get(service)) is not None:
        return room
    if most_characters == unknown:
        return None
    return Room(int(most_characters * _SHARE_OF_CHARACTERS), len)


def parts_of(title: str, text: str, room: Room | None) -> list[Part]:
    """A message in parts that fit, each with the title; numbered where there are several.

    The same message for the same room is the same parts.
    """
    # Title and text are joined by two characters, which take four bytes where they are escaped.
    if room is None or room.measure(title) + room.measure(text) + 4 <= room.most:
        return [Part(title, text, len(text))]
    short = _cut_title(title, room)
    digits = 1
    while True:
        number = "9" * digits
        head = room.measure(f"({number}/{number}) {short}") + 4
        spans = _spans(text, max(room.most - head, 1), room.measure)
        if len(spans) < 10**digits:
            break
        digits += 1
    return [
        Part(f"({place}/{len(spans)}) {short}", text[start:end].strip("\n"), end)
        for place, (start, end) in enumerate(spans, start=1)
    ]


def _cut_title(title: str, room: Room) -> str:
    most = int(room.most * _TITLE_SHARE)
    if room.measure(title) <= most:
        return title
    fitting = _spans(title, most - room.measure("…"), room.measure)[0][1]
    return f"{title[:fitting].rstrip()}…"


def _spans(text: str, most: int, measure: Callable[[str], int]) -> list[tuple[int, int]]:
    """Start and end of parts of *text* that take *most* each, one after another."""
    sizes = list(accumulate(map(measure, text), initial=0))
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        # At least a character, whatever it takes: else there would be no end.
        while end < len(text) and sizes[end + 1] - sizes[start] <= most:
            end += 1
        if end < len(text):
            end = _better_end(text, start, end)
        if text[start:end].strip():
            spans.append((start, end))
        start = end
    # Blank lines alone are no part; the last one goes to the end.
    return [*spans[:-1], (spans[-1][0], len(text))] if spans else [(0, len(text))]


def _better_end(text: str, start: int, end: int) -> int:
    """Where to cut *text* at *end* or somewhat before it."""
    # Half a part at least is used, so that no break makes many small ones.
    least = start + (end - start) // 2
    for marks in _BREAKS:
        found = (marks,) if marks.isspace() else tuple(marks)
        best = max(text.rfind(mark, least, end) + len(mark) for mark in found)
        if best > least:
            return best
    place = end
    while place > least and _belongs_to_before(text, place):
        place -= 1
    return place if place > least else end


def _belongs_to_before(text: str, place: int) -> bool:
    """Whether the sign at *place* is a part of the character before it."""
    sign = text[place]
    return sign in _JOINED or text[place - 1] == "\u200d" or unicodedata.combining(sign) != 0
