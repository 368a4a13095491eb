"""The rows under test, and requests made from what the rows themselves say."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from gatewayd.areas.vault.documents import uploads
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.proposals import rows as proposals
from gatewayd.clock import Instant
from gatewayd.contract.operation import Operation
from gatewayd.extraction.shapes import CertificateFacts, Facts
from gatewayd.identity import audit
from gatewayd.identity.people import organizations
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.outbox import NewMail
from gatewayd.store import WriteTx
from gatewayd.store.files.blobs import Blobs
from gatewayd.webhooks.queue import attempts
from tests.ledger import bank_books, lets
from tests.support.api import Fields, Reply, TestedApi
from tests.support.document_reading import NOTHING_FOUND
from tests.support.rows import CATALOGUE
from tests.support.statement_files import file_of, line, opened, statement, trade
from tests.support.store import make_caller

OPERATIONS = CATALOGUE.operations
BY_ID = {operation.id: operation for operation in OPERATIONS}

_SCENARIOS: Mapping[str, Fields] = {  # without one, the sandbox authority has found nothing
    "vat.getLiabilities": ((b"gov-test-scenario", b"SINGLE_LIABILITY_2018_19"),),
    "vat.getPayments": ((b"gov-test-scenario", b"SINGLE_PAYMENT_2018_19"),),
}
_PLACEHOLDER = re.compile(r"([a-z]+)_01k0{22}([a-z])")  # `a` is the first that is seeded, `b` the second

BILL = replace(NOTHING_FOUND, kind="invoice", date="2026-11-01", total="77.10", currency="GBP", counterparty="Ash & Co")
GAS_RECORD = replace(
    NOTHING_FOUND,
    kind="certificate",
    date="2026-10-12",
    certificate=CertificateFacts(
        type="gas_safety",
        issued_date="2026-10-12",
        expiry_date=None,
        reference="GS-1042",
        issuer="Avon Heating",
        issuer_registration="512345",
        rating=None,
        score=None,
        result="pass",
        address="4 Elm Row, Bristol",
        postcode="BS1 4DJ",
    ),
)
_FARM = {"name": "Elm Farm", "type": "sole_trader", "utr": "1955839661", "nino": "AA123456A"}
_SEED: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("legalEntity.createLegalEntity", _FARM),
    ("businesses.create", {"type": "self_employment", "name": "Joinery", "commencementDate": "2024-05-01"}),
    ("accounting.createClient", {"name": "Birch & Co", "email": "accounts@birch.example"}),
    ("accounting.createInvoice", {"lines": [{"description": "Work", "quantity": "1", "unitPrice": "100.00"}]}),
    ("assets.createPortfolio", {"name": "Savings", "isDefault": True}),
    ("assets.createAccount", {"name": "General account", "type": "brokerage", "currency": "GBP"}),
    ("assets.createTransaction", {"type": "buy", "tradeDate": "2026-04-07", "quantity": "500", "unitPrice": "0.72"}),
    ("obligations.create", {"name": "Insurance renewal", "dueDate": "2026-11-01"}),
    (
        "banking.createAccount",
        {
            "name": "Current account",
            "institutionId": "inst_barclays",
            "sortCode": "20-45-00",
            "accountNumber": "31926810",
        },
    ),
    ("obligations.createFeed", {"name": "Deadlines"}),
    ("crm.createLead", {"source": "phone", "name": "Ash Brown"}),
    ("crm.createOpportunity", {"name": "Roof", "stage": "proposal"}),
    ("vault.createFolder", {"name": "Certificates"}),
    ("webhooks.create", {"url": "https://seed.example.com/hook", "events": ["lead.created"]}),
)


_SAME: Mapping[str, str] = {
    "ent_b": "ent",
    "biz_c": "biz",
    "imp_e": "imp",
    "btx_g": "btx",
    "per_c": "per",
    "rule_b": "rule",
}
"""What examples tell apart and is one here: the company and its owner, her trade and its, one file and another."""
LISTED: Mapping[str, Fields] = {
    "events.list": {"since": "2026-01-01T00:00:00Z"},
    "vault.searchDocuments": {"q": "doc"},
    "banking.listInstitutions": {"connected": True},
}
"""What a list is asked for where it lists nothing without being asked; of the seeded there is some."""
SEED_STATEMENT = statement([line(2, "2026-10-01", -1250, "STATIONERY")], opening=10_000, closing=8_750)
PREVIEWED_STATEMENT = statement([line(2, "2026-10-02", -700, "COFFEE"), line(3, "2026-10-02", 50_000, "RENT")])
SEED_TRADES = file_of([opened(), trade(2, "buy", "2026-10-01", 10_000, "BRCH"), trade(3, "interest", "2026-10-02", 4)])
PREVIEWED_TRADES = file_of([opened(), trade(2, "buy", "2026-10-05", 2_000, "BRCH")])
SENT_STATEMENT = statement([line(2, "2026-10-03", -4200, "DIESEL")])
SENT_TRADES = file_of([opened(), trade(2, "deposit", "2026-10-06", 50_000)])
SENT_PRICES = b"date,isin,price,currency\n2026-10-01,GB00BH4HKS39,81.22,GBX\n2026-10-01,USD/GBP,0.76,\n"
_FILES = {"assets.importTransactions": SENT_TRADES, "assets.importPrices": SENT_PRICES}

_EXHAUST = """
UPDATE deliveries SET status = 'exhausted', attempts = 1, due_at = NULL, completed_at = :now, last_attempt_at = :now,
    last_error = :error
