"""A believable small firm: what the demo's database holds at first."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from gatewayd.areas.accounting import clients, invoices
from gatewayd.areas.businesses import operations as businesses
from gatewayd.areas.crm import leads
from gatewayd.areas.legal_entities import operations as legal_entities
from gatewayd.areas.legal_entities import tax_years
from gatewayd.contract.caller import Caller
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import FULL_ACCESS
from gatewayd.contract.wire import encode
from gatewayd.identity import audit
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.store import WriteTx
from gatewayd.tax import approvals
from gatewayd.tax.approvals import Subject

_ENTITY = {
    "name": "Oak & Son Joinery",
    "type": "limited_company",
    "legalName": "Oak & Son Joinery Ltd",
    "companyNumber": "09876543",
    "incorporationDate": "2015-11-20",
    "utr": "1955839661",
    "accountingYearEnd": {"month": 3, "day": 31},
    "vatNumber": "GB980780684",
    "vat": {
        "status": "registered",
        "effectiveDate": "2023-04-01",
        "scheme": "standard",
        "returnFrequency": "quarterly",
        "staggerGroup": 1,
    },
    "address": {"line1": "12 Oak Street", "town": "Leeds", "postcode": "LS1 4DY", "countryCode": "GB"},
    "email": "office@oakandson.example",
    "cis": {"subcontractor": True, "verifiedRate": 20},
}
_OWNER = "Ann Oak"
_PERSON = {
    "name": _OWNER,
    "type": "individual",
    "nino": "AA123456A",
    "address": {"line1": "27 Chapel Lane", "town": "Leeds", "postcode": "LS6 3BW", "countryCode": "GB"},
    "email": "ann@oakandson.example",
}
_OWN_TRADE = {"type": "self_employment", "name": "Music lessons", "commencementDate": "2018-05-16"}
_CLIENTS = (
    {
        "name": "Birch Interiors Ltd",
        "kind": "company",
        "email": "accounts@birch.example",
        "billingAddress": {"line1": "8 Canal Wharf", "town": "Leeds", "postcode": "LS11 5PS", "countryCode": "GB"},
        "paymentTermsDays": 14,
    },
    {
        "name": "Rowan Developments Ltd",
        "kind": "company",
        "billingAddress": {"line1": "Rowan House", "town": "York", "postcode": "YO1 7HH", "countryCode": "GB"},
        "vatNumber": "GB765432126",
        "cisContractor": True,
    },
    {
        "name": "Mrs A. Hazel",
        "kind": "person",
        "email": "hazel@example.net",
        "billingAddress": {"line1": "3 Mill Lane", "town": "Otley", "postcode": "LS21 1AA", "countryCode": "GB"},
        "endUser": True,
    },
)
_LEADS = (
    {
        "source": "referral",
        "name": "Joan Larch",
        "email": "joan@larch.example",
        "company": "Larch & Co",
        "notes": "Two staircases, by spring. Was sent by Birch Interiors.",
    },
    {"source": "fair", "name": "Sam Willow", "phone": "07700 900482", "company": "Willow House"},
)
_LINES = (
    [
        {"description": "Oak staircase, made to measure", "unitPrice": "4850.00"},
        {"description": "Fitting", "quantity": "16", "unit": "hours", "unitPrice": "42.50"},
    ],
    [
        {
            "description": "First fix carpentry, plot 7",
            "quantity": "5",
            "unit": "days",
            "unitPrice": "320.00",
            "cisLabour": True,
            "vatCode": "reverse_charge_domestic_standard",
        }
    ],
    [
        {"description": "Garden gate", "unitPrice": "385.00"},
        {"description": "Energy-saving door set", "unitPrice": "640.00", "vatCode": "reduced"},
    ],
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can sign in. `place`: what they are in which organization, or that they run the server."""

    email: str
    name: str
    place: str
    runs_server: bool = False


@dataclass(frozen=True, slots=True)
class Firm:
    """What the demo needs to know of it.

    `key` is the API key in the clear; `pupil_id` is a client who learns the piano of the owner; `lets_id` is the
    business of what she lets; `people` begin with the owner. The practice is the second organization, which shares the
    box.
    """

    org_id: str
    org_name: str
    key_id: str
    key: str
    entity_id: str
    business_id: str
    client_id: str
    pupil_id: str
    person_id: str
    lets_id: str
    person_name: str
    people: tuple[Person, ...]
    practice_id: str
    practice_name: str
    practice_key: str


