"""All metrics there are: name, help, labels. docs/operations.md lists them; a test compares."""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """A gauge; ``name`` stands behind ``qiaocrawl_``."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


# A table.
# fmt: off
FAMILIES = (
    Family("up", "1 while the database answers and has this version's schema."),
    Family("info", "Always 1: versions of the program and of the schema.", ("version", "schema")),
    Family("database_seconds", "Time of one short question to the database."),
    Family("reading_age_seconds", "Age of what is shown: part quick or counted.", ("part",)),
    Family("reading_cost_seconds", "What reading that part took.", ("part",)),
    # quick
    Family("pages_per_second", "Fetched pages that were closed, mean of five minutes.",
           ("topic", "queue")),
    Family("relevant_pages_per_second", "Of them those on topic.", ("topic", "queue")),
    Family("collectors", "Workers that gave a sign of life within 30 s (MariaDB).",
           ("spider", "topic")),
    Family("collector_pages_per_second", "What they say they fetch, together.",
           ("spider", "topic")),
    Family("leases", "URLs in hand: held, or expired, which nobody renews any more.", ("state",)),
    Family("newest_article_timestamp_seconds", "When the newest article was stored."),
    Family("run_last_success_timestamp_seconds", "End of the newest run that did its task.",
           ("spider", "topic")),
    Family("run_last_failed", "1 where the newest run that ended did not do its task.",
           ("spider", "topic")),
    Family("jobs", "Spiders asked for from the console or for nodes, by where they stand.",
           ("state",)),
    Family("nodes", "scrapyd servers: ready, draining or away.", ("state",)),
    Family("warning_messages", "Warnings not delivered: waiting, failing (tried in vain, to be "
           "tried again) or given_up.", ("state",)),
    Family("hosts_blocked", "Hosts that asked to be left alone for now."),
    Family("disk_free_bytes", "Room on the disk of a SQLite file."),
    # counted
    Family("frontier_urls", "URLs that are not done, by where they stand.",
           ("topic", "queue", "state")),
    Family("frontier_oldest_waiting_seconds", "How long the oldest waiting URL has been due.",
           ("topic", "queue")),
    Family("urls_closed_last_hour", "URLs that ended within an hour, by outcome.", ("outcome",)),
    Family("search_answers_last_day", "Answers of engines within a day, by what they were.",
           ("engine", "state")),
    Family("raw_pages_in_database", "Pages and pictures in rows of the database."),
    Family("page_store_bytes", "Size of a page store: its whole files, and those that only wait "
           "to be deleted.", ("store", "state")),
    Family("page_store_records", "Pages and pictures in a page store; unread could not be read "
           "when they were verified last.", ("store", "state")),
    Family("alarms", "What `qiaocrawl health` names."),
)
# fmt: on
BY_NAME = {family.name: family for family in FAMILIES}
