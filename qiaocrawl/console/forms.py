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
    """A number of the address, within bounds; *otherwise* for none or no number.

    For choices of a list, where nobody is told; :func:`wanted_number` is for all else.
    """
    given = request.query_params.get(name, "")
    is_number = given.isascii() and given.isdigit() and len(given) < 19
    return min(max(int(given), least), most) if is_number else otherwise


def wanted_number(name: str, text: str, least: int, most: int) -> int:
    """*text*, which somebody gave for *name*, as a whole number.

    Raises:
        ConfigError: it is none, or not within bounds; the message names it and what is allowed.
    """
    is_number = text.isascii() and text.isdigit() and len(text) < 20
    if not is_number or not least <= int(text) <= most:
        raise ConfigError(
            _(
                "{name} {value!r} must be a whole number from {least} to {most}",
                name=name, value=text, least=least, most=most,
            )
        )  # fmt: skip
    return int(text)


async def back(request: Request, name: str, **parameters: object) -> Response:
    """Back to the page a form names in ``next``, else to the page called *name*."""
    otherwise = link(request, name, **parameters)
    return RedirectResponse(local_path(await field(request, "next", 4000), otherwise), 303)
