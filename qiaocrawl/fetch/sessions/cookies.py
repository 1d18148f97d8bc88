"""Reads and writes cookies: the forms operators paste, Scrapy's jars, browsers.

* a header: ``SUB=…; SUBP=…``, with or without ``Cookie:`` in front, in quotes, or among all
  headers of a request
* a request as a browser copies it: cURL (bash, cmd), PowerShell, fetch
* a Netscape file, as ``curl`` and browser add-ons write it; rows of a browser's table of cookies
* JSON: a browser add-on's list of objects, Playwright's ``storage_state``, names with values

What is pasted is understood whole or refused: the one cookie that is left out may be the login.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from http.cookiejar import Cookie
from typing import Any
from urllib.parse import urlsplit

from qiaocrawl.errors import SessionError
from qiaocrawl.fetch.sessions.recipe import Recipe, is_public_suffix
from qiaocrawl.language import N_, _

# RFC 6265 4.1.1: a token; any octets but control characters, spaces and ; in a value.
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x20\x7f;]*(?: [^\x00-\x20\x7f;]+)*")
# Browser add-ons write parts of a second.
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?")
_HTTP_ONLY = "#HttpOnly_"
# The end of the year 9999, in epoch seconds: no later one can be a cookie's end.
_LATEST = 253_402_300_799.0
_SAFE_PREFIXES = ("__Secure-", "__Host-")
# Of a Set-Cookie header; a Cookie header has them only where somebody pasted an answer's.
_ATTRIBUTES = frozenset({"path", "expires", "max-age", "samesite"})
_QUOTES = "\"'`“”‘’"
_SHOWN_NAME_CHARS = 20

_HEADER = re.compile(r"\A:?[A-Za-z][A-Za-z0-9-]*[ \t]*:(?!//)")
_COOKIE_HEADER = re.compile(r"(?i)cookie[ \t]*[:：][ \t]*")
# A blank, perhaps with a comma, and then a name: the next cookie, no part of a value.
_NEXT_COOKIE = re.compile(r"\s[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}=")
_REQUEST_LINE = re.compile(r"[A-Z]{3,7} \S+(?: HTTP/[0-9.]+)?")
_ASSIGNED = re.compile(r"(?is)[\"']?(?:document\.)?cookies?[\"']?\s*[:=]\s*(?=[\"'`{])")
# A word of a shell in its pieces: $'…', '…', "…", an escaped character, plain ones, blanks.
_SHELL = re.compile(
    r"\$'(?P<ansi>(?:[^'\\]|\\.)*)'|'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\""
    r"|\\(?P<escaped>.)|(?P<plain>[^\s'\"\\]+)|(?P<blank>\s+)",
    re.DOTALL,
)
_ANSI = re.compile(r"\\(u[0-9a-fA-F]{1,4}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_CMD = re.compile(r"\\(?P<escaped>[\"\\])|(?P<quote>\")|(?P<blank>\s)|(?P<plain>.)", re.DOTALL)
_POWERSHELL = re.compile(r"(?i)\b(?:Invoke-WebRequest|Invoke-RestMethod|System\.Net\.Cookie)\b")
_POWERSHELL_TEXT = re.compile(r"\"((?:[^\"`]|`.|\"\")*)\"", re.DOTALL)
_POWERSHELL_COOKIE = re.compile(
    r"(?i)Net\.Cookie\(((?:\s*\"(?:[^\"`]|`.|\"\")*\"\s*,?){2,4})\)", re.DOTALL
)
_POWERSHELL_HEADER = re.compile(
    r"(?i)[\"']cookie[\"']\s*=\s*(?:\"((?:[^\"`]|`.|\"\")*)\"|'([^']*)')", re.DOTALL
)
_FETCH_HEADER = re.compile(r"(?i)\"cookie\"\s*:\s*(\"(?:[^\"\\]|\\.)*\")", re.DOTALL)
# What Python writes otherwise than JSON: strings in single quotes, its constants, a last comma.
_PYTHON = re.compile(
    r"'(?P<text>(?:[^'\\]|\\.)*)'|(?P<same>\"(?:[^\"\\]|\\.)*\")|\b(?P<constant>True|False|None)\b"
    r"|(?P<comma>,)(?=\s*[}\]])",
    re.DOTALL,
)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
# What may stand behind these is no URL that is asked for.
_WITH_VALUE = frozenset(
    {
        "-A",
        "--user-agent",
        "-c",
        "--cookie-jar",
        "-d",
        "--data",
        "--data-binary",
        "--data-raw",
        "--data-urlencode",
        "-e",
        "--referer",
        "-F",
        "--form",
        "-o",
        "--output",
        "-O",
        "--output-document",
        "-u",
        "--user",
        "-x",
        "--proxy",
        "-X",
        "--request",
    }
)


@dataclass(frozen=True, slots=True)
class StoredCookie:
    """A stored cookie.

    Attributes:
        domain: with a dot in front where subdomains get it too.
        expires: epoch seconds; None for one that a browser forgets when it closes.
    """

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float | None = None
    secure: bool = False
    http_only: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StoredCookie:
        """From JSON of :meth:`to_dict`."""
        return cls(**values)

    def for_jar(self) -> Cookie:
        """As :mod:`http.cookiejar` keeps it."""
        return Cookie(
            version=0,
            name=self.name,
            value=self.value,
            port=None,
            port_specified=False,
            domain=self.domain,
            domain_specified=self.domain.startswith("."),
            domain_initial_dot=self.domain.startswith("."),
            path=self.path,
            path_specified=True,
            secure=self.secure,
            expires=None if self.expires is None else int(self.expires),
            discard=self.expires is None,
            comment=None,
            comment_url=None,
            rest={"HttpOnly": ""} if self.http_only else {},
        )

    def for_browser(self) -> dict[str, Any]:
        """As Playwright's ``storage_state`` has it."""
        return {
            "name": self.name,
            "value": self.value,
            "domain": self.domain,
            "path": self.path,
            "expires": -1 if self.expires is None else self.expires,
            "httpOnly": self.http_only,
            "secure": self.secure,
            "sameSite": "Lax",
        }


