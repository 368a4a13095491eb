"""Performance, and of what it all consists (Domain C11): extensions, which only read."""

from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.areas.assets.performance import allocating, measuring, records
from gatewayd.areas.assets.performance.history import History
from gatewayd.areas.assets.performance.measuring import Span
from gatewayd.areas.assets.performance.records import Subject
from gatewayd.areas.assets.performance.shapes import AssetAllocation, GetAssetAllocation, GetPerformance, Performance
from gatewayd.areas.assets.positions import choosing
from gatewayd.areas.assets.positions.choosing import Choice
from gatewayd.areas.assets.positions.shapes import ListPositions
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger.references import unknown_reference
from gatewayd.store import ReadTx

EARLIEST_DATE = "1900-01-01"  # Domain B3: of a trade
_PORTFOLIO = {"portfolioId": "prt_01k0000000000000000000000a"}


def performance(tx: ReadTx, caller: Caller, request: GetPerformance) -> Performance:
    """Measure what was earned: money-weighted, time-weighted, and in money; of a portfolio, account or position.

    `interval` adds what it was worth at the end of each month, quarter or year. A return that would need a price that
    nobody recorded is null.
    """
    choice = _choice(tx, request)
    if request.instrument_id is not None:
        if INSTRUMENTS.find(tx, request.instrument_id) is None:
            raise invalid(unknown_reference("instrumentId", "instrument"))
        if request.basis == "with_cash":
            message = "Cash is of no instrument: leave `instrumentId` out, or ask for another basis."
            raise invalid_field("basis", "conflict", message)
    last = tx.today if request.to_date is None else request.to_date.isoformat()
    if not EARLIEST_DATE <= last <= tx.today:
        raise invalid_field("toDate", "out_of_range", "Expected a day from 1900-01-01 to today.")
    subject = Subject(frozenset(accounts_of(choice)), base_of(choice), request.instrument_id, last)
    history = History(tx, subject, records.read(tx, subject), with_cash=request.basis == "with_cash")
    first = min(history.first_day() or last, last) if request.from_date is None else request.from_date.isoformat()
    if first < EARLIEST_DATE:
        raise invalid_field("fromDate", "out_of_range", "Expected a day from 1900-01-01 on.")
    if first > last:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    return measuring.measure(history, Span(first, last, request.interval), subject.base, request.basis)


def allocation(tx: ReadTx, caller: Caller, request: GetAssetAllocation) -> AssetAllocation:
    """Tell of what positions and cash consist: by class of assets, currency and country."""
    choice = _choice(tx, request)
    return allocating.allocate(tx, choice, base_of(choice), accounts_of(choice))


def _choice(tx: ReadTx, request: GetPerformance | GetAssetAllocation) -> Choice:
    day = request.as_of_date if isinstance(request, GetAssetAllocation) else None
    named = ListPositions(
        portfolio_id=request.portfolio_id,
        account_id=request.account_id,
        legal_entity_id=request.legal_entity_id,
        as_of_date=day,
    )
    return choosing.choose(tx, named)


def accounts_of(choice: Choice) -> list[str]:
    """The accounts that are asked for."""
    whose = choice.whose
    if whose.account_id is not None:
        return [whose.account_id]
    return [
        id_
        for id_, place in choice.places.items()
        if whose.portfolio_id is None or place.portfolio_id == whose.portfolio_id
    ]


def base_of(choice: Choice) -> str:
    """The base currency of the accounts. Raises `Problem` `validation_failed` where there are several."""
    currencies = sorted({choice.places[id_].base_currency for id_ in accounts_of(choice)})
    if len(currencies) > 1:
        message = f"Its portfolios are kept in {' and '.join(currencies)}: ask for each of them."
        raise invalid_field("legalEntityId", "conflict", message)
    return currencies[0] if currencies else "GBP"


OPERATIONS = (
    Operation(
        id="assets.performance",
        kind="read",
        method="GET",
        path="/assets/performance",
        scopes=("accounting:read",),
        request=GetPerformance,
        response=Performance,
        handler=performance,
        held=HeldBy(entity="legal_entity_id", leads={"account_id": "asset_account", "portfolio_id": "portfolio"}),
        errors=("conflict", "date_order", "out_of_range", "required", "unknown_reference"),
        long=True,
        extension=True,
        example={**_PORTFOLIO, "fromDate": "2026-04-06", "interval": "month"},
    ),
    Operation(
        id="assets.allocation",
        kind="read",
        method="GET",
        path="/assets/allocation",
        scopes=("accounting:read",),
        request=GetAssetAllocation,
        response=AssetAllocation,
        handler=allocation,
        held=HeldBy(entity="legal_entity_id", leads={"account_id": "asset_account", "portfolio_id": "portfolio"}),
        errors=("conflict", "out_of_range", "required", "unknown_reference"),
        long=True,
        extension=True,
        example=_PORTFOLIO,
    ),
)
