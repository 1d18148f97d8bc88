"""Changes come from forms of our own pages only.

Each form has a token that follows from the cookie, which other sites neither read nor can
guess. Besides, what the browser says of where a request comes from must not speak against it.
"""

from __future__ import annotations

import hashlib
import hmac

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from qiaocrawl.console.security.redirects import is_of_this_site
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

FIELD, HEADER = "csrf_token", "x-csrf-token"
_MAX_FIELDS = 2_000


def form_token(cookie: str) -> str:
    """The token of all forms that are shown to who has *cookie*."""
    return hashlib.blake2b(cookie.encode(), digest_size=24, person=b"qiao form").hexdigest()


def comes_from_elsewhere(request: Request) -> bool:
    """Whether the browser says that another site sent the request."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and not is_of_this_site(request, origin)


async def form_of(request: Request) -> FormData:
    """The form that *request* brings, as Starlette keeps it for the page behind.

    Raises:
        ConfigError: it is no form, or has too many fields.
    """
    try:
        return await request.form(max_files=20, max_fields=_MAX_FIELDS)
    except HTTPException:
        # What was wrong stands there in English.
        raise ConfigError(_("the form cannot be read; reload the page and try again")) from None


async def has_token(request: Request, token: str) -> bool:
    """Whether *request* brings *token*, in a field of its form or in a header."""
    given = request.headers.get(HEADER)
    if given is None:
        field = (await form_of(request)).get(FIELD)
        given = field if isinstance(field, str) else ""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())
