"""A member of the box has a plan: a call that it cannot pay for is refused, credits are given, and the call is done."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from gatewayd.areas.billing import AREA, handlers
from gatewayd.areas.billing.costs import PricedWork
from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed, Response
from gatewayd.cli.run_operation import operation_of, operator_of
from gatewayd.performing.performer import Performer
from gatewayd.performing.prepared import prepare
from gatewayd.store import Store

_CALL: Final = "/crm/createLead"
_PLAN: Final = {"code": "shared-box", "name": "Shared box", "includedCredits": "5"}
_COST: Final = {"operation": "crm.createLead", "credits": "2", "description": "A lead"}
_PRICED: Final[PricedWork] = {_COST["operation"]: ("call",)}
_GIVEN: Final = "10"
_LEADS: Final = ("Alder & Co", "Elm House", "Hornbeam Ltd")


class CreditsScene:
    """The bookkeepers who share the machine, with a key of their own, and the operator."""

    def __init__(self, api: ApiClient, firm: Firm, store: Store) -> None:
        self._firm = firm
        self._api = api
        self._store = store

    async def run(self, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. Raises `DemoFailed`."""
        name = self._firm.practice_name
        await self._operate("billing.createPlan", _PLAN)
        await self._operate("billing.setOperationCost", _COST)
        await self._operate("billing.setPlan", {"code": _PLAN["code"]})
        say(
            f"16. {name} shares this box and has a plan with {_PLAN['includedCredits']} credits a month;"
            f" {_COST['operation']} costs {_COST['credits']}."
        )
        await self._spend(say)
        balance = await self._api.get("/billing/balance")
        used = (await self._api.get("/billing/usage"))["totals"]
        if (balance["available"], used["credits"], used["operations"]) != ("9", "6", len(_LEADS)):
            raise DemoFailed(f"the credits do not add up: {balance} {used}")
        say(f"     {used['operations']} calls for {used['credits']} credits; {balance['available']} are left.")

    async def _spend(self, say: Callable[[str], None]) -> None:
        """Two calls that can be paid for, and one that cannot until credits are given."""
        for number in range(len(_LEADS) - 1):
            (await self._call(number)).expect()
        refused = (await self._call(len(_LEADS) - 1)).expect(402).json()
        if refused["code"] != "insufficient_credits":
            raise DemoFailed(f"the call is refused for something else: {refused}")
        say(
            f"     {len(_LEADS) - 1} leads come in; the next is refused with 402 {refused['code']}: {refused['detail']}"
        )
        await self._operate("billing.grantCredits", {"amount": _GIVEN})
        say(f"     The operator: gatewayd credits grant --org {self._firm.practice_id} --amount {_GIVEN}")
        done = (await self._call(len(_LEADS) - 1)).expect().json()
        again = (await self._call(len(_LEADS) - 1)).expect().json()
        if done != again:
            raise DemoFailed("the call was made twice under one key")
        say(f"     The same call is done: {done['id']}. Sent once more under its key, it costs nothing.")

    async def _call(self, number: int) -> Response:
        headers = {**self._api.authorization, "Idempotency-Key": f"demo-lead-{number}"}
        return await self._api.http.post_json(
            self._api.base + _CALL, {"source": "website", "name": _LEADS[number]}, headers
        )

    async def _operate(self, operation_id: str, values: Mapping[str, Any]) -> None:
        """Run a row of billing as the command line does."""
        operation = operation_of(AREA, operation_id, handlers(_PRICED))
        request = prepare(operation).decoder.body(msgspec.json.encode(values))
        await Performer(self._store).perform(operation, operator_of(self._firm.practice_id), request)
