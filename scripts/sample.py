"""A sample of the console in docs/sample: its pages over what the demo found, as files to open.

Usage: ``python scripts/sample.py [FOLDER] [--out docs/sample]``, after ``qiaocrawl demo --folder
FOLDER`` (``data/demo`` when not given) and ``qiaocrawl demo console``, which tells stories and
keeps a briefing. The pages are those a reader sees, in Chinese. They need no server: links lead to
each other or are plain text, forms, buttons and scripts are gone, and there is one style sheet with
the rules that some page needs. Works on a copy of the demo's database.
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode

from benchmarks.consoles import asking
from qiaocrawl.console.security import credentials
from qiaocrawl.storage.people import ROLES
from scripts.demo_copy import TOPIC, marked_copy

Get = Callable[[str], httpx.Response]
"""The answer of the console to a path."""

START = ("/", "/articles", "/stories", "/warnings", "/briefings", "/handovers", "/boards",
         "/topics", f"/topics/{TOPIC}", f"/topics/{TOPIC}?table=sites", "/jobs", "/sites",
         "/coverage", "/coverage/missed", "/engines", "/figures", "/dead", "/sources")  # fmt: skip
"""Pages of the sample, from the first on; those they link to are added, as ``_MORE`` has it."""
_MORE = {
    r"/articles\?.*": 3,
    r"/stories\?.*": 6,
    r"/stories/\d+": 8,
    r"/articles/\d+": 12,
    r"/articles/\d+/reasons": 12,
    r"/articles/\d+/evidence": 2,
    r"/articles/\d+/page": 2,
    r"/briefings/\d+": 1,
    r"/briefings/\d+/page": 1,
    r"/(office/mark|static/icon).*": 1,
}
"""How many of a kind, by the whole path."""
_STYLES = "sample.css"
_NOTE = (
    '<div class="desk-note">这是样例：在内置的、虚构的网站群上采集一轮之后，控制台给读者看的页面。'
    '按钮和表单都已去掉。<span lang="en">A sample: what a reader sees in the console after one '
    "round on the built-in, invented web; buttons and forms are left out.</span></div>"
)
_MAIN = re.compile(r'<main id="content"[^>]*>')
# What needs a script, a log-in or a server.
_GONE = (
    "script, noscript, template, link[rel=manifest], link[rel=alternate], "
    "link[rel=apple-touch-icon], .desk-who, .desk-close, .desk-sorts, [data-url], [data-events]"
)
_FRAMES = ".desk-card, .card, .desk-note, .desk-acts"
_CONTROLS = "button, input, select, textarea, label, legend, datalist, dialog"
# A link that leads nowhere is plain text in a sentence; in these it is gone.
_MENUS = "nav, .nav, .pagination, .desk-acts"
_BUTTONS = frozenset({"btn", "desk-chip", "desk-more", "console-link"})


def write_sample(get: Get, out: Path, start: Iterable[str] = START) -> list[Path]:
    """Write the pages *get* answers into *out*; what an earlier sample left there goes.

    Raises:
        RuntimeError: a page is not answered; the message names it.
    """
    found = _collect(get, start)
    names = {path: _file_name(path, one.answer) for path, one in found.items()}
    ids = {
        names[path]: {node.attributes["id"] for node in one.tree.css("[id]")}
        for path, one in found.items()
        if one.tree
    }
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("*.html"), *out.glob("*.svg"), *out.glob("*.css")):
        old.unlink()
    sheets: dict[str, None] = {}
    pages: dict[str, str] = {}
    for path, one in found.items():
        if one.tree is None:
            (out / names[path]).write_bytes(one.answer.content)
            continue
        sheets |= dict.fromkeys(_take_sheets(one.tree))
        _join(one.tree, names, ids)
        pages[names[path]] = _MAIN.sub(lambda main: main[0] + _NOTE, one.tree.html or "")
    pages = _without_copies(pages)
    for name, text in pages.items():
        (out / name).write_text(f"{text}\n", "utf-8")
    styles = "".join(_with_fonts(get, sheet, _got(get, sheet).text) for sheet in sheets)
    (out / _STYLES).write_text(needed_rules(styles, pages.values()), "utf-8")
    return sorted(path for path in out.iterdir() if path.is_file())


@dataclass(frozen=True, slots=True)
class _Found:
    """What the console answered; the *tree* of a page, without what cannot work."""

    answer: httpx.Response
    tree: LexborHTMLParser | None


def _collect(get: Get, start: Iterable[str]) -> dict[str, _Found]:
    """The answers by path, in the order the pages were met."""
    found: dict[str, _Found] = {}
    waiting = list(start)
    taken: Counter[str] = Counter()
    while waiting:
        path = waiting.pop(0)
        answer = _got(get, path)
        tree = LexborHTMLParser(answer.text) if _is_page(answer) else None
        found[path] = _Found(answer, tree)
        if tree is None:
            continue
        _take_out_what_cannot_work(tree)
        for link in _links(tree):
            to = link.partition("#")[0]
            kind = next((kind for kind in _MORE if re.fullmatch(kind, to)), "")
            if kind and to not in found and to not in waiting and taken[kind] < _MORE[kind]:
                taken[kind] += 1
                waiting.append(to)
    return found


def _got(get: Get, path: str) -> httpx.Response:
    answer = get(path)
    if answer.status_code != httpx.codes.OK:
        raise RuntimeError(f"{path}: {answer.status_code}")
    return answer


def _is_page(answer: httpx.Response) -> bool:
    return answer.headers["content-type"].startswith("text/html")


def _file_name(path: str, answer: httpx.Response) -> str:
    kind = "html" if _is_page(answer) else answer.headers["content-type"].split("/")[1][:3]
    return f"{re.sub(r'[^a-z0-9]+', '-', path.lower()).strip('-') or 'index'}.{kind}"


# --- One page -------------------------------------------------------------------------------------


def _links(tree: LexborHTMLParser) -> Iterator[str]:
    for name in ("href", "src"):
        for node in tree.css(f"a[{name}], iframe[{name}], img[{name}]"):
            yield node.attributes[name] or ""


def _take_sheets(tree: LexborHTMLParser) -> list[str]:
    """The addresses of the style sheets, in whose place ours is linked to."""
    found = []
    for node in tree.css("link[rel=stylesheet]"):
        found.append(node.attributes["href"] or "")
        if len(found) > 1:
            node.decompose()
        else:
            node.attrs["href"] = _STYLES
    return found


def _take_out_what_cannot_work(tree: LexborHTMLParser) -> None:
    for selector in (_GONE, _CONTROLS):
        # One by one: some lie in others.
        while node := tree.css_first(selector):
            node.decompose()
    while form := tree.css_first("form"):
        form.unwrap()
    for details in tree.css("details"):
        summary = details.css_first("summary")
        if summary and details.text(strip=True) == summary.text(strip=True):
            details.decompose()
    for card in tree.css(_FRAMES):
        if not card.text(strip=True) and not card.css_first("img, svg, iframe"):
            card.decompose()


def _join(
    tree: LexborHTMLParser, names: Mapping[str, str], ids: Mapping[str, Collection[str | None]]
) -> None:
    """Let links lead to the files of *names*; others are plain text, or gone with their button."""
    menus = {node.mem_id for menu in tree.css(_MENUS) for node in menu.css("a")}
    for node in tree.css("a"):
        to, _hash, anchor = (node.attributes.get("href") or "").partition("#")
        if not to and anchor:
            continue
        name = names.get(to)
        if name:
            node.attrs["href"] = f"{name}#{anchor}" if anchor in ids[name] else name
        elif node.mem_id in menus or _BUTTONS & set((node.attributes.get("class") or "").split()):
            node.decompose()
        elif _is_choice(node, to):
            assert node.parent is not None
            node.parent.decompose()
        else:
            node.unwrap()
    for node in tree.css("iframe[srcdoc]"):
        inner = LexborHTMLParser(node.attributes["srcdoc"] or "")
        for link in inner.css("a[href]"):
            # As it was, but for where it leads.
            del link.attrs["href"]
        node.attrs["srcdoc"] = inner.html or ""
    for node in tree.css("iframe[src], img[src]"):
        name = names.get(node.attributes["src"] or "")
        if name:
            node.attrs["src"] = name
        elif not (node.attributes["src"] or "").startswith("data:"):
            node.decompose()
    for node in tree.css("link[rel=icon]"):
        mark = next((name for path, name in names.items() if path.endswith(".svg")), "")
        node.attrs["href"] = mark or "data:,"


def _is_choice(node: LexborNode, to: str) -> bool:
    """Whether a link stands alone on its line and shows the same page otherwise."""
    above = node.parent
    return (
        "?" in to
        and above is not None
        and above.tag in ("div", "p")
        and above.text(strip=True) == node.text(strip=True)
    )


def _without_copies(pages: Mapping[str, str]) -> dict[str, str]:
    """The pages by file, less those that show what an earlier one does; links lead to that one."""
    firsts: dict[str, str] = {}
    for name, text in pages.items():
        firsts.setdefault(text, name)
    instead = {name: firsts[text] for name, text in pages.items() if firsts[text] != name}

    def led(text: str) -> str:
        for name, first in instead.items():
            text = re.sub(rf'(href|src)="{re.escape(name)}(["#])', rf'\1="{first}\2', text)
        return text

    return {name: led(text) for text, name in firsts.items()}


# --- The style sheet ------------------------------------------------------------------------------

_TOKEN = re.compile(r"[.#](-?[A-Za-z_][\w-]*)")
# What is in brackets stands for one of several, or for none of them.
_ANY = re.compile(r":(?:not|is|where|has)\([^()]*\)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FONT = re.compile(r'url\("?([^)"]+\.woff2)"?\)')
_SOLID = "fa-solid-900"
"""The one font of symbols that the console uses."""


def _with_fonts(get: Get, sheet: str, styles: str) -> str:
    """*styles* with the font of symbols in it: browsers read none from a file beside a file."""

    def inside(found: re.Match[str]) -> str:
        if _SOLID not in found[1]:
            return found[0]
        path = str(httpx.URL("http://x" + sheet).join(found[1]).path)
        data = base64.b64encode(_got(get, path).content).decode("ascii")
        return f"url(data:font/woff2;base64,{data})"

    return _FONT.sub(inside, styles)


def needed_rules(styles: str, pages: Iterable[str]) -> str:
    """The rules of *styles* whose classes and ids occur in *pages*; others are left out."""
    used = {
        name
        for page in pages
        for words in re.findall(r'(?:class|id)="([^"]*)"', page)
        for name in words.split()
    }
    kept = _kept(_COMMENT.sub("", styles), used)
    return "\n".join(rule for rule in kept if _is_named(rule, kept))


def _is_named(rule: str, rules: Iterable[str]) -> bool:
    """Whether the font or the movement of *rule* is used by another one; true of all others."""
    named = re.match(r'@keyframes ([\w-]+)|@font-face{[^}]*?font-family:("[^"]+")', rule)
    name = named and (named[1] or named[2])
    return not name or any(name in own for own in rules if own is not rule)


def _kept(styles: str, used: set[str]) -> list[str]:
    kept = []
    for head, body in _rules(styles):
        if head.startswith(("@media", "@supports", "@layer")):
            if inner := "".join(_kept(body, used)):
                kept.append(f"{head}{{{inner}}}")
        elif head.startswith("@font-face"):
            if "data:font" in body:
                kept.append(f"{head}{{{_only_inside(body)}}}")
        elif head.startswith("@"):
            if body or not head.startswith(("@charset", "@import")):
                kept.append(f"{head}{{{body}}}")
        else:
            wanted = ",".join(own for own in _selectors(head) if _can_match(own, used))
            if wanted:
                kept.append(f"{wanted}{{{body}}}")
    return kept


def _can_match(selector: str, used: set[str]) -> bool:
    return set(_TOKEN.findall(_ANY.sub("", selector))) <= used and "=dark" not in selector


def _only_inside(body: str) -> str:
    """A font's rule without the files that are not in it."""
    return re.sub(r',url\((?!data:)[^)]*\) ?format\("[^"]*"\)', "", body)


