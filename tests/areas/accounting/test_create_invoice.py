"""Creating invoices: what is taken where a field is left out, and every way to be refused."""

import msgspec
import pytest

from gatewayd.clock import HOUR
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import (
    ADDRESS,
    DECODERS,
    LINE,
    OPERATIONS,
    OTHER_BRITISH_VAT_NUMBER,
    Books,
    Json,
    fields_of,
    lines,
)
from tests.support.store import MemoryStore, make_caller


def refused(books: Books, **fields: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.invoice(**fields)
    return caught.value


def count(books: Books, table: str) -> int:
    sql = f"SELECT count(*) FROM {table} WHERE org_id = :org_id"
    return int(books.store.read(lambda tx: tx.value(sql), books.org_id))


# -- what is taken by default


def test_a_draft_has_neither_number_nor_snapshots(registered: Books) -> None:
    invoice = registered.post("createInvoice", clientId=registered.client(), lines=[LINE])
    assert (invoice["status"], invoice["number"]) == ("draft", None)
    assert invoice["clientSnapshot"] is None
    assert invoice["sellerSnapshot"] is None
    assert invoice["balanceDue"] == "120.00"


def test_issued_at_once(registered: Books) -> None:
    client = registered.client("Harbour Ltd", vatNumber="980780684", contactName="Ann")
    invoice = registered.invoice(clientId=client)
    assert (invoice["status"], invoice["number"], invoice["origin"]) == ("issued", "INV-000001", "system")
    assert (invoice["issueDate"], invoice["supplyDate"], invoice["dueDate"]) == (
        "2026-11-20",
        "2026-11-20",
        "2026-12-20",
    )
    assert (invoice["netTotal"], invoice["vatTotal"], invoice["grossTotal"]) == ("100.00", "20.00", "120.00")
    assert invoice["clientSnapshot"]["name"] == "Harbour Ltd"
    assert invoice["clientSnapshot"]["vatNumber"] == "980780684"
    assert invoice["sellerSnapshot"] == {
        "name": "Oak",
        "address": {**dict.fromkeys(("line2", "county", "postcode")), **ADDRESS},
        "vatNumber": "980780684",
        "companyNumber": None,
    }
    assert invoice["isOverdue"] is False


def test_a_line_as_it_comes_back(registered: Books) -> None:
    given = {
        "description": "Oak boards",
        "quantity": "012.50",
        "unit": "pieces",
        "unitPrice": "49.9",
        "discountPercent": "10.0",
        "vatCode": "reduced",
        "category": "turnover",
    }
    (line,) = registered.invoice(lines=[given])["lines"]
    assert line == {
        "position": 1,
        "description": "Oak boards",
        "quantity": "12.5",
        "unit": "pieces",
        "unitPrice": "49.90",
        "discountPercent": "10",
        "vatCode": "reduced",
        "vatRatePercent": "5",
        "category": "turnover",
        "net": "561.38",
        "vat": "28.07",
        "gross": "589.45",
        "propertyId": None,
        "cisLabour": False,
    }


def test_today_is_londons(registered: Books) -> None:
    registered.store.clock.advance((7 * 30 + 1) * 24 * HOUR + 14 * HOUR)  # 2027-06-19 23:30 UTC, summer time
    assert registered.invoice()["issueDate"] == "2027-06-20"


def test_due_date_follows_from_terms(registered: Books) -> None:
    client = registered.client(paymentTermsDays=7)
    assert registered.invoice(clientId=client)["dueDate"] == "2026-11-27"
    assert registered.invoice(clientId=client, paymentTermsDays=0)["dueDate"] == "2026-11-20"
    assert registered.invoice(clientId=client, dueDate="2027-01-01")["dueDate"] == "2027-01-01"


def test_currency_is_by_default_the_clients(books: Books) -> None:
    assert books.invoice(clientId=books.client(currency="JPY"))["grossTotal"] == "100"


def test_a_late_invoice_is_overdue_at_once(books: Books) -> None:
    assert books.invoice(issueDate="2026-10-01", dueDate="2026-11-19")["isOverdue"] is True
    assert books.invoice(issueDate="2026-10-01", dueDate="2026-11-19", status="draft")["isOverdue"] is False


# -- who sells


def test_an_organization_without_entities_sells_itself(books: Books) -> None:
    invoice = books.invoice()
    assert (invoice["legalEntityId"], invoice["sellerSnapshot"]["name"]) == (None, "Oak Ltd")
    assert (invoice["lines"][0]["vatCode"], invoice["vatTotal"]) == ("outside_scope", "0.00")


def test_with_several_entities_one_must_be_named(registered: Books) -> None:
    second = registered.unregistered_entity(name="Elm")
    assert fields_of(refused(registered)) == [("legalEntityId", "required")]
    assert registered.invoice(legalEntityId=second)["sellerSnapshot"]["name"] == "Elm"


def test_another_organizations_entity_is_an_unknown_reference(store: MemoryStore, registered: Books) -> None:
    other = Books(store).entity()
    assert fields_of(refused(registered, legalEntityId=other)) == [("legalEntityId", "unknown_reference")]


def test_an_archived_entity_sells_no_more(registered: Books) -> None:
    old = registered.unregistered_entity(name="Elm")
    registered.store.write(lambda tx: tx.run("UPDATE legal_entities SET archived_at = :now WHERE id = :id", id=old))
    assert fields_of(refused(registered, legalEntityId=old)) == [("legalEntityId", "conflict")]


# -- whom to


def test_every_line_says_what_it_is_for_and_what_one_costs(registered: Books) -> None:
    each = [LINE, {"unitPrice": "1"}, LINE, {"description": "Boards"}, {}]
    assert fields_of(refused(registered, lines=each)) == [
        ("lines[1].description", "required"),
        ("lines[3].unitPrice", "required"),
        ("lines[4].description", "required"),
        ("lines[4].unitPrice", "required"),
    ]


def test_client_or_client_id(registered: Books) -> None:
    client = registered.client()
    both = {"clientId": client, "client": {"name": "Ann"}}
    assert fields_of(refused(registered, **both)) == [("client", "conflict")]
    assert fields_of(refused(registered, clientId=None)) == [("clientId", "required")]


def test_another_organizations_client_is_an_unknown_reference(store: MemoryStore, registered: Books) -> None:
    other = Books(store).client()
    assert fields_of(refused(registered, clientId=other)) == [("clientId", "unknown_reference")]


def test_an_archived_client_gets_no_invoice(registered: Books) -> None:
    client = registered.client()
    registered.store.write(lambda tx: tx.run("UPDATE clients SET archived_at = :now WHERE id = :id", id=client))
    assert fields_of(refused(registered, clientId=client)) == [("clientId", "conflict")]


def test_an_inline_client_is_created_with_the_invoice(registered: Books) -> None:
    invoice = registered.invoice(client={"name": "Ann", "paymentTermsDays": 3})
    (client,) = registered.get("listClients")[0]
    assert (client["id"], invoice["dueDate"]) == (invoice["clientId"], "2026-11-23")
    assert client["balances"]["outstanding"] == "120.00"


def test_an_inline_client_may_be_a_possible_duplicate(registered: Books) -> None:
    first = registered.client("Ann")
    problem = refused(registered, client={"name": "ANN"})
    assert (problem.code, problem.extra["existingId"]) == ("possible_duplicate", first)
    assert registered.invoice(client={"name": "ANN", "allowDuplicate": True})["clientId"] != first


def test_an_inline_client_is_checked_under_its_path(registered: Books) -> None:
    problem = refused(registered, client={"name": "Ann", "vatNumber": "980780685"})
    assert fields_of(problem) == [("client.vatNumber", "invalid_vrn")]


def test_a_refused_invoice_leaves_no_inline_client(registered: Books) -> None:
    refused(registered, client={"name": "Ann"}, lines=lines({"discountPercent": "101"}))
    assert count(registered, "clients") == 0


# -- references, dates, currency


def test_resources_that_do_not_exist_yet_are_unknown_references(registered: Books) -> None:
    problem = refused(
        registered, businessId="biz_1", propertyId="prop_1", bankAccountId="bac_1", lines=lines({"propertyId": "p"})
    )
    assert [path for path, code in fields_of(problem) if code == "unknown_reference"] == [
        "businessId",
        "propertyId",
        "bankAccountId",
        "lines[0].propertyId",
    ]


def test_an_invoice_names_a_business_of_its_organization(registered: Books) -> None:
    business_id = registered.business(registered.invoice()["legalEntityId"])
    made = registered.invoice(businessId=business_id)
    assert made["businessId"] == business_id
    assert [invoice["id"] for invoice in registered.get("listInvoices", f"businessId={business_id}")[0]] == [made["id"]]
    others = Books(registered.store)
    foreign = others.business(others.unregistered_entity())
    assert fields_of(refused(registered, businessId=foreign)) == [("businessId", "unknown_reference")]


def test_all_that_is_named_and_there_is_not_is_told_at_once(registered: Books) -> None:
    parties = {"legalEntityId": "ent_1", "clientId": "cli_1"}
    told = [("legalEntityId", "unknown_reference"), ("clientId", "unknown_reference")]
    assert fields_of(refused(registered, **parties)) == told
    assert fields_of(refused(registered, **parties, businessId="biz_1")) == [("businessId", "unknown_reference"), *told]


def test_a_business_that_is_not_there_hides_no_fault_of_a_line(registered: Books) -> None:
    wrong = {**LINE, "vatCode": "reverse_charge_domestic_standard"}
    problem = refused(registered, businessId="biz_1", lines=[wrong], issueDate="2020-01-01", supplyDate="2020-01-01")
    assert [path for path, _ in fields_of(problem)] == ["businessId", "lines[0].vatCode"]


def test_date_order(registered: Books) -> None:
    problem = refused(registered, issueDate="2026-11-20", dueDate="2026-11-19")
    assert fields_of(problem) == [("dueDate", "date_order")]
    assert registered.invoice(issueDate="2026-11-20", dueDate="2026-11-20")["dueDate"] == "2026-11-20"


@pytest.mark.parametrize("date", ["1973-04-01", "2199-12-31"])
def test_dates_at_their_ends(registered: Books, date: str) -> None:
    invoice = registered.invoice(issueDate=date, supplyDate=date, dueDate=date)
    assert (invoice["issueDate"], invoice["supplyDate"], invoice["dueDate"]) == (date, date, date)


@pytest.mark.parametrize("date", ["1973-03-31", "2200-01-01", "9999-12-31"])
def test_dates_out_of_range(registered: Books, date: str) -> None:
    problem = refused(registered, issueDate=date, supplyDate=date)
    assert fields_of(problem) == [("issueDate", "out_of_range"), ("supplyDate", "out_of_range")]


def test_due_date_and_terms_conflict(registered: Books) -> None:
    problem = refused(registered, dueDate="2026-12-01", paymentTermsDays=3)
    assert fields_of(problem) == [("paymentTermsDays", "conflict")]


def test_an_invoice_has_lines(registered: Books) -> None:
    assert fields_of(refused(registered, lines=None)) == [("lines", "required")]


def test_foreign_currency_needs_a_rate_when_issued(registered: Books) -> None:
    """HMRC publishes none for the ngultrum of Bhutan; of the euro it has 1.193 for a pound in November 2026."""
    unknown = refused(registered, currency="BTN", lines=lines({"vatCode": "outside_scope"}))
    assert fields_of(unknown) == [("fxRate", "required")]
    assert registered.invoice(currency="EUR")["vatTotalBase"] == "16.76"
    assert registered.invoice(currency="EUR", status="draft")["fxRate"] is None
    invoice = registered.invoice(currency="EUR", fxRate="0.8500")
    assert (invoice["fxRate"], invoice["vatTotal"], invoice["vatTotalBase"]) == ("0.85", "20.00", "17.00")
    assert registered.invoice(currency="EUR", lines=lines({"vatCode": "zero"}))["vatTotalBase"] == "0.00"


def test_the_sellers_own_currency_has_no_rate(registered: Books) -> None:
    assert registered.invoice(fxRate="1.0")["fxRate"] is None


@pytest.mark.parametrize(
    ("currency", "rate", "code"),
    [
        ("EUR", "0", "out_of_range"),
        ("EUR", "-1", "out_of_range"),
        ("EUR", "9999999999999", "out_of_range"),
        ("GBP", "2", "conflict"),
    ],
)
def test_rates_of_exchange_that_are_none(registered: Books, currency: str, rate: str, code: str) -> None:
    assert fields_of(refused(registered, currency=currency, fxRate=rate)) == [("fxRate", code)]


# -- VAT


def test_vat_not_registered_names_each_line(books: Books) -> None:
    problem = refused(books, lines=lines({"vatCode": "standard"}, {"vatCode": "exempt"}, {"vatCode": "reduced"}))
    assert fields_of(problem) == [
        ("lines[0].vatCode", "vat_not_registered"),
        ("lines[2].vatCode", "vat_not_registered"),
    ]


def test_registration_is_that_of_the_supply_date(registered: Books) -> None:
    early = {"issueDate": "2026-11-20", "supplyDate": "1999-12-31"}
    assert registered.invoice(**early)["lines"][0]["vatCode"] == "outside_scope"
    problem = refused(registered, **early, lines=lines({"vatCode": "standard"}))
    assert fields_of(problem) == [("lines[0].vatCode", "vat_not_registered")]


def test_rate_is_that_of_the_supply_date(registered: Books) -> None:
    invoice = registered.invoice(supplyDate="2009-12-31")
    assert invoice["lines"][0]["vatRatePercent"] == "15"
    assert invoice["vatTotal"] == "15.00"


def test_a_line_is_refused_for_one_reason(books: Books) -> None:
    problem = refused(books, supplyDate="2020-12-31", lines=lines({"vatCode": "ni_eu_goods_zero"}))
    assert fields_of(problem) == [("lines[0].vatCode", "vat_not_registered")]


def test_vat_rate_invalid_on_date(registered: Books) -> None:
    problem = refused(registered, supplyDate="2020-12-31", lines=lines({"vatCode": "ni_eu_goods_zero"}))
    assert fields_of(problem) == [("lines[0].vatCode", "vat_rate_invalid_on_date")]


def test_a_clients_default_treatment_goes_before_standard(registered: Books) -> None:
    client = registered.client(defaultVatTreatment="zero")
    assert registered.invoice(clientId=client)["lines"][0]["vatCode"] == "zero"
    chosen = registered.invoice(clientId=client, lines=lines({"vatCode": "reduced"}))
    assert chosen["lines"][0]["vatCode"] == "reduced"


def test_no_vat_takes_no_other_code(registered: Books) -> None:
    assert registered.invoice(amountsAre="no_vat")["lines"][0]["vatCode"] == "outside_scope"
    problem = refused(registered, amountsAre="no_vat", lines=lines({"vatCode": "zero"}))
    assert fields_of(problem) == [("lines[0].vatCode", "conflict")]


def test_reverse_charge(registered: Books) -> None:
    client = registered.client(vatNumber=OTHER_BRITISH_VAT_NUMBER)
    invoice = registered.invoice(clientId=client, lines=lines({"vatCode": "reverse_charge_domestic_standard"}, {}))
    assert (invoice["vatTotal"], invoice["reverseChargeVat"], invoice["grossTotal"]) == ("20.00", "20.00", "220.00")
    assert [group["reverseCharge"] for group in invoice["vatSummary"]] == [True, False]


@pytest.mark.parametrize(
    ("number", "country"), [(None, "GB"), ("DE136695976", "GB"), ("123456789", "US"), ("51 824 753 556", "AU")]
)
def test_reverse_charge_needs_vrn(registered: Books, number: str | None, country: str) -> None:
    client = registered.client(**({} if number is None else {"vatNumber": number}), countryCode=country)
    problem = refused(registered, clientId=client, lines=lines({"vatCode": "reverse_charge_domestic_reduced"}))
    assert fields_of(problem) == [("lines[0].vatCode", "reverse_charge_needs_vrn")]


def test_reverse_charge_end_user(registered: Books) -> None:
    client = registered.client(vatNumber=OTHER_BRITISH_VAT_NUMBER, endUser=True)
    problem = refused(registered, clientId=client, lines=lines({"vatCode": "reverse_charge_domestic_standard"}))
    assert fields_of(problem) == [("lines[0].vatCode", "reverse_charge_end_user")]


def test_services_overseas_bear_no_vat(registered: Books) -> None:
    invoice = registered.invoice(lines=lines({"vatCode": "reverse_charge_services_overseas"}))
    assert (invoice["vatTotal"], invoice["reverseChargeVat"]) == ("0.00", "0.00")


def test_total_rounding_shares_the_penny(registered: Books) -> None:
    each = {"unitPrice": "1.11"}
    invoice = registered.invoice(lines=lines(each, each, each), vatRounding="total")
    assert invoice["vatTotal"] == "0.67"
    assert sorted(line["vat"] for line in invoice["lines"]) == ["0.22", "0.22", "0.23"]


def test_discounts(registered: Books) -> None:
    invoice = registered.invoice(lines=lines({"discountPercent": "10"}, {}), discountAmount="19.00")
    assert (invoice["netTotal"], invoice["discountAmount"], invoice["discountTotal"]) == ("171.00", "19.00", "29.00")
    assert [line["net"] for line in invoice["lines"]] == ["81.00", "90.00"]


@pytest.mark.parametrize(
    ("amount", "code"), [("-1", "out_of_range"), ("100.01", "out_of_range"), ("0.001", "invalid_decimal")]
)
def test_discounts_that_are_none(registered: Books, amount: str, code: str) -> None:
    assert fields_of(refused(registered, discountAmount=amount)) == [("discountAmount", code)]


@pytest.mark.parametrize(("percent", "net"), [("0.00", "100.00"), ("100", "0.00")])
def test_discount_percent_at_its_ends(registered: Books, percent: str, net: str) -> None:
    assert registered.invoice(lines=lines({"discountPercent": percent}))["netTotal"] == net


@pytest.mark.parametrize("amount", ["0", "0.01", "100"])
def test_discounts_at_their_ends(registered: Books, amount: str) -> None:
    assert registered.invoice(discountAmount=amount)["discountAmount"] == f"{float(amount):.2f}"


@pytest.mark.parametrize("percent", ["-1", "100.01"])
def test_discount_percent_out_of_range(registered: Books, percent: str) -> None:
    problem = refused(registered, lines=lines({}, {"discountPercent": percent}))
    assert fields_of(problem) == [("lines[1].discountPercent", "out_of_range")]


def test_totals_out_of_range(registered: Books) -> None:
    problem = refused(registered, lines=lines({"unitPrice": "9999999999999"}))
    assert fields_of(problem) == [("lines[0].unitPrice", "out_of_range")]


@pytest.mark.parametrize("price", ["1.23456", "abc", "1e3", "+1"])
def test_invalid_decimal(registered: Books, price: str) -> None:
    problem = refused(registered, lines=lines({"unitPrice": price}))
    assert fields_of(problem) == [("lines[0].unitPrice", "invalid_decimal")]


def test_cis_deduction(store: MemoryStore) -> None:
    books = Books(store)
    books.entity(cis={"subcontractor": True, "verifiedRate": 20})
    labour = lines({"cisLabour": True}, {})
    invoice = books.invoice(clientId=books.client(cisContractor=True), lines=labour)
    assert (invoice["cisDeduction"], invoice["cisRate"], invoice["balanceDue"]) == ("20.00", 20, "220.00")
    assert books.invoice(lines=labour)["cisDeduction"] == "0.00"


# -- numbers, origin, external ids, periods


def test_imported_invoices_bring_their_number(registered: Books) -> None:
    invoice = registered.invoice(origin="imported", number="2019/7", status=None)
    assert (invoice["number"], invoice["origin"], invoice["status"]) == ("2019/7", "imported", "issued")
    assert registered.invoice()["number"] == "INV-000001"


def test_only_administrators_import(registered: Books) -> None:
    registered.caller = make_caller(registered.org_id, role="member")
    problem = refused(registered, origin="imported", number="7")
    assert (problem.code, problem.status) == ("forbidden", 403)
    assert registered.invoice()["number"] == "INV-000001"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"number": "7"}, ("number", "conflict")),
        ({"origin": "imported"}, ("number", "required")),
        ({"origin": "imported", "number": "7", "status": "draft"}, ("status", "conflict")),
    ],
)
def test_numbers_that_cannot_be(registered: Books, fields: Json, error: tuple[str, str]) -> None:
    assert fields_of(refused(registered, **fields)) == [error]


