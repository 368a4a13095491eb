"""What work costs (Spec §4, Domain B8), by date, and what can have a price. Setting it is an extension."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from msgspec import Meta

from gatewayd.areas.billing.administration import not_negative, record_for_all
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, LongLimit, Page, PageRequest, listing_of
from gatewayd.contract.wire import CreditsText, Date, Request, project
from gatewayd.errors import FieldError, invalid
from gatewayd.identity.people.users import require_administrator
from gatewayd.ledger.credits import costs
from gatewayd.ledger.credits.shapes import CostRow, OperationCost, OperationName, Unit
from gatewayd.store import ReadTx, WriteTx

PricedWork = Mapping[str, tuple[Unit, ...]]
"""Every operation and every other work that is charged for, and by which units."""

IMPORTED: Final = "billing.importEntries"
"""What imported usage is said to be of, where nothing else is known of it."""
_MOST_NAMED: Final = 3


class GetOperationCosts(PageRequest, frozen=True, kw_only=True):
    """Of which day."""

    former_names: ClassVar = {"at": "asOfDate"}

    limit: LongLimit = 500
    as_of_date: Date | None = None
    """The day, in London, whose costs are told. By default today."""


class SetOperationCost(Request, frozen=True, kw_only=True):
    """What one unit of work costs from a day on."""

    operation: OperationName
    credits: CreditsText
    """The price of one unit; 0: it is free."""
    unit: Unit = "call"
    effective_from: Date | None = None
    """The first day, in London, not in the past. By default today."""
    description: Annotated[str, Meta(min_length=1, max_length=500)] | None = None


def get_operation_costs(
    tx: ReadTx, caller: Caller, request: GetOperationCosts, *, priced: PricedWork
) -> Listing[OperationCost]:
    """List what work costs on a day. What is not listed is free."""
    date = tx.today if request.as_of_date is None else request.as_of_date.isoformat()
    rows = [_shown_cost(row, priced) for row in costs.on(tx, date)]
    return listing_of(request, rows, lambda cost: f"{cost.operation} {cost.unit}")


def set_operation_cost(tx: WriteTx, caller: Caller, request: SetOperationCost, *, priced: PricedWork) -> OperationCost:
    """Let work cost so much from a day on, until the next cost that is known. An administrator of the instance does.

    It is for all organizations of the instance that have a plan. What was charged stays as it was. Operations are
    charged by the call; what is priced apart has its own units, as `vault.parse` by page and by mb. A cost of 0
    removes a name of another version, under which this one charges nothing.
    """
    require_administrator(tx, caller)
    cost = CostRow(
        operation=request.operation,
        unit=request.unit,
        credits=not_negative("credits", request.credits),
        effective_from=tx.today if request.effective_from is None else request.effective_from.isoformat(),
        effective_to=None,
        description=request.description,
    )
    name, unit = cost.operation, cost.unit
    faults = (name_fault("operation", name, priced), unit_fault("unit", unit, name, priced))
    if not any(faults):
        cost = costs.put(tx, cost)
    elif not cost.credits and costs.lasts(tx, name, unit, cost.effective_from):
        costs.end(tx, name, unit, cost.effective_from)
    else:
        raise invalid(*(fault for fault in faults if fault is not None))
    record_for_all(tx, caller, "cost.set", name)
    return _shown_cost(cost, priced)


def _shown_cost(row: CostRow, priced: PricedWork) -> OperationCost:
    return project(row, OperationCost, known=row.unit in priced.get(row.operation, ()))


def name_fault(path: str, name: str, priced: PricedWork) -> FieldError | None:
    """What is wrong with a name that nothing is ever charged under, with those that were probably meant."""
    if name in priced:
        return None
    nearest = _nearest(name, priced)
    meant = f": did you mean {' or '.join(nearest)}?" if nearest else "; operations have their ids."
    return FieldError(path, "unknown_reference", f"Nothing is charged as {name}{meant}")


def unit_fault(path: str, unit: Unit, name: str, priced: PricedWork) -> FieldError | None:
    """What is wrong with a unit that such work is not counted in."""
    units = priced.get(name, (unit,))
    return None if unit in units else FieldError(path, "conflict", f"{name} is charged by {' and by '.join(units)}.")


def _nearest(name: str, priced: PricedWork) -> list[str]:
    """Names that are written alike, letter case apart; else those of the same last word."""
    from difflib import get_close_matches  # for mistakes alone

    folded = {known.lower(): known for known in priced}
    alike = get_close_matches(name.lower(), folded, _MOST_NAMED, cutoff=0.7)
    last = name.rpartition(".")[2].lower()
    return [folded[key] for key in alike] or sorted(
        known for known in priced if known.lower().rpartition(".")[2] == last
    )[:_MOST_NAMED]


OPERATIONS = (
    Operation(
        id="billing.getOperationCosts",
        kind="read",
        method="GET",
        path="/billing/costs",
        scopes=("billing:read",),
        request=GetOperationCosts,
        response=Page[OperationCost],
        handler=AT_CATALOGUE,
        example={"asOfDate": "2026-11-20"},
    ),
    Operation(
        id="billing.setOperationCost",
        kind="write",
        method="POST",
        path="/billing/costs",
        scopes=("billing:write",),
        request=SetOperationCost,
        response=OperationCost,
        handler=AT_CATALOGUE,
        errors=("conflict", "forbidden", "limit_reached", "out_of_range", "unknown_reference"),
        extension=True,
        example={"operation": "vault.parse", "unit": "page", "credits": "0.5", "description": "Reading a document"},
    ),
)
