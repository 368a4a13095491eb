"""Wrong calls that a handler alone can tell, over all areas: all that is said to each, written by hand, to be read.

What the types of a request refuse is in `test_messages.py`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gatewayd
from tests.contract.conftest import OpenCatalogue
from tests.contract.rows import BY_ID
from tests.support.api import TestedApi

LINE = {"description": "Work", "unitPrice": "100.00"}
NO_CLIENT = "There is no such client: `accounting.listClients` lists those there are."
NO_PROPERTY = "There is no such property: `landlord.listProperties` lists those there are."
NO_ENTITY = "There is no such legal entity: `legalEntity.getLegalEntities` lists those there are."
TO_COME = "The day is still to come: expected today or an earlier one."


class Refused(NamedTuple):
    """A call, and what is said to it. In values and words braces hold the ids of what is seeded, by prefix."""

    operation: str
    values: dict[str, Any]
    said: dict[str, str] | str
    """By field where fields are wrong, else the problem's own message."""
    states: tuple[str, tuple[str, ...]] | None = None
    """Of an invalid state: the one that it is in, and those that would do."""


FIELDS = (
    Refused(
        "accounting.createInvoice",
        {
            "clientId": "cli_1",
            "legalEntityId": "ent_1",
            "issueDate": "2026-11-20",
            "dueDate": "2026-11-01",
            "propertyId": "prop_1",
            "number": "A-1",
            "lines": [{}],
        },
        {
            "number": "Numbers are allotted, and only invoices of `origin` imported bring theirs: leave this out.",
            "lines[0].description": "This field is required: what is it for?",
            "lines[0].unitPrice": "This field is required: what does one cost, such as 250.00?",
            "propertyId": NO_PROPERTY,
            "legalEntityId": NO_ENTITY,
            "clientId": NO_CLIENT,
            "dueDate": "It is before the issue date, 2026-11-20: expected that day or a later one.",
        },
    ),
    Refused(
        "accounting.createInvoice",
        {"clientId": "{cli}", "lines": [LINE], "discountAmount": "500.00", "fxRate": "1.2"},
        {
            "fxRate": "GBP is the seller's own currency: leave this out.",
            "discountAmount": "The lines come to 100.00: expected no more.",
        },
    ),
    Refused(
        "accounting.createInvoice",
        {"clientId": "{cli}", "lines": [LINE], "discountAmount": "5.001", "dueDate": "2020-01-01"},
        {
            "dueDate": "It is before the issue date, 2026-11-20: expected that day or a later one.",
            "discountAmount": "GBP has at most 2 digits after the point: 5.001 has more.",
        },
    ),
    Refused(
        "accounting.createInvoice",
        {"kind": "credit_note", "creditsInvoiceId": "{inv_b}", "clientId": "cli_1", "currency": "EUR"},
        {
            "clientId": "The invoice that is credited is for {cli}: leave this out.",
            "currency": "The invoice that is credited is in GBP.",
        },
    ),
    Refused(
        "accounting.createInvoice",
        {"kind": "credit_note", "creditsInvoiceId": "{inv_b}", "lines": [{"creditsLine": 1, "unitPrice": "5"}, LINE]},
        {
            "lines[0].unitPrice": "Beside `creditsLine` it is that of the invoice: leave this out.",
            "lines[1].creditsLine": "This field is required, as the other lines have it: which line of the invoice?",
        },
    ),
    Refused(
        "accounting.recordPayment",
        {
            "invoiceId": "{inv_b}",
            "amount": "1.001",
            "date": "2027-06-01",
            "bankTransactionId": "btx_1",
            "charges": "0.001",
        },
        {
            "bankTransactionId": "There is no such bank transaction: `banking.listTransactions` lists those there are.",
            "charges": "GBP has at most 2 digits after the point: 0.001 has more.",
            "amount": "GBP has at most 2 digits after the point: 1.001 has more.",
            "date": "It lies ahead: expected 2026-11-20 or an earlier day.",
        },
    ),
    Refused(
        "accounting.createClient",
        {"name": "Ash", "vatNumber": "GB123", "companyNumber": "X1", "cisContractor": True, "cisRegistered": False},
        {
            "vatNumber": "This is not a VAT number of its country, such as GB123456782: check its digits.",
            "companyNumber": "Expected 8 digits, or 2 letters and 6 digits, such as SC123456.",
            "cisRegistered": "It is another name of `cisContractor`, which differs: give one.",
        },
    ),
    Refused(
        "landlord.createProperty",
        {
            "businessId": "biz_1",
            "type": "flat",
            "purchasePrice": "-5",
            "currency": "GBP",
            "acquisitionCosts": "1.005",
            "areaSqm": "0",
            "owners": [{"name": "Ann", "sharePercent": "120"}],
        },
        {
            "name": "Give a name, or an address for its first line to be the name.",
            "businessId": "There is no such business: `businesses.list` lists those there are.",
            "owners[0].sharePercent": "Expected a percentage above 0, at most 100.",
            "acquisitionCosts": "GBP has at most 2 digits after the point: 1.005 has more.",
            "purchasePrice": "Expected 0 or more.",
            "areaSqm": "Expected more than 0.",
        },
    ),
    Refused(
        "landlord.updateProperty",
        {"id": "{prop_b}", "status": "sold", "purchasePrice": "1.001", "disposalCosts": "2.002"},
        {
            "purchasePrice": "GBP has at most 2 digits after the point: 1.001 has more.",
            "disposalCosts": "GBP has at most 2 digits after the point: 2.002 has more.",
            "disposalDate": "This field is required of what is sold: when was it?",
        },
    ),
    Refused(
        "landlord.createTenancy",
        {
            "propertyId": "prop_1",
            "tenantIds": ["tnt_1", "tnt_1"],
            "startDate": "2026-10-01",
            "endDate": "2026-01-01",
            "rentAmount": "950.00",
            "rentFrequency": "monthly",
            "depositScheme": "dps",
        },
        {
            "propertyId": NO_PROPERTY,
            "tenantIds[0]": "There is no such tenant: `landlord.listTenants` lists those there are.",
            "tenantIds[1]": "The tenant is named twice: name each once.",
            "depositAmount": "This field is required with the others of the deposit: how much is it?",
            "endDate": "The tenancy begins on 2026-10-01: expected that day or a later one.",
        },
    ),
    Refused(
        "landlord.createTenancy",
        {
            "propertyId": "{prop_b}",
            "tenantIds": ["{tnt}"],
            "startDate": "2026-10-01",
            "endDate": "2026-01-01",
            "rentAmount": "-950",
            "rentFrequency": "monthly",
            "type": "private_tenancy_ni",
            "deposit": {"amount": "1.001", "returnedAmount": "-1"},
        },
        {
            "rentAmount": "Expected 0 or more.",
            "deposit.amount": "GBP has at most 2 digits after the point: 1.001 has more.",
            "deposit.returnedAmount": "Expected 0 or more.",
            "type": "It is a type of northern_ireland, and the property lies in england: expected assured_periodic.",
            "endDate": "The tenancy begins on 2026-10-01: expected that day or a later one.",
        },
    ),
    Refused(
        "landlord.createCertificate",
        {
            "propertyId": "prop_1",
            "type": "other",
            "issuedDate": "2030-01-01",
            "expiryDate": "2020-01-01",
            "rating": "C",
            "unitId": "{unit}",
        },
        {
            "propertyId": NO_PROPERTY,
            "title": "This field is required of the type other: what is it?",
            "rating": "Only the type epc has it: leave this out.",
            "issuedDate": TO_COME,
            "expiryDate": "It is before issuedDate: expected that day or a later one.",
            "unitId": "The unit is one of another property, {prop}: expected one of prop_1.",
        },
    ),
    Refused(
        "landlord.createMortgage",
        {
            "propertyId": "{prop_b}",
            "lender": "Harbour Bank",
            "originalAmount": "1.001",
            "type": "repayment",
            "interestRate": "120",
            "startDate": "2026-01-01",
            "rateEndDate": "2025-01-01",
            "currentBalance": "3",
        },
        {
            "balanceDate": "This field is required: of which day is the balance?",
            "originalAmount": "GBP has at most 2 digits after the point: 1.001 has more.",
            "interestRate": "Expected a percentage of 0 or more, less than 100.",
            "rateEndDate": "It is before startDate, 2026-01-01: expected that day or a later one.",
        },
    ),
    Refused(
        "landlord.createPropertyValuation",
        {
            "propertyId": "{prop_b}",
            "valuationDate": "2030-01-01",
            "amount": "0",
            "method": "agent",
            "currency": "EUR",
            "documentId": "doc_1",
        },
        {
            "currency": "The property is kept in GBP: expected that, or leave this out.",
            "amount": "Expected more than 0.",
            "valuationDate": TO_COME,
            "documentId": "There is no such document: `vault.listDocuments` lists those there are.",
        },
    ),
    Refused(
        "landlord.createPropertyUnit",
        {"propertyId": "prop_1", "name": "Attic", "areaSqm": "-1", "rentFrequency": "monthly"},
        {
            "propertyId": NO_PROPERTY,
            "areaSqm": "Expected more than 0.",
            "rentFrequency": "It is how often `marketRent` is due, and there is none: give that, or leave this out.",
        },
    ),
    Refused(
        "landlord.updateTenancy",
        {
            "id": "{tcy}",
            "endDate": "2020-01-01",
            "endedDate": "2020-01-01",
            "tenantsFromDate": "2026-11-01",
            "rent": {"amount": "1.001", "fromDate": "1999-01-01"},
        },
        {
            "endDate": "It is `endedDate` by another name: give one of them.",
            "tenantIds": "This field is required: who are the tenants from that day on?",
            "rent.fromDate": "The tenancy begins on 2026-10-01: expected that day or a later one.",
            "rent.amount": "GBP has at most 2 digits after the point: 1.001 has more.",
        },
    ),
    Refused(
        "banking.createAccount",
        {
            "name": "Current",
            "type": "current",
            "iban": "GB00NWBK60161331926819",
            "overdraftLimit": "1.001",
            "legalEntityId": "ent_1",
            "institutionId": "barclays",
        },
        {
            "overdraftLimit": "GBP has at most 2 digits after the point: 1.001 has more.",
            "iban": "This is not an IBAN, such as GB29NWBK60161331926819: check its digits.",
            "institutionId": "There is no such institution: `banking.listInstitutions` lists those there are.",
            "legalEntityId": NO_ENTITY,
        },
    ),
    Refused(
        "banking.createRule",
        {"name": "All", "conditions": {}, "outcome": {"category": "not_pnl", "businessId": "biz_1"}},
        {
            "conditions": "A rule without conditions would fit everything: give one, such as `text`.",
            "outcome.businessId": "There is no such business: `businesses.list` lists those there are.",
            "outcome.purpose": "This field is required: it is neither income nor an expense, so what is it?",
        },
    ),
    Refused(
        "legalEntity.createLegalEntity",
        {
            "name": "Elm",
            "type": "limited_company",
            "vatNumber": "123456789",
            "utr": "12",
            "accountingYearEnd": {"month": 2, "day": 31},
        },
        {
            "vatNumber": "This is not a VAT registration number, such as GB123456782: check its digits.",
            "utr": "This is not a Unique Taxpayer Reference of ten digits: check them.",
            "companyNumber": "This field is required: a limited company in GB has a company number, such as 01234567.",
            "accountingYearEnd.day": "The month has no such day: expected 1 to 29.",
        },
    ),
    Refused(
        "businesses.create",
        {
            "legalEntityId": "ent_1",
            "type": "company_trade",
            "name": "Joinery",
            "ownerSharePercent": "0",
            "bankAccountIds": ["bac_1"],
        },
        {
            "legalEntityId": NO_ENTITY,
            "bankAccountIds[0]": "There is no such bank account: `banking.listAccounts` lists those there are.",
            "ownerSharePercent": "Expected a percentage above 0, at most 100.",
        },
    ),
    Refused(
        "businesses.businessPnl",
        {"id": "{biz}"},
        {"fromDate": "Which days? Give one of taxYear, periodId, and fromDate with toDate."},
    ),
    Refused(
        "obligations.create",
        {"legalEntityId": "ent_1", "kind": "custom", "dueDate": "2026-01-01", "periodStartDate": "2026-05-01"},
        {
            "legalEntityId": NO_ENTITY,
            "periodEndDate": "It is before periodStartDate, 2026-05-01: expected that day or a later one.",
            "name": "This field is required of the kind custom: what is it?",
        },
    ),
    Refused(
        "assets.createAccount",
        {"portfolioId": "prt_1", "name": "Shares", "type": "brokerage", "currency": "GBP", "accountNumber": "----"},
        {
            "portfolioId": "There is no such portfolio: `assets.listPortfolios` lists those there are.",
            "accountNumber": "Expected four letters or digits or more.",
        },
    ),
    Refused(
        "assets.createTransaction",
        {"accountId": "acc_1", "type": "buy", "tradeDate": "2030-01-01", "quantity": "-3", "costShare": "0.5"},
        {
            "grossAmount": "A buy needs it, or a `quantity` with its `unitPrice`.",
            "instrumentId": "A buy is of an instrument: give `instrumentId`, or `instrument` for a new one.",
            "costShare": "A buy has none: leave this out.",
            "quantity": "Expected more than 0: the type says which way it goes.",
            "tradeDate": "It lies ahead, and what is to come is not booked: expected 2026-11-20 or an earlier day.",
            "accountId": "There is no such asset account: `assets.listAccounts` lists those there are.",
        },
    ),
    Refused(
        "assets.recordPrice",
        {"instrumentId": "ins_1", "price": "-1", "date": "2030-01-01"},
        {
            "instrumentId": "There is no such instrument: `assets.listInstruments` lists those there are.",
            "price": "Expected 0 or more.",
            "date": TO_COME,
        },
    ),
    Refused(
        "crm.createOpportunity",
        {"name": "Extension", "leadId": "lead_1", "amount": "-1"},
        {
            "leadId": "There is no such lead: `crm.listLeads` lists those there are.",
            "amount": "Expected 0 or more.",
        },
    ),
    Refused(
        "vault.generateTemporalLink",
        {"documentId": "{doc}"},
        {"expiresInSeconds": "A link either is permanent or ends: give permanent: true or expiresInSeconds, not both."},
    ),
    Refused(
        "webhooks.create",
        {"url": "http://localhost/hooks", "events": ["lead.create"]},
        {
            "url": "The URL must start with https://, such as https://example.com/hooks.",
            "events[0]": "There is no event kind 'lead.create'. Did you mean lead.created or rule.created or"
            " tenant.created? GET /events/kinds lists them all.",
        },
    ),
)

