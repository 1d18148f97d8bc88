"""Login forms: the fields a browser would send, with user name and password filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from selectolax.lexbor import LexborNode

from qiaocrawl.errors import LoginError
from qiaocrawl.fetch.sessions.accounts import Credentials
from qiaocrawl.fetch.sessions.recipe import FormLogin, resolve_written, without_query
from qiaocrawl.language import _
from qiaocrawl.page.page import Page

# A browser sends a button only when it is clicked, a file only when one was chosen.
_NOT_SENT = frozenset(("submit", "button", "image", "reset", "file"))
_CHECKED = frozenset(("checkbox", "radio"))
_USER_TYPES = frozenset(("text", "email", "tel", "number", ""))
# "captcha", "verifycode", "验证码", "yzm" (its pinyin).
_CAPTCHA = re.compile(r"captcha|verifycode|checkcode|验证码|yzm|geetest", re.IGNORECASE)

FORM_TYPE = "application/x-www-form-urlencoded"
JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Submission:
    """What is sent: to where, in which form, and what it holds."""

    url: str
    content_type: str
    body: bytes


def json_submission(form: FormLogin, secret: Credentials) -> Submission:
    """A login without a form: the fields as a JSON object to ``submit``."""
    values = {**form.fields, form.user_field: secret.user, form.password_field: secret.password}
    return Submission(form.submit, JSON_TYPE, json.dumps(values, ensure_ascii=False).encode())


def form_submission(page: Page, form: FormLogin, secret: Credentials) -> Submission:
    """The login form of *page* filled in; hidden fields and tokens stay as they are.

    Raises:
        LoginError: no such form, it lacks a field, it would put the password into an address,
            or it wants a captcha solved (none is).
    """
    node = _login_form(page, form)
    method = (node.attributes.get("method") or "get").strip().lower()
    if method != "post" and not form.submit:
        raise LoginError(
            _(
                "the form on {url} sends its fields in the address, not by POST; the recipe's "
                "form.submit can say where to post them",
                url=without_query(page.url),
            ),
            is_final=True,
        )
    fields = list(_fields(node))
    user = form.user_field or _user_field(node, page.url)
    password = form.password_field or _password_field(node, page.url)
    # Never the page's own values for the fields we fill in: a form may come pre-filled.
    values = [(name, value) for name, value in fields if name not in (user, password)]
    values = [(name, value) for name, value in values if name not in form.fields]
    values += [*form.fields.items(), (user, secret.user), (password, secret.password)]
    _refuse_captcha(node, form.fields)
    action = (node.attributes.get("action") or "").strip()
    url = form.submit or (resolve_written(page.base_url, action) if action else page.url)
    # As browsers do: in the page's charset, what that lacks as character references.
    encoded = urlencode(values, encoding=page.charset or "utf-8", errors="xmlcharrefreplace")
    return Submission(url, FORM_TYPE, encoded.encode("ascii"))


def onward_submission(page: Page) -> Submission | None:
    """The form a sign-on page sends on by itself: hidden fields only, sent by a script.

    None when *page* has none.
    """
    # Without a script that submits it, a form of hidden fields waits for a click.
    scripted = ".submit(" in page.source
    for node in page.tree.css("form[action]") if scripted else ():
        types = {(field.attributes.get("type") or "").lower() for field in node.css("input")}
        # Any other field is for a person to fill in.
        if types and types <= {"hidden", "submit"}:
            url = resolve_written(page.base_url, node.attributes.get("action") or "")
            body = urlencode(
                list(_fields(node)), encoding=page.charset or "utf-8", errors="xmlcharrefreplace"
            )
            return Submission(url, FORM_TYPE, body.encode("ascii"))
    return None


def _login_form(page: Page, form: FormLogin) -> LexborNode:
    if form.select:
        node = page.tree.css_first(form.select)
        if node is None or node.tag != "form":
            raise LoginError(
                _(
                    "no form {select!r} on {url}; did its layout change?",
                    select=form.select,
                    url=without_query(page.url),
                ),
                is_final=True,
            )
        return node
    for node in page.tree.css("form"):
        if node.css_first('input[type="password" i]') is not None:
            return node
    raise LoginError(
        _(
            "no form with a password field on {url}: did its layout change, or is it made by "
            "a script (then the way is browser or cookies)?",
            url=without_query(page.url),
        ),
        is_final=True,
    )


def _fields(form: LexborNode) -> list[tuple[str, str]]:
    """Name and value of what a browser would send without a click on a certain button."""
    values = []
    for node in form.css("input[name], textarea[name], select[name]"):
        attributes = node.attributes
        name, kind = attributes.get("name") or "", (attributes.get("type") or "").lower()
        if kind in _NOT_SENT or "disabled" in attributes or not name:
            continue
        # Boxes that are not ticked send nothing.
        if kind in _CHECKED and "checked" not in attributes:
            continue
        if node.tag == "select":
            # Without a chosen option a browser sends the first.
            chosen = node.css_first("option[selected]") or node.css_first("option")
            value = (chosen.attributes.get("value") or "") if chosen is not None else ""
        elif node.tag == "textarea":
            value = node.text()
        else:
            value = attributes.get("value") or ("on" if kind in _CHECKED else "")
        values.append((name, value))
    return values


def _password_field(form: LexborNode, url: str) -> str:
    node = form.css_first('input[type="password" i]')
    name = (node.attributes.get("name") or "") if node is not None else ""
    if not name:
        raise LoginError(
            _(
                "the form on {url} has no password field with a name; the recipe's form.password "
                "can name it",
                url=without_query(url),
            ),
            is_final=True,
        )
    return name


def _user_field(form: LexborNode, url: str) -> str:
    """The last field to type into before the password."""
    name = ""
    for node in form.css("input[name]"):
        kind = (node.attributes.get("type") or "").lower()
        if kind == "password":
            break
        if kind in _USER_TYPES:
            name = node.attributes.get("name") or name
    if not name:
        raise LoginError(
            _(
                "the form on {url} has no field for the user name before the password; the "
                "recipe's form.user can name it",
                url=without_query(url),
            ),
            is_final=True,
        )
    return name


def _refuse_captcha(form: LexborNode, given: Mapping[str, str]) -> None:
    for node in form.css("input[name]"):
        name = node.attributes.get("name") or ""
        # A hidden field called like that is a token, not a captcha to solve.
        is_typed = (node.attributes.get("type") or "").lower() in _USER_TYPES
        if is_typed and name not in given and _CAPTCHA.search(name):
            raise LoginError(
                _(
                    "the login form asks for a captcha ({name!r}), which is not solved: log in "
                    "with a browser or paste cookies",
                    name=name,
                ),
                is_final=True,
            )
