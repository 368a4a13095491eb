-- Profit and loss sums a year of a business's allocations from the index alone, without a look at their rows. It is an
-- index of its own: as the list's, SQLite would hold it for dearer than one without the business.
-- profit and loss of a business by the date of the money
CREATE INDEX allocations_by_money ON allocations (
    org_id, business_id, date, id, document_date, category, direction, currency, amount, vat_amount,
    disallowable_amount, document_ids
);
-- the same by the date of the bill
CREATE INDEX allocations_by_bill ON allocations (
    org_id, business_id, document_date, category, direction, currency, amount, vat_amount, disallowable_amount,
    document_ids
) WHERE document_date IS NOT NULL;
-- what a business supplied, on accruals; what a legal entity's VAT return holds
CREATE INDEX invoices_by_supply ON invoices (org_id, supply_date, business_id, legal_entity_id);
-- credit notes of a range of days, on accruals
CREATE INDEX invoices_credits_by_supply ON invoices (org_id, supply_date, credits_invoice_id)
WHERE credits_invoice_id IS NOT NULL;
-- the same on cash basis
CREATE INDEX invoices_credits_by_issue ON invoices (org_id, issue_date, credits_invoice_id)
WHERE credits_invoice_id IS NOT NULL;
-- what was paid in a range of days
CREATE INDEX invoice_payments_by_date ON invoice_payments (org_id, date, invoice_id);
DROP INDEX invoices_credits;
-- what was credited against an invoice: the invoice goes before the organization
CREATE INDEX invoices_credits ON invoices (credits_invoice_id, org_id) WHERE credits_invoice_id IS NOT NULL;
