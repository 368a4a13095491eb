"""Losses of persons that are carried forward (Domain C5): extensions."""

from gatewayd.areas.assets.gains import losses
from gatewayd.areas.assets.gains.disposals import pooling_owner, year_range
from gatewayd.areas.assets.gains.losses import Recorded
from gatewayd.areas.assets.gains.return_shapes import CapitalLosses, ListCapitalLosses, LossYear, RecordCapitalLoss
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.errors import invalid_field
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.dates.tax_calendar import tax_year_of
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_PERSON = {"legalEntityId": "ent_01k0000000000000000000000a"}


def record_capital_loss(tx: WriteTx, caller: Caller, request: RecordCapitalLoss) -> LossYear:
    """Record the losses of a tax year on assets that are not kept here, and when those of the year were claimed.

    What was recorded of the year before is replaced; nothing of it is left where there is no loss and no date.
    """
    owner = pooling_owner(tx, request.legal_entity_id)
    days = year_range(request.tax_year)
    elsewhere = Money.of(request.elsewhere, POOL_CURRENCY)
    if elsewhere.minor < 0:
        raise invalid_field("elsewhere", "out_of_range", "A loss is written without a sign.")
    if days.first > tx.today:
        raise invalid_field("taxYear", "out_of_range", "The tax year is still to come.")
    claimed = None if request.claimed_date is None else request.claimed_date.isoformat()
    if claimed is not None and not days.first <= claimed <= tx.today:
        raise invalid_field("claimedDate", "out_of_range", "It lies before the tax year, or is still to come.")
    period_locks.refuse_closed(tx, owner.id, days.last)
    losses.record(tx, owner.id, request.tax_year, Recorded(elsewhere.minor, claimed, request.notes))
    return losses.years(tx, owner, request.tax_year)[-1]


def list_capital_losses(tx: ReadTx, caller: Caller, request: ListCapitalLosses) -> CapitalLosses:
    """List the losses of a person by tax year: what was brought forward, used, and carried forward.

    A year's losses come off its own gains; losses brought forward come off what is left above the exempt amount.
    """
    owner = pooling_owner(tx, request.legal_entity_id)
    year = request.tax_year or tax_year_of(tx.today)
    year_range(year)
    return CapitalLosses(legal_entity_id=owner.id, data=losses.years(tx, owner, year))


OPERATIONS = (
    Operation(
        id="assets.recordCapitalLoss",
        kind="write",
        method="POST",
        path="/assets/recordCapitalLoss",
        scopes=("accounting:write",),
        request=RecordCapitalLoss,
        response=LossYear,
        handler=record_capital_loss,
        errors=("conflict", "invalid_format", "out_of_range", "period_closed", "unknown_reference"),
        extension=True,
        example={**_PERSON, "taxYear": "2025-26", "elsewhere": "1200.00", "claimedDate": "2026-10-12"},
    ),
    Operation(
        id="assets.listCapitalLosses",
        kind="read",
        method="GET",
        path="/assets/listCapitalLosses",
        scopes=("accounting:read",),
        request=ListCapitalLosses,
        response=CapitalLosses,
        handler=list_capital_losses,
        errors=("conflict", "invalid_format", "unknown_reference"),
        extension=True,
        example={**_PERSON, "taxYear": "2026-27"},
    ),
)
