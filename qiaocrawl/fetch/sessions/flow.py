"""A login, step by step, without doing any I/O itself.

:func:`login_flow` yields the requests of a login and is sent their answers; whoever drives it
fetches them, keeps the cookies and obeys no other redirect. So the same steps serve a crawl, a
command and a test, and every rule about where a secret may go is here:

* user name and password go only where the recipe says (:meth:`Recipe.may_get_secret`)
* their request follows no redirect to another origin, whatever the status says
* everything else of a login stays on the hosts the recipe names
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import urlsplit

from qiaocrawl.errors import LoginError
from qiaocrawl.extract.base import Body
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.kind import judge
from qiaocrawl.fetch.sessions.accounts import Credentials
from qiaocrawl.fetch.sessions.forms import (
    JSON_TYPE,
    Submission,
    form_submission,
    json_submission,
    onward_submission,
)
from qiaocrawl.fetch.sessions.recipe import (
    FormLogin,
    PageMarkers,
    Recipe,
    is_same_origin,
    origin_of,
    resolve_written,
    without_query,
)
from qiaocrawl.language import _
from qiaocrawl.page.page import Page, parse_page
from qiaocrawl.text.charset import decode_page
from qiaocrawl.urls.login import looks_like_login

# --- Checks a page for a recipe's markers: of success, of failure, of an expired session ----------

# Parsing takes time of the event loop; a login page is small.
_MAX_PARSED_BYTES = 512 * 1024
_PASSWORD_FIELD = re.compile(rb"""<input\b[^>]{0,500}\btype\s*=\s*["']?password""", re.IGNORECASE)

# Visible characters of a page that only asks to log in; a member's page shows more.
_MOST_ASKING_TEXT = 300
_ASKS_TO_LOG_IN = re.compile(
    r"请(?:您|你)?(?:先|重新)?登[录陆錄]|(?:您|你|用户)?(?:还未|还没有|尚未|没有|未)登[录陆錄]|"
    r"(?:登[录陆錄]|会话)(?:状态)?(?:已经?)?(?:过期|失效|超时)|"
    r"(?:please|must|need to) (?:log|sign) ?in|not logged in|session (?:has )?expired",
    re.IGNORECASE,
)

