"""Files of people are read in a process of their own: what takes too much ends it, and is said."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from document_files import LINES, TITLE, changed_zip, word
from qiaocrawl.errors import ConfigError, TopicError
from qiaocrawl.language import _, using_language
from qiaocrawl.runtime.sent_files import FileBoundsError, FileWorker, GivenUpError
from qiaocrawl.topic.workbook.reading import read_sent


def _spins() -> None:
    while True:
        pass


def _fills() -> int:
    return len([bytearray(64 * 1024**2) for _number in range(100)])


def _dies() -> None:
    os.kill(os.getpid(), 9)


def _process() -> int:
    return os.getpid()


def _limits() -> tuple[int, int]:
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0], os.nice(0)


def _words() -> str:
    return _("choose one of --from-site, --from-files and --from-store")


def test_what_takes_too_long_or_too_much_memory_is_ended_and_named() -> None:
    with FileWorker(0.3) as worker:
        with pytest.raises(FileBoundsError, match=r"通知\.docx: not read within 0\.3 seconds"):
            worker.run("通知.docx", _spins)
        with pytest.raises(FileBoundsError, match="b.pdf: reading it takes more memory"):
            worker.run("b.pdf", _fills, times=100)
        with pytest.raises(FileBoundsError, match="takes more memory"):
            worker.run("c.pdf", _dies)
        # The next one is read by another process.
        first = worker.run("d", _process)
        assert first != os.getpid()
        memory, nice = worker.run("d", _limits)
        assert (memory, nice >= 10) == (2 * 1024**3, True)
    # And it ends with the block, so that its memory is given back.
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_what_nobody_waits_for_is_given_up() -> None:
    over = threading.Event()
    with FileWorker(60.0, over.is_set) as worker:
        over.set()
        with pytest.raises(GivenUpError):
            worker.run("a.docx", _spins)


def test_files_keep_their_names_and_the_language_of_who_asks(tmp_path: Path) -> None:
    with FileWorker(20.0) as worker:
        page = worker.read("工作 通知.docx", word())
        assert (page.title, LINES[1] in page.text) == (TITLE, True)
        with pytest.raises(ConfigError, match=r"^'坏.docx': Word: "):
            worker.read("坏.docx", changed_zip(word(), "word/document.xml", b"<broken"))
        with pytest.raises(TopicError, match=r"名单\.xlsx"):
            worker.run("名单.xlsx", read_sent, b"PK\x03\x04 none", "名单.xlsx")
        path = tmp_path / "a.docx"
        path.write_bytes(word())
        assert worker.read_path(path) == page
        with using_language("zh_CN"):
            chinese = worker.run("x", _words)
        assert chinese != worker.run("x", _words)


def test_plain_texts_need_no_process() -> None:
    with FileWorker(1.0) as worker:
        assert worker.read("a.txt", "标题\n正文".encode()).title == "标题"
        assert worker._pool is None
