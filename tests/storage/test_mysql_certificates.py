"""Connections to a server that speaks TLS: what is encrypted, what is checked, what is read."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from mariadb_fixtures import MariaDB, own_server
from qiaocrawl.errors import StorageError
from qiaocrawl.storage import Database

pytestmark = pytest.mark.mariadb


def _make_certificate(folder: Path) -> tuple[Path, Path]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", key, "-out", certificate, "-days", "9", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, certificate


@pytest.fixture
def server(mariadb: MariaDB, tmp_path: Path) -> Iterator[MariaDB]:
    """One with a certificate that no authority has signed."""
    key, certificate = _make_certificate(tmp_path)
    with own_server() as started:
        started.stop()
        started.start(f"--ssl-key={key}", f"--ssl-cert={certificate}")
        yield started


def _cipher(url: str) -> str:
    with Database.open(url) as database, database.engine.connect() as c:
        return str(c.execute(text("SHOW STATUS LIKE 'Ssl_cipher'")).one()[1])


def test_authorities_are_read_where_they_are_asked_for_and_checked_then(
    mariadb: MariaDB, server: MariaDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str | None] = []
    load = ssl.create_default_context

    def noting(*, cafile: str | None = None, capath: str | None = None) -> ssl.SSLContext:
        read.append(cafile)
        return load(cafile=cafile, capath=capath)

    monkeypatch.setattr(ssl, "create_default_context", noting)
    url = server.url("mysql")
    assert _cipher(url), "what can be encrypted is"
    assert _cipher(mariadb.url("mysql")) == "", "what cannot be is served as well"
    assert read == []

    own, other = tmp_path / "certificate.pem", tmp_path / "other"
    other.mkdir()
    _, stranger = _make_certificate(other)
    assert _cipher(f"{url}?ssl_ca={own}")
    for faulty in (f"{url}?ssl_ca={stranger}", f"{mariadb.url('mysql')}?ssl_ca={own}"):
        with pytest.raises(StorageError), Database.open(faulty) as database:
            database.require_current()
    assert read == [str(own), str(stranger), str(own)]
    # Renewed in place, as certificates are: the next connection goes by what is there now.
    own.write_bytes(stranger.read_bytes())
    with pytest.raises(StorageError), Database.open(f"{url}?ssl_ca={own}") as database:
        database.require_current()