def from_jar(jar: Iterable[Cookie]) -> tuple[StoredCookie, ...]:
    """The cookies of *jar*."""
    return tuple(
        StoredCookie(
            cookie.name,
            cookie.value or "",
            cookie.domain,
            cookie.path,
            None if cookie.expires is None else float(cookie.expires),
            cookie.secure,
            any(key.lower() == "httponly" for key in cookie._rest),  # type: ignore[attr-defined]
        )
        for cookie in jar
    )


@dataclass(frozen=True, slots=True)
class Usable:
    """Cookies that may be kept for a login, and how many were refused, by reason (``_()``)."""

    cookies: tuple[StoredCookie, ...]
    refused: Mapping[str, int]


def usable_for(recipe: Recipe, cookies: Iterable[StoredCookie], *, now: float) -> Usable:
    """Those of *cookies* that belong to the hosts of *recipe*, are alive and well formed."""
    usable: dict[tuple[str, str, str], StoredCookie] = {}
    refused: dict[str, int] = {}
    for cookie in cookies:
        reason = _refusal(recipe, cookie, now)
        if reason:
            refused[reason] = refused.get(reason, 0) + 1
        else:
            # The last of several counts, as in a browser.
            usable[cookie.domain, cookie.path, cookie.name] = cookie
    return Usable(tuple(usable.values()), refused)


def _refusal(recipe: Recipe, cookie: StoredCookie, now: float) -> str:
    if not _NAME.fullmatch(cookie.name) or not _VALUE.fullmatch(cookie.value):
        return N_("malformed")
    if cookie.expires is not None and cookie.expires <= now:
        return N_("expired")
    if is_public_suffix(cookie.domain):
        return N_("domain nobody owns")
    return "" if recipe.may_hold_cookies(cookie.domain) else N_("of another site")


