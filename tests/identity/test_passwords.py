"""Passwords: argon2id with the parameters that were decided, and which passwords are refused."""

import pytest
import trio
from argon2 import PasswordHasher, extract_parameters

from gatewayd.errors import Problem
from gatewayd.identity.sign_in.passwords import COMMON, LENGTH_MIN, Hasher, Passwords, check_password


@pytest.fixture(scope="module")
def hasher() -> Hasher:
    return Hasher()


def test_hashes_with_the_decided_parameters(hasher: Hasher) -> None:
    stored = hasher.hash("a good password")
    found = extract_parameters(stored)
    assert (found.memory_cost, found.time_cost, found.parallelism) == (19 * 1024, 2, 1)
    assert stored.startswith("$argon2id$")
    assert hasher.verify(stored, "a good password")
    assert not hasher.verify(stored, "a good passwore")
    assert not hasher.needs_rehash(stored)


def test_a_hash_of_other_parameters_still_verifies_and_asks_to_be_renewed(hasher: Hasher) -> None:
    weak = PasswordHasher(1, 8, 1).hash("a good password")
    assert hasher.verify(weak, "a good password")
    assert hasher.needs_rehash(weak)


def test_a_letter_composed_in_another_way_is_the_same(hasher: Hasher) -> None:
    assert hasher.verify(PasswordHasher(1, 8, 1).hash("caf\u00e9 au lait"), "cafe\u0301 au lait")


def test_what_cannot_be_encoded_is_wrong_and_no_crash(hasher: Hasher) -> None:
    assert not hasher.verify(PasswordHasher(1, 8, 1).hash("a good password"), "\ud800")


async def test_hashes_and_verifies_off_the_loop(hasher: Hasher) -> None:
    passwords = Passwords(hasher)
    with trio.fail_after(120):
        stored = await passwords.hash("a good password")
        assert await passwords.verify(stored, "a good password")
        assert not await passwords.verify(stored, "another password")


class RecordingHasher(Hasher):
    """Notes what was hashed, and what was verified against."""

    def __init__(self) -> None:
        super().__init__()
        self.hashed: list[str] = []
        self.verified: list[str] = []

    def hash(self, password: str) -> str:
        self.hashed.append(password)
        return super().hash(password)

    def verify(self, password_hash: str, password: str) -> bool:
        self.verified.append(password_hash)
        return super().verify(password_hash, password)


async def test_an_unknown_user_costs_a_verification_and_is_never_right() -> None:
    noting = RecordingHasher()
    passwords = Passwords(noting)
    (password_of_nobody,) = noting.hashed
    with trio.fail_after(120):
        assert not await passwords.verify(None, password_of_nobody)
    (against,) = noting.verified
    assert not noting.needs_rehash(against)


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("x" * 9, "out_of_range"),
        ("ab" * 513, "out_of_range"),
        ("a\x00good password", "invalid_format"),
        ("a good password\n", "invalid_format"),
        ("a good \ud800 password", "invalid_format"),
        ("ann.smith@example.com", "invalid_format"),
        ("ANN.SMITH@example.com", "invalid_format"),
        ("Ann.Smith1", "invalid_format"),
        ("Ann Smith the Second", "invalid_format"),
        ("annsmiththesecond", "invalid_format"),
        ("Password123", "invalid_format"),
        ("aaaaaaaaaaaa", "invalid_format"),
        ("ababababababab", "invalid_format"),
    ],
)
def test_refuses(password: str, code: str) -> None:
    email = "ann.smith1@example.com" if password == "Ann.Smith1" else "ann.smith@example.com"
    with pytest.raises(Problem) as caught:
        check_password(password, email, "Ann Smith the Second")
    assert [(error.path, error.code) for error in caught.value.errors] == [("password", code)]
    assert password not in caught.value.message


@pytest.mark.parametrize("password", ["tenletters", "correct horse", "пароль из слов", "abc" * 341])
def test_accepts(password: str) -> None:
    check_password(password, "ann@example.com", "Ann Smith")


def test_the_list_of_common_ones_holds_only_what_would_pass_otherwise() -> None:
    assert all(len(each) >= LENGTH_MIN and each == each.lower() for each in COMMON)
