"""What the console keeps beside requests: templates, and jobs that go on."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.template_file import (
    LINK_KINDS,
    Selector,
    Template,
    Templates,
    load_templates,
    read_template,
)
from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.jobs.local import Logins
from qiaocrawl.language import _
from qiaocrawl.news.pushes import queue_due, stored_pushes
from qiaocrawl.news.trends.usual import calendar_with
from qiaocrawl.news.warnings.channels import all_channels, kept_channels
from qiaocrawl.news.warnings.delivery import deliver_due
from qiaocrawl.options import Options
from qiaocrawl.reading.article_columns import ArticleColumns
from qiaocrawl.storage import Database
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.keepers import COUNTS, GROUPS, JOBS, MESSAGES, KeeperLog, error_of
from qiaocrawl.storage.pages.article_changes import purge_changes
from qiaocrawl.storage.topics.word_groups import mark_some, sweep_hits

SELECTORS = ("body", "exclude", "title", "date", "author", "source")
LINKS = ("links", *(f"links_{kind}" for kind in LINK_KINDS))
FIELDS = ("hosts", "path", *SELECTORS, *LINKS)
"""Of the form; of all but ``path`` each line is one host or one selector."""


def form_of(template: Template) -> dict[str, str]:
    """The form's fields as *template* has them."""
    fields = {name: _lines(getattr(template, name)) for name in SELECTORS}
    links = {
        f"links_{kind}" if kind else "links": _lines(selectors)
        for kind, selectors in template.links.items()
    }
    empty = dict.fromkeys(FIELDS, "")
    return {**empty, "hosts": "\n".join(template.hosts), "path": template.path, **fields, **links}


def _lines(selectors: Sequence[Selector]) -> str:
    return "\n".join(selector.written for selector in selectors)


def table_of(form: Mapping[str, str]) -> dict[str, Any]:
    """The table of a template file that the form's fields make."""
    lists = {
        name: [line.strip() for line in form.get(name, "").splitlines() if line.strip()]
        for name in FIELDS
        if name != "path"
    }
    table: dict[str, Any] = {"hosts": lists["hosts"], "path": form.get("path", "") or "*"}
    table |= {name: lists[name] for name in SELECTORS if lists[name]}
    by_kind = {kind: lists[f"links_{kind}"] for kind in LINK_KINDS if lists[f"links_{kind}"]}
    if by_kind:
        table["links"] = by_kind | ({"": lists["links"]} if lists["links"] else {})
    elif lists["links"]:
        table["links"] = lists["links"]
    return table


def check_template(table: Mapping[str, Any]) -> Template:
    """The template in *table*.

    Raises:
        ConfigError: it has faults; the message names each.
    """
    template, faults = read_template(table)
    if template is None:
        raise ConfigError("; ".join(faults))
    return template


def template_text(table: Mapping[str, Any]) -> str:
    """*table* as the text of a template file."""
    lines = [f"{key} = {_toml(value)}" for key, value in table.items()]
    return "\n".join(["[[template]]", *lines]) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(part)}" for key, part in value.items())
        return f"{{{pairs}}}"
    # JSON's escapes are those of TOML; it leaves one control character bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def present_templates(place: str) -> Templates:
    """The templates at *place*; none where nothing is there yet.

    Raises:
        ConfigError: a file there has faults.
    """
    is_empty = not place or (Path(place).is_dir() and not any(Path(place).glob("*.toml")))
    return Templates() if is_empty else load_templates(place)


def save(place: str, table: Mapping[str, Any], url: str) -> Path:
    """Write the template in *table*, made for the page *url*, into the folder *place*.

    Raises:
        ConfigError: it has faults, *place* is no folder, or a template of another file counts
            for the page.
        StorageError: the file cannot be written.
    """
    template, file = check_template(table), file_of(place, table)
    before = file.read_bytes() if file.is_file() else None
    with growing_file(file) as part:
        part.write_text(template_text(table), "utf-8")
    try:
        if present_templates(place).find_for(url) == template:
            return file
    except ConfigError:
        _put_back(file, before)
        raise
    _put_back(file, before)
    text = _(
        "the template is not for {url}, or another file in {place} has one that goes before it",
        url=url,
        place=place,
    )
    raise ConfigError(text)


