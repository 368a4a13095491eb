"""What `gatewayd doctor` says of the way to the tax authority, and of the connections of organizations."""

import json
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
import trustme

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.clock import DAY, SettableClock, SystemClock
from gatewayd.store import WriteTx
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from gatewayd.tax.sessions import call_log
from gatewayd.tax.sessions.call_log import TaxCall
from tests.cli.conftest import Run
from tests.support.store import make_caller

SECONDS = 60.0
Findings = dict[str, tuple[bool, str]]


def findings(run: Run) -> Findings:
    told = json.loads(run("doctor", "--json").out)
    return {each["about"]: (each["well"], each["sentence"]) for each in told if each["about"].startswith("tax")}


def configure(config_file: Path, mode: str, upstream: str, more: str = "") -> None:
    config_file.write_text(
        f'[store]\ndirectory = "data"\n[tax]\nmode = "{mode}"\nupstream = "{upstream}"\nca_file = "ca.pem"\n{more}'
    )


@contextmanager
def listening(certificate: trustme.LeafCert | None = None) -> Iterator[int]:
    """Takes connections and shakes hands, until the block ends; without a certificate it only takes them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)

        def serve() -> None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            if certificate is not None:
                certificate.configure_cert(context)
            with suppress(OSError):
                while True:
                    plain, _ = listener.accept()
                    with plain, suppress(OSError), context.wrap_socket(plain, server_side=True) as peer:
                        peer.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        if certificate is not None:
            thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    if certificate is not None:
        thread.join(SECONDS)


@pytest.fixture
def authority(config_file: Path) -> trustme.CA:
    made = trustme.CA()
    made.cert_pem.write_to_path(config_file.parent / "ca.pem")
    return made


@pytest.mark.parametrize("mode", ["off", "sandbox"])
def test_where_nobody_is_asked_nothing_is_said(run: Run, config_file: Path, authority: trustme.CA, mode: str) -> None:
    configure(config_file, mode, "https://127.0.0.1:9")
    assert findings(run) == {}


def test_the_upstream_and_its_certificate(run: Run, config_file: Path, authority: trustme.CA) -> None:
    for leaf, words in (
        (authority.issue_cert("127.0.0.1"), "can be reached, with a good certificate."),
        (authority.issue_cert("x.example"), "cannot be reached: handshake with 127.0.0.1: certificate: "),
        (trustme.CA().issue_cert("127.0.0.1"), "cannot be reached: handshake with 127.0.0.1: certificate: "),
    ):
        with listening(leaf) as port:
            url = f"https://127.0.0.1:{port}/service"
            configure(config_file, "forward", url)
            well, sentence = findings(run)["tax upstream"]
        assert sentence.startswith(f"{url} {words}")
        assert well == ("good" in words)


def test_an_upstream_that_is_not_there(run: Run, config_file: Path, authority: trustme.CA) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{reserved.getsockname()[1]}"
        configure(config_file, "forward", url)
        well, sentence = findings(run)["tax upstream"]
    assert (well, sentence.startswith(f"{url} cannot be reached: ")) == (False, True)
    assert sentence.endswith(": Connection refused.")
    assert run("doctor").code == 1


def test_authorities_that_cannot_be_read(run: Run, config_file: Path) -> None:
    configure(config_file, "forward", "https://127.0.0.1:9")
    well, sentence = findings(run)["tax upstream"]
    assert (well, sentence.startswith(f"{config_file.parent}/ca.pem cannot be used: ")) == (False, True)


def test_the_secret(run: Run, config_file: Path, authority: trustme.CA) -> None:
    secret = config_file.parent / "secret"
    more = 'client_id = "app"\nclient_secret_file = "secret"\n'
    configure(config_file, "hmrc", "https://127.0.0.1:1", more)
    assert findings(run)["tax client secret"] == (False, f"{secret} cannot be read: No such file or directory.")
    secret.write_text("\n")
    secret.chmod(0o600)
    assert findings(run)["tax client secret"] == (False, f"{secret} is empty.")
    secret.write_bytes(b"\xff")
    assert findings(run)["tax client secret"] == (False, f"{secret} cannot be read: it is no text.")
    secret.write_text("planted\n")
    assert findings(run)["tax client secret"] == (True, f"{secret} can be read.")
    secret.chmod(0o644)
    assert findings(run)["tax client secret"] == (False, f"{secret} can be read by everybody.")
    assert "planted" not in run("doctor").out


@pytest.mark.parametrize(("more", "missing"), [("", "client_id"), ('client_id = "app"\n', "client_secret_file")])
def test_the_authority_wants_a_client(
    run: Run, config_file: Path, authority: trustme.CA, more: str, missing: str
) -> None:
    configure(config_file, "hmrc", "https://127.0.0.1:1", more)
    told = (False, f"tax.{missing} is not set: no connection can be made or refreshed.")
    assert findings(run)["tax client"] == told
    checked = run("check-config")
    assert (checked.code, checked.out) == (1, "")
    assert checked.err == f"gatewayd: {told[1].removesuffix('.')}\n"
    configure(config_file, "forward", "https://127.0.0.1:1", more)
    assert "tax client" not in findings(run)
    assert run("check-config").code == 0


# -- connections


def write(config_file: Path, org_id: str, work: Any, ago_days: int = 0) -> None:
    clock = SettableClock(SystemClock().now())
    clock.advance(-ago_days * DAY)
    Context(str(config_file), {}, clock).write(work, org_id)


def connect(refresh: str | None = "planted-r") -> Any:
    return lambda tx: connections.save(tx, Tokens("planted-a", refresh, "read:vat", 14_400), "operator")


def connect_entity(config_file: Path, org_id: str) -> str:
    """The id of a legal entity that has been connected by itself."""
    made: list[str] = []

    def work(tx: WriteTx) -> None:
        request = CreateLegalEntity(name="Oak", type="sole_trader")
        made.append(create_legal_entity(tx, make_caller(org_id), request).id)
        connections.save(tx, Tokens("planted-a", None, "read:vat", None), "operator", made[0])

    write(config_file, org_id, work, ago_days=7)
    return made[0]


def record(code: str | None, legal_entity_id: str | None = None, status: int | None = None) -> Any:
    """A call over an entity's own connection, or the organization's."""
    answered = (200 if code is None else 409) if status is None else status
    call = TaxCall("req_1", "key_1", None, "vat.getObligations", answered, code, None, 5, legal_entity_id)
    return lambda tx: call_log.record(tx, call)


@pytest.fixture
def organizations(run: Run, org_id: str, config_file: Path, authority: trustme.CA) -> dict[str, str]:
    """Several, in mode `forward`; the keys of the answer are their names."""
    named = {name: str(run("org", "create", "--name", name, "--json").document["id"]) for name in ("Bo", "Cy", "Di")}
    configure(config_file, "forward", "https://127.0.0.1:1")
    return {"Acme": org_id, **named}


def test_who_is_connected_and_whose_connection_has_ended(
    run: Run, config_file: Path, organizations: dict[str, str]
) -> None:
    write(config_file, organizations["Acme"], connect())
    write(config_file, organizations["Bo"], connect(), ago_days=600)
    write(config_file, organizations["Cy"], connect(refresh=None), ago_days=1)
    told = findings(run)
    acme, bo, cy = (told[f"tax connection of {organizations[name]}"] for name in ("Acme", "Bo", "Cy"))
    assert (acme[0], acme[1].startswith("It lasts until ")) == (True, True)
    for name, (well, sentence) in (("Bo", bo), ("Cy", cy)):
        assert (well, sentence.startswith("It ended on ")) == (False, True)
        assert sentence.endswith(f": gatewayd tax connect --org {organizations[name]}")
    assert told["tax connections"] == (True, f"Not connected: {organizations['Di']}.")
    assert "planted" not in run("doctor").out


def test_a_connection_that_the_authority_refuses(run: Run, config_file: Path, organizations: dict[str, str]) -> None:
    """As long as the newest call says so, and nobody has connected the organization anew since."""
    acme = organizations["Acme"]
    about = f"tax connection of {acme}"
    write(config_file, acme, connect(), ago_days=2)
    write(config_file, acme, record("tax_reauthorisation_required"), ago_days=1)
    well, sentence = findings(run)[about]
    assert (well, sentence.startswith("The tax authority refused it on ")) == (False, True)
    write(config_file, acme, connect())
    assert findings(run)[about][0]
    write(config_file, acme, record("tax_reauthorisation_required"))
    assert not findings(run)[about][0]
    write(config_file, acme, record(None))
    assert findings(run)[about][0]


def test_an_authority_that_does_not_know_this_service(
    run: Run, config_file: Path, organizations: dict[str, str]
) -> None:
    """It is a finding about the client and no organization's, until the secret is another one."""
    secret = config_file.parent / "secret"
    secret.write_text("planted\n")
    secret.chmod(0o600)
    os.utime(secret, (1_700_000_000, 1_700_000_000))
    configure(config_file, "hmrc", "https://127.0.0.1:1", 'client_id = "app"\nclient_secret_file = "secret"\n')
    write(config_file, organizations["Acme"], connect(), ago_days=2)
    write(config_file, organizations["Acme"], record("tax_not_configured"), ago_days=1)
    told = findings(run)
    well, sentence = told["tax client"]
    assert (well, sentence.startswith("The tax authority does not accept tax.client_id")) == (False, True)
    assert told[f"tax connection of {organizations['Acme']}"][0]
    secret.write_text("another\n")
    assert "tax client" not in findings(run)