def read_pasted(text: str, recipe: Recipe) -> tuple[StoredCookie, ...]:
    """The cookies in *text*, whichever form it has: all of them.

    A header does not say whose its cookies are: they become cookies of the recipe's sites.

    Raises:
        SessionError: no cookies in any of the forms, or something beside them that was not
            understood; no value is shown.
    """
    bare = text.lstrip("\ufeff").strip()
    pasted = _reader_of(bare)(bare, recipe)
    if not pasted:
        raise SessionError(
            _(
                "no cookies found: a Cookie header (a=1; b=2), a request copied as cURL or with "
                "all headers, a Netscape cookie file, or JSON (a list of cookies, Playwright's "
                "storage_state) is expected"
            )
        )
    return tuple(pasted)


_Reader = Callable[[str, Recipe], list[StoredCookie]]


def _reader_of(bare: str) -> _Reader:
    """What reads *bare*, by its look."""
    if bare[:1] in ("[", "{"):
        return _from_json
    if re.match(r"(?i)(?:[$>] )?(?:curl|wget)(?:\.exe)?\s", bare):
        return _from_shell
    if _POWERSHELL.search(bare):
        return _from_powershell
    lines = [line for line in bare.splitlines() if line.strip()]
    if any(_is_netscape(line) for line in lines):
        return _from_netscape
    # A tab stands between the fields of a table, and nowhere in a header.
    if "\t" in bare and not any(_COOKIE_HEADER.match(line.strip()) for line in lines):
        return _from_table
    if bare.startswith(("fetch(", "await fetch(")):
        return _from_fetch
    return _from_header


def _not_understood(what: str) -> SessionError:
    return SessionError(
        _("nothing was kept, since not all of it was understood: {what}", what=what)
    )


# --- headers --------------------------------------------------------------------------------------


