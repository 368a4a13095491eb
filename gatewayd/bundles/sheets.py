"""The tables of a bundle that are rows of the books: what belongs to a period, and how a row becomes cells. Reads only.

The first column of each names the row, so that two bundles can be compared. Money is in major units of the row's
`currency`. Left out is what changes without the period's books: versions, when a row was written last, and what later
payments make of an invoice.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.areas.legal_entities.rows import opened_utr
from gatewayd.clock import Instant, to_wire
from gatewayd.ledger.calendar.periods import PeriodRow
from gatewayd.ledger.csv_text import Cell
from gatewayd.ledger.imports.import_runs import VISIBLE_LINES
from gatewayd.ledger.results.invoiced_income import of_business
from gatewayd.money import from_minor
from gatewayd.store import ReadTx, Row

_OF_BUSINESS: Final = "(CAST(:business_id AS TEXT) IS NULL OR business_id = :business_id)"
_SELECT_PERIOD = """
SELECT id, legal_entity_id, business_id, type, label, tax_year, start_date, end_date, cumulative, filing_due_date,
    status, closed_at, closed_by, forced_reason, reopened_count, reopened_reason
FROM periods WHERE org_id = :org_id AND id = :period_id
"""
_SELECT_ENTITY = """
SELECT id, name, legal_name, type, company_number, utr_sealed, vat_number, vat_status, vat_effective_date,
    vat_deregistration_date, vat_scheme, vat_return_frequency, vat_stagger_group, vat_flat_rate_category,
    vat_flat_rate_percent, vat_flat_rate_start_date, accounting_year_end_month, accounting_year_end_day,
    incorporation_date, base_currency, country_code, tax_residency, address, vat_period_end_month, cis_contractor,
    cis_subcontractor, cis_verified_rate
FROM legal_entities WHERE org_id = :org_id AND id = :legal_entity_id
"""
_SELECT_FORMER_VAT_TERMS = """
SELECT last_day, last_day, scheme, flat_rate_category, flat_rate_percent, flat_rate_start_date, registered_from
FROM former_vat_terms
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND last_day >= :first
ORDER BY last_day
"""
_SELECT_BUSINESSES = """
SELECT id, type, name, trading_name, status, commencement_date, cessation_date, accounting_basis,
    quarterly_period_type, uses_consolidated_expenses, currency, owner_share_percent, tax_business_id, archived_at
FROM businesses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR id = :business_id)
ORDER BY id
"""
_SELECT_FORMER_SHARES = """
SELECT f.business_id || '/' || f.property_id || '/' || f.last_day, f.business_id, nullif(f.property_id, ''), f.last_day,
    f.percent
FROM former_owner_shares AS f JOIN businesses AS b ON b.id = f.business_id AND b.org_id = f.org_id
WHERE f.org_id = :org_id AND b.legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR f.business_id = :business_id) AND f.last_day >= :first
ORDER BY f.business_id, f.property_id, f.last_day
"""
_INVOICES_OF_PERIOD = f"""
SELECT id FROM invoices
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND {of_business("invoices")} AND status <> 'draft'
    AND (issue_date BETWEEN :first AND :last OR supply_date BETWEEN :first AND :last
        OR id IN (SELECT invoice_id FROM invoice_payments WHERE org_id = :org_id AND date BETWEEN :first AND :last)
        OR id IN (SELECT credits_invoice_id FROM invoices
            WHERE org_id = :org_id AND credits_invoice_id IS NOT NULL AND status <> 'draft'
                AND (issue_date BETWEEN :first AND :last OR supply_date BETWEEN :first AND :last)))
"""
_SELECT_INVOICES = f"""
SELECT id, number, kind, CASE WHEN status = 'void' THEN 'void' ELSE 'issued' END, business_id, client_id,
    credits_invoice_id, issue_date, supply_date, due_date, currency, base_currency, fx_rate, amounts_are, net_total,
    vat_total, gross_total, discount_total, reverse_charge_vat, cis_deduction, reference, po_number, notes,
    void_reason, client_snapshot, seller_snapshot, fx_rate_source, fx_rate_date, vat_total_base, cis_rate, property_id
