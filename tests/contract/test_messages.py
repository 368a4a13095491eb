"""Sixty wrong calls, each with the whole of what is said to it, written by hand and meant to be read."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

from gatewayd.contract import hints
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.errors import Problem
from tests.contract.conftest import OpenCatalogue
from tests.contract.rows import BY_ID, OPERATIONS
from tests.support.api import Fields

LINE = {"description": "Work", "unitPrice": "100.00"}


class Call(NamedTuple):
    """A request that the decoder refuses. `sent` is a query string, a JSON body, or its bytes."""

    operation: str
    sent: str | bytes | dict[str, Any]
    said: dict[str, str]
    """By path. Without a path it is the problem's own message."""


BODIES = (
    # numbers and decimals
    Call(
        "accounting.createInvoice",
        {"paymentTermsDays": 400},
        {"paymentTermsDays": "Expected a whole number from 0 to 365; 400 was given."},
    ),
    Call(
        "accounting.createInvoice",
        {"paymentTermsDays": "30"},
        {"paymentTermsDays": 'Expected a whole number from 0 to 365; "30" was given. Did you mean 30?'},
    ),
    Call(
        "accounting.createInvoice",
        {"lines": [{**LINE, "unitPrice": 12.5}]},
        {
            "lines[0].unitPrice": 'Expected a decimal number in quotation marks, such as "1234.50";'
            " the number 12.5 was given."
        },
    ),
    Call(
        "accounting.createInvoice",
        {"lines": [{**LINE, "unitPrice": "£1,250.00"}]},
        {
            "lines[0].unitPrice": 'Expected a decimal number, such as 1234.50; "£1,250.00" was given.'
            " Did you mean 1250.00?"
        },
    ),
    Call(
        "accounting.createInvoice",
        {"lines": [{**LINE, "unitPrice": "0.12345"}]},
        {
            "lines[0].unitPrice": "Expected a decimal number of at most 4 digits after the point, such as 1234.50;"
            ' "0.12345" was given.'
        },
    ),
    Call(
        "vault.createDocumentRecord",
        {"name": "a.pdf", "mimeType": "application/pdf", "sizeBytes": -5},
        {"sizeBytes": "Expected a whole number from 0 to 1099511627776; -5 was given."},
    ),
    Call(
        "accounting.updateInvoice",
        {"invoiceId": "inv_1", "expectedVersion": 0},
        {"expectedVersion": "Expected a whole number of at least 1; 0 was given."},
    ),
    # dates and times
    Call(
        "accounting.createInvoice",
        {"issueDate": "20/11/2026"},
        {"issueDate": 'Expected a date such as 2026-11-20; "20/11/2026" was given. Did you mean 2026-11-20?'},
    ),
    Call(
        "accounting.createInvoice",
        {"issueDate": "2026-11-20T09:30:00Z"},
        {"issueDate": 'Expected a date such as 2026-11-20; "2026-11-20T09:30:00Z" was given. Did you mean 2026-11-20?'},
    ),
    Call(
        "accounting.createInvoice",
        {"issueDate": "2026-02-30"},
        {"issueDate": "There is no 2026-02-30 in the calendar. Expected a date such as 2026-11-20."},
    ),
    Call(
        "accounting.createInvoice",
        {"issueDate": "tomorrow"},
        {"issueDate": 'Expected a date such as 2026-11-20; "tomorrow" was given.'},
    ),
    Call(
        "accounting.createInvoice",
        {"issueDate": 20261120},
        {"issueDate": "Expected a date such as 2026-11-20; the number 20261120 was given."},
    ),
    # one of several
    Call(
        "legalEntity.createLegalEntity",
        {"name": "Elm Farm", "type": "soletrader"},
        {
            "type": "Expected one of: individual, sole_trader, limited_company, llp, partnership, trust, charity, club,"
            ' other; "soletrader" was given. Did you mean sole_trader?'
        },
    ),
    Call(
        "banking.createAccount",
        {"name": "Current", "type": "crypto"},
        {"type": 'Expected one of: current, savings, card, loan, mortgage, other; "crypto" was given.'},
    ),
    Call(
        "accounting.createInvoice",
        {"currency": "gbp"},
        {"currency": 'Expected a currency code in capital letters, such as GBP; "gbp" was given. Did you mean GBP?'},
    ),
    Call(
        "accounting.createInvoice",
        {"currency": "pounds"},
        {"currency": 'Expected a currency code in capital letters, such as GBP; "pounds" was given.'},
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash", "billingAddress": {"line1": "4 Elm Row", "countryCode": "UK"}},
        {
            "billingAddress.countryCode": 'Expected a country code of two capital letters, such as GB; "UK" was given.'
            " Did you mean GB?"
        },
    ),
    # text
    Call(
        "accounting.createClient",
        {"name": "A" * 412},
        {"name": "Expected text of 1 to 255 characters; 412 were given."},
    ),
    Call(
        "accounting.createClient",
        {"name": 7},
        {"name": "Expected text of 1 to 255 characters, not only spaces; the number 7 was given."},
    ),
    Call("crm.createLead", {"source": ""}, {"source": "Expected text of 1 to 64 characters; none were given."}),
    Call(
        "crm.createLead",
        {"source": None},
        {"source": "Expected text of 1 to 64 characters, such as website; null was given."},
    ),
    Call(
        "assets.createPortfolio",
        {"legalEntityId": "le_1", "name": "  "},
        {"name": 'Expected text of 1 to 120 characters, not only spaces; "  " was given.'},
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash", "email": "ash.example.com"},
        {"email": 'Expected an e-mail address, such as accounts@example.com; "ash.example.com" was given.'},
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash", "email": " ash@example.com"},
        {
            "email": 'Expected an e-mail address, such as accounts@example.com; " ash@example.com" was given.'
            " Did you mean ash@example.com?"
        },
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash\u202e"},
        {"name": "The character U+202E cannot be seen: write it without."},
    ),
    Call(
        "assets.createPortfolio",
        {"legalEntityId": "le_1", "name": "Ash\x00"},
        {"name": "The character U+0000 is not allowed."},
    ),
    Call(
        "assets.createTransaction",
        {
            "accountId": "acc_1",
            "type": "buy",
            "tradeDate": "2026-11-20",
            "instrument": {"name": "Birch", "isin": "gb00bh4hks39"},
        },
        {
            "instrument.isin": "Expected an ISIN of 12 capital letters and digits, such as GB00BH4HKS39;"
            ' "gb00bh4hks39" was given.'
            " Did you mean GB00BH4HKS39?"
        },
    ),
    Call(
        "vault.createFolder",
        {"name": "2026/27"},
        {"name": 'Expected a name without slashes and control characters; "2026/27" was given. Did you mean 2026-27?'},
    ),
    Call(
        "landlord.createProperty",
        {"businessId": "biz_1", "type": "flat", "councilTaxBand": "d"},
        {"councilTaxBand": 'Expected a capital letter from A to I, such as D; "d" was given. Did you mean D?'},
    ),
    # what may be secret is not said back
    Call(
        "banking.createAccount",
        {"name": "Current", "sortCode": "1234"},
        {"sortCode": "Expected six digits, with or without dashes, such as 204500."},
    ),
    Call(
        "banking.createAccount",
        {"name": "Current", "accountNumber": "31926819!"},
        {"accountNumber": "Expected 4 to 34 letters, digits, spaces, dashes or asterisks, such as 31926819."},
    ),
    Call(
        "legalEntity.createLegalEntity",
        {"name": "Elm", "type": "sole_trader", "utr": "1" * 17},
        {"utr": "Expected text of at most 16 characters."},
    ),
    Call(
        "legalEntity.createLegalEntity",
        {"name": "Elm", "type": "sole_trader", "nino": 123456},
        {"nino": "Expected text of at most 16 characters, such as AA123456A."},
    ),
    Call(
        "vault.generateTemporalLink",
        {"documentId": "doc_1", "password": "abc"},
        {"password": "Expected text of 4 to 1024 characters."},
    ),
    # lists, objects and truths
    Call(
        "accounting.createInvoice",
        {"lines": LINE},
        {"lines": "Expected a list of 1 to 200 items; an object was given."},
    ),
    Call(
        "accounting.createInvoice",
        {"lines": ["Work"]},
        {
            "lines[0]": "Expected an object with one or more of description, unitPrice, quantity, creditsLine, unit,"
            ' discountPercent, vatCode, category, propertyId, cisLabour, capitalGoods; "Work" was given.'
        },
    ),
    Call(
        "webhooks.create",
        {"url": "https://example.com", "events": []},
        {"events": "Expected a list of 1 to 100 items; none were given."},
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash", "billingAddress": "4 Elm Row"},
        {"billingAddress": 'Expected an object with `line1` and `countryCode`; "4 Elm Row" was given.'},
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash", "allowDuplicate": "yes"},
        {"allowDuplicate": 'Expected true or false; "yes" was given. Did you mean true?'},
    ),
    # what is missing, and what is not known
    Call(
        "crm.createLead",
        {},
        {"source": "This field is required. Expected text of 1 to 64 characters, such as website."},
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash", "billingAddress": {"line1": "4 Elm Row"}},
        {
            "billingAddress.countryCode": "This field is required."
            " Expected a country code of two capital letters, such as GB."
        },
    ),
    Call(
        "accounting.createInvoice",
        {"clientID": "cli_1"},
        {"clientID": "Unknown field `clientID`. Did you mean `clientId`?"},
    ),
    Call(
        "accounting.createInvoice",
        {"due_date": "2026-11-20"},
        {"due_date": "Unknown field `due_date`. Did you mean `dueDate`?"},
    ),
    Call(
        "accounting.createClient",
        {"name": "Ash", "billingAddress": {"line1": "4 Elm Row", "countryCode": "GB", "zip": "BS1"}},
        {
            "billingAddress.zip": "Unknown field `billingAddress.zip`."
            " Known here: line1, line2, town, county, postcode, countryCode."
        },
    ),
    Call(
        "webhooks.create",
        {"url": "https://example.com", "events": ["lead.created"], "active": True},
        {"active": "Unknown field `active`. Known here: url, events, externalId."},
    ),
    Call(
        "assets.createTransaction",
        {"accountId": "acc_1", "type": "buy", "date": "2026-11-20"},
        {"date": "Unknown field `date`. Did you mean `tradeDate`?"},
    ),
    # all at once
    Call(
        "accounting.createInvoice",
        {
            "clientID": "cli_1",
            "dueDate": "soon",
            "paymentTermsDays": -1,
            "lines": [{"description": "", "unitPrice": "1"}, {"description": "a", "price": "1"}],
        },
        {
            "clientID": "Unknown field `clientID`. Did you mean `clientId`?",
            "lines[1].price": "Unknown field `lines[1].price`. Did you mean `unitPrice`?",
            "lines[0].description": "Expected text of 1 to 2000 characters; none were given.",
            "dueDate": 'Expected a date such as 2026-11-20; "soon" was given.',
            "paymentTermsDays": "Expected a whole number from 0 to 365; -1 was given.",
        },
    ),
    # the body itself
    Call(
        "crm.createLead", b'{"source":"fair",}', {"": "The body is not valid JSON: trailing comma in object (byte 17)."}
    ),
    Call("crm.createLead", b'{"source":"fair"', {"": "The body is not valid JSON: it ends too early."}),
    Call("crm.createLead", b'["fair"]', {"": 'The body must be a JSON object, such as {"name": "value"}.'}),
    Call(
        "crm.createLead",
        b'{"source":"fair","source":"web"}',
        {"": 'The name "source" is given twice in one object: send it once.'},
    ),
)

