"""Organizations, users and memberships, and what the audit log says of each."""

import pytest

from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.people import memberships, organizations, users
from tests.support.store import START, MemoryStore


def new_user(email: str = "Ann@Example.com", *, instance_admin: bool = False) -> users.NewUser:
    return users.NewUser(email=email, name="Ann", instance_admin=instance_admin)


def code_of(caught: pytest.ExceptionInfo[Problem]) -> str:
    return caught.value.code


def actions(store: MemoryStore) -> list[tuple[str, str, str | None]]:
    return [(e.action, e.subject, e.org_id) for e in reversed(store.read(audit.list_all))]


def test_makes_gets_and_lists_organizations(store: MemoryStore) -> None:
    first = store.write(lambda tx: organizations.create(tx, "  Acme Ltd ", "operator"))
    second = store.write(lambda tx: organizations.create(tx, "Acme Ltd", "operator"))
    assert (first.name, first.created_at) == ("Acme Ltd", START)
    assert store.read(organizations.list_all) == [first, second]
    assert store.read(lambda tx: organizations.get(tx, second.id)) == second
    assert actions(store) == [("organization.created", each.id, each.id) for each in (first, second)]


@pytest.mark.parametrize("name", ["", "   ", "x" * 161, "two\nlines", "nul\x00"])
def test_refuses_a_bad_name_and_keeps_nothing(store: MemoryStore, name: str) -> None:
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: organizations.create(tx, name, "operator"))
    assert (code_of(caught), caught.value.errors[0].path) == ("validation_failed", "name")
    assert store.read(organizations.list_all) == []
    assert actions(store) == []


def test_an_unknown_organization_is_not_found(store: MemoryStore) -> None:
    with pytest.raises(Problem) as caught:
        store.read(lambda tx: organizations.get(tx, "org_none"))
    assert code_of(caught) == "not_found"


def test_finds_a_user_by_address_in_any_letter_case(store: MemoryStore) -> None:
    made = store.write(lambda tx: users.create(tx, new_user(instance_admin=True), "operator"))
    assert (made.email, made.instance_admin) == ("Ann@Example.com", True)
    assert store.read(lambda tx: users.find(tx, " ann@EXAMPLE.com")) == made
    assert store.read(lambda tx: users.get(tx, made.id)) == made
    assert store.read(lambda tx: users.find(tx, "bob@example.com")) is None
    assert store.read(users.list_all) == [made]


def test_one_account_per_address(store: MemoryStore) -> None:
    store.write(lambda tx: users.create(tx, new_user(), "operator"))
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: users.create(tx, new_user("ann@example.COM"), "operator"))
    assert code_of(caught) == "already_exists"
    assert len(store.read(users.list_all)) == 1
    assert [action for action, _, _ in actions(store)] == ["user.created"]


@pytest.mark.parametrize("email", ["", "ann", "ann@", "@example.com", "a b@example.com", "a@" + "x" * 254])
def test_refuses_what_is_no_address(store: MemoryStore, email: str) -> None:
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: users.create(tx, new_user(email), "operator"))
    assert caught.value.errors[0].path == "email"


def test_resets_a_password_on_record(store: MemoryStore) -> None:
    made = store.write(lambda tx: users.create(tx, new_user(), "operator"))
    assert store.read(lambda tx: users.credentials(tx, made.email)) == users.Credentials(made.id, None)
    store.write(lambda tx: users.reset_password(tx, made.id, "$argon2id$1", "operator"))
    store.write(lambda tx: users.rehash_password(tx, made.id, "$argon2id$2"))
    found = store.read(lambda tx: users.credentials(tx, "ANN@example.com"))
    assert found == users.Credentials(made.id, "$argon2id$2")
    assert "argon2" not in repr(found)
    assert [action for action, _, _ in actions(store)] == ["user.created", "user.password_reset"]
    assert "argon2" not in str(store.read(audit.list_all))


def test_an_unknown_user_has_no_credentials_and_no_reset(store: MemoryStore) -> None:
    assert store.read(lambda tx: users.credentials(tx, "none@example.com")) is None
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: users.reset_password(tx, "usr_none", "$argon2id$", "operator"))
    assert code_of(caught) == "not_found"
    assert actions(store) == []


