"""Why a page or an answer ended as it did, in the operator's language.

Reasons are stored in English, for logs, exports of data and what compares them. A screen shows
:func:`shown_reason`. Every reason that is made anywhere has its template here, in the catalogue's
form; tests/language/test_reasons.py compares both.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from qiaocrawl.language import ENGLISH, N_, _, language

# The first that fits counts, so the longer stands before the shorter.
REASONS = (
    N_("HTTP {status} {phrase} (gone)"),
    N_("HTTP {status} {phrase} (refused)"),
    N_("HTTP {status} (refused)"),
    N_("HTTP {status} with a script in place of a page"),
    N_("HTTP {status}, but its connection was lost before the end"),
    N_("{why}, sends to the login page {url}"),
    N_("sends to the login page {url}"),
    N_("redirects to the login page {url}"),
    N_("asks to log in: {words}"),
    N_("the connection was lost after {count} bytes"),
    N_("the connection was lost before the end of the page"),
    N_("HTTP 304 Not Modified"),
    N_("HTTP 304, which was not asked for"),
    N_("HTTP {status} without a body"),
    N_("{why} without a target that can be fetched"),
    N_("{why} to itself"),
    N_("{why}, beyond the crawl: {url}"),
    N_("content type {kind} is not in QIAO_CONTENT_TYPES"),
    N_("Forbidden by robots.txt"),
    N_("robots.txt unreachable: {why}"),
    N_("{host} asks to wait {seconds} s more"),
    N_("host asks to wait until {moment}: {why}"),
    N_("host given up for this run: {why}"),
    N_("no secure connection (TLS): only TLS 1.0 or 1.1, which are no longer safe"),
    N_("no secure connection (TLS): its key is too weak (DH)"),
    N_("no secure connection (TLS): its key is too weak (certificate)"),
    N_("no secure connection (TLS): the host asks for a certificate of ours"),
    N_("no secure connection (TLS): the host's renegotiation is of the old, unsafe kind"),
    N_("no secure connection (TLS): the host does not know its own name"),
    N_("no secure connection (TLS): the host speaks plain HTTP on this port"),
    N_("no secure connection (TLS): no cipher in common"),
    N_("no secure connection (TLS): {what}"),
    N_("the connection is refused: nothing serves there"),
    N_("its name leads to no address"),
    N_("no answer in {seconds} s"),
    N_("what it sends is no HTTP"),
    N_("connection closed before an answer came"),
    N_("connection cut off before an answer came"),
    N_("Refresh header"),
    N_("no request: {why}"),
    N_("a body of more than {limit} bytes"),
    N_("its worker died each time it was tried alone"),
    N_("analysis took longer than {seconds} s"),
    N_("analysis killed its worker (exit code {code})"),
    N_("URL of {count} characters, stored cut"),
    N_("scheme {scheme} is not http or https"),
    N_("URL of {host} carries credentials"),
    N_("{origin} is not named for what is asked of it"),
    N_("{origin} is no public address; QIAO_ALLOW_ADDRESSES can name it"),
    N_("{host} resolves to {address}, which is no public address"),
    N_("{host} cannot be looked up here; QIAO_PROXY_REMOTE_DNS leaves that to proxies"),
    N_("captcha: {why}"),
    N_("ban: {why}"),
    N_("check: {why}"),
    N_("busy: {why}"),
    N_("forbidden: {why}"),
    N_("challenge: {why}"),
    N_("login: {why}"),
    N_("empty: {why}"),
    N_("size: {why}"),
    N_("{count} bytes, far less than usual here"),
    N_("redirect to {address} was not followed"),
    N_("redirect to check page {address}"),
    N_("redirect to {address}"),
    N_("{words} and only {count} characters"),
    N_("{words} and little text"),
    N_("no proxy is left for {host}"),
    N_("proxy {proxy}: asks for a login"),
    N_("proxy {proxy}: leads to a private address"),
    N_("proxy {proxy}: {why}"),
    N_("{url} crashed or hung in the browser"),
    N_("{url} hung in the browser for {seconds} s"),
    N_("{url} was not opened as it must be"),
    N_("the browser or its page is gone ({why})"),
    N_("{url} could not be opened ({why})"),
    N_("a rendered page cannot go through a {scheme} proxy (http and https can)"),
    N_("{why}; pages like it were rendered in vain"),
    N_("asks for a login again and again, with new sessions"),
    N_("not asked for with an account: {why}"),
    N_("asks for a login although one is there ({why})"),
    N_("no account of {site} may be used: {why}"),
    N_("there is none; `qiaocrawl session add` makes one"),
    N_("login of account {number} failed: {why}"),
    N_("account {number} rests: {why}"),
    N_("account {number}: {why}"),
    N_("until {moment}: {why}"),
    N_("says {words} and shows only {count} characters"),
    N_("shows what its host shows for a page that does not exist"),
    N_("on pages of {host} that look like its page for missing ones"),
    N_("asks for a password and shows only {count} characters"),
    N_("an empty mount point for scripts, {count} characters"),
    N_("asks for JavaScript, {count} characters"),
    N_("{size} characters of script, {count} of text"),
    N_("{linked} of the {count} characters of its text are links"),
    N_("{linked} of {count} characters are link text"),
    N_("its text stands below {count} headings that lead to other pages"),
    N_("the URL is a listing's"),
    N_("the URL is a site's first page"),
    N_("{count} summaries below titles that are links"),
    N_("{count} excerpts that lead on"),
    N_("a board with {count} titles"),
    N_("dated titles in rows below the name of a column"),
    N_("it declares itself an index"),
    N_("called {title}"),
    N_("no title"),
    N_("no body: {why}"),
    N_("body has {count} characters"),
    N_("the page shows no text"),
    N_("{count} characters in sentences, boilerplate apart"),
    N_("part {number} of {count} of {url}"),
    N_("the article stands here, since its first part did not come"),
    N_("not here: {parts}"),
    N_("withdrawn as an index: its text stands on {url}"),
    N_("the same page as {url}"),
    N_("fetched as {url}"),
    N_("{kind}, {count} entries"),
    N_("{count} entries on hosts beyond the crawl (across=on follows them): {hosts}"),
    N_("{count} left"),
    N_("nothing that can be read"),
    N_("blocks past the first {count} were not looked at"),
    N_("{count} characters could not be decoded as {charset}"),
    N_("{count} links past the first {limit} not read"),
    N_("the body was cut off at the size limit"),
    N_("the page asks search engines not to list it (noindex)"),
    N_("the page asks that its links are not followed (nofollow)"),
    N_("attributes past the first {count} of a tag dropped"),
    N_("all after the first {count} links dropped"),
    N_("all after the first {count} tags dropped"),
    N_("{count} tags nested deeper than {limit} or repeated dropped"),
    N_("no link region of the template is on the page: lists of {host}"),
    N_("no link region of the template is on the page"),
    N_("empty body"),
    N_("binary data"),
    N_("feed or sitemap"),
    N_("answers, but no list stands where its form says ({count} entries)"),
    N_("{kind}: cut off at the size limit"),
    N_("{kind}: the connection was lost before its end"),
    N_("{kind}: no text in it"),
    N_("scanned document: pictures of pages without text"),
    N_("PDF: encrypted, asks for a password"),
    N_("pages past the first {count} not read"),
    N_("{kind}: more than {count} files in it"),
    N_("{kind}: unpacks to more than {size} MiB"),
    N_("{kind}: {file} defines entities, or is in an odd encoding"),
    N_("{kind}: {file} defines entities"),
    N_("{kind}: encrypted, asks for a password"),
    N_("{kind}: {number} elements in it are too many"),
    N_("PDF: its first page shows more pieces of text than are read"),
    N_("from a script ({origin})"),
    N_("the page shows {count} characters of it"),
    N_("template, {count} blocks"),
    N_("blend: {why}"),
    N_("best of {count} visual units, {blocks} blocks"),
    N_("membership {share}, {fitting} of {count} nodes fit"),
    N_("{count} blocks of tables, lists, code and headings between them"),
    N_("{count} blocks of excerpts left out"),
    N_("the site repeats it, so what stands in {place} is taken"),
    N_("{group} ({fetched} pages fetched, {stories} of them told a story)"),
    N_("{group} ({fetched} pages fetched, {stories} of them told a story; {why})"),
    N_("trap: {why}"),
    N_("made-up texts: rare words recur {times} times as often as by chance"),
    N_("made-up texts: {share} of their phrases stand on one page alone"),
    N_("pages of {pager} are read in order"),
    N_("{pager}: {count} pages in a row brought nothing new"),
    N_("{strategy}: left out"),
    N_("no earlier title is near"),
    N_("the first of its group"),
    N_("the article it was found like is gone"),
    N_("taken out of its group by hand"),
    N_("the same text word for word"),
    N_("same title and body"),
    N_("same title words"),
    N_("title cosine {value}"),
    N_("bodies differ in {count} of 64 bits"),
    # In front of what it may hold.
    N_("another text: {why}"),
    N_("{share} of the shorter body is shared"),
    N_("too short a title to tell: {why}"),
    N_("{count} days apart: {why}"),
    N_("title score {score}, cosine {value}, same source"),
    N_("title score {score}, cosine {value}"),
    N_("title {title}"),
    N_("same title words, no body to compare"),
    N_("no body to compare"),
    N_("resemblance {value}: {shared} of {count} shingles"),
    N_("link of the engine"),
    N_("{engine} has had its {count} requests of the day"),
    N_("{engine} refuses, it is left alone for the rest of the run"),
    N_("{count} off the asked site"),
    N_("{count} advertisements or the like"),
    N_("{count} without title or address"),
    N_("an empty list and no sign that it is true"),
    N_("title: {words}"),
    N_("text: {words}"),
    N_("raw: {words}"),
    N_("select {path}: {words}"),
    N_("json {path}: {words}"),
    N_("empty_list {path}"),
    N_("no hits and no sign why"),
    N_("past the last page"),
    N_("{count} hits are not on {site}, {why}"),
    N_("{count} hits are not on {site}"),
    N_("{count} hits show nothing of {term}, {why}"),
    N_("{count} hits show nothing of {term}"),
    N_("as another term brought"),
    N_("as of {count} terms before"),
    N_("{count} entries, none with title and address"),
    N_("refused: {why}"),
    N_("asks to wait: {why}"),
    N_("its answer does not say that it took the message: {why}"),
    N_("redirects elsewhere and drops the message: give the address it redirects to"),
    N_("part {number} of {count}: {why}"),
    N_("cannot be reached: {why}"),
    N_("could not be sent: {why}"),
    N_("no answer in time"),
    N_("no way leads there: its network or this one is away"),
    N_("the mail server refuses the log-in; user or password is wrong: {why}"),
    N_("the mail server takes no log-in on this connection; try its port for TLS"),
    N_("the mail server has no encryption; smtp:// before its name goes without"),
    N_("the mail server takes no mail for the receiver: {why}"),
    N_("the mail server refuses the message: {why}"),
    N_("wants no more messages (HTTP 410)"),
    N_("stopped: {why}"),
    N_("no channel is called so"),
    N_("its address is none that apprise knows"),
    N_("not accepted"),
    N_("status {status}: {why}"),
    N_("status {status}"),
    N_("leads off the asked site {site}: {url}"),
    N_("check page: {words}"),
    N_("the engine's link shows no way on"),
    N_("robots.txt of the site does not allow this page"),
    N_("{why}, and so can --allow"),
    N_("AnswerTooLargeError: {what}"),
    N_("feeds of {host} beyond {count}"),
)
# What Scrapy, Twisted and Chromium say, by the name of the error.
FOREIGN = (
    N_(
        "Ignored response <{answer}> because its body ({size} B compressed, {whole} B decompressed"
        " so far) exceeded DOWNLOAD_MAXSIZE ({limit} B) during decompression."
    ),
    N_("DownloadConnectionRefusedError: {what}"),
    N_("DownloadTimeoutError: {what}"),
    N_("CannotResolveHostError: the name '{host}' leads to no address"),
    N_("CannotResolveHostError: {what}"),
    N_("DownloadFailedError: {what}"),
    N_("TunnelError: {what}"),
    N_("ResponseDataLossError: {what}"),
)
_PLACE = re.compile(r"\\\{(\w+)\\\}")
_REASON = "why"
"""The place of a reason within another."""


def shown_reason(reason: str) -> str:
    """*reason* as it is stored, in the operator's language; what no template has stays."""
    return reason if language() == ENGLISH else _translate(reason)


@lru_cache(maxsize=4096)
def _translate(reason: str) -> str:
    whole = _by_template(reason)
    if whole is None and "; " in reason:
        return "；".join(map(_translate, reason.split("; ")))
    return reason if whole is None else whole


def _by_template(reason: str) -> str | None:
    for template, pattern in _patterns():
        if match := pattern.fullmatch(reason):
            values = match.groupdict()
            if _REASON in values:
                values[_REASON] = _translate(values[_REASON])
            return _(template, **values) if values else _(template)
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The templates, each with the reasons it makes."""
    return tuple(
        (text, re.compile(_PLACE.sub(_place, re.escape(text)))) for text in (*REASONS, *FOREIGN)
    )


def _place(match: re.Match[str]) -> str:
    # Several reasons stand side by side with "; " between; no other value has one.
    return f"(?P<{match[1]}>{'.+' if match[1] == _REASON else '(?:(?!; ).)+?'})"