QUERIES = (
    Call("accounting.listInvoices", "limit=400", {"limit": "Expected a whole number from 1 to 100; 400 was given."}),
    Call(
        "accounting.listInvoices", "limit=many", {"limit": 'Expected a whole number from 1 to 100; "many" was given.'}
    ),
    Call(
        "accounting.listInvoices",
        "limit=10&limit=20",
        {"": "The parameter `limit` is given more than once: send it once."},
    ),
    Call("accounting.listInvoices", "limt=10", {"limt": "Unknown parameter `limt`. Did you mean `limit`?"}),
    Call(
        "accounting.listInvoices",
        "status=isued",
        {
            "status[0]": "Expected one of: draft, issued, sent, part_paid, paid, void, overdue;"
            ' "isued" was given. Did you mean issued?'
        },
    ),
    Call(
        "accounting.listInvoices",
        "updatedSince=2026-11-20",
        {
            "updatedSince": 'Expected a time with its zone, such as 2026-11-20T09:30:00Z; "2026-11-20" was given.'
            " Did you mean 2026-11-20T00:00:00Z?"
        },
    ),
    Call(
        "periods.list",
        "taxYear=2026/27",
        {"taxYear": 'Expected a tax year, such as 2026-27; "2026/27" was given. Did you mean 2026-27?'},
    ),
    Call("periods.list", "status=null", {"status[0]": "Leave the parameter out instead of sending null."}),
    Call(
        "assets.searchInstruments",
        "limit=5",
        {"q": "This parameter is required. Expected text of 2 to 64 characters, such as vodafone."},
    ),
)


