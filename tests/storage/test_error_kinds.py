"""Which errors of a server are waited out."""

from __future__ import annotations

import pymysql
import pytest
from sqlalchemy.exc import OperationalError

from qiaocrawl.storage.sql import ErrorKind, classify


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1213, ErrorKind.CONTENTION),
        # A member of a MySQL group whose commit came second.
        (3101, ErrorKind.CONTENTION),
        (2013, ErrorKind.OUTAGE),
        # A member of a cluster that has lost the others.
        (1047, ErrorKind.OUTAGE),
        (1180, ErrorKind.OUTAGE),
        (1064, ErrorKind.OWN),
    ],
)
def test_what_a_server_says_is_told_apart(code: int, kind: ErrorKind) -> None:
    refusal = pymysql.err.OperationalError(code, "as the server says")
    assert classify(OperationalError("COMMIT", None, refusal)) is kind