WHERE org_id = :org_id RETURNING id
"""


async def seed(api: TestedApi, blobs: Blobs) -> dict[str, str]:
    """One of everything in `org_a`, made through the API; the ids by their prefix."""
    ids: dict[str, str] = {}
    for operation_id, values in _SEED:
        operation = BY_ID[operation_id]
        values = dict(values)
        if operation_id in ("businesses.create", "obligations.create", "assets.createPortfolio"):
            values["legalEntityId"] = ids["ent"]
        if operation_id == "assets.createAccount":
            values["portfolioId"] = ids["prt"]
        if operation_id == "assets.createTransaction":
            values |= {"accountId": ids["acc"], "instrument": {"isin": "GB00BH4HKS39", "name": "Vodafone Group"}}
        if operation_id == "accounting.createInvoice":
            values["clientId"] = ids["cli"]
        reply = await api(operation.method, operation.path, json=values)
        assert reply.status == 200, (operation_id, reply.body)
        made = str(reply.json()["id"])
        ids[made.partition("_")[0]] = made
        if operation_id == "assets.createTransaction":
            ids["ins"] = str(reply.json()["instrumentId"])
    ids["inv_b"] = await _invoice(api, ids["cli"])
    ids["inv_c"] = await _invoice(api, ids["cli"])
    ids["inv_d"] = await _invoice(api, ids["cli"], "USD", vatCode="outside_scope")
    paid = await api("POST", f"/invoices/{ids['inv_c']}/payments", json={})
    assert paid.status == 200
    ids |= await api.store.write(_bank_lines, "org_a")
    for key in ("btx_d", "btx_e"):  # what a rule is learned from
        part = {"category": "adminCosts", "businessId": ids["biz"]}
        chosen = await api("POST", "/allocations", json={"bankTransactionId": ids[key], "parts": [part]})
        assert chosen.status == 200, chosen.body
    rule = {
        "name": "Groceries",
        "conditions": {"text": "tesco"},
        "outcome": {"category": "not_pnl", "purpose": "other"},
    }
    ruled = await api("POST", "/allocations/rules", json={**rule, "mode": "apply"})
    assert ruled.status == 200, ruled.body
    ids["rule"] = ruled.json()["id"]
    body = {"bankTransactionId": ids["btx_c"], "parts": [{"category": "adminCosts", "businessId": ids["biz"]}]}
    allocated = await api("POST", "/allocations", json=body)
    assert allocated.status == 200, allocated.body
    ids["alc"] = allocated.json()["allocations"][0]["id"]
    ids["prop"] = await api.store.write(lambda tx: lets.insert_property(tx, ids["biz"]), "org_a")
    entry = {"category": "adminCosts", "direction": "out", "amount": "5.00", "description": "Keys"}
    entered = await api(
        "POST", "/allocations", json={"parts": [{**entry, "propertyId": ids["prop"]}], "date": "2026-10-01"}
    )
    assert entered.status == 200, entered.body
    empty = await api("POST", "/assets/createPortfolio", json={"name": "Empty", "legalEntityId": ids["ent"]})
    assert empty.status == 200, empty.body
    ids["prt_b"] = empty.json()["id"]
    rate = await api("POST", "/assets/recordExchangeRate", json={"currency": "USD", "rate": "0.76"})
    assert rate.status == 200, rate.body
    await _add_sales(api, ids)
    ids["mail"] = await api.store.write(functools.partial(bounced_mail, paper_id=ids["inv_c"]), "org_a")
    await _add_calendar(api, ids)
    await _add_lets(api, ids)
    await _import(api, ids)
    await _add_documents(api, ids, blobs)
    await _add_credits(api, ids)
    # The subscription comes last and has a delivery of its own, which did not arrive.
    lead = await api("POST", BY_ID["crm.createLead"].path, json={"source": "fair"})
    assert lead.status == 200
    ids["wdlv"] = await api.store.write(_exhaust, "org_a")
    ids["evt"] = await api.store.read(lambda tx: str(tx.value(_LAST_EVENT)), "org_a")
    return ids | {key: ids[other] for key, other in _SAME.items()}


async def _add_sales(api: TestedApi, ids: dict[str, str]) -> None:
    """Two recurring invoices, a quote and a bill of each state that an example names, money on account."""

    async def made(path: str, **values: object) -> str:
        reply = await api("POST", path, json=values)
        assert reply.status == 200, (path, reply.body)
        return str(reply.json()["id"])

    sold = {"clientId": ids["cli"], "lines": [{"description": "Work", "unitPrice": "100.00"}]}
    trip = {"vehicle": "YK21 OAK", "fromPlace": "Leeds", "toPlace": "York", "purpose": "Fitting"}
    trip |= {"date": "2026-11-02", "vehicleKind": "car", "miles": "48"}
    ids["jny"] = await made("/journeys", **trip, businessId=ids["biz"])
    ids["rec"] = await made("/recurring-invoices", **sold, unit="month", startDate="2026-12-01")
    ids["rec_b"] = await made("/recurring-invoices", **sold, unit="week", startDate="2026-12-01")
    await made(f"/recurring-invoices/{ids['rec_b']}/pause")
    for key in ("quo", "quo_b", "quo_c"):
        ids[key] = await made("/quotes", **sold)
    for key in ("quo", "quo_c"):
        await made(f"/quotes/{ids[key]}/issue")
    await made(f"/quotes/{ids['quo']}/accept")
    line = {"description": "Boards", "amount": "200.00", "category": "costOfGoods", "vatCode": "standard"}
    billed = {"supplierId": ids["cli"], "businessId": ids["biz"], "billDate": "2026-11-10", "lines": [line]}
    for key, number in (("bill", "A1"), ("bill_b", "A2"), ("bill_c", "A3")):
        status = "draft" if key == "bill_c" else "awaiting_payment"
        ids[key] = await made("/bills", **billed, number=number, status=status, allowDuplicate=True)
    await made(f"/bills/{ids['bill_b']}/payments")
    on_account = {"legalEntityId": ids["ent"], "amount": "40.00", "invoices": []}
    lost = await made("/invoices", **sold, legalEntityId=ids["ent"], status="issued")
    ids["inv_e"] = await made(f"/invoices/{lost}/write-off", reason="Insolvent")
    ids["cpay"] = await made("/client-payments", clientId=ids["cli"], **on_account)


async def _add_calendar(api: TestedApi, ids: dict[str, str]) -> None:
    """An open period and a closed one, an obligation that was met."""
    quarters = await api("GET", "/periods/list", query="type=itsa_quarter")
    ids["per"], ids["per_b"], *_ = (str(period["id"]) for period in quarters.json()["data"])
    closed = await api("POST", "/periods/close", json={"id": ids["per_b"], "force": True, "reason": "For the test"})
    assert closed.status == 200, closed.body
    sealed = await api("POST", "/periods/seal", json={"id": ids["per_b"]})
    assert sealed.status == 200, sealed.body
    ids["seal"] = str(sealed.json()["id"])
    values = {"legalEntityId": ids["ent"], "name": "Licence", "dueDate": "2026-10-01"}
    ids["obl_b"] = str((await api("POST", "/obligations/create", json=values)).json()["id"])
    met = await api("POST", "/obligations/fulfil", json={"id": ids["obl_b"]})
    assert met.status == 200, met.body


_ADDRESS = {"line1": "4 Elm Row", "postcode": "BS1 4DJ", "countryCode": "GB"}
_LETS: tuple[tuple[str, str, Mapping[str, object]], ...] = (
    ("biz_b", "businesses.create", {"legalEntityId": "ent", "type": "uk_property", "name": "Lets"}),
    (
        "prop",
        "landlord.createProperty",
        {"businessId": "biz_b", "name": "4 Elm Row", "type": "house", "address": _ADDRESS},
    ),
    ("prop_b", "landlord.createProperty", {"businessId": "biz_b", "name": "6 Elm Row", "type": "house"}),
    ("unit", "landlord.createPropertyUnit", {"propertyId": "prop", "name": "Flat 1"}),
    (
        "val",
        "landlord.createPropertyValuation",
        {"propertyId": "prop", "valuationDate": "2026-05-01", "amount": "210000.00", "method": "agent"},
    ),
    (
        "val_b",
        "landlord.createPropertyValuation",
        {"propertyId": "prop_b", "valuationDate": "2026-05-01", "amount": "195000.00", "method": "agent"},
    ),
    ("tnt", "landlord.createTenant", {"kind": "person", "name": "Rosa Hart"}),
    ("tnt_b", "landlord.createTenant", {"kind": "person", "name": "Tom Lee"}),
    (
        "tcy",
        "landlord.createTenancy",
        {
            "propertyId": "prop_b",
            "tenantIds": ["tnt"],
            "startDate": "2026-10-01",
            "rentAmount": "900.00",
            "rentFrequency": "monthly",
        },
    ),
    (
        "mtg",
        "landlord.createMortgage",
        {
            "propertyId": "prop",
            "lender": "Severn",
            "type": "interest_only",
            "interestRate": "4.5",
            "originalAmount": "150000.00",
            "startDate": "2024-03-15",
        },
    ),
    ("cert", "landlord.createCertificate", {"propertyId": "prop", "type": "epc", "issuedDate": "2026-03-10"}),
    ("cert_b", "landlord.createCertificate", {"propertyId": "prop", "type": "pat", "issuedDate": "2026-03-10"}),
)
"""One of everything of a business that lets; what is the key of an id stands for it."""


async def _add_lets(api: TestedApi, ids: dict[str, str]) -> None:
    """A house to let, another that is let, who lives there, and somebody who does not."""
    for key, operation_id, values in _LETS:
        body = {name: _named(value, ids) for name, value in values.items()}
        reply = await api("POST", BY_ID[operation_id].path, json=body)
        assert reply.status == 200, (operation_id, reply.body)
        ids[key] = str(reply.json()["id"])


def _named(value: object, ids: Mapping[str, str]) -> object:
    if isinstance(value, list):
        return [_named(each, ids) for each in value]
    return ids.get(value, value) if isinstance(value, str) else value


async def _import(api: TestedApi, ids: dict[str, str]) -> None:
    """A statement that is applied, and a preview of another; the same of brokers' files."""
    for name, values, content in (
        ("imp", {"fileName": "seed.csv"}, SEED_STATEMENT),
        ("imp_b", {"preview": "true"}, PREVIEWED_STATEMENT),
    ):
        reply = await api("POST", f"/accounts/{ids['bac']}/imports", query=values, body=content)
        assert reply.status == 200, reply.body
        ids[name] = str(reply.json()["id"])
    stated = await api("POST", f"/accounts/{ids['bac']}/balances", json={"date": "2026-09-30", "balance": "100.00"})
    assert stated.status == 200, stated.body
    ids["bsb"] = str(stated.json()["id"])
    for name, values, content in (("imp_c", {}, SEED_TRADES), ("imp_d", {"preview": "true"}, PREVIEWED_TRADES)):
        reply = await api("POST", f"/assets/accounts/{ids['acc']}/imports", query=values, body=content)
        assert reply.status == 200, reply.body
        ids[name] = str(reply.json()["id"])


