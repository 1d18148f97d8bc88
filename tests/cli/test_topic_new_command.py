"""``qiaocrawl topic new`` and ``topic tree``: from nothing to a pack that judges."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

import pytest
from docx import Document as WordDocument

from command_runs import Run
from crawl_starter import StartedCrawl
from crawling import Answer, local_server
from forking_python import forking_python
from fresh_schema import make_tables
from qiaocrawl.items import PageText
from qiaocrawl.relevance import page_scorers
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import load_pack as load_stored
from qiaocrawl.storage.topics.topics import save_pack as save_stored
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.tree import topic_tree
from searxng_stand_in import HOST, Found, Searxng
from storage_samples import PACK, put_article

_NODES = ("S6", "S7")
_PAGE = (
    '<html><head><link rel="canonical" href="https://www.linye.gov.cn/a/1.html"></head>'
    "<body><h1>{}</h1>{}</body></html>"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QIAO_TOPICS_DIR", str(tmp_path / "topics"))
    monkeypatch.setenv("QIAO_DATABASE_URL", f"sqlite:///{tmp_path / 'q.db'}")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """Texts of two nodes, a file of each kind among them."""
    folder = tmp_path / "samples"
    folder.mkdir()
    tree = topic_tree()
    own = [sample for code in _NODES for sample in tree.samples(tree.find(code))]
    (folder / "1.txt").write_text(f"{own[0].title}\n{own[0].text}", "utf-8")
    paragraphs = "".join(f"<p>{part}。</p>" for part in own[1].text.split("。") if part)
    (folder / "2.html").write_text(_PAGE.format(own[1].title, paragraphs * 2), "utf-8")
    word = WordDocument()
    word.add_paragraph(own[2].title)
    word.add_paragraph(own[2].text)
    word.save(str(folder / "3.docx"))
    header = "title: {}\nrelevant: {}\n\n{}\n"
    (folder / "4.md").write_text(header.format(own[3].title, "yes", own[3].text), "utf-8")
    other = tree.samples(tree.find("G8"))[0]
    (folder / "5.md").write_text(header.format(other.title, "no", other.text), "utf-8")
    return folder


def stored(home: Path, name: str) -> TopicPack:
    with Database.open(f"sqlite:///{home / 'q.db'}") as opened, opened.engine.connect() as c:
        return load_stored(c, name)


def test_samples_of_all_kinds_make_a_pack_that_judges(run: Run, home: Path, samples: Path) -> None:
    code, shown, err = run(
        "topic", "new", "linguo", "--samples", str(samples), "--words", "果园 森林", "--yes"
    )
    assert code == 0, err
    pack = load_pack(home / "topics" / "linguo")
    assert stored(home, "linguo") == pack
    assert [(term.text, term.kind) for term in pack.terms[:2]] == [
        ("果园", "core"),
        ("森林", "core"),
    ]
    assert {"www.linye.gov.cn"} == {site.host for site in pack.sites}
    relevant = [sample.title for sample in pack.samples if sample.relevant]
    assert len(relevant) == 4
    assert any("球" in sample.title for sample in pack.samples if not sample.relevant)
    assert "lexicon review --topic linguo --from-files" in shown
    scorer = page_scorers.get("blend")(pack)
    assert scorer.judge(PageText("林场造林", "护林员在森林里补种树苗，果园也浇了水。" * 3)).relevant
    assert not scorer.judge(PageText("球赛", "球队在末轮进了两个球，教练很满意。" * 3)).relevant
    code, _, err = run("topic", "new", "linguo", "--node", "S", "--yes")
    assert (code, "--force" in err) == (1, True)


def test_a_branch_is_broader_than_its_leaf(run: Run, home: Path) -> None:
    thresholds = []
    for name, node in (("leaf", "S/S9"), ("branch", "S")):
        code, _, err = run("topic", "new", name, "--node", node, "--yes")
        assert code == 0, err
        thresholds.append(stored(home, name).threshold)
    assert thresholds == sorted(thresholds, reverse=True)
    assert "渔民" in {term.text for term in stored(home, "branch").terms}
    code, shown, _ = run("topic", "tree", "--node", "S")
    assert (code, "S9 水产、渔业" in shown, "topic new s --node S" in shown) == (0, True, True)


def test_samples_of_a_node_can_be_left_out(run: Run, home: Path) -> None:
    assert run("topic", "new", "fish", "--node", "S9", "--drop-samples", "2", "--yes")[0] == 0
    assert sum(sample.relevant for sample in stored(home, "fish").samples) == 1
    code, _, err = run("topic", "new", "fish2", "--node", "S9", "--drop-samples", "3", "--yes")
    assert (code, "1–2" in err) == (1, True)


def test_words_find_samples_among_stored_articles(run: Run, home: Path) -> None:
    tree = topic_tree()
    with Database.open(f"sqlite:///{home / 'q.db'}") as opened:
        make_tables(opened)
        with opened.engine.begin() as c:
            save_stored(c, PACK, now=1.0)
            for number, sample in enumerate(tree.samples(tree.find("S"))):
                host = f"site{number % 2}.example"
                put_article(c, f"/{number}", host=host, title=sample.title, body=sample.text)
    code, _, err = run("topic", "new", "yu", "--words", "渔民、捕捞 鱼苗", "--yes")
    assert code == 0, err
    pack = stored(home, "yu")
    relevant = [sample.title for sample in pack.samples if sample.relevant]
    assert relevant
    assert all("渔" in sample.text for sample in pack.samples if sample.relevant)
    assert {site.host for site in pack.sites} <= {"site0.example", "site1.example"}
    assert pack.sites


def test_words_alone_are_searched_and_fetched_first(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is a SearXNG of this machine; its hits become samples and its hosts sites."""
    texts = topic_tree().samples(topic_tree().find("S"))
    pages = {f"/{number}.html": text for number, text in enumerate(texts) if "渔" in text.text}
    hits = [f"http://www.yuye.test{path}" for path in pages]
    searxng = Searxng({"渔民": Found(hits)})

    def respond(host: str, path: str) -> Answer | None:
        if host != "www.yuye.test" or path not in pages:
            return searxng.respond(host, path)
        paragraphs = "".join(f"<p>{part}。</p>" for part in pages[path].text.split("。") if part)
        return Answer(_PAGE.format(pages[path].title, paragraphs).encode())

    with local_server(respond) as server:
        for name, value in {
            "QIAO_DEMO": server.origin, "QIAO_ENGINES": "searxng",
            "QIAO_SEARXNG_URL": f"http://{HOST}",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "executable", forking_python(tmp_path))
        monkeypatch.chdir(home)
        code, out, err = run("topic", "new", "yu", "--words", "渔民 捕捞", "--search", "--yes")
    assert code == 0, (out, err)
    pack = stored(home, "yu")
    assert {sample.title for sample in pack.samples if sample.relevant} <= {
        text.title for text in pages.values()
    }
    assert [site.host for site in pack.sites] == ["www.yuye.test"]
    assert {words for words, _ in searxng.asked} == {"渔民", "捕捞"}


