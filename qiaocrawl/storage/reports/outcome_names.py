"""What outcomes of URLs are called, the same on every screen; and what to do about misses."""

from __future__ import annotations

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

ADVICE = {
    Outcome.NEEDS_RENDERING: "装 Chromium，以 QIAO_RENDER=auto 再采 "
    "install Chromium and crawl again with QIAO_RENDER=auto (docs/rendering.md)",
    Outcome.LOGIN: "有账号可登录：qiaocrawl session add "
    "log in with an account: qiaocrawl session add (docs/sessions.md)",
    Outcome.ROBOTS: "该站不许爬虫：请其放行，或人工查看 "
    "the site forbids robots: ask it for leave, or read the pages by hand",
    Outcome.BLOCKED: "放慢（-s DOWNLOAD_DELAY=5）、换时段，或用代理 "
    "crawl it slower (-s DOWNLOAD_DELAY=5), at another time or by a proxy (docs/access.md)",
    Outcome.UNREACHABLE: "查网络与网址，过些时候再采 look at network and address, try again later",
    Outcome.TOO_LARGE: "调大 DOWNLOAD_MAXSIZE raise DOWNLOAD_MAXSIZE",
    Outcome.SCANNED: "扫描件无文字，人工查看 pictures of pages hold no text: read them by hand",
    Outcome.POISON: "qiaocrawl reprocess --stage extract 再读一次 read it once more",
    Outcome.TRAP: "若属误判，以 QIAO_TRAPS_ALLOWED=站/路径/* 放行 "
    "if that is wrong, allow it by QIAO_TRAPS_ALLOWED=HOST/PATH/*",
}
"""What an operator can do about pages that were missed."""


def short_name(outcome: Outcome) -> str:
    """The Chinese name alone."""
    return OUTCOME_NAMES[outcome].partition(" ")[0]
