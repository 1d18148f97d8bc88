"""Sign-in at the office's own provider by OpenID Connect: the code flow with PKCE and a nonce.

What begins it stays with the browser, in a cookie: a code that was meant for another browser, or
for another try, is worth nothing. What the provider says of a person counts only where its
signature, issuer, audience, time and nonce are right (OpenID Connect Core 1.0, 3.1.3.7).
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import httpx

from qiaocrawl.console.security.credentials import new_secret
from qiaocrawl.errors import ConfigError, SignInError
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage.people import ROLES
from qiaocrawl.text.visible import visible

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import AsyncOAuth2Client
    from authlib.oidc.core import CodeIDToken

_SECONDS = 10.0
# Its keys and addresses are read again then; a new key is asked for at once.
_KEPT_SECONDS = 3600.0
# So many refusals are noted in so long: anybody may send them, as often as they like.
_MOST_NOTED, _NOTED_SECONDS = 30, 600.0
# Between its clock and ours.
_LEEWAY_SECONDS = 60
# Signatures that only the provider can make: with a shared secret, or none, others could.
_ALGORITHMS = frozenset(
    f"{family}{bits}" for family in ("RS", "PS", "ES") for bits in (256, 384, 512)
)
_MOST_WORDS = 200
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """What the office set.

    Attributes:
        user_claim: the claim that is the name of a user of the console.
        makes_users: who has none is made a reader.
        role_claim: the claim with groups, dots lead into objects; "" where roles are ours alone.
        roles: the role that each group gives.
    """

    issuer: str
    client_id: str
    client_secret: str
    scopes: tuple[str, ...]
    name: str
    user_claim: str
    makes_users: bool
    role_claim: str
    roles: Mapping[str, str]


def settings_of(options: Options) -> OidcSettings | None:
    """The settings of QIAO_OIDC_…; None where no issuer is named.

    Raises:
        ConfigError: they are not whole or go against one another, or the library is missing.
    """
    issuer = options["QIAO_OIDC_ISSUER"].rstrip("/")
    if not issuer:
        return None
    if not options["QIAO_OIDC_CLIENT_ID"]:
        raise ConfigError(_("QIAO_OIDC_ISSUER needs QIAO_OIDC_CLIENT_ID"))
    parts = urlsplit(issuer)
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ConfigError(
            _("QIAO_OIDC_ISSUER={issuer!r}: http only on this machine, else https", issuer=issuer)
        )
    if bool(options["QIAO_OIDC_ROLE_CLAIM"]) != bool(options["QIAO_OIDC_ROLES"]):
        raise ConfigError(_("QIAO_OIDC_ROLE_CLAIM and QIAO_OIDC_ROLES go together"))
    try:
        import authlib.integrations.httpx_client  # noqa: F401
    except ImportError:
        raise ConfigError(
            _("sign-in needs a package that is not installed: pip install 'qiaocrawl[oidc]'")
        ) from None
    return OidcSettings(
        issuer,
        options["QIAO_OIDC_CLIENT_ID"],
        options["QIAO_OIDC_CLIENT_SECRET"],
        options["QIAO_OIDC_SCOPES"],
        options["QIAO_OIDC_NAME"],
        options["QIAO_OIDC_USER_CLAIM"],
        options["QIAO_OIDC_NEW_USERS"],
        options["QIAO_OIDC_ROLE_CLAIM"],
        dict(pair.rsplit("=", 1) for pair in options["QIAO_OIDC_ROLES"]),
    )


class Begun(NamedTuple):
    """A sign-in that has begun: kept by the browser until it returns."""

    state: str
    nonce: str
    verifier: str
    target: str

    def written(self) -> str:
        """As a cookie holds it."""
        return base64.urlsafe_b64encode(json.dumps(self).encode()).decode()

    @classmethod
    def read(cls, cookie: str) -> Begun | None:
        """What :meth:`written` wrote; None for anything else."""
        try:
            values = json.loads(base64.urlsafe_b64decode(cookie.encode()))
        except (binascii.Error, ValueError):
            return None
        is_whole = isinstance(values, list) and len(values) == len(cls._fields)
        return cls(*values) if is_whole and all(isinstance(v, str) for v in values) else None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signed in, as the provider knows them.

    Attributes:
        subject: what the provider calls them for ever; with its issuer it is theirs alone.
        name: of the user they are, "" where the provider does not say it, or did not verify it.
        role: by their groups; "" where roles are the console's own.
    """

    issuer: str
    subject: str
    name: str
    role: str


@dataclass(slots=True)
class _Known:
    metadata: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)
    read_at: float = -_KEPT_SECONDS


