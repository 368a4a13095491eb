"""Billing clients as they are stored. Owns the table `clients`.

    wire    the JSON of the client without its balances and the closing brace; its `updatedAt` is put in on serving

A client's balances depend on its invoices and on today; they are added on serving.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.accounting import client_checks
from gatewayd.areas.accounting.clients import rules
from gatewayd.areas.accounting.clients.shapes import DEFAULT_COUNTRY, CreateClient, StoredClient, UpdateClient
from gatewayd.clock import Instant, to_wire
from gatewayd.contract.wire import open_wire
from gatewayd.errors import Problem, invalid
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row, Table, WriteTx


def _search_text(client: StoredClient) -> str:
    texts = (client.name, client.contact_name, client.email, client.company_number, client.vat_number)
    return "\n".join(text.casefold() for text in texts if text)


_UPDATED_AT = b'"updatedAt":"'
_NO_TIME = b"0000-00-00T00:00:00.000Z"


def _unstamped(client: StoredClient) -> bytes:
    """Its JSON, whose `updatedAt` is put in on serving: it moves with balances, which write nothing else anew."""
    return _stamped(open_wire(client), _NO_TIME)


def _stamped(wire: bytes, stamp: bytes) -> bytes:
    at = wire.rindex(_UPDATED_AT) + len(_UPDATED_AT)
    return wire[:at] + stamp + wire[at + len(stamp) :]


CLIENTS = Table(
    "clients",
    StoredClient,
    kind="client",
    prefix="cli",
    derived={
        "status": lambda tx, client: "active" if client.archived_at is None else "archived",
        "cis_registered": lambda tx, client: client.cis_contractor,
    },
    written={
        "name_folded": lambda client: client_checks.folded(client.name),
        "search_text": _search_text,
        "wire": _unstamped,
    },
)
_SELECT_DUPLICATE = """
SELECT id FROM clients
WHERE org_id = :org_id AND id <> :id AND archived_at IS NULL
    AND (name_folded = :name_folded OR vat_number = :vat_number OR company_number = :company_number)
LIMIT 1
"""
_DUE = """
FROM invoices
WHERE invoices.org_id = clients.org_id AND client_id = clients.id AND invoices.currency = clients.currency
    AND open_due_date IS NOT NULL
"""
_OVERPAID = """
FROM invoices
WHERE invoices.org_id = clients.org_id AND client_id = clients.id AND invoices.currency = clients.currency
    AND balance_due < 0
"""
_ON_ACCOUNT = """
FROM client_payments
WHERE client_payments.org_id = clients.org_id AND client_id = clients.id
    AND client_payments.currency = clients.currency
"""
_SUM = "coalesce(sum(balance_due), 0)"
_OF_OTHERS = """
WHERE {table}.org_id = clients.org_id AND client_id = clients.id AND {table}.currency <> clients.currency
"""
_HAS_OTHERS = f"""
(SELECT count(*) FROM invoices {_OF_OTHERS.format(table="invoices")} AND open_due_date IS NOT NULL)
    + (SELECT count(*) FROM invoices {_OF_OTHERS.format(table="invoices")} AND balance_due < 0)
    + (SELECT count(*) FROM client_payments {_OF_OTHERS.format(table="client_payments")} AND on_account <> 0)
""".strip()
BALANCES: Final = f"""
(SELECT {_SUM} {_DUE}), (SELECT {_SUM} {_DUE} AND open_due_date < :today),
    (SELECT coalesce(sum(on_account), 0) {_ON_ACCOUNT}) - (SELECT {_SUM} {_OVERPAID}),
    {_HAS_OTHERS}
