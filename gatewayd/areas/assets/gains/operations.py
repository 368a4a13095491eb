"""Gains of a person (Domain C5, F.3, F.4): their operations, which only read."""

from typing import Final

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS
from gatewayd.areas.assets.gains import comparing, disposals, explaining, forecast, report
from gatewayd.areas.assets.gains.disposals import ALWAYS, listed, pooling_owner, year_range
from gatewayd.areas.assets.gains.explaining import Subject
from gatewayd.areas.assets.gains.shapes import (
    CapitalGains,
    ComparedPools,
    ComparePools,
    Disposal,
    ExplainedDay,
    ExplainPosition,
    GainForecast,
    GetCapitalGains,
    GetGainForecast,
    ListDisposals,
)
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import WrittenFile
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger import csv_text
from gatewayd.ledger.references import Reference, unknown
from gatewayd.store import ReadTx

_CSV: Final = "text/csv"
_PERSON: Final = {"legalEntityId": "ent_01k0000000000000000000000b"}
_POSITION: Final = {**_PERSON, "instrumentId": "ins_01k0000000000000000000000a"}


def list_disposals(tx: ReadTx, caller: Caller, request: ListDisposals) -> Listing[Disposal]:
    """List the disposals of a person, oldest first: by day and instrument, matched as the law says.

    Over all accounts without a wrapper. `cost` has in it what was matched; a disposal is provisional for 30 days.
    """
    pooling_owner(tx, request.legal_entity_id, request.instrument_id)
    date, instrument_id = cursor_key(request, str, str) or ("", "")
    after = (str(date), str(instrument_id))
    following = listed(tx, request.legal_entity_id, _requested_days(request), request.instrument_id, after)
    written = ((disposal, encode(disposal)) for disposal in following)
    taken, more = fill(written, request.limit, lambda pair: len(pair[1]))
    cursor = next_cursor(request, (taken[-1][0].date, taken[-1][0].instrument_id)) if more else None
    return Listing.of([wire for _, wire in taken], cursor)


def _requested_days(request: ListDisposals) -> Range:
    if request.tax_year is not None:
        if request.from_date is not None or request.to_date is not None:
            raise invalid_field("taxYear", "conflict", "Give taxYear, or fromDate and toDate, not both.")
        return year_range(request.tax_year)
    first = ALWAYS[0] if request.from_date is None else request.from_date.isoformat()
    last = ALWAYS[1] if request.to_date is None else request.to_date.isoformat()
    if last < first:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    return Range(first, last)


def capital_gains(tx: ReadTx, caller: Caller, request: GetCapitalGains) -> CapitalGains:
    """Add up the disposals of a tax year as the capital gains pages of a return ask for them (SA108).

    Gains of offshore funds that do not report are income, and exempt disposals count for nothing: both stand apart. A
    loss of such a fund is a capital loss all the same.
    Companies have other rules, and are refused.
    """
    owner = pooling_owner(tx, request.legal_entity_id)
    days = year_range(request.tax_year)
    return report.report(tx, owner, request.tax_year, days, list(listed(tx, owner.id, days)))


def export_capital_gains(tx: ReadTx, caller: Caller, request: GetCapitalGains) -> WrittenFile:
    """Write the disposals of a tax year as CSV, with what each was matched with.

    A name that a spreadsheet would take for a formula has an apostrophe before it.
    """
    owner = pooling_owner(tx, request.legal_entity_id)
    lines = csv_text.lines(disposals.sheet_rows(listed(tx, owner.id, year_range(request.tax_year))))
    return WrittenFile(b"".join(lines), f"capital-gains-{request.tax_year}.csv", _CSV)


def explain_position(tx: ReadTx, caller: Caller, request: ExplainPosition) -> Listing[ExplainedDay]:
    """List the days that made a position, oldest first: transactions, matched acquisitions, the pool before and after.

    Of an account, at its average cost, or of the pool of a legal entity over all accounts without a wrapper.
    """
    until = tx.today if request.as_of_date is None else request.as_of_date.isoformat()
    key = cursor_key(request, str)
    after = "" if key is None else str(key[0])
    explained = explaining.explain(tx, _subject(tx, request), until, after, request.limit)
    cursor = None if explained.following is None else next_cursor(request, (explained.following,))
    return Listing.of([encode(day) for day in explained.days], cursor)


def _subject(tx: ReadTx, request: ExplainPosition) -> Subject:
    if request.account_id is None and request.legal_entity_id is not None:
        owner = pooling_owner(tx, request.legal_entity_id, request.instrument_id)
        return Subject(Key(owner.id, request.instrument_id), True, POOL_CURRENCY)
    if request.account_id is None or request.legal_entity_id is not None:
        raise invalid_field("accountId", "required", "Give accountId or legalEntityId.")
    named = [Reference("accountId", "asset_account", request.account_id)]
    errors = list(unknown(tx, [*named, Reference("instrumentId", "instrument", request.instrument_id)]))
    if errors:
        raise invalid(*errors)
    account = ACCOUNTS.get(tx, request.account_id)
    currency = PORTFOLIOS.get(tx, account.portfolio_id).base_currency
    return Subject(Key(account.id, request.instrument_id), False, currency)