def test_of_two_connections_the_one_that_works_does_not_hide_that_the_other_cannot_be_refreshed(
    run: Run, config_file: Path, organizations: dict[str, str]
) -> None:
    acme = organizations["Acme"]
    configure(config_file, "hmrc", "https://127.0.0.1:1", 'client_id = "app"\n')
    write(config_file, acme, connect(), ago_days=9)
    oak = connect_entity(config_file, acme)
    write(config_file, acme, record("tax_not_configured", oak), ago_days=6)
    for code in (None, "fraud_headers_invalid"):
        write(config_file, acme, record(code), ago_days=5)
    write(config_file, acme, record("validation_failed", oak), ago_days=4)
    write(config_file, acme, record(None, oak, status=0), ago_days=3)  # the caller had gone
    assert "does not accept tax.client_id" in run("doctor").out
    write(config_file, acme, record(None, oak), ago_days=2)
    assert "does not accept tax.client_id" not in run("doctor").out


def test_the_connection_of_an_entity_is_a_finding_of_its_own(
    run: Run, config_file: Path, organizations: dict[str, str]
) -> None:
    acme = organizations["Acme"]
    write(config_file, acme, connect(), ago_days=2)
    made = [connect_entity(config_file, acme)]
    write(config_file, acme, record("tax_reauthorisation_required", made[0]), ago_days=1)
    told = findings(run)
    assert told[f"tax connection of {acme}"][0]
    well, sentence = told[f"tax connection of {made[0]}"]
    assert (well, sentence.endswith(f"gatewayd tax connect --org {acme} --entity {made[0]} --replace")) == (False, True)


