"""What a page in the browser may reach: public addresses, by whichever way it tries."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crawling import Answer, Respond, crawl, import_pack, local_server, pack, rows
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.topic.pack import Site

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]

TEXT = "海外侨胞和归侨侨眷在侨乡相聚，共同商议华侨农场的侨务工作和华文教育的未来发展。" * 8

# Every way a page has to ask for something, each with its own path at the inside address.
ATTEMPTS = """
const inside = "http://INSIDE", jump = "/jump?to=";
const quietly = work => { try { const p = work(); if (p && p.catch) p.catch(() => 0); } catch {} };
quietly(() => fetch(inside + "/fetch", {mode: "no-cors"}));
quietly(() => fetch("http://localhost:PORT/localhost", {mode: "no-cors"}));
quietly(() => fetch("http://2130706433:PORT/decimal", {mode: "no-cors"}));
quietly(() => fetch("http://[::1]:PORT/v6", {mode: "no-cors"}));
quietly(() => fetch("http://[::ffff:127.0.0.1]:PORT/mapped", {mode: "no-cors"}));
quietly(() => fetch("http://169.254.169.254/latest/meta-data/", {mode: "no-cors"}));
quietly(() => fetch("http://inside.localhost:PORT/name", {mode: "no-cors"}));
quietly(() => fetch(jump + "fetch", {mode: "no-cors"}));
quietly(() => fetch("file:///etc/hostname"));
quietly(() => new WebSocket("ws://INSIDE/socket"));
quietly(() => new EventSource(inside + "/events"));
quietly(() => navigator.sendBeacon(inside + "/beacon", "x"));
quietly(() => window.open(inside + "/popup"));
quietly(() => window.open(jump + "popup"));
quietly(() => new Worker(URL.createObjectURL(new Blob([
  `fetch("${inside}/worker", {mode: "no-cors"}); new WebSocket("ws://INSIDE/workersocket");
   fetch("${location.origin}/jump?to=worker", {mode: "no-cors"});
   importScripts("${inside}/import.js")`
]))));
quietly(() => new SharedWorker(URL.createObjectURL(new Blob([
  `fetch("${inside}/shared", {mode: "no-cors"})`]))));
quietly(() => navigator.serviceWorker.register("/service.js"));
quietly(() => { const r = new RTCPeerConnection({iceServers: [{urls: "stun:INSIDE"}]});
  r.createDataChannel("x"); return r.createOffer().then(o => r.setLocalDescription(o)); });
for (const [tag, name, path] of [["script", "src", "script.js"], ["img", "src", "image"],
    ["iframe", "src", "frame"], ["link", "href", "style.css"], ["object", "data", "object"],
    ["embed", "src", "embed"], ["video", "src", "video"]]) {
  for (const target of [inside + "/" + path, jump + path]) {
    const e = document.createElement(tag);
    if (tag === "link") e.rel = "stylesheet";
    e[name] = target;
    document.body.append(e);
  }
}
for (const rel of ["prefetch", "preload", "dns-prefetch", "preconnect", "prerender"]) {
  const e = document.createElement("link");
  e.rel = rel; e.as = "script"; e.href = inside + "/" + rel;
  document.head.append(e);
}
const form = document.createElement("form");
form.action = inside + "/form"; form.target = "_blank"; form.method = "post";
document.body.append(form);
quietly(() => form.submit());
quietly(() => { alert("x"); confirm("x"); });
document.querySelector("article p").append("脚本把各种办法都试过了。");
setTimeout(() => { location.href = inside + "/leave"; }, 50);
"""


def page(script: str) -> bytes:
    return (
        '<html><head><meta charset="utf-8"><title>侨乡相聚的新消息</title></head><body>'
        f"<h1>侨乡相聚的新消息</h1><p>2026-03-05 10:00</p>"
        f"<article><p>{TEXT}</p><p>{TEXT}</p></article>"
        f"<script>{script}</script></body></html>"
    ).encode()


def render(tmp_path: Path, url: str, *hosts: str, **options: str) -> str:
    """Crawl sites marked for rendering from their home pages on; the log."""
    import_pack(
        url,
        pack(
            sites=tuple(
                Site(
                    host,
                    "侨乡",
                    "authoritative",
                    1,
                    "境内",
                    "news",
                    start_url=f"http://{host}/",
                    render=True,
                )
                for host in hosts
            )
        ),
    )
    done = crawl(
        "site",
        url,
        "topic=qiaoqing",
        "-s",
        "DOWNLOAD_DELAY=0",
        folder=tmp_path,
        **{
            "QIAO_RENDER": "sites",
            "QIAO_CHROMIUM": str(shutil.which("chromium")),
            "QIAO_RENDER_SECONDS": "8",
            "QIAO_STRATEGY": "bfs",
            "QIAO_FRONTIER_RETRY_SECONDS": "0",
            **options,
        },
    )
    assert done.returncode == 0, done.log
    return done.log


def trying_everything(inside: str) -> Respond:
    """A page that tries every way to reach *inside*, an address and a port."""
    script = ATTEMPTS.replace("INSIDE", inside).replace("PORT", inside.rpartition(":")[2])

    def respond(host: str, path: str) -> Answer | None:
        if path.startswith("/jump?to="):
            target = f"http://{inside}/jumped-{path.rpartition('=')[2]}"
            return Answer(status=302, headers={"Location": target})
        if path == "/service.js":
            return Answer(b"fetch('/served')", headers={"Content-Type": "text/javascript"})
        return Answer(page(script)) if path == "/" else None

    return respond


def leading_away(host: str, path: str) -> Answer | None:
    """The page's own cookies go with what it asks; a page that only leads away is a redirect."""
    if path == "/":
        script = "setTimeout(() => location.replace('/real.html'), 20)"
        body = f'<meta charset="utf-8"><body><script>{script}</script>'.encode()
        return Answer(body, headers={"Set-Cookie": "first=1; Path=/"})
    if path == "/real.html":
        return Answer(page("fetch('/data')"), headers={"Set-Cookie": "second=2; Path=/"})
    return Answer(b"{}") if path == "/data" else None


