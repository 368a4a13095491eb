"""Income events (Spec §4, Domain A3 and B3): their operation."""

from collections.abc import Iterator
from fractions import Fraction

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS
from gatewayd.areas.assets.books.transactions import INCOME_KINDS, AssetTransaction
from gatewayd.areas.assets.income import rows
from gatewayd.areas.assets.income.rows import Event
from gatewayd.areas.assets.income.shapes import IncomeEvent, IncomeEventPage, IncomeStatus, ListIncomeEvents
from gatewayd.areas.assets.pools import reading
from gatewayd.clock import days_after
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger import references
from gatewayd.ledger.dates.tax_calendar import is_tax_year, tax_year_of
from gatewayd.ledger.references import unknown_reference
from gatewayd.money import canonical, exponent, half_up
from gatewayd.store import ReadTx

_PLACES = 12  # what a decimal of the wire has


def list_income_events(tx: ReadTx, caller: Caller, request: ListIncomeEvents) -> Listing[IncomeEvent]:
    """List what accounts with assets earned, latest pay date first.

    Events follow from transactions. `totals` are of everything that the filter finds. Excess reportable income counts
    6 months after the end of the fund's period, and is expected until then. What was reversed is cancelled, and shown
    with `status=cancelled` alone. `ukCategory` says as what it is taxed.
    """
    errors = list(_request_errors(tx, request))
    if errors:
        raise invalid(*errors)
    items: list[bytes] = []
    today = tx.today

    def size(event: Event) -> int:
        items.append(encode(_shown_event(event, _quantity(tx, event.transaction), today)))
        return len(items[-1])

    key = cursor_key(request, str, str)
    events = rows.events(tx, request, None if key is None else (key[0], key[1]))
    taken, more = fill(events, request.limit, size)
    cursor = next_cursor(request, (taken[-1].pay_date, taken[-1].transaction.id)) if more else None
    return Listing.of(items[: len(taken)], cursor, b',"totals":%b' % encode(rows.totals_of(tx, request)))


def _request_errors(tx: ReadTx, request: ListIncomeEvents) -> Iterator[FieldError]:
    if request.portfolio_id is not None and PORTFOLIOS.find(tx, request.portfolio_id) is None:
        yield unknown_reference("portfolioId", "portfolio")
    if request.account_id is not None and ACCOUNTS.find(tx, request.account_id) is None:
        yield unknown_reference("accountId", "asset_account")
    if request.instrument_id is not None and INSTRUMENTS.find(tx, request.instrument_id) is None:
        yield unknown_reference("instrumentId", "instrument")
    owner = references.Reference("legalEntityId", "legal_entity", request.legal_entity_id)
    yield from references.unknown(tx, [owner])
    if request.tax_year is not None and not is_tax_year(request.tax_year):
        yield FieldError("taxYear", "invalid_format", "Expected a tax year, such as 2026-27.")
    if request.tax_year is not None and (request.from_date or request.to_date):
        yield FieldError("taxYear", "conflict", "Give a tax year or dates, not both.")
    if request.from_date and request.to_date and request.to_date < request.from_date:
        yield FieldError("toDate", "date_order", "It is before fromDate: expected that day or a later one.")


def _quantity(tx: ReadTx, row: AssetTransaction) -> Fraction | None:
    """How many units an income is of: as given, else what was held before the ex-date, or without one on the day."""
    if row.quantity is not None:
        return Fraction(row.quantity)
    if row.instrument_id is None:
        return None
    date = row.trade_date if row.ex_date is None else days_after(row.ex_date, -1)
    held = reading.quantity_held(tx, row.account_id, row.instrument_id, date)
    return held if held > 0 else None


def _shown_event(event: Event, quantity: Fraction | None, today: str) -> IncomeEvent:
    row, pay_date, category = event
    gross, gross_base = row.gross_amount, row.gross_base
    assert gross is not None
    assert gross_base is not None
    return IncomeEvent(
        id=f"inc_{row.id.partition('_')[2]}",  # Chosen: it is its transaction's, so that it stays the same
        transaction_id=row.id,
        account_id=row.account_id,
        portfolio_id=row.portfolio_id,
        legal_entity_id=row.legal_entity_id,
        instrument_id=row.instrument_id,
        kind=INCOME_KINDS[row.type],
        ex_date=row.ex_date,
        pay_date=pay_date,
        status=_status(row, pay_date, today),
        quantity=None if quantity is None else _decimal(quantity),
        per_unit=_per_unit(row, quantity),
        gross=gross,
        withheld_tax=row.taxes,
        net=gross - row.taxes,
        currency=row.currency,
        fx_rate=row.fx_rate,
        base_currency=row.base_currency,
        gross_base=gross_base,
        tax_year=tax_year_of(pay_date),
        uk_category=category,
    )


def _status(row: AssetTransaction, pay_date: str, today: str) -> IncomeStatus:
    if row.reversed_by_id is not None:
        return "cancelled"
    return "expected" if pay_date > today else "received"


def _per_unit(row: AssetTransaction, quantity: Fraction | None) -> str | None:
    """What each unit got: as given, else the amount by units. A stock dividend has none: its price is of new shares."""
    if row.type == "stock_dividend":
        return None
    if row.unit_price is not None or quantity is None or row.gross_amount is None:
        return row.unit_price
    return _decimal(Fraction(row.gross_amount.minor, 10 ** exponent(row.currency)) / quantity)


def _decimal(number: Fraction) -> str:
    """A number that is not below zero, to the 12 places that a decimal has on the wire."""
    integer, rest = divmod(half_up(*(number * 10**_PLACES).as_integer_ratio()), 10**_PLACES)
    return canonical(f"{integer}.{rest:012}")


OPERATIONS = (
    Operation(
        id="assets.listIncomeEvents",
        kind="read",
        method="GET",
        path="/assets/listIncomeEvents",
        scopes=("accounting:read",),
        request=ListIncomeEvents,
        response=IncomeEventPage,
        handler=list_income_events,
        held=HeldBy(
            entity="legal_entity_id",
            leads={"account_id": "asset_account", "portfolio_id": "portfolio"},
            days=Days(tax_year="tax_year"),
        ),
        errors=("conflict", "date_order", "unknown_reference"),
        long=True,
        example={"portfolioId": "prt_01k0000000000000000000000a", "taxYear": "2026-27", "limit": 100},
    ),
)
