"""`gatewayd org` and `gatewayd user`."""

import io
from pathlib import Path

import pytest

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.identity import audit
from gatewayd.identity.people.users import credentials
from gatewayd.identity.sign_in import one_time_links, sessions, throttling
from gatewayd.identity.sign_in.passwords import Hasher
from gatewayd.identity.sign_in.throttling import Limits
from gatewayd.store import ReadTx
from tests.cli.conftest import Run
from tests.cli.store_reading import read_store

CREATE = ("user", "create", "--name", "Ann", "--email")


def password_of(tx: ReadTx) -> str:
    found = credentials(tx, "ann@example.com")
    assert found is not None
    return found.password_hash or ""


def give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.usefixtures("database")
def test_makes_and_lists_organizations(run: Run) -> None:
    assert run("org", "list", "--json").document == []
    made = run("org", "create", "--name", "Acme", "--json").document
    assert run("org", "list", "--json").document == [made]
    assert set(made) == {"id", "name", "createdAt", "timeZone"}
    assert run("org", "list").out.splitlines() == [
        "id\tname\tcreated\ttime zone\tstate",
        f"{made['id']}\tAcme\t{made['createdAt'][:10]}\tEurope/London\t",
    ]


@pytest.mark.usefixtures("database")
def test_an_organization_has_a_time_zone(run: Run) -> None:
    made = run("org", "create", "--name", "Acme", "--time-zone", "Asia/Tokyo", "--json").document
    assert made["timeZone"] == "Asia/Tokyo"
    granted = run("credits", "grant", "--org", made["id"], "--amount", "1", "--expires", "2099-03-31").document
    assert granted["expiresAt"] == "2099-03-31T15:00:00.000Z"
    moved = run("org", "rename", made["id"], "--time-zone", "America/New_York")
    assert moved.document == {**made, "timeZone": "America/New_York"}
    both = run("org", "rename", made["id"], "--name", "Elm", "--time-zone", "UTC", "--json").document
    assert (both["name"], both["timeZone"]) == ("Elm", "UTC")
    neither = run("org", "rename", made["id"])
    assert (neither.code, neither.err) == (2, "gatewayd: give --name or --time-zone\n")
    for command in (("create", "--name", "Oak"), ("rename", made["id"])):
        for zone in ("Europe/Nowhere", "../../etc/passwd", "", "Europe"):
            refused = run("org", *command, "--time-zone", zone)
            assert (refused.code, refused.err.startswith("gatewayd: timeZone: There is no such")) == (1, True)


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
    assert Hasher().verify(read_store(config_file, password_of), "a good password")
    (listed,) = run("user", "list", "--json").document
    assert listed == {
        "id": made.document["id"],
        "email": "ann@example.com",
        "name": "Ann",
        "instanceAdmin": True,
        "disabledAt": None,
        "memberships": [{"orgId": org_id, "role": "admin"}],
        "createdAt": listed["createdAt"],
    }


def test_who_is_made_without_a_password_gets_a_link_to_set_one(
    run: Run, org_id: str, monkeypatch: pytest.MonkeyPatch, config_file: Path
) -> None:
    made = run(*CREATE, "ann@example.com", "--org", org_id, "--role", "admin").document
    assert set(made) == {"id", "email", "orgId", "role", "link", "expiresAt"}
    token = made["link"].removeprefix("http://127.0.0.1:8080/sign-in/reset/")
    assert read_store(config_file, lambda tx: one_time_links.find(tx, token, "reset_password")) == made["id"]
    beta = run("org", "create", "--name", "Beta").document["id"]
    joined = run(*CREATE, "ann@example.com", "--org", beta, "--role", "admin").document
    give(monkeypatch, "a good password")
    with_one = run(*CREATE, "bob@example.com", "--org", org_id, "--role", "admin", "--password-stdin").document
    assert ("link" in joined, "link" in with_one) == (False, False)