def _from_header(text: str, recipe: Recipe) -> list[StoredCookie]:
    assigned = _ASSIGNED.match(text)
    if assigned:
        text = text[assigned.end() :].rstrip(" \t\r\n;,")
        if text[:1] == "{":
            return _of_names(_json_value(text), recipe)
    text = _strip_quotes(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(_COOKIE_HEADER.match(_strip_quotes(line)) or line.lower() == "cookie" for line in lines):
        return _from_pairs(_cookie_lines(lines), recipe)
    if any(line.lower().startswith("set-cookie") for line in lines):
        raise _not_understood(_("Set-Cookie is of an answer: copy the Cookie header of a request"))
    if all(_HEADER.match(line) or _REQUEST_LINE.fullmatch(line) for line in lines):
        return []
    return _from_pairs(_one_line(lines), recipe)


def _strip_quotes(text: str) -> str:
    """*text* without the quotes it stands in; those around a cookie's value are its own."""
    bare = text.strip()
    if bare[:1] in _QUOTES:
        bare = bare.rstrip(", \t;")
    while len(bare) > 1 and bare[0] in _QUOTES and bare[-1] in _QUOTES:
        bare = bare[1:-1].strip()
    return bare


def _cookie_lines(lines: list[str]) -> str:
    """The values of all Cookie headers among the *lines* of a request."""
    values: list[str] = []
    # Whether a line without a name goes on with a Cookie header; None in front of all headers.
    is_cookie: bool | None = None
    is_name_alone = False
    for number, quoted in enumerate(lines, 1):
        line = _strip_quotes(quoted)
        match = _COOKIE_HEADER.match(line)
        if match or line.lower() == "cookie":
            is_cookie, value = True, line[match.end() :] if match else ""
            is_name_alone = not value
            values += [value] if value else []
        elif is_name_alone:
            # A browser's list of headers: the value stands below its name.
            values.append(line)
            is_name_alone = False
        elif _HEADER.match(line) or _REQUEST_LINE.fullmatch(line):
            is_cookie = False
        elif is_cookie and values:
            values[-1] = _join_line(values[-1], line, number)
        elif is_cookie is None:
            raise _not_understood(_("line {number} is no header (not shown)", number=number))
    return "; ".join(values)


def _join_line(begun: str, line: str, number: int) -> str:
    if not begun.endswith(";"):
        # Broken by a mail or a terminal: whether a blank belongs there nobody can tell.
        raise _not_understood(
            _("line {number} begins within a value: paste it without line breaks", number=number)
        )
    return f"{begun} {line}"


def _one_line(lines: list[str]) -> str:
    """*lines* of a header without its name, or of one cookie each, as one."""
    pairs = [line.rstrip("; \t").partition("=") for line in lines]
    # The end of a broken value looks like a name: "…xyz==".
    if all(
        _NAME.fullmatch(name.strip()) and value.strip("= ") and ";" not in value
        for name, _sign, value in pairs
    ):
        return "; ".join(line.rstrip("; \t") for line in lines)
    whole = ""
    for number, line in enumerate(lines, 1):
        whole = _join_line(whole, line, number) if whole else line
    return whole


def _from_pairs(text: str, recipe: Recipe) -> list[StoredCookie]:
    stored: list[StoredCookie] = []
    for number, piece in enumerate(re.split("[;；]", text), 1):
        if not piece.strip():
            continue
        name, sign, value = (part.strip() for part in piece.partition("="))
        if not sign or not _NAME.fullmatch(name):
            # The beginning of a name tells which it is; the rest may be a secret.
            known = _NAME.match(name) if sign else None
            shown = known[0][:_SHOWN_NAME_CHARS] if known else _("not shown")
            raise _not_understood(
                _("part {number} ({shown}…) is no name=value", number=number, shown=shown)
            )
        if _NEXT_COOKIE.search(value):
            raise _not_understood(
                _(
                    "part {number} ({shown}…) goes on with another cookie: they are parted by ;",
                    number=number,
                    shown=name[:_SHOWN_NAME_CHARS],
                )
            )
        if name.lower() in _ATTRIBUTES:
            raise _not_understood(
                _(
                    "{name} is of a Set-Cookie header: copy the Cookie header of a request",
                    name=name,
                )
            )
        stored += _of_sites(name, value, recipe)
    return stored


def _of_sites(name: str, value: str, recipe: Recipe) -> Iterator[StoredCookie]:
    # A browser refuses a cookie of these names without "Secure".
    secure = name.startswith(_SAFE_PREFIXES)
    for site in recipe.hosts:
        host = site.removeprefix("www.")
        # Valid for the site and all below it: a header does not say.
        yield StoredCookie(name, value, f".{host.rpartition(':')[0] or host}", secure=secure)


# --- requests as browsers copy them ---------------------------------------------------------------


def _from_shell(text: str, recipe: Recipe) -> list[StoredCookie]:
    text = text.removeprefix("$ ").removeprefix("> ")
    words = _cmd_words(text) if _is_cmd(text) else _bash_words(text)
    headers: list[str] = []
    given: list[str] = []
    urls: list[str] = []
    others: list[str] = []
    waiting: list[str] | None = None
    for word in words[1:]:
        name, sign, rest = word.partition("=")
        if waiting is not None:
            waiting.append(word)
            waiting = None
        elif word in ("-H", "--header"):
            waiting = headers
        elif word in ("-b", "--cookie"):
            waiting = given
        elif word in _WITH_VALUE:
            waiting = others
        elif sign and name in ("--header", "--cookie"):
            (headers if name == "--header" else given).append(rest)
        elif word[:2] in ("-H", "-b"):
            (headers if word[:2] == "-H" else given).append(word[2:])
        elif re.match(r"(?i)https?://", word):
            urls.append(word)
        elif word in (";", "&", "&&") or word.lower() in ("curl", "curl.exe"):
            raise _not_understood(_("there are several requests: copy the one to the site itself"))
    _require_own_site(urls, recipe)
    if any("=" not in one for one in given):
        raise _not_understood(_("-b names a file: paste what stands in it"))
    given += [
        header[match.end() :]
        for header in headers
        if (match := _COOKIE_HEADER.match(header.strip()))
    ]
    return _from_pairs("; ".join(given), recipe)


def _require_own_site(urls: Iterable[str], recipe: Recipe) -> None:
    """Refuse cookies of a request to another site, which would become cookies of this one."""
    for url in urls:
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            host = ""
        if not recipe.may_hold_cookies(host):
            raise _not_understood(
                _(
                    "it is a request to {host}, and the account is of {site}",
                    host=host or "?",
                    site=recipe.name,
                )
            )


def _is_cmd(text: str) -> bool:
    return '^"' in text or bool(re.search(r"\^\s*\n", text))


def _bash_words(text: str) -> list[str]:
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(text):
        match = _SHELL.match(text, at)
        if match is None:
            raise _not_understood(_("a quote is not closed: copy the whole command"))
        at = match.end()
        kind, value = match.lastgroup, match[match.lastgroup or 0]
        if kind == "blank":
            words += [word] if word is not None else []
            word = None
            continue
        if kind == "ansi":
            value = _ANSI.sub(_ansi_letter, value)
        elif kind == "double":
            value = re.sub(r"\\([\"\\$`]|\n)", lambda m: m[1].strip("\n"), value)
        elif kind == "escaped" and value in "\r\n":
            continue  # the line goes on
        elif kind == "plain" and word is None and value in (";", "&", "&&"):
            words.append(value)
            continue
        word = (word or "") + value
    return [*words, *([word] if word is not None else [])]


def _ansi_letter(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:], 16))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(code, code)


