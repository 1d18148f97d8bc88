"""Dates that markup puts into a heading beside the title."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DATE = (
    r"(?:(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}日?|"
    r"(?:[一二三四五六七八九十]{1,2}|\d{1,2}\s?)月\s?\d{1,2}(?:st|nd|rd|th)?,?\s?(?:19|20)\d\d|"
    r"[A-Z][a-z]{2,8}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s(?:19|20)\d\d|"
    r"\d{1,2}(?:st|nd|rd|th)?\s[A-Z][a-z]{2,8}\.?,?\s(?:19|20)\d\d)"
)
_DATE_AT_END = re.compile(
    rf"(?:[\s（(\[【|·,，-]+(?:发[布表](?:于|时间)?|[Pp]osted on|on)?[\s:：]*)?{_DATE}"
    r"(?:\s*\d{1,2}[:：]\d\d(?:[:：]\d\d)?)?[\s）)\]】]*$"
)
_DATE_AT_START = re.compile(rf"^[\s（(\[【]*{_DATE}[\s）)\]】:：|·-]+")


def without_date(text: str, witnesses: Iterable[str]) -> str:
    """*text* less a date at its end or beginning, where a witness has the rest without it.

    Args:
        witnesses: ``<title>`` and the declared titles, without white space.
    """
    if "20" not in text and "19" not in text:
        return text
    for pattern in (_DATE_AT_END, _DATE_AT_START):
        match = pattern.search(text)
        if match is None:
            continue
        rest = text[: match.start()] + text[match.end() :]
        tight, tight_rest = "".join(text.split()), "".join(rest.split())
        if tight_rest and any(tight_rest in other and tight not in other for other in witnesses):
            return rest.strip()
    return text
