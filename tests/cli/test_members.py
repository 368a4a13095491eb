"""`gatewayd member`, and the commands that close and open the account of a person."""

import io
import secrets
from pathlib import Path
from typing import Any

import pytest

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.identity import audit
from gatewayd.identity.people.users import credentials
from gatewayd.identity.sign_in import sessions
from tests.cli.conftest import Run
from tests.cli.store_reading import read_store

BOB = "bob@example.com"
NOTHING = {
    "sessions": 0,
    "passkeys": 0,
    "secondFactor": False,
    "signInLinks": 0,
    "keys": 0,
    "grants": 0,
    "documentLinks": 0,
    "uploadUrls": 0,
    "feeds": 0,
    "subscriptions": 0,
    "invitations": 0,
    "handedOver": [],
}
ENDED = {**NOTHING, "sessions": 1, "signInLinks": 1, "keys": 1}


@pytest.fixture
def bob(run: Run, org_id: str, email: str) -> str:
    """The id of a member beside the owner."""
    made = run("user", "create", "--email", BOB, "--name", "Bob", "--org", org_id, "--role", "member")
    return str(made.document["id"])


@pytest.fixture
def key_id(run: Run, org_id: str, bob: str) -> str:
    return str(run("key", "create", "--org", org_id, "--user", BOB, "--name", "Shop").document["id"])


def start_session(config_file: Path, user_id: str) -> None:
    visitor = sessions.Visitor(user_agent=secrets.token_hex(4), address="")
    Context(str(config_file), {}, SystemClock()).write(lambda tx: sessions.start(tx, user_id, ["pwd"], visitor))


def acts(config_file: Path) -> list[tuple[str, str, str | None]]:
    """Actor, action and organization of what was done, newest first."""
    return [(each.actor, each.action, each.org_id) for each in read_store(config_file, audit.list_all)]


def members(run: Run, org_id: str) -> dict[str, Any]:
    return {each["email"]: each for each in run("member", "list", "--org", org_id, "--json").document}


def test_lists_members(run: Run, org_id: str, email: str, bob: str) -> None:
    listed = members(run, org_id)
    assert listed[BOB] == {
        "userId": bob,
        "email": BOB,
        "name": "Bob",
        "role": "member",
        "disabledAt": None,
        "createdAt": listed[BOB]["createdAt"],
    }
    assert listed[email]["role"] == "owner"
    head, *rows = run("member", "list", "--org", org_id).out.splitlines()
    assert head == "user\temail\tname\trole\tdisabled\tsince"
    assert len(rows) == 2
    assert run("member", "list", "--org", "org_none").err == "gatewayd: There is no such organization.\n"


def test_gives_a_role(run: Run, org_id: str, bob: str, config_file: Path) -> None:
    given = run("member", "set-role", "--org", org_id, "--user", BOB.upper(), "--role", "admin", "--json").document
    assert given == {"orgId": org_id, "userId": bob, "email": BOB, "role": "admin"}
    assert members(run, org_id)[BOB]["role"] == "admin"
    assert acts(config_file)[0] == (audit.OPERATOR, "membership.role_changed", org_id)


def test_says_of_whom_it_removes_that_they_administrate_the_instance(run: Run, org_id: str, bob: str) -> None:
    named = ("--email", "eve@example.com", "--name", "Eve", "--org", org_id, "--role", "admin")
    run("user", "create", *named, "--instance-admin")
    told = "gatewayd: eve@example.com administrates the whole instance still: see gatewayd user disable\n"
    assert run("member", "remove", "--org", org_id, "--user", "eve@example.com").err == told
    assert run("member", "remove", "--org", org_id, "--user", BOB).err == ""


def test_removes_a_member_and_what_they_leave_behind(
    run: Run, org_id: str, bob: str, key_id: str, config_file: Path
) -> None:
    start_session(config_file, bob)
    removed = run("member", "remove", "--org", org_id, "--user", BOB, "--json").document
    assert removed["ended"].pop("items") == [{"id": key_id, "kind": "api_key", "name": "Shop", "orgId": org_id}]
    assert removed == {"orgId": org_id, "userId": bob, "email": BOB, "ended": ENDED}
    assert BOB not in members(run, org_id)
    (key,) = run("key", "list", "--org", org_id, "--json").document
    assert key["revokedAt"] is not None
    done = acts(config_file)
    assert (audit.OPERATOR, "membership.removed", org_id) in done
    assert (audit.OPERATOR, "key.revoked", org_id) in done
    again = run("member", "remove", "--org", org_id, "--user", BOB)
    assert (again.code, again.err) == (1, "gatewayd: There is no such member.\n")


@pytest.mark.parametrize("act", [("set-role", "--role", "member"), ("remove",)])
def test_the_last_owner_stays(run: Run, org_id: str, email: str, bob: str, act: tuple[str, ...]) -> None:
    command, *role = act
    ran = run("member", command, "--org", org_id, "--user", email, *role)
    refusal = "gatewayd: An organization keeps at least one owner: make somebody else owner first.\n"
    assert (ran.code, ran.out, ran.err) == (1, "", refusal)
    assert members(run, org_id)[email]["role"] == "owner"


@pytest.mark.parametrize("act", [("set-role", "--role", "member"), ("remove",)])
def test_nobody_of_nothing_is_found(run: Run, org_id: str, email: str, act: tuple[str, ...]) -> None:
    command, *role = act
    nobody = run("member", command, "--org", org_id, "--user", BOB, *role)
    assert (nobody.code, nobody.err) == (1, f"gatewayd: there is no user with the address {BOB}\n")
    nothing = run("member", command, "--org", "org_none", "--user", email, *role)
    assert (nothing.code, nothing.err) == (1, "gatewayd: There is no such organization.\n")


