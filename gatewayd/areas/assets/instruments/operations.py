"""The instrument resource (Spec §4, Domain A3 and B3): its operations. What makes one is a transaction or an import."""

from collections.abc import Iterator

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.assets.books import instruments
from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.instruments import finding, rules
from gatewayd.areas.assets.instruments.shapes import (
    FoundInstruments,
    GetInstrument,
    ListInstruments,
    SearchInstruments,
    UpdateInstrument,
)
from gatewayd.areas.assets.pools import holding_rows, reading
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, invalid, invalid_field
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.store import ReadTx, WriteTx

_HELD = """EXISTS (
    SELECT 1 FROM asset_transactions
    WHERE asset_transactions.org_id = :org_id AND asset_transactions.instrument_id = instruments.id
)"""


def list_instruments(tx: ReadTx, caller: Caller, request: ListInstruments) -> Listing[Instrument]:
    """List instruments, newest first, or in the order of change with `updatedSince`."""
    filters = {
        "asset_class = :asset_class": request.asset_class,
        "currency = :currency": request.currency,
    }
    select = f"{INSTRUMENTS.select} AND {_HELD}" if request.held else INSTRUMENTS.select
    return sync_page(tx, request, Source(INSTRUMENTS, [select]), filters, lambda row: encode(INSTRUMENTS.read(tx, row)))


def search_instruments(tx: ReadTx, caller: Caller, request: SearchInstruments) -> FoundInstruments:
    """Search instruments: by ISIN, SEDOL, FIGI, CUSIP or ticker, then by how these and names begin, then by words.

    A ticker may stand with its exchange: `XLON:VOD` or `VOD.XLON`.
    """
    text = request.q.strip()
    if len(text) < 2:
        raise invalid_field("q", "out_of_range", "Expected two characters or more.")
    return FoundInstruments(data=finding.search(tx, request, text))


def get_instrument(tx: ReadTx, caller: Caller, request: GetInstrument) -> Instrument:
    """Get one instrument."""
    return INSTRUMENTS.get(tx, request.id)


def update_instrument(tx: WriteTx, caller: Caller, request: UpdateInstrument) -> Instrument:
    """Change the given fields of an instrument: an identifier that was unknown or wrong, its name, what is taxed.

    An identifier, and a ticker at its exchange, are those of one instrument. A new ISIN brings a domicile where there
    is none. How gains are treated stays as it is once there are any in a closed period.
    """
    before = INSTRUMENTS.get(tx, request.id, request.expected_version)
    after = INSTRUMENTS.changed(before, request)
    if after.symbol is not None:
        after = replace(after, symbol=after.symbol.upper())
    if after.domicile_country is None and request.domicile_country is UNSET:
        after = replace(after, domicile_country=rules.domicile_of(after.isin))
    errors = list(_mistakes(after))
    if errors:
        raise invalid(*errors)
    _refuse_taken(tx, before, after)
    if (after.cgt_exempt, after.reporting_fund) != (before.cgt_exempt, before.reporting_fund):
        _refuse_closed(tx, after.id)
    return instruments.change(tx, before, after)


def _mistakes(row: Instrument) -> Iterator[FieldError]:
    yield from rules.identifier_mistakes(row, "")
    if row.exchange_mic is not None and row.symbol is None:
        message = "This field is required: what is its ticker at the exchange, such as VOD?"
        yield FieldError("symbol", "required", message)


def _refuse_taken(tx: ReadTx, before: Instrument, after: Instrument) -> None:
    for name in rules.IDENTIFIERS:
        number = getattr(after, name)
        if number is not None and number != getattr(before, name):
            _refuse(finding.by_identifier(tx, name, number), after, name)
    listing = (after.symbol, after.exchange_mic)
    if after.symbol is not None and after.exchange_mic is not None and listing != (before.symbol, before.exchange_mic):
        _refuse(finding.by_listing(tx, after.symbol, after.exchange_mic), after, "symbol")


def _refuse(existing: Instrument | None, row: Instrument, name: str) -> None:
    if existing is not None and existing.id != row.id:
        message = f"An instrument with this {name} exists: {existing.id}. Use that one."
        raise Problem("already_exists", message, extra={"existingId": existing.id, "field": name})


def _refuse_closed(tx: ReadTx, instrument_id: str) -> None:
    """Raises `Problem` `period_closed` where somebody's gains of a closed day would be treated in another way."""
    for pool in (scope for scope in holding_rows.holders(tx, instrument_id) if scope.is_pool):
        for closed in period_locks.closed_ranges(tx, pool.legal_entity_id, overrides=False):
            first = next(reading.disposals(tx, pool.id, Range(*closed), instrument_id), None)
            if first is not None:
                period_locks.refuse_closed(tx, pool.legal_entity_id, first[1].date)


OPERATIONS = (
    Operation(
        id="assets.listInstruments",
        kind="read",
        method="GET",
        path="/assets/listInstruments",
        scopes=("accounting:read",),
        request=ListInstruments,
        response=SyncPage[Instrument],
        handler=list_instruments,
        example={"currency": "GBP", "limit": 20},
    ),
    Operation(
        id="assets.searchInstruments",
        kind="read",
        method="GET",
        path="/assets/searchInstruments",
        scopes=("accounting:read",),
        request=SearchInstruments,
        response=FoundInstruments,
        handler=search_instruments,
        example={"q": "larch", "limit": 5},
    ),
    Operation(
        id="assets.getInstrument",
        kind="read",
        method="GET",
        path="/assets/getInstrument",
        scopes=("accounting:read",),
        request=GetInstrument,
        response=Instrument,
        handler=get_instrument,
        extension=True,
        example={"id": "ins_01k0000000000000000000000a"},
    ),
    Operation(
        id="assets.updateInstrument",
        kind="write",
        method="POST",
        path="/assets/updateInstrument",
        scopes=("accounting:write",),
        request=UpdateInstrument,
        response=Instrument,
        handler=update_instrument,
        errors=("already_exists", "period_closed", "version_conflict"),
        extension=True,
        example={"id": "ins_01k0000000000000000000000a", "name": "Larch Group plc", "expectedVersion": 1},
    ),
)