def _put_back(file: Path, before: bytes | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        file.write_bytes(before)


def file_of(place: str, table: Mapping[str, Any]) -> Path:
    """Where the console keeps the template of the hosts and the path in *table*.

    Raises:
        ConfigError: *place* is no folder.
    """
    if not place or not Path(place).is_dir():
        text = _(
            "QIAO_TEMPLATES names no folder, so templates cannot be saved here: make one, "
            "name it in .env, and start the console again"
        )
        raise ConfigError(text)
    key = json.dumps([sorted(table["hosts"]), table["path"]]).encode()
    # Letters, digits and dots: the host was checked.
    host = str(table["hosts"][0]).replace("*.", "").replace(":", "-")
    return Path(place) / f"{host}-{hashlib.blake2b(key, digest_size=4).hexdigest()}.toml"


# --- Keeps jobs and messages going while the console runs, each in a thread of its own ------------

LOGS = Path("data/logs")
"""Where local jobs write, as those of `qiaocrawl run`."""
_TICK_SECONDS = 2.0
_MESSAGES_SECONDS = 60.0
# All that may need a hand takes a second to look through where there is much.
_LOOKS_AN_ALARM = 5
_GROUPS_SECONDS = 5.0
_COUNTS_SECONDS = 10.0
_VERIFIED_SECONDS = 600.0
# Crawls write too, and SQLite has one writer: so long it is busy, then it is left alone.
_MARKING_SECONDS = 2.0


class _Keeper:
    """A thread that looks after something every *seconds*, and tells whether it could."""

    def __init__(self, database: Database, name: str, seconds: float) -> None:
        self._log = KeeperLog(database, name)
        self._seconds = seconds
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End that, and wait for it."""
        self._is_over.set()
        self._thread.join()

    def look(self) -> None:
        """Do all that is to be done now."""
        raise NotImplementedError

    @property
    def trouble(self) -> str:
        """What the last look could not do, in words; "" for nothing."""
        return ""

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            # The database may be away for a while; what is to be done stands in it.
            if (error := error_of(self.look)) is not None:
                self._log.note_failure(error)
            else:
                self._log.note_look(self.trouble)
        self._log.note_end()


class JobKeeper(_Keeper):
    """The desk of *database*, looked after every two seconds; the jobs themselves outlive it."""

    def __init__(self, database: Database, options: Options | None = None) -> None:
        super().__init__(database, JOBS, _TICK_SECONDS)
        self.desk = JobDesk(database, options or Options.from_environment(), LOGS)
        self.logins = Logins(database.url, LOGS)

    def stop(self) -> None:
        """End that, and wait for it; the jobs themselves go on."""
        super().stop()
        self.desk.close()
        self.logins.close()

    def look(self) -> None:
        """See what became of the jobs, and start what is due."""
        self.desk.tick()

    @property
    def trouble(self) -> str:
        """What the desk could not do."""
        return self.desk.trouble


class MessageKeeper(_Keeper):
    """Makes the digests that are due, and sends all messages that are, every minute.

    Those to channels this process does not know are left to the command that does.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database, MESSAGES, _MESSAGES_SECONDS)
        self._database = database
        self._looks = 0

    def look(self) -> None:
        """Send what is due now."""
        options = Options.from_environment()
        file, keys = options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"]
        with self._database.reading() as c:
            channels = all_channels(c, file, keys) if file or kept_channels(c) else {}
            # A transaction that may write waits for the crawls'.
            has_pushes = bool(channels and stored_pushes(c))
        if has_pushes:
            calendar = calendar_with(options["QIAO_HOLIDAYS"])
            looks_at_alarms = self._looks % _LOOKS_AN_ALARM == 0
            with self._database.engine.begin() as c:
                queue_due(c, datetime.now(UTC), calendar, looks_at_alarms=looks_at_alarms)
            self._looks += 1
        if channels:
            deliver_due(self._database, channels, time.time(), only_known=True)


class GroupKeeper(_Keeper):
    """Marks stored articles with the groups of words that are new or changed, a part at a time."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, GROUPS, _GROUPS_SECONDS)
        self._database = database

    def look(self) -> None:
        """Mark what is behind for a moment; what is left is for the next look, or another's."""
        end = time.monotonic() + _MARKING_SECONDS
        while time.monotonic() < end and not self._is_over.is_set():
            with self._database.engine.begin() as c:
                if not mark_some(c).left:
                    break
        with self._database.engine.begin() as c:
            sweep_hits(c)


class CountKeeper(_Keeper):
    """Keeps the columns that lists are counted by: read once, and looked at now and then.

    Attributes:
        columns: follow the database whenever somebody counts.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database, COUNTS, _COUNTS_SECONDS)
        self._database = database
        self._verified_at = -math.inf
        self.columns = ArticleColumns()

    def look(self) -> None:
        """Read them where that is to be done; else see that they are true, and shorten the log."""
        with self._database.reading() as c:
            if not self.columns.is_ready:
                self.columns.read(c)
                self._verified_at = time.monotonic()
            elif time.monotonic() - self._verified_at > _VERIFIED_SECONDS:
                if not self.columns.is_true(c):
                    # Something changed without a trace: a restored backup, an edit by hand.
                    self.columns.forget()
                    self.columns.read(c)
                self._verified_at = time.monotonic()
        with self._database.engine.begin() as c:
            purge_changes(c)