async def _add_documents(api: TestedApi, ids: dict[str, str], blobs: Blobs) -> None:
    """One at the top, one in the folder, one that waits to be confirmed, one in the trash; and a link to the first.

    Behind them two bills that were read, which bank lines paid, and a record of the gas of one of the houses.
    """
    at_the_top = ((key, None) for key in ("doc_c", "doc_d", "doc_e", "doc_f", "doc_g"))
    for key, folder_id in (("doc", None), ("doc_b", ids["fld"]), *at_the_top):
        made = await api("POST", "/vault/documents", json={"name": f"{key}.txt", "folderId": folder_id})
        assert made.status == 200, made.body
        ids[key] = str(made.json()["document"]["id"])
        with blobs.draft(100) as draft:
            draft.write(_UNCONFIRMED if key == "doc_c" else key.encode())
            kept = draft.save()
        token = made.json()["upload"]["url"].rpartition("/")[2]
        received = functools.partial(uploads.receive, token=token, size=kept.size_bytes, sha256=kept.sha256)
        assert await api.store.write(received) is not None
        if key != "doc_c":
            confirmed = await api("POST", f"/vault/documents/{ids[key]}/confirm-upload", json={})
            assert confirmed.status == 200, confirmed.body
    for key, facts in (("doc_e", BILL), ("doc_f", BILL), ("doc_g", GAS_RECORD)):
        await api.store.write(functools.partial(_read, document_id=ids[key], facts=facts), "org_a")
    starred = await api("PATCH", f"/vault/documents/{ids['doc_b']}/star", json={"starred": True})
    assert starred.status == 200, starred.body
    deleted = await api("DELETE", f"/vault/documents/{ids['doc_d']}")
    assert deleted.status == 200, deleted.body
    linked = await api("POST", f"/vault/documents/{ids['doc']}/temporal-link", json={"permanent": True})
    assert linked.status == 200, linked.body
    ids["lnk"] = str(linked.json()["id"])


