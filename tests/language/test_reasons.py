"""Stored reasons are shown in the operator's language: all there are, and no others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qiaocrawl.language import _
from qiaocrawl.language.reasons import FOREIGN, REASONS, shown_reason

ROOT = Path(__file__).resolve().parents[2]
# Errors that end as the reason of a page or of an account.
REASON_ERRORS = {
    "AddressRefusedError", "BlockedError", "BrowserLostError", "HostParkedError", "LoginPageError",
    "PoisonPageError", "ProxiesRestError", "ProxyError", "RenderError", "RobotsUnreachableError",
    "SessionRestError",
}  # fmt: skip
REASON_RECORDS = {"BlockSign", "DocumentError", "FetchDecision", "Judgement", "LeftOut", "Relation",
                  "SearchAnswer"}  # fmt: skip
# Put together with what stands before or after them.
PIECES = {
    "more than {} files in it", "unpacks to more than {} MiB", "{} defines entities",
    "{}: lists of {}", "show nothing of {}", "are not on {}",
}  # fmt: skip
REASON_NAMES = re.compile(r"(?:^|_)(?:reason|why|doubts|notes)$")
# Packages whose reasons are messages already, or words of the log.
OTHERS = ("cli", "demo", "language", "lexicon", "ontology", "options", "fetch/replay",
          "fetch/sessions/recipe", "storage/export", "text", "topic", "search/record_checks",
          "search/request", "runs/search.py", "relevance/topic_draft")  # fmt: skip


@pytest.fixture(autouse=True)
def _chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_LANG", "zh_CN")


@pytest.fixture(scope="module")
def nodes() -> dict[str, list[ast.AST]]:
    """What our sources are made of, by path."""
    folders = ("qiaocrawl", "spiders", "pipelines", "middlewares")
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return {
        str(path.relative_to(ROOT)): [*ast.walk(ast.parse(path.read_text("utf-8")))]
        for path in paths
    }


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("", ""),
        ("HTTP 404 Not Found (gone)", "HTTP 404 Not Found（已不在）"),
        (
            "robots.txt unreachable: CannotResolveHostError: the name 'a.cn' leads to no address",
            "取不到 robots.txt：域名 a.cn 解析不出",
        ),
        ("no body: body has 7 characters", "没有正文：正文只有 7 个字"),
        (
            "the URL is a listing's; 425 of 787 characters are link text",
            "网址是列表页的；787 个字中有 425 个是链接文字",
        ),
        (
            "robots.txt unreachable: DownloadFailedError: [<ConnectionDone: closed>]",
            "取不到 robots.txt：连接中断（[<ConnectionDone: closed>]）",
        ),
        ("title cosine 0.912", "标题余弦 0.912"),
        ("captcha: title '安全验证'", "验证码：标题为 '安全验证'"),
        ("what nobody has ever said; no title", "what nobody has ever said；没有标题"),
    ],
)
def test_reasons_and_what_they_hold_are_translated(reason: str, shown: str) -> None:
    assert shown_reason(reason) == shown


def test_english_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_LANG", "en")
    assert shown_reason("no title") == "no title"


def test_no_template_takes_what_another_makes() -> None:
    wrong = []
    for template in (*REASONS, *FOREIGN):
        values = dict.fromkeys(re.findall(r"\{(\w+)\}", template), "7")
        if shown_reason(template.format(**values)) != _(template).format(**values):
            wrong.append(template)
    assert wrong == []


def test_every_template_is_of_a_reason(nodes: dict[str, list[ast.AST]]) -> None:
    literals = "\n".join(
        node.value
        for path, own in nodes.items()
        if not path.endswith("language/reasons.py")
        for node in own
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    # Scrapy's, of its middleware for robots.txt.
    own = set(REASONS) - {"Forbidden by robots.txt"}
    stale = [
        template for template in own
        for piece in re.split(r"\{\w+\}|[:();]|\bhits\b|\blinks\b", template)
        if re.search("[a-z]{3}", piece) and piece.strip() not in literals
    ]  # fmt: skip
    assert stale == []


def test_every_reason_has_a_template(nodes: dict[str, list[ast.AST]]) -> None:
    wrong = []
    for path, own in nodes.items():
        if path.removeprefix("qiaocrawl/").startswith(OTHERS):
            continue
        for node in own:
            for text in set(_reasons(node)) - PIECES:
                words = re.sub(r"\{\}", "7", text)
                if re.search("[a-z]{3} ?[a-z]{2}", words) and shown_reason(words) == words:
                    wrong.append(f"{path}:{node.lineno} {text!r}")  # type: ignore[attr-defined]
    assert wrong == []


def _reasons(node: ast.AST) -> Iterator[str]:
    """The texts that *node* gives as a reason, "{}" for what is filled in."""
    values: list[ast.expr] = []
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in REASON_ERRORS | REASON_RECORDS:
            values += [*node.args, *(word.value for word in node.keywords)]
    elif isinstance(node, ast.Assign):
        names = {ast.unparse(target).rpartition(".")[2] for target in node.targets}
        values += [node.value] if any(map(REASON_NAMES.search, names)) else []
    for value in values:
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        yield from (text for part in parts for text in _texts(part))


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "{}"
                      for part in node.values)  # fmt: skip
