"""A message as its channel shows it best: Markdown in WeCom and DingTalk, a post in Feishu.

The text is the same for all: blocks with blank lines between, and addresses in lines of their own.
Where links can be shown, the first line of a block leads to the first address below it. What
strangers wrote is never markup: signs that could be are written as their wide forms, whatever the
far side makes of a backslash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from qiaocrawl.news.warnings.answers import Part, Room, parts_of

_ADDRESS = re.compile(r"https?://[^\s<>\[\]\"'`]+")
# Signs of Markdown, of WeCom's <font> and its <@name>, which would call everybody.
_WIDE = str.maketrans({sign: chr(ord(sign) + 0xFEE0) for sign in "*_`[]<>#~|\\!"})
_ASKS_FOR_TEXT = re.compile(r"[?&]format=text\b", re.IGNORECASE)


class Line(NamedTuple):
    """A line of a message, and where it leads; "" for nowhere."""

    text: str
    href: str = ""


def lines_of(text: str) -> list[Line]:
    """*text* by lines, with addresses that stand alone made links of what they belong to."""
    lines: list[Line] = []
    head = None
    for written in text.split("\n"):
        own = written.strip()
        if not own:
            head = None
            lines.append(Line(""))
        elif _ADDRESS.fullmatch(own):
            if head is not None and not lines[head].href:
                lines[head] = Line(lines[head].text, own)
            else:
                lines.append(Line(urlsplit(own).hostname or own, own))
        else:
            head = len(lines) if head is None else head
            lines.append(Line(own))
    return lines


@dataclass(frozen=True, slots=True)
class Form:
    """How a service takes a message.

    Attributes:
        room: for the text as it is written.
        write: title and text of a part as they are handed to the plug-in.
        size: how much the two take of ``room.most``; None where ``room`` has counted it all.
        send: sends title and text by the settings of the plug-in, for which the far side is heard
            elsewhere (``answers``); why it could not be asked, "" where it was. None leaves it to
            apprise, which makes plain text of anything in some services.
    """

    room: Room | None
    write: Callable[[Part], tuple[str, str]]
    size: Callable[[str, str], int] | None = None
    send: Callable[[Any, str, str], None] | None = None

    def parts(self, title: str, text: str) -> list[Part]:
        """The message in parts that fit; the same message gives the same parts."""
        parts = parts_of(title, text, self.room)
        if self.room is None or self.size is None:
            return parts
        most = self.room.most
        while any(self.size(*self.write(part)) > self.room.most for part in parts):
            # Markup takes some of it, how much is known when it is written.
            most = most * 9 // 10
            parts = parts_of(title, text, Room(most, self.room.measure))
        return parts


def _as_it_is(part: Part) -> tuple[str, str]:
    return part.title, part.text


def form_of(service: str, address: str, plain: Room | None) -> Form:
    """The form for a service by its scheme; *plain* is its room for plain text.

    ``format=text`` in the address asks for that.
    """
    make = None if _ASKS_FOR_TEXT.search(address) else _FORMS.get(service)
    return Form(plain, _as_it_is) if make is None else make()


# --- Markdown: WeCom's and DingTalk's -------------------------------------------------------------


def _markdown_lines(text: str) -> Iterator[str]:
    for line in lines_of(text):
        own = line.text.translate(_WIDE)
        href = line.href.replace("(", "%28").replace(")", "%29")
        yield f"[{own}]({href})" if href else own


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _wecom_part(part: Part) -> tuple[str, str]:
    # It has no title of its own.
    return "", "\n".join([f"**{part.title.translate(_WIDE)}**", *_markdown_lines(part.text)])


def _ding_part(part: Part) -> tuple[str, str]:
    # A line ends where two spaces do.
    return part.title.translate(_WIDE), "  \n".join(_markdown_lines(part.text))


def _wecom() -> Form:
    room = Room(4_096, lambda text: _utf8(text.translate(_WIDE)))
    return Form(room, _wecom_part, lambda _title, text: _utf8(text), _send_to_wecom)


def _send_to_wecom(plugin: Any, _title: str, text: str) -> None:
    _post(plugin, plugin.api_url, {"msgtype": "markdown", "markdown": {"content": text}})


def _ding() -> Form:
    # Of 20,000 bytes of a request in which apprise sends other scripts as \uXXXX; the title
    # stands there twice.
    room = Room(19_500, lambda text: len(json.dumps(text.translate(_WIDE))) - 2)
    return Form(
        room,
        _ding_part,
        lambda title, text: 2 * len(json.dumps(title)) + len(json.dumps(text)),
        _send_to_ding,
    )


def _send_to_ding(plugin: Any, title: str, text: str) -> None:
    from apprise import NotifyFormat

    # What it could not do stands in its log and in the answer.
    plugin.send(text, title, body_format=NotifyFormat.MARKDOWN)


# --- A post: Feishu's -----------------------------------------------------------------------------


def post_of(title: str, text: str) -> dict[str, Any]:
    """Title and text as the content of a post."""
    rows: list[list[dict[str, str]]] = []
    for line in lines_of(text):
        run = {"tag": "a", "text": line.text, "href": line.href} if line.href else {}
        rows.append([run or {"tag": "text", "text": line.text}])
    return {"post": {"zh_cn": {"title": title, "content": rows}}}


def _feishu() -> Form:
    room = Room(19_000, lambda text: _utf8(json.dumps(text, ensure_ascii=False)) - 2)
    return Form(room, _as_it_is, _post_size, _send_to_feishu)


def _post_size(title: str, text: str) -> int:
    return _utf8(json.dumps(post_of(title, text), ensure_ascii=False))


def _send_to_feishu(plugin: Any, title: str, text: str) -> None:
    url = plugin.notify_url.format(token=plugin.token)
    _post(plugin, url, {"msg_type": "post", "content": post_of(title, text)})


def _post(plugin: Any, url: str, payload: Mapping[str, Any]) -> None:
    """Send *payload* as apprise would: by the time-outs and certificates of the plug-in."""
    import requests

    plugin.throttle()
    # Who listens for the answer hears of the error.
    with suppress(requests.RequestException):
        requests.post(
            url,
            data=json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"),
            headers={
                "User-Agent": plugin.app_id,
                "Content-Type": "application/json; charset=utf-8",
            },
            verify=plugin.verify_certificate,
            timeout=plugin.request_timeout,
            allow_redirects=plugin.redirects,
        )


_FORMS: Mapping[str, Callable[[], Form]] = {
    "wecombot": _wecom,
    "dingtalk": _ding,
    "feishu": _feishu,
}