def _cmd_words(text: str) -> list[str]:
    """The words of a command for Windows: ``^`` escapes the next letter, quotes hold a word."""
    if '^"' in text:
        # Carets escape all that cmd would read; the program then sees plain quotes.
        text = re.sub(r"\^(\r?\n|.)", lambda match: match[1].lstrip("\r\n"), text)
    else:
        text = re.sub(r"\^[ \t]*\r?\n", " ", text)
    words: list[str] = []
    word: str | None = None
    quoted = False
    for match in _CMD.finditer(text.replace('"%"', "%")):
        if match.lastgroup == "quote":
            quoted, word = not quoted, word or ""
        elif match.lastgroup == "blank" and not quoted:
            words += [word] if word is not None else []
            word = None
        else:
            word = (word or "") + match[match.lastgroup or 0]
    if quoted:
        raise _not_understood(_("a quote is not closed: copy the whole command"))
    return [*words, *([word] if word is not None else [])]


def _from_powershell(text: str, recipe: Recipe) -> list[StoredCookie]:
    stored: list[StoredCookie] = []
    found = [*_POWERSHELL_COOKIE.finditer(text)]
    if len(found) < len(re.findall(r"(?i)Net\.Cookie\(", text)):
        raise _not_understood(_("not every System.Net.Cookie has name and value in quotes"))
    for match in found:
        name, value, *rest = map(_powershell_text, _POWERSHELL_TEXT.findall(match[1]))
        path, domain = (rest[0] if rest else "/"), rest[1] if len(rest) > 1 else ""
        if not domain:
            stored += _of_sites(name, value, recipe)
        else:
            secure = name.startswith(_SAFE_PREFIXES)
            stored.append(StoredCookie(name, value, domain.lower(), path or "/", secure=secure))
    headers = [
        match[2] if match[1] is None else _powershell_text(match[1])
        for match in _POWERSHELL_HEADER.finditer(text)
    ]
    if not stored:
        _require_own_site(re.findall(r"(?i)-Uri\s+[\"'](https?://[^\"'\s]+)", text), recipe)
    return [*stored, *_from_pairs("; ".join(headers), recipe)]