FROM invoices WHERE org_id = :org_id AND id IN ({_INVOICES_OF_PERIOD}) ORDER BY issue_date, id
"""
_SELECT_INVOICE_LINES = f"""
SELECT l.invoice_id || '/' || CAST(l.position AS TEXT), l.invoice_id, l.position, l.description, l.quantity, l.unit,
    i.currency, l.unit_price, l.discount_percent, l.vat_code, l.vat_rate_percent, l.category, l.net, l.vat, l.gross,
    l.reverse_charge_vat, l.property_id, l.cis_labour, l.capital_goods, l.credits_line
FROM invoice_lines AS l JOIN invoices AS i ON i.id = l.invoice_id AND i.org_id = l.org_id
WHERE l.org_id = :org_id AND l.invoice_id IN ({_INVOICES_OF_PERIOD}) ORDER BY l.invoice_id, l.position
"""
_SELECT_PAYMENTS = f"""
SELECT p.invoice_id || '/' || CAST(p.position AS TEXT), p.invoice_id, p.position, p.date, i.currency, p.amount,
    p.bank_transaction_id, p.method, p.reference, p.fx_rate, p.fx_rate_source, p.client_payment_id
FROM invoice_payments AS p JOIN invoices AS i ON i.id = p.invoice_id AND i.org_id = p.org_id
WHERE p.org_id = :org_id AND p.date BETWEEN :first AND :last AND p.invoice_id IN ({_INVOICES_OF_PERIOD})
ORDER BY p.date, p.invoice_id, p.position
"""
_BILLS_OF_PERIOD = """
SELECT id FROM bills
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR business_id = :business_id) AND status <> 'draft'
    AND (bill_date BETWEEN :first AND :last OR tax_point BETWEEN :first AND :last
        OR id IN (SELECT bill_id FROM bill_payments WHERE org_id = :org_id AND date BETWEEN :first AND :last)
        OR id IN (SELECT credits_bill_id FROM bills
            WHERE org_id = :org_id AND credits_bill_id IS NOT NULL AND status <> 'draft'
                AND (bill_date BETWEEN :first AND :last OR tax_point BETWEEN :first AND :last)))
"""
_SELECT_BILLS = f"""
SELECT id, kind, CASE WHEN status = 'void' THEN 'void' ELSE 'entered' END, business_id, supplier_id, claimant, number,
    credits_bill_id, bill_date, tax_point, due_date, currency, base_currency, fx_rate, fx_rate_source, fx_rate_date,
    amounts_are, net_total, vat_total, gross_total, notes, void_reason, document_ids
FROM bills WHERE org_id = :org_id AND id IN ({_BILLS_OF_PERIOD}) ORDER BY bill_date, id
"""
_SELECT_BILL_LINES = f"""
SELECT l.bill_id || '/' || CAST(l.position AS TEXT), l.bill_id, l.position, l.description, b.currency, l.category,
    l.vat_code, l.net, l.vat, l.gross, l.accounted_vat, l.disallowable, l.disallowable_percent, l.capital_goods,
    l.property_id, l.unit_id, l.tenancy_id
FROM bill_lines AS l JOIN bills AS b ON b.id = l.bill_id AND b.org_id = l.org_id
WHERE l.org_id = :org_id AND l.bill_id IN ({_BILLS_OF_PERIOD}) ORDER BY l.bill_id, l.position
"""
_SELECT_BILL_PAYMENTS = f"""
SELECT p.bill_id || '/' || CAST(p.position AS TEXT), p.bill_id, p.position, p.date, b.currency, p.amount,
    p.bank_transaction_id, p.method, p.reference, p.fx_rate, p.fx_rate_source
FROM bill_payments AS p JOIN bills AS b ON b.id = p.bill_id AND b.org_id = p.org_id
WHERE p.org_id = :org_id AND p.date BETWEEN :first AND :last AND p.bill_id IN ({_BILLS_OF_PERIOD})
ORDER BY p.date, p.bill_id, p.position
"""
_SELECT_WRITE_OFFS = f"""
SELECT w.invoice_id, w.date, i.currency, w.amount, w.reason, w.vat_relief, w.vat_relief_date
FROM invoice_write_offs AS w JOIN invoices AS i ON i.id = w.invoice_id AND i.org_id = w.org_id
WHERE w.org_id = :org_id AND i.legal_entity_id = :legal_entity_id AND {of_business("i")}
    AND (w.date BETWEEN :first AND :last OR w.vat_relief_date BETWEEN :first AND :last)
