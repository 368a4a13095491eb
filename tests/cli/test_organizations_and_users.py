"""`gatewayd org` and `gatewayd user`."""

import io
from pathlib import Path

import pytest

from gatewayd.identity.passwords import Hasher
from gatewayd.identity.users import credentials
from gatewayd.store import ReadTx
from tests.cli.conftest import Run
from tests.cli.stored import stored

CREATE = ("user", "create", "--name", "Ann", "--email")


def password_of(tx: ReadTx) -> str:
    found = credentials(tx, "ann@example.com")
    assert found is not None
    return found.password_hash or ""


def give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_makes_and_lists_organizations(run: Run) -> None:
    assert run("org", "list", "--json").document == []
    made = run("org", "create", "--name", "Acme", "--json").document
    assert run("org", "list", "--json").document == [made]
    assert set(made) == {"id", "name", "createdAt"}
    assert run("org", "list").out.splitlines() == ["id\tname\tcreated", f"{made['id']}\tAcme\t{made['createdAt'][:10]}"]


def test_a_bad_name_fails_with_its_reason(run: Run) -> None:
    ran = run("org", "create", "--name", " ")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "gatewayd: name: A name has 1 to 160 characters.\n"


def test_makes_a_user_who_can_sign_in(
    run: Run, org_id: str, monkeypatch: pytest.MonkeyPatch, config_file: Path
) -> None:
    give(monkeypatch, "a good password\nsecond line\n")
    made = run(*CREATE, "ann@example.com", "--org", org_id, "--role", "admin", "--password-stdin", "--instance-admin")
    assert made.document["role"] == "admin"
    assert Hasher().verify(stored(config_file, password_of), "a good password")
    (listed,) = run("user", "list", "--json").document
    assert listed == {
        "id": made.document["id"],
        "email": "ann@example.com",
        "name": "Ann",
        "instanceAdmin": True,
        "memberships": [{"orgId": org_id, "role": "admin"}],
        "createdAt": listed["createdAt"],
    }


@pytest.mark.parametrize("password", ["", "short\n", "ann@example.com\n"])
def test_a_refused_password_makes_nobody(run: Run, org_id: str, monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    give(monkeypatch, password)
    ran = run(*CREATE, "ann@example.com", "--org", org_id, "--role", "admin", "--password-stdin")
    assert (ran.code, ran.err.startswith("gatewayd: password: ")) == (1, True)
    assert run("user", "list", "--json").document == []


def test_an_unknown_organization_fails_and_makes_nobody(run: Run) -> None:
    ran = run(*CREATE, "ann@example.com", "--org", "org_none", "--role", "admin")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such organization.\n")
    assert run("user", "list", "--json").document == []


def test_one_person_joins_a_second_organization(run: Run, org_id: str, email: str) -> None:
    beta = run("org", "create", "--name", "Beta").document["id"]
    again = run(*CREATE, email.upper(), "--org", org_id, "--role", "member")
    assert (again.code, "member of this organization already" in again.err) == (1, True)
    assert run(*CREATE, email.upper(), "--org", beta, "--role", "member").code == 0
    (listed,) = run("user", "list", "--json").document
    assert listed["memberships"] == [{"orgId": org_id, "role": "owner"}, {"orgId": beta, "role": "member"}]
    (in_beta,) = run("user", "list", "--org", beta, "--json").document
    assert in_beta["memberships"] == [{"orgId": beta, "role": "member"}]
    assert run("user", "list", "--org", "org_none").code == 1


def test_joining_changes_neither_password_nor_rank(
    run: Run, org_id: str, monkeypatch: pytest.MonkeyPatch, config_file: Path
) -> None:
    beta = run("org", "create", "--name", "Beta").document["id"]
    give(monkeypatch, "a good password")
    assert run(*CREATE, "ann@example.com", "--org", org_id, "--role", "owner", "--password-stdin").code == 0
    give(monkeypatch, "another password")
    other = run(*CREATE, "ann@example.com", "--org", beta, "--role", "owner", "--password-stdin")
    admin = run(*CREATE, "ann@example.com", "--org", beta, "--role", "owner", "--instance-admin")
    assert (other.code, "another password" in other.err) == (1, True)
    assert (admin.code, "no instance administrator" in admin.err) == (1, True)
    assert Hasher().verify(stored(config_file, password_of), "a good password")
    give(monkeypatch, "a good password")
    assert run(*CREATE, "ann@example.com", "--org", beta, "--role", "owner", "--password-stdin").code == 0


def test_resets_to_a_random_password_shown_once(run: Run, email: str, config_file: Path) -> None:
    document = run("user", "reset-password", email.upper(), "--json").document
    assert Hasher().verify(stored(config_file, password_of), document["password"])
    assert set(document) == {"id", "email", "password"}


def test_resets_to_a_given_password(run: Run, email: str, monkeypatch: pytest.MonkeyPatch, config_file: Path) -> None:
    give(monkeypatch, "a good password\n")
    ran = run("user", "reset-password", email, "--password-stdin")
    assert "password" not in ran.document
    assert Hasher().verify(stored(config_file, password_of), "a good password")
    give(monkeypatch, "short")
    assert run("user", "reset-password", email, "--password-stdin").code == 1
    assert Hasher().verify(stored(config_file, password_of), "a good password")


def test_resets_nobodys_password(run: Run) -> None:
    ran = run("user", "reset-password", "bob@example.com")
    assert (ran.code, ran.err) == (1, "gatewayd: there is no user with the address bob@example.com\n")