def test_disables_and_enables(run: Run, org_id: str, bob: str, key_id: str, config_file: Path) -> None:
    start_session(config_file, bob)
    disabled = run("user", "disable", BOB.upper(), "--json").document
    assert disabled["ended"].pop("items") == [{"id": key_id, "kind": "api_key", "name": "Shop", "orgId": org_id}]
    assert disabled["ended"] == ENDED
    assert members(run, org_id)[BOB]["disabledAt"] == disabled["disabledAt"] is not None
    assert (audit.OPERATOR, "user.disabled", None) in acts(config_file)
    assert run("user", "enable", BOB, "--json").document == {"id": bob, "email": BOB, "enabled": True}
    assert run("user", "enable", BOB).document["enabled"] is False
    assert [act for _, act, _ in acts(config_file)].count("user.enabled") == 1
    assert members(run, org_id)[BOB]["disabledAt"] is None
    assert read_store(config_file, lambda tx: sessions.of_user(tx, bob)) == []


@pytest.mark.parametrize(
    "command",
    [
        ("key", "create", "--org", "ORG", "--user", BOB, "--name", "Shop"),
        ("user", "reset-password", BOB),
        ("user", "create", "--email", BOB, "--name", "Bob", "--org", "ORG", "--role", "admin"),
    ],
)
def test_who_is_disabled_gets_nothing_new(run: Run, org_id: str, bob: str, command: tuple[str, ...]) -> None:
    assert run("user", "disable", BOB).code == 0
    ran = run(*(org_id if word == "ORG" else word for word in command))
    assert (ran.code, ran.err) == (1, f"gatewayd: {BOB} is disabled: see gatewayd user enable\n")


def test_an_organization_without_an_owner_is_told(run: Run, org_id: str, email: str, bob: str) -> None:
    ran = run("user", "disable", email)
    assert (ran.code, ran.err) == (0, f"gatewayd: {org_id} has no other owner: see gatewayd member set-role\n")
    assert run("member", "set-role", "--org", org_id, "--user", BOB, "--role", "owner").code == 0
    assert run("member", "remove", "--org", org_id, "--user", email).code == 0


def test_ends_sessions_and_nothing_else(run: Run, org_id: str, bob: str, key_id: str, config_file: Path) -> None:
    start_session(config_file, bob)
    start_session(config_file, bob)
    assert run("user", "end-sessions", BOB, "--json").document == {"id": bob, "email": BOB, "sessions": 2}
    assert read_store(config_file, lambda tx: sessions.of_user(tx, bob)) == []
    assert (audit.OPERATOR, "user.signed_out_everywhere", None) in acts(config_file)
    (key,) = run("key", "list", "--org", org_id, "--json").document
    assert key["revokedAt"] is None
    assert run("user", "end-sessions", "nobody@example.com").code == 1


@pytest.mark.parametrize("by_link", [True, False], ids=["by link", "to a password"])
def test_a_reset_ends_everything_where_asked(
    run: Run, org_id: str, bob: str, key_id: str, config_file: Path, monkeypatch: pytest.MonkeyPatch, by_link: bool
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a good password\n"))
    assert run("user", "reset-password", BOB, "--password-stdin").code == 0
    start_session(config_file, bob)
    monkeypatch.setattr("sys.stdin", io.StringIO("another good password\n"))
    how = [] if by_link else ["--password-stdin"]
    reset = run("user", "reset-password", BOB, "--end-everything", *how, "--json").document
    assert [each["id"] for each in reset["ended"].pop("items")] == [key_id]
    assert reset["ended"] == {**ENDED, "signInLinks": 0}
    assert ("link" in reset) is by_link
    known = read_store(config_file, lambda tx: credentials(tx, BOB))
    assert known is not None
    assert (known.password_hash is None) is by_link
    done = [act for _, act, _ in acts(config_file)]
    assert ("user.password_removed" in done) is by_link


# -- invitations


def test_an_invitation_is_a_link_that_is_listed_until_it_is_ended(run: Run, org_id: str) -> None:
    named = ("--org", org_id, "--email", "carol@example.com", "--role", "admin")
    made = run("member", "invite", *named, "--json").document
    assert made["link"].startswith("http://127.0.0.1:8080/sign-in/invitation/gwd_inv_")
    assert {name: made[name] for name in ("orgId", "email", "role")} == {
        "orgId": org_id,
        "email": "carol@example.com",
        "role": "admin",
    }
    (listed,) = run("member", "list-invitations", "--org", org_id, "--json").document
    assert listed == {name: made[name] for name in made if name != "link"} | {"invitedBy": "the operator"}
    again = run("member", "invite", *named)
    assert (again.code, "is invited already" in again.err) == (1, True)
    assert "carol@example.com" in run("access", "list", "--org", org_id).out
    assert run("access", "end", made["id"]).code == 0
    assert run("member", "list-invitations", "--org", org_id, "--json").document == []
    assert run("member", "invite", *named).code == 0
    rows = run("member", "list-invitations", "--org", org_id).out.splitlines()
    assert rows[1].split()[1:3] == ["carol@example.com", "admin"]


@pytest.mark.usefixtures("org_id")
def test_an_invitation_is_into_an_organization_that_is_there(run: Run) -> None:
    named = ("--org", "org_none", "--email", "carol@example.com", "--role", "admin")
    for ran in (run("member", "invite", *named), run("member", "list-invitations", "--org", "org_none")):
        assert ran.err == "gatewayd: There is no such organization.\n"
