"""``qiaocrawl watch …``: what is watched, when it is due, and what became of an article."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from difflib import unified_diff
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import folding_table, shown_moment, shown_seconds, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.options import Options
from qiaocrawl.storage.pages import revisions
from qiaocrawl.storage.pages.revisions import Revision, Source
from qiaocrawl.storage.reports import url_history
from qiaocrawl.storage.sites import watch_counts, watched
from qiaocrawl.storage.sites.watched import WatchedPage
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.urls import canonical_url, url_key

app = typer.Typer(
    help="Pages that are looked at again and again, and what articles said before. 监测",
    no_args_is_help=True,
)

_KINDS = {"home": "首页 home", "rolling": "滚动 rolling", "channel": "频道 channel",
          "list": "列表 list", "feed": "订阅 feed"}  # fmt: skip
_FACTS = {
    revisions.REVISED: "改动 revised",
    revisions.DELETED: "删除 deleted",
    revisions.RESTORED: "恢复 restored",
    revisions.WITHDRAWN: "撤回 withdrawn",
}
_CHANGES = {"title": "标题 title", "body": "正文 body",
            "title and body": "标题和正文 title and body"}  # fmt: skip

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_pages(
    topic: Annotated[str, typer.Argument(help="An imported topic; none: all of them.")] = "",
    site: Annotated[str, typer.Option(help="Only pages of this host.")] = "",
    as_json: AsJson = False,
    database: DatabaseUrl = "",
) -> None:
    """Show what is watched: group, interval, last change, next visit, what it brought.

    监测哪些页面：组别、间隔、最近更新、下次访问、带来多少新链接。
    """
    options = Options.from_environment({"QIAO_DATABASE_URL": database} if database else None)
    with connection_to(database) as c:
        topics = [row.name for row in list_topics(c) if topic in ("", row.name)]
        if not topics:
            raise ConfigError(f"topic {topic!r} is not in the database")
        by_topic = [_topic_facts(c, name, site, options) for name in topics]
    if as_json:
        typer.echo(json.dumps(by_topic, ensure_ascii=False, indent=2))
        return
    for facts in by_topic:
        _show_topic(facts)


def _topic_facts(c: Connection, topic: str, site: str, options: Options) -> dict[str, Any]:
    now = time.time()
    pages = [page for page in watched.watched_pages(c, topic) if site in ("", page.host)]
    waiting, first = watched.articles_waiting(c, topic)
    listing, articles, looks = watch_counts.totals_today(c, topic, now)
    return {
        "topic": topic,
        "requests_today": {"pages": listing, "new_articles": articles, "articles_again": looks},
        "daily_requests": options["QIAO_WATCH_DAILY_REQUESTS"],
        "articles_to_look_at": waiting,
        "next_article_at": first,
        "pages": [_page_dict(page) for page in sorted(pages, key=lambda page: page.next_at)],
    }


def _page_dict(page: WatchedPage) -> dict[str, Any]:
    left_out = ("key", "memory", "digest", "state", "url_id")
    return {name: value for name, value in asdict(page).items() if name not in left_out}


def _show_topic(facts: dict[str, Any]) -> None:
    table = folding_table("页面 page", "组别 group", "名称 name", "间隔 interval",
                          "新链/天 news/day", "最近更新 changed", "下次 next", "访问 visits",
                          "更新 changes", "新链 news", "失败 failures")  # fmt: skip
    for column in (3, 4, 7, 8, 9, 10):
        table.columns[column].justify = "right"
    for page in facts["pages"]:
        table.add_row(*_cells(page))
    console = table_console()
    requests = facts["requests_today"]
    first = shown_seconds(facts["next_article_at"])
    console.print(
        f"{facts['topic']}: 监测页 watched {len(facts['pages'])}; 今日请求 requests today "
        f"{sum(requests.values())}/{facts['daily_requests']} (页 pages {requests['pages']}, 新文 "
        f"new articles {requests['new_articles']}, 复查 again {requests['articles_again']}); "
        f"待复查文章 articles to look at again {facts['articles_to_look_at']}"
        + (f", 最早 first {first}" if first else ""),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    console.print(table)


def _cells(page: dict[str, Any]) -> Iterator[str]:
    yield escape(page["url"])
    yield _KINDS.get(page["kind"], page["kind"])
    yield escape(page["name"])
    yield _hours(page["wait_hours"]) if page["wait_hours"] else ""
    yield f"{24 * page['rate']:.3g}"
    yield shown_seconds(page["changed_at"])
    yield shown_seconds(page["next_at"])
    for name in ("visits", "changes", "news", "failures"):
        yield str(page[name])


@app.command("history")
def show_history(
    url: Annotated[str, typer.Argument(help="The address of an article.")],
    diff: Annotated[bool, typer.Option("--diff", help="Show what changed, line by line.")] = False,
    as_json: AsJson = False,
    database: DatabaseUrl = "",
) -> None:
    """Show the versions of an article: what it said before, deletions, stored pages.

    文章的历次版本：改前内容、删除与恢复、存下的网页。
    """
    canonical = canonical_url(url.strip())
    with connection_to(database) as c:
        history = url_history.url_history(c, url_key(canonical)) if canonical else None
        if history is None:
            raise ConfigError(f"{url!r} was never seen")
        facts = revisions.revisions_of(c, history.id)
        sources = revisions.sources_of(c, history.id)
        today = revisions.article_text(c, history.id)
    if as_json:
        answer = {"url": history.url, "now": today and {"title": today[0], "text": today[1]},
                "revisions": [asdict(one) for one in facts],
                "pages": [asdict(one) for one in sources]}  # fmt: skip
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2, default=str))
        return
    _show_history(facts, sources, today)
    if diff:
        _show_changes(facts, today)


def _show_history(
    facts: list[Revision], sources: list[Source], today: tuple[str, str] | None
) -> None:
    table = folding_table("时间 at", "何事 what", "标题 title", "说明 note")
    rows = [(source.fetched_at, "存页 page stored", "", f"{source.body_bytes} bytes, 至 seen until "
             f"{shown_moment(source.last_seen_at)}") for source in sources]  # fmt: skip
    rows += [(fact.at, _FACTS.get(fact.kind, fact.kind), fact.title and f"原 was: {fact.title}",
              _CHANGES.get(fact.note, fact.note)) for fact in facts]  # fmt: skip
    for at, what, title, note in sorted(rows, key=lambda row: row[0]):
        table.add_row(shown_moment(at, "%Y-%m-%d %H:%M:%S"), what, escape(title), escape(note))
    if today is not None:
        table.add_row("", "现存 stored now", escape(today[0]), f"{len(today[1])} 字 characters")
    table_console().print(table)


def _show_changes(facts: list[Revision], today: tuple[str, str] | None) -> None:
    versions = [(f"{fact.title}", fact.text, shown_moment(fact.at)) for fact in facts
                if fact.kind == revisions.REVISED]  # fmt: skip
    if today is not None:
        versions.append((*today, "现存 now"))
    for before, after in zip(versions, versions[1:], strict=False):
        old, new = ([title, *text.split("\n")] for title, text, _ in (before, after))
        names = (f"改前 before {before[2]}", f"改后 after ({after[2]})")
        for line in unified_diff(old, new, names[0], names[1], n=1, lineterm=""):
            typer.echo(line)


def _hours(hours: float) -> str:
    if hours < 1:
        return f"{60 * hours:.0f} min"
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} d"
