"""`gatewayd client`."""

from pathlib import Path

import pytest

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.identity import audit
from gatewayd.identity.clients import client_metadata, grants, oauth_clients
from gatewayd.identity.clients.grants import NewGrant
from gatewayd.identity.sign_in import sessions
from gatewayd.store import WriteTx
from tests.cli.conftest import Run

METADATA = {"client_name": "[red]App", "redirect_uris": ["https://app.example/callback", "http://localhost/x"]}


@pytest.fixture
def context(config_file: Path) -> Context:
    return Context(str(config_file), {}, SystemClock())


@pytest.fixture
def client_id(context: Context, email: str) -> str:
    return context.write(lambda tx: oauth_clients.register(tx, client_metadata.validate(METADATA))).id


@pytest.fixture
def grant_id(context: Context, run: Run, client_id: str, org_id: str, email: str) -> str:
    """A consent of the owner of `org_id` whose code was redeemed."""
    user_id = run("user", "list", "--json").document[0]["id"]

    def work(tx: WriteTx) -> str:
        _, browser = sessions.start(tx, user_id, ["pwd"], sessions.Visitor(user_agent="Firefox", address=""))
        new = NewGrant(
            org_id=org_id,
            user_id=user_id,
            client_id=client_id,
            scopes=["accounting:read"],
            session_id=browser.id,
            authenticated_at=tx.now,
            methods=("pwd",),
            nonce=None,
            redirect_host="localhost",
        )
        made = grants.create(tx, new)
        grants.begin(tx, made, 0, None)
        return made

    return context.write(work)


@pytest.mark.usefixtures("database")
def test_lists_nothing_at_first(run: Run) -> None:
    assert run("client", "list", "--json").document == []


def test_lists_clients_with_what_was_granted(run: Run, client_id: str, grant_id: str, org_id: str) -> None:
    (listed,) = run("client", "list", "--json").document
    assert (listed["id"], listed["name"], listed["origin"]) == (client_id, "[red]App", "registered")
    assert listed["hosts"] == ["localhost"]  # where the person was sent, and not what is registered besides
    assert listed["redirectUris"] == METADATA["redirect_uris"]
    assert (listed["revoked"], listed["taxApproved"], listed["lastUsed"]) == (False, False, None)
    (grant,) = listed["grants"]
    assert (grant["id"], grant["orgId"], grant["scopes"]) == (grant_id, org_id, ["accounting:read"])
    assert (grant["revokedAt"], grant["hosts"]) == (None, ["localhost"])
    head, row = run("client", "list").out.splitlines()
    assert head.split("\t")[0] == "id"
    assert row.split("\t") == [client_id, "localhost", "[red]App", "", "1", "never", ""]


def test_revoking_ends_its_grants(run: Run, context: Context, client_id: str, grant_id: str) -> None:
    assert run("client", "revoke", client_id, "--json").document == {
        "id": client_id,
        "revoked": True,
        "grantsEnded": 1,
    }
    assert context.read(lambda tx: grants.find_live(tx, grant_id)) is None
    (listed,) = run("client", "list", "--json").document
    assert listed["revoked"] is True
    assert listed["grants"][0]["revokedReason"] == "operator"
    actions = [each.action for each in context.read(audit.list_all)]
    assert actions.count("client.revoked") == 1
    again = run("client", "revoke", client_id)
    assert (again.code, again.document["grantsEnded"]) == (0, 0)


@pytest.mark.usefixtures("database")
def test_revoking_what_is_not_there_fails(run: Run) -> None:
    ran = run("client", "revoke", "app_x")
    assert (ran.code, ran.out) == (1, "")
    assert "client" in ran.err