def _powershell_text(text: str) -> str:
    return re.sub(r"`(.)|\"(\")", lambda match: match[1] or match[2], text, flags=re.DOTALL)


def _from_fetch(text: str, recipe: Recipe) -> list[StoredCookie]:
    _require_own_site(re.findall(r"fetch\(\s*[\"'](https?://[^\"'\s]+)", text)[:1], recipe)
    headers = [str(_json_value(match[1])) for match in _FETCH_HEADER.finditer(text)]
    return _from_pairs("; ".join(headers), recipe)


# --- tables ---------------------------------------------------------------------------------------


def _netscape_fields(line: str) -> list[str]:
    # Chats make blanks of tabs; an empty value at the end gets lost with its tab.
    fields = line.split("\t") if "\t" in line else line.split()
    return [*fields, ""] if len(fields) == 6 else fields


def _is_netscape(line: str) -> bool:
    fields = _netscape_fields(line.strip().removeprefix(_HTTP_ONLY))
    return len(fields) == 7 and {fields[1].upper(), fields[3].upper()} <= {"TRUE", "FALSE"}


def _from_netscape(text: str, recipe: Recipe) -> list[StoredCookie]:
    stored = []
    for number, line in enumerate(text.splitlines(), 1):
        # Netscape's own mark, in front of a line that would otherwise be a comment.
        line = line.strip(" \r\n")
        http_only = line.startswith(_HTTP_ONLY)
        line = line.removeprefix(_HTTP_ONLY)
        if not line or line.startswith("#"):
            continue
        if not _is_netscape(line):
            raise _not_understood(
                _("line {number} does not have the seven fields of a cookie file", number=number)
            )
        domain, subdomains, path, secure, expires, name, value = _netscape_fields(line)
        bare = domain.strip().lstrip(".").lower()
        # 0 means a cookie of the browser's session.
        when = min(float(expires), _LATEST) if _SECONDS.fullmatch(expires.strip()) else 0.0
        stored.append(
            StoredCookie(
                name,
                value.strip(),
                f".{bare}" if subdomains.upper() == "TRUE" else bare,
                path or "/",
                when or None,
                secure.upper() == "TRUE",
                http_only,
            )
        )
    return stored


def _from_table(text: str, recipe: Recipe) -> list[StoredCookie]:
    """Rows of a browser's own table: name, value, domain, path, end, size, HttpOnly, Secure."""
    stored: list[StoredCookie] = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = [field.strip() for field in line.split("\t")]
        if not any(fields):
            continue
        if len(fields) < 4 or not fields[3].startswith("/") or "." not in fields[2]:
            if number == 1 and len(fields) > 3 and not stored and not fields[3].startswith("/"):
                continue  # the heads of the columns
            raise _not_understood(
                _("line {number} is no row of name, value, domain and path", number=number)
            )
        name, value, domain, path, end, _size, http_only, secure = [*fields, *[""] * 4][:8]
        stored.append(
            StoredCookie(
                name, value, domain.lower(), path, _moment(end), bool(secure), bool(http_only)
            )
        )
    return stored


def _moment(text: object) -> float | None:
    """When a cookie ends, in epoch seconds; None where it is of the browser's session."""
    if isinstance(text, str):
        if _SECONDS.fullmatch(text.strip()):
            text = float(text)
        else:
            try:
                read = datetime.fromisoformat(text.strip())
            except ValueError:
                return None
            text = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    if isinstance(text, int | float) and not isinstance(text, bool) and text > 0:
        return float(min(text, _LATEST))
    return None


# --- JSON -----------------------------------------------------------------------------------------


