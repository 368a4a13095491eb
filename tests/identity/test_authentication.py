"""Authentication: who is admitted, for how long, from where, and what the refused are told."""

from pathlib import Path

import msgspec
import pytest
import trio

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import HOUR, Instant, SettableClock
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import FULL_ACCESS, KEY_SCOPES
from gatewayd.errors import Problem
from gatewayd.identity.key_format import make_key
from gatewayd.identity.keys import api_keys
from gatewayd.identity.keys.api_keys import CreatedKey, NewKey
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.tokens.authentication import NEVER, Admission, ApiKeyVerifier, Authenticator
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.support.store import START, MemoryStore, at_version, make_caller

RANDOM = bytes(range(32))


class CountingKeys(ApiKeyVerifier):
    """Counts the look-ups."""

    def __init__(self) -> None:
        self.looked_up = 0

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        self.looked_up += 1
        return super().verify(tx, token, digest)


class AuthenticatorHarness:
    """An authenticator over a store in memory, whose data_version the test counts itself."""

    def __init__(self, store: MemoryStore, admissions_max: int = 10) -> None:
        self.store = store
        self.keys = CountingKeys()
        self.authenticator = Authenticator((self.keys,), admissions_max)
        self.version = 1
        self.org_id = store.org()
        self.user_id = store.user(self.org_id, "admin")
        store.user(self.org_id)

    def make(self, number: int = 0, **values: object) -> CreatedKey:
        self.version += 1
        new = msgspec.structs.replace(NewKey(name="CI", user_id=self.user_id), **values)
        random = bytes([number]) + RANDOM[1:]
        return self.store.write(lambda tx: api_keys.create(tx, new, random, "operator"), self.org_id)

    def authenticate(self, token: str, peer: str | None = "192.0.2.1") -> Caller:
        return self.store.read(lambda tx: self.authenticator.authenticate(at_version(tx, self.version), token, peer))

    def expect_refusal(self, token: str, peer: str | None = "192.0.2.1") -> str:
        with pytest.raises(Problem) as caught:
            self.authenticate(token, peer)
        assert (caught.value.code, caught.value.status) == ("invalid_token", 401)
        assert not token or token not in caught.value.message
        return caught.value.message


@pytest.fixture
def harness(store: MemoryStore) -> AuthenticatorHarness:
    return AuthenticatorHarness(store)


def test_a_key_acts_as_its_organization_with_its_creators_role(harness: AuthenticatorHarness) -> None:
    made = harness.make(scopes=("accounting:read",))
    assert harness.authenticate(made.key) == Caller(
        kind="api_key",
        credential_id=made.id,
        org_id=harness.org_id,
        user_id=harness.user_id,
        role="admin",
        scopes=frozenset({"accounting:read"}),
    )


def test_a_key_that_is_held_says_to_what(harness: AuthenticatorHarness) -> None:
    held = Held(entities=None, first="2026-04-06", last=None)
    assert harness.authenticate(harness.make(1, scopes=("accounting:read",), held=held).key).held == held
    wanted = CreateLegalEntity(name="Ann Oak", type="individual")
    ann = harness.store.write(lambda tx: create_legal_entity(tx, make_caller(harness.org_id), wanted), harness.org_id)
    held = Held(entities=frozenset({ann.id}), first=None, last="2027-04-05")
    assert harness.authenticate(harness.make(2, scopes=("accounting:read",), held=held).key).held == held
    assert harness.authenticate(harness.make(3).key).held is None


@pytest.mark.parametrize("role", ["admin", "member"])
def test_a_key_of_the_organization_acts_for_no_user_and_outlives_its_maker(
    harness: AuthenticatorHarness, role: api_keys.KeyRole
) -> None:
    made = harness.make(scopes=("accounting:read",), role=role)
    caller = harness.authenticate(made.key)
    assert (caller.user_id, caller.role, caller.reference) == (None, role, made.id)
    harness.version += 1
    harness.store.write(lambda tx: memberships.change_role(tx, harness.user_id, "owner", "operator"), harness.org_id)
    assert harness.authenticate(made.key) == caller
    harness.version += 1
    harness.store.write(lambda tx: memberships.remove(tx, harness.user_id, "operator"), harness.org_id)
    assert harness.authenticate(made.key) == caller


