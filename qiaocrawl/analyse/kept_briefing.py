"""Keeps a briefing with its files, so that it can be read again as it was told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.analysis.briefings import KeptBriefing, ToldStory, keep_briefing
from qiaocrawl.storage.export.briefing.html import to_html
from qiaocrawl.storage.export.briefing.markdown import to_markdown
from qiaocrawl.storage.export.briefing.word import to_docx

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.analysis.briefing import Briefing

HTML_TEMPLATE, WORD_TEMPLATE = "briefing.html", "briefing.docx"


def office_templates(given: str) -> tuple[str, bytes]:
    """The page and the Word file of the office's templates; "" and b"" for ours.

    Args:
        given: the folder of QIAO_BRIEFING_TEMPLATES; "" for none.

    Raises:
        ConfigError: there is neither of them, or one cannot be read.
    """
    if not given:
        return "", b""
    page, word = Path(given) / HTML_TEMPLATE, Path(given) / WORD_TEMPLATE
    if not page.is_file() and not word.is_file():
        raise ConfigError(_("QIAO_BRIEFING_TEMPLATES={given!r}: neither {page} nor {word} is there",
                            given=given, page=page.name, word=word.name))  # fmt: skip
    try:
        return (
            page.read_text("utf-8") if page.is_file() else "",
            word.read_bytes() if word.is_file() else b"",
        )
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            _("QIAO_BRIEFING_TEMPLATES={given!r}: {error}", given=given, error=error)
        ) from error


def briefing_files(
    made: Briefing, html_template: str = "", docx_template: bytes = b""
) -> dict[str, bytes]:
    """*made* in each form that is kept, by ending.

    Raises:
        ConfigError: a template is wrong.
    """
    return {
        "html": to_html(made, html_template).encode(),
        "md": to_markdown(made).encode(),
        "docx": to_docx(made, docx_template),
    }


def keep(c: Connection, topic: str, made: Briefing, files: dict[str, bytes]) -> int:
    """Keep *made*, the briefing of the imported *topic*; its number."""
    told = [ToldStory(own.number, own.title, own.articles) for own in made.stories]
    told += [ToldStory(*own) for own in made.others]
    kept = KeptBriefing(
        0, topic, made.since, made.before, datetime.now(UTC), made.articles, tuple(told)
    )
    return keep_briefing(c, kept, files)
