"""Every ``QIAO_*`` option: name, default, unit, help and check, in one table."""

from __future__ import annotations

from dataclasses import dataclass

from qiaocrawl.language import LANGUAGES, VARIABLE
from qiaocrawl.options.kinds import (
    Converter,
    amounts,
    ascending_hours,
    choice,
    count,
    database_url,
    flag,
    keys,
    names,
    number,
    numbered,
    own_or,
    page_store,
    pairs,
    render_mode,
    root_path,
    scrapyd_servers,
    text,
    web_address,
)


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the table. ``convert`` raises ValueError with what is allowed."""

    name: str
    default: object
    unit: str
    help: str
    convert: Converter
    secret: bool = False


# A table: a row reads better unbroken.
# fmt: off
OPTIONS: tuple[Option, ...] = (
    # storage
    Option("QIAO_DATABASE_URL", "sqlite:///data/qiaocrawl.db", "URL",
           "Where everything is stored: sqlite:///FILE or mysql+pymysql://USER:PASSWORD@HOST/DB.",
           database_url, secret=True),
    Option("QIAO_LOCK_WAIT_SECONDS", 0.0, "s",
           "How long a crawl waits for another one to end on the same SQLite file, so that "
           "scheduled runs queue; 0 = it stops with a message.", number(0, 86400)),
    Option("QIAO_STORAGE_OUTAGE_SECONDS", 300.0, "s",
           "How long a database that does not answer is waited for before a crawl gives up.",
           number(0, 86400)),
    Option("QIAO_PAGE_STORE", "database", "address",
           "Where raw pages and pictures are kept: database, file:///FOLDER, s3://BUCKET/FOLDER "
           "or another address of fsspec; its credentials come from the environment "
           "(fleet.md).", page_store, secret=True),
    Option("QIAO_PAGE_STORE_FILE_MB", 64, "MB",
           "Size of a file in QIAO_PAGE_STORE. Pages stay in the database until one is full.",
           count(1, 1024)),
    Option("QIAO_SQLITE_CACHE_MB", 0, "MB",
           "Memory for pages of a SQLite file, at most, in each connection (a crawl has two); "
           "0 = a thirty-second of the machine's, from 64 to 512.", count(0, 65536)),
    Option("QIAO_KEEP_PAGES_DAYS", 0, "days",
           "`qiaocrawl db prune` deletes raw pages no article was made of, when they were last "
           "seen so long ago; 0 = it keeps them.", count(0, 36500)),
    Option("QIAO_KEEP_VISITS", 100_000, "pages",
           "It keeps the newest visits of each topic and queue, from which crawl orders learn, and "
           "never fewer than QIAO_STRATEGY_HISTORY_PAGES; 0 = all.", count(0, 1_000_000_000)),
    Option("QIAO_KEEP_DECISIONS_DAYS", 365, "days",
           "It deletes why a URL was fetched (`qiaocrawl report why`) when that is done and so "
           "long ago; 0 = it keeps it.", count(0, 36500)),
    Option("QIAO_KEEP_QUERIES_DAYS", 0, "days",
           "It deletes queries that were last asked so long ago, which no plan has any more; "
           "`qiaocrawl report coverage` shows them no longer; 0 = it keeps them.", count(0, 36500)),
    # evidence packages
    Option("QIAO_STAMP_URL", "", "URL",
           "Authority that puts a time stamp (RFC 3161) on evidence packages; empty = none, which "
           "the package says. It is sent a digest and nothing else.", web_address, secret=True),
    Option("QIAO_STAMP_CA", "", "PEM file",
           "The certificates by which its stamps are believed: the root it gives out, and those "
           "between.", text),
    # messages
    Option(VARIABLE, "", "language",
           "What help, tables and messages at the terminal are written in: zh_CN or en; empty = by "
           "the locale (LC_ALL, LC_MESSAGES, LANG): Chinese where it names Chinese or no language "
           "at all (C, POSIX), else English. Read from the environment and .env.",
           choice("", *LANGUAGES)),
    # topic
    Option("QIAO_TOPICS_DIR", "topics", "folder",
           "Folder of your own topic packs: `qiaocrawl topic import NAME` looks there, then among "
           "the shipped ones.", text),
    Option("QIAO_ONTOLOGY_DIR", "", "folder",
           "Where `qiaocrawl ontology install` keeps wordnets; empty = qiaocrawl/ontology in the "
           "user's data folder (XDG_DATA_HOME).", text),
    Option("QIAO_HOLIDAYS", "", "TOML file",
           "Public holidays and worked weekends that trends know beside the shipped years; a year "
           "of yours takes the place of ours (analysis.md).", text),
    Option("QIAO_WARNING_RULES", "", "TOML file",
           "Of which stories `qiaocrawl analyse` warns, and the quiet hours, beside the rules "
           "written in the console (analysis.md).", text),
    Option("QIAO_BRIEFING_TEMPLATES", "", "folder",
           "Folder of your templates for briefings: briefing.html, briefing.docx or both; empty = "
           "ours (`qiaocrawl briefing template` writes ours to change).", text),
    Option("QIAO_WARNING_CHANNELS", "", "TOML file",
           "Where warnings go: names of channels with addresses as apprise has them; a file that "
           "its owner alone may read (analysis.md).", text),
    # writing by a language model
    Option("QIAO_MODEL_URL", "", "URL",
           "Address of a language model that speaks the OpenAI chat form, up to /v1 "
           "(http://127.0.0.1:11434/v1 of Ollama); empty: none, and nothing misses it "
           "(analysis.md).", text),
    Option("QIAO_MODEL_NAME", "", "name", "What the model is called there.", text),
    Option("QIAO_MODEL_KEY", "", "key",
           "Its key, where it wants one. Belongs in the environment or .env.", text, secret=True),
    Option("QIAO_MODEL_FORBIDDEN", False, "on/off",
           "No model is asked, whatever else is set.", flag),
    Option("QIAO_MODEL_TOPICS", "", "names, comma separated",
           "Topics whose texts may be sent to an address outside this network; others stay here. "
           "An address inside needs none.", names),
    Option("QIAO_MODEL_TOKENS_A_DAY", 200_000, "tokens",
           "What may be asked and answered a day of China, by all together.", count(0, 10**9)),
    Option("QIAO_MODEL_MONEY_A_DAY", 0.0, "money",
           "What it may cost a day, in the currency of QIAO_MODEL_PRICE; 0 = no limit of its own.",
           number(0, 10**6)),
    Option("QIAO_MODEL_PRICE", 0.0, "money",
           "What a million tokens cost, asked and answered alike; 0 = nothing.",
           number(0, 10**6)),
    Option("QIAO_MODEL_SECONDS", 120.0, "s", "How long an answer is waited for.",
           number(1, 3600)),
    # search
    Option("QIAO_ENGINES", "", "names, comma separated",
           "Search engines the operator has chosen to ask; none is asked unless named here.",
           names),
    Option("QIAO_ENGINES_DIR", "", "folder",
           "Folder of engine definitions that add to or override the shipped ones.", text),
    Option("QIAO_SEARXNG_URL", "", "URL",
           "Base address of the operator's own SearXNG, for the engine `searxng`; the address of "
           "its search, such as http://HOST:8888/search?q=<query>, is taken for it too.", text),
    Option("QIAO_SEARCH_REGION", "", "region",
           "Region engines are asked for, such as zh-CN, zh-HK, zh-TW or en-US; an engine that "
           "does not know it, and empty, leave each engine its own.", text),
    Option("QIAO_SEARCH_MAX_PAGES", 20, "pages",
           "Result pages asked for one keyword x site x engine; a page after the first waits until "
           "no other query is expected to bring more.", count(1, 50)),
    Option("QIAO_SEARCH_REPEAT_HOURS", 20.0, "hours",
           "A query answered less than this ago is not asked again.", number(0, 8760)),
    Option("QIAO_SEARCH_RETRY_HOURS", 1.0, "hours",
           "A query that got no answer (blocked, decoy, layout changed, error) waits this long; "
           "each further time four times as long, at most a week.", number(0, 168)),
    Option("QIAO_SEARCH_DAILY_BUDGET", "", "engine=requests, comma separated",
           "Most requests a day (Beijing time) of an engine, such as baidu=200,searxng=5000; "
           "scraped=, service= and keyed= (interfaces with a key) stand for all engines of a kind "
           "(200, 5000 and 100 where nothing is said); 0 = no limit.", amounts(0, 10**9)),
    Option("QIAO_SEARCH_PARK_AFTER", 3, "answers",
           "An engine that refuses this often in a row (captcha, decoys, changed layout, no "
           "answer) is asked nothing more in this run; 0 = never.", count(0, 1000)),
    Option("QIAO_SEARCH_FOLD_SYNONYMS", True, "on/off",
           "Ask synonyms of a topic in one query where the engine has OR-groups.", flag),
    # frontier
    Option("QIAO_FRONTIER_LEASE_SECONDS", 120.0, "s",
           "A worker that shows no sign of life for this long loses its leased URLs; after 25 s "
           "already, where other workers of its crawl are there to notice.",
           number(2, 86400)),
    Option("QIAO_FRONTIER_BATCH", 64, "URLs", "URLs leased at a time.", count(1, 1000)),
    Option("QIAO_FRONTIER_MAX_FAILURES", 3, "tries",
           "A URL that failed this often is given up; a page that this often killed the crawl "
           "while it was tried alone is set aside.", count(1, 20)),
    Option("QIAO_FRONTIER_RETRY_SECONDS", 2.0, "s",
           "First pause after a failed fetch; each further one is four times as long.",
           number(0, 86400)),
    Option("QIAO_REVISIT_HOURS", 20.0, "hours",
           "Start and list pages older than this are fetched again by a new run.",
           number(0, 8760)),
    Option("QIAO_URL_ALIASES", True, "on/off",
           "Learn from canonical links and redirects which addresses of a host (http, mobile, "
           "print, with or without www) are other names of its pages, and fetch each page once.",
           flag),
    Option("QIAO_HOST_POLICY", "shared", "name",
           "Which worker of a crawl gets which hosts: shared (every worker leases what is best, "
           "whatever its host), round_robin, weighted_round_robin, random, least_load, pick2 (or "
           "pick3, pick4 …). On SQLite one crawl has all. The same for all workers of a crawl.",
           numbered("shared", "round_robin", "weighted_round_robin", "random", "least_load",
                    stem="pick")),
    Option("QIAO_LINK_MODE", "exchange", "name",
           "A link to a host that another worker has: exchange (it waits for that worker), "
           "crossover (a worker with nothing left to do fetches it too), firewall (it is dropped).",
           choice("exchange", "crossover", "firewall")),
    Option("QIAO_COLLECTOR_WEIGHT", 1.0, "weight",
           "How much a worker can do beside the others of its crawl; `qiaocrawl nodes start` "
           "takes it from the list of nodes.", number(0.01, 1000)),
    # crawl order
    Option("QIAO_STRATEGY", "adaptive", "name",
           "Crawl order of `scrapy crawl site`; -a strategy=NAME wins over it.", text),
    Option("QIAO_STRATEGY_OPTIONS", "", "NAME=VALUE, comma separated",
           "Weights and thresholds of QIAO_STRATEGY, such as c=.3,d=.8 for rwb (relevance.md); "
           "-a strategy_options=… wins over it.", text),
    Option("QIAO_STRATEGY_HISTORY_PAGES", 20_000, "pages",
           "How many of the pages fetched last a strategy that learns starts from.",
           count(100, 10**6)),
    Option("QIAO_STRATEGY_SAVE_PAGES", 200, "pages",
           "A strategy stores what it has learnt each time it has seen this many pages, and at the "
           "end of a run.",
           count(1, 10**6)),
    Option("QIAO_STOP_BELOW_THRESHOLD", False, "on/off",
           "`scrapy crawl site` fetches nothing that scores below the moving threshold but for "
           "tunnels, and ends when only that is left. An order that learns lets it wait for "
           "the next run, others leave it out. Only for orders whose scores lie in [0, 1].", flag),
    Option("QIAO_THRESHOLD_OPTIONS", "", "NAME=VALUE, comma separated",
           "The moving threshold: start=0, low=0, high=1, step=.01, target=.3 (precision aimed "
           "at), window=50 (pages), tunnel=.05 (probability that a low link is followed).",
           text),
    # watching
    Option("QIAO_WATCH_DAILY_REQUESTS", 20_000, "requests",
           "Most requests of `scrapy crawl watch` for one topic on a day (China's).",
           count(1, 10**7)),
    Option("QIAO_WATCH_DAILY_REQUESTS_PER_HOST", 2_000, "requests",
           "The same for one host.", count(1, 10**6)),
    Option("QIAO_WATCH_SHORTEST_MINUTES", 15.0, "minutes",
           "No watched page is visited more often.", number(1, 10_080)),
    Option("QIAO_WATCH_LONGEST_HOURS", 72.0, "hours",
           "No watched page waits longer, as far as the daily requests reach.",
           number(0.1, 8760)),
    Option("QIAO_WATCH_ROUND_MINUTES", 30.0, "minutes",
           "A round of watching that takes longer ends, and the next one goes on.",
           number(0.1, 1440)),
    Option("QIAO_WATCH_PAGES_PER_HOST", 200, "pages",
           "Home, channel, list and rolling pages watched of one host.", count(1, 10_000)),
    Option("QIAO_WATCH_ARTICLE_HOURS", "1,6,24,72,240,720", "hours, comma separated",
           "How long after it came out an article is looked at again, for corrections and "
           "deletions; empty = never.", ascending_hours),
    Option("QIAO_WATCH_POLICY", "both", "name",
           "How visits are shared out: both, value, delay, age, freshness, azar, proportional, "
           "uniform, fixed (by weight), fixed_order, random_order or purely_random.", text),
    Option("QIAO_WATCH_WEIGHTS", "", "NAME=VALUE, comma separated",
           "Weights of the groups of watched pages: source=5, feed=5, rolling=5, home=4, "
           "channel=3, list=2; heavier ones are visited more often. `qiaocrawl watch weight` sets "
           "that of one page.",
           text),
    Option("QIAO_WATCH_ESTIMATOR", "rhythm", "name",
           "How change rates are estimated: rhythm, count, cho, likelihood or halved.", text),
    # politeness
    Option("QIAO_CONTACT", "", "URL or e-mail address",
           "Whom a site's owner can ask; part of the default user agent. Empty: postmaster at "
           "this machine's name.", text),
    Option("QIAO_MAX_CRAWL_DELAY_SECONDS", 30.0, "s",
           "Longest Crawl-delay of a robots.txt that is kept as asked.", number(0, 3600)),
    Option("QIAO_MAX_RETRY_AFTER_SECONDS", 3600.0, "s",
           "Longest Retry-After that is waited for.", number(1, 86400)),
    Option("QIAO_ALLOW_ADDRESSES", "", "http://host:port or host[:port], comma separated",
           "Origins inside private networks that may be fetched, each by its exact scheme, host "
           "and port: host:port stands for http and https there, host for their usual ports. "
           "Everything else private is refused.", names),
    # not being blocked
    Option("QIAO_CRAWL_WINDOWS", "", "SITE=WORK/REST in seconds, comma separated",
           "Crawl windows: a host or engine is asked for WORK seconds, then rests for REST "
           "seconds while others are asked; SITE may be *.domain or *.", names),
    Option("QIAO_IDENTITIES", "", "SITE=NAME, comma separated",
           "Browser identity shown to a host or engine instead of our own user agent: a name, "
           "`rotate` for one of all that a host keeps until it blocks us, or `honest`. "
           "robots.txt is judged by our own name all the same.", names),
    Option("QIAO_IDENTITIES_FILE", "", "TOML file",
           "Browser identities to use instead of the shipped ones.", text),
    Option("QIAO_PROXIES", "", "SITE, comma separated",
           "Hosts or engines asked through the proxy pool, and never directly; SITE=direct "
           "takes one out of *.domain or *.", names),
    Option("QIAO_PROXY_POOL", "", "file, URL or `database`",
           "Where the proxies stand: a list, the address of a provider's list, or `qiaocrawl "
           "proxies add`.", text, secret=True),
    Option("QIAO_PROXY_REFRESH_SECONDS", 300.0, "s",
           "How often the list of proxies is read anew.", number(1, 86400)),
    Option("QIAO_PROXY_AT_ONCE", 4, "requests", "Requests of one proxy at a time.",
           count(1, 1000)),
    Option("QIAO_PROXY_PER_MINUTE", 0, "requests",
           "Requests of one proxy within a minute; 0 = no limit.", count(0, 10**6)),
    Option("QIAO_PROXY_PAUSE_SECONDS", 60.0, "s",
           "First rest of a proxy that failed; each further one is four times as long.",
           number(0, 86400)),
    Option("QIAO_PROXY_REMOTE_DNS", False, "on/off",
           "Proxies look names up that cannot be looked up here: only literal addresses are "
           "checked then, and a proxy may be led to a private one.", flag),
    Option("QIAO_PROXY_OR_DIRECT", False, "on/off",
           "Ask directly when no proxy is left; the site sees this machine's address then.",
           flag),
    Option("QIAO_BLOCK_DETECTION", True, "on/off",
           "Recognise captchas, ban pages, check pages and the like, and leave the host alone "
           "for a while.", flag),
    Option("QIAO_BLOCK_PAUSE_SECONDS", 60.0, "s",
           "First pause of a host that blocks us or does not answer; each further one is four "
           "times as long, and after two the host is left until the next run.",
           number(0, 86400)),
    Option("QIAO_BLOCK_RETRIES", 2, "tries",
           "Times a blocked or failed request is tried at once with another identity or proxy, "
           "where QIAO_IDENTITIES=rotate or QIAO_PROXIES allow one.", count(0, 10)),
    # sessions
    Option("QIAO_SESSIONS", "", "names, comma separated",
           "Login recipes whose accounts are used for the pages of their sites; none is used "
           "unless named here.", names),
    Option("QIAO_LOGINS_DIR", "", "folder",
           "Folder of login recipes that add to or override the shipped ones.", text),
    Option("QIAO_SECRET_KEY", "", "keys, comma separated",
           "What accounts and cookies are encrypted with (`qiaocrawl session key new` makes one); "
           "the first key writes, all read. Belongs in the environment or .env.", keys,
           secret=True),
    Option("QIAO_SESSION_REST_HOURS", 6.0, "hours",
           "How long an account rests after three logins that failed, over runs.",
           number(0, 8760)),
    # limits
    Option("QIAO_MAX_PAGES", 0, "pages", "Stop a crawl after this many pages; 0 = no limit.",
           count(0, 10**9)),
    Option("QIAO_MAX_PAGES_PER_HOST", 0, "pages",
           "Pages of one host and run; 0 = no limit.", count(0, 10**9)),
    Option("QIAO_MAX_SECONDS", 0.0, "s", "Stop a crawl after this long; 0 = no limit.",
           number(0, 10**9)),
    Option("QIAO_MAX_DEPTH", 20, "links", "Links followed from a start page.", count(0, 10**6)),
    Option("QIAO_MAX_LINKS_PER_PAGE", 1000, "links",
           "Links of one page that enter the frontier; more are counted and left. A page is "
           "read up to its 10,000th link.", count(1, 10_000)),
    Option("QIAO_CONTENT_TYPES", "", "types, comma separated",
           "Content types that are kept, by the answer's header, such as text/html,text/*; others "
           "end as not_html, before they are stored. An answer without a type is kept. Empty = "
           "all.", names),
    Option("QIAO_MAX_URL_CHARS", 2000, "characters",
           "A longer URL is taken for a trap's; 0 = no limit.", count(0, 4096)),
    Option("QIAO_MAX_PATH_DEPTH", 20, "parts",
           "A URL whose path has more parts is taken for a trap's; 0 = no limit.",
           count(0, 1000)),
    Option("QIAO_MAX_PARAMETERS", 20, "parameters",
           "A URL with more parameters is taken for a trap's; 0 = no limit.", count(0, 1000)),
    # discovery on sites
    Option("QIAO_SITEMAPS", True, "on/off",
           "`scrapy crawl site`: read the sitemaps that robots.txt names, else /sitemap.xml.",
           flag),
    Option("QIAO_MAX_SITEMAPS_PER_HOST", 500, "sitemaps",
           "Sitemaps of one host that a run reads, the newest of each index first; more are "
           "postponed until nothing else waits; 0 = no limit.", count(0, 10**6)),
    Option("QIAO_MAX_LISTED_PER_HOST", 250_000, "URLs",
           "URLs that the sitemaps of one host bring into a run, the newest of each sitemap "
           "first; more are counted and left; 0 = no limit.", count(0, 10**9)),
    Option("QIAO_FEEDS", True, "on/off",
           "`scrapy crawl site`: read the feeds (RSS, Atom) that its list pages announce.", flag),
    Option("QIAO_LISTED_MAX_AGE_DAYS", 0.0, "days",
           "Entries of sitemaps and feeds that changed longer ago are skipped; 0 = none is.",
           number(0, 36500)),
    Option("QIAO_TRAPS", True, "on/off",
           "`scrapy crawl site`: cut groups of URLs that only lead to more of themselves, such as "
           "calendars, facets, session ids and mazes.", flag),
    Option("QIAO_TRAPS_ALLOWED", "", "host/path patterns, comma separated",
           "URLs that are never taken for a trap, * for anything: www.example.com/archive/*.",
           names),
    Option("QIAO_SOFT_404_PROBE", True, "on/off",
           "`scrapy crawl site`: ask each host once for a page that cannot exist, to know its "
           "missing pages by their look.", flag),
    # stages
    Option("QIAO_EXTRACT_METHOD", "blend", "name", "Body extractor.", text),
    Option("QIAO_TITLE_METHOD", "weighed", "weighed, layout",
           "How an article's title is found: all witnesses weighed together, or, as published, by "
           "font size, centring and colour above the first long paragraph.",
           choice("weighed", "layout")),
    Option("QIAO_SEGMENTER", "rjieba", "rjieba, jieba",
           "What cuts pages and titles into words in crawls: jieba's twin in compiled code, or, as "
           "published, jieba itself, which takes about ten times as long over a title (dedup.md).",
           choice("rjieba", "jieba")),
    Option("QIAO_DENSITY_THRESHOLD", 0.5, "share in [0, 1]",
           "Method density: least share of text in the bytes of a content line.", number(0, 1)),
    Option("QIAO_DENSITY_TOLERANCE_LINES", 20, "lines",
           "Method density: lines without content in a row that do not end an article; 0 = off, "
           "all lines with content are the body.",
           count(0, 10**6)),
    Option("QIAO_DENSITY_MINIMUM_BYTES", 200, "bytes",
           "Method density: an article with less text does not end; 0 = off.",
           count(0, 10**9)),
    Option("QIAO_DENSITY_RUN", "first", "first, longest",
           "Method density: take the first article of a page, as published, or the longest.",
           choice("first", "longest")),
    Option("QIAO_VISUAL_OPTIONS", "", "NAME=VALUE, comma separated",
           "Methods visual and visual_published: thresholds a and beta, and the weights w_a, w_p, "
           "w_ld, w_td, w_l of the score, sum 1; all in [0, 1].", text),
    Option("QIAO_BLEND_NETWORK", "", "file",
           "Method blend: network trained by `qiaocrawl extractors train blend`; empty = shipped.",
           text),
    Option("QIAO_CLUSTER_MODEL", "", "file",
           "Method cluster: a model of `qiaocrawl extractors train cluster`; empty = the one "
           "that comes with the program.", text),
    Option("QIAO_CLUSTER_LEARNING", False, "on/off",
           "Method cluster: go on learning from the pages of crawls, and read by what was "
           "learnt once 5,000 nodes of pages have been clustered (extraction.md).", flag),
    Option("QIAO_TEMPLATES", "", "folder or TOML file",
           "Where the regions of sites stand: of links with any method, of bodies and fields with "
           "method template.", text),
    Option("QIAO_SITE_LEARNING", True, "on/off",
           "Learn what the pages of a site repeat and where its articles stand, and use it on "
           "later pages.", flag),
    Option("QIAO_EXTRACT_WORKERS", 1, "processes",
           "Worker processes that analyse pages.", count(1, 64)),
    Option("QIAO_EXTRACT_SECONDS", 5.0, "s",
           "Processor time a page may take to be analysed, in a slot of its own where it takes "
           "more than 1 s; one that takes longer is set aside. A file of samples or of a corpus "
           "has as much, a list that is imported six times.", number(0.1, 600)),
    Option("QIAO_DOCUMENTS", False, "on/off",
           "Fetch PDF, Word (.docx) and Excel (.xlsx) files that pages link to, and store their "
           "text as articles of kind `document`.", flag),
    Option("QIAO_DOCUMENT_MAX_MB", 10.0, "MiB",
           "A file that is larger is not read (outcome too_large).", number(0.01, 10)),
    Option("QIAO_RELEVANCE_METHOD", "blend", "name", "Page scorer.", text),
    Option("QIAO_RELEVANCE_OPTIONS", "", "NAME=VALUE, comma separated",
           "Weights of the page scorer, such as p=3 for p_norm (relevance.md).", text),
    Option("QIAO_RELEVANCE_THRESHOLD", 0.0, "score in [0, 1]",
           "An article scoring this or more is on topic, on the scale of the page scorer; 0 = "
           "what the scorer takes by itself (vsm_breadth: the topic pack's threshold).",
           number(0, 1)),
    Option("QIAO_DEDUP_METHOD", "reprint", "name",
           "Title deduplication: reprint, vsm_mixed, or the published vsm and shingles.", text),
    Option("QIAO_DEDUP_THRESHOLD", "", "number in [0.5, 1]",
           "How similar titles of one story are at least; empty or 0 = the method's own.",
           own_or(number(0.5, 1))),
    # rendering
    Option("QIAO_RENDER", "off", "off, sites, auto",
           "Open pages in a browser (Chromium): `sites`, those of sites marked render=yes; "
           "`auto` (or on), those too that are found to say nothing without their scripts.",
           render_mode),
    Option("QIAO_RENDER_SECONDS", 12.0, "s",
           "How long a rendered page may take to become still; what is there then is taken.",
           number(1, 120)),
    Option("QIAO_RENDER_PAGES", 300, "pages",
           "The browser is started anew after so many pages.", count(1, 100_000)),
    Option("QIAO_RENDER_MEMORY_MB", 1500.0, "MiB",
           "The browser is started anew when all its processes together use more.",
           number(200, 1_000_000)),
    Option("QIAO_RENDER_DATA_HOSTS", "", "sites, comma separated",
           "Sites whose JSON is kept with the rendered pages of other sites; that of a page's own "
           "site always is.", names),
    Option("QIAO_RENDER_LAYOUT", False, "on/off",
           "Write boxes and colours of its elements into the source of a rendered page, for the "
           "extractor `visual`.", flag),
    Option("QIAO_RENDER_PICTURE", False, "on/off",
           "Keep a picture (WebP, at most 512 KiB) of each rendered page with its stored page, as "
           "evidence; without the page's own images, which are never loaded.", flag),
    Option("QIAO_CHROMIUM", "/usr/bin/chromium", "file", "The browser for QIAO_RENDER.", text),
    # console
    Option("QIAO_CONSOLE_HOST", "127.0.0.1", "address",
           "Where `qiaocrawl console` listens. Others reach it through a reverse proxy with TLS "
           "on this machine; another address than loopback shows it to the network without.",
           text),
    Option("QIAO_CONSOLE_PORT", 8808, "port", "Its port; 0 = any that is free.",
           count(0, 65_535)),
    Option("QIAO_CONSOLE_ROOT_PATH", "", "path",
           "The path under which a reverse proxy shows it, such as /desk; the proxy takes it off.",
           root_path),
    Option("QIAO_CONSOLE_IDLE_MINUTES", 30.0, "minutes",
           "A session without a request for so long is over.", number(1, 1440)),
    Option("QIAO_CONSOLE_SESSION_HOURS", 12.0, "hours",
           "A session lasts no longer than this.", number(0.1, 720)),
    Option("QIAO_CONSOLE_SEARCH_DIR", "", "folder",
           "Folder of its full text index; empty = beside the SQLite file, or in data for "
           "MariaDB. It can be deleted: the console builds it anew.", text),
    # sign-in at the office's own provider
    Option("QIAO_OIDC_ISSUER", "", "URL",
           "Provider of OpenID Connect by which people may log in to the console as well: "
           "the address before /.well-known/openid-configuration; empty = none.",
           web_address),
    Option("QIAO_OIDC_CLIENT_ID", "", "name", "The console's name at that provider.", text),
    Option("QIAO_OIDC_CLIENT_SECRET", "", "secret",
           "Its secret there; empty = a public client, which PKCE protects.", text, secret=True),
    Option("QIAO_OIDC_NAME", "", "words", "What the log-in page calls the provider.", text),
    Option("QIAO_OIDC_SCOPES", "openid,profile,email", "names, comma separated",
           "What is asked of it.", names),
    Option("QIAO_OIDC_USER_CLAIM", "email", "email, preferred_username, sub",
           "What it says that is the name of a user of the console, at the first sign-in; an "
           "e-mail address counts only if the provider has verified it.",
           choice("email", "preferred_username", "sub")),
    Option("QIAO_OIDC_NEW_USERS", False, "on/off",
           "Whoever signs in and is no user yet is made a reader of that name.", flag),
    Option("QIAO_OIDC_ROLE_CLAIM", "", "name",
           "Where it says somebody's groups, such as groups or realm_access.roles; empty = roles "
           "are given in the console.", text),
    Option("QIAO_OIDC_ROLES", "", "group=role, comma separated",
           "Which role (reader, editor, administrator) each group gives, at every sign-in; who "
           "is in none of them is refused.", pairs("reader", "editor", "administrator")),
    # for machines that watch
    Option("QIAO_METRICS_HOST", "127.0.0.1", "address",
           "Where `qiaocrawl metrics` listens. Whoever reaches it sees names of topics and "
           "engines, without a log-in: to the network only where that may be.", text),
    Option("QIAO_METRICS_PORT", 9808, "port", "Its port; 0 = any that is free.",
           count(0, 65_535)),
    Option("QIAO_METRICS_SECONDS", 15.0, "s",
           "How old its figures may be; those that grow with the tables are read less often "
           "(operations.md).", number(1, 3600)),
    Option("QIAO_LOG_FORMAT", "text", "name",
           "How spiders, commands and the console write their log: text, or json (one object a "
           "line: time, level, logger, message, and spider, topic and run where there are).",
           choice("text", "json")),
    # jobs of the console
    Option("QIAO_SCRAPYD_SERVERS", "", "URLs, comma separated",
           "scrapyd servers that are put into the list of nodes (`qiaocrawl nodes`), each as "
           "http://USER:PASSWORD@HOST:PORT (the password percent-encoded). The passwords are not "
           "stored, so it belongs in the environment or .env of whoever asks them.",
           scrapyd_servers, secret=True),
    Option("QIAO_JOBS_AT_ONCE", 2, "jobs",
           "Spiders the console runs at a time on its own machine; with SQLite it is one.",
           count(1, 64)),
    # recorded and demo webs
    Option("QIAO_REPLAY", "", "folder or .warc(.gz) file",
           "Crawl this recorded web instead of the network.", text),
    Option("QIAO_DEMO", "", "host:port",
           "Resolve the demo web's host names to this address.", text),
)
# fmt: on

RENAMED = {
    "QIAO_ENTRY_DAYS": "QIAO_LISTED_MAX_AGE_DAYS",
    "QIAO_ORDER_MEMORY": "QIAO_STRATEGY_HISTORY_PAGES",
    "QIAO_ORDER_MODEL_PAGES": "QIAO_STRATEGY_SAVE_PAGES",
    "QIAO_PROXY_RESOLVES": "QIAO_PROXY_REMOTE_DNS",
    "QIAO_TURNS": "QIAO_CRAWL_WINDOWS",
}
"""Names of earlier versions. They are refused rather than read: two names for one option would
leave it open which of them counts."""