"""
"""Columns of a client: outstanding, overdue and credit, minor units of the client's currency, and whether there is
anything in another one: 0 where not."""
_SELECT_BALANCES = f"SELECT {BALANCES} FROM clients WHERE org_id = :org_id AND id = :id"
_OF_ORG = "WHERE org_id = :org_id AND client_id = :id"
_SELECT_BY_CURRENCY = f"""
SELECT currency, sum(outstanding), sum(overdue), sum(credit)
FROM (
    SELECT currency, balance_due AS outstanding,
        CASE WHEN open_due_date < :today THEN balance_due ELSE 0 END AS overdue, 0 AS credit
    FROM invoices {_OF_ORG} AND open_due_date IS NOT NULL
    UNION ALL SELECT currency, 0, 0, -balance_due FROM invoices {_OF_ORG} AND balance_due < 0
    UNION ALL SELECT currency, 0, 0, on_account FROM client_payments {_OF_ORG} AND on_account <> 0
) AS amounts
GROUP BY currency
"""


def add(tx: WriteTx, request: CreateClient, prefix: str) -> StoredClient:
    """Store a new client. `prefix` goes before the paths of fields that are wrong.

    Raises `Problem`: `validation_failed`, `already_exists`, `possible_duplicate`.
    """
    client = _new_client(tx, request, prefix)
    CLIENTS.refuse_taken(tx, client.external_id)
    if not request.allow_duplicate:
        refuse_lookalike(tx, client)
    return CLIENTS.insert(tx, client)


def _new_client(tx: WriteTx, request: CreateClient, prefix: str) -> StoredClient:
    address = request.billing_address
    country = request.country_code or (DEFAULT_COUNTRY if address is None else address.country_code)
    client = CLIENTS.new(
        tx,
        request,
        cc_emails=request.cc_emails or [],
        country_code=country,
        cis_contractor=bool(request.cis_contractor or request.cis_registered),
    )
    errors = [
        *rules.number_mistakes(client, prefix),
        *rules.alias_mistakes(request.cis_contractor, request.cis_registered, prefix),
    ]
    if errors:
        raise invalid(*errors)
    return rules.canonical(client)


def change(tx: WriteTx, before: StoredClient, request: UpdateClient) -> StoredClient:
    """Store what a request changes of a client. Only a name or number that changes may be another client's.

    Raises `Problem`: `validation_failed`, `already_exists`, `possible_duplicate`.
    """
    back = {"archived_at": None} if request.status == "active" else {}
    after = CLIENTS.changed(before, request, **back)
    if request.cis_contractor is UNSET and request.cis_registered is not UNSET:
        after = replace(after, cis_contractor=request.cis_registered)
    if request.vat_number is UNSET and after.vat_number is not None:  # a client that moves keeps it
        after = replace(after, vat_number=client_checks.with_country(after.vat_number, before.country_code))
    errors = [
        *rules.number_mistakes(after, ""),
        *rules.alias_mistakes(request.cis_contractor, request.cis_registered, ""),
    ]
    if errors:
        raise invalid(*errors)
    after = rules.canonical(after)
    if after.vat_number != before.vat_number:  # what was checked is not what it has now
        after = replace(after, vat_check=None)
    CLIENTS.refuse_taken(tx, after.external_id, after.id)
    if not request.allow_duplicate:
        _refuse_new_likeness(tx, before, after)
    return CLIENTS.update(tx, after)


def _refuse_new_likeness(tx: ReadTx, before: StoredClient, after: StoredClient) -> None:
    """Raises `Problem` `possible_duplicate` where a change brings the name or a number of another client in use."""
    names = ("name", "vat_number", "company_number", "archived_at")
    if any(getattr(before, name) != getattr(after, name) for name in names):
        refuse_lookalike(tx, after)


def refuse_lookalike(tx: ReadTx, client: StoredClient) -> None:
    """Raises `Problem` `possible_duplicate` where another client in use has its name or one of its numbers."""
    existing_id = tx.value(
        _SELECT_DUPLICATE,
        id=client.id,
        name_folded=client_checks.folded(client.name),
        vat_number=client.vat_number,
        company_number=client.company_number,
    )
    if existing_id is not None:
        message = (
            f"A client with this name or number exists: {existing_id}. Use that one, or send allowDuplicate: true."
        )
        raise Problem("possible_duplicate", message, extra={"existingId": existing_id})


def touch(tx: WriteTx, client_id: str) -> None:
    """Let who follows changes learn that a client's balances are others; nobody has edited it."""
    CLIENTS.touch(tx, client_id)


def wire_of(tx: ReadTx, client: StoredClient) -> bytes:
    """The JSON of a client with its balances of today."""
    balances = tx.row(_SELECT_BALANCES, id=client.id, today=tx.today)
    assert balances is not None, "stored"
    return served(tx, (client.id, client.updated_at, open_wire(client), client.currency, *balances))


def served(tx: ReadTx, row: Row) -> bytes:
    """The JSON of a client, of its id, `updated_at`, what is stored of it, its currency, and `BALANCES`."""
    id_, updated_at, wire, currency, *own, has_others = row
    of_each = [(currency, *own)] if any(own) else []
    if has_others:
        of_each = sorted(each for each in tx.rows(_SELECT_BY_CURRENCY, id=id_, today=tx.today) if any(each[1:]))
    return b'%b,"balances":{%b,"byCurrency":[%b]}}' % (
        _stamped(wire, to_wire(Instant(updated_at)).encode()),
        _balances(currency, own),
        b",".join(b"{%b}" % _balances(code, amounts) for code, *amounts in of_each),
    )


def _balances(currency: str, amounts: Sequence[int]) -> bytes:
    outstanding, overdue, credit = (str(Money(amount, currency)) for amount in amounts)
    text = f'"outstanding":"{outstanding}","overdue":"{overdue}","credit":"{credit}","currency":"{currency}"'
    return text.encode()