def gain_forecast(tx: ReadTx, caller: Caller, request: GetGainForecast) -> GainForecast:
    """Tell which disposals of the last 30 days may still be matched, until when, and what buying again would change.

    An instrument that is bought on `doNotRebuyBefore` or later is not matched with that disposal any more.
    """
    owner = pooling_owner(tx, request.legal_entity_id, request.instrument_id)
    bought = None
    if request.quantity is not None or request.unit_price is not None:
        if request.instrument_id is None or request.quantity is None or request.unit_price is None:
            message = "A purchase has instrumentId, quantity and unitPrice."
            raise invalid_field("instrumentId", "required", message)
        if request.quantity.startswith("-") or request.unit_price.startswith("-"):
            raise invalid_field("quantity", "out_of_range", "Expected 0 or more, as of `unitPrice`.")
        bought = forecast.purchase(request.instrument_id, request.quantity, request.unit_price)
    return forecast.forecast(tx, owner.id, request.instrument_id, bought)


def compare_pools(tx: ReadTx, caller: Caller, request: ComparePools) -> ComparedPools:
    """Compare the pools of a person over all brokers with each broker's average cost, and tell why they differ.

    What they differ by is told event by event: disposals, returns of capital beyond the cost, and what gifts to and
    from a spouse, mergers and spin-offs carried along.
    """
    owner = pooling_owner(tx, request.legal_entity_id, request.instrument_id)
    return ComparedPools(legal_entity_id=owner.id, data=comparing.compare(tx, owner.id, request.instrument_id))


OPERATIONS = (
    Operation(
        id="assets.listDisposals",
        kind="read",
        method="GET",
        path="/assets/listDisposals",
        scopes=("accounting:read",),
        request=ListDisposals,
        response=Page[Disposal],
        handler=list_disposals,
        held=HeldBy(entity="legal_entity_id"),
        errors=("conflict", "date_order", "invalid_format", "unknown_reference"),
        long=True,
        extension=True,
        example={**_PERSON, "taxYear": "2026-27"},
    ),
    Operation(
        id="assets.capitalGains",
        kind="read",
        method="GET",
        path="/assets/capitalGains",
        scopes=("accounting:read",),
        request=GetCapitalGains,
        response=CapitalGains,
        handler=capital_gains,
        held=HeldBy(entity="legal_entity_id"),
        errors=("conflict", "invalid_format", "unknown_reference"),
        long=True,
        extension=True,
        example={**_PERSON, "taxYear": "2026-27"},
    ),
    Operation(
        id="assets.exportCapitalGains",
        kind="read",
        method="GET",
        path="/assets/exportCapitalGains",
        scopes=("accounting:read",),
        request=GetCapitalGains,
        response=WrittenFile,
        handler=export_capital_gains,
        held=HeldBy(entity="legal_entity_id"),
        gives_file=_CSV,
        errors=("conflict", "invalid_format", "unknown_reference"),
        long=True,
        extension=True,
        example={**_PERSON, "taxYear": "2026-27"},
    ),
    Operation(
        id="assets.explainPosition",
        kind="read",
        method="GET",
        path="/assets/explainPosition",
        scopes=("accounting:read",),
        request=ExplainPosition,
        response=Page[ExplainedDay],
        handler=explain_position,
        held=HeldBy(entity="legal_entity_id", leads={"account_id": "asset_account"}),
        errors=("conflict", "required", "unknown_reference"),
        extension=True,
        example=_POSITION,
    ),
    Operation(
        id="assets.gainForecast",
        kind="read",
        method="GET",
        path="/assets/gainForecast",
        scopes=("accounting:read",),
        request=GetGainForecast,
        response=GainForecast,
        handler=gain_forecast,
        held=HeldBy(entity="legal_entity_id"),
        errors=("conflict", "out_of_range", "required", "unknown_reference"),
        extension=True,
        example={**_POSITION, "quantity": "100", "unitPrice": "4.82"},
    ),
    Operation(
        id="assets.comparePools",
        kind="read",
        method="GET",
        path="/assets/comparePools",
        scopes=("accounting:read",),
        request=ComparePools,
        response=ComparedPools,
        handler=compare_pools,
        held=HeldBy(entity="legal_entity_id"),
        errors=("conflict", "unknown_reference"),
        long=True,
        extension=True,
        example=_PERSON,
    ),
)
