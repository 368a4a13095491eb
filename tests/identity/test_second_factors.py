"""The second factor: proved before it counts, each code once, recovery codes shown once."""

import pyotp
import pytest

from gatewayd.clock import SECOND
from gatewayd.identity.sign_in import second_factors
from tests.support.store import MemoryStore


@pytest.fixture
def user(store: MemoryStore) -> str:
    return store.user(store.org())


def code_at(store: MemoryStore, secret: str, steps: int = 0) -> str:
    return pyotp.TOTP(secret).generate_otp(store.now() // SECOND // 30 + steps)


def turned_on(store: MemoryStore, user: str) -> tuple[str, list[str]]:
    secret = store.write(lambda tx: second_factors.propose(tx, user))
    codes = store.write(lambda tx: second_factors.confirm(tx, user, code_at(store, secret)))
    assert codes is not None
    return secret, codes


def used(store: MemoryStore, user: str, code: str) -> str | None:
    return store.write(lambda tx: second_factors.use_code(tx, user, code))


def is_on(store: MemoryStore, user: str) -> bool:
    return store.read(lambda tx: second_factors.is_on(tx, user))


def test_it_counts_once_a_first_code_has_proved_it(store: MemoryStore, user: str) -> None:
    secret = store.write(lambda tx: second_factors.propose(tx, user))
    assert not is_on(store, user)
    assert used(store, user, code_at(store, secret)) is None
    assert store.write(lambda tx: second_factors.confirm(tx, user, "000000")) is None
    assert not is_on(store, user)
    assert store.write(lambda tx: second_factors.confirm(tx, user, code_at(store, secret))) is not None
    assert is_on(store, user)
    assert store.read(lambda tx: second_factors.find_proposal(tx, user)) is None


def test_a_new_proposal_voids_the_one_before_but_never_one_in_use(store: MemoryStore, user: str) -> None:
    first = store.write(lambda tx: second_factors.propose(tx, user))
    second = store.write(lambda tx: second_factors.propose(tx, user))
    assert store.write(lambda tx: second_factors.confirm(tx, user, code_at(store, first))) is None
    assert store.write(lambda tx: second_factors.confirm(tx, user, code_at(store, second))) is not None
    store.write(lambda tx: second_factors.propose(tx, user))
    store.clock.advance(60 * SECOND)
    assert used(store, user, code_at(store, second)) == "otp"


def test_each_code_works_once_and_none_that_is_older(store: MemoryStore, user: str) -> None:
    secret, _ = turned_on(store, user)
    assert used(store, user, code_at(store, secret)) is None  # it proved the app
    store.clock.advance(60 * SECOND)
    code = code_at(store, secret)
    assert used(store, user, f" {code[:3]} {code[3:]} ") == "otp"
    assert used(store, user, code) is None
    assert used(store, user, code_at(store, secret, -1)) is None
    assert used(store, user, code_at(store, secret, 1)) == "otp"


@pytest.mark.parametrize(("steps", "taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_one_step_of_delay_either_way(store: MemoryStore, user: str, steps: int, taken: bool) -> None:
    secret, _ = turned_on(store, user)
    store.clock.advance(120 * SECOND)
    assert (used(store, user, code_at(store, secret, steps)) == "otp") is taken


@pytest.mark.parametrize("code", ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "\ud800", "x" * 10_000])
def test_what_is_no_code(store: MemoryStore, user: str, code: str) -> None:
    turned_on(store, user)
    assert used(store, user, code) is None


def test_recovery_codes_work_once_each_however_they_are_typed(store: MemoryStore, user: str) -> None:
    _, codes = turned_on(store, user)
    assert len(set(codes)) == second_factors.RECOVERY_CODES
    assert used(store, user, codes[0].upper()) == "kba"
    assert used(store, user, codes[0]) is None
    assert used(store, user, codes[1].replace("-", " ")) == "kba"
    assert store.read(lambda tx: second_factors.recovery_codes_left(tx, user)) == second_factors.RECOVERY_CODES - 2


def test_recovery_codes_are_not_in_the_database(store: MemoryStore, user: str) -> None:
    secret, codes = turned_on(store, user)
    image = store.stored()
    assert not any(code.encode() in image or code.replace("-", "").encode() in image for code in codes)
    assert secret.encode() not in image


def test_renewing_voids_the_earlier_ones(store: MemoryStore, user: str) -> None:
    _, codes = turned_on(store, user)
    fresh = store.write(lambda tx: second_factors.renew_recovery_codes(tx, user))
    assert used(store, user, codes[0]) is None
    assert used(store, user, fresh[0]) == "kba"


def test_the_codes_of_another_account_do_not_work(store: MemoryStore, user: str) -> None:
    _, codes = turned_on(store, user)
    other = store.user(store.org())
    turned_on(store, other)
    assert used(store, other, codes[0]) is None


def test_removing_takes_the_recovery_codes_along(store: MemoryStore, user: str) -> None:
    secret, codes = turned_on(store, user)
    store.write(lambda tx: second_factors.remove(tx, user, user))
    assert not is_on(store, user)
    store.clock.advance(60 * SECOND)
    assert used(store, user, code_at(store, secret)) is None
    assert used(store, user, codes[0]) is None


def test_the_qr_code_names_account_and_issuer() -> None:
    uri = second_factors.provisioning_uri("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "ann@example.com", "gatewayd")
    assert uri == "otpauth://totp/gatewayd:ann%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=gatewayd"


def test_a_proposal_waits_for_a_while(store: MemoryStore, user: str) -> None:
    secret = store.write(lambda tx: second_factors.propose(tx, user))
    store.clock.advance(second_factors.PROPOSAL_LIFE - 1)
    assert store.read(lambda tx: second_factors.find_proposal(tx, user)) == secret
    store.clock.advance(1)
    assert store.read(lambda tx: second_factors.find_proposal(tx, user)) is None
    assert store.write(lambda tx: second_factors.confirm(tx, user, code_at(store, secret))) is None
