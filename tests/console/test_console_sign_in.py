"""Log-in by the office's own provider: who they are here, what they may, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from console_client import BASE, Desk, desk_at, visible
from fresh_schema import make_tables
from held_ports import held_port
from qiaocrawl.console.app import create_app
from qiaocrawl.console.page import ConsoleSettings
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.storage import Database, audit_log, people
from qiaocrawl.storage.audit_log import Actor
from sign_in_provider import CLIENT, SECRET, SignInProvider, served_provider

LI = {"sub": "u-1", "email": "li@office.test", "email_verified": True}


class Office:
    """A console and the provider that signs its people in."""

    def __init__(self, desk: Desk, provider: SignInProvider) -> None:
        self.desk = desk
        self.provider = provider

    def begin(self, target: str = "") -> httpx.Response:
        """Follow the button of the log-in page."""
        query = f"?next={target}" if target else ""
        return self.desk.get(f"/log-in/office{query}")  # type: ignore[no-any-return]

    def agree(self, begun: httpx.Response) -> str:
        """What the provider sends the browser back to: a path of ours."""
        answer = httpx.get(begun.headers["location"])
        back: str = answer.headers["location"]
        assert back.startswith(f"{BASE}/log-in/office/return?")
        return back.removeprefix(BASE)

    def sign_in(self, target: str = "") -> httpx.Response:
        """All of it."""
        return self.desk.get(self.agree(self.begin(target)))  # type: ignore[no-any-return]

    def whose(self) -> str:
        """The name of who is logged in; "" for nobody."""
        cookie = self.desk.client.cookies.get(credentials.SESSION, "")
        with self.desk.database.engine.connect() as c:
            found = people.session_user(c, cookie, idle_seconds=600, total_seconds=600)
        return "" if found is None else found[0].name

    def user(self, name: str) -> people.User:
        """A user that is there."""
        with self.desk.database.engine.connect() as c:
            user = people.find_user(c, name)
        assert user is not None
        return user

    def entries(self) -> list[tuple[str, str, Any]]:
        """The log of changes, the oldest first: action, target, what was written."""
        with self.desk.database.engine.connect() as c:
            found = audit_log.entries(c, limit=50)[::-1]
        return [(one.action, one.target, json.loads(one.after or "null")) for one in found]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[SignInProvider]:
    """A provider that the office names."""
    with served_provider() as server:
        monkeypatch.setenv("QIAO_OIDC_ISSUER", server.issuer)
        monkeypatch.setenv("QIAO_OIDC_CLIENT_ID", CLIENT)
        monkeypatch.setenv("QIAO_OIDC_CLIENT_SECRET", SECRET)
        # Argon2 takes a tenth of a second and 64 MB each.
        monkeypatch.setattr(credentials, "hash_password", lambda password: f"-{password}")
        yield server


@pytest.fixture
def office(provider: SignInProvider, database_url: str) -> Iterator[Office]:
    """A console with two users: li@office.test, an editor, and the administrator."""
    with Database.open(database_url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            for name, role in (("li@office.test", "editor"), ("root", "administrator")):
                people.add_user(c, Actor("test"), name, "-own", role, must_change=False)
    with desk_at(database_url) as desk:
        provider.claims = dict(LI)
        yield Office(desk, provider)


def test_a_user_of_that_verified_address_is_logged_in_and_known_by_subject_ever_after(
    office: Office,
) -> None:
    page = office.desk.get("/log-in?next=/articles")
    assert "Log in by the office&#39;s sign-in" in visible(page.text)
    answer = office.sign_in("/articles%3Fq%3Dx")
    assert (answer.status_code, answer.headers["location"]) == (303, "/articles?q=x")
    assert office.whose() == "li@office.test"
    assert office.desk.get("/articles?q=x").status_code == 200
    connected, begun = office.entries()[-2:]
    assert connected[:2] == ("user.connect", "li@office.test")
    assert connected[2] == {"issuer": office.provider.issuer, "subject": "u-1"}
    assert begun[:2] == ("session.begin", "li@office.test")
    # The provider calls them otherwise now; somebody else has their old address.
    office.desk.client.cookies.clear()
    office.provider.claims = {**LI, "email": "li-new@office.test"}
    office.sign_in()
    assert office.whose() == "li@office.test"
    office.desk.client.cookies.clear()
    office.provider.claims = {**LI, "sub": "u-2", "email_verified": False}
    refused = office.sign_in()
    assert refused.status_code == 403
    assert "no verified name" in visible(refused.text)
    assert office.whose() == ""


def test_who_is_no_user_is_refused_unless_readers_may_be_made(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.provider.claims = {"sub": "u-9", "email": "new@office.test", "email_verified": True}
    answer = office.sign_in()
    assert answer.status_code == 403
    assert "new@office.test is no user of this console" in visible(answer.text)
    assert office.entries()[-1][0] == "session.fail"
    monkeypatch.setenv("QIAO_OIDC_NEW_USERS", "on")
    url = str(office.desk.database.engine.url.render_as_string(hide_password=False))
    with desk_at(url) as desk:
        other = Office(desk, office.provider)
        assert other.sign_in().status_code == 303
        made = other.user("new@office.test")
        assert (made.role, made.must_change) == ("reader", False)
        assert desk.get("/").status_code == 200
        # Nobody knows a password of theirs.
        assert not credentials.is_right(made.password, "")


def test_own_passwords_work_beside_it(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "is_right", lambda stored, given: stored == f"-{given}")
    office.desk.get("/log-in")
    answer = office.desk.post("/log-in", name="root", password="own", next="/")
    assert answer.status_code == 303
    assert office.whose() == "root"


@pytest.mark.parametrize(
    ("mood", "status", "words"),
    [
        ("refuse", 403, "refused: not this <person>"),
        ("other_nonce", 403, "“nonce” is wrong"),
        ("expired", 403, "it has expired; do the clocks"),
        ("strange_key", 403, "signed with an unknown key"),
        ("other_issuer", 403, "“iss” is wrong"),
        ("other_audience", 403, "“aud” is wrong"),
        ("unsigned", 403, "cannot be believed"),
        ("other_secret", 403, "refused: who are you"),
        ("no_token", 403, "says nothing of who signed in"),
    ],
)
def test_what_is_wrong_lets_nobody_in_and_is_said(
    office: Office, mood: str, status: int, words: str
) -> None:
    office.provider.mood = mood
    answer = office.sign_in()
    assert answer.status_code == status
    text = visible(answer.text).replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'")
    assert words in text, text
    assert office.whose() == ""
    action, target, after = office.entries()[-1]
    assert (action, target) == ("session.fail", "")
    assert SECRET not in str(after)
    # The form for own passwords is there.
    assert 'name="password"' in answer.text


@pytest.mark.parametrize("mood", ["500", "404", "liar", "down"])
def test_a_provider_that_is_away_is_said_and_passwords_still_work(
    office: Office, mood: str
) -> None:
    provider = office.provider
    begun = office.begin()
    assert begun.status_code == 303
    if mood == "down":
        settings = office.desk.client.app.state.console.provider.settings  # type: ignore[attr-defined]
        object.__setattr__(settings, "issuer", f"http://127.0.0.1:{held_port()}")
    provider.mood = mood
    # As after the hour for which its description is kept.
    office.desk.client.app.state.console.provider._known.read_at = -1e9  # type: ignore[attr-defined]
    answer = office.begin()
    assert answer.status_code == 503
    assert "Log in with name and password meanwhile" in visible(answer.text)
    assert 'name="password"' in answer.text


def test_a_new_key_of_the_provider_is_asked_for_at_once(office: Office) -> None:
    assert office.sign_in().status_code == 303
    office.desk.client.cookies.clear()
    office.provider.turn_key("k2")
    assert office.sign_in().status_code == 303
    assert office.provider.asked.count("/keys") == 2


def test_a_code_is_worth_nothing_in_another_browser_or_a_second_time(office: Office) -> None:
    back = office.agree(office.begin())
    kept = dict(office.desk.client.cookies)
    office.desk.client.cookies.clear()
    answer = office.desk.get(back)
    assert answer.status_code == 403
    assert "begun in another place" in visible(answer.text)
    # Another try was begun since: its state is another.
    office.desk.client.cookies.update(kept)
    office.begin()
    assert office.desk.get(back).status_code == 403
    # And a code that was used.
    back = office.agree(office.begin())
    assert office.desk.get(back).status_code == 303
    assert office.desk.get(back).status_code == 403
    for cookie in ("", "x", "W10=", "eyJhIjoxfQ=="):
        office.desk.client.cookies.set(credentials.SIGN_IN, cookie)
        assert office.desk.get(back).status_code == 403


def test_pkce_and_nonce_are_new_each_time(office: Office) -> None:
    queries = [parse_qs(urlsplit(office.begin().headers["location"]).query) for _time in "ab"]
    for name in ("state", "nonce", "code_challenge"):
        assert queries[0][name] != queries[1][name]
    assert queries[0]["redirect_uri"] == [f"{BASE}/log-in/office/return"]


def test_it_leads_to_no_other_site_afterwards(office: Office) -> None:
    assert office.sign_in("//evil.example/").headers["location"] == "/"


def test_groups_give_roles_at_each_sign_in(
    provider: SignInProvider, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_OIDC_ROLE_CLAIM", "realm_access.roles")
    monkeypatch.setenv("QIAO_OIDC_ROLES", "desk=editor,chief=administrator,all=reader")
    monkeypatch.setenv("QIAO_OIDC_NEW_USERS", "on")
    monkeypatch.setenv("QIAO_OIDC_USER_CLAIM", "preferred_username")
    monkeypatch.setenv("QIAO_OIDC_NAME", "统一认证")
    with Database.open(database_url) as database:
        make_tables(database)
    with desk_at(database_url) as desk:
        office = Office(desk, provider)
        assert "Log in by 统一认证" in visible(desk.get("/log-in").text)

        def role(*groups: str) -> str:
            desk.client.cookies.clear()
            provider.claims = {"sub": "u-1", "realm_access": {"roles": list(groups)}}
            # Its name is only to be had by asking once more.
            provider.info = {"preferred_username": "王五"}
            answer = office.sign_in()
            return office.user("王五").role if answer.status_code == 303 else "refused"

        assert role("nothing") == "refused"
        assert role("desk", "all") == "editor"
        assert role("chief", "all") == "administrator"
        # Nobody could look after the console any more.
        assert role("all") == "administrator"
        with desk.database.engine.begin() as c:
            people.add_user(c, Actor("test"), "root", "-", "administrator")
        assert role("all") == "reader"
        assert role("other") == "refused"
        provider.info = {"sub": "somebody else", "preferred_username": "root"}
        provider.claims = {"sub": "u-1", "realm_access": {"roles": ["all"]}}
        assert office.sign_in().status_code == 403


def test_a_user_who_is_disabled_stays_out(office: Office) -> None:
    assert office.sign_in().status_code == 303
    user = office.user("li@office.test")
    with office.desk.database.engine.begin() as c:
        people.set_disabled(c, Actor("root"), user, disabled=True)
    office.desk.client.cookies.clear()
    answer = office.sign_in()
    assert answer.status_code == 403
    assert "may not log in to this console any more" in visible(answer.text)


def test_a_password_that_somebody_else_chose_ends_with_the_sign_in(office: Office) -> None:
    with office.desk.database.engine.begin() as c:
        user = people.find_user(c, "li@office.test")
        assert user is not None
        people.set_password(c, Actor("root"), user, "-first", by_self=False)
    assert office.sign_in().status_code == 303
    user = office.user("li@office.test")
    assert not user.must_change
    assert user.password != "-first"
    assert office.desk.get("/").status_code == 200


def test_log_out_ends_the_session_here_and_leads_to_the_provider(office: Office) -> None:
    office.sign_in()
    office.desk._cookie = office.desk.client.cookies[credentials.SESSION]
    answer = office.desk.post("/log-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/log-in?left=1")
    assert office.whose() == ""
    assert "/log-in/office/leave" in office.desk.get("/log-in?left=1").text
    away = office.desk.get("/log-in/office/leave").headers["location"]
    assert away.startswith(f"{office.provider.issuer}/leave?client_id={CLIENT}")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"QIAO_OIDC_CLIENT_ID": ""}, "needs QIAO_OIDC_CLIENT_ID"),
        ({"QIAO_OIDC_ISSUER": "http://sso.office.cn"}, "http only on this machine"),
        ({"QIAO_OIDC_ISSUER": "sso.office.cn"}, "QIAO_OIDC_ISSUER must be an address"),
        ({"QIAO_OIDC_ROLE_CLAIM": "groups"}, "go together"),
        ({"QIAO_OIDC_ROLES": "a=boss"}, "each word one of reader, editor, administrator"),
    ],
)
def test_options_that_are_wrong_stop_the_console_before_it_listens(
    provider: SignInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str], words: str,
) -> None:  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=words):
        create_app(ConsoleSettings(f"sqlite:///{tmp_path / 'x.db'}"))


def test_without_a_provider_there_is_nothing_of_it(sqlite_desk: Desk) -> None:
    assert "/log-in/office" not in sqlite_desk.get("/log-in?left=1").text
    for path in ("", "/return", "/leave"):
        assert sqlite_desk.get(f"/log-in/office{path}").status_code == 404


def test_strangers_cannot_fill_the_log_of_changes(office: Office) -> None:
    for _time in range(35):
        assert office.desk.get("/log-in/office/return?state=x&error=y").status_code == 403
    assert len(office.entries()) < 35
