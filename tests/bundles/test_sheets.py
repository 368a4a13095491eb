"""The sheets of a bundle have every column of their tables, but those that are left out for a reason."""

import re
from collections.abc import Iterator

import pytest

from gatewayd.bundles import sheets
from gatewayd.bundles.sheets import Sheet
from gatewayd.store.sqlite import connections, schema
from tests.bundles.conftest import OpenFirm
from tests.support.store import START

KEPT = "org_id created_at updated_at version search_text wire external_id"
"""Of the store itself, and of other programs: they change without the books."""

LEFT_OUT = {
    "period.csv": "locked_through_date archived_at",  # end_date of what is closed; only what is not archived is sealed
    "legal_entity.csv": "utr_hint nino_sealed nino_hint email phone website archived_at numbered_as_organization"
    " itsa_status_tax_year itsa_status_status itsa_status_reason itsa_status_fetched_at",  # and no NI number
    "former_vat_terms.csv": "legal_entity_id",
    "businesses.csv": "legal_entity_id trading_type quarterly_period_tax_year address bank_account_ids archive_reason"
    " archived_on tax_sync_status tax_sync_synced_at tax_sync_error tax_sync_latency tax_sync_year_of_migration",
    # what later payments make of it, what follows from the lines, and what became of its paper
    "invoices.csv": "open_due_date head_length origin seller_key legal_entity_id vat_rounding discount_amount"
    " vat_summary paid_total credited_total balance_due terms bank_account_id sent_at viewed_at paid_date voided_at"
    " pdf_document_id"
    " quote_id recurring_id"  # what it was made of
    " overdue_for",  # what was told of it
    "invoice_lines.csv": "vat_code_defaulted",
    # what later payments make of it
    "bills.csv": "legal_entity_id paid_total credited_total balance_due paid_date voided_at open_due_date repay_vat_on"
    " number_folded",
    "client_payments.csv": "legal_entity_id",
    "bank_accounts.csv": "legal_entity_id institution_id nickname holder_name bic status overdraft_limit business_ids"
    " balances coverage csv_mapping last_import_id last_import_at statement_name",
    "bank_statements.csv": "applied available_balance",
    "stated_balances.csv": "opens_on",  # the day after
    # how a line was found again, and what its allocations leave of it
    "bank_transactions.csv": "allocated status end_to_end_id fit_id bank_transaction_code merchant_category_code"
    " fingerprint match_key",
    "allocations.csv": "import_id legal_entity_id",
    # what was told of it, when it was asked for, and how the calendar tells several apart
    "obligations.csv": "legal_entity_id slot last_checked_at due_soon_for overdue_for calculated",
}


def columns() -> dict[str, list[str]]:
    """Of each table."""
    connection = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(connection, schema.packaged(), START)
    names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = {name: [str(row[1]) for row in connection.execute(f"PRAGMA table_info({name})")] for name in names}
    connection.close()
    return found


TABLES = columns()


def parts(sheet: Sheet) -> Iterator[str]:
    """What the statement of a sheet answers with, and the table that it reads first."""
    answered, _, rest = sheet.sql.partition("FROM")
    yield answered
    yield rest.split()[0]


@pytest.mark.parametrize("sheet", sheets.SHEETS, ids=lambda sheet: sheet.path)
def test_a_sheet_has_every_column_of_its_table(sheet: Sheet) -> None:
    """A column that a migration adds goes into the sheet, or here with its reason."""
    answered, table = parts(sheet)
    left_out = set(LEFT_OUT.get(sheet.path, "").split())
    read = set(re.findall(r"\w+", answered))
    assert sorted(set(TABLES[table]) - read - left_out - set(KEPT.split())) == []
    assert sorted(left_out - set(TABLES[table])) == [], "there is no such column any more"
    assert sorted(left_out & read) == [], "it is in the sheet"


