"""A crawl has the parts that its options give work to, and no others: each costs every page."""

from __future__ import annotations

from pathlib import Path

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack

HOST = "www.qiao.test"
FOR_IDENTITIES = {
    "qiaocrawl.middlewares.identity.IdentityMiddleware",
    "qiaocrawl.middlewares.proxy.ProxyMiddleware",
}
NEVER = {
    "qiaocrawl.middlewares.proxy.ProxyPauseMiddleware",
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
    "qiaocrawl.pipelines.render.RenderPipeline",
    "qiaocrawl.pipelines.store_answer.StoreAnswerPipeline",
}


def test_parts_without_work_are_not_there(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    pages = {"/": Answer(article("首页", links=["/a"])), "/a": Answer(article("侨乡新闻"))}
    logs = []
    with local_server(lambda host, path: pages.get(path)) as server:
        for given in ({}, {"QIAO_IDENTITIES": f"{HOST}=rotate"}):
            done = crawl(
                "site", url, "topic=qiaoqing", f"start=http://{HOST}/",
                folder=tmp_path, QIAO_DEMO=server.origin, **given,
            )  # fmt: skip
            assert done.returncode == 0, done.log
            logs.append(done.log)
        hosts = {hit.headers["Host"] for hit in server.log}
    # The demo's server was asked by the hosts' own names.
    assert hosts == {HOST}
    assert set(outcomes(url)) == {f"http://{HOST}/", f"http://{HOST}/a"}
    plain, rotating = logs
    assert not {part for part in NEVER | FOR_IDENTITIES if part in plain}
    assert {part for part in NEVER | FOR_IDENTITIES if part in rotating} == FOR_IDENTITIES
