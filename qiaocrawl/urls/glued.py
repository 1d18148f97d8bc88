"""Chinese text that authors glue to a URL: ``http://example.com/a.html，更多``.

Inside a path Chinese letters may be meant (an encyclopaedia's titles), so text is cut only
where a URL has visibly ended: in the last label of the host, after a page's file ending, or
as sentence punctuation at the very end.
"""

from __future__ import annotations

import re

_WIDE_MARKS = "，。；：！？、（）【】《》「」『』“”‘’…"
# "http://example.com更多", "https://example.com，/x"
_HOST_END = re.compile(r"(https?://(?:[\w-]+\.)+[a-z]{2,8})([^\x00-\x7f].*)", re.I | re.A | re.S)
_WIDE_DOTS = "。．｡"  # read as "." inside a host name
# "/a.html更多", "/show.php（来源"
_FILE_END = re.compile(r"(\.(?:s?html?|php|aspx?|jsp|do))[^\x00-\x7f].*", re.I | re.A | re.S)
# "/a，", "/topic。”"
_TAIL = re.compile(rf"(?<=[\x21-\x7e])[{_WIDE_MARKS}]+$")


def cut_glued_text(url: str) -> str:
    """*url* without the Chinese text glued to its end; ASCII comes back as it is."""
    if url.isascii():
        return url
    host = _HOST_END.match(url)
    if host is not None and _is_glued_to_host(host[2]):
        return host[1]
    return _TAIL.sub("", _FILE_END.sub(r"\1", url, count=1))


def _is_glued_to_host(rest: str) -> bool:
    """Whether *rest*, which follows an ASCII label, is text rather than part of the host."""
    if rest[0] in _WIDE_DOTS:
        # "a.com。更多" ends a sentence; "www.a。com" is a host.
        return not rest[1:2].isascii() or not rest[1:2].isalnum()
    if rest[0] in _WIDE_MARKS:
        return True
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    # "www.ab中文.com" is a host that goes on; "www.a.com更多/x" is not.
    return not any(dot in authority for dot in "." + _WIDE_DOTS)
