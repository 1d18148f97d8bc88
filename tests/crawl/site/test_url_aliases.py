"""A site under several addresses in a real crawl: each page is fetched once, none is lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.url_aliases import save_host_votes
from qiaocrawl.urls.aliases import AliasRules

HOST, MOBILE, WAP = "www.qiao.test", "m.qiao.test", "wap.qiao.test"
# Articles a former run met, new ones, one for mobile readers alone, and some that teach.
BEFORE, NEW, MOBILE_ONLY, TEACH = range(6), range(6, 12), 12, range(20, 25)


def path(n: int) -> str:
    return f"/a/{n}.html"


def preferred(n: int) -> str:
    return f"https://{HOST}{path(n)}"


def other_addresses(n: int) -> tuple[str, ...]:
    return (f"http://{MOBILE}{path(n)}", f"http://{HOST}/print{path(n)}",
            f"http://{HOST}{path(n)}?from=app")  # fmt: skip


LINKS = (
    *(one for n in NEW for one in (*other_addresses(n), preferred(n))),
    *(f"http://{WAP}{path(n)}" for n in TEACH),
    f"http://{MOBILE}{path(MOBILE_ONLY)}",
)


def respond(host: str, asked: str) -> Answer | None:
    """Every version is there but the one that is dead. http and https look alike from here."""
    if asked == "/":
        items = "".join(f'<li><a href="{link}">侨讯</a></li>' for link in LINKS)
        return Answer(f"<html><title>侨网</title><ul>{items}</ul></html>".encode())
    number = asked.partition(".html")[0].rpartition("/")[2]
    if not number.isdigit() or (int(number) == MOBILE_ONLY and host != MOBILE):
        return None
    html = article(f"第{number}批侨胞回乡办厂").decode()
    link = f'<link rel="canonical" href="{preferred(int(number))}">'
    return Answer(html.replace("</head>", f"{link}</head>").encode())


def learn_before(url: str) -> None:
    """What a former run of the site left in the database."""
    rules = AliasRules()
    for n in BEFORE:
        for one in other_addresses(n):
            rules.observe(one, preferred(n))
    with Database.open(url) as database, database.engine.begin() as c:
        save_host_votes(c, rules.take_changes(), now=1_790_000_000.0)


def test_each_page_is_fetched_once_and_a_dead_version_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    learn_before(url)
    with local_server(respond) as server:
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
        asked = Counter((hit.host, hit.path) for hit in server.log if ".html" in hit.path)
    assert "(finished)" in done.log, done.log
    found = outcomes(url)
    assert {one: asked[one] for one in asked if one[0] != WAP} == {
        **{(HOST, path(n)): 1 for n in (*NEW, MOBILE_ONLY)}, (MOBILE, path(MOBILE_ONLY)): 1,
    }  # fmt: skip
    assert {found[one] for n in NEW for one in other_addresses(n)} == {"alias"}
    assert {found[preferred(n)] for n in NEW} == {"article"}
    # Dead under its preferred address, it is fetched under its own, and the rule is taken back.
    assert found[preferred(MOBILE_ONLY)] == "dead"
    assert found[f"http://{MOBILE}{path(MOBILE_ONLY)}"] == "article"
    assert rows(url, "SELECT host, rules FROM url_alias ORDER BY host") == [
        (MOBILE, 0), (WAP, 2), (HOST, 3),
    ]  # fmt: skip
    assert rows(url, "SELECT COUNT(*) FROM aliased_url") == [(0,)]
    ((stats,),) = rows(url, "SELECT stats FROM run")
    numbers = json.loads(str(stats))
    assert numbers["qiaocrawl/urls/aliased"] >= 3 * len(NEW) + 1
    assert numbers["qiaocrawl/urls/aliases_in_vain"] == 1
    assert numbers["qiaocrawl/urls/alias_rules"] == 5