def _rules(styles: str) -> Iterator[tuple[str, str]]:
    """Each rule's head and what is between its braces; a rule without braces has none."""
    at = begun = depth = 0
    head = ""
    while at < len(styles):
        character = styles[at]
        if character in "\"'":
            at = styles.index(character, at + 1)
        elif character == ";" and not depth:
            yield styles[begun:at].strip(), ""
            begun = at + 1
        elif character == "{":
            depth += 1
            if depth == 1:
                head, begun = styles[begun:at].strip(), at + 1
        elif character == "}":
            depth -= 1
            if not depth:
                yield head, styles[begun:at].strip()
                begun = at + 1
        at += 1


def _selectors(head: str) -> list[str]:
    """The selectors of *head*; commas in brackets part none."""
    return re.split(r",\s*(?![^(]*\))", head)


# --- Of the demo ----------------------------------------------------------------------------------


def main() -> None:
    """Write it."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        url, _article = marked_copy(arguments.folder / "demo.db", folder, "chen")
        with asking.console(url, folder / "index", folder, "li", ROLES[0]) as served:
            cookie = f"{served.headers['cookie']}; {credentials.LANGUAGE}=zh_CN"
            with httpx.Client(
                base_url=served.url, headers={"cookie": cookie}, timeout=asking.TIMEOUT_SECONDS
            ) as client:
                files = write_sample(partial(client.get), arguments.out)
    total = sum(file.stat().st_size for file in files)
    print(f"{arguments.out}: {len(files)} files, {total:,} bytes")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("data/demo"))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "sample")
    arguments = parser.parse_args()
    if not (arguments.folder / "demo.db").exists():
        parser.error(f"there is no {arguments.folder / 'demo.db'}; run `qiaocrawl demo` first")
    return arguments


if __name__ == "__main__":
    main()