def test_no_sheet_is_forgotten_here() -> None:
    assert LEFT_OUT.keys() <= {sheet.path for sheet in sheets.SHEETS}
    assert len({sheet.path for sheet in sheets.SHEETS}) == len(sheets.SHEETS)


async def test_what_was_stated_paid_abroad_and_marked_is_in_the_bundle(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        part = {"businessId": firm.ids["biz"], "category": "adminCosts", "vatCode": "standard", "capitalGoods": True}
        await firm.spend(firm.ids["left"], part)
        account = firm.ids["bac"]
        for date, balance in (("2025-04-04", "9.00"), ("2025-04-05", "1.00"), ("2026-04-05", "-2.50")):
            await firm.call("banking.stateBalance", accountId=account, date=date, balance=balance)
        bill = {"clientId": firm.ids["cli"], "currency": "USD", "issueDate": "2025-09-01", "status": "issued"}
        line = {"description": "Chairs", "unitPrice": "100.00", "vatCode": "outside_scope"}
        of = {"legalEntityId": firm.ids["ent"], "fxRate": "0.75", "lines": [line]}
        made = await firm.call("accounting.createInvoice", **bill, **of)
        await firm.call(
            "accounting.recordPayment", invoiceId=made["id"], amount="100.00", date="2025-10-01", fxRate="0.8"
        )
        await firm.close()
        seal = await firm.seal()
        stated = await firm.table(seal, sheets.STATED)
        marked = await firm.table(seal, sheets.ALLOCATIONS)
        invoices = await firm.table(seal, sheets.INVOICES)
        payments = await firm.table(seal, "payments.csv")
    assert [(row["date"], row["balance"], row["currency"]) for row in stated] == [
        ("2025-04-05", "1.00", "GBP"),  # what the year begins with
        ("2026-04-05", "-2.50", "GBP"),
    ]
    assert [(row["vatCode"], row["capitalGoods"]) for row in marked if row["sourceId"] == firm.ids["left"]] == [
        ("standard", "1")
    ]
    (foreign,) = (row for row in invoices if row["id"] == made["id"])
    assert (foreign["fxRate"], foreign["baseCurrency"], foreign["vatTotalBase"]) == ("0.75", "GBP", "0.00")
    assert [(row["fxRate"], row["amount"]) for row in payments if row["invoiceId"] == made["id"]] == [("0.8", "100.00")]


async def test_bills_and_what_paid_them_are_in_the_bundle(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        line = {"description": "Oak boards", "amount": "100.00", "category": "costOfGoods", "vatAmount": "20.00"}
        owed = {"supplierId": firm.ids["cli"], "businessId": firm.ids["biz"], "lines": [line]}
        bill = await firm.call("accounting.createBill", **owed, number="S1", billDate="2025-09-01")
        of = {"kind": "credit_note", "creditsBillId": bill["id"], "lines": [{**line, "amount": "10", "vatAmount": "2"}]}
        await firm.call("accounting.createBill", **of, number="C1", billDate="2025-10-01")
        await firm.call("accounting.recordBillPayment", billId=bill["id"], amount="60.00", date="2025-09-20")
        await firm.call("accounting.createBill", **owed, number="S0", billDate="2025-09-02", status="draft")
        await firm.close()
        seal = await firm.seal()
        bills = await firm.table(seal, sheets.BILLS)
        lines = await firm.table(seal, "bill_lines.csv")
        payments = await firm.table(seal, "bill_payments.csv")
        rows = await firm.table(seal, "profit_and_loss_rows.csv")
    assert [(row["number"], row["kind"], row["grossTotal"]) for row in bills] == [
        ("S1", "bill", "120.00"),
        ("C1", "credit_note", "12.00"),
    ]
    assert [(row["net"], row["vat"]) for row in lines] == [("100.00", "20.00"), ("10.00", "2.00")]
    assert [(row["date"], row["amount"]) for row in payments] == [("2025-09-20", "60.00")]
    assert {row["source"] for row in rows if row["billId"] == bill["id"]} & {"bill", "bill_payment"}
