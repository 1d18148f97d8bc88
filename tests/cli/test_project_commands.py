"""From an empty folder to a crawl: init, startproject, run, schedule, and one set of settings."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pytest

from command_runs import Run
from crawl_starter import run_started
from crawling import Answer, article, import_pack, local_server, outcomes, pack, rows
from forking_python import forking_python
from qiaocrawl.cli.setup import package_name, units_for
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.options import Options, project, use_settings_file

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _forks(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Spiders that a started command starts load nothing anew."""
    monkeypatch.setenv("FORKING_PYTHON", forking_python(tmp_path_factory.mktemp("bin")))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, far from the options and modules of other tests."""
    for name in [*os.environ]:
        if name.startswith("QIAO_") or name == project.SETTINGS_VARIABLE:
            monkeypatch.delenv(name)
    # What .env sets is taken back afterwards.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setenv("QIAO_LANG", "en")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    use_settings_file({})
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("gazette", "project"):
            del sys.modules[name]


def test_init_writes_a_project_that_every_command_reads(run: Run, folder: Path) -> None:
    code, out, error = run("init", "--yes", "--topic", "qiaoqing", "--contact", "a@example.org",
                           "--database", "sqlite:///here.db")  # fmt: skip
    assert code == 0, error
    assert "topic imported: qiaoqing" in out
    assert "qiaocrawl run qiaoqing --hours 1" in out
    env = folder / ".env"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert "\nQIAO_CONTACT=a@example.org\n" in env.read_text("utf-8")
    assert "\n#QIAO_ENGINES=\n" in env.read_text("utf-8")
    code, out, _ = run("topic", "list")
    assert "qiaoqing" in out
    assert "database" in out, "the database of .env is read"
    code, _, error = run("init", "--yes", "--topic", "qiaoqing")
    assert code == 1
    assert "--force" in error


def test_init_asks_in_chinese(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("fishery\nhttps://a.example\n\n\n"))
    code, out, error = run("init")
    assert code == 0, error
    assert "topic (shipped: education, qiaoqing)" in out
    assert "topic import" in out, "a topic of one's own has no terms yet"
    assert (folder / "data" / "qiaocrawl.db").is_file()


def test_a_wrong_answer_is_asked_for_again_at_once(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ("侨情", "qiaoqing", "", "me", "a@example.org", "mysql://x", "", "gogle", "")
    monkeypatch.setattr(sys, "stdin", StringIO("".join(f"{answer}\n" for answer in answers)))
    code, out, error = run("init")
    assert code == 0, error
    wrong = ("'侨情'", "'me'", "must be a SQLAlchemy URL", "no engine 'gogle'")
    places = [(out + error).index(message) for message in wrong]
    assert places == sorted(places)
    assert "QIAO_CONTACT=a@example.org\n" in (folder / ".env").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--topic", "x/y"), "'x/y'"), (("--database", "mysql://x"), "QIAO_DATABASE_URL"),
     (("--contact", "a\nb"), "'a\\nb'"), (("--contact", "me"), "e-mail"),
     (("--engines", "bing,gogle"), "no engine 'gogle'"), (("--topic", ""), "--topic"),
     (("--database", "mysql+pymysql://u@127.0.0.1:1/x"), "no connection"),
     (("--database", "sqlite:////dev/null/x.db"), "/dev/null/x.db")],
)  # fmt: skip
def test_a_wrong_answer_writes_nothing(
    run: Run, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    defaults = ("--topic", "qiaoqing") if "--topic" not in arguments else ()
    code, _, error = run("init", "--yes", *defaults, *arguments)
    assert code == 1
    assert message in error
    assert [*folder.iterdir()] == []


def test_an_env_file_of_a_windows_editor_is_read_or_named(folder: Path) -> None:
    (folder / ".env").write_bytes("\ufeffQIAO_CONTACT=a@b.example\r\n# 备注\r\n".encode())
    project.read_env_file()
    assert os.environ["QIAO_CONTACT"] == "a@b.example"
    (folder / ".env").write_bytes("# 备注\r\nQIAO_SECRET_KEY=甲乙丙\r\n".encode("gbk"))
    with pytest.raises(ConfigError, match=r"\.env cannot be read: it is no text in UTF-8") as told:
        project.read_env_file()
    assert told.value.__cause__ is None


def test_init_makes_a_key_once_and_keeps_it(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QIAO_SECRET_KEY", raising=False)
    arguments = ("init", "--yes", "--topic", "fishery")
    assert run(*arguments)[0] == 0
    env = folder / ".env"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    (line,) = [x for x in env.read_text("utf-8").splitlines() if x.startswith("QIAO_SECRET_KEY=")]
    Vault.from_option(line.partition("=")[2])
    # Another key would open nothing that is stored.
    assert run(*arguments, "--force")[0] == 0
    assert line in env.read_text("utf-8").splitlines()


@pytest.mark.parametrize("contact", ["https://a.example/#b$(id)", "o'b@b.example", "o'$@b.example"])
def test_what_init_writes_is_read_back_as_it_was(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, contact: str
) -> None:
    arguments = ("init", "--yes", "--topic", "fishery", "--contact", contact)
    if "'$" in contact:
        code, _, error = run(*arguments)
        assert (code, ".env cannot hold" in error) == (1, True)
        return
    assert run(*arguments)[0] == 0
    monkeypatch.delenv("QIAO_CONTACT", raising=False)
    project.read_env_file()
    assert os.environ["QIAO_CONTACT"] == contact
    line = next(x for x in (folder / ".env").read_text("utf-8").splitlines() if "QIAO_CON" in x)
    # What systemd, Docker Compose or a shell would change stands in quotes.
    assert line.endswith(f"='{contact}'") or "'" in contact


def test_what_stands_in_the_way_changes_nothing(run: Run, folder: Path) -> None:
    (folder / ".env").write_text("SECRET=1\n")
    code, _, error = run("startproject", ".", "--name", "gazette")
    assert (code, ".env is there already" in error) == (1, True)
    assert [*folder.iterdir()] == [folder / ".env"]
    name = package_name(folder)
    (folder / name).mkdir()
    (folder / name / "settings.py").touch()
    code, _, error = run("init", "--yes", "--force", "--topic", "fishery")
    assert (code, "is there already" in error) == (1, True)
    assert (folder / ".env").read_text() == "SECRET=1\n", "the old one stays until there is another"


def test_a_database_of_the_projects_settings_is_seen(run: Run, folder: Path) -> None:
    assert run("startproject", ".", "--name", "gazette")[0] == 0
    # .env as it was written: it takes no word of the operator's back.
    settings = folder / "gazette" / "settings.py"
    with settings.open("a", encoding="utf-8") as file:
        file.write('QIAO_DATABASE_URL = "sqlite:///of_settings.db"\n')
    assert run("db", "upgrade")[0] == 0
    assert (folder / "of_settings.db").is_file()
    (folder / ".env").write_text("QIAO_DATABASE_URL='sqlite:///of_env.db'\n")
    assert run("db", "upgrade")[0] == 0
    assert (folder / "of_env.db").is_file(), ".env wins over settings.py"


@pytest.mark.parametrize("asks", [True, False])
def test_init_over_a_project_keeps_to_the_database_of_its_settings(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, asks: bool
) -> None:
    assert run("startproject", ".", "--name", "gazette")[0] == 0
    (folder / ".env").unlink()
    with (folder / "gazette" / "settings.py").open("a", encoding="utf-8") as file:
        file.write('QIAO_DATABASE_URL = "sqlite:///of_settings.db"\n')
    monkeypatch.setattr(sys, "stdin", StringIO("qiaoqing\na@example.org\n\n\n"))
    code, out, error = run("init", *([] if asks else ["--yes", "--topic", "qiaoqing"]))
    assert code == 0, error
    assert "topic imported: qiaoqing" in out
    assert "of_settings.db" in out
    assert not (folder / "data").exists()
    # Given by hand it is written, the usual place too.
    given = ("--yes", "--force", "--topic", "qiaoqing", "--database", "sqlite:///data/qiaocrawl.db")
    assert run("init", *given)[0] == 0
    assert "\nQIAO_DATABASE_URL=sqlite:///data/qiaocrawl.db\n" in (folder / ".env").read_text(
        "utf-8"
    )
    assert (folder / "data" / "qiaocrawl.db").is_file()
    monkeypatch.setenv("QIAO_DATABASE_URL", "sqlite:///of_shell.db")
    _, out, error = run("init", *given)
    assert "of the environment wins" in error
    assert "of_shell.db" in out


@pytest.mark.parametrize("name", ["scrapy", "json", "class", "a-b"])
def test_a_project_takes_no_name_that_is_taken(run: Run, folder: Path, name: str) -> None:
    code, _, error = run("startproject", "there", "--name", name)
    assert code == 1
    assert repr(name) in error
    assert [*folder.iterdir()] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [("QIAO_CONTACT a", "line 1: neither"), ("# x\n\nsecret value=hunter2\n", "line 3: neither")],
)
def test_a_wrong_line_of_env_is_named_without_its_value(
    run: Run, folder: Path, text: str, message: str
) -> None:
    (folder / ".env").write_text(text)
    code, _, error = run("db", "stats")
    assert code == 1
    assert message in error
    assert "hunter2" not in error


def test_the_environment_wins_over_env(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("QIAO_CONTACT=of-file\nQIAO_ENGINES=searxng\nPATH=/nowhere\n")
    monkeypatch.setenv("QIAO_CONTACT", "of-environment")
    project.use_project()
    options = Options.from_environment()
    assert (options["QIAO_CONTACT"], options["QIAO_ENGINES"]) == ("of-environment", ("searxng",))
    assert os.environ["PATH"] != "/nowhere", "only our own options are taken"


def test_an_egg_beside_another_copy_of_the_project_is_refused_as_such(folder: Path) -> None:
    egg = folder / "17.egg"
    with ZipFile(egg, "w") as file:
        file.writestr("qiaocrawl/__init__.py", "")
    sys.path.insert(0, str(egg))
    with pytest.raises(ConfigError, match=r"an egg and another copy .* docs/fleet\.md"):
        project.require_one_copy()


def test_the_timer_runs_the_topic_in_this_folder(folder: Path) -> None:
    units = units_for("qiaoqing", "6:00, 18:30", 2, folder / "100%")
    service, timer = units["qiaocrawl-qiaoqing.service"], units["qiaocrawl-qiaoqing.timer"]
    assert f"WorkingDirectory={folder}/100%%\n" in service
    assert f"{sys.executable} -m qiaocrawl run qiaoqing --hours 2\n" in service
    assert "OnCalendar=*-*-* 06:00:00\nOnCalendar=*-*-* 18:30:00\n" in timer
    with pytest.raises(ConfigError, match="'25:00'"):
        units_for("qiaoqing", "25:00", 2, folder)
    for hours in (float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="--hours"):
            units_for("qiaoqing", "06:00", hours, folder)


@pytest.mark.parametrize("name", ["a\nExecStartPre=/bin/evil", "a\\", "a ", "a\udc80"])
def test_a_path_that_no_unit_can_hold_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="systemd"):
        units_for("qiaoqing", "06:00", 2, Path("/srv") / name)


def test_a_program_is_quoted_as_systemd_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", """/srv/it's "100%" \\ $x/python""")
    service = units_for("qiaoqing", "06:00", 2, Path("/srv/it's mine"))[
        "qiaocrawl-qiaoqing.service"
    ]
    assert "WorkingDirectory=/srv/it's mine\n" in service
    assert """ExecStart="/srv/it's \\"100%%\\" \\\\ $x/python" -m qiaocrawl run""" in service


