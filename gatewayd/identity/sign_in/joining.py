"""Joining an organization by an invitation: with the account that its address has, or with one that is made then.

Who makes one is signed in at once. It is never one that administrates the instance.
"""

import msgspec

from gatewayd.errors import Problem
from gatewayd.identity.people import invitations, users
from gatewayd.identity.people.invitations import Invitation
from gatewayd.identity.sign_in import challenges, passkeys
from gatewayd.identity.sign_in.passkeys import RelyingParty
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.sign_in import PASSWORD, NewSession, start_session
from gatewayd.store import WriteTx

PASSKEY_NAME = "This device"


class NewPasskey(msgspec.Struct, frozen=True):
    """What the browser answered to `challenges.registration_of` the id that the invitation keeps for the account."""

    party: RelyingParty
    answer: str


class NewAccount(msgspec.Struct, frozen=True, kw_only=True):
    """Who joins, and by what they sign in from then on: the hash of a password, or a passkey."""

    name: str
    password_hash: str | None = None
    passkey: NewPasskey | None = None

    def __repr__(self) -> str:
        return f"NewAccount(name={self.name!r})"


def join(tx: WriteTx, token: str, user_id: str) -> Invitation | None:
    """Use a link up for somebody who is signed in; None where it does not work (any more).

    Raises `Problem`: `forbidden` where the invitation is for another address, `already_exists` for a member.
    """
    invitation = invitations.find(tx, token)
    if invitation is not None:
        invitations.accept(tx, invitation, user_id)
    return invitation


def join_anew(tx: WriteTx, token: str, new: NewAccount, visitor: Visitor) -> tuple[Invitation, NewSession] | None:
    """Make the account that an invitation's address lacks, let it in and sign it in; None as `join` answers it.

    Raises `Problem`: `validation_failed` for the name, `already_exists` where the address has an account by now;
    `challenges.PasskeyError`.
    """
    invitation = invitations.find(tx, token)
    if invitation is None:
        return None
    if (new.password_hash is None) == (new.passkey is None):
        raise ValueError("an account is made with a password or with a passkey")
    user_id = invitation.new_user_id
    if users.find_by_id(tx, user_id) is not None:  # made by this very link, and the address is another by now
        raise Problem("already_exists", "An account was made by this invitation already: sign in with it.")
    wanted = users.NewUser(email=invitation.email, name=new.name, password_hash=new.password_hash, id=user_id)
    users.create(tx, wanted, user_id)
    methods: tuple[str, ...] = (PASSWORD,)
    if new.passkey is not None:
        methods = _register(tx, user_id, new.passkey)
    invitations.accept(tx, invitation, user_id)
    return invitation, start_session(tx, user_id, methods, visitor)


def _register(tx: WriteTx, user_id: str, new: NewPasskey) -> tuple[str, ...]:
    """Store the passkey; answers what it proved. Raises as `challenges.use` and `passkeys.register` do."""
    challenge = passkeys.challenge_of(new.answer)
    challenges.use(tx, challenge, challenges.registration_of(user_id))
    return passkeys.register(tx, new.party, user_id, PASSKEY_NAME, new.answer, challenge).methods
