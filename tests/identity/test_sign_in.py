"""Signing in, by every way and around every lock."""

from collections.abc import Callable
from typing import TypeVar

import pyotp
import pytest
import trio
from soft_webauthn import SoftWebauthnDevice

from gatewayd.clock import MINUTE, SECOND
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import (
    challenges,
    one_time_links,
    passkeys,
    password_resets,
    second_factors,
    sessions,
)
from gatewayd.identity.sign_in.passwords import Hasher, Passwords
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.sign_in import FIRST_FACTOR_LIFE, NewSession, SecondFactorStep, SignIn, WrongCredentials
from gatewayd.identity.sign_in.throttling import Limits, Locked
from gatewayd.store import WriteTx
from tests.identity.test_passkeys import CHALLENGE, PARTY, created, registered, signed
from tests.support.passwords import quick_hasher
from tests.support.store import MemoryStore

T = TypeVar("T")

PASSWORD = "correct horse battery"
EMAIL = "ann@example.com"
HERE = Visitor(user_agent="Test", address="192.0.2.7")
ATTEMPTS = 3


class Database:
    """The store in memory, as the sign-in sees it."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def write(self, work: Callable[[WriteTx], T]) -> T:
        await trio.lowlevel.checkpoint()
        return self._store.write(work)


class Firm:
    """One person who can sign in."""

    def __init__(self, store: MemoryStore, hasher: Hasher) -> None:
        self.store = store
        self.user_id = store.user(store.org(), email=EMAIL)
        store.write(lambda tx: users.rehash_password(tx, self.user_id, hasher.hash(PASSWORD)))
        self.sign_in = SignIn(Database(store), Passwords(hasher), Limits(ATTEMPTS))

    async def password(self, password: str = PASSWORD, email: str = EMAIL) -> NewSession | SecondFactorStep:
        with trio.fail_after(120):
            return await self.sign_in.with_password(email, password, HERE)

    def second_factor(self) -> Callable[[], str]:
        """Turn it on; returns what makes codes, each of a later step than the one before."""
        secret = self.store.write(lambda tx: second_factors.propose(tx, self.user_id))

        def code() -> str:
            self.store.clock.advance(31 * SECOND)
            return pyotp.TOTP(secret).generate_otp(self.store.now() // SECOND // 30)

        first = code()
        assert self.store.write(lambda tx: second_factors.confirm(tx, self.user_id, first))
        return code

    def signed(self, device: SoftWebauthnDevice) -> str:
        """The answer of a device to a challenge that was given for it."""
        return signed(device, challenge=self.store.read(lambda tx: challenges.give(tx, challenges.SIGN_IN)))


@pytest.fixture
def firm(store: MemoryStore) -> Firm:
    return Firm(store, quick_hasher())


async def test_a_right_password_signs_in(firm: Firm) -> None:
    outcome = await firm.password(email=" ANN@example.com")
    assert isinstance(outcome, NewSession)
    assert (outcome.session.user_id, outcome.session.methods) == (firm.user_id, ("pwd",))
    assert firm.store.read(lambda tx: sessions.find(tx, outcome.token)) == outcome.session
    assert outcome.token not in repr(outcome)


@pytest.mark.parametrize(("email", "password"), [(EMAIL, "wrong"), (EMAIL, ""), ("nobody@example.com", PASSWORD)])
async def test_what_is_wrong_is_not_told_apart(firm: Firm, email: str, password: str) -> None:
    with pytest.raises(WrongCredentials):
        await firm.password(password, email)


async def test_an_account_without_a_password_has_no_right_one(firm: Firm) -> None:
    firm.store.user(firm.store.org(), email="bob@example.com")
    with pytest.raises(WrongCredentials):
        await firm.password("", "bob@example.com")


async def test_the_account_locks_and_the_right_password_waits_too(firm: Firm) -> None:
    for _ in range(ATTEMPTS):
        with pytest.raises(WrongCredentials):
            await firm.password("wrong")
    with pytest.raises(Locked) as caught:
        await firm.password()
    assert caught.value.until - firm.store.now() == MINUTE
    firm.store.clock.advance(MINUTE)
    assert isinstance(await firm.password(), NewSession)
    for _ in range(ATTEMPTS):  # it starts anew
        with pytest.raises(WrongCredentials):
            await firm.password("wrong")


async def test_no_more_guesses_at_once_than_in_a_row(firm: Firm) -> None:
    outcomes: list[type[Exception]] = []

    async def guess() -> None:
        try:
            await firm.password("wrong")
        except (WrongCredentials, Locked) as error:
            outcomes.append(type(error))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(guess)
    assert outcomes.count(WrongCredentials) == ATTEMPTS
    assert outcomes.count(Locked) == 20 - ATTEMPTS


async def test_a_second_factor_needs_its_code(firm: Firm) -> None:
    code = firm.second_factor()
    step = await firm.password()
    assert isinstance(step, SecondFactorStep)
    assert step.first_factor not in repr(step)
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(step.first_factor, "000000", HERE)
    outcome = await firm.sign_in.with_code(step.first_factor, code(), HERE)
    assert outcome.session.methods == ("pwd", "otp", "mfa")


async def test_the_first_half_ends_by_itself(firm: Firm) -> None:
    code = firm.second_factor()
    step = await firm.password()
    assert isinstance(step, SecondFactorStep)
    firm.store.clock.advance(FIRST_FACTOR_LIFE)
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(step.first_factor, code(), HERE)


@pytest.mark.parametrize("way", ["reset", "change"])
async def test_the_first_half_ends_with_the_password_that_it_was(firm: Firm, way: str) -> None:
    """Whoever set another one may have done it because of whoever is half in."""
    code = firm.second_factor()
    step = await firm.password()
    assert isinstance(step, SecondFactorStep)
    hashed = quick_hasher().hash("another horse battery")
    if way == "reset":
        firm.store.write(lambda tx: password_resets.reset(tx, firm.user_id, hashed, "operator"))
    else:
        firm.store.write(lambda tx: users.change_password(tx, firm.user_id, hashed))
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(step.first_factor, code(), HERE)


async def test_the_first_half_is_used_once(firm: Firm) -> None:
    """With a code of the app, and with a recovery code."""
    code = firm.second_factor()
    step = await firm.password()
    assert isinstance(step, SecondFactorStep)
    await firm.sign_in.with_code(step.first_factor, code(), HERE)
    firm.store.clock.advance(31 * SECOND)
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(step.first_factor, code(), HERE)
    codes = firm.store.write(lambda tx: second_factors.renew_recovery_codes(tx, firm.user_id))
    again = await firm.password()
    assert isinstance(again, SecondFactorStep)
    await firm.sign_in.with_code(again.first_factor, codes[0], HERE)
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(again.first_factor, codes[1], HERE)


@pytest.mark.parametrize("first_factor", ["", "x", "AAAA", "é", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
async def test_what_is_no_first_factor_is_refused(firm: Firm, first_factor: str) -> None:
    code = firm.second_factor()
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(first_factor, code(), HERE)


async def test_codes_are_guessed_no_longer_than_passwords_though_the_password_is_known(firm: Firm) -> None:
    firm.second_factor()
    for _ in range(ATTEMPTS):
        step = await firm.password()
        assert isinstance(step, SecondFactorStep)
        with pytest.raises(WrongCredentials):
            await firm.sign_in.with_code(step.first_factor, "000000", HERE)
    with pytest.raises(Locked):
        await firm.password()
    with pytest.raises(Locked):
        await firm.sign_in.with_code(step.first_factor, "000000", HERE)


async def test_a_passkey_signs_in_though_the_account_is_locked(firm: Firm) -> None:
    user = firm.store.read(lambda tx: users.get(tx, firm.user_id))
    device = SoftWebauthnDevice()
    answer = created(user, device)
    firm.store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "Laptop", answer, CHALLENGE))
    for _ in range(ATTEMPTS):
        with pytest.raises(WrongCredentials):
            await firm.password("wrong")
    outcome = await firm.sign_in.with_passkey(PARTY, firm.signed(device), HERE)
    assert isinstance(outcome, NewSession)
    assert outcome.session.methods == ("hwk",)
    firm.second_factor()  # this device does not verify the person: now it stands for the password alone
    assert isinstance(await firm.sign_in.with_passkey(PARTY, firm.signed(device), HERE), SecondFactorStep)


async def test_proving_the_password_again(firm: Firm) -> None:
    user = firm.store.read(lambda tx: users.get(tx, firm.user_id))
    await firm.sign_in.prove_password(user, PASSWORD, HERE)
    for _ in range(ATTEMPTS):
        with pytest.raises(WrongCredentials):
            await firm.sign_in.prove_password(user, "wrong", HERE)
    with pytest.raises(Locked):
        await firm.sign_in.prove_password(user, PASSWORD, HERE)


async def test_an_old_hash_is_made_anew(store: MemoryStore) -> None:
    firm = Firm(store, Hasher())
    weak = quick_hasher().hash(PASSWORD)
    firm.store.write(lambda tx: users.rehash_password(tx, firm.user_id, weak))
    assert isinstance(await firm.password(), NewSession)
    known = firm.store.read(lambda tx: users.credentials(tx, EMAIL))
    assert known is not None
    assert known.password_hash is not None
    assert "m=19456,t=2" in known.password_hash
    assert isinstance(await firm.password(), NewSession)


async def test_a_link_signs_in_once_and_stands_for_the_password(firm: Firm) -> None:
    token = firm.store.write(lambda tx: one_time_links.make(tx, firm.user_id, "sign_in"))
    outcome = await firm.sign_in.with_link(token, HERE)
    assert isinstance(outcome, NewSession)
    assert (outcome.session.user_id, outcome.session.methods) == (firm.user_id, ("otp",))
    for dead in (token, "x"):
        with pytest.raises(WrongCredentials):
            await firm.sign_in.with_link(dead, HERE)
    code = firm.second_factor()
    token = firm.store.write(lambda tx: one_time_links.make(tx, firm.user_id, "sign_in"))
    step = await firm.sign_in.with_link(token, HERE)
    assert isinstance(step, SecondFactorStep)
    assert (await firm.sign_in.with_code(step.first_factor, code(), HERE)).session.user_id == firm.user_id


async def test_a_reset_takes_every_way_in_away(firm: Firm) -> None:
    signed = await firm.password()
    assert isinstance(signed, NewSession)
    link = firm.store.write(lambda tx: one_time_links.make(tx, firm.user_id, "sign_in"))
    for _ in range(ATTEMPTS):
        with pytest.raises(WrongCredentials):
            await firm.password("wrong")
    hashed = quick_hasher().hash("another good password")
    firm.store.write(lambda tx: password_resets.reset(tx, firm.user_id, hashed, "operator"))
    assert firm.store.read(lambda tx: sessions.find(tx, signed.token)) is None
    assert firm.store.read(lambda tx: one_time_links.find(tx, link, "sign_in")) is None
    assert isinstance(await firm.password("another good password"), NewSession)


async def test_who_is_disabled_is_refused_as_by_a_wrong_password(store: MemoryStore) -> None:
    firm = Firm(store, quick_hasher())
    store.write(lambda tx: users.disable(tx, firm.user_id, "operator"))
    for password in (PASSWORD, "another password"):
        with pytest.raises(WrongCredentials):
            await firm.password(password)
    assert store.write(lambda tx: users.enable(tx, firm.user_id, "operator"))
    assert isinstance(await firm.password(), NewSession)


async def test_nothing_that_was_left_signs_in_who_is_disabled(store: MemoryStore) -> None:
    """Disabling a person ends all of these: each is refused by itself too."""
    firm = Firm(store, quick_hasher())
    device = registered(store, store.read(lambda tx: users.get(tx, firm.user_id)))
    link = store.write(lambda tx: one_time_links.make(tx, firm.user_id, "sign_in"))
    code = firm.second_factor()
    step = await firm.password()
    assert isinstance(step, SecondFactorStep)
    store.write(lambda tx: users.disable(tx, firm.user_id, "operator"))
    with pytest.raises(challenges.PasskeyError):
        await firm.sign_in.with_passkey(PARTY, firm.signed(device), HERE)
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_link(link, HERE)
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(step.first_factor, code(), HERE)
    assert store.read(lambda tx: sessions.of_user(tx, firm.user_id)) == []