def seed(tx: WriteTx, password_hash: str | None = None) -> Firm:
    """Two organizations, four people, a company, its owner, clients, invoices, leads. None: nobody has a password."""
    firm = organizations.create(tx, "Oak & Son", audit.OPERATOR)
    practice = organizations.create(tx, "Fern Bookkeeping", audit.OPERATOR)
    tx.bind(firm.id)
    people = (
        Person("ann@oakandson.example", _OWNER, f"owner of {firm.name}"),
        Person("ben@oakandson.example", "Ben Oak", f"member of {firm.name}"),
        Person("fay@fern.example", "Fay Fern", f"owner of {practice.name}, admin of {firm.name}"),
        Person("gil@moss.example", "Gil Moss", "runs this server: see Administration", runs_server=True),
    )
    ann, ben, fay, _ = (_user(tx, person, password_hash) for person in people)
    memberships.add(tx, ann, "owner", audit.OPERATOR)
    memberships.add(tx, ben, "member", audit.OPERATOR)
    memberships.add(tx, fay, "admin", audit.OPERATOR)
    tx.bind(practice.id)
    memberships.add(tx, fay, "owner", audit.OPERATOR)
    shared = _key(tx, "Office", fay, ("crm:write", "billing:read"))
    tx.bind(firm.id)
    books = _books(tx, firm.id, ann)
    key = _key(tx, "Demo shop", ann, _SCOPES)
    tx.bind(practice.id)
    filing = _key(tx, "Filing program", fay, ("tax:read", "tax:write"))
    approvals.request(tx, Subject("key", filing.id), _DECLARED, fay)
    tx.bind(firm.id)
    mine = (firm.id, firm.name, key.id, key.key)
    return Firm(*mine, *books, _OWNER, people, practice.id, practice.name, shared.key)


_DECLARED = "Files VAT returns for our clients. Its maker is on the tax authority's list of software."
"""What the practice says of its program, which waits for whoever runs the server."""
_SCOPES = (
    "entities:read",
    "accounting:read",
    "accounting:write",
    "banking:read",
    "periods:read",
    "periods:write",
    "webhooks:read",
    "webhooks:write",
    "crm:read",
    "crm:write",
    "vault:read",
    "vault:write",
    "tax:read",  # opens nothing until it is approved (Spec §5, rule 4)
)


def _key(tx: WriteTx, name: str, user_id: str, scopes: Sequence[str]) -> api_keys.CreatedKey:
    new = api_keys.NewKey(name=name, user_id=user_id, scopes=scopes)
    return api_keys.create(tx, new, secrets.token_bytes(32), audit.OPERATOR)


def _user(tx: WriteTx, person: Person, password_hash: str | None) -> str:
    new = users.NewUser(
        email=person.email, name=person.name, password_hash=password_hash, instance_admin=person.runs_server
    )
    return users.create(tx, new, audit.OPERATOR).id


def _books(tx: WriteTx, org_id: str, user_id: str) -> tuple[str, str, str, str, str, str]:
    """The entity, its trade, its clients with an invoice each, its owner as a person who teaches and lets, two leads.

    Returns the ids of entity, trade, first client, who learns the piano, owner and what she lets.
    """
    caller = Caller(
        kind="operator", credential_id="operator", org_id=org_id, user_id=user_id, role="owner", scopes=FULL_ACCESS
    )
    entity_id = _run_operation(
        tx, caller, _operation_of(legal_entities.OPERATIONS, "legalEntity.createLegalEntity"), _ENTITY
    )
    trade = {"legalEntityId": entity_id, "type": "company_trade", "name": "Joinery"}
    business_id = _run_operation(tx, caller, _operation_of(businesses.OPERATIONS, "businesses.create"), trade)
    client_ids = []
    for client, lines in zip(_CLIENTS, _LINES, strict=True):
        client_id = _run_operation(tx, caller, _operation_of(clients.OPERATIONS, "accounting.createClient"), client)
        invoice = {"clientId": client_id, "businessId": business_id, "status": "issued", "lines": lines}
        _run_operation(tx, caller, _operation_of(invoices.OPERATIONS, "accounting.createInvoice"), invoice)
        client_ids.append(client_id)
    for lead in _LEADS:
        _run_operation(tx, caller, _operation_of(leads.OPERATIONS, "crm.createLead"), lead)
    person_id = _run_operation(
        tx, caller, _operation_of(legal_entities.OPERATIONS, "legalEntity.createLegalEntity"), _PERSON
    )
    lessons = {"legalEntityId": person_id, **_OWN_TRADE}
    _run_operation(tx, caller, _operation_of(businesses.OPERATIONS, "businesses.create"), lessons)
    income = {"id": person_id, "taxYear": "2024-25", "qualifyingIncome": "31840.00"}
    _run_operation(tx, caller, _operation_of(tax_years.OPERATIONS, "legalEntity.setTaxYear"), income)
    lets = {"legalEntityId": person_id, "type": "uk_property", "name": "Lets"}
    lets_id = _run_operation(tx, caller, _operation_of(businesses.OPERATIONS, "businesses.create"), lets)
    return entity_id, business_id, client_ids[0], client_ids[-1], person_id, lets_id


def _operation_of(operations: tuple[Operation, ...], operation_id: str) -> Operation:
    return next(operation for operation in operations if operation.id == operation_id)


def _run_operation(tx: WriteTx, caller: Caller, operation: Operation, request: Mapping[str, object]) -> str:
    """Run a write operation as a caller would; returns the id of what it made."""
    decoded = RequestDecoder(operation).body(msgspec.json.encode(request))
    made = operation.handler(tx, caller, decoded)
    body = made if isinstance(made, bytes) else encode(made)
    return str(msgspec.json.decode(body)["id"])
