"""Time stamps by RFC 3161: asked of the authority that the office names, verified then and later.

An authority signs a digest with the time at which it saw it. Whom to believe is the office's word:
the certificates it trusts stand in a file, and none that comes with an answer counts as trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from qiaocrawl.errors import ConfigError, StampError
from qiaocrawl.language import _

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

    from qiaocrawl.options import Options

_SECONDS = 20.0
# A stamp with a chain of certificates has some 6 KB.
_MOST_ANSWER_BYTES = 1024 * 1024
_MOST_WORDS = 200
_QUERY, _REPLY = "application/timestamp-query", "application/timestamp-reply"


@dataclass(frozen=True, slots=True)
class Authority:
    """Who stamps.

    Attributes:
        url: may hold a name and a password; it is not shown.
        trusted: the office's certificates, as PEM.
    """

    url: str
    trusted: bytes

    @property
    def shown(self) -> str:
        """Its address without name, password and query."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an authority has signed: when, under which number, and who it says it is."""

    at: datetime
    number: int
    signer: str


def authority_of(options: Options) -> Authority | None:
    """The authority of QIAO_STAMP_URL; None where none is named.

    Raises:
        ConfigError: its certificates are not named or cannot be read, or the library is missing.
    """
    url = options["QIAO_STAMP_URL"]
    if not url:
        return None
    if not options["QIAO_STAMP_CA"]:
        raise ConfigError(
            _("QIAO_STAMP_URL needs QIAO_STAMP_CA: certificates by which its stamps are believed")
        )
    return Authority(url, trusted_certificates(options["QIAO_STAMP_CA"]))


def trusted_certificates(file: str) -> bytes:
    """The certificates (PEM) of *file*.

    Raises:
        ConfigError: it cannot be read, holds none, or the library is missing.
    """
    _require_library()
    try:
        pem = Path(file).read_bytes()
        _certificates(pem)
    except (OSError, ValueError) as error:
        raise ConfigError(
            _("{file!r} holds no certificates in PEM: {error}", file=file, error=error)
        ) from error
    return pem


def _require_library() -> None:
    try:
        import rfc3161_client  # noqa: F401
    except ImportError:
        raise ConfigError(
            _("time stamps need a package that is not installed: pip install 'qiaocrawl[stamp]'")
        ) from None


def _certificates(pem: bytes) -> list[Certificate]:
    from cryptography.x509 import load_pem_x509_certificates

    return load_pem_x509_certificates(pem)


def ask_stamp(authority: Authority, data: bytes) -> tuple[bytes, Stamp]:
    """The stamp of *data* as *authority* answered (DER), verified.

    Raises:
        StampError: it did not answer, refused, or what it answered is no stamp of *data* that the
            office's certificates stand for; says which.
    """
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    request = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256).build()
    answer = _post(authority, request.as_bytes())
    return answer, verify_stamp(answer, data, authority.trusted, nonce=request.nonce)


def _post(authority: Authority, query: bytes) -> bytes:
    headers = {"Content-Type": _QUERY, "Accept": _REPLY}
    try:
        with httpx.stream(
            "POST", authority.url, content=query, headers=headers, timeout=_SECONDS
        ) as response:
            answer = b""
            for piece in response.iter_bytes():
                answer += piece
                if len(answer) > _MOST_ANSWER_BYTES:
                    raise StampError(_("the time-stamping authority answered no time stamp"))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # What a library says of a failure may hold the address, and that a password.
        words = type(error).__name__ if "@" in str(error) else str(error) or type(error).__name__
        raise StampError(
            _("the time-stamping authority does not answer: {error}", error=words[:_MOST_WORDS])
        ) from None
    if response.status_code != httpx.codes.OK:
        raise StampError(
            _("the time-stamping authority answered HTTP {status}", status=response.status_code)
        )
    return answer


def verify_stamp(answer: bytes, data: bytes, trusted: bytes, nonce: int | None = None) -> Stamp:
    """What the stamp *answer* (DER) says, which must be one of *data*.

    Args:
        trusted: certificates as PEM, whose word counts; those in the stamp itself do not.
        nonce: the one that was sent, where the answer has just come: a stamp of another request
            is no answer to it.

    Raises:
        StampError: it is none, was refused, is one of other data or of another request, or is
            signed by nobody trusted.
    """
    from rfc3161_client import PKIStatus, VerificationError, VerifierBuilder

    response = _decoded(answer)
    if response.status != PKIStatus.GRANTED:
        words = _(", ").join(word.strip("\0 ") for word in response.status_string)
        raise StampError(
            _(
                "the time-stamping authority refused: status {status} {words}",
                status=response.status,
                words=words[:_MOST_WORDS],
            ).strip()
        )
    verifier = VerifierBuilder(roots=_certificates(trusted)).build()
    try:
        info = response.tst_info
        if nonce is not None and info.nonce != nonce:
            raise StampError(_("the time stamp answers another request (wrong nonce)"))
        verifier.verify_message(response, data)
        leaf = _signer(response)
    except VerificationError as error:
        raise StampError(_wrong(error)) from error
    except ValueError as error:
        raise StampError(_("the time-stamping authority answered no time stamp")) from error
    return Stamp(info.gen_time, info.serial_number, leaf)


def _decoded(answer: bytes) -> TimeStampResponse:
    from rfc3161_client import decode_timestamp_response

    try:
        return decode_timestamp_response(answer)
    except ValueError as error:
        raise StampError(_("the time-stamping authority answered no time stamp")) from error


def _wrong(error: Exception) -> str:
    if "between messages" in str(error):
        return _("the time stamp is of other data (wrong digest)")
    return _("the time stamp is not signed by anybody trusted: {error}", error=error)


def _signer(response: TimeStampResponse) -> str:
    from cryptography.x509 import load_der_x509_certificate

    signed = response.signed_data
    (info,) = signed.signer_infos
    for raw in signed.certificates:
        certificate = load_der_x509_certificate(raw)
        if (certificate.issuer, certificate.serial_number) == (info.issuer, info.serial_number):
            return certificate.subject.rfc4514_string()
    return ""
