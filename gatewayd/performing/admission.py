"""Who may run an operation: authenticate, charge the rate limit, use up what shows a key, check the scope."""

from dataclasses import dataclass, field

import msgspec

from gatewayd.contract.caller import Caller
from gatewayd.contract.scopes import ScopeLacking
from gatewayd.identity.keys.key_uses import KeyUses
from gatewayd.identity.tokens.authentication import Authenticate, Possession
from gatewayd.performing import holding
from gatewayd.performing.metering import PricedNames
from gatewayd.performing.prepared import PreparedOperation
from gatewayd.performing.rate_limits import Allowance, RateLimits
from gatewayd.store import ReadTx


@dataclass(slots=True)
class Call:
    """One call on its way through. `started` is on the loop's clock, `peer` the address it came from.

    `token` and `possession` are what it shows of its caller, once that is known; what admission finds out follows. A
    call that was admitted has its `allowance` until it leaves, also one that is refused after all. `operation` is the
    id of the one that it was let in to.
    """

    started: float
    peer: str | None
    token: str = field(default="", init=False)
    possession: Possession | None = field(default=None, init=False)
    caller: Caller | None = field(default=None, init=False)
    allowance: Allowance | None = field(default=None, init=False)
    operation: str = field(default="", init=False)


class Gate:
    """Lets callers who are known run operations, on whichever thread their transactions are."""

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits
        self._priced = PricedNames()

    def let(self, tx: ReadTx, call: Call, caller: Caller, prepared: PreparedOperation) -> Caller:
        """The caller, who may run the operation now. Raises `Problem`: why not."""
        if self._priced.may_charge(tx, prepared, caller):  # the last look into the database, as it may fail
            caller = msgspec.structs.replace(caller, metered=True)
        call.caller = caller
        call.allowance = self._limits.take(caller.credential_id, prepared.operation.cost, call.started)
        if call.possession is not None:
            call.possession.spend(tx.now)
        if not prepared.allows(caller.scopes):
            raise ScopeLacking(prepared.operation.scopes)
        holding.refuse(caller.held, prepared.operation)
        call.operation = prepared.operation.id
        return caller

    def leave(self, call: Call) -> None:
        """Free the place among the credential's calls at once that the call may have taken."""
        if call.allowance is not None:
            self._limits.leave(call.allowance)


class Admission(Gate):
    """Admits calls by what they show of their caller, and counts what API keys are used for."""

    def __init__(self, authenticate: Authenticate, limits: RateLimits, uses: KeyUses) -> None:
        super().__init__(limits)
        self._authenticate = authenticate
        self._uses = uses

    def identify(self, tx: ReadTx, call: Call) -> Caller:
        """Who is calling, as of `tx`. Raises `Problem` `invalid_token`."""
        return self._authenticate(tx, call.token, call.peer, call.possession)

    def admit(self, tx: ReadTx, call: Call, prepared: PreparedOperation) -> Caller:
        """The caller, who may run the operation now. Raises `Problem`, as `identify` does or why not."""
        return self.let(tx, call, self.identify(tx, call), prepared)

    def leave(self, call: Call) -> None:
        """Free the place that the call may have taken, and count it.

        What a key asked for is counted here: once for each call, and after its answer. Chosen: also where that is an
        error, which may say something too, and of every key, as one that nobody watches is the one to look at.
        """
        super().leave(call)
        caller = call.caller
        if call.operation and caller is not None and caller.kind == "api_key":
            self._uses.note(caller.credential_id, call.operation)
