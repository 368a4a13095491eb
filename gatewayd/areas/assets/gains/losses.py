"""Losses of persons that are carried forward (Domain C5): extensions."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gatewayd.areas.assets.gains import rates
from gatewayd.areas.assets.gains.disposals import pooling_owner, year_range
from gatewayd.areas.assets.gains.return_shapes import (
    CapitalLosses,
    Claim,
    ListCapitalLosses,
    LossYear,
    RecordCapitalLoss,
)
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.errors import FieldError, gathered, invalid, invalid_field
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.dates.tax_calendar import bounds, first_year_of, tax_year, tax_year_of
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_PERSON = {"legalEntityId": "ent_01k0000000000000000000000b"}
_CLAIM_YEARS = 4
_SELECT = """
SELECT tax_year, elsewhere, claimed_date, notes FROM capital_losses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY tax_year
"""
_DELETE = """
DELETE FROM capital_losses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND tax_year = :tax_year
"""
_INSERT = """
INSERT INTO capital_losses (org_id, legal_entity_id, tax_year, elsewhere, claimed_date, notes)
VALUES (:org_id, :legal_entity_id, :tax_year, :elsewhere, :claimed_date, :notes)
"""
_SELECT_GAINS = """
SELECT d.date, d.gain FROM asset_days AS d
JOIN instruments AS i ON i.org_id = :org_id AND i.id = d.instrument_id AND i.cgt_exempt = 0
WHERE d.org_id = :org_id AND d.scope_id = :legal_entity_id AND d.disposes = 1 AND d.date <= :last
    AND d.gain IS NOT NULL AND (d.gain < 0 OR coalesce(i.reporting_fund, 1) = 1)
"""


def record_capital_loss(tx: WriteTx, caller: Caller, request: RecordCapitalLoss) -> LossYear:
    """Record the losses of a tax year on assets that are not kept here, and when those of the year were claimed.

    What was recorded of that year earlier is replaced; without a loss and a date nothing is kept of it.
    """
    errors: list[FieldError] = []
    owner = gathered(errors, pooling_owner, tx, request.legal_entity_id)
    days = gathered(errors, year_range, request.tax_year)
    elsewhere = gathered(errors, _loss, request.elsewhere)
    claimed = None if request.claimed_date is None else request.claimed_date.isoformat()
    if days is not None and days.first > tx.today:
        errors.append(FieldError("taxYear", "out_of_range", f"It begins on {days.first}: expected one that has begun."))
    elif days is not None and claimed is not None and not days.first <= claimed <= tx.today:
        message = f"Expected a date from {days.first}, the first day of the tax year, to {tx.today}."
        errors.append(FieldError("claimedDate", "out_of_range", message))
    if errors or owner is None or days is None or elsewhere is None:
        raise invalid(*errors)
    period_locks.refuse_closed(tx, owner.id, days.last)
    record(tx, owner.id, request.tax_year, Recorded(elsewhere.minor, claimed, request.notes))
    return years(tx, owner, request.tax_year)[-1]


def _loss(text: str) -> Money:
    try:
        amount = Money.of(text, POOL_CURRENCY)
    except ValueError as error:
        raise invalid_field("elsewhere", "invalid_decimal", f"{error}.") from None
    if amount.minor < 0:
        raise invalid_field("elsewhere", "out_of_range", "A loss is written without a sign: expected 0 or more.")
    return amount


def list_capital_losses(tx: ReadTx, caller: Caller, request: ListCapitalLosses) -> CapitalLosses:
    """List the losses of a person by tax year: what was brought forward, used, and carried forward.

    A year's losses come off its own gains; losses brought forward come off what is left above the exempt amount.
    """
    owner = pooling_owner(tx, request.legal_entity_id)
    year = request.tax_year or tax_year_of(tx.today)
    year_range(year)
    return CapitalLosses(legal_entity_id=owner.id, data=years(tx, owner, year))


class Recorded(NamedTuple):
    """What was recorded of a year's losses: pence of assets that are not kept here, and when they were claimed."""

    elsewhere: int = 0
    claimed_date: str | None = None
    notes: str | None = None