class Sent(NamedTuple):
    """A request to the API. In path, body and `message` braces hold the ids of what is seeded, by prefix."""

    method: str
    path: str
    body: dict[str, Any] | None
    status: int
    code: str
    message: str
    headers: Fields = ()
    token: str | None = "good"


SENT = (
    Sent("GET", "/v1/invoices", None, 404, "not_found", "There is nothing at this path. Did you mean /invoices?"),
    Sent("GET", "/clinets", None, 404, "not_found", "There is nothing at this path. Did you mean /clients?"),
    Sent(
        "GET",
        "/tenancies",
        None,
        404,
        "not_found",
        "There is nothing at this path. Did you mean /landlord/listTenancies?",
    ),
    Sent(
        "GET",
        "/legal-entities",
        None,
        404,
        "not_found",
        "There is nothing at this path. Did you mean /legalEntity/getLegalEntities?",
    ),
    Sent("GET", "/periods", None, 404, "not_found", "There is nothing at this path. Did you mean /periods/list?"),
    Sent(
        "POST",
        "/invoices/{inv}/isue",
        {},
        404,
        "not_found",
        "There is nothing at this path. Did you mean /invoices/{{invoiceId}}/issue?",
    ),
    Sent("GET", "/wp-login.php", None, 404, "not_found", "There is nothing at this path."),
    Sent("DELETE", "/invoices", None, 405, "method_not_allowed", "DELETE is not allowed here: use GET or POST."),
    Sent(
        "GET",
        "/invoices",
        None,
        406,
        "not_acceptable",
        "This API answers JSON: send Accept: application/json, or leave Accept out.",
        ((b"accept", b"text/html"),),
    ),
    Sent(
        "POST",
        "/clients",
        {"name": "Ash"},
        415,
        "unsupported_media_type",
        "Expected JSON: send it with Content-Type: application/json.",
        ((b"content-type", b"text/plain"),),
    ),
    Sent(
        "GET",
        "/invoices",
        None,
        403,
        "insufficient_scope",
        "This operation needs the scope accounting:read: use a credential that carries it.",
        token="narrow",
    ),
    Sent(
        "POST",
        "/clients",
        {"name": "Birch & Co"},
        409,
        "possible_duplicate",
        "A client with this name or number exists: {cli}. Use that one, or send allowDuplicate: true.",
    ),
    Sent(
        "PATCH",
        "/clients/{cli}",
        {"notes": "Pays late", "expectedVersion": 99},
        409,
        "version_conflict",
        "Version 99 was expected, but version 1 is stored: read it again, then repeat the change.",
    ),
    Sent(
        "PATCH",
        "/clients/{cli}",
        {"clientId": "cli_2", "notes": "Pays late"},
        422,
        "validation_failed",
        'clientId: The path has "{cli}" and the body something else: leave it out of the body.',
    ),
    Sent(
        "POST",
        "/invoices/{inv}/void",
        {"reason": "By mistake"},
        409,
        "invalid_state",
        "An invoice that is draft cannot be voided: only one that is issued or sent."
        " `accounting.deleteInvoice` deletes a draft.",
    ),
    Sent(
        "POST",
        "/clients?limit=5",
        {"name": "Ash"},
        400,
        "unknown_parameter",
        "This operation takes its parameters in the JSON body, not in the query string.",
    ),
    Sent(
        "POST",
        "/invoices/{inv}/issue",
        {},
        400,
        "invalid_request",
        "Period-Override must be closing, or be left out.",
        ((b"period-override", b"yes"),),
    ),
)