# As a word of its own: /logout.php, ?action=log-out, /sign_off, but not /blogoutlook.
_LOGOUT = re.compile(r"(?<![a-z])(?:log|sign)[-_]?(?:out|off)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class SeenPage:
    """A response as signs are looked for in it. ``location`` is where it redirects, absolute."""

    url: str
    status: int
    body: bytes = b""
    content_type: str = ""
    location: str = ""
    cookies: Collection[str] = ()

    @classmethod
    def of(
        cls,
        url: str,
        status: int,
        headers: Collection[tuple[str, str]],
        body: bytes,
        cookies: Collection[str] = (),
    ) -> SeenPage:
        """From header fields (names in lower case)."""
        # Reversed: of several headers of a name the first counts.
        fields = dict(reversed(list(headers)))
        location = fields.get("location", "") if 300 <= status < 400 else ""
        target = resolve_written(url, location) if location else ""
        return cls(url, status, body, fields.get("content-type", ""), target, cookies)

    @cached_property
    def text(self) -> str:
        """The source, decoded."""
        return decode_page(self.body, self.content_type).text

    @cached_property
    def page(self) -> Page:
        """The page, parsed."""
        return parse_page(self.body, self.content_type, self.url)

    @property
    def is_html(self) -> bool:
        """Whether it says, or leaves open, that it is HTML."""
        return not self.content_type or "html" in self.content_type.lower()


def matching_marker(signs: PageMarkers, seen: SeenPage) -> str:
    """The first of *signs* that *seen* carries, in words; "" for none."""
    if seen.status in signs.statuses:
        return f"HTTP {seen.status}"
    for address in filter(None, (seen.url, seen.location)):
        # Without the query, which may quote any address.
        plain = _without_query(address)
        for piece in signs.urls:
            if piece in plain:
                return f"address with {piece!r}"
    for name in signs.cookies:
        if name in seen.cookies:
            return f"cookie {name!r}"
    return _marker_in_body(signs, seen)


def _marker_in_body(signs: PageMarkers, seen: SeenPage) -> str:
    for word in signs.words if seen.body else ():
        if word in seen.text:
            return f"text {word!r}"
    if signs.selectors and seen.is_html and len(seen.body) <= _MAX_PARSED_BYTES:
        for selector in signs.selectors:
            if seen.page.tree.css_first(selector) is not None:
                return f"element {selector!r}"
    return ""


def login_wanted(recipe: Recipe, seen: SeenPage) -> str:
    """Why *seen* asks for a login, in words; "" when it does not.

    Beside the recipe's signs: a redirect to the login, 401, and a page that is a login form.
    """
    sign = matching_marker(recipe.expired, seen)
    if sign:
        return sign
    if seen.status == 401:
        return "HTTP 401"
    if seen.location and is_login_address(recipe, seen.location):
        return "redirect to the login"
    if not 200 <= seen.status < 300 or not seen.is_html:
        return ""
    return "login form" if is_login_form(seen) else ""


def endangers_session(recipe: Recipe, url: str) -> str:
    """Why *url* must not be requested with an account, in words; "" if it may be.

    Every page shown to an account has a link to log out; a crawl would follow it.
    """
    if _LOGOUT.search(url):
        return "its address would log the account out"
    return "it is the login page" if _is_login_page(recipe, url) else ""


def is_login_form(seen: SeenPage) -> bool:
    """Whether the page shows a password field and little else."""
    if len(seen.body) > _MAX_PARSED_BYTES or not _PASSWORD_FIELD.search(seen.body):
        return False
    return judge(seen.page, Body("", 0.0, ""), seen.page.title).kind is PageKind.LOGIN


def is_login_address(recipe: Recipe, url: str) -> bool:
    """Whether *url* is the login of *recipe*: its page, its sign-on, or a login of its sites."""
    origin = origin_of(url)
    if origin is not None and origin.netloc in recipe.sso_hosts:
        return True
    if _is_login_page(recipe, url):
        return True
    return origin is not None and recipe.covers(origin.netloc) and looks_like_login(url)


def _is_login_page(recipe: Recipe, url: str) -> bool:
    login = (recipe.form and recipe.form.page) or (recipe.browser and recipe.browser.page)
    return bool(login) and _without_query(url) == _without_query(login or "")


def asks_to_log_in(seen: SeenPage) -> str:
    """The words by which a page that shows little else asks for a login; "" for none."""
    if not 0 < len(seen.body) <= _MAX_PARSED_BYTES:
        return ""
    shown = " ".join(seen.page.texts) if seen.is_html else seen.text
    if len(shown) > _MOST_ASKING_TEXT:
        return ""
    match = _ASKS_TO_LOG_IN.search(shown)
    return match[0] if match else ""


def _without_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


# --- A login, step by step, without doing any I/O itself ------------------------------------------

# RFC 9110: only these two ask for the same method and body again.
_KEEPS_BODY = frozenset({307, 308})
# "0; url=https://a.cn/", "0,'https://a.cn/'"; possessive, so that spaces cost linear time.
_REFRESH = re.compile(r"""^\s*+\d*+\s*+[;,]\s*+(?:url\s*+=\s*+)?["']?([^"']+)""", re.IGNORECASE)
# Sina's sign-on and others hand over by a script that only navigates on.
# location.href = "https://…", location.replace('https://…')
_SCRIPTED = re.compile(
    r"""location(?:\.href)?(?:\s*=|\.replace\(|\.assign\()\s*\(?["'](https?:[^"']+)["']"""
)
_MAX_HANDOVER_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class LoginStep:
    """One request of a login. ``is_secret``: its body holds user name and password."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class LoginAnswer:
    """What came back. ``headers`` in lower case; ``cookies`` are all of the login's, by name."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def seen_page(self) -> SeenPage:
        """As signs are looked for."""
        return SeenPage.of(self.url, self.status, self.headers, self.body, self.cookies)


Flow = Generator[LoginStep, LoginAnswer, LoginAnswer]


def login_flow(recipe: Recipe, secret: Credentials) -> Flow:
    """The steps of a login by form or single sign-on; ends with the page it led to.

    Raises:
        LoginError: it did not succeed; the message says why, never with what.
    """
    form = recipe.form
    assert form is not None, "only a form can be filled in"
    answer = yield from _open(recipe, form.page)
    _refuse_error(answer)
    step = _secret_step(recipe, form, secret, answer)
    answer = yield from _submit(recipe, step)
    _refuse_failure(recipe, answer)
    answer = yield from _hand_over(recipe, answer)
    _refuse_failure(recipe, answer)
    if recipe.target:
        answer = yield from _open(recipe, recipe.target)
    reason = why_not_logged_in(recipe, answer)
    if reason:
        raise LoginError(reason)
    return answer


def check_flow(recipe: Recipe) -> Flow:
    """The steps that check a login: opening the recipe's target.

    Raises:
        LoginError: it leads to a host the recipe does not name.
    """
    return (yield from _open(recipe, recipe.target, strict=False))


def why_not_logged_in(recipe: Recipe, answer: LoginAnswer) -> str:
    """Why *answer* shows nobody who is logged in, in words; "" when it does."""
    seen = answer.seen_page
    failed = matching_marker(recipe.failure, seen)
    if failed:
        return f"the site refuses the login ({failed})"
    expired = matching_marker(recipe.expired, seen)
    if expired:
        return f"still asked to log in ({expired})"
    if recipe.success:
        if not matching_marker(recipe.success, seen):
            return "none of the signs of success is there"
        if matching_marker(replace(recipe.success, cookies=()), seen):
            return ""
        # Some sites give strangers a cookie of the same name.
        asked = login_wanted(recipe, seen)
        return f"still asked to log in ({asked})" if asked else ""
    if answer.status >= 400:
        return f"HTTP {answer.status} after the login"
    if is_login_form(seen):
        return "the login form came back"
    return "" if answer.cookies else "the site set no cookie"


def why_session_ended(recipe: Recipe, answer: LoginAnswer) -> str:
    """Why *answer*, where the target led with the cookies of a session, shows that it has ended.

    A cookie was proof when the login had just set it. Later it stands in the jar whatever the
    site thinks of it: then the target itself must show that somebody is logged in.

    Returns:
        The reason in words; "" when the session holds.
    """
    seen = answer.seen_page
    failed = matching_marker(recipe.failure, seen)
    if failed:
        return f"the site refuses the login ({failed})"
    asked = login_wanted(recipe, seen)
    if asked:
        return f"still asked to log in ({asked})"
    onward = seen.location or _refresh_target(seen) or _scripted_target(seen)
    for place in filter(None, (answer.url, onward)):
        # A target that is itself the login of its site says so by more than its address.
        if place != recipe.target and is_login_address(recipe, place):
            return "the target leads to the login"
    if seen.location:
        return "the target leads to a host the recipe does not name"
    if answer.status >= 400:
        return f"HTTP {answer.status} at the target"
    if recipe.success:
        return _missing_sign(recipe.success, recipe.target, answer)
    words = asks_to_log_in(seen)
    if words:
        return f"the target asks to log in ({words!r})"
    return "" if answer.cookies else "no cookie is left"


def _missing_sign(success: PageMarkers, target: str, answer: LoginAnswer) -> str:
    if matching_marker(replace(success, cookies=()), answer.seen_page):
        return ""
    if not any(name in answer.cookies for name in success.cookies):
        return "none of the signs of success is there"
    words = asks_to_log_in(answer.seen_page)
    if words:
        return f"the target asks to log in ({words!r})"
    # A site sends those whom it does not know to its first page, if not to a login.
    led, wanted = (urlsplit(url).path.rstrip("/") for url in (answer.url, target))
    return "the target leads to the first page" if wanted and not led else ""


# --- going on --------------------------------------------------------------------------------


def _open(recipe: Recipe, url: str, *, strict: bool = True) -> Flow:
    """Open *url* and follow its redirects within the hosts the recipe names."""
    answer = yield LoginStep("GET", url)
    for _round in range(recipe.max_steps):
        location = answer.seen_page.location
        if not location:
            # A check that leads elsewhere says that nobody is logged in; a login must
            # not go there.
            return answer
        if not recipe.may_open(location):
            if not strict:
                return answer
            raise _leaves(location)
        answer = yield LoginStep("GET", location)
    raise LoginError(
        _(
            "more than {max_steps} redirects from {url}",
            max_steps=recipe.max_steps,
            url=without_query(url),
        )
    )


def _submit(recipe: Recipe, step: LoginStep) -> Flow:
    """Send user name and password; 307 and 308 ask for them again, but not elsewhere."""
    # Three times at most: no honest login asks for it more often.
    for _round in range(3):
        answer = yield step
        location = answer.seen_page.location
        if answer.status not in _KEEPS_BODY or not location:
            return answer
        if not is_same_origin(location, step.url):
            raise LoginError(
                _(
                    "ALERT: {url} asks to send user name and password on to {location} (HTTP "
                    "{status}); nothing was sent there",
                    url=origin_of(step.url),
                    location=origin_of(location),
                    status=answer.status,
                ),
                is_final=True,
                is_alert=True,
            )
        step = LoginStep("POST", location, step.headers, step.body, is_secret=True)
    raise LoginError(
        _("{url} asks for user name and password again and again", url=origin_of(step.url))
    )


def _hand_over(recipe: Recipe, answer: LoginAnswer) -> Flow:
    """Follow what the login page leads on to: redirects, refreshes, scripts, forms."""
    for _round in range(recipe.max_steps):
        step = _next_step(answer)
        if step is None:
            return answer
        if not recipe.may_open(step.url):
            if recipe.way != "sso":
                return answer  # a form's cookies are set; it does not matter where it leads on
            raise _leaves(step.url)
        answer = yield step
        _refuse_failure(recipe, answer)
    raise LoginError(
        _("the hand-over takes more than {max_steps} steps", max_steps=recipe.max_steps)
    )


def _next_step(answer: LoginAnswer) -> LoginStep | None:
    seen = answer.seen_page
    if seen.location:
        # GET whatever the status: no posted body is ever sent on.
        return LoginStep("GET", seen.location)
    if not 200 <= answer.status < 300 or not seen.is_html or not answer.body:
        return None
    target = _refresh_target(seen) or _scripted_target(seen)
    if target:
        return LoginStep("GET", target)
    onward = onward_submission(seen.page)
    return None if onward is None else _posting(onward, answer.url)


def _refresh_target(seen: SeenPage) -> str:
    # Not by the page's canonical links: those drop session ids, and a ticket may look like one.
    match = _REFRESH.match(seen.page.meta.get("refresh", ""))
    target = resolve_written(seen.page.base_url, match[1]) if match else ""
    return "" if target == seen.url else target


def _scripted_target(seen: SeenPage) -> str:
    # A page with a form waits for a person, whatever its scripts do.
    if len(seen.text) > _MAX_HANDOVER_CHARS or seen.page.tree.css_first("form") is not None:
        return ""
    match = _SCRIPTED.search(seen.text)
    # Addresses inside scripts are often written with "\/".
    return match[1].replace("\\/", "/") if match else ""


# --- what is sent ------------------------------------------------------------------------------


def _secret_step(
    recipe: Recipe, form: FormLogin, secret: Credentials, answer: LoginAnswer
) -> LoginStep:
    if form.is_json:
        submission = json_submission(form, secret)
    else:
        submission = form_submission(answer.seen_page.page, form, secret)
    if not recipe.may_get_secret(submission.url):
        raise LoginError(
            _(
                "ALERT: the login form would send user name and password to {url}, which the "
                "recipe does not name; nothing was sent",
                url=origin_of(submission.url),
            ),
            is_final=True,
            is_alert=True,
        )
    step = _posting(submission, answer.url, is_secret=True)
    extra = {
        # A header that repeats a cookie proves that the form was opened here (CSRF).
        header: answer.cookies[cookie]
        for header, cookie in form.cookie_headers.items()
        if cookie in answer.cookies
    }
    return LoginStep(step.method, step.url, {**step.headers, **extra}, step.body, True)


def _posting(submission: Submission, page_url: str, *, is_secret: bool = False) -> LoginStep:
    headers = {"Content-Type": submission.content_type}
    origin = origin_of(page_url)
    if is_same_origin(page_url, submission.url):
        # Some sites refuse forms without a Referer; other origins must not learn the address.
        headers |= {"Origin": str(origin), "Referer": page_url}
    if submission.content_type == JSON_TYPE:
        headers["Accept"] = JSON_TYPE
    return LoginStep("POST", submission.url, headers, submission.body, is_secret)


def _refuse_error(answer: LoginAnswer) -> None:
    if answer.status >= 400:
        raise LoginError(
            _(
                "the login page {url} answers HTTP {status}",
                url=without_query(answer.url),
                status=answer.status,
            )
        )


def _refuse_failure(recipe: Recipe, answer: LoginAnswer) -> None:
    failed = matching_marker(recipe.failure, answer.seen_page)
    if failed:
        # Trying the same password again would only bring the account closer to being locked.
        raise LoginError(_("the site refuses the login ({failed})", failed=failed), is_final=True)
    if answer.status >= 500 or answer.status == 429:
        raise LoginError(
            _("HTTP {status} from {url}", status=answer.status, url=without_query(answer.url))
        )


def _leaves(url: str) -> LoginError:
    return LoginError(
        _(
            "the login leads to {place}, which the recipe does not name (hosts, sso.hosts)",
            place=origin_of(url) or _("an address that is none"),
        ),
        is_final=True,
    )