def record(tx: WriteTx, legal_entity_id: str, year: str, told: Recorded) -> None:
    """Replace what was recorded of a year; where there is nothing to record, nothing is kept."""
    tx.run(_DELETE, legal_entity_id=legal_entity_id, tax_year=year)
    if told != Recorded():
        tx.run(_INSERT, legal_entity_id=legal_entity_id, tax_year=year, **told._asdict())


def recorded(tx: ReadTx, legal_entity_id: str) -> dict[str, Recorded]:
    """What was recorded, by tax year."""
    return {year: Recorded(*told) for year, *told in tx.rows(_SELECT, legal_entity_id=legal_entity_id)}


def years(tx: ReadTx, owner: Owner, until: str) -> list[LossYear]:
    """Every tax year up to one, from the first that has a gain, a loss or a record."""
    nets = _nets(tx, owner, until)
    told = {year: recorded_year for year, recorded_year in recorded(tx, owner.id).items() if year[:4] <= until[:4]}
    for year, recorded_year in told.items():
        nets[year] = nets.get(year, 0) - recorded_year.elsewhere
    first = min(int(year[:4]) for year in (*nets, until))
    every = [tax_year(start) for start in range(first, int(until[:4]) + 1)]
    return list(_loss_years(tx.today, owner, [(year, nets.get(year, 0)) for year in every], told))


def _nets(tx: ReadTx, owner: Owner, until: str) -> dict[str, int]:
    """The chargeable gains less the losses of each year, in pence."""
    nets: dict[str, int] = {}
    for date, gain in tx.rows(_SELECT_GAINS, legal_entity_id=owner.id, last=bounds(until)[1]):
        year = tax_year(first_year_of(date))
        nets[year] = nets.get(year, 0) + gain
    return nets


def _loss_years(
    today: str, owner: Owner, nets: list[tuple[str, int]], told: Mapping[str, Recorded]
) -> Iterator[LossYear]:
    brought: int | None = 0
    for year, net in nets:
        recorded_year = told.get(year, Recorded())
        claim_by = bounds(tax_year(int(year[:4]) + _CLAIM_YEARS))[1]
        claim = None if net >= 0 else _claim(recorded_year, today, claim_by)
        used = _used(owner, year, net, brought)
        left = None if brought is None or used is None else brought - used
        if left is not None and net < 0 and claim != "lapsed":
            left -= net
        yield LossYear(
            tax_year=year,
            net=Money(net, POOL_CURRENCY),
            elsewhere=Money(recorded_year.elsewhere, POOL_CURRENCY),
            brought_forward=_money(brought),
            used=_money(used),
            carried_forward=_money(left),
            claim=claim,
            claimed_date=recorded_year.claimed_date,
            claim_by=claim_by,
            notes=recorded_year.notes,
            currency=POOL_CURRENCY,
        )
        brought = left


def _claim(told: Recorded, today: str, claim_by: str) -> Claim:
    if told.claimed_date is not None:
        return "claimed"
    return "open" if today <= claim_by else "lapsed"


def _used(owner: Owner, year: str, net: int, brought: int | None) -> int | None:
    """How much of the losses brought forward a year takes; None: that depends on an exempt amount that is not known."""
    if brought is None:
        return None
    if brought == 0 or net <= 0:
        return 0
    exempt = rates.exempt_amount(year) if owner.is_person else None
    return None if exempt is None else min(brought, max(net - exempt.amount, 0))


def _money(minor: int | None) -> Money | None:
    return None if minor is None else Money(minor, POOL_CURRENCY)


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
        held=HeldBy(entity="legal_entity_id"),
        errors=("conflict", "invalid_format", "unknown_reference"),
        extension=True,
        example={**_PERSON, "taxYear": "2026-27"},
    ),
)