STATES = (
    Refused(
        "accounting.updateInvoice",
        {"invoiceId": "{inv_b}", "notes": "Late"},
        "An invoice that is issued cannot be changed: only one that is draft."
        " `accounting.voidInvoice` voids it, and a credit note takes it back.",
        ("issued", ("draft",)),
    ),
    Refused(
        "accounting.voidInvoice",
        {"invoiceId": "{inv_c}", "reason": "By mistake"},
        "An invoice that is paid cannot be voided: only one that is issued or sent."
        " A credit note takes it back, or `accounting.removePayment` its payments first.",
        ("paid", ("issued", "sent")),
    ),
    Refused(
        "accounting.recordPayment",
        {"invoiceId": "{inv}"},
        "An invoice that is draft cannot be paid: only one that is issued, sent or part_paid."
        " Issue it first, with `accounting.issueInvoice`.",
        ("draft", ("issued", "sent", "part_paid")),
    ),
    Refused(
        "landlord.updateProperty",
        {"id": "{prop_b}", "status": "archived"},
        "The tenancy {tcy} has not ended before: end it with `landlord.updateTenancy`, or send keepTenancies: true to"
        " have the property archived all the same.",
        ("active", ()),
    ),
    Refused(
        "landlord.updateTenancy",
        {"id": "{tcy}", "cancelled": True},
        "The tenancy began on 2026-10-01: it is not called off any more, but ends on its `endedDate`.",
        ("active", ("upcoming",)),
    ),
    Refused(
        "landlord.eraseTenant",
        {"id": "{tnt}"},
        "A tenancy of theirs has not ended: end that first, by `endedDate` of `landlord.updateTenancy`.",
        ("current", ("past", "prospective")),
    ),
    Refused(
        "banking.updateAccount",
        {"accountId": "{bac_m}", "currency": "EUR"},
        "It has transactions: its `currency` stays GBP. Another account can have another.",
        ("active", ()),
    ),
    Refused(
        "periods.seal",
        {"id": "{per}"},
        "Only a closed period can be sealed, and this one is open: `periods.close` closes it.",
        ("open", ("closed",)),
    ),
    Refused(
        "businesses.setStatus",
        {"id": "{biz}", "status": "active"},
        "The business is active already: it can become dormant or ceased.",
        ("active", ("dormant", "ceased")),
    ),
    Refused(
        "assets.updatePortfolio",
        {"id": "{prt}", "baseCurrency": "EUR"},
        "The portfolio has transactions: its `baseCurrency` stays GBP. Create another with `assets.createPortfolio`.",
        ("active", ()),
    ),
    Refused(
        "vault.restoreDocument",
        {"documentId": "{doc}"},
        "The document is not in the trash: only one that is deleted can be restored.",
        ("uploaded", ("deleted",)),
    ),
)


