"""Private addresses and other schemes are not fetched, whichever way they come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows

HOST = "www.qiao.test"


@pytest.mark.parametrize("spelling", ["127.0.0.1", "2130706433", "0x7f000001", "127.1", "localhost",
                                      "[::1]", "[::ffff:127.0.0.1]", "①②⑦.0.0.1"])
def test_a_start_page_inside_is_refused(tmp_path: Path, spelling: str) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: Answer(article("内部"))) as server:
        port = server.origin.rpartition(":")[2]
        done = crawl("site", url, "topic=qiaoqing", f"start=http://{spelling}:{port}/x",
                     "-s", "QIAO_FRONTIER_RETRY_SECONDS=0", folder=tmp_path)
        assert not server.log, "a private address was asked"
    assert done.returncode == 0, done.log
    assert set(outcomes(url).values()) <= {"refused", "unreachable"}
    assert outcomes(url)


def test_a_named_origin_is_allowed_on_its_port_only(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: Answer(article("内部"))) as server, local_server(
        lambda host, path: Answer(article("另一个"))
    ) as other:
        crawl("site", url, "topic=qiaoqing",
              f"start=http://{server.origin}/x,http://{other.origin}/y",
              "-s", "DOWNLOAD_DELAY=0", folder=tmp_path, QIAO_ALLOW_ADDRESSES=server.origin)
        assert server.paths() == ["/x"]
        assert not other.log


def test_redirects_links_and_meta_refresh_do_not_lead_inside(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: Answer(article("内部"))) as inside:
        target = f"http://{inside.origin}/secret"

        def respond(host: str, path: str) -> Answer | None:
            if path == "/":
                refresh = f'<meta http-equiv="refresh" content="0; url={target}">'.encode()
                links = ("/jump", target, "file:///etc/hostname", "ftp://x.test/", "data:,x")
                return Answer(refresh + article("首页", links=links))
            if path == "/jump":
                return Answer(status=307, headers={"Location": target})
            return None

        with local_server(respond) as server:
            # The inside host is even named as a site: the guard is the last word.
            done = crawl("site", url, "topic=qiaoqing", f"start=http://{HOST}/,{target}",
                         "-s", "QIAO_FRONTIER_RETRY_SECONDS=0", folder=tmp_path,
                         QIAO_DEMO=server.origin)
        assert not inside.log
    assert done.returncode == 0, done.log
    assert outcomes(url)[target] == "refused"
    schemes = {str(found).split(":")[0] for (found,) in rows(url, "SELECT url FROM url")}
    assert schemes == {"http"}


def test_nothing_listens_but_the_crawl(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: Answer(article("首页"))) as server:
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert "Telnet" not in done.log
    assert "emote control" not in done.log.replace("REMOTE_CONTROL_ENABLED", "")