def test_nothing_private_is_reached_and_cookies_stay_with_their_page(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with local_server(lambda host, path: Answer(b"secret")) as inside:
        with (
            local_server(trying_everything(inside.origin)) as trying,
            local_server(leading_away) as leading,
        ):
            hosts = (trying.origin, leading.origin)
            log = render(tmp_path, url, *hosts, QIAO_ALLOW_ADDRESSES=",".join(hosts))
        assert not inside.log, [hit.path for hit in inside.log]
    found = {
        str(where): (outcome, unpack_text(body))
        for where, outcome, body in rows(
            url, "SELECT u.url, u.outcome, a.text FROM url u LEFT JOIN article a ON a.url_id = u.id"
        )
    }
    outcome, body = found[f"http://{trying.origin}/"]
    assert outcome == "article", log
    assert "都试过了" in body, "the script did not get far"
    # Redirects of what may be asked are followed to the proxy, and no farther.
    assert "/jump?to=fetch" in trying.paths()
    assert "the browser was refused: http://127.0.0.1" in log
    assert not {"/served", "/jump?to=popup", "/jump?to=image", "/service.js"} & {*trying.paths()}
    led = [where for where in found if leading.origin in where]
    assert sorted(led) == [f"http://{leading.origin}/", f"http://{leading.origin}/real.html"]
    assert [found[where][0] for where in sorted(led)] == ["redirect", "article"], log
    sent = {hit.path: hit.headers.get("Cookie", "") for hit in leading.log}
    assert sent["/real.html"] == "first=1"
    assert sorted(sent["/data"].split("; ")) == ["first=1", "second=2"]


def test_a_rendered_page_goes_through_the_proxy_of_its_request(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    host = "news.qiao.invalid"  # no name service knows it
    script = (
        "fetch('/data').then(r => r.text()).then(t => { document.querySelector('article p')"
        ".append(t); }); fetch('http://10.0.0.1/inside', {mode: 'no-cors'}).catch(() => 0);"
    )

    def respond(_: str, path: str) -> Answer | None:
        if path == f"http://{host}/data":
            return Answer("侨界青年由代理得到的消息。".encode())
        return Answer(page(script)) if path == f"http://{host}/" else None

    with local_server(respond) as upstream:
        log = render(
            tmp_path,
            url,
            host,
            http_proxy=f"http://user:pw@{upstream.origin}",
            QIAO_PROXY_REMOTE_DNS="on",
        )
        hits = upstream.log
    said = [unpack_text(text) for (text,) in rows(url, "SELECT text FROM article")]
    assert "由代理得到的消息" in str(said), log
    assert {hit.headers["Proxy-Authorization"] for hit in hits} == {"Basic dXNlcjpwdw=="}
    assert not [hit.path for hit in hits if "10.0.0.1" in hit.path]
