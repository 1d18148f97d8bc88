"""WebRTC knows no proxy: a page's scripts could reach addresses inside by UDP."""

from __future__ import annotations

import shutil
import socket

import pytest

from qiaocrawl.settings import PLAYWRIGHT_LAUNCH_OPTIONS

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]

# Kept by the window: it goes on asking while nobody answers.
_SCRIPT = """async place => {
    window.peer = new RTCPeerConnection({iceServers: [{urls: 'stun:' + place}, {
        urls: 'turn:' + place + '?transport=udp', username: 'a', credential: 'b'}]});
    peer.createDataChannel('x');
    await peer.setLocalDescription(await peer.createOffer());
}"""


@pytest.mark.parametrize("is_held", [False, True])
def test_no_packet_goes_past_the_proxy(is_held: bool) -> None:
    from playwright.sync_api import sync_playwright

    given = [one for one in PLAYWRIGHT_LAUNCH_OPTIONS["args"] if is_held or "webrtc" not in one]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inside, sync_playwright() as tool:
        inside.bind(("127.0.0.1", 0))
        inside.settimeout(1.7 if is_held else 60)
        browser = tool.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=given,
        )
        context = browser.new_context(proxy={"server": "http://127.0.0.1:9"})
        context.new_page().evaluate(_SCRIPT, f"127.0.0.1:{inside.getsockname()[1]}")
        try:
            found = len(inside.recv(1000)) > 0
        except TimeoutError:
            found = False
        browser.close()
    # Without its options the browser does send one: the test sees what it looks for.
    assert found is not is_held
