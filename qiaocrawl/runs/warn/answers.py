"""What the far side said to a message. Many services refuse with HTTP 200 and a code in the body.

apprise looks at the status only for most of them, so the bodies are read here. A message counts as
delivered where the service says that it took it, or, of a server nobody knows, where nothing it
says is a refusal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from qiaocrawl.language import N_

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
    """

    reason: str
    is_final: bool = False
    is_busy: bool = False


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
    "wecombot": frozenset({-1, 45009, 45033}), "wechat": frozenset({-1, 45009, 45033}),
    "dingtalk": frozenset({-1, 130101, 410100, 90002, 90018}),
    "feishu": frozenset({11232, 11233, 11247, 99991400}),
    "lark": frozenset({11232, 11233, 11247, 99991400}),
    "pushplus": frozenset({900, 903}), "wxpusher": frozenset({1004}),
}  # fmt: skip
_BUSY_STATUSES = (
    HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS,
)  # fmt: skip
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
_YES_WORDS = frozenset({"ok", "success", "successful", "succeed", "succeeded", "done", "accepted",
                        "成功", "发送成功", "操作成功", "请求成功", "推送成功"})  # fmt: skip
_NOTHING = frozenset({"", "none", "null", "false", "no", "0"})
_NO_WORD = re.compile(
    r"\W{0,5}(?:err(?:or)?|fail(?:ed|ure)?|denied|forbidden|invalid|reject(?:ed)?|refused|"
    r"unauthori[sz]ed|not (?:ok|found|allowed))\b|.{0,20}(?:失败|错误|无效|未授权|拒绝)",
    re.IGNORECASE | re.DOTALL,
)
_DEEPEST = 3
_READ_CHARS, _TOLD_CHARS = 65_536, 150

_heard: ContextVar[list[Response] | None] = ContextVar("answers of a message", default=None)


@contextmanager
def heard_answers() -> Iterator[list[Response]]:
    """All answers that come to this thread meanwhile by requests, which apprise sends with."""
    _listen()
    answers: list[Response] = []
    token = _heard.set(answers)
    try:
        yield answers
    finally:
        _heard.reset(token)


@cache
def _listen() -> None:
    """Let every session hand on its answers: requests has hooks for one session alone."""
    from requests import Session

    ask = Session.request

    def request(self: Session, *arguments: Any, **named: Any) -> Response:
        answer = ask(self, *arguments, **named)
        if (heard := _heard.get()) is not None:
            heard.append(answer)
        return answer

    Session.request = request  # type: ignore[method-assign]


def refusal_in(answer: Response, service: str) -> Refusal | None:
    """What *answer* says against the message; None where it says that it was taken.

    Args:
        service: the scheme of its address, as apprise has it.
    """
    sent = answer.history[0].request.method if answer.history else answer.request.method
    if answer.request.method != sent:
        return Refusal(REDIRECTED, is_final=True)
    text = answer.text[:_READ_CHARS].strip()
    body = _read(text)
    if not answer.ok:
        said = _words(body) or text if isinstance(body, dict | list) else ""
        return _of_status(answer.status_code, _told(f"HTTP {answer.status_code}", said), said)
    known = _SAYS_YES.get(service)
    no = _no_of_service(body, *known) if known is not None else _no(body, text)
    if no is None:
        return None
    code, is_unclear = no
    why = _told(code, _words(body) or text)
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
    codes = [value for key, value in _named(body) if key in names]
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
    has_code = any(key in codes and value is not None for key, value in _named(body))
    for key, value in _named(body):
        if key in codes and not _is_good_code(key, value, body):
            return str(value), False
        if (key in _FLAGS and _is_no(value)) or (key in _STATES and _is_bad_state(value)):
            return ("" if isinstance(value, bool) else str(value)), False
        # Beside a code, errmsg has the words of a success as well.
        is_error = key.startswith("err") and key not in codes and not (
            has_code and isinstance(value, str)
        )  # fmt: skip
        if is_error and not _is_no_error(value):
            return "", False
        if isinstance(value, dict | list) and (inner := _no(value, text, depth + 1)) is not None:
            return inner
    return None


def _named(body: Any) -> list[tuple[str, Any]]:
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
        for key, one in _named(body)
    )  # fmt: skip


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
        codes = [one for key, one in _named(value) if key in _CODES]
        return not value or bool(codes and all(_is_no_error(one) for one in codes))
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING | _YES_WORDS
    return not value


def _words(body: Any) -> str:
    """What an answer says in words, wherever it stands."""
    if isinstance(body, list):
        return next(filter(None, map(_words, body)), "")
    named = dict(_named(body))
    for name in _WORDS:
        value = named.get(name)
        if isinstance(value, str) and value.strip():
            return value
    inner = (value for value in named.values() if isinstance(value, dict | list))
    return next(filter(None, map(_words, inner)), "")


def _told(code: str, words: str) -> str:
    """Code and words on one line, cut."""
    return " ".join(f"{code} {words}".split())[:_TOLD_CHARS] or "-"