@pytest.mark.parametrize("password", ["", "short\n", "ann@example.com\n"])
def test_a_refused_password_makes_nobody(run: Run, org_id: str, monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    give(monkeypatch, password)
    ran = run(*CREATE, "ann@example.com", "--org", org_id, "--role", "admin", "--password-stdin")
    assert (ran.code, ran.err.startswith("gatewayd: password: ")) == (1, True)
    assert run("user", "list", "--json").document == []


@pytest.mark.usefixtures("database")
def test_an_unknown_organization_fails_and_makes_nobody(run: Run) -> None:
    ran = run(*CREATE, "ann@example.com", "--org", "org_none", "--role", "admin")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such organization.\n")
    assert run("user", "list", "--json").document == []


def test_one_person_joins_a_second_organization(run: Run, org_id: str, email: str) -> None:
    beta = run("org", "create", "--name", "Beta").document["id"]
    again = run(*CREATE, email.upper(), "--org", org_id, "--role", "member")
    assert (again.code, "member of this organization already" in again.err) == (1, True)
    joined = run(*CREATE, email.upper(), "--org", beta, "--role", "member")
    assert (joined.code, "had an account already, called " in joined.err) == (0, True)  # an invitation may have made it
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
    assert Hasher().verify(read_store(config_file, password_of), "a good password")
    give(monkeypatch, "a good password")
    assert run(*CREATE, "ann@example.com", "--org", beta, "--role", "owner", "--password-stdin").code == 0


def test_a_reset_is_a_link_that_works_once_and_voids_the_one_before(run: Run, email: str, config_file: Path) -> None:
    config_file.write_text(f'[server]\npublic_url = "https://books.example.com"\n{config_file.read_text()}')
    first = run("user", "reset-password", email.upper(), "--json").document
    assert set(first) == {"id", "email", "link", "expiresAt"}
    second = run("user", "reset-password", email, "--json").document
    tokens = [each["link"].removeprefix("https://books.example.com/sign-in/reset/") for each in (first, second)]
    assert all(len(token) == 43 for token in tokens)
    found = [read_store(config_file, lambda tx, t=t: one_time_links.find(tx, t, "reset_password")) for t in tokens]
    assert found == [None, first["id"]]
    assert read_store(config_file, password_of) == ""  # nothing changes before it is used


def test_resets_to_a_given_password(run: Run, email: str, monkeypatch: pytest.MonkeyPatch, config_file: Path) -> None:
    give(monkeypatch, "a good password\n")
    ran = run("user", "reset-password", email, "--password-stdin")
    assert "password" not in ran.document
    assert Hasher().verify(read_store(config_file, password_of), "a good password")
    give(monkeypatch, "short")
    assert run("user", "reset-password", email, "--password-stdin").code == 1
    assert Hasher().verify(read_store(config_file, password_of), "a good password")


def test_a_given_password_signs_out_everywhere(
    run: Run, email: str, monkeypatch: pytest.MonkeyPatch, config_file: Path
) -> None:
    visitor = sessions.Visitor(user_agent="Firefox", address="")
    user_id = run("user", "list", "--json").document[0]["id"]
    context = Context(str(config_file), {}, SystemClock())
    context.write(lambda tx: sessions.start(tx, user_id, ["pwd"], visitor))
    context.write(lambda tx: one_time_links.make(tx, user_id, "sign_in"))
    give(monkeypatch, "a good password\n")
    assert run("user", "reset-password", email, "--password-stdin").code == 0
    assert read_store(config_file, lambda tx: sessions.of_user(tx, user_id)) == []
    assert (
        read_store(config_file, lambda tx: tx.value("SELECT count(*) FROM one_time_links WHERE used_at IS NULL")) == 0
    )


def test_unlocks_who_failed_too_often(run: Run, email: str, config_file: Path) -> None:
    context = Context(str(config_file), {}, SystemClock())
    visitor = sessions.Visitor(user_agent="Firefox", address="")
    context.write(lambda tx: throttling.note_try(tx, email, visitor, Limits(1)))
    with pytest.raises(throttling.Locked):
        context.write(lambda tx: throttling.note_try(tx, email, visitor, Limits(1)))
    assert run("user", "unlock", email.upper(), "--json").document["unlocked"] is True
    context.write(lambda tx: throttling.note_try(tx, email, visitor, Limits(2)))
    (entry,) = [each for each in context.read(audit.list_all) if each.action == "user.unlocked"]
    assert entry.actor == audit.OPERATOR


@pytest.mark.parametrize("command", [("unlock",), ("user", "unlock")])
@pytest.mark.parametrize("given", ["192.0.2.7", "192.0.2.0/24", "192.0.2.9/24"])
def test_unlocks_a_network(run: Run, email: str, config_file: Path, command: tuple[str, ...], given: str) -> None:
    context = Context(str(config_file), {}, SystemClock())
    visitor = sessions.Visitor(user_agent="Firefox", address="192.0.2.7")
    context.write(lambda tx: throttling.note_try(tx, "nobody@example.com", visitor, Limits(1)))
    assert run(*command, "--network", "198.51.100.0/24", "--json").document["unlocked"] == []
    assert run(*command, "--network", given, "--json").document["unlocked"] == ["192.0.2.7/32"]
    assert run(*command, "--network", given, "--json").document["unlocked"] == []
    (entry,) = [each for each in context.read(audit.list_all) if each.action == "network.unlocked"]
    assert (entry.actor, entry.subject) == (audit.OPERATOR, "192.0.2.7/32")


@pytest.mark.parametrize("arguments", [(), ("ann@example.com", "--network", "192.0.2.7"), ("--network", "office")])
def test_unlock_takes_an_account_or_a_network(run: Run, email: str, arguments: tuple[str, ...]) -> None:
    assert run("unlock", *arguments).code == 2


def test_unlocking_who_is_not_locked_changes_nothing(run: Run, email: str, config_file: Path) -> None:
    assert run("user", "unlock", email).document["unlocked"] is False
    assert "user.unlocked" not in [each.action for each in read_store(config_file, audit.list_all)]
    assert run("user", "unlock", "bob@example.com").code == 1


@pytest.mark.usefixtures("database")
def test_resets_nobodys_password(run: Run) -> None:
    ran = run("user", "reset-password", "bob@example.com")
    assert (ran.code, ran.err) == (1, "gatewayd: there is no user with the address bob@example.com\n")


def test_an_organization_is_renamed(run: Run, org_id: str) -> None:
    assert run("org", "rename", org_id, "--name", " Oak & Daughters ", "--json").document["name"] == "Oak & Daughters"
    assert [one["name"] for one in run("org", "list", "--json").document] == ["Oak & Daughters"]
    assert run("org", "rename", org_id, "--name", " ").code == 1
    assert run("org", "rename", "org_none", "--name", "Oak").code == 1


def test_a_suspension_is_listed(run: Run, org_id: str) -> None:
    assert run("org", "suspend", org_id, "--reason", "Unpaid.").code == 0
    assert "suspended 20" in run("org", "list").out
    assert run("org", "suspend", org_id, "--reason", "x" * 1_001).code == 1
    assert run("org", "resume", org_id).code == 0
    assert "suspended" not in run("org", "list").out


def test_a_deletion_wants_the_name(run: Run, org_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("acme\n"))
    assert run("org", "delete", org_id).code == 2
    assert len(run("org", "list", "--json").document) == 1
    monkeypatch.setattr("sys.stdin", Terminal("Acme\n"))
    assert run("org", "delete", org_id).code == 0
    assert run("org", "list", "--json").document == []
