r"""Signing in: password, then a code where the account has a second factor, then a session. Or a passkey, or a link.

    password right --> no second factor --> session
                  \--> second factor --> `SecondFactorStep`, sealed into a cookie --> code right --> session
    passkey that verified the person --> session; that did not --> as after a password
    link that the operator made --> as after a password

Every try is counted as a failure before it is verified, and taken back where it was right: of a thousand guesses at
once no more are verified than of a thousand in a row. An unknown address takes as long as a known one, and somebody
who is disabled is refused in the same words as a wrong password.
"""

import base64
from collections.abc import Callable, Iterable
from typing import Final, Protocol, TypeVar

import msgspec

from gatewayd.clock import MINUTE
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import (
    challenges,
    known_devices,
    one_time_links,
    passkeys,
    second_factors,
    sessions,
    sign_in_records,
    throttling,
)
from gatewayd.identity.sign_in.passwords import Passwords
from gatewayd.identity.sign_in.sessions import Session, Visitor
from gatewayd.identity.sign_in.throttling import Limits, Try
from gatewayd.store import ReadTx, StoreFailure, WriteTx

T = TypeVar("T")

FIRST_FACTOR_LIFE: Final = 10 * MINUTE  # Chosen: between the password and the code
PASSWORD: Final = "pwd"  # RFC 8176
PASSKEY: Final = "swk"  # RFC 8176: a key, whichever
LINK: Final = "otp"  # RFC 8176: a password for once
_SEALING_CONTEXT: Final = "sign_in.half"


class WrongCredentials(Exception):
    """The address, the password or the code is not right; which of them is not said."""


class Database(Protocol):
    """What signing in needs of the store."""

    async def write(self, work: Callable[[WriteTx], T]) -> T: ...


class NewSession(msgspec.Struct, frozen=True):
    """The session of somebody who has signed in. `token` goes into a cookie, `device` into another that stays."""

    token: str
    session: Session
    device: str

    def __repr__(self) -> str:
        return f"NewSession(session={self.session.id!r})"


class SecondFactorStep(msgspec.Struct, frozen=True):
    """The password was right, and a code is needed as well. The next step brings `first_factor` back, sealed."""

    first_factor: str

    def __repr__(self) -> str:
        return "SecondFactorStep(...)"


class _FirstFactor(msgspec.Struct, frozen=True):
    """`standing` is what password and second factor were then: with another password, or a code that was used since, it
    counts no more.
    """

    user_id: str
    methods: tuple[str, ...]
    at: int  # an `Instant`, as a number
    standing: str


