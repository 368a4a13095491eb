"""Who owes what (Domain B5): aged debtors and creditors, and statements of account, their handlers and rows."""

import datetime

from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.invoices.papers import PDF
from gatewayd.areas.accounting.receivables import ageing, balances, movements, payables, placing, statement
from gatewayd.areas.accounting.receivables.shapes import (
    DEFAULT_BAND_ENDS,
    LINES_MAX,
    AgedCreditors,
    AgedDebtors,
    ClientAges,
    CreditorAges,
    GetAgedCreditors,
    GetAgedDebtors,
    GetStatement,
    Statement,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import WrittenFile
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import project
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger import references
from gatewayd.ledger.references import Reference
from gatewayd.store import ReadTx


def aged_debtors(tx: ReadTx, caller: Caller, request: GetAgedDebtors) -> AgedDebtors:
    """Say who owed what at the end of a day, by how long it was due, in each currency apart.

    Counted is what was issued by that day, less credit notes and payments by then; what is void today is left out. A
    credit that a client has in hand is told beside and taken from no band.
    """
    day = tx.today if request.as_of_date is None else request.as_of_date.isoformat()
    ends = ageing.checked(request.band_ends or DEFAULT_BAND_ENDS, "bandEnds")
    named = [
        Reference("legalEntityId", "legal_entity", request.legal_entity_id),
        Reference("clientId", "client", request.client_id),
    ]
    if errors := [*references.unknown(tx, named)]:
        raise invalid(*errors)
    wanted = balances.Wanted(request.client_id, request.currency, request.legal_entity_id)
    bands = ageing.bands(ends)
    found = balances.at_end_of(tx, day, ageing.first_due_dates(ends, day), wanted)
    return AgedDebtors(
        as_of_date=day,
        bands=bands,
        totals=placing.totals(found, len(bands)),
        clients=[
            project(amounts, ClientAges, client_id=whose.id, client_name=whose.name)
            for whose, amounts in placing.by_name(found, len(bands))
        ],
    )


def aged_creditors(tx: ReadTx, caller: Caller, request: GetAgedCreditors) -> AgedCreditors:
    """Say who was owed what at the end of a day, by how long it was due, in each currency apart.

    Counted are the bills and expense claims of that day and before, less credit notes and payments by then; what is
    void today is left out. What a supplier has to pay back is told beside and taken from no band.
    """
    day = tx.today if request.as_of_date is None else request.as_of_date.isoformat()
    ends = ageing.checked(request.band_ends or DEFAULT_BAND_ENDS, "bandEnds")
    named = [
        Reference("legalEntityId", "legal_entity", request.legal_entity_id),
        Reference("supplierId", "client", request.supplier_id),
    ]
    if errors := [*references.unknown(tx, named)]:
        raise invalid(*errors)
    wanted = payables.Wanted(request.supplier_id, request.claimant, request.currency, request.legal_entity_id)
    bands = ageing.bands(ends)
    found = payables.at_end_of(tx, day, ageing.first_due_dates(ends, day), wanted)
    return AgedCreditors(
        as_of_date=day,
        bands=bands,
        totals=placing.totals(found, len(bands)),
        creditors=[
            project(amounts, CreditorAges, supplier_id=whose.id, name=whose.name)
            for whose, amounts in placing.by_name(found, len(bands))
        ],
    )


def get_statement(tx: ReadTx, caller: Caller, request: GetStatement) -> Statement:
    """Get a client's statement of account: what changed it between two days, or the invoices that are open.

    Each currency is an account of its own. The balance at the end is what `accounting.agedDebtors` says of that day.
    """
    client = CLIENTS.get(tx, request.client_id)
    first, last = _days(tx, request)
    if errors := [*references.unknown(tx, [Reference("legalEntityId", "legal_entity", request.legal_entity_id)])]:
        raise invalid(*errors)
    filters = {"currency": request.currency, "legal_entity_id": request.legal_entity_id}
    known = {name: value for name, value in filters.items() if value is not None}
    found = movements.of_client(tx, client.id, last, known)
    firsts = ageing.first_due_dates(DEFAULT_BAND_ENDS, last)
    accounts = statement.of_open(found, firsts) if first is None else statement.of_days(found, first, firsts)
    _refuse_long(sum(len(account.lines) for account in accounts))
    return Statement(
        client_id=client.id,
        client_name=client.name,
        kind=request.kind,
        from_date=first,
        to_date=last,
        bands=ageing.bands(DEFAULT_BAND_ENDS),
        currencies=accounts,
    )


def _days(tx: ReadTx, request: GetStatement) -> tuple[str | None, str]:
    """First and last day, ISO. Raises `Problem` `validation_failed`."""
    last = datetime.date.fromisoformat(tx.today) if request.to_date is None else request.to_date
    if request.from_date is not None and request.from_date > last:
        message = f"It is before fromDate, {request.from_date}: expected that day or a later one."
        raise invalid_field("toDate", "date_order", message)
    if request.kind == "activity":
        return (request.from_date or _month_before(last)).isoformat(), last.isoformat()
    if request.from_date is not None:
        raise invalid_field("fromDate", "conflict", "What is outstanding on a day has no first day: leave this out.")
    return None, last.isoformat()


def _month_before(day: datetime.date) -> datetime.date:
    """Chosen: two months, of which the second is under way, are what a client has at hand to compare."""
    ordinal = max(day.replace(day=1).toordinal() - 1, 1)
    return datetime.date.fromordinal(ordinal).replace(day=1)


def _refuse_long(lines: int) -> None:
    if lines > LINES_MAX:
        message = (
            f"The statement would have {lines} lines: expected {LINES_MAX} at most, of fewer days or one currency."
        )
        raise invalid_field("fromDate", "out_of_range", message)


OPERATIONS = (
    Operation(
        id="accounting.agedDebtors",
        kind="read",
        method="GET",
        path="/invoices/aged-debtors",
        scopes=("accounting:read",),
        request=GetAgedDebtors,
        response=AgedDebtors,
        handler=aged_debtors,
        long=True,
        extension=True,
        example={"asOfDate": "2026-11-20", "bandEnds": [30, 60, 90]},
    ),
    Operation(
        id="accounting.agedCreditors",
        kind="read",
        method="GET",
        path="/bills/aged-creditors",
        scopes=("accounting:read",),
        request=GetAgedCreditors,
        response=AgedCreditors,
        handler=aged_creditors,
        long=True,
        extension=True,
        example={"asOfDate": "2026-11-20", "bandEnds": [30, 60, 90]},
    ),
    Operation(
        id="accounting.getStatement",
        kind="read",
        method="GET",
        path="/clients/:clientId/statement",
        scopes=("accounting:read",),
        request=GetStatement,
        response=Statement,
        handler=get_statement,
        long=True,
        extension=True,
        example={"clientId": "cli_01k0000000000000000000000a", "fromDate": "2026-10-01", "toDate": "2026-11-20"},
    ),
    Operation(
        id="accounting.getStatementPdf",
        kind="call",
        method="GET",
        path="/clients/:clientId/statement/pdf",
        scopes=("accounting:read",),
        request=GetStatement,
        response=WrittenFile,
        handler=AT_CATALOGUE,
        errors=("gone", "invalid_state"),
        gives_file=PDF,
        extension=True,
        example={"clientId": "cli_01k0000000000000000000000a", "kind": "outstanding"},
    ),
)
