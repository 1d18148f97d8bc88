"""What forms and addresses bring, read and checked."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.security import csrf
from qiaocrawl.console.security.redirects import local_path
from qiaocrawl.console.state import link
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _


async def field(request: Request, name: str, most_chars: int = 1000) -> str:
    """A field of the form that was sent, without white space around it; "" for none.

    Raises:
        ConfigError: it is longer than *most_chars*.
    """
    value = (await csrf.form_of(request)).get(name)
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > most_chars:
        raise ConfigError(_("{name} has more than {most} characters", name=name, most=most_chars))
    return text


def whole_number(request: Request, name: str, otherwise: int, least: int, most: int) -> int:
    """A number of the address, within bounds; *otherwise* for none or no number."""
    given = request.query_params.get(name, "")
    is_number = given.isascii() and given.isdigit() and len(given) < 19
    return min(max(int(given), least), most) if is_number else otherwise


async def back(request: Request, name: str, **parameters: object) -> Response:
    """Back to the page a form names in ``next``, else to the page called *name*."""
    otherwise = link(request, name, **parameters)
    return RedirectResponse(local_path(await field(request, "next", 4000), otherwise), 303)