_UNCONFIRMED = b"MOT test certificate. Result: pass.\n"  # as long as the example of its confirmation says
_ADMINISTRATOR = """
INSERT INTO users (id, email, email_folded, name, instance_admin, created_at, updated_at)
VALUES (:id, :email, :email, :name, 1, :now, :now)
"""
_CREDITS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("billing.createPlan", {"code": "shared-box", "name": "Shared box", "includedCredits": "10"}),
    ("billing.setOperationCost", {"operation": "vault.parse", "unit": "page", "credits": "0.25"}),
    ("billing.grantCredits", {"amount": "100"}),
    (
        "billing.importEntries",
        {
            "source": "seed.csv",
            "entries": [{"occurredAt": "2026-11-02T09:00:00Z", "type": "usage", "amount": "-5", "externalId": "seed"}],
        },
    ),
)


async def _add_credits(api: TestedApi, ids: dict[str, str]) -> None:
    """A plan that nobody has, a cost, credits, of which some were used; the caller's user runs the instance."""
    named = {"id": make_caller("org_a").user_id, "email": "ops@example.com", "name": "Ann"}
    await api.store.write(lambda tx: tx.run(_ADMINISTRATOR, **named))
    ids["org"] = (await api.store.write(lambda tx: organizations.create(tx, "Fern Bookkeeping", audit.OPERATOR))).id
    for operation_id, values in _CREDITS:
        reply = await api("POST", BY_ID[operation_id].path, json=values)
        assert reply.status == 200, (operation_id, reply.body)
        if operation_id == "billing.grantCredits":
            ids["gra"] = str(reply.json()["id"])
    used = await api("GET", "/billing/ledger", query="type=usage")
    ids["led"] = str(used.json()["data"][0]["id"])


