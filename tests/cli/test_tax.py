"""`gatewayd tax`."""

import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs

import pytest

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.identity.audit import list_all
from gatewayd.identity.clients import client_metadata, oauth_clients
from gatewayd.tax.connections import connections
from tests.cli.conftest import Run
from tests.cli.store_reading import read_store
from tests.cli.test_keys import scopes_of
from tests.support.store import make_caller


@pytest.fixture
def key(run: Run, org_id: str, email: str) -> dict[str, str]:
    """A key that chose a tax scope."""
    made = run("key", "create", "--org", org_id, "--user", email, "--name", "CI", "--scope", "tax:read", "--json")
    document: dict[str, str] = made.document
    return document


def pending(run: Run) -> list[str]:
    return [one["subject"] for one in run("tax", "requests", "--json").document]


def test_a_key_that_chose_a_tax_scope_waits(run: Run, key: dict[str, str], org_id: str) -> None:
    (waiting,) = run("tax", "requests", "--json").document
    assert (waiting["kind"], waiting["subject"], waiting["orgId"]) == ("key", key["id"], org_id)
    assert key["id"] in run("tax", "requests").out


def test_approval_acts_at_once_and_so_does_its_end(run: Run, key: dict[str, str], config_file: Path) -> None:
    approved = run("tax", "approve", "--key", key["id"], "--json").document
    assert (approved["status"], approved["subject"]) == ("approved", key["id"])
    assert scopes_of(config_file, key["key"]) == {"tax:read"}
    assert pending(run) == []
    refused = run("tax", "refuse", "--key", key["id"], "--reason", "No vendor terms").document
    assert (refused["status"], refused["reason"]) == ("refused", "No vendor terms")
    assert scopes_of(config_file, key["key"]) == frozenset()
    assert pending(run) == []


def test_a_legacy_key_is_asked_for_and_gets_the_tax_scopes(
    run: Run, org_id: str, email: str, config_file: Path
) -> None:
    made = run("key", "create", "--org", org_id, "--user", email, "--name", "old", "--json").document
    assert pending(run) == []
    asked = run("tax", "request", "--key", made["id"], "--attestation", "We comply.").document
    assert asked["attestation"] == "We comply."
    assert pending(run) == [made["id"]]
    approved = run("tax", "approve", "--key", made["id"]).document
    assert approved["attestation"] == "We comply."
    assert {"tax:read", "tax:write"} <= scopes_of(config_file, made["key"])


def test_the_attestation_is_recorded_word_for_word(run: Run, key: dict[str, str], config_file: Path) -> None:
    run("tax", "approve", "--key", key["id"], "--attestation", "Signed by Ann, 20 Nov.")
    entry = next(one for one in read_store(config_file, list_all) if one.action == "key.tax_approved")
    assert (entry.subject, entry.detail["attestation"]) == (key["id"], "Signed by Ann, 20 Nov.")


def test_a_client_is_approved_and_refused(run: Run, config_file: Path, register: str) -> None:
    asked = run("tax", "request", "--client", register).document
    assert (asked["kind"], asked["orgId"]) == ("client", None)
    assert run("tax", "approve", "--client", register).document["status"] == "approved"
    client = read_store(config_file, lambda tx: oauth_clients.find(tx, register))
    assert client is not None
    assert client.tax_approved
    assert run("tax", "refuse", "--client", register).document["status"] == "refused"
    client = read_store(config_file, lambda tx: oauth_clients.find(tx, register))
    assert client is not None
    assert not client.tax_approved


@pytest.fixture
def register(config_file: Path, database: None) -> str:
    """A client that registered itself."""
    raw = {"client_name": "App", "redirect_uris": ["https://app.example/callback"]}
    metadata = client_metadata.validate(raw)
    return Context(str(config_file), {}, SystemClock()).write(lambda tx: oauth_clients.register(tx, metadata)).id


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("command", ["approve", "refuse", "request"])
def test_whom_is_wanted_and_must_be_there(run: Run, command: str) -> None:
    assert run("tax", command).code == 2
    assert run("tax", command, "--key", "key_a", "--client", "app_a").code == 2
    assert run("tax", command, "--key", "key_none").err == "gatewayd: There is no such API key.\n"
    assert run("tax", command, "--client", "app_none").err == "gatewayd: There is no such client.\n"


def test_an_attestation_has_a_limit(run: Run, key: dict[str, str]) -> None:
    ran = run("tax", "approve", "--key", key["id"], "--attestation", "x" * 4_001)
    assert (ran.code, "attestation" in ran.err) == (1, True)
    assert pending(run) == [key["id"]]


def test_tokens_are_kept_sealed_and_forgotten(run: Run, org_id: str, config_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps({"access_token": "planted-a", "refresh_token": "planted-r", "expires_in": 14400}))
    ran = run("tax", "connect", "--org", org_id, "--token-file", str(file), "--json")
    assert ran.document == {"orgId": org_id, "connected": True, "scope": ""}
    assert "planted" not in ran.out + ran.err
    found = read_store(config_file, lambda tx: (tx.bind(org_id), connections.find(tx))[1])
    assert found is not None
    assert (found.access, found.refresh) == ("planted-a", "planted-r")
    assert "planted" not in repr(found)
    data = b"".join(path.read_bytes() for path in (config_file.parent / "data").glob("gatewayd.db*"))
    assert b"planted" not in data
    assert run("tax", "connect", "--org", org_id, "--remove").document["connected"] is False
    assert run("tax", "connect", "--org", org_id, "--remove").code == 1


