"""The simulator of crawls: figures by hand, a made-up collection, resuming, and bad input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from benchmarks import focus, focus_replay
from benchmarks.crawl_orders.data import (
    Collection,
    FocusError,
    StoredPage,
    cache_folder,
    find_collections,
    load_collection,
    read_topics,
)
from benchmarks.crawl_orders.peers import PEERS
from benchmarks.crawl_orders.picture import draw_all
from benchmarks.crawl_orders.runs import Run, run_one
from benchmarks.crawl_orders.sim import curve, figures, run
from benchmarks.crawl_orders.tasks import Task, make_task
from qiaocrawl.fetch.replay.page_folder import find_graph, graph_files
from qiaocrawl.frontier.strategies.strategy import CrawlTopic
from qiaocrawl.items import Link, PageText
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.urls import url_key

HOST = "http://village.example"
TEA = 12
"""Relevant pages: three of them are samples, one cannot be reached."""
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "focus"
ROW_KEYS = ["strategy", "collection", "topic", "seed", "auc", "recall_10", "recall_25",
            "recall_50", "harvest_10"]  # fmt: skip


def _page(title: str, text: str, links: Mapping[str, str], head: str = "") -> str:
    anchors = "".join(f'<li><a href="{href}">{anchor}</a></li>' for href, anchor in links.items())
    return (f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1>"
            f"<p>{text}</p><ul>{anchors}</ul></body></html>")  # fmt: skip


def _village() -> dict[str, tuple[str, list[str]]]:
    """Path -> (HTML, topics): a home page, a list of tea pages and one of boat pages."""
    tea = {f"/tea/{n}/": f"Tea of garden {n}" for n in range(TEA - 1)}
    boats = {f"/boats/{n}.html": f"Boat number {n}" for n in range(6)}
    pages = {
        "/": (
            _page(
                "Village",
                "Everything about our village.",
                {
                    "/boats.html": "Boats",
                    "/gardens.html": "Gardens",
                    "http://far.example/": "Far away",
                },
            ),
            [],
        ),
        # Written with the other scheme, without the slash, and below another base.
        "/gardens.html": (
            _page(
                "Gardens",
                "Gardens on the slopes.",
                {
                    **{f"{n}": anchor for n, anchor in enumerate(tea.values())},
                    "https://village.example/boats.html": "Boats",
                    "#top": "Up",
                },
                f'<base href="{HOST}/tea/">',
            ),
            [],
        ),
        "/boats.html": (_page("Boats", "Boats in the harbour.", boats), []),
        "/tea/hidden/": (_page("Tea", "Nobody links to this tea.", {}), ["tea"]),
    }
    for path, title in tea.items():
        pages[path] = (_page(title, "Green tea leaves are picked in spring.", {}), ["tea"])
    for path, title in boats.items():
        pages[path] = (_page(title, "Oars, sails and nets for the sea.", {"/": "Home"}), ["boat"])
    return pages


def _write(folder: Path, seeds: list[str]) -> None:
    (folder / "pages").mkdir(parents=True)
    lines = []
    for number, (path, (html, topics)) in enumerate(_village().items()):
        file = f"pages/{number}.html"
        (folder / file).write_text(html, encoding="utf-8")
        lines.append(json.dumps({"url": HOST + path, "file": file, "topics": topics}) + "\n")
    (folder / "graph.jsonl").write_text("".join(lines), encoding="utf-8")
    named = {"topics": {"tea": "tea leaves", "boat": "boat sea"}, "seeds": seeds}
    (folder / "topics.json").write_text(json.dumps(named), encoding="utf-8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The village with its start page, once more without, and training pages for the latter."""
    folder = tmp_path_factory.mktemp("focus")
    _write(folder / "data" / "village_one", [f"{HOST}/"])
    _write(folder / "data" / "hamlet_one", [])
    (folder / "data" / "hamlet_more").mkdir()
    rows = [{"url": f"http://other.example/{label}{n}", "html": _page(label, f"{label} {n}", {}),
             "label": [label]} for n in range(5) for label in ("tea", "other")]  # fmt: skip
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    (folder / "data" / "hamlet_more" / "examples.jsonl.gz").write_bytes(packed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder / "data"


@pytest.fixture(scope="module")
def task(data: Path) -> Task:
    """Tea in the village."""
    return make_task(load_collection(data / "village_one"), "tea", 0)


def _chain(pages: int, targets: frozenset[int]) -> Task:
    """Pages that nobody crawls, the first of them a start page."""
    nothing = PageText("", "")
    stored = tuple(StoredPage(f"http://a.example/{n}", bytes([n]), "a.example", nothing, ())
                   for n in range(pages))  # fmt: skip
    made = Collection("c", stored, (frozenset(),) * pages, {"t": "t"}, (0,), "")
    pack = TopicPack("t", "t", "", 0.1, (), (), ())
    return Task(made, "t", 0, (0,), frozenset([0]), frozenset(range(pages)), targets, pack)


# --- figures ----------------------------------------------------------------------------------


def test_figures_are_those_worked_out_by_hand() -> None:
    small = _chain(6, frozenset((1, 2)))
    # Recall after the five steps: 0, 1/2, 1/2, 1, 1.
    found = figures(small, [0, 3, 1, 4, 2, 5])
    assert found.auc == pytest.approx(0.6)
    assert found.recall == (0.0, 0.0, 0.5)
    assert found.harvest_10 == 0.0
    assert curve(small, [0, 3, 1, 4, 2, 5])[1] == (0.4, 0.5, 0.5)
    # A crawl that ends early stays where it is: 1/2 five times.
    assert figures(small, [0, 1]).auc == pytest.approx(0.5)
    long = _chain(41, frozenset(range(1, 11)))
    best = figures(long, range(41))
    assert best.auc == pytest.approx((sum(range(1, 11)) / 10 + 30) / 40)
    assert best.recall == pytest.approx((0.4, 1.0, 1.0))
    assert best.harvest_10 == 1.0


# --- collections and tasks ----------------------------------------------------------------------


def test_links_are_found_under_other_spellings_and_from_the_base(data: Path) -> None:
    village = load_collection(data / "village_one")
    urls = [page.url for page in village.pages]
    assert len(urls) == TEA + 6 + 3
    gardens = village.pages[urls.index(f"{HOST}/gardens.html")]
    targets = [village.pages[number].url for number, _ in gardens.links]
    assert targets == [*(f"{HOST}/tea/{n}/" for n in range(TEA - 1)), f"{HOST}/boats.html"]
    number, link = gardens.links[0]
    assert (link.anchor, link.key) == ("Tea of garden 0", village.pages[number].key)
    home = village.pages[urls.index(f"{HOST}/")]
    assert [link.anchor for _, link in home.links] == ["Boats", "Gardens"]
    assert village.seeds == (urls.index(f"{HOST}/"),)
    assert not village.examples
    kept = set(cache_folder().iterdir())
    assert load_collection(data / "village_one") == village
    assert set(cache_folder().iterdir()) == kept


def test_samples_and_start_pages_count_neither_way(task: Task) -> None:
    village = task.collection
    samples = [sample for sample in task.pack.samples if sample.relevant]
    assert len(samples) == 3
    assert len(task.pack.samples) == 3 + 8 + 1
    assert len(task.targets) in (TEA - 1 - 3, TEA - 1 - 2)
    assert not task.targets & task.neutral
    assert all("tea" in village.labels[number] for number in task.targets)
    assert [term.text for term in task.pack.terms] == ["tea", "leaves"]
    assert make_task(village, "tea", 0) == task
    assert make_task(village, "tea", 1).neutral != task.neutral


def test_without_start_pages_three_relevant_ones_are_drawn(data: Path) -> None:
    hamlet = load_collection(data / "hamlet_one")
    drawn = make_task(hamlet, "boat", 0)
    assert len(drawn.starts) == 3
    assert drawn.neutral == set(drawn.starts)
    assert all("boat" in hamlet.labels[number] for number in drawn.starts)
    # The training pages of this kind of collection are the other samples.
    assert [sample.relevant for sample in drawn.pack.samples] == [True] * 3 + [False] * 10
    tea = make_task(hamlet, "tea", 0).pack.samples
    assert sum(sample.relevant for sample in tea) == 3 + 5


def test_judges_and_strategies_see_no_labels(task: Task) -> None:
    village = task.collection
    blind = Collection(village.name, village.pages, tuple(
        labels if number in task.neutral else frozenset(("tea",)) - labels
        for number, labels in enumerate(village.labels)
    ), village.queries, village.seeds, village.digest)  # fmt: skip
    told = Task(blind, "tea", 0, task.starts, task.neutral, task.reachable, frozenset(), task.pack)
    assert run(told, "best_first") == run(task, "best_first")


# --- crawls -------------------------------------------------------------------------------------


def test_a_crawl_gets_all_that_can_be_reached(task: Task) -> None:
    order = run(task, "bfs")
    assert len(order) == len(set(order)) == len(task.reachable) == TEA - 1 + 6 + 3
    urls = [task.collection.pages[number].url for number in order]
    assert urls[:3] == [f"{HOST}/", f"{HOST}/boats.html", f"{HOST}/gardens.html"]
    topic = CrawlTopic(task.pack)
    found = {name: run_one(task, name, topic=topic) for name in (*PEERS, "bfs")}
    assert {one.pages for one in found.values()} == {len(order)}
    assert found["oracle"].figures["auc"] == max(one.figures["auc"] for one in found.values())
    for name in PEERS:
        assert run_one(task, name, topic=topic).figures == found[name].figures, name


def _rows(arguments: list[str], file: Path) -> list[dict[str, object]]:
    focus.main([*arguments, "--json", str(file)])
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_what_was_stopped_is_taken_up_again(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(data), "--strategy", "bfs,dfs,oracle", "--seeds", "1",
                 "--topic", "tea", "--out", str(tmp_path / "out")]  # fmt: skip
    rows = _rows(arguments, tmp_path / "rows.jsonl")
    assert [list(row) for row in rows] == [ROW_KEYS] * len(rows)
    assert [(row["seed"], row["strategy"]) for row in rows if row["collection"] == "village_one"] \
        == [(seed, name) for seed in (0,) for name in ("bfs", "dfs", "oracle")]  # fmt: skip
    results = tmp_path / "out" / "results.jsonl"
    # As a stop leaves it, within a line: those of runs that are left out are short.
    lines = sorted(results.read_bytes().splitlines(keepends=True), key=len)
    results.write_bytes(b"".join(lines)[:-100])
    capsys.readouterr()
    assert _rows([*arguments, "--processes", "1"], tmp_path / "again.jsonl") == rows
    assert "5 of 6 runs are known" in capsys.readouterr().out
    assert _rows([*arguments, "--processes", "1"], tmp_path / "again.jsonl") == rows
    said = capsys.readouterr().out
    assert "6 of 6 runs are known" in said
    assert "left out: hamlet_one/tea/0, fewer than 8 pages to find" in said
    assert "best fixed" in (tmp_path / "out" / "tables.txt").read_text("utf-8")


@pytest.mark.parametrize(("arguments", "said"), [
    (["--strategy", "bsf"], "unknown strategy 'bsf' (there are: "),
    (["--strategy", "bfs", "--topic", "coffee"], r"unknown topic 'coffee' (there are: tea, boat)"),
    (["--strategy", "bfs", "--collection", "town"], "unknown collection 'town'"),
    (["--strategy", "bfs", "--scorer", "luck"], "unknown page scorer 'luck'"),
])  # fmt: skip
def test_unknown_names_are_named(data: Path, arguments: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        focus.main(["--data", str(data), *arguments])
    assert said in str(stopped.value)


def test_a_folder_without_collections_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no collection there"):
        focus.main(["--data", str(tmp_path / "nothing"), "--all"])
    (tmp_path / "topics.json").write_text("[]", encoding="utf-8")
    with pytest.raises(FocusError, match="must hold"):
        read_topics(tmp_path)
    with pytest.raises(SystemExit):
        focus.main(["--data", str(tmp_path)])


def test_a_crawl_by_replay_goes_the_same_way(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(data), "--topic", "tea", "--strategy", "bfs"]
    focus_replay.main([*arguments, "--collection", "village_one", "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    lines = {name: line.split("│")[2:4] for line in said.splitlines()
             for name in ("replay", "simulated") if name in line}  # fmt: skip
    pages = {name: int(cells[0]) for name, cells in lines.items()}
    assert pages == {"replay": TEA - 1 + 6 + 3, "simulated": TEA - 1 + 6 + 3}
    auc = {name: float(cells[1]) for name, cells in lines.items()}
    assert auc["replay"] == auc["simulated"]
    with pytest.raises(SystemExit, match="unknown collection 'town'"):
        focus_replay.main([*arguments, "--collection", "town"])
    with pytest.raises(SystemExit, match="fewer than 8"):
        focus_replay.main([*arguments, "--collection", "hamlet_one"])


def test_pictures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runs = [Run(name, "c", "t", 0, {"auc": 0.5}, [[0.5, 0.5, 1.0], [1.0, 1.0, 0.5]],
                0.1, 2, 3, 2, "vsm") for name in ("bfs", "adaptive", "random")]  # fmt: skip
    names = sorted(path.name for path in draw_all(runs, tmp_path))
    assert names == ["compared.png", "compared.svg", "recall.png", "recall.svg"]
    assert all((tmp_path / name).stat().st_size > 1000 for name in names)


def test_the_open_collections_are_understood() -> None:
    if not REAL.is_dir():
        pytest.skip("the open collections are not beside the project")
    for folder in find_collections(REAL):
        queries, seeds = read_topics(folder)
        assert all(queries.values())
        graph = find_graph(folder)
        assert graph is not None
        if graph.stat().st_size < 50_000:
            urls = {url for urls in graph_files(graph).values() for url in urls}
            assert len(urls) > 500
            assert set(seeds) <= urls


def test_keys_are_the_crawls_own(task: Task) -> None:
    for page in task.collection.pages:
        assert page.key == url_key(page.url)
        assert all(isinstance(link, Link) for _, link in page.links)
