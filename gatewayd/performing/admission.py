"""Who may run an operation: authenticate, charge the rate limit, use up what shows a key, check the scope."""

from dataclasses import dataclass, field

import msgspec

from gatewayd.contract.caller import Caller
from gatewayd.contract.scopes import ScopeLacking
from gatewayd.identity.tokens.authentication import Authenticate, Possession
from gatewayd.performing.metering import PricedNames
from gatewayd.performing.prepared import PreparedOperation
from gatewayd.performing.rate_limits import Allowance, RateLimits
from gatewayd.store import ReadTx


@dataclass(slots=True)
class Call:
    """One call on its way through. `started` is on the loop's clock, `peer` the address it came from.

    `token` and `possession` are what it shows of its caller, once that is known; what admission finds out follows. A
    call that was admitted has its `allowance` until it leaves, also one that is refused after all.
    """

    started: float
    peer: str | None
    token: str = field(default="", init=False)
    possession: Possession | None = field(default=None, init=False)
    caller: Caller | None = field(default=None, init=False)
    allowance: Allowance | None = field(default=None, init=False)


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
        return caller

    def leave(self, call: Call) -> None:
        """Free the place among the credential's calls at once that the call may have taken."""
        if call.allowance is not None:
            self._limits.leave(call.allowance)


class Admission(Gate):
    """Admits calls by what they show of their caller."""

    def __init__(self, authenticate: Authenticate, limits: RateLimits) -> None:
        super().__init__(limits)
        self._authenticate = authenticate

    def identify(self, tx: ReadTx, call: Call) -> Caller:
        """Who is calling, as of `tx`. Raises `Problem` `invalid_token`."""
        return self._authenticate(tx, call.token, call.peer, call.possession)

    def admit(self, tx: ReadTx, call: Call, prepared: PreparedOperation) -> Caller:
        """The caller, who may run the operation now. Raises `Problem`, as `identify` does or why not."""
        return self.let(tx, call, self.identify(tx, call), prepared)