def _from_json(text: str, recipe: Recipe) -> list[StoredCookie]:
    value = _json_value(text)
    if isinstance(value, dict):
        # A browser's "copy all" puts names with their values below a heading in its language.
        named = [one for key, one in value.items() if "cookie" in key.lower()]
        if "headers" in value or (len(named) == 1 and isinstance(named[0], dict | str)):
            return _of_names(value.get("headers", named[0] if named else None), recipe)
        value = value.get("cookies")
    if not isinstance(value, list):
        return []
    return [one for number, item in enumerate(value, 1) for one in _of_item(item, number, recipe)]


def _json_value(text: str) -> Any:
    for form in (text, _PYTHON.sub(_as_json, text)):
        try:
            return json.loads(form)
        except (ValueError, RecursionError):
            continue
    raise SessionError(_("the cookies begin like JSON but are none (not shown)"))


def _as_json(match: re.Match[str]) -> str:
    if (text := match["text"]) is not None:
        return json.dumps(re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL))
    return match["same"] or _CONSTANTS.get(match["constant"] or "", "")


def _of_names(value: object, recipe: Recipe) -> list[StoredCookie]:
    """Cookies of names with their values, or of the header among headers."""
    if isinstance(value, str):
        return _from_pairs(value, recipe)
    if not isinstance(value, dict):
        return []
    header = {key.lower(): one for key, one in value.items()}.get("cookie")
    if isinstance(header, str) and "=" in header:
        return _from_pairs(header, recipe)
    if not all(isinstance(one, str | int | float) for one in value.values()):
        raise _not_understood(_("not every name has a text as its value"))
    return [one for name, text in value.items() for one in _of_sites(name, str(text), recipe)]


def _of_item(item: object, number: int, recipe: Recipe) -> Iterable[StoredCookie]:
    cookie = from_browser(_with_usual_names(item))
    if cookie is not None:
        return [cookie]
    name, value = (item.get("name"), item.get("value")) if isinstance(item, dict) else (None, None)
    if isinstance(name, str) and isinstance(value, str) and not item.get("domain"):  # type: ignore[attr-defined]
        return _of_sites(name, value, recipe)
    raise _not_understood(
        _("entry {number} of the list is no cookie with name, value and domain", number=number)
    )


def _with_usual_names(item: object) -> object:
    """An entry of an add-on that has names of its own, with the usual ones."""
    if not isinstance(item, dict):
        return item
    if "Name raw" in item and "Content raw" in item:
        host = str(item.get("Host raw", ""))
        return {
            "name": item["Name raw"],
            "value": item["Content raw"],
            "domain": host.partition("://")[2].strip("/") or host,
            "path": item.get("Path raw"),
            "expires": item.get("Expires raw"),
            "secure": item.get("Send for raw") == "true",
            "httpOnly": item.get("HTTP only raw") == "true",
        }
    value = item.get("value")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {**item, "value": str(value)}
    return item


def from_browser(item: object) -> StoredCookie | None:
    """A cookie as Playwright or a browser add-on writes it; None for anything else."""
    if not isinstance(item, dict):
        return None
    name, value, domain = (item.get(key) for key in ("name", "value", "domain"))
    if not isinstance(name, str) or not isinstance(value, str) or not isinstance(domain, str):
        return None
    # Add-ons write expirationDate, Playwright expires, with -1 for a session cookie.
    lasting = _moment(item.get("expirationDate", item.get("expires")))
    host = domain.lower()
    # Add-ons leave out the dot and say hostOnly instead.
    if item.get("hostOnly") is False and not host.startswith("."):
        host = f".{host}"
    path = item.get("path")
    return StoredCookie(
        name,
        value,
        host,
        path if isinstance(path, str) and path else "/",
        lasting,
        bool(item.get("secure")),
        bool(item.get("httpOnly")),
    )


def names_of(cookies: Iterable[StoredCookie], *, now: float | None = None) -> frozenset[str]:
    """Names of the cookies that are alive."""
    moment = time.time() if now is None else now
    return frozenset(
        cookie.name for cookie in cookies if cookie.expires is None or cookie.expires > moment
    )