class Provider:
    """The office's provider, asked over HTTP."""

    def __init__(self, settings: OidcSettings) -> None:
        self.settings = settings
        self._known = _Known()
        self._noted: deque[float] = deque(maxlen=_MOST_NOTED)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.settings.name or _("the office's sign-in")

    def may_note(self) -> bool:
        """Whether one more refusal goes into the log of changes, which strangers must not fill."""
        now = time.monotonic()
        is_full = len(self._noted) == _MOST_NOTED and now - self._noted[0] < _NOTED_SECONDS
        if not is_full:
            self._noted.append(now)
        return not is_full

    async def begin(self, return_to: str, target: str) -> tuple[str, Begun]:
        """Where the browser goes to sign in, and what it keeps meanwhile.

        Args:
            return_to: our address that it comes back to, which the provider has to know.
            target: the page that is wanted afterwards.

        Raises:
            SignInError: the provider does not answer.
        """
        metadata = await self._metadata()
        begun = Begun(new_secret(), new_secret(), new_secret() + new_secret(), target)
        async with self._client(return_to) as client:
            url, _state = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=begun.state,
                nonce=begun.nonce,
                code_verifier=begun.verifier,
            )
        return url, begun

    async def finish(
        self, answer: Mapping[str, str], begun: Begun | None, return_to: str
    ) -> Identity:
        """Who came back with *answer*, the parameters of the address.

        Raises:
            SignInError: nobody did; says why.
        """
        if begun is None or not hmac.compare_digest(
            answer.get("state", "").encode("utf-8", "replace"), begun.state.encode()
        ):
            raise SignInError(_("This sign-in was begun in another place or too long ago."))
        if answer.get("iss", self.settings.issuer).rstrip("/") != self.settings.issuer:
            raise SignInError(_("Another provider has answered."))
        if "code" not in answer:
            words = answer.get("error_description") or answer.get("error") or ""
            raise SignInError(_("The sign-in was refused: {words}", words=_short(words)))
        metadata = await self._metadata()
        token = await self._token(metadata, answer["code"], begun, return_to)
        claims = await self._claims(metadata, token, begun)
        return self._identity(await self._with_user_info(metadata, token, claims))

    async def leave_url(self, return_to: str) -> str:
        """Where the browser signs out of the provider too; "" where that has no such page.

        Raises:
            SignInError: the provider does not answer.
        """
        metadata = await self._metadata()
        url = metadata.get("end_session_endpoint")
        if not isinstance(url, str):
            return ""
        query = {"client_id": self.settings.client_id, "post_logout_redirect_uri": return_to}
        return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"

    # --- What is asked of the provider ------------------------------------------------------------

    async def _metadata(self) -> dict[str, Any]:
        if time.monotonic() - self._known.read_at < _KEPT_SECONDS:
            return self._known.metadata
        issuer = self.settings.issuer
        metadata = await self._get(f"{issuer}/.well-known/openid-configuration")
        # Else another provider could have its keys taken for this one's.
        if str(metadata.get("issuer", "")).rstrip("/") != issuer or any(
            not isinstance(metadata.get(name), str) for name in _NEEDED
        ):
            raise SignInError(_("{name} describes itself wrongly.", name=self.name), is_away=True)
        self._known = _Known(metadata, {}, time.monotonic())
        return metadata

    async def _get(self, url: str, token: str = "") -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            async with httpx.AsyncClient(timeout=_SECONDS) as client:
                response = await client.get(url, headers=headers)
                response.raise_for_status()
                found = response.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise self._away(error) from error
        if not isinstance(found, dict):
            raise self._away(ValueError(type(found).__name__))
        return found

    def _away(self, error: Exception) -> SignInError:
        words = _short(str(error) or type(error).__name__)
        return SignInError(
            _("{name} does not answer: {error}", name=self.name, error=words), is_away=True
        )

    def _client(self, return_to: str) -> AsyncOAuth2Client:
        from authlib.integrations.httpx_client import AsyncOAuth2Client

        secret = self.settings.client_secret
        return AsyncOAuth2Client(
            client_id=self.settings.client_id,
            client_secret=secret or None,
            token_endpoint_auth_method=self._way_to_prove() if secret else "none",
            scope=" ".join(self.settings.scopes),
            redirect_uri=return_to,
            code_challenge_method="S256",
            timeout=_SECONDS,
        )

    def _way_to_prove(self) -> str:
        """How the client's secret is sent: in a header, unless the provider takes it as field."""
        ways = self._known.metadata.get("token_endpoint_auth_methods_supported")
        takes_field_only = isinstance(ways, list) and "client_secret_basic" not in ways
        return "client_secret_post" if takes_field_only else "client_secret_basic"

    async def _token(
        self, metadata: Mapping[str, Any], code: str, begun: Begun, return_to: str
    ) -> dict[str, Any]:
        from authlib.integrations.base_client import OAuthError

        try:
            async with self._client(return_to) as client:
                token = await client.fetch_token(
                    metadata["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=begun.verifier,
                )
        except OAuthError as error:
            words = _short(error.description or error.error or "")
            raise SignInError(_("The sign-in was refused: {words}", words=words)) from error
        except (httpx.HTTPError, ValueError) as error:
            raise self._away(error) from error
        if not isinstance(token.get("id_token"), str):
            raise SignInError(_("{name} says nothing of who signed in.", name=self.name))
        return dict(token)

    async def _claims(
        self, metadata: Mapping[str, Any], token: Mapping[str, Any], begun: Begun
    ) -> CodeIDToken:
        """What its signed answer says, checked whole."""
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import JoseError

        try:
            decoded = await self._decoded(metadata, token["id_token"])
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "values": [metadata["issuer"]]},
                    "aud": {"essential": True, "value": self.settings.client_id},
                },
                {
                    "nonce": begun.nonce,
                    "client_id": self.settings.client_id,
                    "access_token": token.get("access_token"),
                },
            )
            claims.validate(leeway=_LEEWAY_SECONDS)
        # The last three: keys or claims of another shape than the standards have.
        except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise SignInError(
                _("What {name} answered cannot be believed: {why}", name=self.name, why=_why(error))
            ) from error
        return claims

    async def _decoded(self, metadata: Mapping[str, Any], text: str) -> Any:
        from joserfc import jwt
        from joserfc.errors import BadSignatureError, InvalidKeyIdError
        from joserfc.jwk import KeySet
        from joserfc.jws import JWSRegistry

        offered = metadata.get("id_token_signing_alg_values_supported")
        allowed = _ALGORITHMS & set(offered if isinstance(offered, list) else ()) or {"RS256"}
        registry = JWSRegistry(algorithms=sorted(allowed), strict_check_header=False)
        had_keys = bool(self._known.keys)
        keys: Any = self._known.keys or await self._get(metadata["jwks_uri"])
        self._known.keys = keys
        try:
            return jwt.decode(text, KeySet.import_key_set(keys), registry=registry)
        except (InvalidKeyIdError, BadSignatureError):
            if not had_keys:
                raise
        # It may have a new key since.
        self._known.keys = keys = await self._get(metadata["jwks_uri"])
        return jwt.decode(text, KeySet.import_key_set(keys), registry=registry)

    async def _with_user_info(
        self, metadata: Mapping[str, Any], token: Mapping[str, Any], claims: CodeIDToken
    ) -> dict[str, Any]:
        """*claims*, with what some providers tell only when they are asked once more."""
        settings, url = self.settings, metadata.get("userinfo_endpoint")
        wanted = (settings.user_claim, settings.role_claim)
        lacks = any(name and _value(claims, name) is None for name in wanted)
        if not lacks or not isinstance(url, str) or not isinstance(token.get("access_token"), str):
            return dict(claims)
        told = await self._get(url, token["access_token"])
        if told.get("sub") != claims["sub"]:
            raise SignInError(
                _("What {name} answered cannot be believed: {why}", name=self.name, why="sub")
            )
        return told | dict(claims)

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        settings = self.settings
        name = _value(claims, settings.user_claim)
        is_verified = claims.get("email_verified") in (True, "true")
        if not isinstance(name, str) or (settings.user_claim == "email" and not is_verified):
            name = ""
        role = ""
        if settings.role_claim:
            role = _role(_value(claims, settings.role_claim), settings.roles)
            if not role:
                raise SignInError(_("None of your groups gives a right to this console."))
        return Identity(settings.issuer, str(claims["sub"]), name.strip(), role)


def _value(claims: Mapping[str, Any], path: str) -> Any:
    """The claim of that name; dots lead into objects, as in ``realm_access.roles``."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _role(groups: Any, roles: Mapping[str, str]) -> str:
    """The highest role that one of *groups* (one, or several) gives; "" for none."""
    own = groups if isinstance(groups, list) else [groups]
    given = {roles[group] for group in own if isinstance(group, str) and group in roles}
    return max(given, key=ROLES.index, default="")


def _why(error: Exception) -> str:
    """What is wrong with a signed answer, in words where people can do something about it."""
    from joserfc.errors import (
        BadSignatureError,
        ClaimError,
        ExpiredTokenError,
        InvalidKeyIdError,
    )

    if isinstance(error, ExpiredTokenError):
        return _("it has expired; do the clocks of both machines agree?")
    if isinstance(error, InvalidKeyIdError):
        return _("it is signed with an unknown key")
    if isinstance(error, BadSignatureError):
        return _("its signature is wrong")
    if isinstance(error, ClaimError):
        return _("“{claim}” is wrong", claim=error.claim)
    return _short(str(error) or type(error).__name__)


def _short(words: str) -> str:
    """What others say, as one short line."""
    return " ".join(visible(words).split())[:_MOST_WORDS]