def _read(tx: WriteTx, document_id: str, facts: Facts) -> None:
    """Let a document be read, with what was found."""
    attempt, _ = parses.begin(tx, document_id)
    assert parses.succeed(tx, document_id, attempt, 100, ("plain", "en", facts))
    proposals.note(tx, document_id, facts)


def _bank_lines(tx: WriteTx) -> dict[str, str]:
    """Two accounts: money out of one and into the other, and what was bought; no operation makes bank lines."""
    ids = {}
    lines = (
        *(("bac_m", "btx", -25000), ("bac_n", "btx_b", 25000), ("bac_m", "btx_c", -4500)),
        *(("bac_m", "btx_d", -1250), ("bac_m", "btx_e", -1450), ("bac_m", "btx_f", -7710)),
    )
    for account, key, amount in lines:
        if account not in ids:
            ids[account] = bank_books.insert_account(tx)
        ids[key] = bank_books.insert_line(tx, ids[account], amount)
    return ids


async def _invoice(api: TestedApi, client_id: str, currency: str = "GBP", **line: str) -> str:
    """One that is issued."""
    lines = [{"description": "Work", "unitPrice": "100.00", **line}]
    body = {"clientId": client_id, "status": "issued", "currency": currency, "lines": lines}
    reply = await api("POST", "/invoices", json=body)
    assert reply.status == 200, reply.body
    return str(reply.json()["id"])


