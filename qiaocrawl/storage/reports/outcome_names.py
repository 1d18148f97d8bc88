"""What outcomes of URLs are called, the same on every screen; and what to do about misses."""

from __future__ import annotations

from typing import NamedTuple

from qiaocrawl.items import Outcome

OUTCOME_NAMES = {
    Outcome.ARTICLE: "文章 articles",
    Outcome.PART: "文章续页 later parts of articles",
    Outcome.LIST: "列表页 list pages",
    Outcome.REDIRECT: "跳转 redirects",
    Outcome.ALIAS: "同页别址 other addresses of pages",
    Outcome.DEAD: "死链 dead",
    Outcome.SOFT_404: "假死链（200）soft 404",
    Outcome.UNREACHABLE: "连不上 unreachable",
    Outcome.NOT_ARTICLE: "非文章 no article",
    Outcome.SCANNED: "扫描件 scanned document",
    Outcome.NOT_HTML: "非网页 not HTML",
    Outcome.NEEDS_RENDERING: "需要渲染 needs rendering",
    Outcome.LOGIN: "需要登录 login wall",
    Outcome.ROBOTS: "robots.txt 不许 robots",
    Outcome.BLOCKED: "拒绝 forbidden",
    Outcome.TOO_LARGE: "过大 too large",
    Outcome.REFUSED: "内网地址 refused",
    Outcome.POISON: "搁置 set aside",
    Outcome.SITEMAP: "站点地图 sitemaps",
    Outcome.FEED: "订阅源 feeds",
    Outcome.NOT_MODIFIED: "未变 not modified",
    Outcome.TRAP: "陷阱，不采 left as traps",
    Outcome.PRUNED: "策略舍去 left out by the crawl order",
    Outcome.POSTPONED: "缓采 postponed by a guess",
    "waiting": "待采 waiting",
}
"""In the order they are shown."""


class Advice(NamedTuple):
    """What an operator can do about pages that were missed; ``command`` works as it is."""

    words: str
    command: str = ""


def _retry(outcome: Outcome) -> str:
    return f"qiaocrawl url retry --outcome {outcome}"


ADVICE = {
    Outcome.NEEDS_RENDERING: Advice(
        "装 Chromium，令其重新等待，以 QIAO_RENDER=auto 再采 "
        "install Chromium, let them wait again, crawl with QIAO_RENDER=auto",
        _retry(Outcome.NEEDS_RENDERING),
    ),
    Outcome.LOGIN: Advice(
        "有账号可登录（qiaocrawl session add），令其重新等待 "
        "log in with an account, let them wait again",
        _retry(Outcome.LOGIN),
    ),
    Outcome.ROBOTS: Advice(
        "该站不许爬虫：请其放行，或人工查看 the site forbids robots: ask it, or read them by hand"
    ),
    Outcome.BLOCKED: Advice(
        "令其重新等待，放慢（-s DOWNLOAD_DELAY=5）或用代理再采 "
        "let them wait again, crawl slower or by a proxy",
        _retry(Outcome.BLOCKED),
    ),
    Outcome.UNREACHABLE: Advice(
        "查网络与网址，令其重新等待 look at network and address, let them wait again",
        _retry(Outcome.UNREACHABLE),
    ),
    Outcome.TOO_LARGE: Advice(
        "调大 DOWNLOAD_MAXSIZE，令其重新等待 raise DOWNLOAD_MAXSIZE, let them wait again",
        _retry(Outcome.TOO_LARGE),
    ),
    Outcome.SCANNED: Advice("扫描件无文字，人工查看 pictures of pages: read them by hand"),
    Outcome.POISON: Advice(
        "再读一次存档 read them once more", "qiaocrawl reprocess --stage extract"
    ),
    Outcome.TRAP: Advice(
        "若属误判，以 QIAO_TRAPS_ALLOWED=站/路径/* 放行 "
        "if that is wrong, allow them by QIAO_TRAPS_ALLOWED=HOST/PATH/*"
    ),
}


def short_name(outcome: Outcome) -> str:
    """The Chinese name alone."""
    return OUTCOME_NAMES[outcome].partition(" ")[0]