def test_one_person_in_two_organizations(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    ann = store.write(lambda tx: users.create(tx, new_user(), "operator"))
    in_acme = store.write(lambda tx: memberships.add(tx, ann.id, "owner", "operator"), acme)
    in_beta = store.write(lambda tx: memberships.add(tx, ann.id, "member", ann.id), beta)
    assert store.read(lambda tx: memberships.of_user(tx, ann.id)) == [in_acme, in_beta]
    assert store.read(memberships.list_members, beta) == [in_beta]
    assert store.read(memberships.list_all) == [in_acme, in_beta]
    assert store.read(lambda tx: memberships.role_of(tx, ann.id), beta) == "member"
    assert actions(store)[1:] == [("membership.added", ann.id, acme), ("membership.added", ann.id, beta)]


def test_a_member_is_added_once(store: MemoryStore) -> None:
    acme = store.org()
    ann = store.user(acme, "member")
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: memberships.add(tx, ann, "owner", "operator"), acme)
    assert code_of(caught) == "already_exists"
    assert store.read(lambda tx: memberships.role_of(tx, ann), acme) == "member"


@pytest.mark.parametrize("known", ["organization", "user"])
def test_adds_nobody_to_nothing(store: MemoryStore, known: str) -> None:
    org_id = store.org()
    user_id = store.user(org_id)
    org_id, user_id = (org_id, "usr_none") if known == "organization" else ("org_none", user_id)
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: memberships.add(tx, user_id, "member", "operator"), org_id)
    assert code_of(caught) == "not_found"


def test_changes_a_role_on_record_and_only_here(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    store.user(acme)
    ann = store.user(acme, "member")
    store.user(beta)
    store.write(lambda tx: memberships.add(tx, ann, "member", "operator"), beta)
    store.write(lambda tx: memberships.change_role(tx, ann, "admin", "operator"), acme)
    store.write(lambda tx: memberships.change_role(tx, ann, "admin", "operator"), acme)
    assert store.read(lambda tx: memberships.role_of(tx, ann), acme) == "admin"
    assert store.read(lambda tx: memberships.role_of(tx, ann), beta) == "member"
    newest, before = store.read(audit.list_entries, acme)[0], store.read(audit.list_all)[1:]
    assert (newest.action, newest.detail) == ("membership.role_changed", {"from": "member", "to": "admin"})
    assert [entry.action for entry in before] == ["membership.added"]


@pytest.mark.parametrize("act", ["change", "remove"])
def test_the_last_owner_stays(store: MemoryStore, act: str) -> None:
    acme = store.org()
    owner = store.user(acme)
    store.user(acme, "admin")

    def leave() -> None:
        if act == "change":
            store.write(lambda tx: memberships.change_role(tx, owner, "member", owner), acme)
        else:
            store.write(lambda tx: memberships.remove(tx, owner, owner), acme)

    with pytest.raises(Problem) as caught:
        leave()
    assert code_of(caught) == "invalid_state"
    store.user(acme, "owner")
    leave()
    assert actions(store) == [("membership.role_changed" if act == "change" else "membership.removed", owner, acme)]


def test_a_member_of_another_organization_is_not_found_here(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    ann = store.user(acme, "member")
    with pytest.raises(Problem) as removing:
        store.write(lambda tx: memberships.remove(tx, ann, "operator"), beta)
    with pytest.raises(Problem) as changing:
        store.write(lambda tx: memberships.change_role(tx, ann, "owner", "operator"), beta)
    assert code_of(removing) == code_of(changing) == "not_found"
    assert store.read(lambda tx: memberships.is_member(tx, ann), acme)
    assert not store.read(lambda tx: memberships.is_member(tx, ann), beta)


def test_an_organization_sees_its_own_entries_only(store: MemoryStore) -> None:
    acme = store.write(lambda tx: organizations.create(tx, "Acme", "operator")).id
    beta = store.write(lambda tx: organizations.create(tx, "Beta", "operator")).id
    assert [entry.subject for entry in store.read(audit.list_entries, acme)] == [acme]
    assert [entry.subject for entry in store.read(lambda tx: audit.list_all(tx, 1))] == [beta]
