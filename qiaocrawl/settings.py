"""Scrapy's settings: the file operators tune. Every value stands with its reason.

Options of the project itself are called ``QIAO_*``; they are listed with help in
``docs/options.md`` and may be set here, in the environment, or with ``-s NAME=VALUE``
(the command line wins over the environment, the environment over this file). Of Scrapy's own
settings nearly all act; DEPTH_LIMIT, URLLENGTH_LIMIT and RETRY_TIMES become options of ours, and a
crawl warns of what it does not heed (docs/running.md).
Secrets (the database password, cookies, proxies) belong in the environment or in ``.env``.
"""

from __future__ import annotations

import sys

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.user_agent import default_user_agent
from qiaocrawl.options.project import read_env_file, require_one_copy

try:
    # Before anything below looks at the environment (QIAO_CONTACT).
    read_env_file()
    require_one_copy()
except ConfigError as error:
    sys.exit(f"qiaocrawl: {error}")

# --- who we are ---------------------------------------------------------------

BOT_NAME = "qiaocrawl"
SPIDER_MODULES = ["qiaocrawl.spiders"]
NEWSPIDER_MODULE = "qiaocrawl.spiders"
# To run one spider it imports that one alone.
SPIDER_LOADER_CLASS = "qiaocrawl.crawl.spider_loader.NamedSpiderLoader"
# `scrapy crawl` whose exit code is 0 only where the run did what it was asked.
COMMANDS_MODULE = "qiaocrawl.crawl.commands"

# Says what this is and whom to ask (QIAO_CONTACT).
USER_AGENT = default_user_agent()
# robots.txt is always judged by this fixed product token, whatever USER_AGENT says.
ROBOTSTXT_USER_AGENT = "qiaocrawl"

# --- politeness -----------------------------------------------------------------

ROBOTSTXT_OBEY = True
# One page a second and host, give or take half: what a busy reader does.
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0.5
# Few connections a host; many hosts at once.
CONCURRENT_REQUESTS_PER_DOMAIN = 2
# Room for good hosts beside 48 that hold a request and its robots.txt until they time out.
CONCURRENT_REQUESTS = 128
# No Referer to other sites: URLs may carry tokens.
REFERRER_POLICY = "same-origin"

# --- limits -----------------------------------------------------------------------

# A news page is 0.05 to 2 MiB; Scrapy's default of 1 GiB invites decompression bombs.
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 4 * 1024 * 1024
# Scrapy's 180 s let a few dead hosts hold every slot.
DOWNLOAD_TIMEOUT = 30
# A page whose Content-Length lies is kept, and marked as cut.
DOWNLOAD_FAIL_ON_DATALOSS = False
DNS_TIMEOUT = 10
# Stop before the machine swaps.
MEMUSAGE_LIMIT_MB = 4096

# --- only what is needed listens or opens ---------------------------------------------

# Both run code for whoever connects.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
# Only the web: no local files, no FTP, no data: URLs, no S3. The handler refuses private
# addresses (QIAO_ALLOW_ADDRESSES), reads recorded webs (QIAO_REPLAY) and stops in time.
DOWNLOAD_HANDLERS = {
    "http": "qiaocrawl.crawl.network.handler.GuardedDownloadHandler",
    "https": "qiaocrawl.crawl.network.handler.GuardedDownloadHandler",
    "file": None,
    "ftp": None,
    "data": None,
    "s3": None,
}
# Every answer of the name service is checked; Twisted connects to exactly that address.
TWISTED_DNS_RESOLVER = "qiaocrawl.crawl.network.address_guard.GuardedResolver"

# --- one page's way ---------------------------------------------------------------------

# Checks the options before anything starts, and applies QIAO_REPLAY and QIAO_DEMO.
ADDONS = {"qiaocrawl.crawl.addon.QiaoAddon": 0}
# The frontier is a table: leased rows survive kill -9 and are shared by workers.
SCHEDULER = "qiaocrawl.crawl.scheduler.FrontierScheduler"

ITEM_PIPELINES = {
    "qiaocrawl.pipelines.evidence.EvidencePipeline": 100,
    "qiaocrawl.pipelines.extract.ExtractPipeline": 200,
    "qiaocrawl.pipelines.render.RenderPipeline": 240,
    "qiaocrawl.pipelines.discovery.DiscoveryPipeline": 250,
    "qiaocrawl.pipelines.links.LinksPipeline": 500,
    "qiaocrawl.pipelines.dedup.TitleDeduplicationPipeline": 550,
    "qiaocrawl.pipelines.store_answer.StoreAnswerPipeline": 590,
    "qiaocrawl.pipelines.store.StorePipeline": 600,
}

