"""What real sites have beside articles: moved, dead, looping and, a week later, changed pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from qiaocrawl.demo.articles import LOGIN_PATH, pages_of_article
from qiaocrawl.demo.feeds import notice_page
from qiaocrawl.demo.frame import SiteFrame
from qiaocrawl.demo.inventory import Site, load_furniture
from qiaocrawl.demo.model import DemoPage, Gold, Kind, content_type, pdf_file, png_file
from qiaocrawl.demo.publishing import Posting

_CALENDAR_YEARS = (2024, 2025, 2026)
_SOFT_LINKS, _DEAD_LINKS, _GONE_LINKS = 2, 3, 2

Build = Callable[[SiteFrame], DemoPage]


@dataclass(frozen=True, slots=True)
class Oddity:
    """A path, the words pages link to it with ("" where none do), and what builds its page."""

    path: str
    text: str
    build: Build


def oddities_of(seed: int, site: Site, postings: Sequence[Posting]) -> list[Oddity]:
    """All oddities of *site*, by its features; *postings* are what they lead to."""
    rng = random.Random(f"{seed}/{site.host}/oddities")
    readable = [
        posting
        for posting in postings
        if posting.robots_allowed and posting.kind is not Kind.LOGIN_WALL
    ]
    oddities: list[Oddity] = []
    for feature in (*site.features, f"{site.not_found}_not_found"):
        make = _MAKERS.get(feature)
        if make is not None:
            oddities += make(rng, site, readable)
    return oddities


def _redirects(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    """A permanent move, a temporary one, and a chain of three."""
    moved, lent, chained = rng.sample(list(postings), 3)
    yield _redirect(site, f"/go/{moved.number}", moved.title, 301, moved.path, moved)
    yield _redirect(site, f"/old/{lent.number}.html", lent.title, 302, lent.path, lent)
    steps = [f"/jump/{number}.html" for number in range(1, 4)]
    for step, following in zip(steps, (*steps[1:], chained.path), strict=True):
        text = chained.title if step == steps[0] else ""
        yield _redirect(site, step, text, 302, following, chained)


def _redirect(
    site: Site, path: str, text: str, status: int, target: str, end: Posting | None
) -> Oddity:
    target_url = site.url(end.path) if end else ""
    gold = Gold(site.url(path), Kind.REDIRECT, site.charset, target_url=target_url)
    # Some servers send absolute locations, some relative ones.
    location = site.url(target) if status == 301 else target
    return Oddity(path, text, lambda _: DemoPage(status, (("Location", location),), b"", gold))


def _loop(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    yield _redirect(site, "/loop/a.html", "服务指南（旧版）", 302, "/loop/b.html", None)
    yield _redirect(site, "/loop/b.html", "", 302, "/loop/a.html", None)


def _meta_refresh(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    target = rng.choice(postings)
    path = f"/news/jump.asp?id={target.number}"
    gold = Gold(site.url(path), Kind.REDIRECT, site.charset, target_url=site.url(target.path))
    markup = f'<html><head><meta http-equiv="refresh" content="0; url={target.path}"></head></html>'
    page = DemoPage(200, (content_type("text/html", site.header),), markup.encode(), gold)
    yield Oddity(path, target.title, lambda _: page)


def _dead(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    for posting, text in _false_paths(rng, postings, _DEAD_LINKS):
        yield _missing(site, posting, text, 404)


def _gone_articles(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    for posting, text in _false_paths(rng, postings, _GONE_LINKS):
        yield _missing(site, posting, text, 410)


def _broken_answers(
    rng: random.Random, site: Site, postings: Sequence[Posting]
) -> Iterator[Oddity]:
    """A server error and a connection that is cut."""
    yield _missing(site, "/html/error/content_1.htm", "读者来信选登", 500)
    gold = Gold(site.url("/html/error/content_2.htm"), Kind.DEAD, site.charset)
    page = DemoPage(200, (), b"", gold, drop=True)
    yield Oddity("/html/error/content_2.htm", "本报记者手记", lambda _: page)


def _missing(site: Site, path: str, text: str, status: int) -> Oddity:
    gold = Gold(site.url(path), Kind.DEAD, site.charset)
    markup = f"<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>"
    page = DemoPage(status, (content_type("text/html", ""),), markup.encode(), gold)
    return Oddity(path, text, lambda _: page)


def _false_paths(
    rng: random.Random, postings: Sequence[Posting], count: int
) -> list[tuple[str, str]]:
    """Paths that look like articles of the site but are none, with words for their links."""
    texts = rng.sample(load_furniture()["old_news"], count)
    chosen = rng.sample(list(postings), count)
    return [
        (posting.path.replace(str(posting.number), str(posting.number - 500 - at)), text)
        for at, (posting, text) in enumerate(zip(chosen, texts, strict=True))
    ]


def _soft(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    """Pages that are gone but answer 200."""
    for path, text in _false_paths(rng, postings, _SOFT_LINKS):
        yield Oddity(path, text, _soft_page(path, rng.choice(load_furniture()["soft_404"])))


def _soft_page(path: str, words: str) -> Build:
    return lambda frame: soft_404(frame, path, words)


def soft_404(frame: SiteFrame, path: str, words: str) -> DemoPage:
    """A page that says *words* (that there is nothing) with status 200."""
    markup = f'<p>{words}</p><a href="/">返回首页</a>'
    return notice_page(frame, path, Kind.SOFT_404, "提示信息", markup)


def _login(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    form = (
        f'<form method="post" action="{LOGIN_PATH}"><p>本页内容仅供会员阅读，请先登录。</p>'
        '<p>用户名：<input name="username"></p>'
        '<p>密　码：<input name="password" type="password"></p>'
        '<p><input type="submit" value="登录"> <a href="#">忘记密码</a></p></form>'
    )
    yield Oddity(LOGIN_PATH, "", _notice(LOGIN_PATH, Kind.LOGIN, "会员登录", form))


def _calendar(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    """A month each: a chain of nearly empty pages that leads ever deeper."""
    months = [(year, month) for year in _CALENDAR_YEARS for month in range(1, 13)]
    for position, (year, month) in enumerate(months):
        path = _month_path(year, month)
        around = months[max(0, position - 1) : position + 2]
        links = " ".join(
            f'<a href="{_month_path(*other)}">{other[0]}年{other[1]}月</a>'
            for other in around
            if other != (year, month)
        )
        days = " ".join(f"<td>{day}</td>" for day in range(1, 29))
        markup = f"<p>{links}</p><table><tr>{days}</tr></table><p>本月暂无活动。</p>"
        text = "活动日历" if (year, month) == months[-1] else ""
        heading = f"活动日历 {year}年{month}月"
        yield Oddity(path, text, _notice(path, Kind.CALENDAR, heading, markup))


def _month_path(year: int, month: int) -> str:
    return f"/rili/{year}-{month:02}.html"


def _notice(path: str, kind: Kind, heading: str, markup: str) -> Build:
    return lambda frame: notice_page(frame, path, kind, heading, markup)


def _files(rng: random.Random, site: Site, postings: Sequence[Posting]) -> Iterator[Oddity]:
    pdf, png = pdf_file(), png_file(320, 200)
    yield _file(site, "/files/nianbao2025.pdf", "年度工作报告（PDF）", "application/pdf", pdf)
    yield _file(site, "/files/ditu.png", "交通位置图", "image/png", png)


def _file(site: Site, path: str, text: str, kind: str, body: bytes) -> Oddity:
    gold = Gold(site.url(path), Kind.FILE, "")
    page = DemoPage(200, (("Content-Type", kind),), body, gold)
    return Oddity(path, text, lambda _: page)


_MAKERS: dict[str, Callable[[random.Random, Site, Sequence[Posting]], Iterator[Oddity]]] = {
    "redirects": _redirects,
    "loop": _loop,
    "meta_refresh": _meta_refresh,
    "dead": _dead,
    "gone": _gone_articles,
    "broken": _broken_answers,
    "login": _login,
    "calendar": _calendar,
    "files": _files,
    "soft_not_found": _soft,
}


# --- The pages that answer otherwise a week later: corrected articles, and one that is gone -------

_GONE = 410


def later_pages(seed: int, frame: SiteFrame) -> Iterator[tuple[str, DemoPage]]:
    """Every page of the site that changes, as it is then, by path."""
    changed = [_correct(posting) for posting in frame.postings]
    positions = [at for at, posting in enumerate(frame.postings) if posting.later]
    if not positions:
        return
    later_frame = SiteFrame(seed, frame.site, changed, frame.strays)
    for at in positions:
        for path, page in pages_of_article(later_frame, at):
            later = frame.postings[at].later
            yield path, _gone_a_week_later(frame, path) if later and later.deleted else page


def _correct(posting: Posting) -> Posting:
    if posting.later is None:
        return posting
    title, lines = posting.title, list(posting.lines)
    for old, new in posting.later.replace:
        title = title.replace(old, new)
        lines = [line.replace(old, new) for line in lines]
    note = [posting.later.note] if posting.later.note else []
    return replace(posting, title=title, lines=(*lines, *note))


def _gone_a_week_later(frame: SiteFrame, path: str) -> DemoPage:
    gold = Gold(frame.site.url(path), Kind.DEAD, frame.site.charset)
    markup = "<html><head><title>410</title></head><body><h1>410 Gone</h1></body></html>"
    return DemoPage(_GONE, (content_type("text/html", ""),), markup.encode(), gold)