class _Hook(BaseHTTPRequestHandler):
    received: list[dict[str, Any]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(json.loads(body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Quiet."""


def test_a_project_crawls_with_a_pipeline_of_its_own(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's pipeline gets what ours have stored, by one `run` with a summary."""
    # The summary asks for the run of the process that was started.
    monkeypatch.delenv("FORKING_PYTHON")
    pages = {"/": article("侨乡首页", links=("/1.html", "/2.html")),
             "/1.html": article("侨胞回乡办学"), "/2.html": article("归侨捐书")}  # fmt: skip
    hook = ThreadingHTTPServer(("127.0.0.1", 0), _Hook)
    Thread(target=hook.serve_forever, args=(0.05,), daemon=True).start()
    with local_server(lambda host, path: Answer(pages[path]) if path in pages else None) as server:
        assert run("startproject", "work", "--name", "gazette")[0] == 0
        os.chdir("work")
        settings = Path("gazette/settings.py")
        settings.write_text(
            settings.read_text("utf-8").replace('    # "gazette.pip', '    "gazette.pip')
            + f'WEBHOOK_URL = "http://127.0.0.1:{hook.server_port}/"\n'
            f"QIAO_ALLOW_ADDRESSES = '{server.origin}'\nQIAO_DATABASE_URL = 'sqlite:///q.db'\n"
            "QIAO_SITEMAPS = 'off'\nQIAO_SOFT_404_PROBE = 'off'\nDOWNLOAD_DELAY = 0\n",
            "utf-8",
        )
        Path(".env").unlink()
        import_pack("sqlite:///q.db", pack(server.origin))
        # Told apart by the terminal only: what Scrapy itself finds here.
        listed = _started("scrapy", "list")
        assert {"search", "site", "pages", "watch"} <= set(listed.stdout.split()), listed.stderr
        done = _started("qiaocrawl", "run", "qiaoqing", "--only", "site", "--minutes", "5")
    hook.shutdown()
    hook.server_close()
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(outcomes("sqlite:///q.db").values()).count("article") >= 2
    assert {"侨胞回乡办学", "归侨捐书"} <= {record["title"] for record in _Hook.received}
    assert "This run" in done.stdout
    assert "site" in done.stdout


_TEXT = "侨乡华文学校今日开学，来自十二个国家的两百名学生参加了典礼，校长介绍了新课程。"
_NEWS = f"""<html><title>华文学校开学</title><h1>华文学校开学</h1><span class="from">侨乡晚报</span>
<div class="text"><p>{_TEXT}</p><p>侨胞捐书。</p><div class="share">分享给更多的侨胞</div></div>
<div><p>{"本站声明，转载请注明出处，违者必究，联系电话见首页。" * 9}</p></div></html>"""
_ANSWER = """<html><div class="result"><h3><a href="/news/1.html">华文学校开学</a></h3>
<p class="abstract">侨乡华文学校今日开学</p></div></html>"""


def test_the_examples_of_a_project_work_each(run: Run, folder: Path) -> None:
    """Search, fetch and extract with each of them switched on, as its settings say."""

    def answer(_host: str, path: str) -> Answer | None:
        if path.startswith("/search?"):
            return Answer(_ANSWER.encode())
        return Answer(_NEWS.encode()) if path == "/news/1.html" else None

    with local_server(answer) as server:
        assert run("startproject", ".", "--name", "gazette", "--examples")[0] == 0
        # The hosts of a template are without a port.
        for file, host in (("engines/own_search.toml", server.origin),
                           ("site_templates.toml", "127.0.0.1")):  # fmt: skip
            text = Path(file).read_text("utf-8")
            Path(file).write_text(text.replace("www.example.com", host), "utf-8")
        settings = Path("gazette/settings.py")
        before, heading, examples = settings.read_text("utf-8").partition("# --- 示例 examples")
        *switched, plug_in = re.findall(r"^# ([A-Z_]+ = .*)$", examples, re.MULTILINE)
        assert len(switched) == 6
        assert plug_in == 'QIAO_EXTRACT_METHOD = "gazette"'
        own = [f"QIAO_ALLOW_ADDRESSES = '{server.origin}'", "DOWNLOAD_DELAY = 0",
               "QIAO_DATABASE_URL = 'sqlite:///q.db'", "QIAO_SITEMAPS = 'off'",
               "QIAO_SOFT_404_PROBE = 'off'", "QIAO_CONTACT = 'a@example.org'"]  # fmt: skip
        settings.write_text("\n".join([before, heading, *switched, *own, ""]), "utf-8")
        Path(".env").unlink()
        import_pack("sqlite:///q.db", replace(pack(server.origin), terms=pack("a").terms[:1]))
        for spider in ("search", "pages"):
            done = _started("qiaocrawl", "crawl", spider, "-a", "topic=qiaoqing")
            assert done.returncode == 0, done.stderr
        asked = {hit.path.partition("?")[0]: hit.headers for hit in server.log}
    assert {"/search", "/news/1.html"} <= set(asked), done.stderr
    for path in ("/search", "/news/1.html"):
        assert asked[path]["From"] == "desk@office.example"
    ((title, source, body),) = rows(
        "sqlite:///q.db", "SELECT title, source, unpacked_text(text) FROM article"
    )
    assert (title, source) == ("华文学校开学", "侨乡晚报")
    assert str(body).split() == [_TEXT, "侨胞捐书。"]
    # Installed, as its pyproject.toml says, into a folder of its own.
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation",
               "--no-index", "--quiet", "--target", "site", "."]  # fmt: skip
    subprocess.run(install, check=True, capture_output=True)
    Path("page.html").write_text(_NEWS, "utf-8")
    command = [sys.executable, "-m", "qiaocrawl", "extract", "page.html", "--method", "gazette"]
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'site'}:{_ROOT}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert _TEXT in done.stdout
    assert "侨胞捐书" not in done.stdout


def test_an_engine_that_is_none_is_named_before_anything_is_asked(folder: Path) -> None:
    import_pack("sqlite:///q.db", pack("www.a.test"))
    Path(".env").write_text(
        "QIAO_DATABASE_URL=sqlite:///q.db\nQIAO_CONTACT=a@example.org\nQIAO_ENGINES=nosuch\n"
    )
    done = _started("qiaocrawl", "run", "qiaoqing", "--minutes", "0.1")
    assert (done.returncode, "'nosuch'" in done.stderr) == (1, True)
    assert outcomes("sqlite:///q.db") == {}


def test_a_topic_that_only_searches_has_its_round(folder: Path) -> None:
    own = pack("www.a.test")
    targets = tuple(replace(site, role="target") for site in own.sites)
    import_pack("sqlite:///q.db", replace(own, sites=targets))
    Path(".env").write_text("QIAO_DATABASE_URL=sqlite:///q.db\nQIAO_CONTACT=a@example.org\n")
    done = _started("qiaocrawl", "run", own.name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no site of the topic is crawled whole" in done.stdout
    assert "pages" in done.stdout
    done = _started("qiaocrawl", "crawl", "site", "-a", f"topic={own.name}")
    assert done.returncode == 1
    assert f"-a site={targets[0].host}" in done.stderr


_OWN_SPIDER = """
import scrapy

class TitlesSpider(scrapy.Spider):
    name = "titles"
    start_urls = ["http://ORIGIN/"]

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
        yield from response.follow_all(css="a", callback=self.parse)
"""


def test_a_spider_that_is_none_of_ours_runs_as_scrapy_runs_it(run: Run, folder: Path) -> None:
    """Without database, topic or leases; inside addresses stay shut."""
    pages = {"/": article("侨乡首页", links=("/1.html",)), "/1.html": article("侨胞回乡办学")}
    with local_server(lambda host, path: Answer(pages[path]) if path in pages else None) as server:
        assert run("startproject", ".", "--name", "gazette")[0] == 0
        spider = _OWN_SPIDER.replace("ORIGIN", server.origin)
        Path("gazette/spiders/titles.py").write_text(spider, "utf-8")
        crawl = ("qiaocrawl", "crawl", "titles", "-s", "DOWNLOAD_DELAY=0", "-O")
        shut = _started(*crawl, "shut.json")
        done = _started(*crawl, "out.json", "-s", f"QIAO_ALLOW_ADDRESSES={server.origin}")
    assert done.returncode == 0, done.stderr
    titles = {record["title"] for record in json.loads(Path("out.json").read_text("utf-8"))}
    assert len(titles) == 2, done.stderr
    assert not (folder / "data").exists(), "no database is made"
    assert json.loads(Path("shut.json").read_text("utf-8")) == []
    assert "no public address" in shut.stderr


def _started(*command: str) -> subprocess.CompletedProcess[str]:
    return run_started(*command, environment={**os.environ, "PYTHONPATH": str(_ROOT)})


def test_crawl_hands_on_what_it_is_given(folder: Path) -> None:
    done = _started("qiaocrawl", "crawl", "site", "-a", "topic=none", "-s", "QIAO_MAX_PAGE=1")
    assert done.returncode == 1
    assert "did you mean QIAO_MAX_PAGES" in done.stderr, "Scrapy has got the -s"