def test_a_connection_that_came_out_of_a_backup(run: Run, config_file: Path, organizations: dict[str, str]) -> None:
    """Its refresh token works once, and whoever used the connection since the backup has spent it."""
    write(config_file, organizations["Acme"], connect(), ago_days=3)
    write(config_file, organizations["Bo"], connect())  # its access token lasts for four hours
    data, copy = config_file.parent / "data", config_file.parent / "copy"
    assert run("backup", str(copy), "--with-key").code == 0
    data.rename(config_file.parent / "lost")
    assert run("restore", str(copy), "--keep-access").code == 0
    told = findings(run)
    well, sentence = told[f"tax connection of {organizations['Acme']}"]
    assert (well, "and was probably renewed since: gatewayd tax connect --org" in sentence) == (False, True)
    assert told[f"tax connection of {organizations['Bo']}"][0]
    write(config_file, organizations["Acme"], connect())
    assert findings(run)[f"tax connection of {organizations['Acme']}"][0]


def test_a_database_that_waits_for_a_migration_is_left_as_it_is(
    run: Run, config_file: Path, organizations: dict[str, str]
) -> None:
    path = config_file.parent / "data" / "gatewayd.db"
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)")
    told = findings(run)
    assert told["tax connections"] == (True, "They are looked at once a start has brought the database up to date.")
    assert not any(about.startswith("tax connection of") for about in told)
    connection.execute("INSERT INTO migrations SELECT 9999, name, sha256, applied_at FROM migrations LIMIT 1")
    connection.close()
    assert not any(about.startswith("tax connection") for about in findings(run))


def test_without_a_database_nothing_is_made(run: Run, config_file: Path, authority: trustme.CA) -> None:
    configure(config_file, "forward", "https://127.0.0.1:1")
    assert findings(run).keys() == {"tax upstream"}
    assert not (config_file.parent / "data").exists()