ORDER BY w.date, w.invoice_id
"""
_SELECT_CLIENT_PAYMENTS = f"""
SELECT id, kind, client_id, date, currency, amount, on_account, bank_transaction_id, method, reference
FROM client_payments
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND date BETWEEN :first AND :last
    AND (CAST(:business_id AS TEXT) IS NULL OR id IN (
        SELECT client_payment_id FROM invoice_payments WHERE org_id = :org_id AND invoice_id IN ({_INVOICES_OF_PERIOD})
    ))
ORDER BY date, id
"""
_ALLOCATIONS_OF_PERIOD: Final = """
{a}.org_id = :org_id AND {a}.legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR {a}.business_id = :business_id)
    AND ({a}.date BETWEEN :first AND :last OR {a}.document_date BETWEEN :first AND :last)
"""
_SELECT_ALLOCATIONS = f"""
SELECT id, source_type, source_id, business_id, property_id, unit_id, tenancy_id, mortgage_id, invoice_id,
    counterpart_id, date, document_date, direction, currency, amount, vat_amount, disallowable_amount, fx_rate,
    category, purpose, description, matched_by, rule_id, reason, document_ids, vat_code, capital_goods, interest_source,
    bill_id
FROM allocations WHERE {_ALLOCATIONS_OF_PERIOD.format(a="allocations")} ORDER BY date, id
"""
_LINE = """
lines.id, lines.account_id, lines.date, lines.currency, lines.amount, lines.booking_date, lines.value_date,
    lines.original_currency, lines.original_amount, lines.fx_rate, lines.description, lines.raw_description,
    lines.counterparty_name, lines.counterparty_account, lines.reference, lines.bank_reference, lines.type,
    lines.balance_after, lines.source, lines.import_id
"""
_SELECT_LINES = f"""
SELECT {_LINE} FROM bank_transactions AS lines
WHERE lines.org_id = :org_id AND lines.account_id = :account_id AND lines.status = 'booked'
    AND lines.date BETWEEN :first AND :last AND {VISIBLE_LINES}
ORDER BY lines.date, lines.id
"""
_SELECT_LINES_ALLOCATED = f"""
SELECT {_LINE}
FROM allocations AS a JOIN bank_transactions AS lines ON lines.org_id = a.org_id AND lines.id = a.source_id
WHERE {_ALLOCATIONS_OF_PERIOD.format(a="a")} AND {VISIBLE_LINES} AND a.id = (
    SELECT other.id FROM allocations AS other
    WHERE other.source_id = a.source_id AND {_ALLOCATIONS_OF_PERIOD.format(a="other")}
    ORDER BY other.date, other.id LIMIT 1
)
ORDER BY a.date, a.id
"""
"""Each line once, at the first of its allocations: none has to be remembered, and none to be sorted."""
_SELECT_ACCOUNT = """
SELECT id, name, type, usage, currency, sort_code, account_number, iban FROM bank_accounts
WHERE org_id = :org_id AND id = :account_id
"""
_SELECT_STATEMENTS = """
SELECT import_id || '/' || CAST(statement AS TEXT), s.account_id, s.from_date, s.to_date, a.currency,
    s.opening_balance, s.closing_balance, s.balanced
FROM bank_statements AS s JOIN bank_accounts AS a ON a.id = s.account_id AND a.org_id = s.org_id
WHERE s.org_id = :org_id AND s.account_id = :account_id AND s.applied = 1
    AND s.from_date <= :last AND coalesce(s.to_date, s.from_date) >= :first
ORDER BY s.from_date, s.import_id, s.statement
"""
_SELECT_STATED = """
SELECT id, account_id, date, currency, balance, note FROM stated_balances
WHERE org_id = :org_id AND account_id = :account_id AND (date BETWEEN :first AND :last OR opens_on = :first)
ORDER BY date
"""
_OBLIGATIONS_OF_PERIOD = f"""
org_id = :org_id AND legal_entity_id = :legal_entity_id AND {_OF_BUSINESS}
    AND (period_id = :period_id OR period_end_date BETWEEN :first AND :last)
"""
_SELECT_OBLIGATIONS = f"""
SELECT id, kind, name, business_id, period_id, period_start_date, period_end_date, due_date, predicted_due_date,
    status, received_date, period_key, source, confidence, currency, amount_due, penalty, undecided, dismissed,
    fulfilled_at