class SignIn:
    """The ways to sign in. `limits` may change."""

    def __init__(self, database: Database, passwords: Passwords, limits: Limits) -> None:
        self._database = database
        self._passwords = passwords
        self.limits = limits

    async def with_password(self, email: str, password: str, visitor: Visitor) -> NewSession | SecondFactorStep:
        """Raises `WrongCredentials`, or `throttling.Locked`."""
        verified, counted = await self._verify(email, password, visitor)
        rehashed = None
        if verified.password_hash is not None and self._passwords.needs_rehash(verified.password_hash):
            rehashed = await self._passwords.hash(password)

        def finish(tx: WriteTx) -> NewSession | SecondFactorStep | None:
            if users.credentials(tx, email) != verified or not users.is_enabled(tx, verified.user_id):
                # also where the password was changed while this one was verified
                sign_in_records.failed(tx, verified.user_id, visitor, PASSWORD, "disabled or changed")
                return None
            if rehashed is not None:
                users.rehash_password(tx, verified.user_id, rehashed)
            if second_factors.is_on(tx, verified.user_id):
                throttling.take_back(tx, counted)
                return SecondFactorStep(_seal_first_factor(tx, verified.user_id, (PASSWORD,)))
            throttling.note_success(tx, counted)
            return start_session(tx, verified.user_id, (PASSWORD,), visitor)

        outcome = await self._database.write(finish)
        if outcome is None:
            raise WrongCredentials
        return outcome

    async def with_code(self, first_factor: str, code: str, visitor: Visitor) -> NewSession:
        """The second step. Raises `WrongCredentials`, also when the first is too long ago, or `throttling.Locked`."""

        def finish(tx: WriteTx) -> NewSession | None:
            first = _unseal_first_factor(tx, first_factor)
            user = users.get(tx, first.user_id)
            counted = throttling.note_try(tx, user.email, visitor, self.limits)
            method = second_factors.use_code(tx, user.id, code)
            if method is None or not users.is_enabled(tx, user.id):
                reason = "wrong code" if method is None else "disabled"
                sign_in_records.failed(tx, user.id, visitor, method or LINK, reason)
                return None
            throttling.note_success(tx, counted)
            return start_session(tx, user.id, (*first.methods, method, "mfa"), visitor)

        outcome = await self._database.write(finish)
        if outcome is None:
            raise WrongCredentials
        return outcome

    async def with_passkey(
        self, party: passkeys.RelyingParty, answer: str, visitor: Visitor
    ) -> NewSession | SecondFactorStep:
        """Locks do not apply to passkeys, which cannot be guessed. Raises `challenges.PasskeyError`."""
        challenge = passkeys.challenge_of(answer)

        def finish(tx: WriteTx) -> NewSession | SecondFactorStep:
            challenges.use(tx, challenge, challenges.SIGN_IN)
            proved = passkeys.authenticate(tx, party, answer, challenge)
            if not users.is_enabled(tx, proved.user_id):
                raise challenges.PasskeyError("its person is disabled")
            if not proved.person_verified and second_factors.is_on(tx, proved.user_id):
                return SecondFactorStep(_seal_first_factor(tx, proved.user_id, proved.methods))
            return start_session(tx, proved.user_id, proved.methods, visitor)

        try:
            return await self._database.write(finish)
        except challenges.PasskeyError as error:
            reason = str(error)
            await self._database.write(lambda tx: sign_in_records.failed(tx, None, visitor, PASSKEY, reason))
            raise

    async def with_link(self, token: str, visitor: Visitor) -> NewSession | SecondFactorStep:
        """Use up a link that stands for the password. Raises `WrongCredentials` where it does not work (any more)."""

        def finish(tx: WriteTx) -> NewSession | SecondFactorStep | None:
            user_id = one_time_links.use(tx, token, "sign_in")
            if user_id is None or not users.is_enabled(tx, user_id):
                reason = "no such link" if user_id is None else "disabled"
                sign_in_records.failed(tx, user_id, visitor, LINK, reason)
                return None
            if second_factors.is_on(tx, user_id):
                return SecondFactorStep(_seal_first_factor(tx, user_id, (LINK,)))
            return start_session(tx, user_id, (LINK,), visitor)

        outcome = await self._database.write(finish)
        if outcome is None:
            raise WrongCredentials
        return outcome

    async def prove_password(self, user: users.User, password: str, visitor: Visitor) -> None:
        """Check that a signed-in user knows the password. Raises `WrongCredentials`, or `throttling.Locked`."""
        _, counted = await self._verify(user.email, password, visitor)
        await self._database.write(lambda tx: throttling.take_back(tx, counted))

    async def _verify(self, email: str, password: str, visitor: Visitor) -> tuple[users.Credentials, Try]:
        """The credentials that the password fits; the try is counted first. Raises `WrongCredentials` or `Locked`."""

        def begin(tx: WriteTx) -> tuple[users.Credentials | None, Try]:
            counted = throttling.note_try(tx, email, visitor, self.limits)
            return users.credentials(tx, email), counted

        known, counted = await self._database.write(begin)
        right = await self._passwords.verify(None if known is None else known.password_hash, password)
        if known is None or not right:
            user_id = None if known is None else known.user_id
            await self._database.write(
                lambda tx: sign_in_records.failed(tx, user_id, visitor, PASSWORD, "wrong password")
            )
            raise WrongCredentials
        return known, counted


def start_session(tx: WriteTx, user_id: str, methods: Iterable[str], visitor: Visitor) -> NewSession:
    """Sign in, in a browser that is known from now on."""
    token, session = sessions.start(tx, user_id, methods, visitor)
    known = known_devices.is_known(tx, user_id, visitor.device)
    sign_in_records.signed_in(tx, session, visitor, known_device=known)
    return NewSession(token, session, known_devices.remember(tx, user_id, visitor.device))


def _seal_first_factor(tx: WriteTx, user_id: str, methods: tuple[str, ...]) -> str:
    first = _FirstFactor(user_id, methods, int(tx.now), _standing(tx, user_id))
    note = msgspec.json.encode(first).decode()
    return base64.urlsafe_b64encode(tx.seal(note, _SEALING_CONTEXT)).decode("ascii")


def _unseal_first_factor(tx: ReadTx, first_factor: str) -> _FirstFactor:
    """The first step. Raises `WrongCredentials`."""
    try:
        sealed = base64.urlsafe_b64decode(first_factor.encode("ascii"))
        note = msgspec.json.decode(tx.unseal(sealed, _SEALING_CONTEXT), type=_FirstFactor)
    except (ValueError, StoreFailure, msgspec.MsgspecError) as error:
        raise WrongCredentials from error
    if tx.now - note.at > FIRST_FACTOR_LIFE or note.standing != _standing(tx, note.user_id):
        raise WrongCredentials
    return note


def _standing(tx: ReadTx, user_id: str) -> str:
    """Changes with the password, and each time that a code is used.

    Chosen: of two sign-ins that are half done, the second begins anew once the first is through.
    """
    known = users.credentials(tx, users.get(tx, user_id).email)
    password_hash = known.password_hash if known is not None else None
    return tx.sign(f"{password_hash or ''} {second_factors.last_use(tx, user_id)}", _SEALING_CONTEXT).hex()