def test_is_looked_up_once_until_anything_changes(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    callers = [harness.authenticate(made.key) for _ in range(3)]
    assert callers[0] is callers[2]
    assert harness.keys.looked_up == 1
    harness.version += 1
    assert harness.authenticate(made.key) == callers[0]
    assert harness.keys.looked_up == 2


def test_a_mistyped_key_is_told_without_a_look_up(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    mistyped = made.key[:-1] + ("0" if made.key[-1] != "0" else "1")
    assert "mistyped" in harness.expect_refusal(mistyped)
    assert "mistyped" in harness.expect_refusal(made.key[:-5])


@pytest.mark.parametrize("token", ["", "Bearer", "ghp_abc", "eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "\ud800", "gwd", "ÿþ"])
def test_what_has_no_known_form_is_refused(harness: AuthenticatorHarness, token: str) -> None:
    assert "form" in harness.expect_refusal(token)
    assert harness.keys.looked_up == 0


def test_unknown_revoked_and_expired_are_told_alike(harness: AuthenticatorHarness) -> None:
    revoked, expired = harness.make(1), harness.make(2, expires_at=Instant(START + HOUR))
    harness.store.write(lambda tx: api_keys.revoke(tx, revoked.id, "operator"), harness.org_id)
    harness.store.clock.advance(HOUR)
    told = {harness.expect_refusal(token) for token in (make_key(bytes(32)), revoked.key, expired.key)}
    assert told == {ApiKeyVerifier.NOT_VALID}


def test_revoked_is_refused_at_the_next_version(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    harness.authenticate(made.key)
    harness.store.write(lambda tx: api_keys.revoke(tx, made.id, "operator"), harness.org_id)
    harness.version += 1
    assert harness.expect_refusal(made.key) == ApiKeyVerifier.NOT_VALID


def test_expires_at_the_instant_though_it_was_cached(harness: AuthenticatorHarness) -> None:
    made = harness.make(expires_at=Instant(START + HOUR))
    harness.store.clock.advance(HOUR - 1)
    harness.authenticate(made.key)
    harness.store.clock.advance(1)
    harness.expect_refusal(made.key)
    assert harness.keys.looked_up == 1


def test_both_keys_work_through_a_rotation(harness: AuthenticatorHarness) -> None:
    old = harness.make()
    random = bytes(32)
    new = harness.store.write(lambda tx: api_keys.rotate(tx, old.id, HOUR, random, "operator"), harness.org_id)
    harness.version += 1
    assert (harness.authenticate(old.key).credential_id, harness.authenticate(new.key).credential_id) == (
        old.id,
        new.id,
    )
    harness.store.clock.advance(HOUR)
    harness.expect_refusal(old.key)
    assert harness.authenticate(new.key).credential_id == new.id


def test_a_creator_who_left_disables_the_key(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    harness.authenticate(made.key)
    harness.store.write(lambda tx: memberships.remove(tx, harness.user_id, "operator"), harness.org_id)
    harness.version += 1
    assert "no longer a member" in harness.expect_refusal(made.key)


def test_a_creator_in_another_organization_counts_for_nothing(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    beta = harness.store.org("Beta")
    harness.store.write(lambda tx: memberships.add(tx, harness.user_id, "owner", "operator"), beta)
    assert harness.authenticate(made.key).role == "admin"
    harness.store.write(lambda tx: memberships.remove(tx, harness.user_id, "operator"), harness.org_id)
    harness.version += 1
    harness.expect_refusal(made.key)


def test_a_changed_role_acts_at_the_next_version(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    harness.authenticate(made.key)
    harness.store.write(lambda tx: memberships.change_role(tx, harness.user_id, "member", "operator"), harness.org_id)
    harness.version += 1
    assert harness.authenticate(made.key).role == "member"


@pytest.mark.parametrize(
    ("peer", "admitted"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("2001:db8::7", True),
        ("11.0.0.1", False),
        ("2001:db9::7", False),
        ("::ffff:11.0.0.1", False),
        ("localhost", False),
        ("", False),
        (None, False),
    ],
)
def test_the_allow_list(harness: AuthenticatorHarness, peer: str | None, admitted: bool) -> None:
    made = harness.make(networks=("10.0.0.0/8", "2001:db8::/32"))
    harness.authenticate(made.key, "10.0.0.1")
    if admitted:
        assert harness.authenticate(made.key, peer).credential_id == made.id
    else:
        assert "address" in harness.expect_refusal(made.key, peer)


def test_without_an_allow_list_any_peer_will_do(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    assert harness.authenticate(made.key, None) == harness.authenticate(made.key, "whatever")


def test_a_revoked_key_is_not_told_of_its_allow_list(harness: AuthenticatorHarness) -> None:
    made = harness.make(networks=("10.0.0.0/8",))
    harness.store.write(lambda tx: api_keys.revoke(tx, made.id, "operator"), harness.org_id)
    assert harness.expect_refusal(made.key, "11.0.0.1") == ApiKeyVerifier.NOT_VALID


@pytest.mark.parametrize(
    ("scopes", "before", "after"),
    [((), FULL_ACCESS, KEY_SCOPES), (("tax:read", "vault:read"), {"vault:read"}, {"tax:read", "vault:read"})],
)
def test_tax_only_while_approved(
    harness: AuthenticatorHarness, scopes: tuple[str, ...], before: frozenset[str], after: frozenset[str]
) -> None:
    made = harness.make(scopes=scopes)

    def set_approval(attestation: str | None) -> None:
        harness.version += 1
        harness.store.write(lambda tx: api_keys.set_tax_approval(tx, made.id, attestation, "operator"), harness.org_id)

    assert harness.authenticate(made.key).scopes == before
    set_approval("declared")
    assert harness.authenticate(made.key).scopes == after
    set_approval(None)
    assert harness.authenticate(made.key).scopes == before


def test_the_memory_is_bounded_and_the_refused_take_none(store: MemoryStore) -> None:
    harness = AuthenticatorHarness(store, admissions_max=2)
    first, second, third = (harness.make(number).key for number in range(1, 4))
    for token in (first, second, *(make_key(bytes([n]) * 32) for n in range(5, 9)), first, second):
        if token in (first, second):
            harness.authenticate(token)
        else:
            harness.expect_refusal(token)
    assert harness.keys.looked_up == 2 + 4
    harness.authenticate(third)
    harness.authenticate(first)
    assert harness.keys.looked_up == 8


def test_notes_the_admitted_only(harness: AuthenticatorHarness) -> None:
    admitted, far = harness.make(1), harness.make(2, networks=("10.0.0.0/8",))
    harness.authenticate(admitted.key)
    harness.expect_refusal(far.key)
    harness.expect_refusal(make_key(bytes(32)))
    assert harness.authenticator.use.due(START) == {admitted.id}


class TokenOfAnotherKind:
    """Stands for access tokens: recognizes a dot."""

    def recognizes(self, token: str) -> bool:
        return "." in token

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        return Admission(make_caller("org_1", kind="access_token"), NEVER, "ended", ())


def test_the_form_chooses_the_verifier(harness: AuthenticatorHarness) -> None:
    made = harness.make()
    authenticator = Authenticator((TokenOfAnotherKind(), ApiKeyVerifier()))

    def kind_of(token: str) -> str:
        return harness.store.read(lambda tx: authenticator.authenticate(at_version(tx, 1), token, None).kind)

    assert (kind_of("a.b.c"), kind_of(made.key)) == ("access_token", "api_key")


async def test_a_revocation_by_another_process_acts_on_the_next_request(tmp_path: Path, database_image: bytes) -> None:
    settings = StoreSettings(directory=tmp_path)
    settings.path.write_bytes(database_image)
    clock = SettableClock(START)
    authenticator = Authenticator((ApiKeyVerifier(),))

    def make(tx: WriteTx) -> tuple[str, str]:
        org_id = organizations.create(tx, "Acme", "operator").id
        return org_id, users.create(tx, users.NewUser(email="a@example.com", name="Ann"), "operator").id

    with trio.fail_after(120):
        async with open_store(settings, clock) as daemon, open_store(settings, clock) as command_line:
            org_id, user_id = await command_line.write(make)
            await command_line.write(lambda tx: memberships.add(tx, user_id, "owner", "operator"), org_id)
            new = NewKey(name="CI", user_id=user_id)
            made = await command_line.write(lambda tx: api_keys.create(tx, new, RANDOM, "operator"), org_id)

            def authenticate(tx: ReadTx) -> str:
                return authenticator.authenticate(tx, made.key, None).credential_id

            assert daemon.read_now(authenticate, None) == daemon.read_now(authenticate, None) == made.id
            await command_line.write(lambda tx: api_keys.revoke(tx, made.id, "operator"), org_id)
            with pytest.raises(Problem, match="revoked"):
                daemon.read_now(authenticate, None)