FROM obligations WHERE {_OBLIGATIONS_OF_PERIOD} ORDER BY due_date, id
"""
_SELECT_OBLIGATION_EVENTS = f"""
SELECT id, obligation_id, type, at, noted_by, detail FROM obligation_events
WHERE org_id = :org_id AND obligation_id IN (SELECT id FROM obligations WHERE {_OBLIGATIONS_OF_PERIOD}) ORDER BY id
"""


class Scope(NamedTuple):
    """Whose rows of which days: those of a period."""

    period: PeriodRow
    accounts: tuple[str, ...]

    @property
    def values(self) -> dict[str, object]:
        """What the statements name."""
        period = self.period
        return {
            "period_id": period.id,
            "legal_entity_id": period.legal_entity_id,
            "business_id": period.business_id,
            "first": period.start_date,
            "last": period.end_date,
        }


class Sheet(NamedTuple):
    """A table: its file, its columns in the order of the statement, and how often the statement is asked.

    Others read them: a column is added at the end (decision 0023).

    A column is `name`, `name:money` of the row's currency, `name:original` and `name:base` of its other ones,
    `name:time`, or `name:utr`, which is sealed.
    """

    path: str
    columns: tuple[str, ...]
    sql: str
    by_account: bool = False

    @property
    def heading(self) -> list[str]:
        return [column.partition(":")[0] for column in self.columns]


def _columns(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_LINE_COLUMNS: Final = _columns(
    "id accountId date currency amount:money bookingDate valueDate originalCurrency originalAmount:original fxRate"
    " description rawDescription counterpartyName counterpartyAccount reference bankReference type balanceAfter:money"
    " source importId"
)
LINES: Final = "bank_transactions.csv"
STATED: Final = "stated_balances.csv"
INVOICES: Final = "invoices.csv"
BILLS: Final = "bills.csv"
ALLOCATIONS: Final = "allocations.csv"
SHEETS: Final = (
    Sheet(
        "period.csv",
        _columns(
            "id legalEntityId businessId type label taxYear startDate endDate cumulative filingDueDate status"
            " closedAt:time closedBy forcedReason reopenedCount reopenedReason"
        ),
        _SELECT_PERIOD,
    ),
    Sheet(
        "legal_entity.csv",
        _columns(
            "id name legalName type companyNumber utr:utr vatNumber vatStatus vatEffectiveDate vatDeregistrationDate"
            " vatScheme vatReturnFrequency vatStaggerGroup vatFlatRateCategory vatFlatRatePercent"
            " vatFlatRateStartDate accountingYearEndMonth accountingYearEndDay incorporationDate baseCurrency"
            " countryCode taxResidency address vatPeriodEndMonth cisContractor cisSubcontractor cisVerifiedRate"
        ),
        _SELECT_ENTITY,
    ),
    Sheet(
        "former_vat_terms.csv",
        _columns("id lastDay scheme flatRateCategory flatRatePercent flatRateStartDate registeredFrom"),
        _SELECT_FORMER_VAT_TERMS,
    ),
    Sheet(
        "businesses.csv",
        _columns(
            "id type name tradingName status commencementDate cessationDate accountingBasis quarterlyPeriodType"
            " usesConsolidatedExpenses currency ownerSharePercent taxBusinessId archivedAt:time"
        ),
        _SELECT_BUSINESSES,
    ),
    Sheet(
        "former_owner_shares.csv",
        _columns("id businessId propertyId lastDay percent"),
        _SELECT_FORMER_SHARES,
    ),
    Sheet(
        INVOICES,
        _columns(
            "id number kind status businessId clientId creditsInvoiceId issueDate supplyDate dueDate currency"
            " baseCurrency fxRate amountsAre netTotal:money vatTotal:money grossTotal:money discountTotal:money"
            " reverseChargeVat:money cisDeduction:money reference poNumber notes voidReason client seller"
            " fxRateSource fxRateDate vatTotalBase:base cisRate propertyId"
        ),
        _SELECT_INVOICES,
    ),
    Sheet(
        "invoice_lines.csv",
        _columns(
            "id invoiceId position description quantity unit currency unitPrice discountPercent vatCode"
            " vatRatePercent category net:money vat:money gross:money reverseChargeVat:money propertyId cisLabour"
            " capitalGoods creditsLine"
        ),
        _SELECT_INVOICE_LINES,
    ),
    Sheet(
        "payments.csv",
        _columns(
            "id invoiceId position date currency amount:money bankTransactionId method reference fxRate fxRateSource"
            " clientPaymentId"
        ),
        _SELECT_PAYMENTS,
    ),
    Sheet(
        BILLS,
        _columns(
            "id kind status businessId supplierId claimant number creditsBillId billDate taxPoint dueDate currency"
            " baseCurrency fxRate fxRateSource fxRateDate amountsAre netTotal:money vatTotal:money grossTotal:money"
            " notes voidReason documentIds"
        ),
        _SELECT_BILLS,
    ),
    Sheet(
        "bill_lines.csv",
        _columns(
            "id billId position description currency category vatCode net:money vat:money gross:money"
            " accountedVat:money disallowable:money disallowablePercent capitalGoods propertyId unitId tenancyId"
        ),
        _SELECT_BILL_LINES,
    ),
    Sheet(
        "bill_payments.csv",
        _columns(
            "id billId position date currency amount:money bankTransactionId method reference fxRate fxRateSource"
        ),
        _SELECT_BILL_PAYMENTS,
    ),
    Sheet(
        "write_offs.csv",
        _columns("invoiceId date currency amount:money reason vatRelief vatReliefDate"),
        _SELECT_WRITE_OFFS,
    ),
    Sheet(
        "client_payments.csv",
        _columns("id kind clientId date currency amount:money onAccount:money bankTransactionId method reference"),
        _SELECT_CLIENT_PAYMENTS,
    ),
    Sheet(
        "bank_accounts.csv",
        _columns("id name type usage currency sortCode accountNumber iban"),
        _SELECT_ACCOUNT,
        by_account=True,
    ),
    Sheet(
        "bank_statements.csv",
        _columns("id accountId fromDate toDate currency openingBalance:money closingBalance:money balanced"),
        _SELECT_STATEMENTS,
        by_account=True,
    ),
    Sheet(STATED, _columns("id accountId date currency balance:money note"), _SELECT_STATED, by_account=True),
    Sheet(LINES, _LINE_COLUMNS, _SELECT_LINES, by_account=True),
    Sheet(
        ALLOCATIONS,
        _columns(
            "id sourceType sourceId businessId propertyId unitId tenancyId mortgageId invoiceId counterpartId date"
            " documentDate direction currency amount:money vatAmount:money disallowableAmount:money fxRate category"
            " purpose description matchedBy ruleId reason documentIds vatCode capitalGoods interestSource"
            " billId"
        ),
        _SELECT_ALLOCATIONS,
    ),
    Sheet(
        "obligations.csv",
        _columns(
            "id kind name businessId periodId periodStartDate periodEndDate dueDate predictedDueDate status"
            " receivedDate periodKey source confidence currency amountDue:money penalty undecided dismissed"
            " fulfilledAt:time"
        ),
        _SELECT_OBLIGATIONS,
    ),
    Sheet("obligation_events.csv", _columns("id obligationId type at:time notedBy detail"), _SELECT_OBLIGATION_EVENTS),
)


def cells(tx: ReadTx, sheet: Sheet, scope: Scope) -> Iterator[list[Cell]]:
    """The rows of a sheet, in its order."""
    if not sheet.by_account:
        yield from _converted(tx, sheet, tx.each(sheet.sql, **scope.values))
        return
    for account_id in scope.accounts:
        yield from _converted(tx, sheet, tx.each(sheet.sql, account_id=account_id, **scope.values))
    if sheet.path == LINES:  # what was paid from an account of another, and bills of the period paid in another
        others = (row for row in tx.each(_SELECT_LINES_ALLOCATED, **scope.values) if _is_outside(scope, row))
        yield from _converted(tx, sheet, others)


def _is_outside(scope: Scope, line: Row) -> bool:
    return not (line[1] in scope.accounts and scope.period.start_date <= line[2] <= scope.period.end_date)


def _converted(tx: ReadTx, sheet: Sheet, rows: Iterator[Row]) -> Iterator[list[Cell]]:
    kinds = [column.partition(":")[2] for column in sheet.columns]
    names = sheet.heading
    currencies = {"money": "currency", "original": "originalCurrency", "base": "baseCurrency"}
    of = {kind: names.index(name) if name in names else None for kind, name in currencies.items()}
    for row in rows:
        yield [
            opened_utr(tx, row[0], value) if kind == "utr" else _cell(value, kind, row, of)
            for value, kind in zip(row, kinds, strict=True)
        ]


def _cell(value: str | int | None, kind: str, row: Row, of: dict[str, int | None]) -> Cell:
    if value is None or not kind:
        return value
    if kind == "time":
        return to_wire(Instant(int(value)))
    place = of[kind]
    assert place is not None, "a sheet with money has its currency"
    return from_minor(int(value), row[place])
