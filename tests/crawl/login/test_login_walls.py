"""Articles behind a login end as ``login``, whatever stands between, and can be asked for again."""

from __future__ import annotations

from pathlib import Path

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows
from qiaocrawl.items import Outcome
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.retry_closed import Choice, failed_urls, wait_again

HOST, BASE = "www.wall.test", "http://www.wall.test"
FORM = b"<form action=/in method=post><input name=u><input type=password name=p></form>"
BEHIND = ("/address", "/form", "/form2", "/away", "/script", "/words", "/two-hops")
WALLS = {
    "/address": Answer(b"", 302, {"Location": "/login?back=%2Faddress"}),
    # The address says nothing; two pages share it.
    "/form": Answer(b"", 302, {"Location": "/member/in.php"}),
    "/form2": Answer(b"", 302, {"Location": "/member/in.php"}),
    "/two-hops": Answer(b"", 301, {"Location": "/hop"}),
    "/hop": Answer(b"", 302, {"Location": "/member/in.php"}),
    # Outside of the sites of the crawl, so nobody will see what is there.
    "/away": Answer(b"", 302, {"Location": "https://passport.elsewhere.test/x"}),
    "/script": Answer("<script>alert('请先登录');location.href='/login.asp'</script>".encode()),
    "/words": Answer("<title>提示</title><p>对不起，请先登录后查看</p>".encode()),
    "/member/in.php": Answer(b"<title>in</title>" + FORM),
}


def test_the_outcome_is_that_of_the_page_behind_the_login(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    is_open = False

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=(*BEHIND, "/plain", "/moved")))
        if path == "/moved":
            return Answer(b"", 301, {"Location": "/plain"})
        if path in BEHIND and is_open:
            return Answer(article(f"侨乡新闻{path}"))
        return WALLS.get(path) or (Answer(article("侨乡新闻")) if path == "/plain" else None)

    with local_server(respond) as server:
        for _ in range(2):
            done = crawl("site", url, "topic=qiaoqing", "-s", "DOWNLOAD_DELAY=0",
                         folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
            assert done.returncode == 0, done.log
            if is_open:
                break
            found = outcomes(url)
            assert {path: found[BASE + path] for path in BEHIND} == dict.fromkeys(BEHIND, "login")
            assert (found[f"{BASE}/moved"], found[f"{BASE}/plain"]) == ("redirect", "article")
            # A login that is known by its address is not asked for.
            assert "/login?back=%2Faddress" not in server.paths()
            why = dict(rows(url, "SELECT url, reason FROM url"))
            assert why[f"{BASE}/form"] == f"redirects to the login page {BASE}/member/in.php"
            with Database.open(url) as database, database.engine.begin() as c:
                wait_again(c, failed_urls(c, Choice((Outcome.LOGIN,))))
            is_open = True
    found = outcomes(url)
    assert {path: found[BASE + path] for path in BEHIND} == dict.fromkeys(BEHIND, "article")
