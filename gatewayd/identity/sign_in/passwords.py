"""Passwords: what is accepted as one, and argon2id at rest."""

import secrets
import unicodedata

import trio
from argon2 import PasswordHasher, Type
from argon2.exceptions import VerifyMismatchError

from gatewayd.errors import Problem, invalid_field

MEMORY_KIBIBYTES = 19 * 1024  # OWASP Password Storage Cheat Sheet: 19 MiB, t=2, p=1
PASSES = 2
LANES = 1
THREADS = 2  # Chosen: a burst of sign-ins takes two cores for a while, and 38 MiB
LENGTH_MIN = 10  # Chosen, in characters
LENGTH_MAX = 1024  # Chosen: NIST SP 800-63B §5.1.1.2 asks for at least 64

_COMMON = """
0123456789 0987654321 1029384756 1111111111 112233445566 1212121212 123123123123 1231231230 1234512345 1234567890
12345678900 12345678910 123456789a 123456789q 1234567891 1234567899 123456qwerty 123qweasdzxc 1472583690
1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc 1qazxsw23edc 9876543210 a123456789 a1b2c3d4e5 aa12345678 abc1234567
abcd123456 abcd1234567 abcde12345 abcdefghij abcdefghijk administrator asdfghjkl1 asdfghjkl123 baseball123
changeme12 changeme123 charlie123 chocolate1 computer123 correcthorsebatterystaple football123 hello12345
hello123456 iloveyou12 iloveyou123 iloveyou1234 jordan12345 letmein123 letmein1234 liverpool1 manchester
michael123 monkey12345 mypassword mypassword1 mypassword123 p@ssw0rd12 p@ssw0rd123 p@ssword123 pa55word123
passw0rd123 passw0rd12 password01 password10 password11 password12 password123 password123! password1234
password12345 password2024 password2025 password2026 passwordpassword princess12 princess123 q1w2e3r4t5
q1w2e3r4t5y6 qazwsxedcrfv qwerty1234 qwerty12345 qwerty123456 qwertyuiop qwertyuiop1 qwertyuiop123 qwertyuiop[]
secret12345 starwars123 sunshine12 sunshine123 superman12 superman123 test123456 testtest123 welcome123
welcome1234 welcome12345 welcome2024 welcome2025 welcome2026 zaq12wsxcde3 zxcvbnm123 zxcvbnm1234
"""
COMMON = frozenset(_COMMON.split())
"""Chosen: the most common passwords of public leaks that are long enough to pass otherwise, in lower case."""


class Hasher:
    """argon2id, with today's parameters unless told. Each call takes tens of milliseconds: on the event loop use
    `Passwords`.
    """

    def __init__(self, memory_kibibytes: int = MEMORY_KIBIBYTES, passes: int = PASSES) -> None:
        self._argon2 = PasswordHasher(passes, memory_kibibytes, LANES, type=Type.ID)

    def hash(self, password: str) -> str:
        """The PHC string to store."""
        return self._argon2.hash(_bytes(password))

    def verify(self, password_hash: str, password: str) -> bool:
        """Whether it is the password. Raises `argon2.exceptions.InvalidHashError` for what is no PHC string."""
        try:
            return self._argon2.verify(password_hash, _bytes(password))
        except VerifyMismatchError:
            return False

    def needs_rehash(self, password_hash: str) -> bool:
        """True for a hash made with other parameters: hash the password again once it is verified."""
        return self._argon2.check_needs_rehash(password_hash)


class Passwords:
    """The hasher for the event loop: on threads, `THREADS` at a time. Make one per daemon."""

    def __init__(self, hasher: Hasher) -> None:
        self._hasher = hasher
        self._limiter = trio.CapacityLimiter(THREADS)
        self._nobody = hasher.hash(secrets.token_urlsafe())
        self.needs_rehash = hasher.needs_rehash

    async def hash(self, password: str) -> str:
        """The PHC string to store."""
        return await trio.to_thread.run_sync(self._hasher.hash, password, limiter=self._limiter)

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether it is the password.

        None, for an unknown user or one without a password, is never right and takes as long as a wrong one.
        """
        against = self._nobody if password_hash is None else password_hash
        right = await trio.to_thread.run_sync(self._hasher.verify, against, password, limiter=self._limiter)
        return right and password_hash is not None


def check_password(password: str, email: str, name: str) -> None:
    """Raises `Problem` `validation_failed` for a password that is too short, too long, or the first to be guessed."""
    if not LENGTH_MIN <= len(password) <= LENGTH_MAX:
        raise _refused("out_of_range", f"A password has {LENGTH_MIN} to {LENGTH_MAX} characters.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in password):
        raise _refused("invalid_format", "A password has no control characters.")
    folded = unicodedata.normalize("NFKC", password).casefold()
    own = {email, email.partition("@")[0], name, "".join(name.split())}
    if folded in {unicodedata.normalize("NFKC", each).casefold() for each in own}:
        raise _refused("invalid_format", "The password must not be the address or the name.")
    if folded in COMMON or len(set(folded)) < 3:
        raise _refused("invalid_format", "This password is among the first that are guessed: take another.")


def _refused(code: str, message: str) -> Problem:
    return invalid_field("password", code, message)


def _bytes(password: str) -> bytes:
    """What is hashed: the same for however the keyboard composes a letter (NIST SP 800-63B §5.1.1.2).

    Longer ones than `LENGTH_MAX` were never accepted; they are cut one past it, so that none costs more to refuse.
    """
    return unicodedata.normalize("NFKC", password[: LENGTH_MAX + 1]).encode("utf-8", "surrogatepass")