def test_number_taken(registered: Books) -> None:
    first = registered.invoice()
    problem = refused(registered, origin="imported", number="INV-000001")
    assert (problem.code, problem.extra["existingId"]) == ("number_taken", first["id"])


def test_already_exists(store: MemoryStore, registered: Books) -> None:
    Books(store).invoice(externalId="x")
    first = registered.invoice(externalId="x")
    problem = refused(registered, externalId="x")
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": first["id"], "field": "externalId"})
    assert first["externalId"] == "x"


@pytest.mark.parametrize("field", ["issueDate", "supplyDate"])
def test_period_closed(store: MemoryStore, field: str) -> None:
    books = Books(store)
    entity = books.entity()
    store.write(lambda tx: period_locks.close(tx, entity, "2026-10-01", "2026-10-31"), books.org_id)
    problem = refused(books, **{field: "2026-10-31", "dueDate": "2026-12-01"})
    assert problem.code == "period_closed"
    assert books.invoice(**{field: "2026-11-01", "dueDate": "2026-12-01"})["number"] == "INV-000001"
    assert books.invoice(**{field: "2026-10-31"}, dueDate="2026-12-01", status="draft")["status"] == "draft"


def test_examples_are_valid(registered: Books) -> None:
    for name, operation in OPERATIONS.items():
        if operation.has_body:
            DECODERS[name].body(msgspec.json.encode(operation.example))
        else:
            pairs = [(key, value) for key, values in operation.example.items() for value in _each(values)]
            DECODERS[name].query("&".join(f"{key}={value}" for key, value in pairs))


def _each(values: object) -> list[object]:
    return values if isinstance(values, list) else [values]