def decode(decoder: RequestDecoder, sent: str | bytes | dict[str, Any]) -> msgspec.Struct:
    """A query string, or a body."""
    if isinstance(sent, str):
        return decoder.query(sent)
    return decoder.body(sent if isinstance(sent, bytes) else msgspec.json.encode(sent))


def refused(call: Call) -> Problem:
    """What the decoder says to a call."""
    decoder = RequestDecoder(BY_ID[call.operation])
    with pytest.raises(Problem) as caught:
        decode(decoder, call.sent)
    return caught.value


@pytest.mark.parametrize("call", [*BODIES, *QUERIES], ids=lambda call: f"{call.operation} {list(call.said)}")
def test_a_wrong_call_is_told_what_would_be_right(call: Call) -> None:
    problem = refused(call)
    said = {error.path: error.message for error in problem.errors} or {"": problem.message}
    assert said == call.said


async def test_a_refusal_says_the_way_out(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        api.token("org_a", "narrow", ("vault:read",))
        for sent in SENT:
            path, _, query = sent.path.format(**ids).partition("?")
            body = msgspec.UNSET if sent.body is None else sent.body
            reply = await api(sent.method, path, query=query, json=body, headers=sent.headers, token=sent.token)
            told = reply.status, reply.code, reply.json()["message"]
            assert told == (sent.status, sent.code, sent.message.format(**ids)), sent


async def test_a_key_used_twice_and_an_id_that_is_taken(open_catalogue: OpenCatalogue) -> None:
    key = ((b"idempotency-key", b"k1"),)
    async with open_catalogue() as (api, _):
        made = await api("POST", "/clients", json={"name": "Ash", "externalId": "c-1"}, headers=key)
        other = await api("POST", "/clients", json={"name": "Oak"}, headers=key)
        taken = await api("POST", "/clients", json={"name": "Elm", "externalId": "c-1"})
        assert (other.code, other.json()["message"]) == (
            "idempotency_conflict",
            "This Idempotency-Key was used with another request: send this one under a new key.",
        )
        assert (taken.code, taken.json()["message"]) == (
            "already_exists",
            f"A client with this externalId exists: {made.json()['id']}. Use that one, or another externalId.",
        )


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_each_pattern_has_words(operation: Operation) -> None:
    """Nobody is told a regular expression: a pattern has a `form`, is a decimal's, or asks for some text."""
    assert [path for path, hint in walked(operation.request) if is_wordless(hint)] == []


def walked(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a request and of the structs inside it, with their types."""
    for f in hints.fields_of(struct):
        for hint in filter(None, (f.type, hints.item_hint(f.type))):
            yield f"{prefix}{f.encode_name}", hint
            if (inner := hints.struct_in(hint)) is not None:
                yield from walked(inner, f"{prefix}{f.encode_name}.")


def is_wordless(hint: Any) -> bool:
    """Whether there is a pattern that nothing explains."""
    if hints.bound(hint, "pattern") in (None, r"\S") or hints.said(hint, "form") is not None:
        return False
    return hints.said(hint, "code") != "invalid_decimal" or hints.example(hint) is None


def test_a_message_never_holds_more_than_it_can_show() -> None:
    problem = refused(
        Call("accounting.createInvoice", {"issueDate": "9" * 5_000, "x" * 5_000: 1, "lines": [7] * 5_000}, {})
    )
    assert len(problem.errors) == 100
    assert max(len(error.message) for error in problem.errors) < 200