def test_each_command_leaves_one_line_in_the_audit_log(
    run: Run, key: dict[str, str], org_id: str, config_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("abc")
    for arguments in (
        ("request", "--key", key["id"], "--attestation", "We comply."),
        ("approve", "--key", key["id"]),
        ("refuse", "--key", key["id"]),
        ("connect", "--org", org_id, "--token-file", str(tmp_path / "token")),
        ("connect", "--org", org_id, "--remove"),
    ):
        assert run("tax", *arguments).code == 0
    entries = [one for one in reversed(read_store(config_file, list_all)) if "tax" in one.action]
    assert [(one.actor, one.action, one.subject, one.org_id) for one in entries] == [
        ("operator", "key.tax_requested", key["id"], org_id),
        ("operator", "key.tax_approved", key["id"], org_id),
        ("operator", "key.tax_withdrawn", key["id"], org_id),
        ("operator", "tax.connected", org_id, org_id),
        ("operator", "tax.disconnected", org_id, org_id),
    ]


def test_a_bare_token_is_enough(run: Run, org_id: str, config_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("abc.def-1\n")
    assert run("tax", "connect", "--org", org_id, "--token-file", str(file)).code == 0
    found = read_store(config_file, lambda tx: (tx.bind(org_id), connections.find(tx))[1])
    assert found is not None
    assert (found.access, found.refresh, found.expires_at) == ("abc.def-1", None, None)


@pytest.mark.parametrize("text", ["", "two words", '{"access_token": "a b"}', "{}", '{"access_token": 1}'])
def test_what_is_no_token_is_refused(run: Run, org_id: str, tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    assert run("tax", "connect", "--org", org_id, "--token-file", str(file)).code == 1


def test_connecting_needs_the_settings_and_an_organization(run: Run, org_id: str) -> None:
    ran = run("tax", "connect", "--org", org_id, "--code", "x")
    assert (ran.code, "tax.client_id" in ran.err) == (2, True)
    assert run("tax", "connect", "--org", "org_none", "--code", "x").code == 1
    assert run("tax", "connect", "--org", org_id, "--token-file", "/nonexistent/x").code == 1


def test_replacing_a_connection_is_asked_for_and_touches_no_other(
    run: Run, org_id: str, config_file: Path, tmp_path: Path
) -> None:
    request = CreateLegalEntity(name="Oak", type="sole_trader")
    made = Context(str(config_file), {}, SystemClock()).write(
        lambda tx: create_legal_entity(tx, make_caller(org_id), request), org_id
    )
    file, command = tmp_path / "token", ("tax", "connect", "--org", org_id, "--token-file", str(tmp_path / "token"))

    def kept() -> list[str | None]:
        found = read_store(
            config_file, lambda tx: (tx.bind(org_id), [connections.find(tx, of) for of in (None, made.id)])[1]
        )
        return [each and each.access for each in found]

    file.write_text("first")
    assert run(*command).code == 0
    file.write_text("second")
    refused = run(*command)
    assert (refused.code, "add --replace" in refused.err, kept()) == (1, True, ["first", None])
    own = run(*command, "--entity", made.id, "--json")
    assert own.document == {"orgId": org_id, "legalEntityId": made.id, "connected": True, "scope": ""}
    assert kept() == ["first", "second"]
    file.write_text("third")
    assert run(*command, "--replace").code == 0
    assert kept() == ["third", "second"]
    assert run("tax", "connect", "--org", org_id, "--entity", made.id, "--remove").code == 0
    assert kept() == ["third", None]
    assert run(*command, "--entity", "ent_none").err == "gatewayd: There is no such legal entity.\n"


class TokenEndpoint(BaseHTTPRequestHandler):
    """Grants tokens for the code `good`; keeps what was sent."""

    forms: ClassVar[list[dict[str, list[str]]]] = []

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.forms.append(form)
        good = form["code"] == ["good"]
        body = json.dumps(
            {"access_token": "granted", "refresh_token": "again", "expires_in": 14400, "scope": "read:vat"}
        )
        self.send_response(200 if good else 400)
        self.end_headers()
        self.wfile.write(body.encode() if good else b'{"error":"invalid_grant"}')

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Say nothing."""


@pytest.fixture
def endpoint(config_file: Path) -> Iterator[list[dict[str, list[str]]]]:
    """The authority's token endpoint, and settings that lead to it."""
    server = HTTPServer(("127.0.0.1", 0), TokenEndpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    (config_file.parent / "secret").write_text("s3cret\n")
    with config_file.open("a") as file:
        file.write(f'[tax]\nmode = "hmrc"\nupstream = "http://127.0.0.1:{server.server_port}"\n')
        file.write('client_id = "app"\nclient_secret_file = "secret"\n')
    TokenEndpoint.forms.clear()
    yield TokenEndpoint.forms
    server.shutdown()
    thread.join(10)
    server.server_close()


def test_a_code_is_redeemed(
    run: Run, org_id: str, config_file: Path, endpoint: list[dict[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = run("tax", "connect", "--org", org_id, "--code", "old")
    assert (refused.code, "does not accept the code" in refused.err) == (1, True)
    monkeypatch.setattr("sys.stdin", io.StringIO("good\n"))
    ran = run("tax", "connect", "--org", org_id)
    assert ran.document == {"orgId": org_id, "connected": True, "scope": "read:vat"}
    assert "https://www.tax.service.gov.uk/oauth/authorize?response_type=code&client_id=app" in ran.err
    assert "granted" not in ran.out + ran.err
    assert endpoint[-1] == {
        "grant_type": ["authorization_code"],
        "code": ["good"],
        "redirect_uri": ["urn:ietf:wg:oauth:2.0:oob"],
        "client_id": ["app"],
        "client_secret": ["s3cret"],
    }
    found = read_store(config_file, lambda tx: (tx.bind(org_id), connections.find(tx))[1])
    assert found is not None
    assert (found.access, found.refresh) == ("granted", "again")
