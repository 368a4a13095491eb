"""Invitations: who may make one, whom it lets in, and what ends it."""

from contextlib import suppress

import pytest

from gatewayd.access import deprovisioning, kinds
from gatewayd.access.kinds import End
from gatewayd.clock import DAY
from gatewayd.contract.caller import Role
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.people import invitations, memberships, suspensions, users
from gatewayd.identity.people.invitations import Invitation, NewInvitation
from gatewayd.identity.sign_in import joining, sessions
from gatewayd.identity.sign_in.joining import NewAccount
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.store import WriteTx
from tests.support.store import MemoryStore

CAROL = "carol@example.com"
VISITOR = Visitor(user_agent="Firefox", address="192.0.2.7")
NEW = NewAccount(name="Carol", password_hash="$argon2id$x")


class Firm:
    """An organization with an owner, an administrator and a member."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org()
        self.people: dict[str, str] = {role: self.add(role) for role in memberships.ROLES}

    def add(self, role: Role) -> str:
        def work(tx: WriteTx) -> str:
            user = users.create(tx, users.NewUser(email=f"{role}@example.com", name=role), audit.OPERATOR)
            memberships.add(tx, user.id, role, audit.OPERATOR)
            return user.id

        return self.store.write(work, self.org_id)

    def invite(self, email: str = CAROL, role: Role = "member", by: str | None = None) -> tuple[Invitation, str]:
        """By the operator, or by who has that role."""
        wanted = NewInvitation(email, role, None if by is None else self.people[by])
        return self.store.write(lambda tx: invitations.make(tx, wanted), self.org_id)

    def found(self, token: str) -> bool:
        return self.store.read(lambda tx: invitations.find(tx, token)) is not None

    def listed(self) -> list[str]:
        return [each.id for each in self.store.read(invitations.list_invitations, self.org_id)]

    def join_anew(self, token: str, new: NewAccount = NEW) -> bool:
        return self.store.write(lambda tx: joining.join_anew(tx, token, new, VISITOR)) is not None

    def join(self, token: str, user_id: str) -> bool:
        return self.store.write(lambda tx: joining.join(tx, token, user_id)) is not None

    def role_of(self, email: str) -> Role:
        user = self.store.read(lambda tx: users.find(tx, email))
        assert user is not None
        return self.store.read(lambda tx: memberships.role_of(tx, user.id), self.org_id)

    def acts(self) -> list[tuple[str, str]]:
        entries = self.store.read(audit.list_entries, self.org_id)
        return [(each.actor, each.action) for each in entries if each.action.startswith("invitation.")]


@pytest.fixture
def firm(store: MemoryStore) -> Firm:
    return Firm(store)


def code_of(call: object, *arguments: object) -> str:
    with pytest.raises(Problem) as caught:
        call(*arguments)  # type: ignore[operator]
    return caught.value.code


@pytest.mark.parametrize(
    ("by", "roles"), [("owner", {"owner", "admin", "member"}), ("admin", {"admin", "member"}), ("member", set())]
)
def test_who_may_give_which_role(firm: Firm, by: str, roles: set[str]) -> None:
    given = set()
    for role in memberships.ROLES:
        with suppress(Problem):
            firm.invite(f"{role}.invited@example.com", role, by)
            given.add(role)
    assert given == roles
    for role in set(memberships.ROLES) - roles:
        assert code_of(firm.invite, f"{role}.refused@example.com", role, by) == "forbidden"


def test_a_stranger_to_the_organization_invites_nobody(firm: Firm) -> None:
    other = firm.store.org("Beta")
    wanted = NewInvitation(CAROL, "member", firm.people["owner"])
    assert code_of(lambda: firm.store.write(lambda tx: invitations.make(tx, wanted), other)) == "not_found"


def test_an_account_is_made_and_signed_in(firm: Firm) -> None:
    made, token = firm.invite(" Carol@Example.com", "admin", "owner")
    assert (made.email, made.expires_at - made.created_at) == ("Carol@Example.com", 7 * DAY)
    joined = firm.store.write(lambda tx: joining.join_anew(tx, token, NEW, VISITOR))
    assert joined is not None
    user = firm.store.read(lambda tx: users.find(tx, CAROL))
    assert user is not None
    assert (user.name, user.instance_admin, firm.role_of(CAROL)) == ("Carol", False, "admin")
    session = firm.store.read(lambda tx: sessions.find(tx, joined[1].token))
    assert session is not None
    assert (session.user_id, session.methods) == (user.id, ("pwd",))
    assert firm.acts() == [(user.id, "invitation.accepted"), (firm.people["owner"], "invitation.created")]


def test_a_link_lets_in_once(firm: Firm) -> None:
    _, token = firm.invite()
    assert firm.join_anew(token)
    assert (firm.found(token), firm.listed()) == (False, [])
    assert not firm.join_anew(token)
    assert not firm.join(token, firm.people["owner"])


def test_the_hash_alone_is_kept(firm: Firm) -> None:
    _, token = firm.invite()
    assert token.startswith(invitations.PREFIX)
    rows = firm.store.read(lambda tx: tx.rows("SELECT * FROM invitations WHERE org_id = :org_id"), firm.org_id)
    assert token not in str(rows)
    assert token.removeprefix(invitations.PREFIX) not in str(rows)


def test_who_has_an_account_joins_with_it(firm: Firm) -> None:
    user_id = firm.store.write(lambda tx: users.create(tx, users.NewUser(email=CAROL, name="C"), audit.OPERATOR)).id
    _, token = firm.invite()
    assert code_of(lambda: firm.join_anew(token)) == "already_exists"  # nobody makes a second one of the address
    assert firm.join(token, user_id)
    assert firm.role_of(CAROL) == "member"


def test_nobody_else_joins_by_it(firm: Firm) -> None:
    outsider = firm.store.write(
        lambda tx: users.create(tx, users.NewUser(email="eve@example.com", name="E"), audit.OPERATOR)
    ).id
    _, token = firm.invite()
    assert code_of(lambda: firm.join(token, outsider)) == "forbidden"
    assert firm.found(token)


def test_a_member_is_not_invited_nor_joins_again(firm: Firm) -> None:
    assert code_of(lambda: firm.invite("MEMBER@example.com")) == "already_exists"
    _, token = firm.invite()
    firm.join_anew(token)
    assert code_of(lambda: firm.invite(CAROL)) == "already_exists"


def test_who_was_added_meanwhile_keeps_their_role(firm: Firm) -> None:
    _, token = firm.invite(role="member")
    user_id = firm.store.write(lambda tx: users.create(tx, users.NewUser(email=CAROL, name="C"), audit.OPERATOR)).id
    firm.store.write(lambda tx: memberships.add(tx, user_id, "owner", audit.OPERATOR), firm.org_id)
    assert code_of(lambda: firm.join(token, user_id)) == "already_exists"
    assert firm.role_of(CAROL) == "owner"


def test_an_address_is_invited_once_at_a_time(firm: Firm) -> None:
    made, _ = firm.invite()
    assert code_of(lambda: firm.invite("CAROL@example.com")) == "already_exists"
    firm.store.write(lambda tx: invitations.revoke(tx, made.id, firm.people["owner"]), firm.org_id)
    _, token = firm.invite()
    assert firm.found(token)


@pytest.mark.parametrize(("email", "role", "path"), [("carol", "member", "email"), (CAROL, "chief", "role")])
def test_what_is_no_address_or_role_is_refused(firm: Firm, email: str, role: Role, path: str) -> None:
    with pytest.raises(Problem) as caught:
        firm.invite(email, role)
    assert (caught.value.code, caught.value.errors[0].path) == ("validation_failed", path)


def test_a_link_grows_old(firm: Firm) -> None:
    made, token = firm.invite()
    firm.store.clock.advance(invitations.LIFETIME)
    assert (firm.found(token), firm.listed()) == (False, [])
    assert not firm.join_anew(token)
    assert (
        code_of(lambda: firm.store.write(lambda tx: invitations.revoke(tx, made.id, "x"), firm.org_id)) == "not_found"
    )


def test_it_is_revoked_by_its_organization_alone(firm: Firm) -> None:
    made, token = firm.invite()
    other = firm.store.org("Beta")
    assert code_of(lambda: firm.store.write(lambda tx: invitations.revoke(tx, made.id, "x"), other)) == "not_found"
    assert firm.found(token)
    firm.store.write(lambda tx: invitations.revoke(tx, made.id, firm.people["admin"]), firm.org_id)
    assert (firm.found(token), firm.acts()[0]) == (False, (firm.people["admin"], "invitation.revoked"))
    assert not firm.join_anew(token)


# -- what its maker was given ends with them


def test_it_ends_with_the_membership_of_its_maker(firm: Firm) -> None:
    _, token = firm.invite(by="admin")
    _, operators = firm.invite("dan@example.com")
    ended = firm.store.write(
        lambda tx: deprovisioning.remove_member(tx, firm.people["admin"], firm.people["owner"]), firm.org_id
    )
    assert ended.invitations == 1
    assert (firm.found(token), firm.found(operators)) == (False, True)
    firm.store.write(lambda tx: memberships.add(tx, firm.people["admin"], "admin", audit.OPERATOR), firm.org_id)
    assert not firm.found(token)


def test_it_ends_where_its_maker_is_disabled(firm: Firm) -> None:
    _, token = firm.invite(by="admin")
    ended = firm.store.write(lambda tx: deprovisioning.disable(tx, firm.people["admin"], audit.OPERATOR))
    assert (ended.invitations, firm.found(token)) == (1, False)
    firm.store.write(lambda tx: users.enable(tx, firm.people["admin"], audit.OPERATOR))
    assert not firm.found(token)


def test_it_ends_with_a_role_that_may_not_give_what_it_gives(firm: Firm) -> None:
    firm.store.write(lambda tx: memberships.change_role(tx, firm.people["admin"], "owner", audit.OPERATOR), firm.org_id)
    _, as_owner = firm.invite("dan@example.com", "owner", "owner")
    _, as_member = firm.invite("eve@example.com", "member", "owner")

    def become(role: Role) -> int:
        return firm.store.write(
            lambda tx: deprovisioning.change_role(tx, firm.people["owner"], role, audit.OPERATOR), firm.org_id
        )

    assert become("admin") == 1
    assert (firm.found(as_owner), firm.found(as_member)) == (False, True)
    assert become("member") == 1
    assert not firm.found(as_member)
    become("owner")
    assert (firm.found(as_owner), firm.found(as_member)) == (False, False)


def test_while_its_maker_may_not_it_lets_nobody_in(firm: Firm) -> None:
    """Though nothing has ended it: of two at once one may be made while its maker leaves."""
    _, token = firm.invite(by="admin")
    firm.store.write(lambda tx: memberships.remove(tx, firm.people["admin"], audit.OPERATOR), firm.org_id)
    assert not firm.found(token)
    assert not firm.join_anew(token)


def test_after_a_restore_none_works(firm: Firm) -> None:
    _, token = firm.invite()
    assert firm.store.write(lambda tx: deprovisioning.end_access_of_all(tx, audit.OPERATOR)).invitations == 1
    assert not firm.found(token)


def test_it_rests_while_the_organization_is_suspended(firm: Firm) -> None:
    _, token = firm.invite()
    firm.store.write(lambda tx: suspensions.suspend(tx, firm.org_id, None, audit.OPERATOR))
    assert not firm.found(token)
    assert not firm.join_anew(token)
    assert code_of(lambda: firm.invite("dan@example.com")) == "organization_suspended"
    firm.store.write(lambda tx: suspensions.resume(tx, firm.org_id, audit.OPERATOR))
    assert firm.join_anew(token)


def test_it_is_among_what_is_open(firm: Firm) -> None:
    made, token = firm.invite(by="admin")
    kind, opening = firm.store.read(lambda tx: kinds.find(tx, made.id), firm.org_id)
    assert (kind.name, opening.name, opening.user_id) == ("invitation", CAROL, firm.people["admin"])
    assert firm.store.read(lambda tx: kinds.organization_of(tx, made.id)) == firm.org_id
    firm.store.write(lambda tx: kind.end(tx, made.id, End(firm.people["owner"])), firm.org_id)
    assert not firm.found(token)
    assert code_of(lambda: firm.store.read(lambda tx: kinds.organization_of(tx, "ivt_none"))) == "not_found"


# -- bounds


def test_an_organization_has_so_many_and_makes_so_many_a_day(firm: Firm) -> None:
    many = [firm.invite(f"u{number}@example.com")[0] for number in range(invitations.OPEN_MAX)]
    assert code_of(lambda: firm.invite()) == "limit_reached"
    for each in many:
        firm.store.write(lambda tx, each=each: invitations.revoke(tx, each.id, "x"), firm.org_id)  # type: ignore[misc]
    for number in range(invitations.PER_DAY_MAX - invitations.OPEN_MAX):
        made, _ = firm.invite(f"v{number}@example.com")
        firm.store.write(lambda tx, made=made: invitations.revoke(tx, made.id, "x"), firm.org_id)  # type: ignore[misc]
    assert code_of(lambda: firm.invite()) == "limit_reached"
    firm.store.clock.advance(DAY)
    assert firm.found(firm.invite()[1])


def test_what_has_ended_is_swept_after_a_while(firm: Firm) -> None:
    firm.invite()
    firm.store.clock.advance(invitations.LIFETIME)
    assert firm.store.write(invitations.sweep) == 0
    firm.store.clock.advance(invitations.RETENTION + 1)
    assert firm.store.write(invitations.sweep) == 1


def test_an_account_has_a_password_or_a_passkey(firm: Firm) -> None:
    _, token = firm.invite()
    with pytest.raises(ValueError, match="a password or with a passkey"):
        firm.join_anew(token, NewAccount(name="Carol"))
    assert "argon2id" not in repr(NEW)