def filled(value: Any, ids: dict[str, str]) -> Any:
    """A value with ids in the place of braces."""
    if isinstance(value, dict):
        return {name: filled(each, ids) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, ids) for each in value]
    return value.format(**ids) if isinstance(value, str) else value


async def answered(api: TestedApi, call: Refused, ids: dict[str, str]) -> Any:
    """What is said to a call at its RPC-style path, where all that it has is in one place."""
    operation, values = BY_ID[call.operation], filled(call.values, ids)
    if operation.method == "GET":
        return (await api("GET", operation.alias, query=values)).json()
    return (await api("POST", operation.alias, json=values)).json()


async def test_all_that_a_handler_finds_wrong_is_told_at_once(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        for call in FIELDS:
            problem = await answered(api, call, ids)
            told = {error["path"]: error["message"] for error in problem.get("errors", [])}
            assert (call.operation, told) == (call.operation, filled(call.said, ids))
            first = problem["errors"][0]
            more = f" ({len(told) - 1} more)" if len(told) > 1 else ""
            assert problem["message"] == f"{first['path']}: {first['message']}{more}"


async def test_an_invalid_state_is_told_with_those_that_would_do_and_the_way_out(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        for call in STATES:
            problem = await answered(api, call, ids)
            states = problem.get("currentState"), tuple(problem.get("allowedStates", ("?",)))
            assert (problem["message"], states) == (filled(call.said, ids), call.states)
            assert problem["code"] == "invalid_state"


async def test_what_is_refused_leaves_nothing_behind(open_catalogue: OpenCatalogue) -> None:
    """A client that comes with an invoice is stored on the way to the next fault."""
    async with open_catalogue() as (api, _):
        wrong = {"client": {"name": "Ash Joinery"}, "lines": [LINE], "dueDate": "2020-01-01", "legalEntityId": "ent_1"}
        problem = (await api("POST", "/invoices", json=wrong)).json()
        assert {error["path"] for error in problem["errors"]} == {"dueDate", "legalEntityId"}
        found = (await api("GET", "/clients", query="q=Ash+Joinery")).json()
        assert found["data"] == []


async def test_fields_that_are_wrong_go_before_what_stands_against_the_whole(open_catalogue: OpenCatalogue) -> None:
    """A client that exists is asked about once the fields beside it are right."""
    async with open_catalogue() as (api, _):
        body = {"client": {"name": "Birch & Co"}, "lines": [LINE], "dueDate": "2020-01-01", "propertyId": "prop_1"}
        wrong = (await api("POST", "/invoices", json=body)).json()
        assert (wrong["code"], [error["path"] for error in wrong["errors"]]) == ("validation_failed", ["propertyId"])
        right = (await api("POST", "/invoices", json={**body, "propertyId": None, "dueDate": None})).json()
        assert right["code"] == "possible_duplicate"


OPERATION = re.compile(r"`([a-zA-Z]+)\.([a-zA-Z]+)`")


def named_operations(source: str) -> Iterator[str]:
    """What the texts of a file name like an operation, but for its docstrings."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (f"{area}.{action}" for area, action in OPERATION.findall(node.value))


def test_each_operation_that_a_message_names_is_there() -> None:
    areas = {operation_id.partition(".")[0] for operation_id in BY_ID}
    files = Path(gatewayd.__file__).parent.rglob("*.py")
    named = {name for file in files for name in named_operations(file.read_text())}
    assert {name for name in named if name.partition(".")[0] in areas} - BY_ID.keys() == set()
    assert "accounting.removePayment" in named