def test_a_terminal_is_asked_what_to_leave_out(home: Path) -> None:
    leader, follower = pty.openpty()
    process = StartedCrawl(
        ("qiaocrawl", "topic", "new", "g"), {**os.environ, "COLUMNS": "80"}, home,
        stdin=follower, stdout=follower, stderr=follower,
    )  # fmt: skip
    os.close(follower)
    os.write(leader, "3\nS9\n2\n水产\n1 3-4\n".encode())
    shown = b""
    while True:
        try:
            shown += (chunk := os.read(leader, 4096))
        except OSError:
            break
        if not chunk:
            break
    os.close(leader)
    assert process.wait() == 0, shown.decode()
    process.close()
    pack = stored(home, "g")
    assert pack.title == "水产"
    words = topic_tree().find("S9").words
    assert not {words[0], words[2], words[3]} & {term.text for term in pack.terms}
    assert words[1] in {term.text for term in pack.terms}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("X",), "the name 'X'"),
        (("x",), "--samples DIR"),
        (("x", "--samples", "nowhere"), "nowhere"),
        (("x", "--node", "ZZ"), "topic tree"),
        (("x", "--node", "D6", "--search"), "--words"),
        (("x", "--words", "侨", "--search"), "QIAO_ENGINES"),
    ],
)
def test_what_is_wrong_is_named(
    run: Run, home: Path, arguments: tuple[str, ...], reason: str
) -> None:
    code, _, err = run("topic", "new", *arguments, "--yes")
    assert code == 1
    assert reason in err
