"""Certificates from files: what fits is taken, and what does not is said with the name of the file."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from gatewayd.http1.certificates import CertificateError, load_certificate, states
from gatewayd.http1.settings import ServerSettings
from tests.http1.peers import NOW_MICROSECONDS, echo, open_server

AUTHORITY = trustme.CA()
BEGINS, ENDS = datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 3, 1, 8, 30, 15, tzinfo=UTC)


def written(folder: Path, begins: datetime = BEGINS, ends: datetime = ENDS) -> tuple[str, str]:
    """Paths of a certificate and its key."""
    issued = AUTHORITY.issue_cert("127.0.0.1", not_before=begins, not_after=ends)
    cert, key = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return str(cert), str(key)


def test_a_certificate_says_how_long_it_is_good(tmp_path: Path) -> None:
    leaf = load_certificate(*written(tmp_path)).leaf
    assert leaf.begins_at == BEGINS.timestamp() * 1_000_000
    assert leaf.ends_at == ENDS.timestamp() * 1_000_000
    assert leaf.fingerprint != load_certificate(*written(tmp_path)).leaf.fingerprint


def test_one_file_may_hold_both(tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    AUTHORITY.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(both)
    assert load_certificate(str(both), "").leaf == load_certificate(str(both), str(both)).leaf


def test_an_encrypted_key_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    cert, key = written(tmp_path)
    private = load_pem_private_key(Path(key).read_bytes(), None)
    encryption = BestAvailableEncryption(b"secret")
    Path(key).write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    with pytest.raises(CertificateError, match=r"cert.pem and .*key.pem cannot be used together: the key is encrypted"):
        load_certificate(cert, key)


@pytest.mark.parametrize("cut", [0, 100, 400])
@pytest.mark.parametrize("name", ["cert.pem", "key.pem"])
def test_half_a_file_is_refused(tmp_path: Path, name: str, cut: int) -> None:
    cert, key = written(tmp_path)
    half = tmp_path / name
    half.write_bytes(half.read_bytes()[: min(cut, half.stat().st_size - 60)])
    with pytest.raises(CertificateError, match=name):
        load_certificate(cert, key)


@pytest.mark.parametrize("name", ["cert.pem", "key.pem"])
def test_a_file_that_is_gone_is_named(tmp_path: Path, name: str) -> None:
    cert, key = written(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(CertificateError, match=f"{name} cannot be read: No such file"):
        load_certificate(cert, key)


def test_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    cert, key = written(tmp_path)
    Path(key).write_bytes(AUTHORITY.issue_cert("127.0.0.1").private_key_pem.bytes())
    with pytest.raises(CertificateError, match="cannot be used together"):
        load_certificate(cert, key)


def test_a_link_that_leads_elsewhere_is_another_state(tmp_path: Path) -> None:
    """As certbot does it: live/cert.pem leads to archive/cert7.pem, then to archive/cert8.pem."""
    for name in ("cert7", "cert8"):
        (tmp_path / name).write_text("as long as the other")
    link, fresh = tmp_path / "cert.pem", tmp_path / "fresh"
    link.symlink_to("cert7")
    before = states(str(link), "/nonexistent")
    assert states(str(link), "/nonexistent") == before
    fresh.symlink_to("cert8")
    fresh.replace(link)
    assert states(str(link), "/nonexistent") != before
    assert before[1] is None


NOW = datetime.fromtimestamp(NOW_MICROSECONDS / 1_000_000, UTC)


@pytest.mark.parametrize(
    ("begins", "ends", "why"),
    [(BEGINS, NOW.replace(second=0), "has expired"), (NOW.replace(second=59), ENDS, "is not good yet")],
)
async def test_a_server_takes_none_that_is_not_good_now(
    tmp_path: Path, begins: datetime, ends: datetime, why: str
) -> None:
    cert, key = written(tmp_path)
    async with open_server(echo, tls_certificate=cert, tls_key=key) as running:
        before = running.server.leaf
        written(tmp_path, begins, ends)
        with pytest.raises(CertificateError, match=why):
            running.server.prepare(ServerSettings(bind=(), tls_certificate=cert, tls_key=key))
        assert running.server.leaf == before
