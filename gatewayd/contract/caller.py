"""Who is calling, as the operations see it."""

from typing import Literal

import msgspec

from gatewayd.contract.holding import Held

CallerKind = Literal["api_key", "access_token", "person", "operator"]
Role = Literal["owner", "admin", "member"]


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """One authenticated caller. Every request acts on behalf of exactly one organization (Spec §1).

    `overrides` names the rules that this one request is to be done in spite of: `closing`, of a period.
    `person` is somebody on the pages, whose `credential_id` is their user's: in however many browsers they are.
    `operator` is the command line on the machine itself; it has no user and holds every scope. A key that belongs to
    its organization has none either, and is never an owner.
    `metered`: what this one request asks for may have a price, and the organization's plan charges it. It is found out
    where callers are admitted, so that an operator never is.
    `held`: it sees some legal entities and days alone, and changes nothing. None: all that its scopes open.
    """

    kind: CallerKind
    credential_id: str
    org_id: str
    user_id: str | None
    role: Role
    scopes: frozenset[str]
    overrides: frozenset[str] = frozenset()
    metered: bool = False
    held: Held | None = None

    @property
    def is_admin(self) -> bool:
        """True for owners and administrators of the organization, and for the operator."""
        return self.role != "member"

    @property
    def reference(self) -> str:
        """What `createdBy` shows: the user, or the credential where there is none."""
        return self.user_id or self.credential_id