DOWNLOADER_MIDDLEWARES = {
    # The frontier knows which hosts belong to a crawl.
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    # Ours reads status codes as RFC 9309 does, keeps Crawl-delay and forgets after a day.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "qiaocrawl.middlewares.stored.StoredPageMiddleware": 50,
    "qiaocrawl.middlewares.guard.GuardMiddleware": 60,
    "qiaocrawl.middlewares.traps.TrapMiddleware": 65,
    # Before robots.txt: without a living proxy its host is not asked for that either.
    "qiaocrawl.middlewares.proxy.ProxyPauseMiddleware": 70,
    "qiaocrawl.middlewares.robots.RobotsMiddleware": 100,
    # Before Scrapy's own user agent (500) and default headers (400).
    "qiaocrawl.middlewares.identity.IdentityMiddleware": 390,
    "qiaocrawl.middlewares.render.RenderMiddleware": 560,
    # Reads pages: after they are unpacked (590).
    "qiaocrawl.middlewares.blocks.BlockMiddleware": 585,
    # Scrapy unpacks at 590.
    "qiaocrawl.middlewares.guard.EncodingsMiddleware": 595,
    # Scrapy's own lets token headers and posted bodies follow a redirect to other origins.
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "qiaocrawl.middlewares.redirect.SafeRedirectMiddleware": 600,
    # Below cookies, whose jar it chooses; QIAO_SESSIONS.
    "qiaocrawl.middlewares.session.SessionMiddleware": 690,
    # Chooses the cookie jar too, so before the cookies; Scrapy's proxy middleware is at 750.
    "qiaocrawl.middlewares.proxy.ProxyMiddleware": 695,
    # Scrapy's own downloads the public suffix list from the network.
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
    "qiaocrawl.middlewares.cookies.OfflineCookiesMiddleware": 700,
    # Failed fetches go back to the frontier with a pause that survives a restart; an
    # immediate retry would hit a struggling host again.
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    # Meta refresh is a link of the page.
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
}

SPIDER_MIDDLEWARES = {
    # The frontier knows depth and offsite; every status code is an outcome.
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
    # Requests come from the frontier, not out of pages: none copies a page's meta.
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    # Nothing asks which requests began a crawl, and the frontier sets URLs aside that are too long.
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}

EXTENSIONS = {
    "qiaocrawl.crawl.progress.ProgressLog": 0,
    # Replaced by ProgressLog, which also counts articles and waiting URLs.
    "scrapy.extensions.logstats.LogStats": None,
    # -o, -O and FEEDS write an article a line; items are whole pages.
    "qiaocrawl.crawl.feeds.ArticleFeeds": 0,
    "scrapy.extensions.feedexport.FeedExporter": None,
}
FEED_EXPORTERS = {
    "json": "qiaocrawl.crawl.feeds.ArticleJson",
    "jsonlines": "qiaocrawl.crawl.feeds.ArticleJsonLines",
    "jsonl": "qiaocrawl.crawl.feeds.ArticleJsonLines",
    "jl": "qiaocrawl.crawl.feeds.ArticleJsonLines",
    "csv": "qiaocrawl.crawl.feeds.ArticleCsv",
    "xml": "qiaocrawl.crawl.feeds.ArticleXml",
    "marshal": "qiaocrawl.crawl.feeds.ArticleMarshal",
    "pickle": "qiaocrawl.crawl.feeds.ArticlePickle",
}

# --- engine room ------------------------------------------------------------------------

STATS_CLASS = "qiaocrawl.crawl.progress.PlainStats"
# A response brings one item; Scrapy makes as many tasks a response as this (its default is 100).
CONCURRENT_ITEMS = 1
COOKIES_ENABLED = True
LOG_LEVEL = "INFO"
LOG_SHORT_NAMES = False
# Items are whole pages: never print them.
LOG_FORMATTER = "qiaocrawl.crawl.progress.QuietLogFormatter"

# Chromium, only used with QIAO_RENDER: no sandbox under root, no calls home. It resolves no name
# and sends nothing past the proxy it is given (qiaocrawl/crawl/browser/proxy.py).
PLAYWRIGHT_LAUNCH_OPTIONS = {
    "args": [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--disable-component-update",
        "--disable-sync",
        "--disable-quic",
        "--dns-prefetch-disable",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        # The first name is the one that is known today, the second one was before.
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    ],
}
# The browser sends its own headers; user agent and language of the request are its context's.
# Scrapy's headers on every navigation would break form logins.
PLAYWRIGHT_PROCESS_REQUEST_HEADERS = None
# Pages open at once.
PLAYWRIGHT_MAX_PAGES_PER_CONTEXT = 4