_LAST_EVENT = "SELECT max(id) FROM events WHERE org_id = :org_id"


_SUBJECT = "Invoice INV-000001"
_BOUNCE = """
UPDATE mails SET status = 'bounced', due_at = NULL, completed_at = :now, attempts = 1, last_code = 550,
    last_error = :answer, last_attempt_at = :now
WHERE id = :id
"""


def bounced_mail(tx: WriteTx, paper_id: str) -> str:
    """A mail with an invoice, for whose address the server takes nothing; answers its id."""
    letter = Letter(subject=_SUBJECT, paragraphs=("Here is our invoice.",), reason="You get this.", paper=paper_id)
    id_ = outbox.queue(tx, NewMail("invoice", tx.org_id, "gone@example.com", letter, about=paper_id))
    answer = "No such mailbox here."
    tx.run(_BOUNCE, id=id_, answer=answer)
    outbox.insert_attempts(tx, [(id_, outbox.Attempt(1, Instant(tx.now), 41, "bounced", 550, answer))])
    return id_


def _exhaust(tx: WriteTx) -> str:
    """End the one delivery there is, after one attempt; answers its id."""
    delivery_id = str(tx.value(_EXHAUST, error="timeout"))
    attempts.insert(tx, [(delivery_id, 1, tx.org_id, attempts.render_aborted(1, tx.now, "timeout"))])
    return delivery_id


def example(operation: Operation, ids: Mapping[str, str]) -> dict[str, Any]:
    """The row's own example with ids of resources that exist."""
    return {name: _settled(value, ids) for name, value in operation.example.items()}


def references(operation: Operation) -> dict[str, str]:
    """Top-level fields of the example that name a resource, with the prefix of its ids."""
    found = {n: _PLACEHOLDER.fullmatch(v) for n, v in operation.example.items() if isinstance(v, str)}
    return {name: _key(match) for name, match in found.items() if match is not None}


def _settled(value: object, ids: Mapping[str, str]) -> object:
    if isinstance(value, list):
        return [_settled(each, ids) for each in value]
    if isinstance(value, dict):
        return {name: _settled(each, ids) for name, each in value.items()}
    match = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else ids[_key(match)]


def _key(match: re.Match[str]) -> str:
    """`inv` for the first that is seeded, `inv_b` for the second."""
    return match[1] if match[2] == "a" else f"{match[1]}_{match[2]}"


@dataclass(frozen=True)
class Address:
    """One of the ways to reach a row."""

    method: str
    path: str
    in_path: tuple[str, ...]


def addresses(operation: Operation) -> list[Address]:
    """Its own path and its alias, under both mounts."""
    own = [Address(operation.method, mount + operation.path, operation.parameters) for mount in ("/api/rpc", "")]
    mounts = ("/api/rpc", "")
    alias = [Address(method, mount + operation.alias, ()) for method in operation.alias_methods for mount in mounts]
    return own if operation.alias == operation.path else own + alias


async def send(
    api: TestedApi,
    operation: Operation,
    values: Mapping[str, Any],
    *,
    at: Address | None = None,
    token: str | None = "good",
    headers: Fields = (),
    file: bytes | None = None,
) -> Reply:
    """The request that `values` make at one of the row's addresses, by default its own under the mount.

    `file` is what is sent where the row takes one. None: one that our stand-in reads.
    """
    address = at or addresses(operation)[0]
    path, rest = address.path, dict(values)
    headers = (*headers, *_SCENARIOS.get(operation.id, ()))
    for name in address.in_path:
        path = path.replace(f":{name}", str(rest.pop(name, "x")))
    if operation.takes_file:
        file = _FILES.get(operation.id, SENT_STATEMENT) if file is None else file
        return await api(address.method, path, query=query_of(rest), token=token, headers=headers, body=file)
    if address.method in ("POST", "PATCH"):
        return await api(address.method, path, json=rest, token=token, headers=headers)
    return await api(address.method, path, query=query_of(rest), token=token, headers=headers)


def query_of(values: Mapping[str, Any]) -> str:
    """The query string of `values`; a list repeats its name."""
    return urlencode([(n, _text(i)) for n, v in values.items() for i in (v if isinstance(v, list) else [v])])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def fields(operation: Operation) -> list[str]:
    """Every field of the request but those in the path, as the wire spells them."""
    names = [field.encode_name for field in msgspec.structs.fields(operation.request)]
    return [name for name in names if name not in operation.parameters]
